/* The operation matmul: C := alpha op(A) op(B) + beta C, and the table of its variants. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "core/real.h"
#include "core/variant.h"
#include "ops/matmul/matmul_descriptor.h"
#include "ops/matmul/matmul_plan.h"
#include "ops/matmul/matmul_shape.h"
#include "ops/matmul/matmul_variants.h"

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

/* A factor of whole sums. */
static tsr_status check_whole(const char *name, double value, tsr_error *err)
{
    if (value >= INT32_MIN && value <= INT32_MAX && value == floor(value))
        return TSR_OK;
    return tsr_fail(err, TSR_EINVAL, 0,
                    "matmul: %s is %g, and for int8 operands it must be a whole number of 32 bits",
                    name, value);
}

/* Of int8 operands C is int32. */
static tsr_status check_int8(const tsr_matmul_problem *p, tsr_error *err)
{
    tsr_status st;

    if (p->c_f32)
        return tsr_fail(err, TSR_EINVAL, 0, "matmul: C must be int32, since the operands are int8");
    if ((unsigned)p->precision >= TSR_PRECISION_COUNT)
        return tsr_fail(err, TSR_EINVAL, 0, "matmul: precision %d does not exist",
                        (int)p->precision);
    if (!real_is_plain(p->type, p->precision))
        return tsr_fail(err, TSR_EINVAL, 0, "matmul: precision %s does not go with %s operands",
                        tsr_precision_name(p->precision), tsr_type_name(p->type));
    st = check_whole("alpha", p->alpha, err);
    return st ? st : check_whole("beta", p->beta, err);
}

/* Complex operands have the precision of their parts; conjugates and imaginary parts are refused
 * for real types. */
static tsr_status check_type(const tsr_matmul_problem *p, tsr_error *err)
{
    const tsr_type part = type_part(p->type);

    if (!type_is_complex(p->type)) {
        if (p->conj_a || p->conj_b || p->alpha_im != 0 || p->beta_im != 0)
            return tsr_fail(
                err, TSR_EINVAL, 0,
                "matmul: conj_a, conj_b, alpha_im and beta_im need complex operands, and "
                "these are %s",
                tsr_type_name(p->type));
        if (p->type == TSR_I8)
            return check_int8(p, err);
        return real_check("matmul", p->type, p->precision, err);
    }
    if (p->c_f32)
        return tsr_fail(err, TSR_EINVAL, 0, "matmul: C must be %s, as the operands are",
                        tsr_type_name(p->type));
    if (real_check("matmul", part, p->precision, NULL) || real_rounding(part, p->precision) > 0)
        return tsr_fail(err, TSR_EINVAL, 0, "matmul: precision %s does not go with %s operands",
                        tsr_precision_name(p->precision), tsr_type_name(p->type));
    if (real_check_scale("matmul", "alpha_im", part, p->alpha_im, err))
        return TSR_EINVAL;
    return real_check_scale("matmul", "beta_im", part, p->beta_im, err);
}

/* Scales of rows or columns. */
static tsr_status check_scales(const tsr_matmul_problem *p, tsr_error *err)
{
    const view scales[] = {matmul_scales_a(p), matmul_scales_b(p)};
    const bool there[] = {p->scale_a, p->scale_b};
    size_t bytes;

    if ((p->scale_a || p->scale_b) && !type_is_fp8(p->type))
        return tsr_fail(err, TSR_EINVAL, 0,
                        "matmul: only FP8 operands have scales, and these are %s",
                        tsr_type_name(p->type));
    for (size_t i = 0; i < 2; i++)
        if (there[i] && !view_extent(&scales[i], &bytes))
            return tsr_fail(err, TSR_EOVERFLOW, 0,
                            "matmul: %s of %zu numbers (offset %zu, %zu of them with stride %zu) "
                            "exceeds %zu bytes",
                            i ? "scale_b" : "scale_a", scales[i].length, scales[i].offset,
                            scales[i].count, scales[i].stride, SIZE_MAX);
    return TSR_OK;
}

