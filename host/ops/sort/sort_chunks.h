/** sort on host memory in pieces: copies go on while the device sorts. */
#ifndef OPS_SORT_CHUNKS_H
#define OPS_SORT_CHUNKS_H

#include "stream/partition.h"
#include "tessera/sort.h"

typedef enum sort_way {
    SORT_AT_ONCE,
    SORT_ARRIVING, /* one row that the device holds: sorted and merged as its keys arrive */
    SORT_ROWS,     /* rows, so many at a time */
    SORT_EXCHANGE  /* rows that the device does not hold: pairs of chunks of their keys */
} sort_way;

/** How a sort is streamed, and rows or keys of a chunk, but of SORT_ARRIVING, whose variant knows.
 */
typedef struct sort_chunks {
    sort_way way;
    size_t count;
} sort_chunks;

/**
 * Choose.
 *
 * @return TSR_OK; TSR_EOVERFLOW where a limit that is told does not hold what has to be there at
 *         once.
 */
tsr_status sort_chunks_choose(const stream_budget *budget, const problem *p, const selection *sel,
                              sort_chunks *out, tsr_error *err);

/** Pieces of a sort that is streamed by rows or pairs of chunks, at most SIZE_MAX. */
size_t sort_chunks_pieces(const tsr_sort_problem *q, const sort_chunks *chunks);

/** Run it.  Synchronous: whatever it returns, nothing works on the arrays any more. */
tsr_status sort_chunks_run(const stream_call *call, const sort_chunks *chunks, tsr_error *err);

#endif
