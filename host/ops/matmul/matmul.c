/* The operation matmul: C := alpha op(A) op(B) + beta C, and the table of its variants. */
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "core/groups.h"
#include "core/last_group.h"
#include "core/real.h"
#include "core/variant.h"
#include "ops/matmul/matmul_async.h"
#include "ops/matmul/matmul_batched.h"
#include "ops/matmul/matmul_copied.h"
#include "ops/matmul/matmul_fields.h"
#include "ops/matmul/matmul_host.h"
#include "ops/matmul/matmul_panels.h"
#include "ops/matmul/matmul_partition.h"
#include "ops/matmul/matmul_pipelined.h"
#include "ops/matmul/matmul_proof.h"
#include "ops/matmul/matmul_registers.h"
#include "ops/matmul/matmul_shape.h"
#include "ops/matmul/matmul_steps.h"
#include "ops/matmul/matmul_subgroup.h"
#include "ops/matmul/matmul_tensor.h"
#include "ops/matmul/matmul_wgmma.h"
#include "ops/matmul/matmul_wgmma_fused.h"

/* ---- shapes and sizes -------------------------------------------------------------------- */

static tsr_status check_apart(const tsr_matmul_problem *p, const matmul_matrix *c, tsr_error *err)
{
    size_t one;

    if (view_apart(c, matmul_batch(p)))
        return TSR_OK;
    view_span(c, &one);
    return tsr_fail(err, TSR_EINVAL, 0,
                    "matmul: the %zu matrices of C overlap: stride_c is %zu, and each takes %zu "
                    "elements",
                    matmul_batch(p), c->stride, one);
}

static tsr_status check_matrix(const char *name, const matmul_matrix *x, tsr_layout layout,
                               tsr_error *err)
{
    const bool turned = layout == TSR_COLUMN_MAJOR;
    size_t bytes;

    if (x->ld < x->length)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "matmul: the leading dimension of %s is %zu and it has %zu %s", name, x->ld,
                        x->length, turned ? "rows" : "columns");
    if (!view_extent(x, &bytes))
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "matmul: %s of %zu x %zu (leading dimension %zu, offset %zu, %zu of them "
                        "with stride %zu) exceeds %zu bytes",
                        name, turned ? x->length : x->lines, turned ? x->lines : x->length, x->ld,
                        x->offset, x->count, x->stride, SIZE_MAX);
    return TSR_OK;
}

static tsr_status check(const problem *q, tsr_error *err)
{
    const tsr_matmul_problem *p = matmul_of(q);
    const matmul_matrix a = matmul_matrix_a(p), b = matmul_matrix_b(p), c = matmul_matrix_c(p);
    tsr_status st = real_check("matmul", p->type, p->precision, err);

    if (st == TSR_OK && p->c_f32 && p->type == TSR_F64)
        st = tsr_fail(err, TSR_EINVAL, 0, "matmul: C is float64 where the operands are");
    if (st == TSR_OK && p->layout != TSR_ROW_MAJOR && p->layout != TSR_COLUMN_MAJOR)
        st = tsr_fail(err, TSR_EINVAL, 0, "matmul: no layout has the number %d", (int)p->layout);
    if (st == TSR_OK)
        st = real_check_scales("matmul", real_sums(p->type), p->alpha, p->beta, err);
    if (st == TSR_OK)
        st = check_matrix("A", &a, p->layout, err);
    if (st == TSR_OK)
        st = check_matrix("B", &b, p->layout, err);
    if (st == TSR_OK)
        st = check_matrix("C", &c, p->layout, err);
    if (st == TSR_OK)
        st = check_apart(p, &c, err);
    return st;
}

/* C^T = op(B)^T op(A)^T, and what is column-major is the transpose of what is row-major in the same
 * place: A and B change places, and so do m and n. */
static void normalize(problem *q, unsigned order[OPERANDS_MAX])
{
    const tsr_matmul_problem given = *matmul_of(q);
    tsr_matmul_problem *p = matmul_in(q);

    if (given.layout == TSR_ROW_MAJOR)
        return;
    p->layout = TSR_ROW_MAJOR;
    p->m = given.n;
    p->n = given.m;
    p->trans_a = given.trans_b;
    p->trans_b = given.trans_a;
    p->lda = given.ldb;
    p->ldb = given.lda;
    p->offset_a = given.offset_b;
    p->offset_b = given.offset_a;
    p->stride_a = given.stride_b;
    p->stride_b = given.stride_a;
    order[MATMUL_A] = MATMUL_B;
    order[MATMUL_B] = MATMUL_A;
}

static size_t operands(const problem *q, operand out[OPERANDS_MAX])
{
    const tsr_matmul_problem *p = matmul_of(q);
    const matmul_matrix a = matmul_matrix_a(p), b = matmul_matrix_b(p), c = matmul_matrix_c(p);
    const bool overwrites = matmul_beta(p) == 0;

    out[MATMUL_A] = view_operand("A", &a, ACCESS_READ);
    out[MATMUL_B] = view_operand("B", &b, ACCESS_READ);
    out[MATMUL_C] = view_operand("C", &c, overwrites ? ACCESS_WRITE : ACCESS_READ_WRITE);
    out[MATMUL_C].whole = overwrites && view_gapless(&c);
    if (matmul_alpha(p) == 0 || p->m == 0 || p->n == 0)
        out[MATMUL_A].bytes = out[MATMUL_B].bytes = 0; /* neither is read */
    return 3;
}

static double work(const problem *q)
{
    const tsr_matmul_problem *p = matmul_of(q);

    return 2.0 * (double)p->m * (double)p->n * (double)p->k * (double)matmul_batch(p);
}

