#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "core/fields.h"
#include "core/posing.h"
#include "ops/matmul/matmul_descriptor.h"
#include "ops/matmul/matmul_shape.h"
#include "ops/matmul/matmul_variants.h"

static bool is_padding(const char *value)
{
    uint64_t padding;

    return whole_read(value, &padding) && padding <= (uint64_t)1 << 31;
}

static const field_choice out_types[] = {{"f32", RESULT_F32},
                                         {"float32", RESULT_F32},
                                         {"bf16", RESULT_BF16},
                                         {"bfloat16", RESULT_BF16},
                                         {NULL, 0}};

static const field fields[] = {
    {.name = "type",
     .kind = FIELD_TYPE,
     .offset = offsetof(tsr_matmul_problem, type),
     .in_class = CLASS_EXACT},
    {.name = "out_type",
     .kind = FIELD_WIDE,
     .offset = offsetof(tsr_matmul_problem, c_f32),
     .also = offsetof(tsr_matmul_problem, c_bf16),
     .in_class = CLASS_EXACT,
     .option = "out-type",
     .otherwise = "that of the operands",
     .taken = WITH_FILES | WITH_SIZES,
     .value = "TYPE",
     .meaning = "f32 makes the result of f16, bf16, f8e4m3 or f8e5m2 operands float32; bf16 that "
                "of the latter two bfloat16",
     .choices = out_types},
    {.name = "m",
     .kind = FIELD_COUNT,
     .offset = offsetof(tsr_matmul_problem, m),
     .extent = true,
     .in_class = CLASS_POWER_OF_2},
    {.name = "n",
     .kind = FIELD_COUNT,
     .offset = offsetof(tsr_matmul_problem, n),
     .extent = true,
     .in_class = CLASS_POWER_OF_2},
    {.name = "k",
     .kind = FIELD_COUNT,
     .offset = offsetof(tsr_matmul_problem, k),
     .extent = true,
     .in_class = CLASS_POWER_OF_2},
    {.name = "trans_a",
     .kind = FIELD_FLAG,
     .offset = offsetof(tsr_matmul_problem, trans_a),
     .in_class = CLASS_EXACT,
     .option = "trans-a",
     .taken = WITH_FILES | WITH_SIZES,
     .meaning = "take A transposed"},
    {.name = "trans_b",
     .kind = FIELD_FLAG,
     .offset = offsetof(tsr_matmul_problem, trans_b),
     .in_class = CLASS_EXACT,
     .option = "trans-b",
     .taken = WITH_FILES | WITH_SIZES,
     .meaning = "take B transposed"},
    {.name = "conj_a",
     .kind = FIELD_FLAG,
     .offset = offsetof(tsr_matmul_problem, conj_a),
     .option = "conj-a",
     .taken = WITH_FILES | WITH_SIZES,
     .meaning = "take A conjugated; with --trans-a that is A^H"},
    {.name = "conj_b",
     .kind = FIELD_FLAG,
     .offset = offsetof(tsr_matmul_problem, conj_b),
     .option = "conj-b",
     .taken = WITH_FILES | WITH_SIZES,
     .meaning = "take B conjugated; with --trans-b that is B^H"},
    {.name = "scale_a",
     .kind = FIELD_FLAG,
     .offset = offsetof(tsr_matmul_problem, scale_a),
     .in_class = CLASS_WHERE_SET,
     .option = "scaled-a",
     .taken = WITH_SIZES,
     .meaning = "rows of op(A), of FP8, have scales of their own"},
    {.name = "scale_b",
     .kind = FIELD_FLAG,
     .offset = offsetof(tsr_matmul_problem, scale_b),
     .in_class = CLASS_WHERE_SET,
     .option = "scaled-b",
     .taken = WITH_SIZES,
     .meaning = "columns of op(B), of FP8, have scales of their own"},
    PRODUCT_FACTOR_FIELDS(tsr_matmul_problem, CLASS_POWER_OF_2),
    {.name = "alpha_im",
     .kind = FIELD_REAL,
     .offset = offsetof(tsr_matmul_problem, alpha_im),
     .option = "alpha-im",
     .otherwise = "0",
     .taken = WITH_FILES | WITH_SIZES,
     .value = "X",
     .meaning = "imaginary part of --alpha, for complex matrices",
     .expects = "a number"},
    {.name = "beta_im",
     .kind = FIELD_REAL,
     .offset = offsetof(tsr_matmul_problem, beta_im),
     .option = "beta-im",
     .otherwise = "0",
     .taken = WITH_FILES | WITH_SIZES,
     .value = "Y",
     .meaning = "imaginary part of --beta, for complex matrices",
     .expects = "a number"},
    {.kind = FIELD_PRECISION,
     .offset = offsetof(tsr_matmul_problem, precision),
     .in_class = CLASS_EXACT,
     .option = "precision",
     .otherwise = "that of the type",
     .taken = WITH_FILES | WITH_SIZES,
     .value = "P",
     .meaning = "f32, f32-strict, f64; tf32, bf16 or f16 round the factors of float32 operands, "
                "which matrix units multiply faster; i8 and f8 are those of int8 and FP8 "
                "operands"},
    {.kind = FIELD_ASKED,
     .option = "padding",
     .otherwise = "0",
     .taken = WITH_SIZES,
     .value = "N",
     .meaning = "pad each row by N elements",
     .expects = "a whole number from 0 to 2^31",
     .reads = is_padding},
};

