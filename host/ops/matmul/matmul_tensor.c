/* Hopper's matrix instructions, fed by tensor copies: cl/matmul/matmul_tensor.cl. */
#include <math.h>

#include "base/sizes.h"
#include "core/last_group.h"
#include "core/registry.h"
#include "ops/matmul/matmul_parts.h"
#include "ops/matmul/matmul_plan.h"
#include "ops/matmul/matmul_variants.h"

/* Entries of cl/matmul/matmul_tensor.cl, in the variant's order. */
enum { PREPARE, MULTIPLY };

static const tunable tunables[] = {
    {"TILE_M", "rows of a work-group's tile: traffic against work-groups", {0, 64, 128, 256}, 0},
    {"TILE_N",
     "columns of a work-group's tile: fewer reads of A against B",
     {0, 16, 32, 64, 96, 128, 160, 192, 224, 256},
     0},
    {"TURN", "1: C as it is; 2: its transpose, so that few rows become few columns", {0, 1, 2}, 0},
    {"STAGES", "blocks of A and B in flight: latency against local memory", {0, 3, 4, 5, 6, 8}, 0},
    {"BAND", "rows of work-groups that run side by side: B shared against A", {1, 4, 8, 16}, 8},
    {"SPLIT",
     "work-groups that share k: more run at once, and leave more sums to add up",
     {0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32},
     0,
     .host_only = true,
     .any = true},
    {"PERSISTENT",
     "1: a work-group for each compute unit takes tile after tile; 2: a work-group for each tile; "
     "0: 2 where C is added to, unless factors have 8 bits or a unit takes several groups, else 1",
     {0, 1, 2},
     0},
    {"PREPARE",
     "who copies operands that are not aligned: 1 a launch before, 2 the groups that multiply",
     {0, 1, 2},
     0},
};

/* What the kernels are built with; sizes in bytes. */
enum {
    ROW_BYTES = 128,      /* a row of a box */
    GROUP = 128,          /* work-items that multiply together */
    PRODUCER_WARP = 32,   /* work-items that bring tiles; */
    PRODUCER_GROUP = 128, /* those that give registers to the others */
    PREPARE_ITEMS = 256,  /* of a group that stages */
    PIECE = 64,           /* rows and columns of what it stages */
    MAP_BYTES = 128       /* of a map: A's and B's of each group at the start of the workspace */
};

enum {
    MAPS = 2 * MAP_BYTES,
    ALIGNMENT = 2048, /* of stages in local memory, and barriers and maps beside them, at most */
    STAGED_ALIGN = 256,
    STAGE_COUNTERS = 4,    /* of groups that stage, before those of tiles */
    LOCAL_ALL = 200 << 10, /* for the stages of one group on a unit, of two, of three */
    LOCAL_HALF = 110 << 10,
    LOCAL_THIRD = 72 << 10,
    UNIT_LOCAL = 228 << 10, /* local memory of a compute unit */
    SIDES_MAX = 448,        /* of a tile, together, as registers hold its sums */
    APART_MAX = 192,        /* columns of it where they hold sums of a block too */
    TURN_MAX = 64,          /* rows, up to which C may be transposed */
    SUMS_MANY = 64,         /* of a work-item, from which the producers give it registers */
    OWN = 16 * 40 * 4       /* bytes of a warp, through which it stores tile after tile */
};

/* FORMAT of the factors. */
enum { FORMAT_TF32, FORMAT_BF16, FORMAT_F16, FORMAT_I8, FORMAT_E4M3, FORMAT_E5M2 };

static unsigned format(const tsr_matmul_problem *p)
{
    const tsr_precision used = real_precision(p->type, p->precision);

    return p->type == TSR_I8            ? FORMAT_I8
           : p->type == TSR_F8E4M3      ? FORMAT_E4M3
           : p->type == TSR_F8E5M2      ? FORMAT_E5M2
           : used == TSR_PRECISION_TF32 ? FORMAT_TF32
           : used == TSR_PRECISION_BF16 ? FORMAT_BF16
                                        : FORMAT_F16;
}

