#include "ops/matvec/matvec_partition.h"

#include "ops/matvec/matvec_panels.h"
#include "ops/matvec/matvec_shape.h"
#include "stream/batches.h"

/* ---- groups of a batch --------------------------------------------------------------------- */

static bool batch_of(const problem *p, batch *out)
{
    const tsr_matvec_problem *q = matvec_of(p);

    *out = (batch){.operand = {matvec_a(q), matvec_x(q), matvec_y(q)},
                   .count = matvec_batch(q),
                   .reads_result = q->beta != 0,
                   .comes_in_panels = true};
    return q->alpha != 0 && q->rows && q->columns;
}

static problem group_of(const problem *whole, size_t count)
{
    problem p = *whole;

    matvec_in(&p)->batch = count;
    matvec_in(&p)->offset_a = matvec_in(&p)->offset_x = matvec_in(&p)->offset_y = 0;
    return p;
}

static const batch_form form = {batch_of, group_of};
static const partition_kind groups = {"groups", &form, batches_run};

static tsr_status run_panels(const stream_call *call, const partition *p, tsr_error *err)
{
    const matvec_panels panels = {p->cut[0], p->cut[1], p->cut[2]};

    return matvec_panels_run(call, &panels, err);
}

static const partition_kind in_panels = {"panels", NULL, run_panels};

tsr_status matvec_partition(const problem *p, const selection *sel, const stream_budget *budget,
                            partition *out, tsr_error *err)
{
    matvec_panels panels;
    tsr_status st;

    (void)sel;
    batches_choose(budget, p, &groups, out);
    if (out->kind)
        return TSR_OK;
    st = matvec_panels_choose(budget, p, &panels, err);
    if (!st && panels.lines)
        *out = (partition){&in_panels,
                           matvec_panels_count(matvec_of(p), &panels),
                           {panels.lines, panels.products, panels.slots}};
    return st;
}
