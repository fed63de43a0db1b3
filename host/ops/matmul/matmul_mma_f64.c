/* Matrix instructions of a warp in float64, with copies and fragments in flight:
 * cl/matmul/matmul_mma_f64.cl. */
#include <float.h>
#include <math.h>

#include "base/sizes.h"
#include "core/last_group.h"
#include "core/registry.h"
#include "ops/matmul/matmul_plan.h"
#include "ops/matmul/matmul_shares.h"
#include "ops/matmul/matmul_variants.h"

/* The compute capability that brought the instructions. */
enum { CAPABILITY_MIN = 90 };

/* 0: what the shape and the device call for. */
static const tunable tunables[] = {
    {"TILE_M",
     "rows of a work-group's tile: traffic against work-groups",
     {0, 16, 32, 48, 64, 128},
     0},
    {"TILE_N",
     "columns of a work-group's tile: fewer reads of A against B",
     {0, 16, 32, 48, 64, 128},
     0},
    {"WARP_M", "rows of a warp: fewer reads of B against warps", {0, 16, 32, 48, 64}, 0},
    {"WARP_N", "columns of a warp: fewer reads of A against warps", {0, 8, 16, 24, 32, 48}, 0},
    {"DEPTH", "extent of blocks along k: fewer barriers against local memory", {0, 16, 32}, 0},
    {"STAGES", "blocks along k in flight: latency hidden against local memory", {0, 3, 4, 5, 6}, 0},
    {"BAND", "rows of work-groups that run side by side: B shared against A", {1, 4, 8, 16}, 8},
    {"SPLIT",
     "work-groups that share a tile, in equal parts of k: more run at once, and leave more sums to "
     "add up",
     {0, 1, 2, 4, 8, 16, 32},
     0,
     .host_only = true,
     .any = true},
    {"PER_UNIT",
     "where SPLIT is 0, work-groups for each compute unit, which share all blocks equally",
     {0, 1, 2, 3, 4},
     0,
     .host_only = true,
     .any = true},
};

/* As copied in boxes. */
static const tunable tensor_tunables[] = {
    {"TILE_M", "rows of a work-group's tile: traffic against work-groups", {0, 32, 64, 128}, 0},
    {"TILE_N", "columns of a work-group's tile: fewer reads of A against B", {0, 32, 64, 128}, 0},
    {"WARP_M", "rows of a warp: fewer reads of B against warps", {0, 32, 64}, 0},
    {"WARP_N", "columns of a warp: fewer reads of A against warps", {0, 16, 32}, 0},
    {"STAGES", "blocks along k in flight: latency hidden against local memory", {0, 3, 4, 6, 8}, 0},
    {"BAND", "rows of work-groups that run side by side: B shared against A", {1, 4, 8, 16}, 8},
    {"SPLIT",
     "work-groups that share a tile, in equal parts of k: more run at once, and leave more sums to "
     "add up",
     {0, 1, 2, 4, 8, 16, 32},
     0,
     .host_only = true,
     .any = true},
    {"PER_UNIT",
     "where SPLIT is 0, work-groups for each compute unit, which share all blocks equally",
     {0, 1, 2},
     0,
     .host_only = true,
     .any = true},
};

/* Extent of blocks along k, that an instruction takes, and boxes have. */
enum { DEPTH = 16 };

/* Of groups that have boxes copied: work-items that ask for them, of which a warp group gives
 * registers to the others; registers of each, of a multiplying work-item, and of a unit; local
 * memory of a unit, and of a group beside its stages; bytes of a map, two of which a group has. */
enum {
    PRODUCERS = 128,
    PRODUCER_REGISTERS = 40,
    CONSUMER_REGISTERS = 232,
    UNIT_REGISTERS = 65536,
    UNIT_LOCAL = 226 << 10,
    TENSOR_LOCAL = 2048,
    MAP_BYTES = 128
};

/* Groups that share a tile, at most, where no tunable says so. */
enum { SPLIT_MAX = 32 };