static tsr_status check(const problem *q, tsr_error *err)
{
    const tsr_matmul_problem *p = matmul_of(q);
    const matmul_matrix a = matmul_matrix_a(p), b = matmul_matrix_b(p), c = matmul_matrix_c(p);
    tsr_status st = operation_check_type(q->op, p->type, err);

    if (st == TSR_OK)
        st = check_type(p, err);
    if (st == TSR_OK && p->c_bf16 && (p->c_f32 || !type_is_fp8(p->type)))
        st =
            p->c_f32
                ? tsr_fail(err, TSR_EINVAL, 0, "matmul: C is either float32 or bfloat16, not both")
                : tsr_fail(err, TSR_EINVAL, 0,
                           "matmul: bfloat16 as the type of C needs FP8 operands, and these are %s",
                           tsr_type_name(p->type));
    if (st == TSR_OK && p->c_f32 && p->type == TSR_F64)
        st = tsr_fail(err, TSR_EINVAL, 0, "matmul: C must be float64, as the operands are");
    if (st == TSR_OK && p->layout != TSR_ROW_MAJOR && p->layout != TSR_COLUMN_MAJOR)
        st = tsr_fail(err, TSR_EINVAL, 0, "matmul: layout %d does not exist", (int)p->layout);
    if (st == TSR_OK)
        st = real_check_scale("matmul", "alpha", real_sums(p->type), p->alpha, err);
    if (st == TSR_OK)
        st = real_check_scale("matmul", "beta", real_sums(p->type), p->beta, err);
    if (st == TSR_OK)
        st = check_scales(p, err);
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
    p->conj_a = given.conj_b;
    p->conj_b = given.conj_a;
    p->lda = given.ldb;
    p->ldb = given.lda;
    p->offset_a = given.offset_b;
    p->offset_b = given.offset_a;
    p->stride_a = given.stride_b;
    p->stride_b = given.stride_a;
    p->scale_a = given.scale_b;
    p->scale_b = given.scale_a;
    p->offset_scale_a = given.offset_scale_b;
    p->offset_scale_b = given.offset_scale_a;
    p->stride_scale_a = given.stride_scale_b;
    p->stride_scale_b = given.stride_scale_a;
    order[MATMUL_A] = MATMUL_B;
    order[MATMUL_B] = MATMUL_A;
    if (given.scale_a || given.scale_b) {
        order[MATMUL_SCALE_A] = MATMUL_SCALE_B;
        order[MATMUL_SCALE_B] = MATMUL_SCALE_A;
    }
}

static size_t operands(const problem *q, operand out[OPERANDS_MAX])
{
    const tsr_matmul_problem *p = matmul_of(q);
    const matmul_matrix a = matmul_matrix_a(p), b = matmul_matrix_b(p), c = matmul_matrix_c(p);
    const bool overwrites = !matmul_reads_c(p);
    const view scales_a = matmul_scales_a(p), scales_b = matmul_scales_b(p);

    out[MATMUL_A] = view_operand("A", &a, ACCESS_READ);
    out[MATMUL_B] = view_operand("B", &b, ACCESS_READ);
    out[MATMUL_C] = view_operand("C", &c, overwrites ? ACCESS_WRITE : ACCESS_READ_WRITE);
    out[MATMUL_C].whole = overwrites;
    if (!matmul_reads_factors(p) || p->m == 0 || p->n == 0)
        out[MATMUL_A].bytes = out[MATMUL_B].bytes = 0; /* neither is read */
    if (!p->scale_a && !p->scale_b)
        return MATMUL_MATRICES;
    out[MATMUL_SCALE_A] = view_operand("scale_a", &scales_a, ACCESS_READ);
    out[MATMUL_SCALE_B] = view_operand("scale_b", &scales_b, ACCESS_READ);
    if (!(matmul_scaled(p) & SCALES_A))
        out[MATMUL_SCALE_A].bytes = 0;
    if (!(matmul_scaled(p) & SCALES_B))
        out[MATMUL_SCALE_B].bytes = 0;
    return MATMUL_OPERANDS;
}

static size_t *offset(problem *q, size_t i)
{
    tsr_matmul_problem *p = matmul_in(q);

    return i == MATMUL_A         ? &p->offset_a
           : i == MATMUL_B       ? &p->offset_b
           : i == MATMUL_C       ? &p->offset_c
           : i == MATMUL_SCALE_A ? &p->offset_scale_a
                                 : &p->offset_scale_b;
}