/* Bytes of a factor as it is multiplied. */
static size_t element_bytes(const tsr_matmul_problem *p)
{
    const unsigned f = format(p);

    return f == FORMAT_TF32 ? 4 : f == FORMAT_BF16 || f == FORMAT_F16 ? 2 : 1;
}

/* Whether instructions take it along k alone. */
static bool along_alone(const tsr_matmul_problem *p)
{
    return element_bytes(p) != 2;
}

/* How an operand is copied to local memory. */
typedef struct source {
    bool staged;
    size_t rows, columns; /* as it is stored */
    size_t pitch;         /* elements between rows of what is staged; 0 where nothing is */
    size_t pieces;        /* that work-groups stage */
    size_t bytes;         /* of workspace; wraps where `size` is beyond 2^64 */
    double size;          /* the same in floating point, where nothing wraps */
} source;

/* Rows of sides of C, elements of k and bytes of an operand for which one sector less for each row
 * is worth a copy. */
enum { SECTOR = 32, SECTOR_SIDE = 3000, SECTOR_K = 1000, SECTOR_BYTES_MAX = 1 << 30 };

/* Whether rows of 16 or 32 bits, though aligned to 16 bytes, start inside sectors of 32: each is
 * then read in one sector more, which takes longer than to stage a large operand: TF32
 * 7401x9704x8796 with B transposed 4550 us of an H200, and 3500 staged. */
static bool is_read_in_more_sectors(const tsr_matmul_problem *p, size_t ld, size_t offset,
                                    double bytes)
{
    const size_t element = element_bytes(p);

    return element > 1 && (ld | offset) * element % SECTOR && size_min(p->m, p->n) >= SECTOR_SIDE &&
           p->k >= SECTOR_K && bytes <= SECTOR_BYTES_MAX;
}

/* Copies take rows from multiples of 16 bytes, in the format.  TF32 and 8 bits have to have k along
 * them. */
static source source_of(const tsr_matmul_problem *p, bool along, size_t rows, size_t columns,
                        size_t ld, size_t offset)
{
    const bool turned = along_alone(p) && !along;
    const size_t element = element_bytes(p), unit = STAGED_ALIGN / element;
    const size_t vector = 16 / element;
    const size_t pitch = size_div_up(turned ? rows : columns, unit) * unit;
    const double size = (double)(turned ? columns : rows) * (double)pitch * (double)element;
    source s = {.rows = rows, .columns = columns};

    s.staged = turned || element != tsr_type_size(p->type) || ld % vector || offset % vector ||
               is_read_in_more_sectors(p, ld, offset, size);
    if (!s.staged)
        return s;
    s.pitch = pitch;
    s.pieces = size_div_up(rows, PIECE) * size_div_up(columns, PIECE);
    s.bytes = (turned ? columns : rows) * pitch * element;
    s.size = size;
    return s;
}

static source source_a(const tsr_matmul_problem *p)
{
    return source_of(p, !p->trans_a, p->trans_a ? p->k : p->m, p->trans_a ? p->m : p->k,
                     matmul_ld_a(p), p->offset_a);
}

static source source_b(const tsr_matmul_problem *p)
{
    return source_of(p, p->trans_b, p->trans_b ? p->n : p->k, p->trans_b ? p->k : p->n,
                     matmul_ld_b(p), p->offset_b);
}

/* ---- tiles --------------------------------------------------------------------------------- */

/* How a product is cut into work-groups. */
typedef struct tiling {
    bool turned; /* C^T = op(B)^T op(A)^T is computed */
    size_t tile_m, tile_n, stages;
    size_t consumers, producers; /* work-items */
    size_t local;                /* bytes of local memory */
    bool holds_sums;             /* whether a tile of C fits where the stages lie */
    size_t a_unit;               /* groups that a compute unit takes at once */
    size_t tiles, width;         /* of C; columns of B that are copied for one */
    k_parts k;
} tiling;