/* How groups share a product. */
typedef struct layout {
    bool tensor;     /* boxes are copied: cl/matmul/matmul_mma_f64_tensor.cl */
    bool deep;       /* long blocks, by warps of 16 rows */
    share_tile tile; /* of which rows and columns are those of its group */
    size_t warp_m, warp_n;
    size_t items;         /* that multiply */
    size_t stages, local; /* blocks, and bytes of local memory */
    size_t a_unit;        /* groups of boxes that a unit is to take */
    shares how;
} layout;

/* Bytes of a block of an operand, `side` across k, and its padding. */
static size_t block_bytes(size_t side, size_t depth, bool along)
{
    return sizeof(double) * (along ? side * (depth + 4) : depth * (side + 4));
}

/* Tiles of 48, for 33 to 48 rows or columns, of which tiles of 64 leave a quarter and more unused:
 * 5309x35x302 with B transposed and beta 1 takes 14.0 us of an H200, and 17.8 by boxes of 64,
 * 20000x44x40 11.5 and 12.7.  Of 48 columns and a long k blocks are long, and each warp has all
 * columns: with a k of 302 14.0 us and 15.4, of 104 15.5 and 13.4. */
enum { NARROW = 48, NARROW_K_MIN = 32, NARROW_LONG_K = 200 };

static bool has_narrow_rows(const tsr_matmul_problem *p)
{
    return !p->trans_a && p->m > 32 && p->m <= NARROW;
}

static bool has_narrow_columns(const tsr_matmul_problem *p)
{
    return p->trans_b && p->n > 32 && p->n <= NARROW;
}

bool matmul_is_narrow_f64(const tsr_matmul_problem *p)
{
    return p->k >= NARROW_K_MIN && (has_narrow_rows(p) || has_narrow_columns(p));
}

static bool is_narrow(const layout *s)
{
    return s->tile.rows == NARROW || s->tile.columns == NARROW;
}

/* Extent along k of blocks that the work-items copy.  Tiles of 16 rows or columns need two steps a
 * block: fragments of the second are loaded during the first. */
static uint32_t depth_of(const job *j, const layout *s)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const uint32_t set = param(j->params, "DEPTH");

    if (set)
        return set;
    if (is_narrow(s))
        return p->k < NARROW_LONG_K ? DEPTH : 2 * DEPTH;
    return s->deep || size_min(s->tile.rows, s->tile.columns) == 16 ? 2 * DEPTH : DEPTH;
}

/* Stages that work-items copy, where groups share units, and where a group has one to itself. */
enum { STAGES_SHARED = 4, STAGES_ALONE = 6 };

/* Local memory of so many stages that work-items copy, and of the flag of the last group. */
static size_t local_of_copies(const tsr_matmul_problem *p, const layout *s, size_t stages)
{
    return stages * (block_bytes(s->tile.rows, s->tile.depth, !p->trans_a) +
                     block_bytes(s->tile.columns, s->tile.depth, p->trans_b)) +
           16;
}

/* Columns of a warp of a deep layout. */
static size_t deep_warp_n(const layout *s)
{
    return size_min(s->tile.rows, s->tile.columns) == 64 ? 32 : 16;
}

/* Whether a layout of this size may be deep, where no tunable says otherwise: warps of 16 rows have
 * so few sums that eight of them find registers on a unit, and with long blocks there are half as
 * many barriers.  Of an H200 600x601x2001 takes 48.6 us so and 55 in tiles of 128 x 128,
 * 500x500x500 11.8 in tiles of 64 x 32 and 12.5 in boxes. */
static bool may_be_deep(const job *j, const layout *s)
{
    const uint32_t depth = param(j->params, "DEPTH");

    return (s->tile.rows == 32 || s->tile.rows == 64) &&
           (s->tile.columns == 32 || s->tile.columns == 64) && (!depth || depth == 2 * DEPTH) &&
           (!s->warp_m || s->warp_m == 16) && (!s->warp_n || s->warp_n == deep_warp_n(s));
}

/* As many blocks in flight as were fastest: three of 64 x 64, four of 64 x 32, five of 32 x 32. */
static size_t deep_stages(const layout *s)
{
    return size_min(s->tile.rows, s->tile.columns) == 64   ? 3
           : size_max(s->tile.rows, s->tile.columns) == 64 ? 4
                                                           : 5;
}

