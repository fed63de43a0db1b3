/* Tiles that arrive while others are multiplied: cl/matmul/matmul_pipelined.cl. */
#include <float.h>

#include "base/sizes.h"
#include "core/groups.h"
#include "core/registry.h"
#include "ops/matmul/matmul_complex.h"
#include "ops/matmul/matmul_parts.h"
#include "ops/matmul/matmul_plan.h"
#include "ops/matmul/matmul_shares.h"
#include "ops/matmul/matmul_variants.h"

/* Entries of cl/matmul/matmul_pipelined.cl, in the variant's order. */
enum { MULTIPLY, SUM };

/* 0: what the shape and the device call for. */
static const tunable tunables[] = {
    {"TILE_M",
     "rows of a work-group's tile: reuse of B against groups",
     {0, 32, 64, 128, 256},
     0,
     32},
    {"TILE_N",
     "columns of a work-group's tile: reuse of A against groups",
     {0, 32, 64, 128},
     0,
     32},
    {"SUMS", "outputs of a work-item: reuse against registers", {0, 32, 64, 128}, 0},
    {"DEPTH", "extent of the tiles along k: fewer barriers against memory", {0, 8, 16, 32}, 0, 8},
    {"SLICES", "sets of work-items a tile: latency hidden against sums", {0, 1, 2, 4, 8}, 0, 2},
    {"SPLIT",
     "work-groups that share k: more run at once, and leave more sums to add up",
     {0, 1, 2, 4, 8, 32, 128},
     0,
     2,
     .host_only = true,
     .any = true},
    {"REGISTERS",
     "registers of a work-item, at most (NVIDIA): fewer let more groups run at once",
     {0, 128, 255},
     0,
     .host_only = true},
};

enum {
    GROUP_ITEMS = 256, /* at most, of a group whose slices are chosen here */
    SLICES_MAX = 8,
    DEPTH_MAX = 32
};

/* How groups share a product. */
typedef struct layout {
    uint32_t tile_m, tile_n, sums, depth, slices;
    uint32_t registers; /* limit for a work-item */
    size_t items;       /* of a work-group */
    size_t local;       /* bytes of local memory */
    k_parts k;          /* what groups take of it */
} layout;

static bool on_cpu(const job *j)
{
    return j->device->kind == DEVICE_CPU;
}

static size_t local_bytes(const layout *s, size_t real)
{
    const size_t tiles = 2 * (size_t)s->depth * (s->tile_m + s->tile_n + 8);
    const size_t sums = (size_t)s->slices / 2 * s->tile_m * s->tile_n;

    return size_max(tiles, sums) * real;
}

/* Whether a tile is cut into whole warps, and brought in whole vectors. */
static bool is_whole(const layout *s)
{
    return s->slices <= s->depth &&
           matmul_cuts_whole(s->tile_m, s->tile_n, s->sums, s->depth, s->items);
}

static bool fits(const job *j, const layout *s)
{
    return is_whole(s) && s->items <= group_limit(j->device, 0) &&
           s->local <= j->device->local_memory;
}

/* What a layout is with these slices. */
static void slice(const job *j, uint32_t slices, layout *s)
{
    const size_t least = size_min(s->tile_m, s->tile_n);

    s->slices = slices;
    s->items = (size_t)s->tile_m * s->tile_n / s->sums * slices;
    s->depth = param(j->params, "DEPTH");
    if (!s->depth) /* a vector of each tile for each work-item, or more */
        s->depth = (uint32_t)size_min(size_max(4 * s->items / least, 8), DEPTH_MAX);
    s->local = local_bytes(s, matmul_real_size(matmul_of(j->problem)));
}

/* Large tiles take most sums, which need fewest loads, unless elements come one by one; small ones
 * take few, for more warps. */
static uint32_t usual_sums(const job *j, uint32_t area)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const bool vectors =
        matmul_aligned(j, matmul_matrix_a(p)) && matmul_aligned(j, matmul_matrix_b(p));

    if (area < 128 * 128)
        return 32;
    return area > 128 * 128 || (vectors && p->type != TSR_F64) ? 128 : 64;
}

