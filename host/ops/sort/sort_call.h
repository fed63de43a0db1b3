/** The ways of streaming a sort, and what they share.
 *
 *  Each way is synchronous: it returns TSR_OK when the results are in the host's arrays, else as
 *  pieces_enqueue or copies_in, and then what the arrays hold is unspecified; nothing works on them
 *  any more either way.  It adds bytes, times of copies and chunks to the report of the call, whose
 *  rest is pieces_close's. */
#ifndef OPS_SORT_CALL_H
#define OPS_SORT_CALL_H

#include "ops/sort/sort_order.h"
#include "stream/copies.h"
#include "stream/pieces.h"

/** The operands, in order. */
enum { SORT_KEYS, SORT_INDEX, SORT_VALUES, SORT_OPERANDS };

/** Pairs of chunks that sort_exchange_run has on the device at once: one is sorted, one comes or
 *  goes. */
enum { SORT_PAIRS = 2 };

/** One call in progress.  Whoever began it ends it by pieces_close. */
typedef struct sort_call {
    pieces pieces;
    const tsr_sort_problem *whole;
    unsigned char *array[SORT_OPERANDS]; /* from their first element on; NULL: there is none */
    size_t element[SORT_OPERANDS];       /* bytes; 0: there is none */
} sort_call;

/** The sort of rows of n keys, whose operands begin at the first element of their buffers and go on
 *  without gaps; all else is as in the whole. */
problem sort_piece(const tsr_sort_problem *whole, size_t rows, size_t n);

/** One row that the device holds, with what goes with its keys, as its keys arrive.  The variant of
 *  the selection has arriving_step. */
tsr_status sort_arriving_run(sort_call *c, tsr_error *err);

/** `rows` rows at a time, from 1 to all, with what goes with their keys.  The device holds
 *  PIPELINE_SLOTS times as many. */
tsr_status sort_rows_run(sort_call *c, size_t rows, tsr_error *err);

/** Pairs of chunks that a row of so many is sorted by, one after the other. */
size_t sort_exchange_pairs(size_t chunks);

/** Row by row, in chunks of `keys` keys, from 1 to all of a row: keys alone, without index and
 *  values.  The device holds SORT_PAIRS pairs of chunks. */
tsr_status sort_exchange_run(sort_call *c, size_t keys, tsr_error *err);

#endif