static double bytes(const problem *q)
{
    const tsr_matmul_problem *p = matmul_of(q);
    const matmul_matrix a = matmul_matrix_a(p), b = matmul_matrix_b(p), c = matmul_matrix_c(p);
    const double read = matmul_alpha(p) == 0 ? 0 : view_elements(&a) + view_elements(&b);

    return (double)tsr_type_size(p->type) * read +
           (double)tsr_type_size(c.type) * view_elements(&c) * (matmul_beta(p) == 0 ? 1 : 2);
}

/* Whether products follow one another without a gap, or there is one. */
static bool is_dense(const matmul_matrix *x, size_t batch)
{
    return batch == 1 || x->stride == x->lines * x->ld;
}

static void describe(const problem *q, text *out)
{
    const tsr_matmul_problem *p = matmul_of(q);
    const matmul_matrix a = matmul_matrix_a(p), b = matmul_matrix_b(p), c = matmul_matrix_c(p);
    const size_t batch = matmul_batch(p);

    text_format(out, "%zux%zux%zu %s", p->m, p->n, p->k, tsr_type_name(p->type));
    if (c.type != p->type)
        text_format(out, " to %s", tsr_type_name(c.type));
    if (batch > 1)
        text_format(out, " x %zu", batch);
    if (!real_is_plain(p->type, p->precision))
        text_format(out, " %s", tsr_precision_name(p->precision));
    text_format(out, "%s%s%s", p->layout == TSR_COLUMN_MAJOR ? " column-major" : "",
                p->trans_a ? " A^T" : "", p->trans_b ? " B^T" : "");
    if (matmul_alpha(p) != 1 || matmul_beta(p) != 0)
        text_format(out, " alpha %g beta %g", p->alpha, p->beta);
    if (a.ld != a.length || b.ld != b.length || c.ld != c.length)
        text_format(out, " ld %zu %zu %zu", a.ld, b.ld, c.ld);
    if (p->offset_a || p->offset_b || p->offset_c)
        text_format(out, " offsets %zu %zu %zu", p->offset_a, p->offset_b, p->offset_c);
    if (!is_dense(&a, batch) || !is_dense(&b, batch) || !is_dense(&c, batch))
        text_format(out, " strides %zu %zu %zu", a.stride, b.stride, c.stride);
}

/* The power of two nearest below: problems between two of them are tuned alike. */
static size_t magnitude(size_t n)
{
    size_t p = 1;

    while (n > 1) {
        n /= 2;
        p *= 2;
    }
    return p;
}

static void classify(const problem *q, text *out)
{
    const tsr_matmul_problem *p = matmul_of(q);

    text_append(out, tsr_type_name(p->type));
    if (matmul_type_c(p) != p->type)
        text_format(out, " to %s", tsr_type_name(matmul_type_c(p)));
    if (matmul_batch(p) > 1)
        text_format(out, " x%zu", magnitude(matmul_batch(p)));
    if (!real_is_plain(p->type, p->precision))
        text_format(out, " %s", tsr_precision_name(p->precision));
    text_format(out, " %c%c %zux%zux%zu", p->trans_a ? 't' : 'n', p->trans_b ? 't' : 'n',
                magnitude(p->m), magnitude(p->n), magnitude(p->k));
}

/* ---- variants on a device ---------------------------------------------------------------- */

static void defines(const job *j, text *out)
{
    matmul_defines_operands(matmul_of(j->problem), out);
}

static void defines_rounding(const job *j, text *out)
{
    matmul_defines_rounding(matmul_of(j->problem), out);
}

/* NULL, or why not: work-groups of side x side with `local` bytes of local memory. */
static const char *unsupported_group(const job *j, size_t side, size_t local, text *reason)
{
    return matmul_unsupported_group(j, side, side, local, reason);
}

/* The one launch that every kernel of the ladder is: a grid of groups of side x side that each
 * cover tile x tile outputs, a layer of it for each product. */
static bool launch(const job *j, size_t i, size_t side, size_t tile, command *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    if (i > 0 || p->m == 0 || p->n == 0)
        return false;
    command_launch_2d(out, 0, size_div_up(p->n, tile) * side, size_div_up(p->m, tile) * side, side,
                      side);
    matmul_step_layers(out, matmul_batch(p));
    matmul_step_product(out, p);
    matmul_step_strides(out, p);
    return true;
}

/* In groups of 16 x 16, or smaller where the device takes no such group. */
static bool coalesced_step(const job *j, size_t i, command *out)
{
    const size_t side = group_fit_square(j->device, 16);

    return launch(j, i, side, side, out);
}

/* The same with rows along x. */
static bool naive_step(const job *j, size_t i, command *out)
{
    size_t columns;

    if (!coalesced_step(j, i, out))
        return false;
    columns = out->global[0];
    out->global[0] = out->global[1];
    out->global[1] = columns;
    return true;
}

static const tunable tiled_tunables[] = {
    {"TILE",
     "side of the tiles and of the work-group: more reuse against more local memory",
     {8, 16, 32},
     16},
};

static const char *tiled_unsupported(const job *j, text *reason)
{
    const size_t tile = param(j->params, "TILE");
    problem plain = *j->problem;

    matmul_in(&plain)->precision = TSR_PRECISION_DEFAULT; /* the kernel rounds */
    return unsupported_group(&(job){&plain, j->device, j->params, false}, tile,
                             2 * tile * tile * matmul_real_size(matmul_of(j->problem)), reason);
}

static bool tiled_step(const job *j, size_t i, command *out)
{
    const size_t tile = param(j->params, "TILE");

    return launch(j, i, tile, tile, out);
}

