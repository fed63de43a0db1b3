/* Matrix instructions of a warp in float64, with copies and fragments under way:
 * cl/matmul/matmul_mma_f64.cl. */
#include <float.h>
#include <math.h>

#include "base/sizes.h"
#include "core/last_group.h"
#include "core/registry.h"
#include "ops/matmul/matmul_plan.h"
#include "ops/matmul/matmul_variants.h"

/* The compute capability that brought the instructions. */
enum { CAPABILITY_MIN = 90 };

/* 0: what the shape and the device call for. */
static const tunable tunables[] = {
    {"TILE_M", "rows of a work-group's tile: traffic against work-groups", {0, 32, 64, 128}, 0},
    {"TILE_N", "columns of a work-group's tile: fewer reads of A against B", {0, 32, 64, 128}, 0},
    {"WARP_M", "rows of a warp: fewer reads of B against warps", {0, 32, 64}, 0},
    {"WARP_N", "columns of a warp: fewer reads of A against warps", {0, 8, 16, 32}, 0},
    {"STAGES", "blocks along k under way: latency hidden against local memory", {3, 4, 5, 6}, 4},
    {"BAND", "rows of work-groups that run side by side: B shared against A", {1, 4, 8, 16}, 8},
    {"SPLIT",
     "groups that share a tile, in equal parts of k: more of them against adding up",
     {0, 1, 2, 4, 8, 16, 32},
     0,
     .host_only = true},
    {"PER_UNIT",
     "groups on each unit, in equal parts of all blocks, where SPLIT is 0",
     {0, 1, 2, 3, 4},
     0,
     .host_only = true},
};

/* Extent of blocks along k. */
enum { DEPTH = 16 };

/* Groups that share a tile, at most, where no tunable says so. */
enum { SPLIT_MAX = 32 };

/* How groups share a product. */
typedef struct layout {
    size_t tile_m, tile_n, warp_m, warp_n;
    size_t items;
    size_t local;           /* bytes of local memory */
    size_t split, per_unit; /* as the tunables */
} layout;

/* Bytes of a block of an operand, `side` across k, and its padding. */
static size_t block_bytes(size_t side, bool along)
{
    return sizeof(double) * (along ? side * (DEPTH + 4) : DEPTH * (side + 4));
}

/* A layout with tiles of this size, where no tunable sets another. */
static layout layout_for(const job *j, size_t tile_m, size_t tile_n)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    layout s = {.tile_m = param(j->params, "TILE_M"),
                .tile_n = param(j->params, "TILE_N"),
                .warp_m = param(j->params, "WARP_M"),
                .warp_n = param(j->params, "WARP_N"),
                .split = param(j->params, "SPLIT"),
                .per_unit = param(j->params, "PER_UNIT")};

    if (s.split) /* which decides */
        s.per_unit = 0;
    s.tile_m = s.tile_m ? s.tile_m : tile_m;
    s.tile_n = s.tile_n ? s.tile_n : tile_n;
    if (!s.warp_m)
        s.warp_m = s.tile_m * s.tile_n >= 128 * 128 ? 64 : 32;
    if (!s.warp_n) /* four warps or more */
        s.warp_n = s.tile_m * s.tile_n >= 64 * 64 ? 32 : s.tile_m * s.tile_n >= 32 * 64 ? 16 : 8;
    s.items = s.tile_m / s.warp_m * (s.tile_n / s.warp_n) * 32;
    /* And what tells the last group. */
    s.local = param(j->params, "STAGES") *
                  (block_bytes(s.tile_m, !p->trans_a) + block_bytes(s.tile_n, p->trans_b)) +
              16;
    return s;
}

/* Whether a tile is cut into whole warps, and brought in whole vectors. */
static bool is_whole(const layout *s)
{
    return s->tile_m % s->warp_m == 0 && s->tile_n % s->warp_n == 0 && s->items <= 512 &&
           size_min(s->tile_m, s->tile_n) * DEPTH % (2 * s->items) == 0;
}

static size_t tiles_of(const tsr_matmul_problem *p, const layout *s)
{
    return size_div_up(p->m, s->tile_m) * size_div_up(p->n, s->tile_n);
}

/* Blocks along k of a tile. */
static size_t steps_of(const job *j)
{
    return size_max(size_div_up(matmul_k_read(matmul_of(j->problem)), DEPTH), 1);
}

static size_t groups_of(const job *j, const layout *s)
{
    const size_t tiles = tiles_of(matmul_of(j->problem), s), steps = steps_of(j);

    if (matmul_batch(matmul_of(j->problem)) > 1)
        return tiles;
    if (s->split)
        return tiles * size_min(s->split, steps);
    return size_min(s->per_unit ? s->per_unit * matmul_units(j) : tiles, tiles * steps);
}

