/** Segments of given lengths: their check, and what plans of them share. */
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
const char *sort_unsupported_segments(const tsr_sort_problem *s, plan *out);

/** A command for the start: no segment has been seen yet.  The longest length is kept in the
 *  workspace, behind `offset` units of 4 bytes. */
void sort_segments_fill_longest(size_t offset, plan *out);

/** As sort_move_values, where the entry behind `keep` is sort_segments_gather. */
void sort_segments_move_values(const job *j, unsigned keep, plan *out);

#endif
