#include "ops/matmul/matmul_parts.h"

#include "base/sizes.h"
#include "core/groups.h"
#include "ops/matmul/matmul_plan.h"

/* Bytes that the sums of parts may take. */
enum { WORKSPACE_MAX = 256 << 20 };

enum {
    SUM_ITEMS = 256, /* of a group that adds up parts */
    LANES_MAX = 32   /* work-items that share an output's parts */
};

k_parts matmul_parts_cut(const job *j, size_t parts, size_t depth)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t k = matmul_k_read(p);
    k_parts cut = {1, k};
    size_t one, most;

    if (parts < 2 || k <= depth || !size_mul(p->m, p->n, &one) ||
        !size_mul(one, matmul_real_size(p), &one) || one == 0)
        return cut;
    most = size_min(WORKSPACE_MAX, (size_t)j->device->max_allocation) / one;
    parts = size_min(parts, most);
    if (parts < 2)
        return cut;
    cut.span = size_round_up(size_div_up(k, parts), depth);
    cut.parts = size_div_up(k, cut.span);
    return cut;
}

void matmul_define_parts(const tsr_matmul_problem *p, plan *out)
{
    matmul_define_scales(p, out);
    plan_define(out, "SUM_ITEMS=%d", SUM_ITEMS);
    plan_define(out, "PARTS_TOGETHER=%d", MATMUL_PARTS_TOGETHER);
}

size_t matmul_parts_workspace(const tsr_matmul_problem *p, k_parts k)
{
    return k.parts > 1 && p->m && p->n ? k.parts * p->m * p->n * matmul_real_size(p) : 0;
}

/* So many work-items add up an output that each has a few parts. */
void matmul_parts_sum(const job *j, const tsr_matmul_problem *p, k_parts k, unsigned entry,
                      plan *out)
{
    const size_t items = group_fit(j->device, 0, SUM_ITEMS);
    matmul_call call = matmul_call_of(p);
    command *c;

    call.parts = (uint32_t)k.parts;
    call.lanes = 1;
    while (call.lanes < size_min(LANES_MAX, items) && k.parts >= 8 * call.lanes)
        call.lanes *= 2;
    /* Where each has all parts, it takes four neighbours if they are vectors. */
    call.columns =
        call.lanes == 1 && p->n % 4 == 0 && matmul_aligned(j, matmul_matrix_c(p)) ? 4 : 1;
    c = plan_launch_1d(out, entry,
                       size_div_up(p->m * p->n / call.columns, items / call.lanes) * items, items);
    command_workspace(c);
    command_operand(c, MATMUL_C);
    matmul_pass(c, p, &call);
    matmul_scales(c, p, false);
    c->bytes = c->traffic.requested = (double)matmul_parts_workspace(p, k) + matmul_asked(p, 0, 0);
    if (call.columns == 1) {
        /* Each work-item's sum, and those of the other lanes, which the first reads. */
        const double outputs = (double)p->m * (double)p->n;

        c->traffic.local = (double)matmul_real_size(p) *
                           ((double)c->global[0] + outputs * ((double)call.lanes - 1));
        c->traffic.barriers = 1;
    }
}

void matmul_parts_commands(const job *j, k_parts k, const command *grid, unsigned sum, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    command c = *grid;

    out->workspace = matmul_parts_workspace(p, k);
    if (p->m == 0 || p->n == 0)
        return;
    if (k.parts == 1) {
        matmul_layers(&c, matmul_batch(p));
        matmul_arguments(&c, p);
        plan_append(out, &c);
        return;
    }
    for (size_t e = 0; e < matmul_batch(p); e++) {
        const tsr_matmul_problem one = matmul_product(p, e);
        matmul_call call = matmul_call_of_parts(&one, matmul_alpha(p));

        call.span = (uint32_t)k.span;
        c = *grid;
        matmul_layers(&c, k.parts);
        command_operand(&c, MATMUL_A);
        command_operand(&c, MATMUL_B);
        command_workspace(&c);
        matmul_pass(&c, p, &call);
        matmul_scales(&c, p, false);
        plan_append(out, &c);
        matmul_parts_sum(j, &one, k, sum, out);
    }
}
