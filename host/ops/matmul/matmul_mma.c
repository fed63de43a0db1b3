/* Matrix instructions of a warp: 8 or 16 bits, TF32 or FP64: cl/matmul/matmul_mma.cl. */
#include <float.h>
#include <math.h>

#include "base/sizes.h"
#include "core/last_group.h"
#include "core/registry.h"
#include "ops/matmul/matmul_parts.h"
#include "ops/matmul/matmul_plan.h"
#include "ops/matmul/matmul_variants.h"

/* NULL, or why the device cannot: it lacks the instructions of a compute capability, or local
 * memory. */
static const char *unsupported_device(const job *j, unsigned least, size_t local, plan *out)
{
    const unsigned has = j->device->nv_capability;
    const char *why;

    if (has < least)
        return plan_unsupported(
            out, "its instructions need compute capability %u.%u, and the device has %u.%u",
            least / 10, least % 10, has / 10, has % 10);
    why = plan_unsupported_local(out, local, j->device->large_local);
    return why ? why : matmul_unsupported_types(j, out);
}

/* ---- mma --------------------------------------------------------------------------------- */

static const tunable mma_tunables[] = {
    {"TILE_M", "rows of a work-group's tile: traffic against work-groups", {0, 32, 64, 128}, 0},
    {"TILE_N", "columns of a work-group's tile: fewer reads of A against B", {0, 32, 64, 128}, 0},
    {"BLOCK",
     "bytes of a line of a block along k: fewer barriers against local memory",
     {0, 32, 64, 128, 256},
     0},
    {"SETS",
     "sets of warps that share the steps of a block: fewer loads of each against adding up",
     {0, 1, 2},
     0},
    {"STAGES", "blocks along k in flight: latency hidden against local memory", {0, 2, 3, 4, 6}, 0},
    {"SPLIT",
     "work-groups that share k: more run at once, and leave more sums to add up",
     {0, 1, 2, 4, 8, 16, 32, 64},
     0,
     .host_only = true,
     .any = true},
};

enum {
    MMA_BAND = 8,
    UNIT_REGISTERS = 65536, /* of a unit, */
    UNIT_ITEMS = 2048,      /* and its work-items */
    GROUP_LOCAL = 1024      /* bytes of local memory that a group takes beside its own */
};

/* How groups share a product. */
typedef struct mma_layout {
    size_t tile_m, tile_n, warps_m, warps_n;
    size_t sets;          /* of so many warps, which share the steps of a block */
    size_t depth, stages; /* blocks along k, and how many are in flight */
    size_t local;         /* bytes of local memory */
    k_parts k;
} mma_layout;

/* Bytes of a block of an operand, `side` across k, and its padding: as the kernel's TILE_BYTES. */
static size_t mma_block(size_t side, size_t depth, size_t size, bool along)
{
    return along ? side * (depth * size + (size == 8 ? 32 : 16))
                 : depth * (side * size + (size == 2 ? 16 : 32));
}

static size_t mma_local(const tsr_matmul_problem *p, const mma_layout *s)
{
    const size_t size = tsr_type_size(p->type);
    const bool along = p->type == TSR_I8; /* in local memory, however they lie */
    const size_t blocks = s->stages * (mma_block(s->tile_m, s->depth, size, along || !p->trans_a) +
                                       mma_block(s->tile_n, s->depth, size, along || p->trans_b));
    const size_t sums = s->sets * s->tile_m * (s->tile_n + 8) * matmul_real_size(p);

    return size_max(blocks, sums);
}

/* Whether what is copied at once is aligned in all lines of a matrix. */
static bool mma_aligned(const matmul_matrix *x)
{
    return matmul_starts_at(x, 16 / tsr_type_size(x->type));
}

/* Whether each row of C starts and ends at multiples of `lane` elements. */
static bool rows_are_vectors(const matmul_matrix *c, size_t lane)
{
    return matmul_starts_at(c, lane) && c->length % lane == 0;
}

