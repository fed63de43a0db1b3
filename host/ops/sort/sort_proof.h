/** Test inputs, edge shapes and proof of the sort operation: what operation_sort's fill, sweep and
 *  verify point to. */
#ifndef OPS_SORT_PROOF_H
#define OPS_SORT_PROOF_H

#include "core/variant.h"
#include "ops/sort/sort_order.h"

void sort_fill(const problem *p, uint64_t seed, distribution f, void *const operands[]);

/** The word for a distribution of keys: "random" of DISTRIBUTION_PLAIN, "sorted" of
 * DISTRIBUTION_ORDERED... Static.
 */
const char *sort_fill_word(distribution f);

/** Direction and index: the corners of a case, taken in turn. */
typedef enum sort_corner { SORT_UP, SORT_DOWN, SORT_UP_INDEX, SORT_DOWN_INDEX } sort_corner;

/** A case of a sweep: problems of one type and number of rows, of many lengths. */
typedef struct sort_case {
    tsr_type type;
    sort_corner corner[2];
    size_t value_bytes[2], rows;
    size_t own[2]; /* what the operation adds */
} sort_case;

/**
 * Problem i of a sweep over cases: its keys, and the distribution that they are of, go into *out.
 * A case has inputs of every distribution; with `tiny` random keys at its longest length, and two
 * more.
 *
 * @return The case; NULL behind the last problem.
 */
const sort_case *sort_sweep_cases(const sort_case *cases, size_t count, size_t i, bool tiny,
                                  problem *out);

/**
 * operation.sweep of sort.  It is the same for every seed, which decides the values alone:
 *
 *  - each type stands at each of the four corners of ascending or descending, with
 *    an index or without; and it has values, with and without an index beside them;
 *  - values of each size go with keys of each width;
 *  - over the cases of a type each distribution has short lengths, up to 64, middling ones and long
 * ones, from 1024 on.
 *
 * With `tiny` the same holds, but for long lengths.
 */
bool sort_sweep(size_t i, bool tiny, problem *out);

/** operation.expect of sort: order and sums that sort_verify compares with, below. */
tsr_status sort_expect(const problem *p, const void *const before[], void **out, tsr_error *err);

/** The same of the parts of keys, whichever operation's: operation.expect and operation.verify. */
tsr_status sort_expect_parts(const sort_parts *p, const void *const before[], void **out,
                             tsr_error *err);
tsr_status sort_verify_parts(const sort_parts *p, const void *const before[],
                             const void *const after[], const void *expected, verdict *out,
                             tsr_error *err);

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