/* Whether registers hold the sums of a tile; of FP8 those of a block beside them. */
static bool tile_fits(const tsr_matmul_problem *p, size_t tile_m, size_t tile_n)
{
    const size_t columns = tile_n * (tile_m == 256 ? 2 : 1); /* of 64 rows of a warp group */
    const bool measured = tile_n <= 32 || tile_n % 64 == 0;  /* of FP8 */

    return tile_m + tile_n <= SIDES_MAX &&
           (!type_is_fp8(p->type) || (columns <= APART_MAX && measured));
}

/* Elements of k in a block. */
static size_t block_k(const tsr_matmul_problem *p)
{
    return ROW_BYTES / element_bytes(p);
}

/* Whether each tile has a group of its own, where a unit takes so many groups at once: PERSISTENT
 * says so, or C is added to and a unit takes one.  Groups that begin when others end read C at
 * different times, and by whole lines: with beta 1, in the same tiles, bfloat16 3001x3003x3005
 * takes 129 us of an H200 in place of 160, 2001x2003x4007 115 in place of 157, TF32 5000^3 813 in
 * place of 830; bfloat16 5000^3 480 of an H100 in place of 548.  Where C is overwritten it takes up
 * to 1.2 times as long. */
static bool has_group_a_tile(const job *j, size_t a_unit)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t set = param(j->params, "PERSISTENT");

    return set ? set == 2 : matmul_reads_c(p) && element_bytes(p) > 1 && a_unit == 1;
}

/* A tile of so many rows and columns, of k in such parts.  Where there is a group for each unit or
 * less, it has all local memory for its stages; else small tiles share it. */
static tiling tiling_of(const job *j, bool turn, size_t tile_m, size_t tile_n, k_parts k)
{
    static const size_t stages[] = {8, 6, 5, 4, 3};
    const tsr_matmul_problem *given = matmul_of(j->problem);
    const tsr_matmul_problem p = turn ? matmul_turned(given) : *given;
    const bool along_b = along_alone(&p) || p.trans_b;
    const size_t width = along_b ? tile_n : size_round_up(tile_n, ROW_BYTES / element_bytes(&p));
    const size_t stage = (tile_m + width) * ROW_BYTES, set = param(j->params, "STAGES");
    const size_t sums = tile_m * tile_n / (tile_m == 64 ? GROUP : 2 * GROUP);
    const size_t units = size_max(j->device->compute_units, 1);
    const size_t a_unit_most = sums > 32 ? 1 : tile_m == 64 ? 3 : 2;
    const matmul_matrix c = matmul_matrix_c(given);
    size_t own = 0;
    tiling t = {
        .turned = turn, .tile_m = tile_m, .tile_n = tile_n, .stages = set, .k = k, .width = width};
    size_t budget = LOCAL_ALL;

    t.tiles = size_div_up(p.m, tile_m) * size_div_up(p.n, tile_n);
    t.consumers = tile_m == 64 ? GROUP : 2 * GROUP;
    if (!turn && t.tiles * k.parts > units * a_unit_most && !has_group_a_tile(j, a_unit_most) &&
        (matmul_vector_c(&c) < 4 || type_is_fp8(c.type) || matmul_scaled(&p)))
        own = t.consumers / 32 * OWN;
    if (sums <= 32 && t.tiles * k.parts > units)
        budget = (tile_m == 64 ? LOCAL_THIRD : LOCAL_HALF) - own;
    t.producers = sums > SUMS_MANY ? PRODUCER_GROUP : PRODUCER_WARP;
    for (size_t s = 0; !t.stages && s < ARRAY_COUNT(stages); s++)
        if (stages[s] * stage <= budget || stages[s] == 3)
            t.stages = stages[s];
    t.local = t.stages * stage + ALIGNMENT + own;
    t.holds_sums =
        !turn || tile_m * (tile_n + 1) * sizeof(float) <= t.stages * (tile_m + tile_n) * ROW_BYTES;
    t.a_unit = sums > 32 ? 1 : size_max(size_min(UNIT_LOCAL / (t.local + 1024), 3), 1);
    return t;
}