static void set_narrow_warps(layout *s)
{
    const bool is_long = s->tile.depth > DEPTH, few_rows = s->tile.rows == NARROW;

    if (!s->warp_m)
        s->warp_m = few_rows ? NARROW : is_long ? 16 : 32;
    if (!s->warp_n)
        s->warp_n = few_rows ? 16 : is_long ? NARROW : NARROW / 2;
}

/* A layout with tiles of this size, where no tunable sets another; deep where it is to be, and
 * tunables agree. */
static layout layout_for(const job *j, bool tensor, size_t tile_m, size_t tile_n, bool deep)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const uint32_t set_m = param(j->params, "TILE_M"), set_n = param(j->params, "TILE_N");
    layout s = {.tensor = tensor,
                .tile = {.rows = set_m ? set_m : (uint32_t)tile_m,
                         .columns = set_n ? set_n : (uint32_t)tile_n,
                         .depth = DEPTH},
                .warp_m = param(j->params, "WARP_M"),
                .warp_n = param(j->params, "WARP_N"),
                .stages = param(j->params, "STAGES")};
    const size_t area = (size_t)s.tile.rows * s.tile.columns;

    s.deep = deep && !tensor && may_be_deep(j, &s);
    if (!tensor)
        s.tile.depth = depth_of(j, &s);
    if (s.deep) {
        s.warp_m = 16;
        s.warp_n = deep_warp_n(&s);
    } else if (is_narrow(&s)) {
        set_narrow_warps(&s);
    }
    if (!s.warp_m)
        s.warp_m = area >= 128 * 128 ? 64 : size_min(s.tile.rows, 32);
    if (!s.warp_n) /* four warps or more */
        s.warp_n = area >= 64 * 64                               ? 32
                   : s.tile.columns == 16                        ? 8
                   : area >= 32 * 64 || tensor || s.warp_m == 16 ? 16
                                                                 : 8;
    s.items = s.tile.rows / s.warp_m * (s.tile.columns / s.warp_n) * 32;
    s.how = matmul_share_as_set(j, &s.tile, 1, 0);
    if (tensor) {
        /* Stages and local memory of boxes, and how many groups take them side by side. */
        const size_t stage = (s.tile.rows + s.tile.columns) * DEPTH * sizeof(double);

        s.a_unit = s.items > 128 || s.warp_m * s.warp_n > 32 * 32 ? 1 : 2;
        if (!s.stages)
            s.stages = (UNIT_LOCAL / s.a_unit - TENSOR_LOCAL - 1024) / stage >= 6 ? 6 : 4;
        s.local = s.stages * stage + TENSOR_LOCAL;
    } else {
        s.stages = s.stages ? s.stages : s.deep ? deep_stages(&s) : STAGES_SHARED;
        s.local = local_of_copies(p, &s, s.stages);
    }
    return s;
}

/* Whether the work-items would bring a part of a line beside whole ones. */
static bool lines_are_cut(const tsr_matmul_problem *p, const layout *s)
{
    return (p->trans_a && s->tile.rows == NARROW) || (!p->trans_b && s->tile.columns == NARROW);
}

/* Whether a tile is cut into whole warps, and brought in whole vectors and lines, or boxes
 * multiplied by whole warp groups. */
static bool is_whole(const tsr_matmul_problem *p, const layout *s)
{
    if (s->tile.rows % s->warp_m || s->tile.columns % s->warp_n || lines_are_cut(p, s))
        return false;
    if (s->tensor)
        return s->items % 128 == 0 && s->items <= 256;
    if (s->warp_m == 16 && s->tile.depth == DEPTH)
        return false;
    return s->items <= 512 && s->tile.rows * s->tile.depth % (2 * s->items) == 0 &&
           s->tile.columns * s->tile.depth % (2 * s->items) == 0;
}

/* ---- the cost of a layout ------------------------------------------------------------------ */

/* What a block along k of a tile takes: of a group alone on a unit, and of each where groups fill
 * it.
 */