static const tunable block_column_tunables[] = {
    {"TILE", "side of the tiles of C: more reuse against more local memory", {32, 64}, 64, 32},
    {"BLOCK", "outputs of a work-item: reuse against registers and work-items", {4, 8, 16}, 8, 16},
    {"DEPTH", "extent of the tiles along k: fewer barriers against local memory", {8, 16, 32}, 16},
};

static const char *block_column_unsupported(const job *j, text *reason)
{
    const size_t tile = param(j->params, "TILE");
    const size_t elements = 2 * param(j->params, "DEPTH") * tile;

    return matmul_unsupported_group(j, tile, tile / param(j->params, "BLOCK"),
                                    elements * matmul_real_size(matmul_of(j->problem)), reason);
}

static bool block_column_step(const job *j, size_t i, command *out)
{
    const size_t tile = param(j->params, "TILE");

    if (!launch(j, i, tile, tile, out))
        return false;
    out->global[1] /= param(j->params, "BLOCK");
    out->local[1] /= param(j->params, "BLOCK");
    return true;
}

static const tunable block_tunables[] = {
    {"SIDE", "work-items along each side of a work-group", {8, 16}, 16, 8},
    {"BLOCK", "outputs of a work-item along each side: reuse against registers", {2, 4, 8}, 4},
    {"DEPTH", "extent of the tiles along k: fewer barriers against local memory", {8, 16, 32}, 16},
};

static const char *block_unsupported(const job *j, text *reason)
{
    const size_t side = param(j->params, "SIDE");
    const size_t tile = side * param(j->params, "BLOCK");
    const size_t elements = 2 * param(j->params, "DEPTH") * tile;

    return unsupported_group(j, side, elements * matmul_real_size(matmul_of(j->problem)), reason);
}

static bool block_step(const job *j, size_t i, command *out)
{
    const size_t side = param(j->params, "SIDE");

    return launch(j, i, side, side * param(j->params, "BLOCK"), out);
}

/* swizzle has all but the last. */
static const tunable vector_tunables[] = {
    {"SIDE", "work-items along each side of a work-group", {8, 16}, 16, 8},
    {"BLOCK", "outputs of a work-item along each side: reuse against registers", {4, 8}, 4},
    {"DEPTH", "extent of the tiles along k: fewer barriers against local memory", {8, 16, 32}, 16},
    {"PAD", "vectors of 4 that pad each row of a tile against bank conflicts", {1, 2}, 1},
};

static const char *vector_unsupported(const job *j, text *reason)
{
    const size_t side = param(j->params, "SIDE");
    const size_t row = side * param(j->params, "BLOCK") + 4 * param(j->params, "PAD");
    const size_t elements = 2 * param(j->params, "DEPTH") * row;

    return unsupported_group(j, side, elements * matmul_real_size(matmul_of(j->problem)), reason);
}

static void vector_defines(const job *j, text *out)
{
    defines(j, out);
    text_append(out, " -DSWIZZLE=0");
}

static void swizzle_defines(const job *j, text *out)
{
    defines(j, out);
    text_append(out, " -DSWIZZLE=1");
}

static const tunable batched_tunables[] = {
    {"GROUP",
     "work-items of a group, that several products share: fewer groups against shorter waits",
     {32, 64, 128, 256},
     128,
     32},
    {"ROWS_MOST", "rows of sums of a work-item, where C has 4 times as many", {4, 8}, 8},
    {"COLUMNS_MOST", "columns of sums of a work-item, where C has 4 times as many", {4, 8}, 4},
    {"DEPTH_MOST",
     "largest extent of the tiles along k: more bytes under way against local memory",
     {16, 32, 64},
     64,
     16},
    {"STAGES", "2: tiles arrive while others are multiplied, in more registers", {1, 2}, 1},
};

static const tunable cpu_block_tunables[] = {
    {"ROWS",
     "rows of C in registers: each load of B serves them all; 0: as many as the device has",
     {0, 1, 2, 4, 6, 8},
     0},
    {"VECTORS",
     "vectors of columns in registers: each load of A serves them all; 0: likewise",
     {0, 1, 2, 3, 4},
     0},
    {"BITS", "width of a vector: several registers where they are narrower", {128, 256, 512}, 512},
};

static const char *cpu_block_unsupported(const job *j, text *reason)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    if (p->trans_b)
        return "B is transposed, and it reads rows of op(B) as vectors";
    return matmul_unsupported_rounding(j, reason);
}

static bool cpu_block_step(const job *j, size_t i, command *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    if (!launch(j, i, 1, 1, out))
        return false;
    out->global[0] = size_div_up(p->m, matmul_registers_rows(j));
    out->global[1] = size_div_up(p->n, matmul_registers_columns(j));
    return true;
}

/* cpu-panels has all but the last. */
static const tunable cpu_panels_tunables[] = {
    {"ROWS",
     "rows of C in registers: each load of B serves them all; 0: as many as the device has",
     {0, 4, 6, 8, 12},
     0},
    {"VECTORS",
     "vectors of columns in registers: each load of A serves them all; 0: likewise",
     {0, 1, 2, 3, 4},
     0},
    {"BITS", "width of a vector: several registers where they are narrower", {128, 256, 512}, 512},
    {"PANELS", "panels that a work-item copies: A is read less often", {1, 2, 4, 8, 16}, 4, 1},
    {"DEPTH", "rows of a panel: C is added to less often", {16, 64, 256, 512, 1024}, 1024, 16},
    {"SPAN", "extent of k that is worth a part of its own", {8, 64, 256, 1024}, 256, 8},
};