/* Elements of C in a vector: two where four are not aligned, but all pairs are.  Not timed of
 * int8. */
static size_t mma_lane(const tsr_matmul_problem *p)
{
    const matmul_matrix c = matmul_matrix_c(p);
    const bool pairs = !rows_are_vectors(&c, 4) && rows_are_vectors(&c, 2);

    return p->type == TSR_F64 || (pairs && p->type != TSR_I8) ? 2 : 4;
}

/* Whether A, or B, is copied: of int8 what lies along k alone. */
static bool mma_copies_a(const tsr_matmul_problem *p)
{
    const matmul_matrix a = matmul_matrix_a(p);

    return mma_aligned(&a) && (p->type != TSR_I8 || !p->trans_a);
}

static bool mma_copies_b(const tsr_matmul_problem *p)
{
    const matmul_matrix b = matmul_matrix_b(p);

    return mma_aligned(&b) && (p->type != TSR_I8 || p->trans_b);
}

/* Groups of tiles, or of their parts. */
static size_t mma_groups(const tsr_matmul_problem *p, const mma_layout *s)
{
    return size_div_up(p->m, s->tile_m) * size_div_up(p->n, s->tile_n) *
           (s->k.parts > 1 ? s->k.parts : matmul_batch(p));
}

/* Two sets of warps where a group of four has a unit to itself: they issue twice as much.  A set
 * takes a step of 32 bytes at least. */
static void mma_set_warps(const job *j, mma_layout *s)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t set = param(j->params, "SETS"), units = size_max(j->device->compute_units, 1);
    const bool shares = p->type != TSR_F64 && s->depth * tsr_type_size(p->type) >= 64;

    s->sets = !shares                                                     ? 1
              : set                                                       ? set
              : s->warps_m * s->warps_n == 4 && mma_groups(p, s) <= units ? 2
                                                                          : 1;
    s->local = mma_local(p, s);
}

/* Eight warps, four for the smallest tiles: a warp takes 64 x 32 of the largest tile.  Blocks have
 * `block` bytes of each line. */
static mma_layout mma_layout_for(const job *j, size_t tile_m, size_t tile_n, size_t block)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t stages = param(j->params, "STAGES");
    mma_layout s = {.tile_m = tile_m, .tile_n = tile_n, .warps_m = 2, .warps_n = 2, .sets = 1};

    if (tile_m * tile_n >= 64 * 64) {
        s.warps_m = tile_m > tile_n ? 4 : 2;
        s.warps_n = tile_m > tile_n ? 2 : 4;
    }
    s.depth = block / tsr_type_size(p->type);
    /* Blocks that come through registers are one ahead there, and one in local memory. */
    s.stages = stages                                                          ? stages
               : (!mma_copies_a(p) && !mma_copies_b(p)) || p->k <= 2 * s.depth ? 2
                                                                               : 4;
    s.k = (k_parts){1, matmul_k_read(p)};
    mma_set_warps(j, &s);
    return s;
}

/* ---- how long a product takes ------------------------------------------------------------- */

/* What the model of mma's time is made of: microseconds, and what a compute unit does in one. */
typedef struct mma_rates {
    double launch, busy;        /* a launch; what memory takes longer where all units ask at once */
    double copied, loaded;      /* bytes of a block of an operand */
    double waits, waits_loaded; /* for a block: that is copied; through registers */
    double together;            /* of several groups, their blocks' */
    double stored, kept;        /* outputs; sums of a part, 0: as outputs */
    double pairs, shifted, ends; /* more of a store: C in pairs, or not in vectors; of 32 columns */
    double read;                 /* more of a store: C is added to */
    double apart;                /* of several rounds, in which one stores while others multiply */
    double turn, parts;          /* a last group's turn, and a round of loads of parts */
} mma_rates;

/* The rates of 16 bits and TF32 fit 751 timings on an H200 of 272 problems, 116 of them in tiles,
 * blocks or parts of several sizes, from 10x10x9 to 12680x1507x64 and 124x1484x14817: within 9%
 * (RMS). */
