/** The variants of sort for segments of given lengths: cl/sort/sort_segments.cl, and with keys in
 *  registers cl/sort/sort_segments_registers.cl. */
#ifndef OPS_SORT_SEGMENTS_H
#define OPS_SORT_SEGMENTS_H

#include "core/variant.h"
#include "tessera/sort.h"

/**
 * Check that segments + 1 offsets ascend from 0 to n.
 *
 * @param longest  Receives the most keys of a segment; 1 where all are empty.
 * @return TSR_OK; TSR_EINVAL with the first offset that is wrong.
 */
tsr_status sort_segments_check(size_t n, size_t segments, const uint64_t *offsets, size_t *longest,
                               tsr_error *err);

/** Why a variant for segments of up to 2^31 keys does not take the problem; NULL: it does. */
const char *sort_segments_lengths_unsupported(const tsr_sort_problem *s, text *reason);

/** A command for the start: no segment has been seen yet.  Its length is kept in the workspace,
 * behind `offset` units of 4 bytes. */
void sort_segments_fill_longest(size_t offset, command *out);

/** As sort_step_or_values, where the entry behind `keep` is sort_segments_gather. */
bool sort_segments_step_or_values(const job *j, size_t i,
                                  bool (*keys_step)(const job *, size_t, command *), unsigned keep,
                                  command *out);

/** Their entries, in the variants' order. */
enum {
    SEGMENTS_SHORT,
    SEGMENTS_TILE,
    SEGMENTS_EXCHANGE,
    SEGMENTS_MERGE,
    SEGMENTS_KEEP,
    SEGMENTS_GATHER
};

/** Segments that a work-group lists at most: BATCH_MAX of the kernels. */
enum { SEGMENTS_BATCH_MAX = 256 };

enum { SEGMENTS_TUNABLES = 2, HELD_SEGMENTS_TUNABLES = 3 };
extern const tunable sort_segments_tunables[SEGMENTS_TUNABLES];
extern const tunable sort_held_segments_tunables[HELD_SEGMENTS_TUNABLES];

/* The functions of the variants: with pairs in local memory, and with keys in registers that the
 * work-group hands on, or a warp within itself. */
void sort_segments_defines(const job *j, text *out);
void sort_held_segments_defines(const job *j, text *out);
void sort_held_segments_defines_warp(const job *j, text *out);
const char *sort_segments_unsupported(const job *j, text *reason);
const char *sort_held_segments_unsupported(const job *j, text *reason);
const char *sort_held_segments_unsupported_warp(const job *j, text *reason);
size_t sort_segments_workspace(const job *j);
size_t sort_held_segments_workspace(const job *j);
size_t sort_held_segments_workspace_warp(const job *j);
bool sort_segments_step(const job *j, size_t i, command *out);
bool sort_held_segments_step(const job *j, size_t i, command *out);
bool sort_held_segments_step_warp(const job *j, size_t i, command *out);

#endif