static double work(const problem *q)
{
    const tsr_matmul_problem *p = matmul_of(q);

    return (type_is_complex(p->type) ? 8.0 : 2.0) * (double)p->m * (double)p->n * (double)p->k *
           (double)matmul_batch(p);
}

static double bytes(const problem *q)
{
    const tsr_matmul_problem *p = matmul_of(q);
    const matmul_matrix a = matmul_matrix_a(p), b = matmul_matrix_b(p), c = matmul_matrix_c(p);
    const double read = matmul_reads_factors(p) ? view_elements(&a) + view_elements(&b) : 0;
    const view scales_a = matmul_scales_a(p), scales_b = matmul_scales_b(p);
    const double scales = (matmul_scaled(p) & SCALES_A ? (double)view_bytes(&scales_a) : 0) +
                          (matmul_scaled(p) & SCALES_B ? (double)view_bytes(&scales_b) : 0);

    return (double)tsr_type_size(p->type) * read + scales +
           (double)tsr_type_size(c.type) * view_elements(&c) * (matmul_reads_c(p) ? 2 : 1);
}

/* Whether products follow one another without a gap, or there is one. */
static bool is_dense(const matmul_matrix *x, size_t batch)
{
    return batch == 1 || x->stride == x->lines * x->ld;
}

/* What op() does to a matrix, and how descriptions say so. */
enum { PLAIN, TRANSPOSED, CONJUGATED, ADJOINT };
static const char *const op_names[] = {"", "^T", "*", "^H"};

static void describe(const problem *q, text *out)
{
    const tsr_matmul_problem *p = matmul_of(q);
    const matmul_matrix a = matmul_matrix_a(p), b = matmul_matrix_b(p), c = matmul_matrix_c(p);
    const size_t batch = matmul_batch(p);
    const int op_a = p->trans_a * TRANSPOSED + p->conj_a * CONJUGATED;
    const int op_b = p->trans_b * TRANSPOSED + p->conj_b * CONJUGATED;

    text_format(out, "%zux%zux%zu %s", p->m, p->n, p->k, tsr_type_name(p->type));
    if (c.type != p->type)
        text_format(out, " to %s", tsr_type_name(c.type));
    if (batch > 1)
        text_format(out, " x %zu", batch);
    if (!real_is_plain(p->type, p->precision))
        text_format(out, " %s", tsr_precision_name(p->precision));
    text_format(out, "%s%s%s%s%s", p->layout == TSR_COLUMN_MAJOR ? " column-major" : "",
                op_a != PLAIN ? " A" : "", op_names[op_a], op_b != PLAIN ? " B" : "",
                op_names[op_b]);
    if (p->alpha_im != 0 || p->beta_im != 0)
        text_format(out, " alpha %g%+gi beta %g%+gi", p->alpha, p->alpha_im, p->beta, p->beta_im);
    else if (matmul_alpha(p) != 1 || matmul_beta(p) != 0)
        text_format(out, " alpha %g beta %g", p->alpha, p->beta);
    if (p->scale_a || p->scale_b)
        text_format(out, " scales of%s%s%s", p->scale_a ? " rows" : "",
                    p->scale_a && p->scale_b ? " and" : "", p->scale_b ? " columns" : "");
    if (a.ld != a.length || b.ld != b.length || c.ld != c.length)
        text_format(out, " ld %zu %zu %zu", a.ld, b.ld, c.ld);
    if (p->offset_a || p->offset_b || p->offset_c)
        text_format(out, " offsets %zu %zu %zu", p->offset_a, p->offset_b, p->offset_c);
    if (p->offset_scale_a || p->offset_scale_b)
        text_format(out, " offsets of scales %zu %zu", p->offset_scale_a, p->offset_scale_b);
    if (batch > 1 &&
        ((p->scale_a && p->stride_scale_a != p->m) || (p->scale_b && p->stride_scale_b != p->n)))
        text_format(out, " strides of scales %zu %zu", p->stride_scale_a, p->stride_scale_b);
    if (!is_dense(&a, batch) || !is_dense(&b, batch) || !is_dense(&c, batch))
        text_format(out, " strides %zu %zu %zu", a.stride, b.stride, c.stride);
}

/* ---- variants ---------------------------------------------------------------------------- */

