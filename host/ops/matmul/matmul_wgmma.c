/* Hopper's matrix instructions on packed tiles: cl/matmul/matmul_wgmma.cl. */
#include "base/sizes.h"
#include "core/registry.h"
#include "ops/matmul/matmul_parts.h"
#include "ops/matmul/matmul_plan.h"
#include "ops/matmul/matmul_variants.h"

/* Entries of cl/matmul/matmul_wgmma.cl, in the variants' order. */
enum { PACK, MULTIPLY, SUM };

/* The last is TF32's alone: three products leave it one value. */
static const tunable tunables[] = {
    {"TILE_M", "rows of a work-group's tile: traffic against work-groups", {0, 128, 256}, 0},
    {"STAGES", "tiles of A and B in flight: latency hidden against local memory", {2, 4, 6}, 4},
    {"BAND", "rows of work-groups that run side by side: B shared against A", {1, 4, 8, 16}, 8},
    {"SPLIT",
     "work-groups that share k: more run at once, and leave more sums to add up",
     {0, 1, 2, 4, 8, 16, 32},
     0,
     .host_only = true,
     .any = true},
    {"TILE_N", "columns of a work-group's tile: fewer reads of A against B", {128, 256}, 128},
};

/* What the kernels are built with. */
enum {
    ROW_BYTES = 128, /* of a tile, along k */
    CONSUMERS = 256, /* work-items of a group that multiply, and that bring tiles */
    PRODUCERS = 128,
    ITEMS = CONSUMERS + PRODUCERS,
    PACK_ITEMS = 256,  /* of a group that packs */
    PIECE_ALONG = 32,  /* rows of what it packs, and as many along k; */
    PIECE_ACROSS = 128 /* or rows of one block along k, where neighbours lie across k */
};

/* Bytes of local memory beside tiles, at most: their alignment, and barriers. */
enum { ALIGNMENT = 2048 };

/* TF32 products of a multiplication: one where TF32 is asked for, three for FP32. */
static unsigned products(const tsr_matmul_problem *p)
{
    return p->precision == TSR_PRECISION_TF32 ? 1 : 3;
}

/* Columns of a tile.  Three products keep twice the sums, so there it is the smaller one. */
static size_t tile_n(const job *j)
{
    return products(matmul_of(j->problem)) == 3 ? 128 : param(j->params, "TILE_N");
}

/* How a product is cut into work-groups: rows of a tile, and parts of k. */
typedef struct cut {
    size_t tile_m;
    k_parts k;
} cut;

static size_t block_k(const tsr_matmul_problem *p)
{
    return products(p) == 3 ? 16 : 32;
}

static size_t tiles_of(const job *j, size_t tile_m)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    return size_div_up(p->m, tile_m) * size_div_up(p->n, tile_n(j));
}

/* Nanoseconds that a tile takes on an H200. */
typedef struct tile_times {
    double ends;  /* for a work-group to begin and end, */
    double added; /* and to read a C that is added to */
    double of_k;  /* for each k of a product of 128 columns */
} tile_times;

/* Of 128 and of 256 rows.  Those of three products are of a fit to times of 46 products, whose root
 * mean square of errors is 4%. */
static const tile_times of_one[] = {{4500, 0, 9.5}, {4500, 0, 20.4}};
static const tile_times of_three[] = {{4000, 1900, 10}, {7000, 3000, 21.1}};

/* Nanoseconds of multiplying and adding up. */
static double cost(const job *j, const cut *c)
{
    static const double launch = 1000;   /* of adding up parts */
    static const double bytes_ns = 2500; /* sums are written and read at */
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const bool splits = c->k.parts > 1;
    const tile_times *t = &(products(p) == 3 ? of_three : of_one)[c->tile_m == 256];
    const size_t waves = size_div_up(tiles_of(j, c->tile_m) * c->k.parts, matmul_units(j));
    const size_t steps = c->k.span * products(p) * (tile_n(j) / 128);
    const double group =
        t->ends + (matmul_reads_c(p) && !splits ? t->added : 0) + t->of_k * (double)steps;
    const double sums = (double)c->k.parts * (double)p->m * (double)p->n;

    return (double)waves * group + (splits ? launch + sums * 2 * sizeof(float) / bytes_ns : 0);
}