static const mma_rates rates_of_floats = {.launch = 2.1,
                                          .busy = 1.04,
                                          .copied = 35.3e3,
                                          .loaded = 33.3e3,
                                          .waits = 0.29,
                                          .waits_loaded = 0.51,
                                          .together = 1.09,
                                          .stored = 7.2e3,
                                          .kept = 4.3e3,
                                          .pairs = 0.57,
                                          .ends = 0.74,
                                          .read = 0.23,
                                          .apart = 1,
                                          .turn = 1.04,
                                          .parts = 0.71};

/* int8 and float64 keep an earlier fit to 243 timings of 16 bits and TF32: by the rates above they
 * take slower tiles. */
static const mma_rates rates_of_others = {.launch = 2.5,
                                          .copied = 36e3,
                                          .loaded = 25e3,
                                          .waits = 0.26,
                                          .waits_loaded = 0.42,
                                          .together = 1.06,
                                          .stored = 7e3,
                                          .pairs = 0.7,
                                          .shifted = 0.7,
                                          .read = 0.33,
                                          .apart = 0.8,
                                          .turn = 1.2,
                                          .parts = 0.59};

/* Bytes that memory moves in a microsecond. */
static const double moved_a_us = 3.2e6;

static const mma_rates *mma_rates_of(const tsr_matmul_problem *p)
{
    return p->type == TSR_F64 || p->type == TSR_I8 ? &rates_of_others : &rates_of_floats;
}

/* Of a group's tile of an operand: what its loads or copies take a unit for each block along k. */
static double mma_tile_time(const mma_rates *r, bool copied, size_t side, size_t block)
{
    return (double)(side * block) / (copied ? r->copied : r->loaded);
}

static size_t mma_items(const mma_layout *s)
{
    return 32 * s->warps_m * s->warps_n * s->sets;
}

/* Registers of a work-item, as NVIDIA's compiler was seen to take them: for its sums, and for words
 * that come through registers, of which eight find room among others. */
static double mma_registers(const tsr_matmul_problem *p, const mma_layout *s)
{
    const double sums = (double)(s->tile_m * s->tile_n) / (double)(32 * s->warps_m * s->warps_n);
    const size_t lines = (mma_copies_a(p) ? 0 : s->tile_m) + (mma_copies_b(p) ? 0 : s->tile_n);
    const double words =
        (double)(lines * s->depth * tsr_type_size(p->type)) / (4 * (double)mma_items(s));

    return fmin(43 + 1.32 * sums + 1.2 * fmax(words - 8, 0), 255);
}

/* Groups that find work-items, registers and local memory on a unit. */
static size_t mma_resident(const job *j, const mma_layout *s)
{
    const size_t registers = 8 * (size_t)ceil(mma_registers(matmul_of(j->problem), s) / 8);
    const size_t items = mma_items(s);
    const size_t room = size_min(UNIT_REGISTERS / (registers * items), UNIT_ITEMS / items);

    return size_max(size_min(room, j->device->large_local / (s->local + GROUP_LOCAL)), 1);
}

/* What the last of the groups that share k takes to find that it is, and to add up their parts:
 * each round brings up to 16 vectors of sums, of one part at least: as PARTS_AT_ONCE. */
static double mma_add_up_time(const mma_rates *r, const mma_layout *s)
{
    const size_t vectors = s->tile_m * s->tile_n / (32 * s->warps_m * s->warps_n) / 4;
    const size_t at_once = s->sets * size_max(16 / vectors, 1);

    return s->k.parts > 1 ? r->turn + r->parts * (double)size_div_up(s->k.parts, at_once) : 0;
}

