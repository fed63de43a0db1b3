/*
 * The variant in C for the host and for CPUs: the cores take blocks in turn; each counts what it
 * selects of its block, learns where that goes (core/block_scan.h) and puts it there.
 */
#include <string.h>

#include "base/fail.h"
#include "base/fetch_ahead.h"
#include "base/isa.h"
#include "base/past_caches.h"
#include "base/sizes.h"
#include "base/team.h"
#include "core/block_scan.h"
#include "ops/select/select_loops.h"
#include "ops/select/select_problem.h"

/* Elements of a block, a multiple of SELECT_STRETCH, and what is worth several threads. */
enum { BLOCK = 1 << 14, PARALLEL_MIN = 1 << 16 };

/* One call. */
typedef struct work {
    const tsr_select_problem *p;
    const select_direct *direct; /* NULL: by the next three */
    select_compare *compare;
    select_gather *gather, *gather_indices;
    const void *x;
    bool past_caches; /* store the result by put_past_caches */
    unsigned char *result;
    int64_t *indices; /* NULL: none are wanted */
} work;

static block_value count_block(void *with, size_t block)
{
    const work *w = with;
    const size_t end = size_min((block + 1) * BLOCK, w->p->n);
    unsigned char holds[SELECT_STRETCH];
    block_value count = {.whole = 0};

    if (w->direct) {
        const size_t first = block * BLOCK;

        count.whole = w->direct->count(w->p, w->x, w->p->offset_x + first, end - first);
        return count;
    }
    for (size_t i = block * BLOCK; i < end; i += SELECT_STRETCH)
        count.whole +=
            w->compare(w->p, w->x, w->p->offset_x + i, size_min(SELECT_STRETCH, end - i), holds);
    return count;
}

static block_value add_counts(void *with, block_value before, block_value after)
{
    (void)with;
    return (block_value){.whole = before.whole + after.whole};
}

/* Stretches go through memory of their own: gathering writes beyond what is selected. */
static bool put_block(void *with, size_t block, size_t next, block_value before, block_value own,
                      block_value *of_next)
{
    const work *w = with;
    const size_t end = size_min((block + 1) * BLOCK, w->p->n);
    const size_t bytes = tsr_type_size(w->p->type);
    size_t to = (size_t)before.whole;
    unsigned char holds[SELECT_STRETCH];
    uint64_t gathered[SELECT_STRETCH];
    int64_t places[SELECT_STRETCH];

    (void)of_next;
    if (w->direct) {
        unsigned char *out = w->result + to * bytes;
        const size_t first = block * BLOCK;

        (w->past_caches ? w->direct->put_past_caches : w->direct->put)(
            w->p, w->x, w->p->offset_x + first, end - first,
            (ptrdiff_t)((next - block) * BLOCK * bytes), out, out + (size_t)own.whole * bytes);
        return false;
    }
    for (size_t i = block * BLOCK; i < end; i += SELECT_STRETCH) {
        const size_t n = size_min(SELECT_STRETCH, end - i);
        const size_t count = w->compare(w->p, w->x, w->p->offset_x + i, n, holds);

        if (next != block)
            fetch_ahead((const char *)w->x + (w->p->offset_x + i) * bytes,
                        (ptrdiff_t)((next - block) * BLOCK * bytes), n * bytes);
        if (count == 0)
            continue;
        w->gather(w->x, w->p->offset_x + i, n, holds, gathered);
        memcpy(w->result + to * bytes, gathered, count * bytes);
        if (w->indices) {
            for (size_t k = 0; k < n; k++)
                places[k] = (int64_t)(i + k);
            w->gather_indices(places, 0, n, holds, gathered);
            memcpy(w->indices + to, gathered, count * sizeof(int64_t));
        }
        to += count;
    }
    return false;
}

static tsr_status run_simd(const problem *q, void *const operands[], tsr_error *err)
{
    static select_compare_find *const compares[] = {ISA_EACH(select_compare_of)};
    static select_gather_find *const gathers[] = {ISA_EACH(select_gather_of)};
    static select_direct_find *const directs[] = {ISA_EACH(select_direct_of)};
    const tsr_select_problem *p = select_of(q);
    const size_t bytes = tsr_type_size(p->type);
    const isa best = isa_best();
    work w = {.p = p,
              .direct = p->with_indices ? NULL : directs[best](p->type),
              .compare = compares[best](p->type),
              .gather = gathers[best](bytes),
              .gather_indices = gathers[best](sizeof(int64_t)),
              .x = operands[SELECT_X]};
    const block_scan scan = {.blocks = size_div_up(p->n, BLOCK),
                             .with = &w,
                             .total = count_block,
                             .combine = add_counts,
                             .finish = put_block};
    block_value all = {.whole = 0};

    if (p->n) {
        w.result = (unsigned char *)operands[SELECT_RESULT] + p->offset_result * bytes;
        /* How much is selected is not known yet; its lines hold whole elements. */
        w.past_caches = p->n >= PAST_CACHES_MIN / bytes && (uintptr_t)w.result % bytes == 0;
        if (p->with_indices)
            w.indices = (int64_t *)operands[SELECT_INDICES] + p->offset_indices;
    }
    if (!block_scan_run(&scan, p->n >= PARALLEL_MIN ? team_threads() : 1, &all))
        return tsr_fail(err, TSR_ENOMEM, 0, "select: no memory for a count of each of %zu blocks",
                        scan.blocks);
    ((uint64_t *)operands[SELECT_COUNT])[p->offset_count] = all.whole;
    return TSR_OK;
}

const variant select_simd = {
    .name = "simd",
    .idea = "comparisons by vectors, and no branch for what is selected; the cores share blocks",
    .plan = plan_in_c,
    .host = run_simd,
    .serves_cpus = true,
};
