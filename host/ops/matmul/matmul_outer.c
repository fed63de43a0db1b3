/* Products of a short k, whose cost is C: cl/matmul/matmul_outer.cl. */
#include <math.h>

#include "base/sizes.h"
#include "core/groups.h"
#include "core/registry.h"
#include "ops/matmul/matmul_plan.h"
#include "ops/matmul/matmul_variants.h"

enum {
    VECTOR_BYTES = 16,
    LANES_MAX = 32,
    DEPTH_MAX = 64,
    LOADS_MAX = 24,    /* elements of tiles that a work-item brings at once */
    GROUPS_A_UNIT = 3, /* that keep memory busy */
    PASSES_MAX = 8,
    GROUPS_OF_PASSES = 8, /* for each unit, of several blocks of rows */
    K_OF_C = 8            /* up to which C, not the factors, decides how many rows serve */
};

static const tunable tunables[] = {
    {"ITEMS",
     "work-items of a group: reuse of B against groups",
     {64, 128, 256},
     256,
     64,
     .cpu_most = 64},
    {"LANES",
     "vectors of 16 bytes side by side in a group: columns against rows",
     {0, 2, 4, 8, 16, 32},
     0,
     .cpu_most = 4},
    {"ROWS",
     "rows of a work-item: reuse of B against registers",
     {0, 1, 2, 4, 8},
     0,
     .cpu_most = 2},
    {"DEPTH",
     "steps along k in local memory: fewer barriers against memory",
     {0, 1, 2, 4, 8, 16, 32},
     0,
     4,
     .cpu_most = 4},
    {"PASSES",
     "blocks of rows with the same columns of B, where tiles hold all of k: reuse against groups",
     {0, 1, 2, 4, 8},
     0,
     1,
     .cpu_most = 1},
};

/* How groups share C. */
typedef struct layout {
    size_t vector, items, lanes, rows, depth, passes;
    size_t across, classes, down; /* groups side by side; classes of rows, and groups of each */
} layout;

/* Whether the device has matrix units for the factors: `mma` then takes few outputs as fast. */
static bool has_matrix_units(const tsr_matmul_problem *p, const device_facts *d)
{
    return d->nv_capability >= 80 &&
           (tsr_type_size(p->type) == 2 || real_rounding(p->type, p->precision) > 0);
}

/* The longest k that takes no longer here than elsewhere, as measured on an H200.  A step costs as
 * much for each output wherever C lies, while others lose time by reading C, and by rows that are
 * not aligned, but for `mma`, to which 16 steps of 16 bits are one, and 8 of TF32.  Of 16 bits and
 * a C that caches hold `mma` is faster from k = 3 on: bfloat16 1500x2500x4 takes 6.7 us by it,
 * and 8.7 here; larger ones were timed up to 6. */
static size_t k_most(const tsr_matmul_problem *p, const device_facts *d, const matmul_matrix *c)
{
    const size_t plain = p->type == TSR_F64 ? 4 : tsr_type_size(c->type) == 2 ? 6 : 8;
    const bool aligned = matmul_starts_at(c, VECTOR_BYTES / tsr_type_size(c->type));
    const size_t k = plain * (matmul_reads_c(p) ? 2 : 1);

    if (has_matrix_units(p, d) &&
        (tsr_type_size(p->type) == 2 || p->precision == TSR_PRECISION_TF32))
        return tsr_type_size(c->type) == 2 && view_elements(c) <= 0x1p23 ? 2 : plain;
    /* Tiles of `cp-async` store lines that are not aligned as fast, where they fill the device. */
    if (c->type == TSR_F32 && d->nv_capability >= 80 && (double)p->m * (double)p->n >= 0x1p20)
        return size_min(aligned ? k : 2 * k, 16);
    return aligned || tsr_type_size(c->type) == 2 ? k : size_min(2 * k, 24);
}

