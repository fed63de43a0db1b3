#include "ops/sort/sort_partition.h"

#include "ops/sort/sort_chunks.h"
#include "ops/sort/sort_order.h"

static tsr_status run(const stream_call *call, const partition *p, tsr_error *err)
{
    const sort_chunks chunks = {(sort_way)p->cut[0], p->cut[1]};

    return sort_chunks_run(call, &chunks, err);
}

static const partition_kind in_chunks = {"chunks", NULL, run};

tsr_status sort_partition(const problem *p, const selection *sel, const stream_budget *budget,
                          partition *out, tsr_error *err)
{
    sort_chunks chunks;
    tsr_status st = sort_chunks_choose(budget, p, sel, &chunks, err);

    if (!st && chunks.way != SORT_AT_ONCE)
        *out =
            (partition){&in_chunks,
                        chunks.way == SORT_ARRIVING ? 1 : sort_chunks_pieces(sort_of(p), &chunks),
                        {(size_t)chunks.way, chunks.count}};
    return st;
}