/* What a group stores: its tile of C, or its sums. */
static double mma_store_time(const tsr_matmul_problem *p, const mma_layout *s)
{
    const mma_rates *r = mma_rates_of(p);
    const matmul_matrix c = matmul_matrix_c(p);
    const double outputs = (double)(s->tile_m * s->tile_n);
    const double shape = rows_are_vectors(&c, 4)   ? 0
                         : rows_are_vectors(&c, 2) ? r->pairs
                                                   : r->shifted + r->ends * 32 / (double)s->tile_n;

    if (s->k.parts > 1 && r->kept > 0)
        return outputs / r->kept;
    return outputs / r->stored * (1 + shape + (matmul_reads_c(p) ? r->read : 0));
}

/* Of so many groups together on a unit: blocks that wait for memory, or for one another, and what
 * is stored. */
static double mma_round_time(const tsr_matmul_problem *p, const mma_layout *s, size_t together)
{
    const mma_rates *r = mma_rates_of(p);
    const bool copies_a = mma_copies_a(p), copies_b = mma_copies_b(p);
    const size_t block = s->depth * tsr_type_size(p->type);
    const double latency = copies_a && copies_b ? r->waits : r->waits_loaded;
    const double work =
        mma_tile_time(r, copies_a, s->tile_m, block) + mma_tile_time(r, copies_b, s->tile_n, block);

    return (double)size_div_up(s->k.span, s->depth) *
               fmax(latency + work / (double)s->sets, r->together * (double)together * work) +
           (double)together * mma_store_time(p, s);
}

/* The share of the units that wait for memory at the same time.  Counted in tiles of 32 x 32:
 * larger tiles move no fewer bytes. */
static double mma_busy(const tsr_matmul_problem *p, size_t groups, size_t units)
{
    const double tiles = (double)size_div_up(p->m, 32) * (double)size_div_up(p->n, 32);

    return fmin(fmax(tiles, (double)groups) / (double)units, 1);
}

static double mma_time(const job *j, const mma_layout *s)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const mma_rates *r = mma_rates_of(p);
    const size_t units = size_max(j->device->compute_units, 1), groups = mma_groups(p, s);
    const size_t each = size_div_up(groups, units);
    const size_t most = mma_resident(j, s), full = each / most, rest = each % most;
    const double elements = ((double)p->m + (double)p->n) * (double)p->k +
                            (double)p->m * (double)p->n * (matmul_reads_c(p) ? 2 : 1);
    const double moved = elements * (double)tsr_type_size(p->type) / moved_a_us;
    const double apart = each > 2 * most ? r->apart : 1;
    double us = apart * (double)full * mma_round_time(p, s, most) + mma_add_up_time(r, s);

    if (s->local > j->device->large_local)
        return DBL_MAX;
    if (rest)
        us += apart * mma_round_time(p, s, rest);
    return r->launch + r->busy * mma_busy(p, groups, units) + fmax(us, moved);
}

/* Tiles up to which fewer parts are tried: the last group of a tile adds up units / tiles parts. */
enum { SPLIT_FEW_TILES = 8 };

/* The best number of parts, where SPLIT does not set it: one, or as many groups as fill the units
 * one to four times; of few tiles also a quarter and half of the units: bfloat16 18x32x8338
 * takes 8.1 us of an H200 in 27 parts, and 11.1 in 131. */
static mma_layout mma_split(const job *j, mma_layout s)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const double units = (double)size_max(j->device->compute_units, 1);
    const double tiles = (double)size_div_up(p->m, s.tile_m) * (double)size_div_up(p->n, s.tile_n);
    const uint32_t set = param(j->params, "SPLIT");
    mma_layout best = s;

    if (matmul_batch(p) > 1 || p->m == 0 || p->n == 0 || tiles > GROUP_COUNTERS_MAX)
        return best;
    if (set) {
        best.k = matmul_parts_cut(j, set, s.depth);
        mma_set_warps(j, &best);
        return best;
    }
    for (unsigned quarters = tiles <= SPLIT_FEW_TILES ? 1 : 4; quarters <= 16;
         quarters += quarters < 4 ? quarters : 4) { /* 1, 2, 4, 8, 12, 16 */
        const double parts = quarters * units / 4 / tiles;

        if (parts < 2)
            continue;
        s.k = matmul_parts_cut(j, (size_t)parts, s.depth);
        mma_set_warps(j, &s);
        if (mma_time(j, &s) < mma_time(j, &best))
            best = s;
    }
    return best;
}