typedef struct block_time {
    double alone, full;
} block_time;

/* Microseconds on an H200, by the size of the tile (size_of).  Those of deep layouts fit 190
 * timings of 43 shapes, from 64x64x4000 to 1501x1501x1501: the layout that is chosen takes 1.01
 * times as long as the fastest in the mean, 1.08 at most.  The others fit some 250, from 90x97x102
 * to 14145x16384x16384, within 11% (RMS) when they were made. */
static const struct costs {
    block_time block[7];
    block_time deep[7];       /* of deep layouts */
    double deep_even;         /* factor of these where all lines are aligned, */
    double deep_even_streams; /* and where groups go through tile after tile */
    double narrow_long;       /* of a narrow layout alone with long blocks */
    double odd;               /* factor of the largest tiles where not all lines are aligned */
    double even;              /* factor of 64 x 128 down to 32 x 32 where all are */
    double group;             /* to begin and end, and for each tile more */
    double launch;
    double turn;        /* for the last group of a tile to find that it is, */
    double sharer;      /* and to add up what a group kept of 64 x 64 or less */
    double deep_sharer; /* factor of that for 64 x 64 in a deep layout */
    double output;      /* to store it */
    double again;       /* factor of that where what it was is read first, */
    double deep_again;  /* in a deep layout, */
    double box_again;   /* and of 64 x 64 in boxes, timed at four shapes: 95x8064x390 27.9 us */
} usual = {.block = {{1.20, 1.04},
                     {0.79, 0.79},
                     {0.63, 0.42},
                     {0.308, 0.265},
                     {0.26, 0.184},
                     {0.19, 0.29},
                     {0.47, 0.32}},
           .deep = {[2] = {0.39, 0.39}, [3] = {0.275, 0.275}, [4] = {0.175, 0.165}},
           .deep_even = 0.85,
           .deep_even_streams = 0.95,
           .narrow_long = 0.34,
           .odd = 1.23,
           .even = 0.85,
           .group = 0.65,
           .launch = 2.25,
           .turn = 2.6,
           .sharer = 0.145,
           .deep_sharer = 2.5,
           .output = 0.58e-3,
           .again = 1.7,
           .deep_again = 1.25},
  of_boxes = {.block = {{1.13, 1.10}, {0.64, 0.59}, {0.41, 0.32}, {0.24, 0.19}, {0.27, 0.175}},
              .odd = 1,
              .even = 1,
              .group = 1.4,
              .launch = 2.7,
              .turn = 3.3,
              .sharer = 0.095,
              .output = 0.3e-3,
              .again = 5,
              .box_again = 3.2};

/* Bytes that memory moves in a microsecond. */
static const double moved_a_us = 3.6e6;

/* By the outputs of a tile: 128 x 128, 64 x 128, 64 x 64, 32 x 64, 32 x 32; 16 x 64, and 48 x 64.
 */
static size_t size_of(const layout *s)
{
    const size_t area = (size_t)s->tile.rows * s->tile.columns;

    return is_narrow(s)                                   ? 6
           : area >= 128 * 128                            ? 0
           : area >= 64 * 128                             ? 1
           : area >= 64 * 64                              ? 2
           : area >= 32 * 64                              ? 3
           : size_min(s->tile.rows, s->tile.columns) > 16 ? 4
                                                          : 5;
}

/* Groups that find registers and local memory on a unit. */
static size_t resident_of(const job *j, const layout *s)
{
    const size_t sums = s->warp_m * s->warp_n / 32;
    /* As ptxas 13 has them, of 128 x 64 and less within 15; small tiles of two warps across have
     * fragments of a whole block. */
    const size_t registers = sums >= 64                                 ? 254
                             : sums >= 32                               ? 221
                             : s->warp_m == 16 || s->tile.columns == 16 ? 220
                                                                        : 168;
    const size_t room = (size_t)UNIT_REGISTERS / (registers * s->items);

    if (s->tensor)
        return size_max(size_min(s->a_unit, UNIT_LOCAL / (s->local + 1024)), 1);
    return size_max(size_min(room, (size_t)j->device->large_local / s->local), 1);
}