/* Nanoseconds of both launches and of packing: an element is read as 4 bytes and written as 8. */
static double pack_time(const tsr_matmul_problem *p)
{
    static const double launches = 4300, bytes_ns = 3300;
    const double elements = ((double)p->m + (double)p->n) * (double)p->k;

    return launches + 12 * elements / bytes_ns;
}

/* Whether sums of parts fit beside the packed operands, of which an element takes 8 bytes
 * and its share of a flag.  In floating point, where nothing wraps. */
static bool fits_beside(const job *j, const cut *c)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const double rows = (double)p->m + (double)p->n + 2 * 256;

    return 9 * rows * ((double)p->k + 32) + (double)matmul_parts_workspace(p, c->k) <=
           (double)j->device->max_allocation;
}

/* The best number of parts for tiles of so many rows, where SPLIT does not set it: one, or as many
 * work-groups as fill half of the units, all, or all twice or four times. */
static cut cut_k(const job *j, size_t tile_m)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t set = param(j->params, "SPLIT"), tiles = tiles_of(j, tile_m);
    cut best = {tile_m, matmul_parts_cut(j, set, block_k(p))};

    for (unsigned halves = 1; !set && tiles && halves <= 8; halves *= 2) {
        const size_t parts = halves * j->device->compute_units / 2 / tiles;
        const cut c = {tile_m, matmul_parts_cut(j, parts, block_k(p))};

        if (cost(j, &c) < cost(j, &best) && fits_beside(j, &c))
            best = c;
    }
    return best;
}

/* What no tunable sets follows from the cost.  The registers hold the sums of 256 rows of 128. */
static cut cut_of(const job *j)
{
    const size_t set = param(j->params, "TILE_M");
    const cut small = cut_k(j, set ? set : 128);
    cut large;

    if (set || tile_n(j) > 128)
        return small;
    large = cut_k(j, 256);
    return cost(j, &large) < cost(j, &small) ? large : small;
}

/* The packed operands, and where they lie in the workspace, in bytes: after the parts' sums. */
typedef struct packing {
    size_t tile_m, tile_n;
    k_parts k;
    size_t rows, columns;    /* of tiles */
    size_t blocks;           /* along k, one a stage; 0 where there is nothing to multiply */
    size_t pieces_a, pieces; /* that work-groups pack: of A, of both */
    size_t images_a, images_b, flags, bytes;
} packing;

/* Pieces of so many tiles of `tile` rows, of blocks of `depth` along k. */
static size_t pieces(size_t tiles, size_t tile, size_t blocks, size_t depth, bool runs_along)
{
    return runs_along ? tiles * (tile / PIECE_ALONG) * size_div_up(blocks * depth, PIECE_ALONG)
                      : tiles * (tile / PIECE_ACROSS) * blocks;
}

static packing packing_of(const job *j, cut c)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t depth = block_k(p);
    packing x = {.tile_m = c.tile_m, .tile_n = tile_n(j), .k = c.k};

    x.rows = size_div_up(p->m, x.tile_m);
    x.columns = size_div_up(p->n, x.tile_n);
    x.blocks = matmul_alpha(p) == 0 ? 0 : size_div_up(p->k, depth);
    x.pieces_a = pieces(x.rows, x.tile_m, x.blocks, depth, !p->trans_a);
    x.pieces = x.pieces_a + pieces(x.columns, x.tile_n, x.blocks, depth, p->trans_b);
    x.images_a = size_round_up(matmul_parts_workspace(p, x.k), ROW_BYTES);
    x.images_b = x.images_a + x.rows * x.blocks * x.tile_m * ROW_BYTES;
    x.flags = x.images_b + x.columns * x.blocks * x.tile_n * ROW_BYTES;
    x.bytes = x.flags + x.pieces * sizeof(uint32_t);
    return x;
}

/* Whether 4 elements along k are 16 aligned bytes wherever they start. */
static bool along(matmul_matrix x)
{
    return matmul_starts_at(&x, 4);
}

