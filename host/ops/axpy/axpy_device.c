/* The kernels: the ladder of float32, and the one that takes every type. */
#include "base/elements.h"
#include "base/sizes.h"
#include "core/groups.h"
#include "core/real.h"
#include "ops/axpy/axpy_problem.h"

/* Work-items of a group. */
enum { GROUP_GPU = 256 };

/* Whether each operand begins at a multiple of so many elements, of its buffer: a CPU's may begin
 * anywhere in memory, and it loads from there as fast. */
static bool starts_at(const job *j, size_t elements)
{
    const tsr_axpy_problem *p = axpy_of(j->problem);

    for (size_t i = 0; i < AXPY_OPERANDS; i++)
        if (axpy_view(p, i).offset % elements)
            return false;
    return j->device->kind != DEVICE_CPU;
}

/* ---- the ladder ---------------------------------------------------------------------------- */

const char *axpy_unsupported_lesson(const job *j, plan *out)
{
    const tsr_axpy_problem *p = axpy_of(j->problem);

    if (p->type != TSR_F32)
        return plan_unsupported(out, "it takes float32, not %s", tsr_type_name(p->type));
    if (!axpy_is_dense(p))
        return "it takes elements without gaps";
    return NULL;
}

/* One launch of `groups` groups. */
static void launch(const job *j, size_t groups, size_t local, plan *out)
{
    const tsr_axpy_problem *p = axpy_of(j->problem);
    command *c;

    if (p->n == 0)
        return;
    c = plan_launch_1d(out, 0, groups * local, local);
    command_u64(c, p->n);
    command_real(c, TSR_F32, p->alpha);
    for (size_t i = 0; i < AXPY_OPERANDS; i++) {
        command_operand(c, i == AXPY_Y && p->in_place ? AXPY_Z : (unsigned)i);
        command_u64(c, axpy_view(p, i).offset);
    }
    /* Each element is loaded or stored once. */
    c->bytes = c->traffic.requested = j->problem->op->bytes(j->problem);
    c->flops = 2 * (double)p->n;
}

static const tunable naive_tunables[] = {
    {"GROUP",
     "work-items in a work-group, at most what the device takes",
     {32, 128, 256},
     256,
     32,
     .host_only = true}};

static const char *naive_plan(const job *j, plan *out)
{
    const size_t local = group_fit(j->device, 0, param(j->params, "GROUP"));
    const char *why = axpy_unsupported_lesson(j, out);

    if (why)
        return why;
    launch(j, size_div_up(axpy_of(j->problem)->n, local), local, out);
    return NULL;
}

const variant axpy_naive = {.name = "naive",
                            .idea = "a work-item for each element",
                            .source = "axpy/axpy_naive.cl",
                            .entries = {"axpy_naive"},
                            .build = "",
                            .tunables = naive_tunables,
                            .tunable_count = ARRAY_COUNT(naive_tunables),
                            .plan = naive_plan};

/* The loop of a CPU's work-item is one of its core: more of them would take turns at cache lines.
 */
enum { PER_UNIT_CPU = 1, PER_UNIT_GPU = 16 };

static const tunable grid_tunables[] = {
    {"GROUP", GROUP_MEANING, {0, 1, 32, 128, 256}, 0, 32, .host_only = true},
    {"PER_UNIT",
     "work-groups for each compute unit, at most: more hide latency, fewer start sooner; 0: by the "
     "device",
     {0, 1, 2, 8, 16, 32},
     0,
     2,
     .host_only = true,
     .any = true},
};

/* As many groups as the device runs at a time, or fewer where `each` elements an item are all. */
static const char *plan_grid(const job *j, size_t each, plan *out)
{
    const bool cpu = j->device->kind == DEVICE_CPU;
    const size_t group = param(j->params, "GROUP"), units = param(j->params, "PER_UNIT");
    const size_t local = group_fit(j->device, 0, group ? group : cpu ? 1 : GROUP_GPU);
    const size_t per_unit = units ? units : cpu ? PER_UNIT_CPU : PER_UNIT_GPU;
    const size_t most = size_max(j->device->compute_units, 1) * per_unit;
    const size_t wanted = size_div_up(size_div_up(axpy_of(j->problem)->n, each), local);
    const char *why = axpy_unsupported_lesson(j, out);

    if (why)
        return why;
    plan_set(out, "GROUP", (uint32_t)local);
    plan_set(out, "PER_UNIT", (uint32_t)per_unit);
    launch(j, size_max(size_min(wanted, most), 1), local, out);
    return NULL;
}

static const char *grid_stride_plan(const job *j, plan *out)
{
    return plan_grid(j, 1, out);
}