bool matmul_outer_gains(const tsr_matmul_problem *p, const device_facts *d)
{
    const matmul_matrix a = matmul_matrix_a(p), b = matmul_matrix_b(p), c = matmul_matrix_c(p);
    const double factors = (double)tsr_type_size(p->type) * (view_elements(&a) + view_elements(&b));
    const double moved =
        (double)tsr_type_size(c.type) * view_elements(&c) * (matmul_reads_c(p) ? 2 : 1);

    /* Few steps of few outputs are as long as their launch: 8x326x1 with beta 1 takes 2.5 us, and
     * 3.1 by a kernel that shares k; 1541x16x4 3.0 and 3.8; 4251x12x1 3.0 and 3.6. */
    if (matmul_is_skinny(p))
        return p->type == TSR_F64 && p->k <= 4 &&
               (double)matmul_batch(p) * (double)p->m * (double)p->n <=
                   (p->k <= 2 ? 0x1p16 : 0x1p15);
    if (p->k <= k_most(p, d, &c) && moved >= factors &&
        (moved >= 0x1p20 || !has_matrix_units(p, d)))
        return true;
    /* A launch is most of the time, and this has the least before and after the multiply-adds. */
    return p->type == TSR_F32 && !has_matrix_units(p, d) && p->k <= 48 &&
           (double)matmul_batch(p) * (double)p->m * (double)p->n * (double)p->k <= 0x1p22;
}

/* Rows after which a row of C starts at the same place in a vector. */
static size_t classes_of(size_t ld, size_t vector)
{
    size_t classes = 1;

    while (classes * ld % vector)
        classes *= 2;
    return classes;
}

/* Rows of a group. */
static size_t height_of(const layout *s)
{
    return s->items / s->lanes * s->rows * s->passes;
}

static size_t local_bytes(const tsr_matmul_problem *p, const layout *s)
{
    const size_t real = matmul_real_size(p), part = VECTOR_BYTES / real;

    return s->depth * (height_of(s) + size_max(s->rows, part) + s->lanes * s->vector + part) * real;
}

/* Groups of one product. */
static size_t groups_of(const layout *s)
{
    return s->down * s->classes * s->across;
}

static void lay_down(const tsr_matmul_problem *p, layout *s)
{
    s->down = size_div_up(size_div_up(p->m, s->classes), height_of(s));
}

/* Whether groups of so many rows still fill the device, and find room. */
static bool serves(const job *j, layout *s)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    lay_down(p, s);
    return groups_of(s) * matmul_batch(p) >=
               GROUPS_OF_PASSES * size_max(j->device->compute_units, 1) &&
           s->depth * (height_of(s) + s->lanes * s->vector) <= LOADS_MAX * s->items &&
           local_bytes(p, s) <= j->device->local_memory;
}

/* Blocks of rows for a group that brings all of k at once, as many as leave groups enough, and of
 * more rows then: of 16 bits, of which a block is soon done.  Not where C is read: a group then
 * waits for what it was block after block. */
static void choose_passes(const job *j, layout *s)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t set = param(j->params, "PASSES");
    layout more = *s;

    if (s->depth < matmul_k_read(p) || (!set && (matmul_reads_c(p) || s->vector <= 4)))
        return;
    more.rows = 4;
    if (!param(j->params, "ROWS") && s->rows == 2 && serves(j, &more))
        *s = more;
    for (more = *s; more.passes < (set ? set : PASSES_MAX); *s = more) {
        more.passes *= 2;
        if (!serves(j, &more) && !set)
            break;
    }
    lay_down(p, s);
}

/* Rows for each work-item, as many as leave groups enough; and steps for them at once. */
static void choose(const job *j, layout *s)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t enough = GROUPS_A_UNIT * size_max(j->device->compute_units, 1);
    const size_t columns = s->lanes * s->vector;
    const bool rows_set = s->rows;

    /* More would leave too few work-items on a unit to wait for memory; and of a longer k, fewer
     * would load too much of B for what they multiply. */
    if (!rows_set)
        s->rows = s->vector > 4 || (matmul_reads_c(p) && p->k <= K_OF_C) ? 2 : 4;
    while (!rows_set && s->rows > 1 && height_of(s) / 2 >= size_div_up(p->m, s->classes))
        s->rows /= 2;
    for (;;) {
        lay_down(p, s);
        if (rows_set || s->rows == 1 || groups_of(s) * matmul_batch(p) >= enough)
            break;
        s->rows /= 2;
    }
    if (s->depth)
        return;
    s->depth = size_min(DEPTH_MAX, size_power_of_2_up(size_max(matmul_k_read(p), 1)));
    while (s->depth > 1 && (s->depth * (height_of(s) + columns) > LOADS_MAX * s->items ||
                            local_bytes(p, s) > j->device->local_memory))
        s->depth /= 2;
}