/* Of these, tiles that groups share. */
static size_t shared_of(const layout *s, size_t tiles, size_t groups)
{
    if (groups == 0)
        return 0;
    if (s->split > 1 || tiles < groups)
        return tiles == groups ? 0 : tiles;
    return tiles % groups ? groups + tiles % groups : 0;
}

/* Bytes of the sums of groups that share: the beginning of a tile and the end of another. */
static double workspace_of(const job *j, const layout *s)
{
    const size_t groups = groups_of(j, s);
    const size_t shared = shared_of(s, tiles_of(matmul_of(j->problem), s), groups);

    return shared ? 2.0 * (double)groups * (double)(s->tile_m * s->tile_n) * sizeof(double) : 0;
}

/* Whether a counter for each tile that groups share, and sums, are to be had. */
static bool can_share(const job *j, const layout *s)
{
    return shared_of(s, tiles_of(matmul_of(j->problem), s), groups_of(j, s)) <=
               GROUP_COUNTERS_MAX &&
           workspace_of(j, s) <= (double)j->device->max_allocation;
}

/* ---- the cost of a layout ------------------------------------------------------------------ */

/* Microseconds, as measured on an H100. */
static const struct {
    /* Of a block along k of a tile: of a group alone on a unit, and of each where groups fill it.
     */
    struct {
        double alone, full;
    } block[5];
    double launch;
    double group;  /* to begin and end, and for each tile more */
    double turn;   /* for the last group of a tile to find that it is, */
    double sharer; /* and to add up what a group kept of 64 x 64 or less */
} costs = {.block = {{1.27, 1.27}, {0.80, 0.91}, {0.29, 0.56}, {0.28, 0.34}, {0.23, 0.17}},
           .launch = 1.46,
           .group = 2.63,
           .turn = 1.5,
           .sharer = 0.33};

/* By the outputs of a tile: 128 x 128, 64 x 128, 64 x 64, 32 x 64, 32 x 32. */
static size_t size_of(const layout *s)
{
    const size_t area = s->tile_m * s->tile_n;

    return area >= 128 * 128  ? 0
           : area >= 64 * 128 ? 1
           : area >= 64 * 64  ? 2
           : area >= 32 * 64  ? 3
                              : 4;
}

/* Groups that find registers and local memory on a unit. */
static size_t resident_of(const job *j, const layout *s)
{
    const size_t sums = s->warp_m * s->warp_n / 32;
    const size_t registers = sums >= 64 ? 255 : sums >= 32 ? 216 : 128;
    const size_t room = (size_t)65536 / (registers * s->items);

    return size_max(size_min(room, (size_t)j->device->large_local / s->local), 1);
}

static double cost_of(const job *j, const layout *s)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t units = matmul_units(j), resident = resident_of(j, s);
    const size_t tiles = tiles_of(p, s), one = groups_of(j, s);
    const size_t groups = one * matmul_batch(p), round = units * resident;
    const size_t rounds = groups / round, rest = groups % round;
    const double alone = costs.block[size_of(s)].alone, full = costs.block[size_of(s)].full;
    const double blocks = (double)tiles * (double)steps_of(j) / (double)one;
    double cost = costs.launch;

    cost += (double)rounds * (blocks * fmax(alone, (double)resident * full) + costs.group);
    if (rest)
        cost += blocks * fmax(alone, (double)size_div_up(rest, units) * full) + costs.group;
    if (shared_of(s, tiles, one)) {
        /* The end of a tile, and then the beginning of the next. */
        const bool two = !s->split && (tiles > one || one % tiles);

        cost += two ? 2 * costs.turn : costs.turn;
        cost += two && tiles < one ? costs.group : 0;
        cost += fmax((double)one / (double)tiles, 2) * costs.sharer *
                fmax(1, (double)(s->tile_m * s->tile_n) / (64 * 64));
    }
    if (s->per_unit && tiles > one) /* tile after tile */
        cost += costs.group * (double)tiles / (double)one;
    return cost;
}

/* The best way to share tiles of this size, where no tunable sets one. */
static layout shared_best(const job *j, layout s, double *cost)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t resident = resident_of(j, &s), units = matmul_units(j);
    layout best = s;

    *cost = cost_of(j, &best);
    if (s.split || s.per_unit || matmul_batch(p) > 1)
        return best;
    best.split = 1;
    for (size_t way = 1; way <= resident + SPLIT_MAX; way++) {
        layout other = s;
        double its;

        if (way <= resident)
            other.per_unit = way;
        else
            other.split = way - resident;
        if (other.split > 1 && tiles_of(p, &s) * other.split > 4 * units * resident)
            break;
        its = cost_of(j, &other);
        if (its < *cost && can_share(j, &other)) {
            *cost = its;
            best = other;
        }
    }
    return best;
}

