/** How keys on host memory are cut into pieces. */
#ifndef OPS_SORT_PARTITION_H
#define OPS_SORT_PARTITION_H

#include "ops/sort/sort_order.h"
#include "stream/partition.h"

/** operation.partition. */
tsr_status sort_partition(const problem *p, const selection *sel, const stream_budget *budget,
                          partition *out, tsr_error *err);

/** Whether so many rows of n keys, with what goes with them, fit `slots` times beside each other.
 */
bool sort_fits(const tsr_sort_problem *q, size_t rows, size_t slots, const stream_budget *budget);

/** Bytes of an element of an operand; 0: there is none. */
size_t sort_element(const tsr_sort_problem *q, size_t which);

/** Elements of an operand from `first` to `end`, from the problem's first on, in its array. */
host_rows sort_elements(const tsr_sort_problem *q, size_t which, void *array, size_t first,
                        size_t end);

/** The sort of rows of n keys, whose operands begin at the first element of their buffers and go on
 *  without gaps; all else is as in the whole. */
problem sort_piece(const problem *whole, size_t rows, size_t n);

/** partition_kind.piece of a row that the device does not hold: two of its chunks are sorted
 * together.
 */
void sort_exchange_piece(const partition *p, void *const host[], size_t i, piece *out);

/** Pairs of chunks that a row of so many is sorted by, one after the other. */
size_t sort_exchange_pairs(size_t chunks);

/** partition_kind.run of one row that the device holds, with what goes with its keys: it is sorted
 *  and merged as its keys arrive, in the order of a plan for inputs that arrive. */
tsr_status sort_arriving_run(const stream_call *call, const partition *p, tsr_error *err);

#endif