static const problem_member members[] = {
    PROBLEM_MEMBER(tsr_matmul_problem, lda, COUNT),
    PROBLEM_MEMBER(tsr_matmul_problem, ldb, COUNT),
    PROBLEM_MEMBER(tsr_matmul_problem, ldc, COUNT),
    PROBLEM_MEMBER(tsr_matmul_problem, offset_a, COUNT),
    PROBLEM_MEMBER(tsr_matmul_problem, offset_b, COUNT),
    PROBLEM_MEMBER(tsr_matmul_problem, offset_c, COUNT),
    PROBLEM_MEMBER(tsr_matmul_problem, layout, LAYOUT),
    PROBLEM_MEMBER(tsr_matmul_problem, stride_a, COUNT),
    PROBLEM_MEMBER(tsr_matmul_problem, stride_b, COUNT),
    PROBLEM_MEMBER(tsr_matmul_problem, stride_c, COUNT),
    PROBLEM_MEMBER(tsr_matmul_problem, c_bf16, FLAG),
    PROBLEM_MEMBER(tsr_matmul_problem, offset_scale_a, COUNT),
    PROBLEM_MEMBER(tsr_matmul_problem, offset_scale_b, COUNT),
    PROBLEM_MEMBER(tsr_matmul_problem, stride_scale_a, COUNT),
    PROBLEM_MEMBER(tsr_matmul_problem, stride_scale_b, COUNT),
};

static const file_use files[] = {
    {.operand = MATMUL_A},
    {.operand = MATMUL_B},
    {.option = "add", .meaning = "add this, times beta, to the product", .operand = MATMUL_C},
    {.option = "scale-a",
     .meaning = "multiply each row of op(A), of FP8, by its number in this vector",
     .operand = MATMUL_SCALE_A,
     .as_it_is = true},
    {.option = "scale-b",
     .meaning = "multiply each column of op(B), of FP8, by its number in this vector",
     .operand = MATMUL_SCALE_B,
     .as_it_is = true},
};

static const operation_help help = {
    .usage = "A B -o C [--alpha X] [--beta Y --add C0] [--scale-a S] [--scale-b T]",
    .summary = "multiply matrices: C := alpha op(A) op(B) + beta C0",
    .details =
        "A, B and C0 are matrices in .npy or .mtx files; - is standard input.  C is .mtx by its\n"
        "suffix, else .npy.  As in numpy.matmul, an array of rank 3 or more is a batch of\n"
        "matrices, batches are broadcast, and a vector is a row as A and a column as B.\n"
        "complex64, complex128 and int8 matrices are read from .npy files only.  The product of "
        "int8\n"
        "matrices is int32, modulo 2^32, and takes whole numbers as --alpha and --beta.  --as "
        "f8e4m3\n"
        "and f8e5m2 round every input to FP8, saturated, or take files of one byte an element as\n"
        "FP8; C is then FP8 too, unless --out-type says otherwise.  --scale-a and --scale-b are\n"
        "float32 vectors of as many numbers as op(A) has rows and op(B) columns; all products of "
        "a\n"
        "batch share them.\n",
    .examples = "tessera matmul a.npy b.npy -o c.npy --verify\n"
                "tessera matmul x.npy x.npy --trans-b --precision tf32 -o products.mtx\n",
};

