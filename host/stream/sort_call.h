/** What the ways of streaming a sort share. */
#ifndef STREAM_SORT_CALL_H
#define STREAM_SORT_CALL_H

#include "ops/dispatch.h"
#include "ops/sort_order.h"
#include "stream/copies.h"

/** The operands, in order. */
enum { SORT_KEYS, SORT_INDEX, SORT_VALUES, SORT_OPERANDS };

/** One call in progress. */
typedef struct sort_call {
    tsr_session *session;
    const tsr_sort_problem *whole;
    unsigned char *array[SORT_OPERANDS]; /* from their first element on; NULL: there is none */
    size_t element[SORT_OPERANDS];       /* bytes; 0: there is none */
    const tsr_run *run;
    selection *selection;
    tsr_report *report;
    cl_event first, last; /* commands of the first piece and of the last one */
} sort_call;

/** The sort of rows of n keys, whose operands follow one another without gaps. */
problem sort_piece(const tsr_sort_problem *whole, size_t rows, size_t n);

/** Choose for a piece, and build its program: that it can be sorted is known before anything is
 *  written. */
tsr_status sort_prepare(sort_call *c, const problem *piece, tsr_error *err);

/** Enqueue the sort of a piece, behind the one before; *done is borrowed until the next. */
tsr_status sort_enqueue(sort_call *c, const problem *piece, const cl_mem buffers[],
                        const call_ends *ends, cl_event *done, tsr_error *err);

/** Once all is on the host: whether any of it failed. */
tsr_status sort_outcome(const sort_call *c, tsr_error *err);

/** A row as it arrives, where the variant has arriving_step. */
tsr_status sort_arriving_run(sort_call *c, tsr_error *err);

/** `rows` rows at a time. */
tsr_status sort_rows_run(sort_call *c, size_t rows, tsr_error *err);

/** Row by row, `keys` keys at a time. */
tsr_status sort_exchange_run(sort_call *c, size_t keys, tsr_error *err);

#endif