/* From the definition to the fastest, on the host and then on devices. */
static const variant *const variants[] = {
    &matmul_ijk,
    &matmul_jik,
    &matmul_ikj,
    &matmul_kij,
    &matmul_blocked_8,
    &matmul_blocked_16,
    &matmul_blocked_32,
    &matmul_openmp_collapse,
    &matmul_blocked,
    &matmul_openmp,
    &matmul_simd,
    &matmul_row_first,
    &matmul_naive,
    &matmul_tiled,
    &matmul_block_column,
    &matmul_block,
    &matmul_vector,
    &matmul_swizzle,
    &matmul_general,
    &matmul_general_tiled,
    &matmul_pipelined,
    &matmul_async,
    &matmul_cp_async,
    &matmul_stream,
    &matmul_subgroup,
    &matmul_shfl,
    &matmul_outer,
    &matmul_skinny_columns,
    &matmul_skinny_dots,
    &matmul_batched,
    &matmul_cpu_block,
    &matmul_cpu_panels,
    &matmul_cpu_split,
    &matmul_mma,
    &matmul_mma_f64,
    &matmul_mma_f64_tensor,
    &matmul_mma_3xtf32,
    &matmul_complex_general,
    &matmul_complex_pipelined,
    &matmul_complex_panels,
    &matmul_wgmma_tf32,
    &matmul_wgmma_tensor,
    &matmul_wgmma_3xtf32,
    &matmul_wgmma_3xtf32_fused,
};

/* `naive` had rows along the first index, and the first steps took every type and batch. */
static const renaming renamings[] = {
    {"naive", "-DREAL=", "row-first", "row-first"},
    {"coalesced", "-DREAL=", "naive", "general"},
    {"tiled", "-DREAL=", "tiled", "general-tiled"},
};

static size_t names_copy(const char *const names[], size_t n, const char *out[PREFERENCES_MAX])
{
    memcpy(out, names, n * sizeof(*out));
    return n;
}

static size_t prefer_cpu(const tsr_matmul_problem *p, size_t cores, const char *out[])
{
    static const char *const packed[] = {"cpu-panels",    "cpu-block", "cpu-split",
                                         "general-tiled", "general",   "pipelined"};
    static const char *const direct[] = {"cpu-block",     "cpu-panels", "cpu-split",
                                         "general-tiled", "general",    "pipelined"};
    static const char *const split[] = {"cpu-split",     "cpu-panels", "cpu-block",
                                        "general-tiled", "general",    "pipelined"};
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
    /* Blocks along k do not add up in a C of 16 or 8 bits, but in the workspace of parts they do.
     */
    if (p->k > 1024 && tsr_type_size(matmul_type_c(p)) <= 2)
        return names_copy(split, ARRAY_COUNT(split), out);
    return names_copy(packed, ARRAY_COUNT(packed), out);
}

/* `pipelined`, `cp-async` and `stream-k`, those first that take least time. */
static size_t names_of_chains(const problem *q, const device_facts *d, const char *out[])
{
    const char *names[PREFERENCES_MAX];
    const size_t n = matmul_by_time(q, d, names);
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], "pipelined") == 0 || strcmp(names[i], "cp-async") == 0 ||
            strcmp(names[i], "stream-k") == 0)
            out[count++] = names[i];
    return count;
}

/* Names of variants, best first; "pipelined" stands for all that take chains of multiply-adds, and
 * "mma-f64" for itself and "mma-f64-tensor". */
static size_t names_of_gpu(const char *const names[], size_t n, const problem *q,
                           const device_facts *d, const char *out[PREFERENCES_MAX])
{
    const bool boxes = matmul_boxes_gain(q, d);
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        if (strcmp(names[i], "mma-f64") == 0) {
            out[count++] = boxes ? "mma-f64-tensor" : "mma-f64";
            out[count++] = boxes ? "mma-f64" : "mma-f64-tensor";
        } else if (strcmp(names[i], "pipelined") == 0 && matmul_of(q)->type == TSR_F32) {
            count += names_of_chains(q, d, out + count);
        } else {
            out[count++] = names[i];
        }
    }
    return count;
}

/* Whether whole products in a group pay: where there is one or more for each compute unit, or, of
 * less work, for every fourth one. */