/* A layout for tiles of a size, from which all follows that no tunable sets. */
static layout layout_for(const job *j, uint32_t tile_m, uint32_t tile_n)
{
    layout s = {.tile_m = tile_m,
                .tile_n = tile_n,
                .sums = param(j->params, "SUMS"),
                .registers = param(j->params, "REGISTERS"),
                .k = {1, matmul_k_read(matmul_of(j->problem))}};
    const uint32_t set = param(j->params, "SLICES");
    uint32_t slices = set ? set : on_cpu(j) ? 1 : SLICES_MAX;

    if (!s.sums)
        s.sums = usual_sums(j, tile_m * tile_n);
    slice(j, slices, &s);
    while (!set && slices > 1 && (s.items > GROUP_ITEMS || !fits(j, &s)))
        slice(j, slices /= 2, &s);
    if (!s.registers)
        s.registers = s.sums == 128 || matmul_of(j->problem)->type == TSR_F64 ? 255 : 128;
    return s;
}

/* ---- the cost of a layout ------------------------------------------------------------------ */

/* Cycles of a GPU's unit that multiplies and adds in 128 lanes.  A group begins and ends in START;
 * adding up parts takes a launch, and moves bytes through the device's cache. */
static const double lanes = 128, start = 1500, launch = 6000, bytes_a_cycle = 2000;

/* Which share of those lanes tiles keep busy: the smaller, the more is moved for each sum.  One
 * group alone on a unit waits at its own barriers. */
static double busy(const layout *s, double waves)
{
    const uint32_t area = s->tile_m * s->tile_n;
    const double share = area >= 128 * 128  ? 1
                         : area >= 64 * 128 ? 0.95
                         : area >= 64 * 64  ? 0.78
                         : area >= 32 * 64  ? 0.7
                                            : 0.62;

    return waves < 2 ? 0.85 * share : share;
}

static double units(const job *j)
{
    return (double)size_max(j->device->compute_units, 1);
}

/* Groups of one part of k. */
static double tiles(const job *j, const layout *s)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    return (double)size_div_up(p->m, s->tile_m) * (double)size_div_up(p->n, s->tile_n);
}

static double cycles(const job *j, const layout *s)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const double groups = tiles(j, s) * (double)(s->k.parts > 1 ? s->k.parts : matmul_batch(p));
    double waves = groups / units(j);
    double cost;

    waves = waves <= 4 ? (double)(size_t)waves + (waves > (double)(size_t)waves) : waves;
    cost =
        start + waves * (double)s->tile_m * s->tile_n * (double)s->k.span / lanes / busy(s, waves);
    if (s->k.parts == 1)
        return cost;
    cost += launch + 2.0 * (double)s->k.parts * (double)p->m * (double)p->n *
                         (double)matmul_real_size(p) / bytes_a_cycle;
    return cost * (double)matmul_batch(p); /* one after another */
}

/* ---- the choice -------------------------------------------------------------------------- */

/* The best number of parts, where SPLIT does not set it: as many groups as fill the units once,
 * twice, or four times, or one. */
static layout split(const job *j, layout s)
{
    const uint32_t set = param(j->params, "SPLIT");
    layout best = s;

    if (set || on_cpu(j)) {
        best.k = matmul_parts_cut(j, set, s.depth);
        return best;
    }
    for (unsigned waves = 1; waves <= 4; waves *= 2) {
        const double parts = waves * units(j) / tiles(j, &s);

        if (parts < 2)
            continue;
        s.k = matmul_parts_cut(j, (size_t)parts, s.depth);
        if (cycles(j, &s) < cycles(j, &best))
            best = s;
    }
    return best;
}