/* ---- reasons ----------------------------------------------------------------------------- */

/* NULL, or why it is no product of float32, or too large. */
static const char *unsupported_problem(const tsr_matmul_problem *p, plan *out)
{
    if (p->type == TSR_F32)
        return matmul_unsupported_batch(p, out);
    return plan_unsupported(out, "it multiplies float32, not %s", tsr_type_name(p->type));
}

const char *matmul_unsupported_3xtf32(const tsr_matmul_problem *p, plan *out)
{
    const char *why = unsupported_problem(p, out);

    if (why)
        return why;
    if (!real_is_plain(p->type, p->precision))
        return plan_unsupported(out, "it computes f32 by three TF32 products, not %s",
                                tsr_precision_name(p->precision));
    if (p->k < MATMUL_THRICE_K_MIN)
        return plan_unsupported(out, "k is %zu, and below %d sums of FP32 are more exact", p->k,
                                MATMUL_THRICE_K_MIN);
    return NULL;
}

/* NULL, or why the device cannot: what both variants want of it. */
static const char *unsupported_device(const job *j, const cut *c, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t sides = c->tile_m + tile_n(j);
    const size_t local = param(j->params, "STAGES") * sides * ROW_BYTES + ALIGNMENT;
    const char *why;

    if (sides > 384)
        return "the sums of a tile of 256 x 256 are more than the registers hold";
    why = plan_unsupported_local(out, local, j->device->large_local);
    if (why)
        return why;
    /* In floating point first, where no product wraps. */
    why = plan_unsupported_buffer(out, j->device, "workspace",
                                  8 * ((double)p->m + (double)p->n) * (double)p->k);
    return why ? why
               : plan_unsupported_buffer(out, j->device, "workspace",
                                         (double)packing_of(j, *c).bytes);
}

/* ---- commands ---------------------------------------------------------------------------- */

/* The scalars of a call, as cl/matmul/matmul_wgmma.cl has them. */
typedef struct packed_call {
    uint64_t images_a, images_b, flags;
    uint32_t blocks, span, pieces_a;
    uint32_t zero; /* what would be padding: plans of one job are the same to the byte */
    matmul_call product;
} packed_call;

_Static_assert(offsetof(packed_call, product) == 40 && sizeof(packed_call) <= BLOCK_BYTES_MAX,
               "as OpenCL C lays it out, and no larger than a command's");

static void pass(command *c, const packing *x, const matmul_call *product, size_t span)
{
    const packed_call call = {.images_a = x->images_a,
                              .images_b = x->images_b,
                              .flags = x->flags,
                              .blocks = (uint32_t)x->blocks,
                              .span = (uint32_t)span,
                              .pieces_a = (uint32_t)x->pieces_a,
                              .product = *product};

    command_block(c, &call, offsetof(packed_call, product.scale) + sizeof(call.product.scale.f32));
}

static void pack(const tsr_matmul_problem *p, const packing *x, plan *out)
{
    const matmul_call product = matmul_call_of(p);
    command *c = plan_launch_1d(out, PACK, x->pieces * PACK_ITEMS, PACK_ITEMS);

    matmul_factors(c, false);
    command_workspace(c);
    pass(c, x, &product, x->blocks);
}

/* Into C, or, part by part, into the workspace. */
static void multiply(const tsr_matmul_problem *p, const packing *x, plan *out)
{
    const bool splits = x->k.parts > 1;
    const matmul_call product = splits ? matmul_call_of_parts(p, 1) : matmul_call_of(p);
    command *c = plan_launch_1d(out, MULTIPLY, x->rows * x->columns * x->k.parts * ITEMS, ITEMS);

    matmul_factors(c, false);
    if (splits)
        command_workspace(c);
    else
        command_operand(c, MATMUL_C);
    command_workspace(c);
    command_strict_counter(c);
    pass(c, x, &product, splits ? x->k.span / block_k(p) : x->blocks);
}

/* What both variants do.  Products of a batch run one after another, and what the first needs, all
 * do. */