/* Nanoseconds beside those of the launch, fitted to times of tiles on an H100. */
static double cost(const job *j, const tiling *t)
{
    static const double output_block = 0.0207; /* of a block of k: for each output of a tile */
    static const double block_begins = 50;     /* and to begin it; */
    static const double line_block = 1.3;      /* or for each row and column that is copied; */
    static const double block_min = 133;       /* and at least; */
    static const double group_begins = 500;    /* for a work-group to begin, */
    static const double output_stored = 0.04;  /* and each output to be stored; */
    static const double tile_kept = 1500;      /* for parts of a tile to be kept and added up, */
    static const double output_kept = 0.06;    /* and for each output of each part */
    static const double bytes_ns = 3000;       /* at which memory is read at best */
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t units = size_max(j->device->compute_units, 1);
    const double waves = (double)size_div_up(t->tiles * t->k.parts, units);
    const double blocks = (double)size_div_up(t->k.span, block_k(p));
    const double outputs = (double)(t->tile_m * t->tile_n);
    const double lines = line_block * (double)(t->tile_m + t->width);
    /* Columns that are copied and not multiplied take as long as others: a block of 128 x 224 of a
     * B that lies across k 785 ns of an H100, one of 128 x 256 750, one of 128 x 128 415. */
    const double products = output_block * (double)(t->tile_m * t->width);
    const double block = fmax(block_min, fmax(products + block_begins, lines));
    const size_t element = element_bytes(p);
    const double read = ((double)p->m + (double)p->n) * (double)p->k * (double)element / bytes_ns;
    /* Parts are added up for each tile that a unit has. */
    const double shared = t->k.parts > 1 ? (double)size_div_up(t->tiles, units) : 0;
    const double kept = shared * (tile_kept + output_kept * outputs * (double)t->k.parts);
    const double busy = waves * (group_begins + block * blocks + output_stored * outputs);

    /* Where memory decides, the tile does a little. */
    return fmax(read, busy) + 0.05 * busy + kept;
}

/* What a clear gain leaves. */
static const double CLEAR = 0.97;

/* The best parts of k for a tile, where SPLIT does not set them. */
static tiling cut_k(const job *j, bool turn, size_t tile_m, size_t tile_n)
{
    static const size_t parts[] = {2, 3, 4, 6, 8, 12, 16, 24, 32};
    const size_t depth = block_k(matmul_of(j->problem)), set = param(j->params, "SPLIT");
    tiling best = tiling_of(j, turn, tile_m, tile_n, matmul_parts_cut(j, set, depth)), t;
    const bool shares = best.tiles + STAGE_COUNTERS <= GROUP_COUNTERS_MAX;

    if (!shares)
        return tiling_of(j, turn, tile_m, tile_n, matmul_parts_cut(j, 1, depth));
    for (size_t i = 0; !set && i < ARRAY_COUNT(parts); i++) {
        t = tiling_of(j, turn, tile_m, tile_n, matmul_parts_cut(j, parts[i], depth));
        if (t.k.span < 4 * depth)
            break;
        if (cost(j, &t) < CLEAR * cost(j, &best))
            best = t;
    }
    return best;
}

/* Tiles that were measured. */
static const struct {
    size_t m, n;
} shapes[] = {{128, 256}, {128, 224}, {128, 192}, {128, 160}, {128, 128},
              {128, 96},  {128, 64},  {64, 64},   {128, 32}};

/* What no tunable sets follows from the cost; the largest tile, and few rows as columns, are left
 * for a clear gain alone. */