static const tunable mma_tunables[] = {
    {"DEPTH", "extent of the tiles along k: fewer barriers against registers", {16, 32}, 16},
};

static void mma_defines(const job *j, text *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    defines(j, out);
    text_format(out, " -DALIGNED_A=%d -DALIGNED_B=%d", matmul_aligned(j, matmul_matrix_a(p)),
                matmul_aligned(j, matmul_matrix_b(p)));
}

/* Bytes of two tiles of an operand: 128 lines along k, or DEPTH across it, and their padding. */
static size_t mma_local(const job *j, bool along)
{
    const size_t depth = param(j->params, "DEPTH");
    const size_t size = tsr_type_size(matmul_of(j->problem)->type);

    return 2 * size * (along ? 128 * (depth + 4) : depth * (128 + 32 / size));
}

/* Whether this device has the instructions of a compute capability, and local memory. */
static const char *mma_unsupported_here(const job *j, unsigned least, size_t local, text *reason)
{
    const char *why;

    if (j->device->nv_capability < least) {
        text_format(reason, "its instructions come with compute capability %u.%u, this is %u.%u",
                    least / 10, least % 10, j->device->nv_capability / 10,
                    j->device->nv_capability % 10);
        return text_get(reason);
    }
    why = matmul_unsupported_bytes(local, j->device->large_local, reason);
    return why ? why : matmul_unsupported_rounding(j, reason);
}

/* Float32 goes in as TF32, float64 as it is; each from one chip on. */
static const char *mma_unsupported(const job *j, text *reason)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    if (p->type != TSR_F64 && p->precision != TSR_PRECISION_TF32)
        return "it rounds float32 to TF32, which --precision tf32 asks for";
    return mma_unsupported_here(j, p->type == TSR_F64 ? 90 : 80,
                                mma_local(j, !p->trans_a) + mma_local(j, p->trans_b), reason);
}

/* One group of 256 a tile of 128 x 128. */
static bool mma_step(const job *j, size_t i, command *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    if (!launch(j, i, 1, 1, out))
        return false;
    out->global[0] = size_div_up(p->n, 128) * 256;
    out->global[1] = size_div_up(p->m, 128);
    out->local[0] = 256;
    return true;
}

static const tunable mma_f64_tunables[] = {
    {"TILE_M", "rows of a work-group's tile: traffic against work-groups", {64, 128}, 128},
    {"TILE_N", "columns of a work-group's tile: fewer reads of A against B", {64, 128}, 128},
    {"STAGES", "blocks along k under way: latency hidden against local memory", {3, 4, 5}, 4},
    {"BAND", "rows of work-groups that run side by side: B shared against A", {1, 4, 8, 16}, 8},
};

/* Copies of 16 bytes take two elements. */
static void mma_f64_defines(const job *j, text *out)
{
    const matmul_matrix a = matmul_matrix_a(matmul_of(j->problem));
    const matmul_matrix b = matmul_matrix_b(matmul_of(j->problem));

    defines(j, out);
    text_format(out, " -DALIGNED_A=%d -DALIGNED_B=%d", matmul_starts_at(&a, 2),
                matmul_starts_at(&b, 2));
}

/* Bytes of a block of an operand, `side` across and 16 along k, and its padding. */
static size_t mma_f64_block(size_t side, bool along)
{
    return sizeof(double) * (along ? side * (16 + 4) : 16 * (side + 4));
}

static const char *mma_f64_unsupported(const job *j, text *reason)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t local =
        param(j->params, "STAGES") * (mma_f64_block(param(j->params, "TILE_M"), !p->trans_a) +
                                      mma_f64_block(param(j->params, "TILE_N"), p->trans_b));

    if (p->type != TSR_F64) {
        text_format(reason, "it multiplies float64, not %s", tsr_type_name(p->type));
        return text_get(reason);
    }
    return mma_unsupported_here(j, 90, local, reason);
}

static bool mma_f64_step(const job *j, size_t i, command *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t rows = param(j->params, "TILE_M"), columns = param(j->params, "TILE_N");

    if (!launch(j, i, 1, 1, out))
        return false;
    out->local[0] = rows * columns / 64;
    out->global[0] = size_div_up(p->m, rows) * size_div_up(p->n, columns) * out->local[0];
    out->global[1] = 1;
    return true;
}

/* The last is TF32's alone: three products leave it one value. */
static const tunable wgmma_tunables[] = {
    {"TILE_M", "rows of a work-group's tile: traffic against work-groups", {0, 128, 256}, 0},
    {"STAGES", "tiles of A and B under way: latency hidden against local memory", {2, 4, 6}, 4},
    {"BAND", "rows of work-groups that run side by side: B shared against A", {1, 4, 8, 16}, 8},
    {"SPLIT", "groups that share k: more of them against adding up", {0, 1, 2, 4, 8, 16, 32}, 0},
    {"TILE_N", "columns of a work-group's tile: fewer reads of A against B", {128, 256}, 128},
};

static const tunable tensor_tunables[] = {
    {"TILE_M", "rows of a work-group's tile: traffic against work-groups", {128, 256}, 128},
    {"TILE_N", "columns of a work-group's tile: fewer reads of A against B", {128, 192, 256}, 256},
    {"STAGES", "blocks of A and B under way: latency hidden against local memory", {3, 4, 6}, 4},
    {"BAND", "rows of work-groups that run side by side: B shared against A", {1, 4, 8, 16}, 8},
    {"PERSISTENT", "1: a work-group a compute unit takes tile after tile; 2: one each", {1, 2}, 1},
};

