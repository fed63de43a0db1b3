#include "ops/matmul/matmul_partition.h"

#include "base/sizes.h"
#include "ops/matmul/matmul_shape.h"
#include "ops/matmul/matmul_slabs.h"
#include "ops/matmul/matmul_tiles.h"
#include "stream/batches.h"

/* ---- groups of a batch --------------------------------------------------------------------- */

static bool batch_of(const problem *p, batch *out)
{
    const tsr_matmul_problem *q = matmul_of(p);

    *out = (batch){.operand = {matmul_matrix_a(q), matmul_matrix_b(q), matmul_matrix_c(q)},
                   .count = matmul_batch(q),
                   .reads_result = q->beta != 0};
    return q->alpha != 0 && q->m && q->n && q->k;
}

static problem group_of(const problem *whole, size_t count)
{
    problem p = *whole;

    matmul_in(&p)->batch = count;
    matmul_in(&p)->offset_a = matmul_in(&p)->offset_b = matmul_in(&p)->offset_c = 0;
    return p;
}

static const batch_form form = {batch_of, group_of};
static const partition_kind groups = {"groups", &form, batches_run};

/* ---- one product, or those of a batch one after another ------------------------------------- */

/* Product e of a batch, alone. */
static problem product_of(const problem *p, size_t e)
{
    return matmul_problem(matmul_product(matmul_of(p), e));
}

static tsr_status run_tiles(const stream_call *call, const partition *p, tsr_error *err)
{
    const matmul_tiles tiles = {p->cut[0], p->cut[1]};
    tsr_status st = TSR_OK;

    for (size_t e = 0; e < matmul_batch(matmul_of(call->problem)) && !st; e++) {
        const problem one = product_of(call->problem, e);
        stream_call each = *call;

        each.problem = &one;
        st = matmul_tiles_run(&each, &tiles, err);
    }
    return st;
}

static tsr_status run_slabs(const stream_call *call, const partition *p, tsr_error *err)
{
    const matmul_slabs slabs = {p->cut[0], p->cut[1]};
    tsr_status st = TSR_OK;

    for (size_t e = 0; e < matmul_batch(matmul_of(call->problem)) && !st; e++) {
        const problem one = product_of(call->problem, e);
        stream_call each = *call;

        each.problem = &one;
        st = matmul_slabs_run(&each, &slabs, err);
    }
    return st;
}

static const partition_kind in_tiles = {"tiles", NULL, run_tiles};
static const partition_kind in_slabs = {"slabs", NULL, run_slabs};

/* A product, or a batch without groups: at once where the device holds it, else each by itself. */
static tsr_status choose_products(const stream_budget *budget, const problem *p, partition *out,
                                  tsr_error *err)
{
    const size_t count = matmul_batch(matmul_of(p));
    const problem one = product_of(p, 0);
    const tsr_matmul_problem *q = matmul_of(&one);
    matmul_tiles tiles;
    matmul_slabs slabs;
    tsr_status st;

    if (count > 1 && stream_holds(budget, p))
        return TSR_OK;
    st = matmul_tiles_choose(budget, &one, &tiles, err);
    if (st)
        return st;
    if (tiles.m) {
        size_t each;

        *out = (partition){&in_tiles, SIZE_MAX, {tiles.m, tiles.n}};
        if (size_mul(size_div_up(q->m, tiles.m), size_div_up(q->n, tiles.n), &each))
            size_mul(each, count, &out->pieces);
        return TSR_OK;
    }
    matmul_slabs_choose(budget, &one, count > 1, &slabs);
    if (slabs.strip) {
        *out = (partition){&in_slabs, SIZE_MAX, {slabs.first, slabs.strip}};
        size_mul(matmul_slabs_count(q, &slabs), count, &out->pieces);
    }
    return TSR_OK;
}

tsr_status matmul_partition(const problem *p, const selection *sel, const stream_budget *budget,
                            partition *out, tsr_error *err)
{
    (void)sel;
    batches_choose(budget, p, &groups, out);
    return out->kind ? TSR_OK : choose_products(budget, p, out, err);
}