/* Microseconds that blocks take to come from memory, where each is read by one group alone: of
 * tiles that cover C in one row or column, from a factor that caches do not hold.  All stages but
 * one are on their way then.  Measured where copies are of 8 bytes. */
static double wait_for_memory(const job *j, const layout *s)
{
    static const double latency = 1.7, cached = 32 << 20;
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const matmul_matrix a = matmul_matrix_a(p), b = matmul_matrix_b(p);
    const matmul_matrix *large = p->m <= s->tile.rows ? &b : p->n <= s->tile.columns ? &a : NULL;

    if (s->tensor || !large || matmul_starts_at(large, 2) ||
        view_elements(large) * sizeof(double) <= cached)
        return 0;
    return latency / (double)(s->stages - 1);
}

/* Whether copies of two elements may start at every second one, and end with a line. */
static bool aligned(const matmul_matrix *x)
{
    return matmul_starts_at(x, 2) && x->length % 2 == 0;
}

/* What `together` groups on a unit take to begin a tile each, and to store it. */
static double tile_of(const tsr_matmul_problem *p, const layout *s, size_t together)
{
    const struct costs *costs = s->tensor ? &of_boxes : &usual;
    const double again = s->deep                        ? costs->deep_again
                         : s->tensor && size_of(s) == 2 ? costs->box_again
                                                        : costs->again;
    const double outputs = (double)s->tile.rows * s->tile.columns * (matmul_reads_c(p) ? again : 1);

    return costs->group + (double)together * outputs * costs->output;
}

/* What `together` groups on a unit take for so many blocks, and to store. */
static double round_of(const job *j, const layout *s, size_t together, double blocks)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const matmul_matrix a = matmul_matrix_a(p), b = matmul_matrix_b(p);
    const struct costs *costs = s->tensor ? &of_boxes : &usual;
    const bool even = aligned(&a) && aligned(&b), largest = size_of(s) == 0;
    const block_time *block = &(s->deep ? costs->deep : costs->block)[size_of(s)];
    const double when_even = s->deep ? s->how.streams ? costs->deep_even_streams : costs->deep_even
                             : !largest && size_of(s) < 5 ? costs->even
                                                          : 1;
    const double times = even ? when_even : largest ? costs->odd : 1;
    const double of_one = is_narrow(s) && s->tile.depth > DEPTH ? costs->narrow_long * times
                          : largest                             ? block->alone
                                                                : block->alone * times;
    const double alone = fmax(of_one, wait_for_memory(j, s));
    const double all = together > 1 || largest ? (double)together * block->full * times : 0;

    return blocks * fmax(alone, all) + tile_of(p, s, together);
}

static double cost_of(const job *j, const layout *s)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t units = matmul_units(j), resident = resident_of(j, s);
    const size_t tiles = s->how.tiles, one = s->how.groups;
    const size_t groups = one * matmul_batch(p), round = units * resident;
    const size_t rounds = groups / round, rest = groups % round;
    const struct costs *costs = s->tensor ? &of_boxes : &usual;
    const double group = costs->group;
    const double blocks =
        (double)tiles * (double)s->how.each / (double)one * (s->tile.depth / (double)DEPTH);
    const double elements = ((double)p->m + (double)p->n) * (double)p->k +
                            (double)p->m * (double)p->n * (matmul_reads_c(p) ? 2 : 1);
    const double moved = (double)matmul_batch(p) * elements * sizeof(double) / moved_a_us;
    double cost = (double)rounds * round_of(j, s, resident, blocks);

    if (rest)
        cost += round_of(j, s, size_div_up(rest, units), blocks);
    if (matmul_is_shared(&s->how)) {
        /* The end of a tile, and then the beginning of the next. */
        const bool two = s->how.streams && (tiles > one || one % tiles);

        cost += two ? 2 * costs->turn : costs->turn;
        cost += two && tiles < one ? group : 0;
        cost += fmax((double)one / (double)tiles, 2) * costs->sharer *
                (s->deep && size_of(s) == 2 ? costs->deep_sharer : 1) *
                fmax(1, (double)s->tile.rows * s->tile.columns / (64 * 64));
    }
    /* Tile after tile: boxes of the next one are on their way while one is stored, but of the
     * largest, whose group is alone on its unit, nothing is multiplied meanwhile. */
    if (s->how.streams && tiles > one) {
        const double stored = (double)s->tile.rows * s->tile.columns * costs->output;
        const double next = !s->tensor        ? tile_of(p, s, size_div_up(one, units))
                            : size_of(s) == 0 ? group + stored
                                              : group;

        cost += next * ((double)tiles / (double)one - 1);
    }
    return costs->launch + fmax(cost, moved);
}