static const tunable wgmma_fused_tunables[] = {
    {"STAGES", "blocks along k under way: latency hidden against local memory", {4, 5, 6}, 6},
    {"BAND", "rows of work-groups that run side by side: B shared against A", {1, 4, 8, 16}, 8},
    {"COPY", "bytes of B that a copy brings: whole rows of a tile or vectors", {16, 1024}, 1024},
    {"ALIGN",
     "lines not aligned, 1: as they are, 2: copied first: workspace and a launch against small "
     "copies",
     {0, 1, 2},
     0},
};

/* ---- variants on the host ---------------------------------------------------------------- */

static const char *host_unsupported(const job *j, text *reason)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    return real_unsupported(p->type, TSR_PRECISION_DEFAULT, j->device, reason);
}

static const char *openmp_unsupported(const job *j, text *reason)
{
    return matmul_host_has_openmp() ? host_unsupported(j, reason) : "built without OpenMP";
}

static const variant *const variants[] = {
    &(const variant){.name = "ijk",
                     .idea =
                         "the definition as three loops: the inner one walks down a column of B",
                     .unsupported = host_unsupported,
                     .host = matmul_host_ijk},
    &(const variant){
        .name = "jik",
        .idea = "the same with columns outside: B's column is reused, each row of A is not",
        .unsupported = host_unsupported,
        .host = matmul_host_jik},
    &(const variant){
        .name = "ikj",
        .idea = "the inner loop runs along rows of B and C: every cache line is used whole",
        .unsupported = host_unsupported,
        .host = matmul_host_ikj},
    &(const variant){.name = "kij",
                     .idea = "row-wise too, but all of C passes through the cache for every p",
                     .unsupported = host_unsupported,
                     .host = matmul_host_kij},
    &(const variant){.name = "blocked",
                     .idea = "i-k-j on blocks of B that stay in the cache while all of A passes",
                     .unsupported = host_unsupported,
                     .host = matmul_host_blocked},
    &(const variant){.name = "openmp",
                     .idea = "the blocks on every core: strips of rows are shared out to threads",
                     .unsupported = openmp_unsupported,
                     .host = matmul_host_openmp},
    &(const variant){
        .name = "naive",
        .idea = "one work-item an output, straight from global memory, neighbours in a column",
        .source = "matmul/matmul_naive.cl",
        .entries = {"matmul_naive"},
        .defines = defines_rounding,
        .unsupported = matmul_unsupported_rounding,
        .step = naive_step},
    &(const variant){
        .name = "coalesced",
        .idea = "neighbours in a row: what they load of B and store in C are neighbours too",
        .source = "matmul/matmul_coalesced.cl",
        .entries = {"matmul_coalesced"},
        .defines = defines_rounding,
        .unsupported = matmul_unsupported_rounding,
        .step = coalesced_step},
    &(const variant){
        .name = "tiled",
        .idea = "square tiles of A and B in local memory: each load serves TILE work-items",
        .source = "matmul/matmul_tiled.cl",
        .entries = {"matmul_tiled"},
        .tunables = tiled_tunables,
        .tunable_count = ARRAY_COUNT(tiled_tunables),
        .defines = defines_rounding,
        .unsupported = tiled_unsupported,
        .step = tiled_step},
    &(const variant){.name = "block-column",
                     .idea =
                         "BLOCK outputs of a column a work-item: each load of B serves them all",
                     .source = "matmul/matmul_block_column.cl",
                     .entries = {"matmul_block_column"},
                     .tunables = block_column_tunables,
                     .tunable_count = ARRAY_COUNT(block_column_tunables),
                     .defines = defines,
                     .unsupported = block_column_unsupported,
                     .step = block_column_step},
    &(const variant){
        .name = "block",
        .idea = "BLOCK x BLOCK outputs a work-item: each local load serves BLOCK multiply-adds",
        .source = "matmul/matmul_block.cl",
        .entries = {"matmul_block"},
        .tunables = block_tunables,
        .tunable_count = ARRAY_COUNT(block_tunables),
        .defines = defines,
        .unsupported = block_unsupported,
        .step = block_step},
    &(const variant){
        .name = "vector",
        .idea = "four elements a load, and padded tiles so that fewer items meet in a bank",
        .source = "matmul/matmul_vector.cl",
        .entries = {"matmul_vector"},
        .tunables = vector_tunables,
        .tunable_count = ARRAY_COUNT(vector_tunables),
        .defines = vector_defines,
        .unsupported = vector_unsupported,
        .step = block_step},
    &(const variant){
        .name = "swizzle",
        .idea = "rows whose vectors change places by XOR, not padded: no two items meet in a bank",
        .source = "matmul/matmul_vector.cl",
        .entries = {"matmul_vector"},
        .tunables = vector_tunables,
        .tunable_count = ARRAY_COUNT(vector_tunables) - 1,
        .defines = swizzle_defines,
        .unsupported = block_unsupported,
        .step = block_step},
    &(const variant){
        .name = "pipelined",
        .idea =
            "up to 16 x 8 outputs a work-item; the next tiles arrive while these are multiplied",
        .source = "matmul/matmul_pipelined.cl",
        .entries = {"matmul_pipelined", "matmul_sum_parts"},
        .tunables = matmul_pipelined_tunables,
        .tunable_count = PIPELINED_TUNABLES,
        .defines = matmul_pipelined_defines,
        .unsupported = matmul_pipelined_unsupported,
        .workspace = matmul_pipelined_workspace,
        .step = matmul_pipelined_step},
    &(const variant){.name = "async",
                     .idea =
                         "OpenCL's own asynchronous copies bring tiles, and turn them on their way",
                     .source = "matmul/matmul_async.cl",
                     .entries = {"matmul_async"},
                     .tunables = matmul_async_tunables,
                     .tunable_count = ASYNC_TUNABLES,
                     .defines = matmul_async_defines,
                     .unsupported = matmul_async_unsupported,
                     .step = matmul_async_step},
    &(const variant){
        .name = "cp-async",
        .idea =
            "copies run tiles ahead without registers, which hold the next step's vectors instead",
        .source = "matmul/matmul_cp_async.cl",
        .entries = {"matmul_cp_async", "matmul_sum_parts"},
        .needs = 1u << FEATURE_ASYNC_COPY | 1u << FEATURE_LARGE_LOCAL,
        .tunables = matmul_cp_async_tunables,
        .tunable_count = COPIED_TUNABLES,
        .defines = matmul_cp_async_defines,
        .unsupported = matmul_cp_async_unsupported,
        .workspace = matmul_cp_async_workspace,
        .step = matmul_cp_async_step},
    &(const variant){
        .name = "stream-k",
        .idea =
            "every group multiplies as many steps along k, across tiles: no unit waits at the end",
        .source = "matmul/matmul_stream.cl",
        .entries = {"matmul_stream"},
        .needs = 1u << FEATURE_ASYNC_COPY | 1u << FEATURE_LARGE_LOCAL,
        .uses = LAST_GROUP_USES,
        .group_counters = true,
        .tunables = matmul_stream_tunables,
        .tunable_count = COPIED_TUNABLES,
        .defines = matmul_stream_defines,
        .unsupported = matmul_stream_unsupported,
        .workspace = matmul_stream_workspace,
        .step = matmul_stream_step},
    &(const variant){
        .name = "subgroup",
        .idea = "lanes of a sub-group hand on what they hold of A: no local memory, no barrier",
        .source = "matmul/matmul_subgroup.cl",
        .entries = {"matmul_subgroup"},
        .build = "-cl-std=%CLC%",
        .needs = 1u << FEATURE_SUBGROUPS,
        .tunables = matmul_subgroup_tunables,
        .tunable_count = SUBGROUP_TUNABLES,
        .defines = matmul_subgroup_defines,
        .unsupported = matmul_subgroup_unsupported,
        .step = matmul_subgroup_step},
    &(const variant){.name = "shfl",
                     .idea = "the same in a warp: NVIDIA's shuffle by inline PTX",
                     .source = "matmul/matmul_subgroup.cl",
                     .entries = {"matmul_subgroup"},
                     .needs = 1u << FEATURE_PTX,
                     .tunables = matmul_subgroup_tunables,
                     .tunable_count = SUBGROUP_TUNABLES,
                     .defines = matmul_shfl_defines,
                     .unsupported = matmul_subgroup_unsupported,
                     .step = matmul_shfl_step},
    &(const variant){.name = "batched",
                     .idea =
                         "small matrices, many products: whole ones in a group, read all at once",
                     .source = "matmul/matmul_batched.cl",
                     .entries = {"matmul_batched"},
                     .tunables = batched_tunables,
                     .tunable_count = ARRAY_COUNT(batched_tunables),
                     .defines = matmul_batched_defines,
                     .unsupported = matmul_batched_unsupported,
                     .step = matmul_batched_step},
    &(const variant){
        .name = "cpu-block",
        .alias = "item-block",
        .idea = "CPUs: a block of explicit vectors per work-item, no local memory and no barrier",
        .source = "matmul/matmul_cpu_block.cl",
        .entries = {"matmul_cpu_block"},
        .tunables = cpu_block_tunables,
        .tunable_count = ARRAY_COUNT(cpu_block_tunables),
        .defines = matmul_registers_defines,
        .unsupported = cpu_block_unsupported,
        .step = cpu_block_step},
    &(const variant){
        .name = "cpu-panels",
        .alias = "item-panels",
        .idea = "CPUs: blocks of B copied into panels, whose rows follow one another in the cache",
        .source = "matmul/matmul_cpu_panels.cl",
        .entries = {"matmul_cpu_panels"},
        .tunables = cpu_panels_tunables,
        .tunable_count = ARRAY_COUNT(cpu_panels_tunables) - 1,
        .defines = matmul_panels_defines,
        .unsupported = matmul_panels_unsupported,
        .step = matmul_panels_step},
    &(const variant){
        .name = "cpu-split",
        .alias = "item-split",
        .idea = "CPUs, small C and long k: work-items take parts of k too, and parts are added up",
        .source = "matmul/matmul_cpu_panels.cl",
        .entries = {"matmul_cpu_panels", "matmul_cpu_panels_sum"},
        .tunables = cpu_panels_tunables,
        .tunable_count = ARRAY_COUNT(cpu_panels_tunables),
        .defines = matmul_panels_defines_split,
        .unsupported = matmul_panels_unsupported_split,
        .workspace = matmul_panels_workspace_split,
        .step = matmul_panels_step_split},
    &(const variant){.name = "mma",
                     .idea = "a warp multiplies 16 x 8 blocks in one instruction: TF32, or FP64",
                     .source = "matmul/matmul_mma.cl",
                     .entries = {"matmul_mma"},
                     .needs = 1u << FEATURE_PTX | 1u << FEATURE_LARGE_LOCAL,
                     .tunables = mma_tunables,
                     .tunable_count = ARRAY_COUNT(mma_tunables),
                     .defines = mma_defines,
                     .unsupported = mma_unsupported,
                     .step = mma_step},
    &(const variant){
        .name = "mma-f64",
        .idea = "copies and fragments on their way while others are multiplied: no unit waits",
        .source = "matmul/matmul_mma_f64.cl",
        .entries = {"matmul_mma_f64"},
        .needs = 1u << FEATURE_PTX | 1u << FEATURE_LARGE_LOCAL,
        .tunables = mma_f64_tunables,
        .tunable_count = ARRAY_COUNT(mma_f64_tunables),
        .defines = mma_f64_defines,
        .unsupported = mma_f64_unsupported,
        .step = mma_f64_step},
    &(const variant){
        .name = "wgmma-tf32",
        .idea =
            "Hopper's matrix units on packed tiles: a producer copies, two warp groups multiply",
        .source = "matmul/matmul_wgmma.cl",
        .entries = {"matmul_wgmma_pack", "matmul_wgmma", "matmul_sum_parts"},
        .needs = 1u << FEATURE_WGMMA | 1u << FEATURE_LARGE_LOCAL,
        .tunables = wgmma_tunables,
        .tunable_count = ARRAY_COUNT(wgmma_tunables),
        .defines = matmul_wgmma_defines,
        .unsupported = matmul_wgmma_unsupported_tf32,
        .workspace = matmul_wgmma_workspace,
        .step = matmul_wgmma_step},
    &(const variant){
        .name = "wgmma-tensor",
        .idea =
            "the chip copies boxes of A and B by itself, with zeros beyond edges: TF32, BF16, FP16",
        .source = "matmul/matmul_tensor.cl",
        .entries = {"matmul_tensor_prepare", "matmul_tensor"},
        .needs = 1u << FEATURE_TENSOR_COPY | 1u << FEATURE_WGMMA | 1u << FEATURE_LARGE_LOCAL,
        .tunables = tensor_tunables,
        .tunable_count = ARRAY_COUNT(tensor_tunables),
        .defines = matmul_tensor_defines,
        .unsupported = matmul_tensor_unsupported,
        .workspace = matmul_tensor_workspace,
        .step = matmul_tensor_step},
    &(const variant){.name = "wgmma-3xtf32",
                     .idea = "FP32 by three TF32 products, sums promoted to FP32 every 16 along k",
                     .source = "matmul/matmul_wgmma.cl",
                     .entries = {"matmul_wgmma_pack", "matmul_wgmma", "matmul_sum_parts"},
                     .needs = 1u << FEATURE_WGMMA | 1u << FEATURE_LARGE_LOCAL,
                     .tunables = wgmma_tunables,
                     .tunable_count = ARRAY_COUNT(wgmma_tunables) - 1,
                     .defines = matmul_wgmma_defines,
                     .unsupported = matmul_wgmma_unsupported_f32,
                     .workspace = matmul_wgmma_workspace,
                     .tiles = matmul_wgmma_tiles_f32,
                     .step = matmul_wgmma_step},
    &(const variant){
        .name = "wgmma-3xtf32-fused",
        .idea = "the same without packing: producers split A, consumers B, on their way in",
        .source = "matmul/matmul_wgmma_fused.cl",
        .entries = {"matmul_align", "matmul_wgmma_fused"},
        .needs = 1u << FEATURE_WGMMA | 1u << FEATURE_LARGE_LOCAL,
        .tunables = wgmma_fused_tunables,
        .tunable_count = ARRAY_COUNT(wgmma_fused_tunables),
        .defines = matmul_wgmma_fused_defines,
        .unsupported = matmul_wgmma_fused_unsupported,
        .workspace = matmul_wgmma_fused_workspace,
        .tiles = matmul_wgmma_fused_tiles,
        .step = matmul_wgmma_fused_step},
};

