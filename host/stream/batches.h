/** A batch of products on host memory, of matrices or of a matrix and a vector, so many at a time:
 *  each group is computed while the next is copied in and the one before is copied out. */
#ifndef STREAM_BATCHES_H
#define STREAM_BATCHES_H

#include "core/view.h"
#include "stream/partition.h"

/** Two operands that are read and the one that is written. */
enum { BATCH_FIRST, BATCH_SECOND, BATCH_RESULT, BATCH_OPERANDS };

/** A batch as it is stored. */
typedef struct batch {
    view operand[BATCH_OPERANDS];
    size_t count;
    bool reads_result;
    bool comes_in_panels; /* a product by itself is streamed in pieces: where it is more than a
                             piece, that hides more than a piece of a whole product does */
} batch;

/** What an operation says of its batches. */
typedef struct batch_form {
    /** False where there is nothing to multiply. */
    bool (*describe)(const problem *p, batch *out);
    /** `count` products, whose operands begin at the start of their arrays, and whose results have
     *  no gaps. */
    problem (*group)(const problem *whole, size_t count);
} batch_form;

/**
 * Cut a batch into groups.  There are none where all is copied in one piece; where the budget does
 * not hold two products beside what all share; where results lie side by side, or a group has more
 * bytes of what is read than its products; and where products come in panels and one is more than
 * a piece by itself, or what all share is more than a piece and than the rest.
 *
 * @param p     As variants take it; row-major.
 * @param kind  One whose `batches` describes p, and whose piece is batches_piece.
 */
void batches_choose(const stream_budget *budget, const problem *p, const partition_kind *kind,
                    partition *out);

/** partition_kind.piece: a group. */
void batches_piece(const partition *p, void *const host[], size_t i, piece *out);

#endif