const variant axpy_grid_stride = {
    .name = "grid-stride",
    .idea =
        "a grid-stride loop: as many work-items as run at once, each with elements a grid apart",
    .source = "axpy/axpy_grid_stride.cl",
    .entries = {"axpy_grid_stride"},
    .build = "",
    .tunables = grid_tunables,
    .tunable_count = ARRAY_COUNT(grid_tunables),
    .plan = grid_stride_plan};

static const char *vector_plan(const job *j, plan *out)
{
    plan_define(out, "ALIGNED=%d", starts_at(j, 4));
    return plan_grid(j, 4, out);
}

const variant axpy_vector = {.name = "vector",
                             .idea = "grid-stride with vectors of four: 16 bytes a load",
                             .source = "axpy/axpy_vector.cl",
                             .entries = {"axpy_vector"},
                             .build = "",
                             .tunables = grid_tunables,
                             .tunable_count = ARRAY_COUNT(grid_tunables),
                             .plan = vector_plan};

/* ---- every type ---------------------------------------------------------------------------- */

/* As axpy_general.cl has it. */
typedef struct axpy_call {
    uint64_t n, from_x, from_y, from_z, inc_x, inc_y, inc_z;
} axpy_call;

/* A GPU has many work-items, and loads of 16 bytes.  A core of a CPU runs those of its group in
 * turns: one takes a whole block, and the compiler makes vectors of it. */
enum { VECTORS_CPU = 64, VECTORS_GPU = 1, VEC_BYTES_CPU = 64, VEC_BYTES_GPU = 16, VEC_MAX = 16 };

static const tunable general_tunables[] = {
    {"GROUP", GROUP_MEANING, {0, 1, 32, 128, 256}, 0, 32},
    {"VECTORS",
     "vectors that a work-item takes: more are in flight at once; 0: by the device",
     {0, 1, 2, 4, 8, 64},
     0,
     2},
    {"VEC", "elements of a vector; 0: of 16 bytes, or of 64 on a CPU", {0, 2, 4, 8, 16}, 0, 4},
};

static const char *general_plan(const job *j, plan *out)
{
    const tsr_axpy_problem *p = axpy_of(j->problem);
    const bool cpu = j->device->kind == DEVICE_CPU;
    const size_t group = param(j->params, "GROUP"), vectors = param(j->params, "VECTORS");
    const size_t given = param(j->params, "VEC");
    const size_t local = group_fit(j->device, 0, group ? group : cpu ? 1 : GROUP_GPU);
    const size_t usual = (cpu ? VEC_BYTES_CPU : VEC_BYTES_GPU) / tsr_type_size(p->type);
    const size_t vec = given ? given : size_min(usual, VEC_MAX);
    const size_t taken = vectors ? vectors : cpu ? VECTORS_CPU : VECTORS_GPU;
    const axpy_call call = {.n = p->n,
                            .from_x = axpy_view(p, AXPY_X).offset,
                            .from_y = axpy_view(p, AXPY_Y).offset,
                            .from_z = axpy_view(p, AXPY_Z).offset,
                            .inc_x = axpy_inc(p, AXPY_X),
                            .inc_y = axpy_inc(p, AXPY_Y),
                            .inc_z = axpy_inc(p, AXPY_Z)};
    const char *why = NULL;
    command *c;

    if (type_is_real(p->type))
        why = real_unsupported(p->type, TSR_PRECISION_DEFAULT, j->device, &out->reason);
    if (why)
        return why;
    plan_set(out, "GROUP", (uint32_t)local);
    plan_set(out, "VECTORS", (uint32_t)taken);
    plan_set(out, "VEC", (uint32_t)vec);
    if (type_is_real(p->type))
        real_defines_elements(p->type, p->type, &out->defines);
    else
        plan_define(out, "INTEGER=%s", plan_bits_name(p->type));
    plan_define(out, "ALIGNED=%d", starts_at(j, vec));
    plan_define(out, "DENSE=%d", axpy_is_dense(p));
    if (p->n == 0)
        return NULL;
    c = plan_launch_1d(out, 0, size_div_up(p->n, local * taken * vec) * local, local);
    command_operand(c, AXPY_X);
    command_operand(c, p->in_place ? AXPY_Z : AXPY_Y);
    command_operand(c, AXPY_Z);
    command_block(c, &call, sizeof(call));
    if (type_is_real(p->type))
        command_real(c, p->type, p->alpha);
    else
        command_u64(c, axpy_whole(p->alpha));
    /* Each element is loaded or stored once. */
    c->bytes = c->traffic.requested = j->problem->op->bytes(j->problem);
    c->flops = 2 * (double)p->n;
    return NULL;
}

const variant axpy_general = {
    .name = "general",
    .idea = "several vectors in flight a work-item, every type, elements at any distance",
    .source = "axpy/axpy_general.cl",
    .entries = {"axpy_general"},
    .build = "",
    .tunables = general_tunables,
    .tunable_count = ARRAY_COUNT(general_tunables),
    .plan = general_plan};