static size_t names_copy(const char *const names[], size_t n, const char *out[PREFERENCES_MAX])
{
    memcpy(out, names, n * sizeof(*out));
    return n;
}

static size_t prefer_cpu(const tsr_matmul_problem *p, size_t cores, const char *out[])
{
    static const char *const packed[] = {"cpu-panels", "cpu-block", "cpu-split", "vector",
                                         "block",      "tiled",     "coalesced", "pipelined"};
    static const char *const direct[] = {"cpu-block", "cpu-panels", "cpu-split", "vector",
                                         "block",     "tiled",      "coalesced", "pipelined"};
    static const char *const split[] = {"cpu-split", "cpu-panels", "cpu-block", "vector",
                                        "block",     "tiled",      "coalesced", "pipelined"};
    const bool rounds = real_rounding(p->type, p->precision) > 0;
    const double columns = (double)p->n;
    const double outputs = (double)matmul_batch(p) * (double)p->m * columns;

    /* C of less than 2^14 outputs a core, and few rows, has too few tiles to share out. */
    if (p->k >= 1024 && p->m >= 16 && p->m <= 512 && outputs <= 0x1p14 * (double)cores)
        return names_copy(split, ARRAY_COUNT(split), out);
    /* Copying B pays where enough rows of A, or enough work, come after it, and where factors are
     * rounded as they are copied: else they are each time that they are read. */
    if (!rounds && columns >= 16 && (p->m < 16 || (double)p->m * columns * (double)p->k < 0x1p20))
        return names_copy(direct, ARRAY_COUNT(direct), out);
    /* Blocks along k do not add up in a C of 16 bits, but in the workspace of parts they do. */
    if (p->k > 1024 && tsr_type_size(matmul_type_c(p)) == 2)
        return names_copy(split, ARRAY_COUNT(split), out);
    return names_copy(packed, ARRAY_COUNT(packed), out);
}

