#include "ops/matmul/matmul_subgroup.h"

#include "base/sizes.h"
#include "core/groups.h"
#include "ops/matmul/matmul_shape.h"
#include "ops/matmul/matmul_steps.h"

const tunable matmul_subgroup_tunables[SUBGROUP_TUNABLES] = {
    {"ROWS", "rows of C in registers: each load of B serves them all", {4, 8, 16}, 8},
    {"VECTORS", "vectors of four columns of a lane: an exchange serves them all", {1, 2}, 2},
    {"GROUP", "work-items of a group: rows that find B in its cache", {64, 128, 256}, 256},
};

enum {
    WARP = 32,
    GROUPS_MAX = 1 << 20 /* along a dimension; each then computes several strips */
};

/* Lanes of a sub-group as far as is known: the kernel covers C whatever they are. */
static size_t lanes_of(const job *j, bool shfl)
{
    return shfl ? WARP : size_max(j->device->subgroup_size, 1);
}

/* Columns of a layer of groups: those that a sub-group computes at once. */
static size_t width_of(const job *j, bool shfl)
{
    return lanes_of(j, shfl) * 4 * param(j->params, "VECTORS");
}

static void defines(const job *j, bool shfl, text *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    matmul_defines_operands(p, out);
    text_format(out, " -DALIGNED_B=%d -DSHFL=%d -DWIDTH=%zu", matmul_aligned(j, matmul_matrix_b(p)),
                shfl, width_of(j, shfl));
}

void matmul_subgroup_defines(const job *j, text *out)
{
    defines(j, false, out);
}

void matmul_shfl_defines(const job *j, text *out)
{
    defines(j, true, out);
}

const char *matmul_subgroup_unsupported(const job *j, text *reason)
{
    const char *why = matmul_unsupported_portable(j, reason);

    return why ? why
               : matmul_unsupported_items(param(j->params, "GROUP"), group_limit(j->device, 0),
                                          reason);
}

static bool launch(const job *j, bool shfl, size_t i, command *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t items = param(j->params, "GROUP");
    const size_t teams = size_max(items / lanes_of(j, shfl), 1);
    const size_t strips = size_div_up(p->m, param(j->params, "ROWS"));

    if (i > 0 || p->m == 0 || p->n == 0)
        return false;
    command_launch_2d(out, 0, size_min(size_div_up(strips, teams), GROUPS_MAX) * items,
                      size_div_up(p->n, width_of(j, shfl)), items, 1);
    matmul_step_layers(out, matmul_batch(p));
    matmul_step_product(out, p);
    matmul_step_strides(out, p);
    return true;
}

bool matmul_subgroup_step(const job *j, size_t i, command *out)
{
    return launch(j, false, i, out);
}

bool matmul_shfl_step(const job *j, size_t i, command *out)
{
    return launch(j, true, i, out);
}