static layout layout_of(const job *j)
{
    static const size_t sizes[][2] = {{128, 128}, {64, 128}, {128, 64}, {64, 64},
                                      {32, 64},   {64, 32},  {32, 32}};
    const tsr_matmul_problem *p = matmul_of(j->problem);
    layout best = layout_for(j, 128, 128);
    double least = DBL_MAX;
    bool found = false;

    if (p->m == 0 || p->n == 0)
        return best;
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        layout s = layout_for(j, sizes[i][0], sizes[i][1]);
        const bool fits = is_whole(&s) && s.local <= j->device->large_local;
        double cost = DBL_MAX;

        if (fits)
            s = shared_best(j, s, &cost);
        /* Where none fits, the last one says why. */
        if (found && cost >= least)
            continue;
        found = fits;
        best = s;
        least = cost;
    }
    return best;
}

static const char *plan_layout(const job *j, const layout *s, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const matmul_matrix c = matmul_matrix_c(p);
    matmul_call call = matmul_call_of(p);
    size_t tiles, groups, shared;
    const unsigned has = j->device->nv_capability;
    const char *why;
    command *launch;

    if (has < CAPABILITY_MIN)
        return plan_unsupported(
            out, "its instructions come with compute capability %u.%u, this is %u.%u",
            CAPABILITY_MIN / 10u, CAPABILITY_MIN % 10u, has / 10, has % 10);
    why = matmul_unsupported_bytes(s->local, j->device->large_local, out);
    why = why ? why : matmul_unsupported_rounding(j, out);
    if (why)
        return why;
    if (!is_whole(s))
        return plan_unsupported(out, "tiles of %zu x %zu are not cut into whole warps of %zu x %zu",
                                s->tile_m, s->tile_n, s->warp_m, s->warp_n);
    tiles = tiles_of(p, s);
    groups = groups_of(j, s);
    shared = shared_of(s, tiles, groups);
    if (shared > GROUP_COUNTERS_MAX)
        return plan_unsupported(out, "its groups share %zu tiles, and count those of %d", shared,
                                (int)GROUP_COUNTERS_MAX);
    why = matmul_unsupported_workspace(j, workspace_of(j, s), out);
    if (why)
        return why;
    plan_set(out, "TILE_M", (uint32_t)s->tile_m);
    plan_set(out, "TILE_N", (uint32_t)s->tile_n);
    plan_set(out, "WARP_M", (uint32_t)s->warp_m);
    plan_set(out, "WARP_N", (uint32_t)s->warp_n);
    plan_set(out, "SPLIT", (uint32_t)s->split);
    plan_set(out, "PER_UNIT", (uint32_t)s->per_unit);
    matmul_define_operands(p, out);
    plan_define(out, "ALIGNED_C=%d", matmul_starts_at(&c, 2));
    last_group_defines(j->device, last_group_of(j->device), &out->defines);
    out->workspace = (size_t)workspace_of(j, s);
    if (p->m == 0 || p->n == 0)
        return NULL;
    launch = plan_launch_2d(out, 0, groups * s->items, 1, s->items, 1);
    matmul_layers(launch, matmul_batch(p));
    call.unshared = (uint32_t)(tiles - shared);
    command_operand(launch, MATMUL_A);
    command_operand(launch, MATMUL_B);
    command_operand(launch, MATMUL_C);
    command_workspace(launch);
    command_group_counters(launch);
    matmul_pass(launch, p, &call);
    return NULL;
}

/* Whether copies of two elements may start at every second one, and end with a line. */
static bool aligned(const matmul_matrix *x)
{
    return matmul_starts_at(x, 2) && x->length % 2 == 0;
}

static const char *plan_mma_f64(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const matmul_matrix a = matmul_matrix_a(p), b = matmul_matrix_b(p);
    const layout s = layout_of(j);

    if (p->type != TSR_F64)
        return plan_unsupported(out, "it multiplies float64, not %s", tsr_type_name(p->type));
    plan_define(out, "DEPTH=%d", DEPTH);
    plan_define(out, "ALIGNED_A=%d", aligned(&a));
    plan_define(out, "ALIGNED_B=%d", aligned(&b));
    return plan_layout(j, &s, out);
}

const variant matmul_mma_f64 = {
    .name = "mma-f64",
    .idea = "copies and fragments on their way while others are multiplied: no unit waits",
    .source = "matmul/matmul_mma_f64.cl",
    .entries = {"matmul_mma_f64"},
    .needs = 1u << FEATURE_PTX | 1u << FEATURE_LARGE_LOCAL,
    .uses = LAST_GROUP_USES,
    .group_counters = true,
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables),
    .plan = plan_mma_f64};
