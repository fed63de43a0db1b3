/**
 * Copies that hide behind compute: an array goes to the device in chunks, a kernel works on each,
 * and the results come back, over several queues at once.
 *
 * Chunk c is copied in, computed and copied out on queue c modulo their number: in order on each
 * queue, side by side on different ones.  Host memory is pageable, pinned, or coarse-grained shared
 * virtual memory, which kernels work on and which is handed over by map and unmap.
 */
#ifndef MEASURE_OVERLAP_H
#define MEASURE_OVERLAP_H

#include <signal.h>

#include "measure/result.h"

enum {
    OVERLAP_QUEUES_MAX = 64,
    OVERLAP_CHUNKS_MAX = 4096,
    OVERLAP_COUNTS_MAX = 16,
    OVERLAP_ROUNDS_MAX = 1 << 20
};

/** Where the array lies on the host. */
typedef enum overlap_memory {
    OVERLAP_PAGEABLE,
    OVERLAP_PINNED,
    OVERLAP_SVM,
    OVERLAP_MEMORY_COUNT
} overlap_memory;

/** "pageable", "pinned", "svm". */
const char *overlap_memory_name(overlap_memory m);

/** What is done with the array.  The copies alone are each one command on a queue of its own. */
typedef enum overlap_way {
    OVERLAP_COPY_IN,
    OVERLAP_COPY_OUT,
    OVERLAP_BOTH_WAYS, /* both at once, on two queues */
    OVERLAP_PIPELINE   /* chunks copied in, computed and copied out */
} overlap_way;

typedef struct overlap_job {
    overlap_memory memory;
    overlap_way way;
    size_t queues, chunks; /* of OVERLAP_PIPELINE */
} overlap_job;

typedef struct overlap_options {
    size_t words;   /* uint32 each way */
    size_t rounds;  /* of the kernel; 0: a power of two, so that its time is about a copy's */
    double seconds; /* of runs, the checks of their results included, for each job: 5 at least */
    size_t samples; /* 0: as many as that gives; else so many, 200 at most */
    uint64_t seed;
    const volatile sig_atomic_t *stop; /* NULL, or nonzero ends a job before its next sample */
} overlap_options;

typedef struct overlap overlap;

/** Numbers of a list: "1,2,8". */
typedef struct overlap_counts {
    size_t of[OVERLAP_COUNTS_MAX];
    size_t count;
} overlap_counts;

/** Read a list of 1 to OVERLAP_COUNTS_MAX numbers from 1 to most, none twice; false where it is
 *  none. */
bool overlap_counts_read(const char *list, size_t most, overlap_counts *out);

/** Words of chunk c of several are begin to end - 1; chunks differ by one word at most. */
size_t overlap_chunk_begin(size_t words, size_t chunks, size_t c);

/** `rounds` rounds of the kernel on one word, in about log2(rounds) steps. */
uint32_t overlap_expected(uint32_t word, size_t rounds);

/** How many words each way where none is given. */
size_t overlap_usual_words(const tsr_session *s);

/**
 * Build the kernel, and find its rounds where they are not given.
 *
 * @param out  Receives it, to be closed; the session must live as long.
 * @return TSR_OK; TSR_EUNSUPPORTED on `host`, which has no queues; TSR_EOVERFLOW where the device
 * does not hold both arrays; what a failing call gives.
 */
tsr_status overlap_open(tsr_session *s, const overlap_options *options, overlap **out,
                        tsr_error *err);

/** NULL is allowed. */
void overlap_close(overlap *o);

/** Why a job cannot be done on this device, or NULL. */
const char *overlap_unsupported(const overlap *o, const overlap_job *j);

/** A row that says what would be measured, without times. */
void overlap_row(const overlap *o, const overlap_job *j, result_row *row);

/**
 * Measure a job: every run starts from new words, and every result is checked.
 *
 * Times are by the host's clock from the first command to the end of the last, on queues that
 * record none; one more run, on queues that do, gives the row its timeline.
 *
 * @param row  Receives the row, also where nothing was measured: `unsupported`, or on failure
 * `wrong` or `failed`.
 * @return TSR_OK; TSR_EBOUND where a result is wrong; TSR_ENOMEM, TSR_ECL.
 */
tsr_status overlap_measure(overlap *o, const overlap_job *j, result_row *row, tsr_error *err);

#endif
