/**
 * Sorts as other libraries take them: what they refuse, and the independent parts of their keys.
 *
 * A module is of rows or of segments by the object that it links: sort_rows.c, or segsort_peer.c of
 * bench/segsort.
 */
#ifndef BENCH_SORT_PEER_H
#define BENCH_SORT_PEER_H

#include <tessera/sort.h>

#include "peer_common.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Operands of a sort, in order. */
enum { SORT_KEYS, SORT_INDEX, SORT_VALUES, SORT_SEGMENTS };

/** Types that they sort: the first so many of tsr_type.  All do numbers of 32 and 64 bits; one that
 * takes every type of keys has those of 8 and 16 bits too. */
enum { SORT_WIDE_TYPES = 6, SORT_TYPES = 11 };

/** peer_module() of these peers, for the operation whose parts are sorted. */
const peer_list *peer_sort_module(const peer *peers, size_t count);

/* Of segments too: their problem begins with a sort. */
static inline const tsr_sort_problem *sort_of(const peer_problem *p)
{
    return (const tsr_sort_problem *)p->problem;
}

/**
 * NULL, or why a library that sorts plain numbers of the first `types` types cannot do this: it
 * promises no place for NaN, and none for -0 before +0.
 */
const char *peer_sort_unsupported(const peer_problem *p, int types);

/** The same for one that sorts one sequence a call. */
const char *peer_sequence_unsupported(const peer_problem *p, int types);

/** The first but for values, which a few move along. */
const char *peer_keys_unsupported(const peer_problem *p, int types);

/** Keys of all parts. */
size_t peer_sort_keys(const peer_problem *p);

/** The independent parts of a sort, 1 where its keys are one sequence; and part i of them: keys
 *  begin to end - 1. */
size_t peer_sort_parts(const peer_problem *p);
void peer_sort_part(const peer_problem *p, size_t i, size_t *begin, size_t *end);

/**
 * The problem as peers that sort keys with a payload want it: its index operand
 * holds 0, 1, ... of each part with an argsort, and no other operand is there but
 * the keys.  *positions is NULL or is to be freed, once *out is no longer used.  0 on
 * success.
 */
int peer_with_positions(const peer_problem *p, peer_problem *out, int64_t **positions);

#ifdef __cplusplus
}
#endif
#endif
