/** What the ways of streaming a sort share. */
#ifndef STREAM_SORT_CALL_H
#define STREAM_SORT_CALL_H

#include "ops/sort_order.h"
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

/** The sort of rows of n keys, whose operands follow one another without gaps. */
problem sort_piece(const tsr_sort_problem *whole, size_t rows, size_t n);

/** A row as it arrives, where the variant has arriving_step. */
tsr_status sort_arriving_run(sort_call *c, tsr_error *err);

/** `rows` rows at a time. */
tsr_status sort_rows_run(sort_call *c, size_t rows, tsr_error *err);

/** Row by row, `keys` keys at a time. */
tsr_status sort_exchange_run(sort_call *c, size_t keys, tsr_error *err);

#endif