/* The best way to share tiles of this size, where no tunable sets one. */
static layout shared_best(const job *j, layout s, double *cost)
{
    const uint32_t split = param(j->params, "SPLIT"), per_unit = param(j->params, "PER_UNIT");
    const size_t resident = resident_of(j, &s), units = matmul_units(j);
    layout best = s;

    if (matmul_batch(matmul_of(j->problem)) == 1 && (split || per_unit))
        best.how = matmul_share_as_set(j, &s.tile, split, per_unit);
    *cost = cost_of(j, &best);
    if (split || per_unit || matmul_batch(matmul_of(j->problem)) > 1)
        return best;
    for (size_t way = 1; way <= resident + SPLIT_MAX; way++) {
        const size_t parts = way <= resident ? 0 : way - resident;
        layout other = s;
        double its;

        if (parts > 1 && s.how.tiles * parts > 4 * units * resident)
            break;
        other.how = matmul_share_as_set(j, &s.tile, (uint32_t)parts, (uint32_t)way);
        its = cost_of(j, &other);
        if (its < *cost && matmul_can_share(j, &other.how, &s.tile)) {
            *cost = its;
            best = other;
        }
    }
    return best;
}

/* A group alone on its unit waits for each block, as no other group has work meanwhile: of small
 * and short ones more are to be in flight. */
static void stage_alone(const job *j, layout *s)
{
    const size_t local = local_of_copies(matmul_of(j->problem), s, STAGES_ALONE);

    if (s->tile.depth > DEPTH || s->tile.rows * s->tile.columns > 32 * 64 ||
        s->how.each <= STAGES_SHARED || local > j->device->large_local)
        return;
    s->stages = STAGES_ALONE;
    s->local = local;
}

/* Tiles of 16 rows or columns are weighed up to so many of C; beyond, larger tiles need fewer
 * groups.
 */
enum { THIN_MAX = 64 };

static layout layout_of(const job *j, bool tensor)
{
    static const struct {
        size_t m, n;
        bool deep;
    } sizes[] = {{128, 128},     {64, 128},      {128, 64}, {64, 64},       {64, 64, true},
                 {32, 64},       {32, 64, true}, {64, 32},  {64, 32, true}, {32, 32},
                 {32, 32, true}, {16, 64},       {64, 16},  {NARROW, 64},   {64, NARROW}};
    const tsr_matmul_problem *p = matmul_of(j->problem);
    layout best = layout_for(j, tensor, 128, 128, false);
    double least = DBL_MAX;
    bool found = false;

    if (p->m == 0 || p->n == 0)
        return best;
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        layout s = layout_for(j, tensor, sizes[i].m, sizes[i].n, sizes[i].deep);
        const bool fits = (!tensor || (size_min(sizes[i].m, sizes[i].n) > 16 && !is_narrow(&s))) &&
                          is_whole(p, &s) && s.local <= j->device->large_local;
        double cost = DBL_MAX;

        if (sizes[i].deep && !s.deep)
            continue; /* boxes are copied, or a tunable says otherwise */
        if (size_min(sizes[i].m, sizes[i].n) == 16 && size_min(p->m, p->n) > THIN_MAX)
            continue;
        if ((sizes[i].m == NARROW && !has_narrow_rows(p)) ||
            (sizes[i].n == NARROW && !has_narrow_columns(p)))
            continue;
        if (fits)
            s = shared_best(j, s, &cost);
        /* Where none fits, the last one says why. */
        if (found && cost >= least)
            continue;
        found = fits;
        best = s;
        least = cost;
    }
    if (!tensor && !param(j->params, "STAGES") &&
        best.how.groups * matmul_batch(p) <= matmul_units(j))
        stage_alone(j, &best);
    return best;
}

