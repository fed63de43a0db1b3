#include "ops/matmul/matmul_async.h"

#include "base/sizes.h"
#include "core/groups.h"
#include "ops/matmul/matmul_shape.h"
#include "ops/matmul/matmul_steps.h"

/* A launch of groups of side_x x side_y on a grid of `across` x `down` of them, a layer of it for
 * each product. */
static void launch(const job *j, size_t across, size_t down, size_t side_x, size_t side_y,
                   command *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    command_launch_2d(out, 0, across * side_x, down * side_y, side_x, side_y);
    matmul_step_layers(out, matmul_batch(p));
    matmul_step_product(out, p);
    matmul_step_strides(out, p);
}

const tunable matmul_async_tunables[ASYNC_TUNABLES] = {
    {"SIDE", "work-items along each side of a work-group", {8, 16}, 16, 8},
    {"BLOCK", "outputs of a work-item along each side: reuse against registers", {2, 4, 8}, 4, 2},
    {"DEPTH",
     "extent of the tiles along k: fewer barriers against local memory",
     {8, 16, 32},
     16,
     8},
};

static size_t async_tile(const job *j)
{
    return (size_t)param(j->params, "SIDE") * param(j->params, "BLOCK");
}

void matmul_async_defines(const job *j, text *out)
{
    matmul_defines_operands(matmul_of(j->problem), out);
}

const char *matmul_async_unsupported(const job *j, text *reason)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t side = param(j->params, "SIDE");
    const size_t elements = 4 * param(j->params, "DEPTH") * async_tile(j);

    if (p->type != TSR_F32 && p->type != TSR_F64) {
        text_format(reason, "its copies convert nothing, and it does not add up %s",
                    tsr_type_name(p->type));
        return text_get(reason);
    }
    return matmul_unsupported_group(j, side, side, elements * matmul_real_size(p), reason);
}

bool matmul_async_step(const job *j, size_t i, command *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t side = param(j->params, "SIDE"), tile = async_tile(j);

    if (i > 0 || p->m == 0 || p->n == 0)
        return false;
    launch(j, size_div_up(p->n, tile), size_div_up(p->m, tile), side, side, out);
    return true;
}
