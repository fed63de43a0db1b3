/** Memory, queues and commands of one job of overlap: each run starts from new words, and what it
 *  leaves is checked. */
#ifndef MEASURE_OVERLAP_RIG_H
#define MEASURE_OVERLAP_RIG_H

#include "measure/overlap.h"
#include "session/pinned.h"

/** x := multiplier * x + increment: what any number of rounds is, modulo 2^32. */
typedef struct affine {
    uint32_t multiplier, increment;
} affine;

/** Of one round. */
extern const affine overlap_round;

/** So many rounds one after another. */
affine overlap_rounds(size_t rounds);

/** A chunk's words on the host; of shared virtual memory, on the device too. */
typedef struct overlap_chunk {
    size_t begin, count;
    uint32_t *in, *out;
    bool in_mapped, out_mapped; /* of shared virtual memory: the host has it */
} overlap_chunk;

/** A queue and the buffers of the chunk that is on it. */
typedef struct overlap_lane {
    cl_command_queue queue;
    cl_mem in, out; /* NULL where nothing goes that way, and of shared virtual memory */
} overlap_lane;

typedef struct overlap_rig {
    tsr_session *session;
    cl_kernel kernel; /* borrowed */
    overlap_job job;
    size_t words, rounds;
    pinned pinned_in, pinned_out;
    uint32_t *pageable_in, *pageable_out;
    overlap_chunk *chunks;
    size_t chunk_count;
    overlap_lane *lanes;
    size_t lane_count;
    const char *broken; /* what failed first in a run */
} overlap_rig;

/** Take the memory of a job; overlap_rig_close frees it, also after a failure. */
tsr_status overlap_rig_open(tsr_session *s, cl_kernel kernel, size_t words, size_t rounds,
                            const overlap_job *j, overlap_rig *out, tsr_error *err);
void overlap_rig_close(overlap_rig *r);

/** Make the queues anew, with these properties. */
tsr_status overlap_rig_queues(overlap_rig *r, cl_command_queue_properties properties,
                              tsr_error *err);

/**
 * Run the job once.
 *
 * @param salt      Decides the words: every run has one of its own.
 * @param ns        Receives the time from the first command to the end of the last.
 * @param timeline  NULL; or receives the bars of commands whose times the queues record.
 * @return TSR_OK; TSR_EBOUND where a word is wrong; TSR_ECL.
 */
tsr_status overlap_rig_run(overlap_rig *r, uint32_t salt, double *ns, result_row *timeline,
                           tsr_error *err);

#endif