/* Registers of a work-item that multiplies: what a unit has, less what those that ask for boxes
 * keep, in multiples of 8. */
static size_t registers_of(const layout *s)
{
    const size_t group = UNIT_REGISTERS / s->a_unit - PRODUCERS * PRODUCER_REGISTERS;

    return size_min(CONSUMER_REGISTERS, group / s->items / 8 * 8);
}

static const char *plan_layout(const job *j, const layout *s, bool turned, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t items = s->items + (s->tensor ? PRODUCERS : 0);
    matmul_call call = matmul_call_of(p);
    const unsigned has = j->device->nv_capability;
    const char *why;
    command *launch;

    if (has < CAPABILITY_MIN)
        return plan_unsupported(
            out, "its instructions need compute capability %u.%u, and the device has %u.%u",
            CAPABILITY_MIN / 10u, CAPABILITY_MIN % 10u, has / 10, has % 10);
    why = plan_unsupported_local(out, s->local, j->device->large_local);
    why = why ? why : matmul_unsupported_rounding(j, out);
    if (why)
        return why;
    if (lines_are_cut(p, s))
        return plan_unsupported(
            out,
            "a factor whose lines lie across k is brought by whole lines, which "
            "tiles of %d do not have",
            NARROW);
    if (!is_whole(p, s))
        return plan_unsupported(out, "tiles of %u x %u do not divide into whole warps of %zu x %zu",
                                s->tile.rows, s->tile.columns, s->warp_m, s->warp_n);
    why = matmul_unsupported_shares(j, &s->how, out);
    if (why)
        return why;
    plan_set(out, "TILE_M", s->tile.rows);
    plan_set(out, "TILE_N", s->tile.columns);
    plan_set(out, "WARP_M", (uint32_t)s->warp_m);
    plan_set(out, "WARP_N", (uint32_t)s->warp_n);
    plan_set(out, "STAGES", (uint32_t)s->stages);
    matmul_set_shares(j, &s->how, out);
    matmul_define_operands(p, out);
    last_group_defines(j->device, last_group_of(j->device), &out->defines);
    out->workspace = matmul_shares_workspace(j, &s->how, &s->tile);
    if (s->tensor)
        out->workspace += s->how.groups * 2 * MAP_BYTES;
    if (p->m == 0 || p->n == 0)
        return NULL;
    launch = plan_launch_2d(out, 0, s->how.groups * items, 1, items, 1);
    matmul_layers(launch, matmul_batch(p));
    call.unshared = (uint32_t)matmul_unshared(&s->how);
    matmul_factors(launch, turned);
    command_operand(launch, MATMUL_C);
    command_workspace(launch);
    command_group_counters(launch, matmul_is_shared(&s->how));
    matmul_pass(launch, p, &call);
    return NULL;
}

static const char *plan_mma_f64(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const matmul_matrix a = matmul_matrix_a(p), b = matmul_matrix_b(p), c = matmul_matrix_c(p);
    const layout s = layout_of(j, false);

    if (p->type != TSR_F64)
        return plan_unsupported(out, "it multiplies float64, not %s", tsr_type_name(p->type));
    plan_set(out, "DEPTH", s.tile.depth);
    plan_define(out, "ALIGNED_A=%d", aligned(&a));
    plan_define(out, "ALIGNED_B=%d", aligned(&b));
    plan_define(out, "ALIGNED_C=%d", matmul_starts_at(&c, 2));
    return plan_layout(j, &s, false, out);
}

const variant matmul_mma_f64 = {
    .name = "mma-f64",
    .idea = "copies and fragments in flight while others are multiplied: no unit waits",
    .answers = 1u << CAUSE_UNITS,
    .source = "matmul/matmul_mma_f64.cl",
    .entries = {"matmul_mma_f64"},
    .needs = 1u << FEATURE_PTX | 1u << FEATURE_LARGE_LOCAL,
    .uses = LAST_GROUP_USES,
    .group_counters = true,
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables),
    .plan = plan_mma_f64};