/* Whether what comes through registers of blocks of 128 bytes leaves too few of them to the sums:
 * of 16 bits a unit of 16 bytes comes as two vectors. */
static bool mma_block_is_long(const tsr_matmul_problem *p, size_t tile_m, size_t tile_n)
{
    return tsr_type_size(p->type) == 2 && tile_m * tile_n == 128 * 128 && !mma_copies_a(p) &&
           !mma_copies_b(p);
}

/* Whether blocks of so many bytes serve: the longest has room for k, where that is short, and
 * shorter ones take few registers for what comes through them. */
static bool mma_block_serves(const tsr_matmul_problem *p, size_t block, size_t sets, bool is_long)
{
    const size_t bytes = p->k * tsr_type_size(p->type);
    /* Two sets of warps take a step of 32 bytes each. */
    const size_t most = bytes <= 32 && sets < 2 ? 32 : bytes <= 64 || is_long ? 64 : 128;

    return p->type == TSR_F64 ? block == 128
                              : block == most || (block < most && bytes <= 4 * block);
}

static mma_layout mma_layout_of(const job *j)
{
    static const size_t sides[] = {32, 64, 128}, blocks[] = {128, 64, 32};
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t set_m = param(j->params, "TILE_M"), set_n = param(j->params, "TILE_N");
    const size_t set = param(j->params, "BLOCK");
    mma_layout best = {0};

    for (size_t e = 0; e < ARRAY_COUNT(sides) * ARRAY_COUNT(sides) * ARRAY_COUNT(blocks); e++) {
        const size_t m = sides[e / 9], n = sides[e / 3 % 3], block = set ? set : blocks[e % 3];
        mma_layout s;

        if ((set_m && m != set_m) || (set_n && n != set_n) ||
            (!set &&
             !mma_block_serves(p, block, param(j->params, "SETS"), mma_block_is_long(p, m, n))))
            continue;
        s = mma_split(j, mma_layout_for(j, m, n, block));
        if (!best.tile_m || mma_time(j, &s) < mma_time(j, &best))
            best = s;
    }
    return best;
}

/* In float64, as timed on an H200 at 165 sizes with k from 8 to 128: of a short k, which is soon
 * multiplied, and of a longer one where rows of C do not start at pairs, which `mma-f64` writes one
 * by one, or C is read.  Else boxes of the next tile of a large C come while one is stored:
 * 3000x3000x24 takes 32 us by `mma-f64-tensor` and 42 by `mma`, 708x9368x64 35 and 45, but with B
 * transposed 56 and 41, and with beta 1 84 and 56. */
static bool gains_in_f64(const tsr_matmul_problem *p)
{
    const matmul_matrix a = matmul_matrix_a(p), b = matmul_matrix_b(p), c = matmul_matrix_c(p);
    const bool boxes = matmul_starts_at(&a, 2) && matmul_starts_at(&b, 2);
    const double outputs = (double)p->m * (double)p->n;

    if (outputs < 0x1p17)
        return p->k <= 16;
    if (!matmul_starts_at(&c, 2))
        return p->k <= (outputs < 0x1p19 ? 96 : 256);
    if (matmul_is_narrow_f64(p)) /* 20000x44x40 takes 11.5 us in place of 12.7 */
        return false;
    if (!boxes || matmul_reads_c(p))
        return p->k <= 96;
    return p->k <= (outputs < 0x1p22 || (!p->trans_a && p->trans_b) ? 64 : 16);
}

double matmul_mma_time(const problem *q, const device_facts *d)
{
    const params chosen = params_default(&matmul_mma);
    const device_facts known = matmul_known(d);
    const job j = {q, &known, &chosen, false, false};
    const mma_layout s = mma_layout_of(&j);

    return 1e3 * mma_time(&j, &s);
}

