/** Test inputs, edge shapes and proof of the sort operation: what operation_sort's fill, sweep and
 *  verify point to. */
#ifndef OPS_SORT_PROOF_H
#define OPS_SORT_PROOF_H

#include "ops/variant.h"

void sort_fill(const problem *p, uint64_t seed, family f, void *const operands[]);

/** Which lengths of segments it draws, for descriptions: " uniform" where their mean is half of
 *  segment_longest, " mixed", most of them short, where it is less; "" where there is none to go
 * by. Static. */
const char *sort_fill_lengths(const tsr_sort_problem *s);

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