static bool batched_pays(const tsr_matmul_problem *p, const device_facts *d)
{
    const size_t units = size_max(d->compute_units, 2);

    return size_max(p->m, p->n) <= 64 &&
           matmul_batch(p) >= (p->k <= 64 ? size_div_up(units, 4) : units);
}

/* Whether matrix instructions multiply such products faster, whose k is long: k has 12 times the
 * rows of C in 300 products of 30x40x500, which take 32 us of an H200, and 44 by `batched`. */
static bool batch_is_long(const tsr_matmul_problem *p)
{
    return p->type == TSR_F32 && real_is_plain(p->type, p->precision) && p->k >= 256 &&
           p->k > 4 * size_max(p->m, p->n) && size_min(p->m, p->n) > 16;
}

/* Multiply-adds from which on matrix units are faster, as measured. */
static const double ALONG_K_WORK = 3e6;

/* For float64 with more than eight rows or columns `mma-f64` is faster from this k on wherever
 * skinny-dots can run: 18x16x139 takes 4.4 us of an H200, and 7.8 by `skinny-dots`, 14x31x28 with B
 * transposed 3.2 and 3.5.  Where skinny-columns can run instead, it takes this share of its
 * modelled time relative to that of skinny-columns: 12x1287x119 with A transposed and beta 1 5.4
 * and 6.0. */
enum { FEW_UNITS_MIN = 9, UNITS_F64_K_MIN = 8 };
static const double UNITS_F64_SHARE = 0.78;

/* Skinny kernels take 0.7 of their modelled time with up to 4 rows or columns of float64 and k from
 * 64 on: 5179x1x788 takes 12.4 us of an H200, and 15.6 by `mma-f64`; 12000x1x300 with A
 * transposed 10.8 and 14.5. */
static const double SKINNY_F64_SHARE = 0.7;
enum { SKINNY_F64_K = 64 };

/* Whether matrix units take less time for a C of few rows or columns. */
static bool units_pay(const problem *q, const device_facts *d)
{
    const tsr_matmul_problem *p = matmul_of(q);
    const size_t few = size_min(p->m, p->n);
    const double large = (double)size_max(p->m, p->n) * (double)p->k;
    const bool is_f64 = p->type == TSR_F64;
    double columns, dots;
    bool along_k;

    /* Where memory alone decides, a kernel that reads each line once is fastest: up to 4 rows or
     * columns, or 8 of TF32 whose large factor has more than 2^25 elements. */
    if (matmul_batch(p) > 1 || p->k < (is_f64 && few >= FEW_UNITS_MIN ? UNITS_F64_K_MIN : 16) ||
        (large > 0x1p23 && few <= 2) || (large > 0x1p25 && few <= 8 && p->type == TSR_F32))
        return false;
    columns = matmul_skinny_columns_time(q, d);
    dots = matmul_skinny_dots_time(q, d);
    /* But for 3 and 4 of 16 bits across k, which skinny-columns takes. */
    if (large > 0x1p23 && few <= 4 && !(tsr_type_size(p->type) == 2 && isfinite(columns)))
        return false;
    if (is_f64) {
        const double units = d->nv_capability >= 90 ? matmul_mma_f64_time(q, d) : INFINITY;
        const double share = few <= 4 && p->k >= SKINNY_F64_K ? SKINNY_F64_SHARE : 1;

        if (few >= FEW_UNITS_MIN)
            return isfinite(units) && (isfinite(dots) || UNITS_F64_SHARE * units < columns);
        return units < share * fmin(columns, dots);
    }
    /* Where skinny-dots can run, that is its time is finite, its model has FP32's rates and says
     * too little: above eight rows and so many multiply-adds matrix units were faster. */
    along_k = few >= FEW_UNITS_MIN && isfinite(dots) && (double)few * large >= ALONG_K_WORK;
    if (d->nv_capability < 80 ||
        (tsr_type_size(p->type) != 2 && p->precision != TSR_PRECISION_TF32))
        return false;
    return along_k || fmin(matmul_mma_time(q, d), matmul_tensor_time(q, d)) < fmin(columns, dots);
}

/* Whether models of their time decide which variant runs: of one float32 product whose factors are
 * not rounded. */