static tiling choose(const job *j)
{
    const size_t set_m = param(j->params, "TILE_M"), set_n = param(j->params, "TILE_N");
    const size_t set_turn = param(j->params, "TURN");
    const bool few = matmul_of(j->problem)->m <= TURN_MAX;
    double least = 0;
    tiling best = {0};

    for (unsigned turn = 1; turn <= 2; turn++)
        for (size_t i = 0; i < ARRAY_COUNT(shapes); i++) {
            const size_t m = set_m ? set_m : shapes[i].m, n = set_n ? set_n : shapes[i].n;
            const bool wanted =
                set_turn ? set_turn == turn : turn == 1 || (few && m == 128 && n <= TURN_MAX);
            tiling t;
            double c;

            if (!tile_fits(matmul_of(j->problem), m, n) || !wanted)
                continue;
            t = cut_k(j, turn == 2, m, n);
            c = cost(j, &t) * (i == 0 || turn == 2 ? CLEAR : 1);
            if (!best.tile_m || c < least) {
                best = t;
                least = c;
            }
        }
    return best;
}

/* The constants but for those of C and staging fit 17 products on an H100, from 512^3 to 16384 x
 * 12979 x 10466, within 11% (RMS), before cost() counted what a block takes to begin and columns
 * that are copied alone; those of C and staging fit nine on an H200. */
double matmul_tensor_time(const problem *q, const device_facts *d)
{
    static const double launch = 3.6;
    static const double stage_halves = 4; /* for a launch that stages, */
    static const double stage_words = 3;
    static const double staged = 1.7e6;         /* and bytes of it in a microsecond; */
    static const double single_halves = 1.15e6; /* elements of C that go in lines not aligned, */
    static const double single_words = 0.5e6;
    static const double read_halves = 0.55e6; /* or are read */
    static const double read_words = 0.3e6;
    static const double written =
        2e6; /* bytes of C in a microsecond, at best: of a short k they decide */
    const params chosen = params_default(&matmul_wgmma_tensor);
    const job j = {q, d, &chosen, false, false};
    const tiling t = choose(&j);
    const tsr_matmul_problem *p = matmul_of(q);
    const source a = source_a(p), b = source_b(p);
    const matmul_matrix c = matmul_matrix_c(p);
    const size_t element = tsr_type_size(c.type);
    const double outputs = (double)p->m * (double)p->n;
    const bool plain = matmul_vector_c(&c) >= 4 && !matmul_reads_c(p); /* the others add below */
    double us = launch + fmax(cost(&j, &t) / 1000, plain ? outputs * (double)element / written : 0);

    if (a.staged || b.staged)
        us += (format(p) == FORMAT_TF32 ? stage_words : stage_halves) + (a.size + b.size) / staged;
    if (matmul_vector_c(&c) < 4)
        us += outputs / (element == 2 ? single_halves : single_words);
    if (matmul_reads_c(p))
        us += outputs / (element == 2 ? read_halves : read_words);
    return 1e3 * us;
}

/* ---- commands ------------------------------------------------------------------------------ */

/* The scalars of both kernels: tensor_call of cl/matmul/matmul_tensor.cl. */
typedef struct tensor_call {
    uint64_t offset_a, offset_b, offset_c;
    uint64_t offset_scale_a, offset_scale_b;
    uint64_t staged_a, staged_b, sums;
    uint32_t m, n, k;
    uint32_t lda, ldb, ldc;
    uint32_t pitch_a, pitch_b, pieces_a, pieces;
    uint32_t span, parts;
    union {
        float f32[2]; /* alpha, beta */
        int32_t i32[2];
    } scale;
} tensor_call;

_Static_assert(sizeof(tensor_call) == 120 && sizeof(tensor_call) <= BLOCK_BYTES_MAX,
               "as OpenCL C lays it out, and no larger than a command's");