/* Whether tiles of so many rows or columns fill most of the units: float16 15752x8x4368 with B
 * transposed takes 40 us of an H200 by `wgmma-tensor` and 52 by `mma`, 14000x12x3000 28 and 41. */
enum { TENSOR_TILE = 128 };
static const double TENSOR_BUSY = 0.8;

static bool has_tiles_for_units(const tsr_matmul_problem *p, const device_facts *d)
{
    return (double)size_max(p->m, p->n) >= TENSOR_BUSY * TENSOR_TILE * (double)d->compute_units;
}

bool matmul_mma_gains(const problem *q, const device_facts *d)
{
    const tsr_matmul_problem *p = matmul_of(q);

    if (p->type == TSR_F64)
        return gains_in_f64(p);
    if (p->type == TSR_F32 && p->precision != TSR_PRECISION_TF32)
        return false;
    /* One tile: the launch that prepares copies takes longer than the product. */
    if (tsr_type_size(p->type) == 2 && p->m <= 32 && p->n <= 32 && p->k <= 2048)
        return true;
    /* A single step along k: `wgmma-tensor` takes longer to begin a tile and to store it.  Ten
     * shapes from 3000x9001x16 to 5989x13014x8 take 0.48 to 0.9 of its time on an H200. */
    if (p->k <= 16 && p->type != TSR_I8 && size_min(p->m, p->n) > 16)
        return true;
    /* Of few rows or columns a group of `wgmma-tensor` has less of the large factor on its way than
     * its time is taken from, but where each unit has a tile to read; and of a short k it begins
     * later: a clear gain alone counts. */
    return matmul_mma_time(q, d) <
           matmul_tensor_time(q, d) * (size_min(p->m, p->n) <= 16 && !has_tiles_for_units(p, d)
                                           ? 1.25
                                       : p->k <= 96 ? 1.06
                                                    : 1);
}

/* Bytes that are loaded or copied at once, at whose multiples lines start: 16, or an element, or 4
 * bytes of smaller ones. */
static size_t mma_unit(const matmul_matrix *x)
{
    const size_t size = tsr_type_size(x->type);

    return mma_aligned(x) ? 16 : size < 4 && matmul_starts_at(x, 4 / size) ? 4 : size;
}

/* Bytes of the sums of groups that share k. */
static double mma_workspace(const tsr_matmul_problem *p, const mma_layout *s)
{
    const double tiles =
        (double)size_div_up(p->m, s->tile_m) * (double)size_div_up(p->n, s->tile_n);

    return s->k.parts > 1
               ? tiles * (double)(s->k.parts * s->tile_m * s->tile_n * matmul_real_size(p))
               : 0;
}

/* Whether what C was is held in registers while its tile is multiplied: of few vectors, and of a
 * few more where no more groups than two could be on a unit, whatever the registers. */
static bool mma_reads_early(const job *j, const mma_layout *s, size_t lane)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t each = s->tile_m * s->tile_n / lane / (32 * s->warps_m * s->warps_n * s->sets);

    return matmul_reads_c(p) &&
           (each <= 2 ||
            (each <= 4 && mma_groups(p, s) <= 2 * size_max(j->device->compute_units, 1)));
}

/* The launch: layers of groups are products of a batch, or share the k of one. */
static void mma_launch(const tsr_matmul_problem *p, const mma_layout *s, plan *out)
{
    const size_t tiles = size_div_up(p->m, s->tile_m) * size_div_up(p->n, s->tile_n);
    const size_t items = mma_items(s);
    matmul_call call = matmul_call_of(p);
    command *c = plan_launch_2d(out, 0, tiles * items, 1, items, 1);

    command_operand(c, MATMUL_A);
    command_operand(c, MATMUL_B);
    command_operand(c, MATMUL_C);
    matmul_layers(c, matmul_batch(p));
    if (s->k.parts > 1) {
        matmul_layers(c, s->k.parts);
        out->workspace = (size_t)mma_workspace(p, s);
        command_workspace(c);
        command_group_counters(c, true);
        call.stride_a = call.stride_b = call.stride_c = 0;
        call.span = (uint32_t)s->k.span;
        call.parts = (uint32_t)s->k.parts;
    }
    matmul_pass(c, p, &call);
}