/* Boxes are copied from rows of multiples of 16 bytes.  Where neighbours in A lie along k and those
 * in B across it, C^T is computed, of which it is the other way round. */
static const char *plan_mma_f64_tensor(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const matmul_matrix a = matmul_matrix_a(p), b = matmul_matrix_b(p), c = matmul_matrix_c(p);
    const bool turned = !p->trans_a && !p->trans_b;
    const char *why = matmul_unsupported_batch(p, out);
    problem posed = *j->problem;
    job as_posed = *j;
    layout s;

    if (why)
        return why;
    if (p->type != TSR_F64)
        return plan_unsupported(out, "it multiplies float64, not %s", tsr_type_name(p->type));
    if (!matmul_starts_at(&a, 2) || !matmul_starts_at(&b, 2))
        return "not all lines of A and B start at multiples of 16 bytes";
    if (turned)
        *matmul_in(&posed) = matmul_turned(p);
    as_posed.problem = &posed;
    s = layout_of(&as_posed, true);
    plan_define(out, "DEPTH=%d", DEPTH);
    plan_define(out, "TURNED=%d", turned);
    plan_define(out, "PRODUCERS=%d", PRODUCERS);
    plan_define(out, "PRODUCER_REGISTERS=%d", PRODUCER_REGISTERS);
    plan_define(out, "REGISTERS=%zu", registers_of(&s));
    plan_define(out, "UNIT_GROUPS=%zu", s.a_unit);
    plan_define(out, "MAP_BYTES=%d", MAP_BYTES);
    plan_define(out, "ALIGNED_C=%d", matmul_starts_at(&c, 2));
    return plan_layout(&as_posed, &s, turned, out);
}

const variant matmul_mma_f64_tensor = {
    .name = "mma-f64-tensor",
    .idea = "the copy unit (TMA) brings boxes of A and B, and the warps only multiply",
    .source = "matmul/matmul_mma_f64_tensor.cl",
    .entries = {"matmul_mma_f64_tensor"},
    .needs = 1u << FEATURE_TENSOR_COPY | 1u << FEATURE_WGMMA | 1u << FEATURE_PTX |
             1u << FEATURE_LARGE_LOCAL,
    .uses = LAST_GROUP_USES,
    .group_counters = true,
    .tunables = tensor_tunables,
    .tunable_count = ARRAY_COUNT(tensor_tunables),
    .plan = plan_mma_f64_tensor};

/* The best layout with boxes, or without them, and the microseconds that it takes. */
static layout best_of(const problem *q, const device_facts *d, bool tensor, double *cost)
{
    const params chosen = params_default(tensor ? &matmul_mma_f64_tensor : &matmul_mma_f64);
    const job j = {q, d, &chosen, false, false};
    const layout s = layout_of(&j, tensor);

    *cost = cost_of(&j, &s);
    return s;
}

double matmul_mma_f64_time(const problem *q, const device_facts *d)
{
    const tsr_matmul_problem *p = matmul_of(q);
    const device_facts known = matmul_known(d);
    double with, without;

    if (!p->m || !p->n)
        return INFINITY;
    best_of(q, &known, true, &with);
    best_of(q, &known, false, &without);
    return 1e3 * fmin(with, without);
}

/* What boxes are to take of the time of tiles of 48 columns: of so few they take longer than their
 * model says, 9038x47x104 with B transposed 14.6 us of an H200 by measurement, and 11.0 by model.
 */
static const double BOXES_SHARE_OF_NARROW = 0.8;

bool matmul_boxes_gain(const problem *q, const device_facts *d)
{
    const tsr_matmul_problem *p = matmul_of(q);
    const device_facts known = matmul_known(d);
    double with, without;

    if (p->type != TSR_F64 || p->m == 0 || p->n == 0)
        return false;
    best_of(q, &known, true, &with);
    if (best_of(q, &known, false, &without).tile.columns == NARROW)
        without *= BOXES_SHARE_OF_NARROW;
    return with < without;
}