static bool lay_out_matrix(size_t rows, size_t columns, size_t padding, size_t *ld, size_t *stride)
{
    *ld = columns + padding;
    return *ld >= padding && size_mul(rows, *ld, stride);
}

static tsr_status lay_out(problem *p, const given_options *given, const char *size, const size_t *n,
                          size_t count, tsr_error *err)
{
    tsr_matmul_problem *q = matmul_in(p);
    const char *asked = setting_of(given, "padding");
    uint64_t padding = 0;

    (void)n, (void)count;
    if (asked)
        whole_read(asked, &padding);
    if (lay_out_matrix(q->trans_a ? q->k : q->m, q->trans_a ? q->m : q->k, padding, &q->lda,
                       &q->stride_a) &&
        lay_out_matrix(q->trans_b ? q->n : q->k, q->trans_b ? q->k : q->n, padding, &q->ldb,
                       &q->stride_b) &&
        lay_out_matrix(q->m, q->n, padding, &q->ldc, &q->stride_c)) {
        q->stride_scale_a = q->m;
        q->stride_scale_b = q->n;
        return TSR_OK;
    }
    return tsr_fail(err, TSR_EOVERFLOW, 0,
                    "--size '%s' is too large: a matrix has at most %zu elements", size, SIZE_MAX);
}

/* A vector of scales, which all products share: float32, and wider numbers rounded to it. */
static tsr_status pose_scales(posing *x, unsigned i, size_t count, bool *there, tsr_error *err)
{
    array *a = &x->array[i];
    const char *lines = i == MATMUL_SCALE_A ? "rows" : "columns";
    const char *matrix = i == MATMUL_SCALE_A ? "op(A)" : "op(B)";
    char shape[SHAPE_SIZE];
    size_t overflowed = 0;
    tsr_status st = TSR_OK;

    *there = x->file[i] != NULL;
    if (!*there)
        return TSR_OK;
    if (!type_is_fp8(matmul_of(&x->problem)->type))
        return tsr_fail(
            err, TSR_EINVAL, 0,
            "%s: only %s of FP8 have scales, and the matrices are %s; --as f8e4m3 converts them",
            x->file[i], lines, tsr_type_name(matmul_of(&x->problem)->type));
    if (array_count(a) != count || a->rank == 0)
        return tsr_fail(err, TSR_EINVAL, 0, "%s is %s, and %s has %zu %s, each with a scale",
                        x->file[i], shape_text(a, shape), matrix, count, lines);
    if (type_is_complex(a->type) || a->type == TSR_BF16 || type_is_fp8(a->type))
        return tsr_fail(err, TSR_EINVAL, 0, "%s is %s, and scales must be float32", x->file[i],
                        array_type_name(a));
    if (a->type != TSR_F32)
        st = array_convert(a, TSR_F32, &overflowed, err);
    if (!st && overflowed)
        return tsr_fail(err, TSR_EINVAL, 0, "%s: %zu of %zu scales are infinite as float32",
                        x->file[i], overflowed, count);
    return st;
}