/* That the product cannot run, by what it is alone. */
static const char *unsupported(const tsr_matmul_problem *p, plan *out)
{
    const tsr_precision used = real_precision(p->type, p->precision);
    const char *why = matmul_unsupported_several(p, out);

    if (!why)
        why = element_bytes(p) == 1 ? matmul_unsupported_sizes(p, out)
                                    : matmul_unsupported_indices(p, out);
    if (!why && type_is_fp8(p->type) && used != TSR_PRECISION_F8)
        why = "matrix units add up FP8 products in fewer bits than FP32 has, which --precision f8 "
              "allows";
    if (why || element_bytes(p) == 1)
        return why;
    if (used != TSR_PRECISION_TF32 && used != TSR_PRECISION_BF16 && used != TSR_PRECISION_F16)
        return plan_unsupported(
            out, "it rounds factors to TF32 or 16 bits, and for %s the precision is %s",
            tsr_type_name(p->type), tsr_precision_name(used));
    return NULL;
}

/* Whether the groups that multiply stage: where that is soon done, it costs less than a launch. */
static bool stage_by_groups(const job *j, size_t pieces, size_t groups)
{
    const size_t set = param(j->params, "PREPARE");

    return set ? set == 2 : pieces <= groups;
}

static void define(const tsr_matmul_problem *p, const tiling *t, const source *a, const source *b,
                   plan *out)
{
    plan_set(out, "TILE_M", (uint32_t)t->tile_m);
    plan_set(out, "TILE_N", (uint32_t)t->tile_n);
    plan_set(out, "TURN", t->turned ? 2 : 1);
    plan_set(out, "STAGES", (uint32_t)t->stages);
    plan_set(out, "SPLIT", (uint32_t)t->k.parts);
    matmul_define_operands(p, out);
    matmul_define_scales(p, out);
    plan_define(out, "FORMAT=%u", format(p));
    plan_define(out, "TURNED=%d", t->turned);
    plan_define(out, "STAGED_A=%d", a->staged);
    plan_define(out, "STAGED_B=%d", b->staged);
    plan_define(out, "ROW_BYTES=%d", ROW_BYTES);
    plan_define(out, "MAP_BYTES=%d", MAP_BYTES);
    plan_define(out, "CONSUMERS=%zu", t->consumers);
    plan_define(out, "PRODUCERS=%zu", t->producers);
    plan_define(out, "UNIT_GROUPS=%zu", t->a_unit);
    plan_define(out, "PREPARE_ITEMS=%d", PREPARE_ITEMS);
    plan_define(out, "PIECE=%d", PIECE);
    plan_define(out, "LAST_ADDS=%d", LAST_GROUP_PTX);
}