static layout layout_of(const job *j)
{
    /* The last is a CPU's, which finds everything in its cache, and compiles it fastest. */
    static const uint32_t sizes[][2] = {{128, 128}, {64, 128}, {64, 64}, {32, 64}, {32, 32}};
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const uint32_t set_m = param(j->params, "TILE_M"), set_n = param(j->params, "TILE_N");
    layout best = {0};
    double least = DBL_MAX;
    bool found = false;

    for (size_t i = on_cpu(j) ? ARRAY_COUNT(sizes) - 1 : 0; i < ARRAY_COUNT(sizes); i++) {
        layout s = layout_for(j, set_m ? set_m : sizes[i][0], set_n ? set_n : sizes[i][1]);
        const bool fit = fits(j, &s);
        double cost;

        if (p->m && p->n)
            s = split(j, s);
        cost = cycles(j, &s);
        /* Where none fits, the last one says why. */
        if (found && (!fit || cost >= least))
            continue;
        found = fit;
        best = s;
        least = cost;
    }
    return best;
}

/* ---- its time in float32 --------------------------------------------------------------------- */

/* Of the sizes above, as matmul_copied.c has them: by a fit to 147 times of whole products on an
 * H200, whose root mean square of errors is 12%. */
static const share_tile rated[] = {
    {128, 128, 0, 2, 150, 150, 47, 0}, {64, 128, 0, 2, 135, 141, 31, 0},
    {64, 64, 0, 2, 70, 131, 64, 0},    {32, 64, 0, 2, 60, 109, 31, 0},
    {32, 32, 0, 2, 54, 82, 43, 0},
};
static const share_costs costs = {.start = 2700, .add_up = 2450, .bytes_ns = 4100};
static const double added_to = 2.4;

/* The fit is too low for tiles of 64 x 128 and a k below SHORT_K: 1130x801x63, 1052x827x27 and
 * 7592x111x41 took 1.2 to 1.4 times as long. */
enum { SHORT_K = 64 };
static const double short_k = 1.25;

double matmul_pipelined_time(const problem *q, const device_facts *d)
{
    const params defaults = params_default(&matmul_pipelined);
    const job j = {q, d, &defaults, false};
    const layout s = layout_of(&j);
    share_tile t = rated[0];
    shares shared;

    for (size_t i = 0; i < ARRAY_COUNT(rated); i++)
        if (rated[i].rows == s.tile_m && rated[i].columns == s.tile_n)
            t = rated[i];
    t.depth = s.depth;
    t.begin *= (matmul_reads_c(matmul_of(q)) ? added_to : 1) / s.depth;
    t.products = matmul_batch(matmul_of(q));
    shared = matmul_share_as_set(&j, &t, (uint32_t)s.k.parts, 0);
    return matmul_share_time(&j, &t, &costs, &shared) *
           (s.tile_m == 64 && s.tile_n == 128 && matmul_k_read(matmul_of(q)) < SHORT_K ? short_k
                                                                                       : 1);
}

/* ---- the variant ------------------------------------------------------------------------- */

/* Whole tiles: beyond the last line the last one is asked for again.  A group stores its tiles in
 * local memory, and each work-item reads its rows and columns of them for its steps along k; then
 * all slices but one write their sums, which are read. */
static void state_traffic(const job *j, const layout *s, command *grid)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const bool splits = s->k.parts > 1;
    const double m = (double)size_round_up(p->m, s->tile_m), k = (double)matmul_k_read(p),
                 n = (double)size_round_up(p->n, s->tile_n), tile = (double)s->tile_m * s->tile_n;
    const double across = n / s->tile_n, down = m / s->tile_m;
    const double rows = s->sums == 128 ? 16 : 8, columns = s->sums / rows;
    const size_t before_last = (s->k.parts - 1) * s->k.span;
    const double steps =
        (double)(before_last + size_round_up(matmul_k_read(p) - before_last, s->depth));
    const double of_step = (double)s->tile_m + s->tile_n + (rows + columns) * tile / s->sums;
    const double of_slices = 2.0 * (s->slices - 1) * tile * (double)s->k.parts;

    grid->traffic.requested = matmul_asked(p, across * m * k, down * n * k);
    grid->traffic.local = across * down * (steps * of_step + of_slices) *
                          (double)matmul_real_size(p) * (double)(splits ? 1 : matmul_batch(p));
    grid->traffic.barriers = 1 + steps / s->depth / (double)s->k.parts + /* the parts' mean */
                             2 * (double)size_log2_up(s->slices);
    grid->flops = j->problem->op->work(j->problem) / (double)(splits ? matmul_batch(p) : 1);
    if (splits) /* of a product, whose parts are sums in the workspace */
        grid->traffic.requested = (double)tsr_type_size(p->type) * (across * m * k + down * n * k) +
                                  (double)matmul_parts_workspace(p, s->k);
}