static const char *plan_mma(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const matmul_matrix a = matmul_matrix_a(p), b = matmul_matrix_b(p), c = matmul_matrix_c(p);
    const size_t lane = mma_lane(p);
    const char *why = matmul_unsupported_complex(p, out);
    mma_layout s;

    if (why)
        return why;
    if (p->type == TSR_F32 && p->precision != TSR_PRECISION_TF32)
        return "it rounds float32 to TF32, which --precision tf32 asks for";
    if (type_is_fp8(p->type))
        return plan_unsupported(out, "its instructions do not take %s", tsr_type_name(p->type));
    s = mma_layout_of(j);
    if (p->type == TSR_F64 && s.depth < 16)
        return "it needs BLOCK=128 or more for float64: its instructions take as many bytes along "
               "k";
    if (param(j->params, "SETS") > s.sets)
        return "SETS=2 needs BLOCK=64 or more, and is not for float64: a set takes a step of a "
               "block";
    why = unsupported_device(j, p->type == TSR_F64 ? 90 : 80, s.local, out);
    if (!why && size_max(p->m, size_max(p->n, p->k)) >= (size_t)1 << 31)
        return plan_unsupported(out, "it counts in 31 bits, and an extent of %zu has more",
                                size_max(p->m, size_max(p->n, p->k)));
    if (!why)
        why = plan_unsupported_buffer(out, j->device, "workspace", mma_workspace(p, &s));
    if (why)
        return why;
    plan_set(out, "TILE_M", (uint32_t)s.tile_m);
    plan_set(out, "TILE_N", (uint32_t)s.tile_n);
    plan_set(out, "BLOCK", (uint32_t)(s.depth * tsr_type_size(p->type)));
    plan_set(out, "SETS", (uint32_t)s.sets);
    plan_set(out, "STAGES", (uint32_t)s.stages);
    plan_set(out, "SPLIT", (uint32_t)s.k.parts);
    matmul_define_operands(p, out);
    plan_define(out, "WARPS_M=%zu", s.warps_m);
    plan_define(out, "WARPS_N=%zu", s.warps_n);
    plan_define(out, "ITEMS=%zu", mma_items(&s));
    plan_define(out, "LOCAL_BYTES=%zu", s.local);
    plan_define(out, "BAND=%d", MMA_BAND);
    plan_define(out, "COPY_A=%zu", mma_unit(&a));
    plan_define(out, "COPY_B=%zu", mma_unit(&b));
    plan_define(out, "C_VECTOR=%zu", lane);
    plan_define(out, "SHIFTED=%d", !rows_are_vectors(&c, lane));
    plan_define(out, "EARLY=%d", mma_reads_early(j, &s, lane));
    plan_define(out, "SPLITS=%d", s.k.parts > 1);
    last_group_defines(j->device, LAST_GROUP_PTX, &out->defines);
    if (p->m && p->n)
        mma_launch(p, &s, out);
    return NULL;
}

const variant matmul_mma = {
    .name = "mma",
    .idea = "a warp multiplies 16 x 8 blocks in one instruction: 8 and 16 bits, TF32, or FP64",
    .answers = 1u << CAUSE_UNITS,
    .source = "matmul/matmul_mma.cl",
    .entries = {"matmul_mma"},
    .needs = 1u << FEATURE_PTX | 1u << FEATURE_LARGE_LOCAL,
    .uses = LAST_GROUP_USES,
    .group_counters = true,
    .tunables = mma_tunables,
    .tunable_count = ARRAY_COUNT(mma_tunables),
    .plan = plan_mma};