static const char *plan_tensor(const job *j, plan *out)
{
    const char *why = unsupported(matmul_of(j->problem), out);
    const size_t units = size_max(j->device->compute_units, 1);
    size_t groups, items;
    tsr_matmul_problem p;
    tensor_call call;
    source a, b;
    bool fused, alone;
    command *c;
    const matmul_matrix matrix_c = matmul_matrix_c(matmul_of(j->problem));
    tiling t;

    if (why)
        return why;
    t = choose(j);
    if (!t.tile_m)
        return type_is_fp8(matmul_of(j->problem)->type)
                   ? "its tiles of FP8 are 16, 32, 64, 128 or 192 wide, and up to 64 with 256 "
                     "rows, "
                     "since registers hold the sums of a block too"
                   : "the sums of a tile of 256 x 256 are more than the registers hold";
    p = t.turned ? matmul_turned(matmul_of(j->problem)) : *matmul_of(j->problem);
    why = plan_unsupported_local(out, t.local, j->device->large_local);
    if (why)
        return why;
    a = source_a(&p);
    b = source_b(&p);
    alone = has_group_a_tile(j, t.a_unit);
    groups = t.tiles * t.k.parts;
    if (!alone)
        groups = size_min(groups, units * t.a_unit);
    call = (tensor_call){.offset_a = p.offset_a,
                         .offset_b = p.offset_b,
                         .offset_c = p.offset_c,
                         .offset_scale_a = p.offset_scale_a,
                         .offset_scale_b = p.offset_scale_b,
                         .staged_a = size_max(groups, 1) * MAPS,
                         .m = (uint32_t)p.m,
                         .n = (uint32_t)p.n,
                         .k = (uint32_t)matmul_k_read(&p),
                         .lda = (uint32_t)matmul_ld_a(&p),
                         .ldb = (uint32_t)matmul_ld_b(&p),
                         .ldc = (uint32_t)p.ldc,
                         .pitch_a = (uint32_t)a.pitch,
                         .pitch_b = (uint32_t)b.pitch,
                         .pieces_a = (uint32_t)a.pieces,
                         .pieces = (uint32_t)(a.pieces + b.pieces),
                         .span = (uint32_t)size_div_up(t.k.span, block_k(&p)),
                         .parts = (uint32_t)t.k.parts,
                         .scale.f32 = {(float)matmul_alpha(&p), (float)p.beta}};
    if (p.type == TSR_I8) {
        call.scale.i32[0] = (int32_t)matmul_alpha(&p);
        call.scale.i32[1] = (int32_t)p.beta;
    }
    if (!t.turned)
        call.ldc = (uint32_t)matmul_ld_c(&p);
    call.staged_b = call.staged_a + a.bytes;
    call.sums = call.staged_b + b.bytes;
    out->workspace = call.sums;
    if (t.k.parts > 1)
        out->workspace += t.tiles * t.k.parts * t.tile_m * t.tile_n * sizeof(float);
    /* Where nothing wraps. */
    why = plan_unsupported_buffer(out, j->device, "workspace",
                                  (double)call.staged_a + a.size + b.size +
                                      (double)(out->workspace - call.sums));
    if (why)
        return why;
    fused = matmul_k_read(&p) && (a.staged || b.staged) && stage_by_groups(j, call.pieces, groups);
    plan_set(out, "PERSISTENT", alone ? 2 : 1);
    define(&p, &t, &a, &b, out);
    plan_define(out, "FUSED=%d", fused);
    plan_define(out, "SPLITS=%d", t.k.parts > 1);
    plan_define(out, "C_VECTOR=%u", matmul_vector_c(&matrix_c));
    plan_define(out, "SINGLE=%d", t.holds_sums && groups == t.tiles * t.k.parts);
    if (p.m == 0 || p.n == 0)
        return NULL;
    if (matmul_k_read(&p) && !fused && (a.staged || b.staged)) {
        c = plan_launch_1d(out, PREPARE, size_max(a.pieces + b.pieces, 1) * PREPARE_ITEMS,
                           PREPARE_ITEMS);
        matmul_factors(c, t.turned);
        command_workspace(c);
        command_block(c, &call, sizeof(call));
    }
    items = t.consumers + t.producers;
    c = plan_launch_1d(out, MULTIPLY, groups * items, items);
    matmul_factors(c, t.turned);
    command_operand(c, MATMUL_C);
    command_workspace(c);
    command_group_counters(c, fused || t.k.parts > 1);
    command_block(c, &call, sizeof(call));
    matmul_scales(c, &p, t.turned);
    return NULL;
}

const variant matmul_wgmma_tensor = {
    .name = "wgmma-tensor",
    .idea =
        "the copy unit (TMA) brings boxes of A and B, with zeros beyond edges: TF32, 16 and 8 bits",
    .answers = 1u << CAUSE_UNITS,
    .source = "matmul/matmul_tensor.cl",
    .entries = {"matmul_tensor_prepare", "matmul_tensor"},
    .needs = 1u << FEATURE_TENSOR_COPY | 1u << FEATURE_WGMMA | 1u << FEATURE_LARGE_LOCAL |
             1u << FEATURE_PTX,
    .group_counters = true,
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables),
    .plan = plan_tensor};
