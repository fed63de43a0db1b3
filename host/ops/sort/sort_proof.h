/** Test inputs, edge shapes and proof of the sort operation: what operation_sort's fill, sweep and
 *  verify point to. */
#ifndef OPS_SORT_PROOF_H
#define OPS_SORT_PROOF_H

#include "core/variant.h"
#include "ops/sort/sort_order.h"

void sort_fill(const problem *p, uint64_t seed, distribution f, void *const operands[]);

/** The word for a family of keys: "random" of DISTRIBUTION_PLAIN, "sorted" of
 * DISTRIBUTION_ORDERED... Static.
 */
const char *sort_fill_word(distribution f);

/** Which lengths of segments it draws, for descriptions: " uniform" where their mean is half of
 *  segment_longest, " mixed", most of them short, where it is less; "" where there is none to go
 * by. Static. */
const char *sort_fill_lengths(const tsr_sort_problem *s);

/**
 * operation.sweep of sort.  It is the same for every seed, which decides the values alone:
 *
 *  - each type stands, segments apart, at each of the four corners of ascending or descending, with
 *    an index or without; and it has values, with and without an index beside them;
 *  - values of each size go with keys of each width;
 *  - each case of the sweep (a type with its rows, segments or top) has inputs of every family, and
 *    over the cases of a type each family has short lengths, up to 64, middling ones and long ones,
 *    from 1024 on.
 *
 * With `tiny` the same holds, but that a case has random keys at its longest length and two more
 * families, all are met over the cases of a type, and long lengths not at all.
 */
bool sort_sweep(size_t i, bool tiny, problem *out);

/** operation.expect of sort: order and sums that sort_verify compares with, below. */
tsr_status sort_expect(const problem *p, const void *const before[], void **out, tsr_error *err);

/**
 * Up to 2^20 keys (REFERENCE_MAX): equality with a stable merge sort.  Beyond that, in time
 * and memory of order n: the keys are in order and, with argsort, the index
 * is a permutation that gathers them and rises among equal keys (which leaves
 * one answer); without it, keys before and after agree in number and in two
 * sums over a hash of each with its value, so that the order of the values of
 * equal keys is proved up to REFERENCE_MAX alone.
 */
tsr_status sort_verify(const problem *p, const device_facts *d, const void *const before[],
                       const void *const after[], const void *expected, verdict *out,
                       tsr_error *err);

#endif
