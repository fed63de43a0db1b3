#include "ops/matmul/matmul_wgmma.h"

#include "base/sizes.h"
#include "ops/matmul/matmul_parts.h"
#include "ops/matmul/matmul_shape.h"
#include "ops/matmul/matmul_steps.h"

/* As cl/matmul/matmul_wgmma.cl has them. */
enum {
    ROW_BYTES = 128,
    ITEMS = 384,
    PACK_ITEMS = 256,
    ALIGNMENT = 2048 /* of tiles in local memory, and barriers beside them */
};

/* Below this k, chains of FP32 multiply-adds are as exact and lose no time to packing. */
enum { K_MIN = 64 };

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

/* Nanoseconds, measured on an H200. */
static double cost(const job *j, const cut *c)
{
    static const double group_ends = 4500; /* for a work-group to begin and end */
    static const double k_128 = 9.5;       /* for each k of a product of 128 x 128 */
    static const double k_256 = 2.15;      /* the same for 256 rows, in times of that */
    static const double launch = 5000;     /* of adding up parts */
    static const double bytes_ns = 3500;   /* sums are written and read at, by the cache */
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t units = size_max(j->device->compute_units, 1);
    const size_t waves = size_div_up(tiles_of(j, c->tile_m) * c->k.parts, units);
    const size_t steps = c->k.span * products(p) * (tile_n(j) / 128);
    const double group = group_ends + k_128 * (c->tile_m == 256 ? k_256 : 1) * (double)steps;
    const double sums = (double)c->k.parts * (double)p->m * (double)p->n;

    return (double)waves * group +
           (c->k.parts > 1 ? launch + sums * 2 * sizeof(float) / bytes_ns : 0);
}

/* Whether sums of parts find room beside the packed operands, of which an element takes 8 bytes
 * and its share of a flag.  In floating point, where nothing wraps. */
static bool has_room(const job *j, const cut *c)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const double rows = (double)p->m + (double)p->n + 2 * 256;

    return 9 * rows * ((double)p->k + 32) + (double)matmul_parts_workspace(j, c->k) <=
           (double)j->device->max_allocation;
}

/* The best number of parts for tiles of so many rows, where it is not told: one, or as many
 * work-groups as fill half of the units, all, or all twice or four times. */
static cut cut_k(const job *j, size_t tile_m)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t told = param(j->params, "SPLIT"), tiles = tiles_of(j, tile_m);
    cut best = {tile_m, matmul_parts_cut(j, told, block_k(p))};

    for (unsigned halves = 1; !told && tiles && halves <= 8; halves *= 2) {
        const size_t parts = halves * j->device->compute_units / 2 / tiles;
        const cut c = {tile_m, matmul_parts_cut(j, parts, block_k(p))};

        if (cost(j, &c) < cost(j, &best) && has_room(j, &c))
            best = c;
    }
    return best;
}

/* What is not told follows from the cost.  The registers hold the sums of 256 rows of 128. */
static cut cut_of(const job *j)
{
    const size_t told = param(j->params, "TILE_M");
    const cut small = cut_k(j, told ? told : 128);
    cut large;

    if (told || tile_n(j) > 128)
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

/* Pieces of so many tiles of `tile` rows: 32 rows by 32 along k, or 128 rows by a block of
 * `depth`. */
static size_t pieces(size_t tiles, size_t tile, size_t blocks, size_t depth, bool runs_along)
{
    return runs_along ? tiles * (tile / 32) * size_div_up(blocks * depth, 32)
                      : tiles * (tile / 128) * blocks;
}

static packing packing_of(const job *j)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t depth = block_k(p);
    const cut c = cut_of(j);
    packing x = {.tile_m = c.tile_m, .tile_n = tile_n(j), .k = c.k};

    x.rows = size_div_up(p->m, x.tile_m);
    x.columns = size_div_up(p->n, x.tile_n);
    x.blocks = matmul_alpha(p) == 0 ? 0 : size_div_up(p->k, depth);
    x.pieces_a = pieces(x.rows, x.tile_m, x.blocks, depth, !p->trans_a);
    x.pieces = x.pieces_a + pieces(x.columns, x.tile_n, x.blocks, depth, p->trans_b);
    x.images_a = size_round_up(matmul_parts_workspace(j, x.k), ROW_BYTES);
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

void matmul_wgmma_defines(const job *j, text *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    matmul_defines_operands(p, out);
    text_format(out, " -DPRODUCTS=%u -DALONG_A=%d -DALONG_B=%d", products(p),
                along(matmul_matrix_a(p)), along(matmul_matrix_b(p)));
    if (param(j->params, "TILE_M") == 0)
        text_format(out, " -DTILE_M=%zu", cut_of(j).tile_m);
    if (products(p) == 3)
        text_format(out, " -DTILE_N=%zu", tile_n(j));
}

/* What both variants want of the device. */
static const char *unsupported(const job *j, text *reason)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t sides = cut_of(j).tile_m + tile_n(j);
    const size_t local = param(j->params, "STAGES") * sides * ROW_BYTES + ALIGNMENT;
    const char *why;

    if (sides > 384)
        return "the sums of a tile of 256 x 256 are more than the registers hold";
    why = matmul_unsupported_local(j, local, reason);
    if (why)
        return why;
    /* In floating point first, where no product wraps. */
    if (8 * ((double)p->m + (double)p->n) * (double)p->k > (double)j->device->max_allocation ||
        packing_of(j).bytes > j->device->max_allocation) {
        text_format(reason,
                    "its packed operands and sums take more than the %llu bytes of an allocation",
                    (unsigned long long)j->device->max_allocation);
        return text_get(reason);
    }
    return NULL;
}

