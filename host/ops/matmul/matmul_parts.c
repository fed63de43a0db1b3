#include "ops/matmul/matmul_parts.h"

#include "base/sizes.h"
#include "core/groups.h"
#include "core/real.h"
#include "ops/matmul/matmul_shape.h"
#include "ops/matmul/matmul_steps.h"

/* Bytes that the sums of parts may take. */
enum { WORKSPACE_MAX = 256 << 20 };

enum {
    SUM_ITEMS = 256, /* of a group that adds up parts */
    LANES_MAX = 8    /* work-items that share an output's parts */
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

size_t matmul_parts_workspace(const job *j, k_parts k)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    return k.parts > 1 && p->m && p->n ? k.parts * p->m * p->n * matmul_real_size(p) : 0;
}

void matmul_parts_arguments(const job *j, k_parts k, command *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    matmul_step_layers(out, k.parts > 1 ? k.parts : matmul_batch(p));
    command_u32(out, (uint32_t)p->m);
    command_u32(out, (uint32_t)p->n);
    command_u32(out, (uint32_t)matmul_k_read(p));
    command_real(out, p->type, matmul_alpha(p));
    matmul_step_inputs(out, p);
    if (k.parts > 1) {
        matmul_step_parts(out, p);
        command_u64(out, 0);
        command_u64(out, 0);
        command_u64(out, (uint64_t)p->m * p->n);
    } else {
        matmul_step_output(out, p);
        matmul_step_strides(out, p);
    }
    command_u32(out, (uint32_t)k.span);
}

/* So many work-items add up an output that each has a few parts. */
void matmul_parts_sum(const job *j, k_parts k, unsigned entry, command *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t items = group_fit(j->device, 0, SUM_ITEMS);
    size_t lanes_each = 1;

    while (lanes_each < size_min(LANES_MAX, items) && k.parts >= 8 * lanes_each)
        lanes_each *= 2;
    command_launch_1d(out, entry, size_div_up(p->m * p->n, items / lanes_each) * items, items);
    command_u32(out, (uint32_t)p->m);
    command_u32(out, (uint32_t)p->n);
    command_u32(out, (uint32_t)k.parts);
    command_u32(out, (uint32_t)lanes_each);
    command_real(out, p->type, matmul_alpha(p));
    command_workspace(out);
    matmul_step_output(out, p);
}

bool matmul_parts_step(const job *j, k_parts k, size_t i, unsigned sum,
                       void (*multiply)(const job *j, const void *layout, command *out),
                       const void *layout, command *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    problem q = *j->problem;
    const job product = {&q, j->device, j->params, false};

    if (p->m == 0 || p->n == 0 || i >= (k.parts > 1 ? 2 * matmul_batch(p) : 1))
        return false;
    if (k.parts > 1)
        *matmul_in(&q) = matmul_product(p, i / 2);
    if (i % 2 == 0)
        multiply(&product, layout, out);
    else
        matmul_parts_sum(&product, k, sum, out);
    return true;
}