static bool is_by_time(const tsr_matmul_problem *p, const device_facts *d)
{
    return p->type == TSR_F32 &&
           (p->precision == TSR_PRECISION_F32_STRICT || real_is_plain(p->type, p->precision)) &&
           matmul_batch(p) == 1 && d->nv_capability >= 80;
}

static size_t prefer(const problem *q, const device_facts *d, const char *out[PREFERENCES_MAX])
{
    static const char *const on_host[] = {"simd", "openmp", "blocked", "ikj", "kij", "ijk", "jik"};
    static const char *const large[] = {"wgmma-3xtf32", "wgmma-tensor", "wgmma-tf32",    "mma-f64",
                                        "mma",          "pipelined",    "general-tiled", "general"};
    static const char *const thrice[] = {"mma-3xtf32", "wgmma-3xtf32",  "wgmma-tensor",
                                         "wgmma-tf32", "mma-f64",       "mma",
                                         "pipelined",  "general-tiled", "general"};
    static const char *const small[] = {"wgmma-tensor", "wgmma-tf32",    "mma-f64", "mma",
                                        "pipelined",    "general-tiled", "general"};
    static const char *const warps[] = {"mma",       "wgmma-tensor",  "wgmma-tf32", "mma-f64",
                                        "pipelined", "general-tiled", "general"};
    static const char *const skinny[] = {"skinny-columns", "skinny-dots", "wgmma-tensor",
                                         "wgmma-tf32",     "general",     "general-tiled",
                                         "pipelined",      "mma-f64",     "mma"};
    static const char *const short_k[] = {
        "outer",      "skinny-columns", "skinny-dots", "mma",           "wgmma-tensor",
        "wgmma-tf32", "mma-f64",        "pipelined",   "general-tiled", "general"};
    static const char *const batch[] = {"batched", "wgmma-tensor", "wgmma-tf32",    "mma-f64",
                                        "mma",     "pipelined",    "general-tiled", "general"};
    static const char *const portable[] = {"general-tiled", "general"};
    static const char *const of_complex[] = {"complex-pipelined", "complex-general"};
    static const char *const complex_cpu[] = {"complex-panels", "complex-pipelined",
                                              "complex-general"};
    static const char *const of_int8[] = {"wgmma-tensor", "mma", "pipelined", "general-tiled",
                                          "general"};
    static const char *const int8_warps[] = {"mma", "wgmma-tensor", "pipelined", "general-tiled",
                                             "general"};
    static const char *const int8_cpu[] = {"cpu-panels", "cpu-block", "pipelined", "general-tiled",
                                           "general"};
    static const char *const of_fp8[] = {"wgmma-tensor", "pipelined", "general-tiled", "general"};
    static const char *const int8_host[] = {"simd", "openmp", "blocked", "ikj",
                                            "kij",  "ijk",    "jik"};
    const bool is_complex = type_is_complex(matmul_of(q)->type);
    size_t count;
    bool packs;

    if (matmul_of(q)->type == TSR_I8)
        return d->kind == DEVICE_HOST  ? names_copy(int8_host, ARRAY_COUNT(int8_host), out)
               : d->kind == DEVICE_CPU ? names_copy(int8_cpu, ARRAY_COUNT(int8_cpu), out)
               : matmul_batch(matmul_of(q)) == 1 && matmul_mma_gains(q, d)
                   ? names_copy(int8_warps, ARRAY_COUNT(int8_warps), out)
                   : names_copy(of_int8, ARRAY_COUNT(of_int8), out);
    if (type_is_fp8(matmul_of(q)->type) && d->kind != DEVICE_HOST && d->kind != DEVICE_CPU)
        return names_copy(of_fp8, ARRAY_COUNT(of_fp8), out);
    if (d->kind == DEVICE_HOST)
        return names_copy(on_host, ARRAY_COUNT(on_host), out);
    if (is_complex && d->kind == DEVICE_CPU)
        return names_copy(complex_cpu, ARRAY_COUNT(complex_cpu), out);
    if (is_complex)
        return names_copy(of_complex, ARRAY_COUNT(of_complex), out);
    if (d->kind == DEVICE_CPU)
        return prefer_cpu(matmul_of(q), d->compute_units, out);
    if (batched_pays(matmul_of(q), d))
        return batch_is_long(matmul_of(q)) ? names_of_gpu(thrice, ARRAY_COUNT(thrice), q, d, out)
                                           : names_of_gpu(batch, ARRAY_COUNT(batch), q, d, out);
    if (is_by_time(matmul_of(q), d)) {
        count = matmul_by_time(q, d, out);
        return count + names_copy(portable, ARRAY_COUNT(portable), out + count);
    }
    if (matmul_outer_gains(matmul_of(q), d))
        return names_of_gpu(short_k, ARRAY_COUNT(short_k), q, d, out);
    if (matmul_is_skinny(matmul_of(q)) && !units_pay(q, d))
        return names_of_gpu(skinny, ARRAY_COUNT(skinny), q, d, out);
    if (matmul_batch(matmul_of(q)) == 1 && matmul_mma_gains(q, d))
        return names_of_gpu(warps, ARRAY_COUNT(warps), q, d, out);
    packs =
        size_min(matmul_of(q)->m, matmul_of(q)->n) >= 256 && matmul_group_is_exact(matmul_of(q));
    if (packs)
        return names_of_gpu(large, ARRAY_COUNT(large), q, d, out);
    return names_of_gpu(small, ARRAY_COUNT(small), q, d, out);
}