static layout layout_of(const job *j)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const matmul_matrix c = matmul_matrix_c(p);
    const bool aligned = j->device->kind != DEVICE_CPU;
    layout s = {.vector = VECTOR_BYTES / tsr_type_size(c.type),
                .items = param(j->params, "ITEMS"),
                .lanes = param(j->params, "LANES"),
                .rows = param(j->params, "ROWS"),
                .depth = param(j->params, "DEPTH"),
                .passes = 1};
    size_t columns = p->n;

    s.classes = aligned ? classes_of(c.ld, s.vector) : 1;
    if (aligned && !matmul_starts_at(&c, s.vector))
        columns += s.vector - 1;
    if (!s.lanes)
        s.lanes =
            size_min(LANES_MAX, size_max(2, size_power_of_2_up(size_div_up(columns, s.vector))));
    s.across = size_div_up(columns, s.lanes * s.vector);
    choose(j, &s);
    choose_passes(j, &s);
    return s;
}

/* Multiply-adds a nanosecond of all groups of a unit; nanoseconds that a row or column takes to be
 * loaded for a step, that an output takes to be stored, or more where it is added to, and that a
 * group takes beside; and what is left of all these where it has the unit to itself.  By a fit to
 * times of 118 products on an H200, whose root mean square of errors is 13%. */
static const double rate = 369, line_ns = 0.28, output_ns = 0.074, added_to = 1.8, group_ns = 213,
                    alone = 0.58, launch_ns = 2160;
enum { BESIDE = 4 }; /* groups of a unit that gain by one another */

double matmul_outer_time(const problem *q, const device_facts *d)
{
    const tsr_matmul_problem *p = matmul_of(q);
    const params defaults = params_default(&matmul_outer);
    const job j = {q, d, &defaults, false};
    const layout s = layout_of(&j);
    const double rows = (double)height_of(&s), columns = (double)(s.lanes * s.vector);
    const double groups = (double)(s.across * s.down * s.classes * matmul_batch(p));
    const double most = ceil(groups / (double)matmul_units(&j));
    const double share = alone + (1 - alone) * (fmin(most, BESIDE) - 1) / (BESIDE - 1);
    const double step = rows * columns / rate + line_ns * (rows + columns);
    const double store = output_ns * rows * columns * (matmul_reads_c(p) ? added_to : 1);

    return launch_ns + most * ((double)matmul_k_read(p) * step + store + group_ns) / share;
}

static const char *plan_outer(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const layout s = layout_of(j);
    matmul_call call = matmul_call_of(p);
    const char *why = matmul_unsupported_rounding(j, out);
    const uint32_t passes = param(j->params, "PASSES");
    command *c;

    if (!why && passes > s.passes)
        why = plan_unsupported(out,
                               "PASSES=%u needs tiles that hold all of k, and k is %zu: DEPTH=%zu",
                               passes, p->k, s.depth);
    if (!why)
        why = matmul_unsupported_items(s.items, group_limit(j->device, 0), out);
    if (!why)
        why = plan_unsupported_local(out, local_bytes(p, &s), j->device->local_memory);
    if (why)
        return why;
    plan_set(out, "LANES", (uint32_t)s.lanes);
    plan_set(out, "ROWS", (uint32_t)s.rows);
    plan_set(out, "DEPTH", (uint32_t)s.depth);
    plan_set(out, "PASSES", (uint32_t)s.passes);
    matmul_define_operands(p, out);
    matmul_define_rounding(p, out);
    plan_define(out, "VECTOR=%zu", s.vector);
    plan_define(out, "READS_C=%d", matmul_reads_c(p));
    plan_define(out, "ALIGNED=%d", j->device->kind != DEVICE_CPU);
    if (p->m == 0 || p->n == 0)
        return NULL;
    call.across = (uint32_t)s.across;
    call.classes = (uint32_t)s.classes;
    c = plan_launch_2d(out, 0, groups_of(&s) * s.items, 1, s.items, 1);
    matmul_layers(c, matmul_batch(p));
    command_operand(c, MATMUL_A);
    command_operand(c, MATMUL_B);
    command_operand(c, MATMUL_C);
    matmul_pass(c, p, &call);
    return NULL;
}

const variant matmul_outer = {
    .name = "outer",
    .idea = "a sum of k outer products, for a short k: C moves in aligned vectors, whatever its ld",
    .unstated =
        "moves C by vectors, and its leading dimension decides how many at the ends of rows",
    .source = "matmul/matmul_outer.cl",
    .entries = {"matmul_outer"},
    .program_a_shape = true,
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables),
    .plan = plan_outer};