static tsr_status pose(posing *x, tsr_error *err)
{
    tsr_matmul_problem *p = matmul_in(&x->problem);
    const array *a = &x->array[MATMUL_A], *b = &x->array[MATMUL_B];
    const unsigned a_batch = a->rank > 2 ? a->rank - 2 : 0, b_batch = b->rank > 2 ? b->rank - 2 : 0;
    array result = {.type = matmul_type_c(p)};
    char left[SHAPE_SIZE], right[SHAPE_SIZE];
    broadcast batch;
    size_t inner;
    tsr_status st;

    for (unsigned i = MATMUL_A; i <= MATMUL_B; i++)
        if (x->array[i].rank == 0)
            return tsr_fail(err, TSR_EINVAL, 0,
                            "%s is a scalar, and a matrix or a vector is needed; --alpha X scales "
                            "the product",
                            x->file[i]);
    /* A vector transposed is itself. */
    p->trans_a = p->trans_a && a->rank > 1;
    p->trans_b = p->trans_b && b->rank > 1;
    p->m = a->rank == 1 ? 1 : a->shape[a_batch + p->trans_a];
    p->k = a->rank == 1 ? a->shape[0] : a->shape[a_batch + !p->trans_a];
    inner = b->shape[b_batch + p->trans_b];
    p->n = b->rank == 1 ? 1 : b->shape[b_batch + !p->trans_b];
    if (inner != p->k)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "shapes do not match: %s is %s%s and %s is %s%s, inner lengths %zu and %zu",
                        x->file[MATMUL_A], shape_text(a, left), p->trans_a ? " transposed" : "",
                        x->file[MATMUL_B], shape_text(b, right), p->trans_b ? " transposed" : "",
                        p->k, inner);
    st = pose_scales(x, MATMUL_SCALE_A, p->m, &p->scale_a, err);
    st = st ? st : pose_scales(x, MATMUL_SCALE_B, p->n, &p->scale_b, err);
    st = st ? st : broadcast_of(x, MATMUL_A, a_batch, MATMUL_B, b_batch, &batch, err);
    if (st)
        return st;
    result.rank = batch.rank;
    memcpy(result.shape, batch.shape, sizeof result.shape);
    if (a->rank > 1)
        result.shape[result.rank++] = p->m;
    if (b->rank > 1)
        result.shape[result.rank++] = p->n;
    if (result.rank > 2 && names_mtx(x->output[MATMUL_C]))
        return tsr_fail(err, TSR_EINVAL, 0,
                        "output %s: a .mtx file holds one matrix, and the result is %s",
                        x->output[MATMUL_C], shape_text(&result, left));
    st = broadcast_operand(x, MATMUL_A, a_batch, &batch, &p->stride_a, err);
    st = st ? st : broadcast_operand(x, MATMUL_B, b_batch, &batch, &p->stride_b, err);
    if (st)
        return st;
    p->batch = batch.count;
    if (!size_mul(p->m, p->n, &p->stride_c))
        p->stride_c = 0; /* start_product() refuses a result of so many elements */
    if (batch.count == 0) {
        p->batch = 1; /* of nothing */
        p->m = 0;
    }
    return start_product(x, &result, matmul_reads_c(p), err);
}

/* --beta-im scales what is added too. */
static tsr_status check_settings(const given_options *given, tsr_error *err)
{
    const char *imaginary = setting_of(given, "beta-im"), *add = setting_of(given, "add");
    double factor = 0;

    if (imaginary && real_read(imaginary, &factor) && factor != 0 && !add)
        return tsr_fail(err, TSR_ENAME, 0, "--beta-im %s needs --add FILE to scale", imaginary);
    return add && factor != 0 ? TSR_OK : check_added_settings(given, err);
}

static const char *host_source(const variant *v)
{
    return v == &matmul_simd ? "host/ops/matmul/matmul_simd_loops.c and matmul_simd_body.h"
                             : "host/ops/matmul/matmul_host.c and matmul_host_body.h";
}

static const char *const tune_sizes[] = {"512", "1024", "2048", "4096", "8192", NULL};
static const char *const tune_sizes_cpu[] = {"256", "512", "1024", NULL};

static const peer_library peers[] = {PEER_CLBLAST, PEER_CUBLAS, PEER_OPENBLAS, {0}};

const operation_command matmul_command = {
    .sizes = {.bench = "1024",
              .roofline = "4096",
              .roofline_cpu = "512",
              .tune = tune_sizes,
              .tune_cpu = tune_sizes_cpu},
    .problem_bytes = sizeof(tsr_matmul_problem),
    .peers = peers,
    .fields = fields,
    .field_count = ARRAY_COUNT(fields),
    .members = members,
    .member_count = ARRAY_COUNT(members),
    .files = files,
    .file_count = ARRAY_COUNT(files),
    .help = &help,
    .host_source = host_source,
    .no_output = "'-o FILE' says where the result goes",
    .size_form = "n or MxNxK",
    .size_numbers = 3,
    .rounds_factors = true,
    .lay_out = lay_out,
    .check_settings = check_settings,
    .pose = pose,
};