static const char *plan_pipelined(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const layout s = layout_of(j);
    const bool splits = s.k.parts > 1;
    /* A limit of registers is an option of NVIDIA's compiler, which then takes groups of up to 256.
     */
    const bool limited = j->device->nvidia && s.registers < 255 && s.items <= 256;
    const char *why = tsr_type_size(p->type) == 1 ? matmul_unsupported_sizes(p, out)
                                                  : matmul_unsupported_portable(j, out);
    command grid;

    if (!why)
        why = matmul_unsupported_items(s.items, group_limit(j->device, 0), out);
    if (why)
        return why;
    if (!is_whole(&s))
        return plan_unsupported(out,
                                "tiles of %u x %u x %u, with %u sums a work-item and %u slices, do "
                                "not divide into whole warps and vectors",
                                s.tile_m, s.tile_n, s.depth, s.sums, s.slices);
    why = plan_unsupported_local(out, s.local, j->device->local_memory);
    if (why)
        return why;

    plan_set(out, "TILE_M", s.tile_m);
    plan_set(out, "TILE_N", s.tile_n);
    plan_set(out, "SUMS", s.sums);
    plan_set(out, "DEPTH", s.depth);
    plan_set(out, "SLICES", s.slices);
    plan_set(out, "SPLIT", (uint32_t)s.k.parts);
    plan_set(out, "REGISTERS", limited ? s.registers : 255);
    matmul_define_operands(p, out);
    matmul_define_aligned(j, out);
    matmul_define_parts(p, out);
    plan_define(out, "ALIGNED_C=%d",
                splits ? !on_cpu(j) && p->n % 4 == 0 : matmul_aligned(j, matmul_matrix_c(p)));
    plan_define(out, "SPLITS=%d", splits);
    plan_define(out, "SIZED=%d", !limited);
    /* A CPU's compiler takes its time over what it gains nothing by. */
    plan_define(out, "UNROLL=%u", on_cpu(j) ? 1 : s.depth / s.slices);
    plan_define(out, "ARRAYS=%d", on_cpu(j) ? 1 : 64);
    if (limited)
        text_format(&out->defines, " -cl-nv-maxrregcount=%u", s.registers);
    command_launch_2d(&grid, MULTIPLY, size_div_up(p->n, s.tile_n) * s.items,
                      size_div_up(p->m, s.tile_m), s.items, 1);
    state_traffic(j, &s, &grid);
    matmul_parts_commands(j, s.k, &grid, SUM, out);
    return NULL;
}

const variant matmul_pipelined = {
    .name = "pipelined",
    .idea = "up to 16 x 8 outputs a work-item; the next tiles arrive while these are multiplied",
    .answers = 1u << CAUSE_REUSE | 1u << CAUSE_LOCAL | 1u << CAUSE_BARRIERS | 1u << CAUSE_LATENCY,
    .source = "matmul/matmul_pipelined.cl",
    .entries = {"matmul_pipelined", "matmul_sum_parts"},
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables),
    .plan = plan_pipelined};

/* Entries behind those of the real product. */
static const complex_entries copies = {SUM + 1, SUM + 2};

static const char *plan_complex(const job *j, plan *out)
{
    return matmul_plan_as_real(j, plan_pipelined, copies, out);
}

const variant matmul_complex_pipelined = {
    .name = "complex-pipelined",
    .idea = "pipelined for complex matrices: as a real product of twice the n and k",
    .unstated = "copies complex factors into real ones first, and those copies are not counted",
    .source = "matmul/matmul_complex_pipelined.cl",
    .entries = {"matmul_pipelined", "matmul_sum_parts", "matmul_complex_left",
                "matmul_complex_right"},
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables),
    .plan = plan_complex};