/* Among chains of FP32 multiply-adds, whether copies beside the work-items gain: where large tiles
 * fill the device, and of less where there are tiles enough to hide latency, by themselves or by
 * sharing a long k. */
static bool gains_by_copies(const tsr_matmul_problem *p, const device_facts *d)
{
    return matmul_fills_large(p, d) || matmul_fills_wide(p, d) ||
           (p->k >= 2048 && p->m >= 64 && p->n >= 64 && (double)p->m * (double)p->n >= 128 * 128);
}

/* Names of variants, best first; "pipelined" stands for itself, "cp-async" and "stream-k". */
static size_t names_of_gpu(const char *const names[], size_t n, const tsr_matmul_problem *p,
                           const device_facts *d, const char *out[PREFERENCES_MAX])
{
    const bool copies = gains_by_copies(p, d), streams = matmul_stream_gains(p, d);
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        if (strcmp(names[i], "pipelined") != 0) {
            out[count++] = names[i];
            continue;
        }
        if (streams)
            out[count++] = "stream-k";
        out[count++] = copies ? "cp-async" : "pipelined";
        out[count++] = copies ? "pipelined" : "cp-async";
        if (!streams)
            out[count++] = "stream-k";
    }
    return count;
}

/* Whether packing for the matrix units does, beside chains of FP32 multiply-adds: from a C whose
 * tiles fill half the device on, and where groups share the long k of one product.  At a k much
 * below 1000 cuBLAS, which shares it too, would be more exact: docs/matmul.md. */