static const char *plan_wgmma(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const cut c = cut_of(j);
    const char *why = unsupported_device(j, &c, out);
    packing x;

    if (why)
        return why;
    x = packing_of(j, c);
    plan_set(out, "TILE_M", (uint32_t)c.tile_m);
    plan_set(out, "SPLIT", (uint32_t)c.k.parts);
    matmul_define_operands(p, out);
    matmul_define_parts(p, out);
    plan_define(out, "PRODUCTS=%u", products(p));
    plan_define(out, "BLOCK_K=%zu", block_k(p));
    plan_define(out, "ROW_BYTES=%d", ROW_BYTES);
    plan_define(out, "CONSUMERS=%d", CONSUMERS);
    plan_define(out, "PRODUCERS=%d", PRODUCERS);
    plan_define(out, "PACK_ITEMS=%d", PACK_ITEMS);
    plan_define(out, "PIECE_ALONG=%d", PIECE_ALONG);
    plan_define(out, "PIECE_ACROSS=%d", PIECE_ACROSS);
    plan_define(out, "ALONG_A=%d", along(matmul_matrix_a(p)));
    plan_define(out, "ALONG_B=%d", along(matmul_matrix_b(p)));
    if (products(p) == 3)
        plan_define(out, "TILE_N=%zu", x.tile_n);
    out->workspace = x.bytes;
    if (p->m == 0 || p->n == 0)
        return NULL;
    for (size_t e = 0; e < matmul_batch(p); e++) {
        const tsr_matmul_problem one = matmul_product(p, e);

        if (x.blocks)
            pack(&one, &x, out);
        multiply(&one, &x, out);
        if (x.k.parts > 1)
            matmul_parts_sum(j, &one, x.k, SUM, out);
    }
    return NULL;
}

static const char *plan_tf32(const job *j, plan *out)
{
    const tsr_matmul_problem first = matmul_product(matmul_of(j->problem), 0);
    const char *why = unsupported_problem(&first, out);

    if (!why && first.precision != TSR_PRECISION_TF32)
        why = "it computes in TF32, which --precision tf32 asks for";
    return why ? why : plan_wgmma(j, out);
}

const variant matmul_wgmma_tf32 = {
    .name = "wgmma-tf32",
    .idea = "Hopper's matrix units on packed tiles: a producer copies, two warp groups multiply",
    .answers = 1u << CAUSE_UNITS,
    .source = "matmul/matmul_wgmma.cl",
    .entries = {"matmul_wgmma_pack", "matmul_wgmma", "matmul_sum_parts"},
    .needs = 1u << FEATURE_WGMMA | 1u << FEATURE_LARGE_LOCAL,
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables),
    .plan = plan_tf32};

static const char *plan_3xtf32(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const tsr_matmul_problem first = matmul_product(p, 0);
    const char *why = matmul_unsupported_3xtf32(&first, out);

    if (!why)
        why = plan_wgmma(j, out);
    if (!why && matmul_k_read(p))
        out->tiles = size_div_up(p->m, param(&out->params, "TILE_M")) *
                     size_div_up(p->n, tile_n(j)) * matmul_batch(p);
    return why;
}

double matmul_wgmma_3xtf32_time(const problem *q, const device_facts *d)
{
    const params defaults = params_default(&matmul_wgmma_3xtf32);
    const device_facts known = matmul_known(d);
    const job j = {q, &known, &defaults, false};
    const cut c = cut_of(&j);

    return pack_time(matmul_of(q)) + cost(&j, &c);
}

const variant matmul_wgmma_3xtf32 = {
    .name = "wgmma-3xtf32",
    .idea = "FP32 by three TF32 products, sums promoted to FP32 every 16 along k",
    .answers = 1u << CAUSE_UNITS,
    .source = "matmul/matmul_wgmma.cl",
    .entries = {"matmul_wgmma_pack", "matmul_wgmma", "matmul_sum_parts"},
    .needs = 1u << FEATURE_WGMMA | 1u << FEATURE_LARGE_LOCAL,
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables) - 1,
    .plan = plan_3xtf32};