/* NULL, or why it is no product of float32, or too large. */
static const char *unsupported_problem(const tsr_matmul_problem *p, text *reason)
{
    if (p->type == TSR_F32)
        return matmul_unsupported_sizes(p, reason);
    text_format(reason, "it multiplies float32, not %s", tsr_type_name(p->type));
    return text_get(reason);
}

const char *matmul_wgmma_unsupported_split(const tsr_matmul_problem *p, text *reason)
{
    const char *why = unsupported_problem(p, reason);

    if (why)
        return why;
    if (!real_is_plain(p->type, p->precision)) {
        text_format(reason, "it gives f32 by three TF32 products, not %s",
                    tsr_precision_name(p->precision));
        return text_get(reason);
    }
    if (p->k < K_MIN) {
        text_format(reason, "k is %zu, and below %d sums of FP32 are more exact", p->k, K_MIN);
        return text_get(reason);
    }
    return NULL;
}

const char *matmul_wgmma_unsupported_f32(const job *j, text *reason)
{
    /* Products of a batch run one after another: what the first wants, all do. */
    const tsr_matmul_problem first = matmul_product(matmul_of(j->problem), 0);
    const char *why = matmul_wgmma_unsupported_split(&first, reason);

    return why ? why : unsupported(j, reason);
}

const char *matmul_wgmma_unsupported_tf32(const job *j, text *reason)
{
    const tsr_matmul_problem first = matmul_product(matmul_of(j->problem), 0);
    const char *why = unsupported_problem(&first, reason);

    if (!why && first.precision != TSR_PRECISION_TF32)
        why = "it computes in TF32, which --precision tf32 asks for";
    return why ? why : unsupported(j, reason);
}

size_t matmul_wgmma_workspace(const job *j)
{
    return packing_of(j).bytes;
}

size_t matmul_wgmma_tiles_f32(const job *j)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const packing x = packing_of(j);

    return x.blocks ? x.rows * x.columns * matmul_batch(p) : 0;
}

/* The arguments that tell where the packed operands are. */
static void images(const packing *x, command *out)
{
    command_workspace(out);
    command_u64(out, x->images_a);
    command_u64(out, x->images_b);
    command_u64(out, x->flags);
}

static void pack(const tsr_matmul_problem *p, const packing *x, command *out)
{
    command_launch_1d(out, WGMMA_PACK, x->pieces * PACK_ITEMS, PACK_ITEMS);
    command_u32(out, (uint32_t)p->m);
    command_u32(out, (uint32_t)p->n);
    command_u32(out, (uint32_t)p->k);
    command_u32(out, (uint32_t)x->blocks);
    command_u32(out, (uint32_t)x->pieces_a);
    matmul_step_inputs(out, p);
    images(x, out);
}

/* Into C, or, part by part, into the workspace. */
static void multiply(const tsr_matmul_problem *p, const packing *x, command *out)
{
    const bool splits = x->k.parts > 1;
    const size_t span = splits ? x->k.span / block_k(p) : x->blocks;

    command_launch_1d(out, WGMMA_MULTIPLY, x->rows * x->columns * x->k.parts * ITEMS, ITEMS);
    command_u32(out, (uint32_t)p->m);
    command_u32(out, (uint32_t)p->n);
    command_u32(out, x->blocks ? (uint32_t)p->k : 0);
    command_u32(out, (uint32_t)x->blocks);
    command_u32(out, (uint32_t)span);
    command_u32(out, (uint32_t)x->pieces_a);
    command_real(out, p->type, splits ? 1 : matmul_alpha(p));
    matmul_step_inputs(out, p);
    if (splits)
        matmul_step_parts(out, p);
    else
        matmul_step_output(out, p);
    images(x, out);
    command_strict_counter(out);
}

/* Of one product. */
static bool step_of(const job *j, size_t i, command *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const packing x = packing_of(j);

    if (p->m == 0 || p->n == 0)
        return false;
    if (x.blocks && i == 0)
        pack(p, &x, out);
    else if (i == (x.blocks ? 1 : 0))
        multiply(p, &x, out);
    else if (x.k.parts > 1 && i == 2)
        matmul_parts_sum(j, x.k, WGMMA_SUM, out);
    else
        return false;
    return true;
}

bool matmul_wgmma_step(const job *j, size_t i, command *out)
{
    return matmul_step_each(j, i, out, step_of);
}