static bool packing_pays(const tsr_matmul_problem *p)
{
    const double outputs = (double)p->m * (double)p->n;

    return outputs >= 0x1p20 || (matmul_batch(p) == 1 && p->k >= 1000 && outputs >= 0x1p17 &&
                                 outputs * (double)p->k >= 0x1.8p28);
}

static size_t prefer(const problem *q, const device_facts *d, const char *out[PREFERENCES_MAX])
{
    static const char *const on_host[] = {"openmp", "blocked", "ikj", "kij", "ijk", "jik"};
    static const char *const largest[] = {
        "wgmma-3xtf32-fused", "wgmma-3xtf32", "wgmma-tensor", "wgmma-tf32", "mma-f64",  "mma",
        "pipelined",          "vector",       "block",        "tiled",      "coalesced"};
    static const char *const large[] = {"wgmma-3xtf32", "wgmma-tensor", "wgmma-tf32", "mma-f64",
                                        "mma",          "pipelined",    "vector",     "block",
                                        "tiled",        "coalesced"};
    static const char *const small[] = {"wgmma-tensor", "wgmma-tf32", "mma-f64",
                                        "mma",          "pipelined",  "vector",
                                        "block",        "tiled",      "coalesced"};
    static const char *const thin[] = {"wgmma-tensor", "wgmma-tf32", "coalesced", "tiled", "block",
                                       "vector",       "pipelined",  "mma-f64",   "mma"};
    static const char *const batch[] = {"batched", "wgmma-tensor", "wgmma-tf32", "mma-f64",
                                        "mma",     "vector",       "pipelined",  "block",
                                        "tiled",   "coalesced"};
    const size_t m = matmul_of(q)->m, n = matmul_of(q)->n;

    if (d->kind == DEVICE_HOST)
        return names_copy(on_host, ARRAY_COUNT(on_host), out);
    if (d->kind == DEVICE_CPU)
        return prefer_cpu(matmul_of(q), d->compute_units, out);
    /* Whole products in a group, where there is one or more for each compute unit. */
    if (size_max(m, n) <= 64 && matmul_batch(matmul_of(q)) >= size_max(d->compute_units, 2))
        return names_of_gpu(batch, ARRAY_COUNT(batch), matmul_of(q), d, out);
    /* Tiles do not pay where one side is shorter than a quarter of one. */
    if (size_min(m, n) < 8)
        return names_of_gpu(thin, ARRAY_COUNT(thin), matmul_of(q), d, out);
    /* Tiles of 128 x 256 for two thirds of the compute units or more: nothing need be packed. */
    if (matmul_batch(matmul_of(q)) == 1 && size_min(m, n) >= 256 &&
        3 * size_div_up(m, 128) * size_div_up(n, 256) >= 2 * size_max(d->compute_units, 1))
        return names_of_gpu(largest, ARRAY_COUNT(largest), matmul_of(q), d, out);
    if (size_min(m, n) >= 256 && packing_pays(matmul_of(q)))
        return names_of_gpu(large, ARRAY_COUNT(large), matmul_of(q), d, out);
    return names_of_gpu(small, ARRAY_COUNT(small), matmul_of(q), d, out);
}

const operation operation_matmul = {.name = "matmul",
                                    .idea = "C := alpha op(A) op(B) + beta C",
                                    .unit = WORK_FLOPS,
                                    .types = 1u << TSR_F32 | 1u << TSR_F64 | 1u << TSR_F16 |
                                             1u << TSR_BF16,
                                    .default_type = TSR_F32,
                                    .result = MATMUL_C,
                                    .command = &matmul_command,
                                    .variants = variants,
                                    .variant_count = ARRAY_COUNT(variants),
                                    .check = check,
                                    .normalize = normalize,
                                    .operands = operands,
                                    .partition = matmul_partition,
                                    .work = work,
                                    .bytes = bytes,
                                    .describe = describe,
                                    .classify = classify,
                                    .class_text = matmul_class_text,
                                    .size_text = matmul_size_text,
                                    .shrink = matmul_shrink,
                                    .products = matmul_products,
                                    .product = matmul_product_view,
                                    .prefer = prefer,
                                    .fill = matmul_fill,
                                    .sweep = matmul_sweep,
                                    .verify = matmul_verify};