/* Whether C code serves any size: of float16, and of FP8 whose rows or columns have scales, which
 * the kernels for CPUs do not take. */
static bool suits_c(const tsr_matmul_problem *p)
{
    return p->type == TSR_F16 || p->scale_a || p->scale_b;
}

/* Whether what C copies, float16 and FP8 in float32, is no more than two to four times 1 GiB. */
static bool c_has_memory(const problem *p)
{
    return !suits_c(matmul_of(p)) || bytes(p) <= 0x1p30;
}

/* A brief product is as fast there as by kernels on a CPU: what is saved are launches, and
 * compiling. Of float16 it takes half the time, as long as there is memory for copies in float32,
 * and of int8 half to all of it. */
static const char *prefer_c(const problem *p, const device_facts *d)
{
    const bool halves = suits_c(matmul_of(p)) && c_has_memory(p);

    if (matmul_of(p)->type == TSR_I8)
        return "simd";
    return halves || matmul_simd_is_brief(matmul_of(p), d->compute_units) ||
                   matmul_simd_outruns_panels(matmul_of(p))
               ? "simd"
               : NULL;
}

/* About 2 ms of an H100, where k is not too long for work-items that have it to themselves.  On a
 * CPU C takes up to a fifth longer than the kernels, which take 1 to 3 s to compile; its copies of
 * float16 and FP8 are two to four times the matrices. */
static const char *prefer_first(const problem *p, const device_facts *d)
{
    if (d->kind == DEVICE_CPU)
        return work(p) <= 0x1p41 && c_has_memory(p) ? "simd" : NULL;
    if (work(p) > 0x1p31 || matmul_of(p)->k > 4096)
        return NULL;
    return type_is_complex(matmul_of(p)->type) ? "complex-general" : "general-tiled";
}

const operation operation_matmul = {.name = "matmul",
                                    .idea = "C := alpha op(A) op(B) + beta C",
                                    .unit = WORK_FLOPS,
                                    .types = 1u << TSR_F32 | 1u << TSR_F64 | 1u << TSR_F16 |
                                             1u << TSR_BF16 | 1u << TSR_C64 | 1u << TSR_C128 |
                                             1u << TSR_I8 | 1u << TSR_F8E4M3 | 1u << TSR_F8E5M2,
                                    .default_type = TSR_F32,
                                    .result = MATMUL_C,
                                    .command = &matmul_command,
                                    .variants = variants,
                                    .variant_count = ARRAY_COUNT(variants),
                                    .renamings = renamings,
                                    .renaming_count = ARRAY_COUNT(renamings),
                                    .check = check,
                                    .normalize = normalize,
                                    .operands = operands,
                                    .offset = offset,
                                    .partition = matmul_partition,
                                    .work = work,
                                    .bytes = bytes,
                                    .describe = describe,
                                    .products = matmul_products,
                                    .product = matmul_product_view,
                                    .prefer = prefer,
                                    .prefer_c = prefer_c,
                                    .prefer_first = prefer_first,
                                    .fill = matmul_fill,
                                    .sweep = matmul_sweep,
                                    .verify = matmul_verify};
