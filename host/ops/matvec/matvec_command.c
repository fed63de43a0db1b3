#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "core/posing.h"
#include "ops/matvec/matvec_descriptor.h"
#include "ops/matvec/matvec_shape.h"
#include "ops/matvec/matvec_variants.h"

/* No type is stored as TF32. */
static const field_choice own_precisions[] = {
    {"f32", TSR_PRECISION_F32},   {"f32-strict", TSR_PRECISION_F32_STRICT},
    {"f64", TSR_PRECISION_F64},   {"f16", TSR_PRECISION_F16},
    {"bf16", TSR_PRECISION_BF16}, {NULL, 0}};

static const field fields[] = {
    PRODUCT_TYPE_FIELDS(tsr_matvec_problem, y_f32),
    {.name = "rows",
     .kind = FIELD_COUNT,
     .offset = offsetof(tsr_matvec_problem, rows),
     .extent = true,
     .in_class = CLASS_POWER_OF_4},
    {.name = "columns",
     .kind = FIELD_COUNT,
     .offset = offsetof(tsr_matvec_problem, columns),
     .extent = true,
     .in_class = CLASS_POWER_OF_4},
    {.name = "trans",
     .kind = FIELD_FLAG,
     .offset = offsetof(tsr_matvec_problem, trans),
     .in_class = CLASS_EXACT,
     .option = "trans",
     .taken = WITH_FILES | WITH_SIZES,
     .meaning = "take A transposed"},
    PRODUCT_FACTOR_FIELDS(tsr_matvec_problem, CLASS_POWER_OF_4),
    {.kind = FIELD_PRECISION,
     .offset = offsetof(tsr_matvec_problem, precision),
     .option = "precision",
     .otherwise = "that of the type",
     .taken = WITH_FILES,
     .value = "P",
     .meaning = "that of the operands, f32, f64, f16 or bf16; f32-strict is as f32",
     .choices = own_precisions},
    {.kind = FIELD_PRECISION,
     .offset = offsetof(tsr_matvec_problem, precision),
     .option = "precision",
     .otherwise = "that of the type",
     .taken = WITH_SIZES,
     .value = "P",
     .meaning = "f32, f32-strict, f64, or that of the type",
     .expects = "f32, f32-strict, f64, f16 or bf16"},
};

static const problem_member members[] = {
    PROBLEM_MEMBER(tsr_matvec_problem, lda, COUNT),
    PROBLEM_MEMBER(tsr_matvec_problem, offset_a, COUNT),
    PROBLEM_MEMBER(tsr_matvec_problem, offset_x, COUNT),
    PROBLEM_MEMBER(tsr_matvec_problem, offset_y, COUNT),
    PROBLEM_MEMBER(tsr_matvec_problem, layout, LAYOUT),
    PROBLEM_MEMBER(tsr_matvec_problem, incx, COUNT),
    PROBLEM_MEMBER(tsr_matvec_problem, incy, COUNT),
    PROBLEM_MEMBER(tsr_matvec_problem, stride_a, COUNT),
    PROBLEM_MEMBER(tsr_matvec_problem, stride_x, COUNT),
    PROBLEM_MEMBER(tsr_matvec_problem, stride_y, COUNT),
};

static const file_use files[] = {
    {.operand = MATVEC_A},
    {.operand = MATVEC_X},
    {.option = "add", .meaning = "add this, times beta, to the product", .operand = MATVEC_Y},
};

static const operation_help help = {
    .usage = "A x -o y [--alpha X] [--beta Y --add y0]",
    .summary = "multiply a matrix by a vector: y := alpha op(A) x + beta y0",
    .details =
        "A is a matrix, x and y0 are vectors (or matrices of one row or column) in .npy or .mtx\n"
        "files; - is standard input.  y is .mtx by its suffix, else .npy.  An array A of rank 3 "
        "or\n"
        "more is a batch of matrices, and the rows of x are a batch of vectors, broadcast as in\n"
        "NumPy: a single matrix or vector serves the whole batch of the other, and the results\n"
        "are the rows of y.  With a single A, a matrix x of one row is a vector, not a batch.\n",
    .examples = "tessera matvec a.npy x.npy -o y.npy --verify\n"
                "tessera matvec a.npy r.npy --trans --alpha -1 --beta 1 --add y.npy -o y.npy\n",
};

static tsr_status lay_out(problem *p, const given_options *given, const char *size, const size_t *n,
                          size_t count, tsr_error *err)
{
    tsr_matvec_problem *q = matvec_in(p);

    (void)given, (void)n, (void)count;
    q->stride_x = q->trans ? q->rows : q->columns;
    q->stride_y = q->trans ? q->columns : q->rows;
    if (size_mul(q->rows, q->columns, &q->stride_a))
        return TSR_OK;
    return tsr_fail(err, TSR_EOVERFLOW, 0,
                    "--size '%s' is too large: a matrix has at most %zu elements", size, SIZE_MAX);
}

/* x is one vector, or the rows of an array; a matrix of one column stands for a vector too where
 * its rows have not the length, and one of one row where A is a lone matrix. */
static tsr_status pose(posing *x, tsr_error *err)
{
    tsr_matvec_problem *p = matvec_in(&x->problem);
    const array *a = &x->array[MATVEC_A];
    array *v = &x->array[MATVEC_X], result = {.type = matvec_type_y(p)};
    char left[SHAPE_SIZE];
    tsr_status st = need_matrices(x, MATVEC_A, "", err);
    unsigned a_batch, v_batch;
    size_t inner, outer;
    broadcast batch;
    const char *hint;

    if (st)
        return st;
    a_batch = a->rank - 2;
    hint = a_batch ? "" : "; matmul multiplies matrices";
    p->rows = a->shape[a_batch];
    p->columns = a->shape[a_batch + 1];
    inner = p->trans ? p->rows : p->columns;
    outer = p->trans ? p->columns : p->rows;
    if (v->rank < 2 || (v->rank == 2 && (v->shape[0] == 1 || v->shape[1] == 1) &&
                        (v->shape[1] != inner || (v->shape[0] == 1 && !a_batch)))) {
        st = need_vector(x, MATVEC_X, hint, err);
        if (st)
            return st;
    }
    v_batch = v->rank - 1;
    st = broadcast_of(x, MATVEC_A, a_batch, MATVEC_X, v_batch, &batch, err);
    if (st)
        return st;
    if (v->shape[v_batch] != inner)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "shapes do not match: %s is %s%s and %s has %zu elements%s, not %zu%s",
                        x->file[MATVEC_A], shape_text(a, left), p->trans ? " transposed" : "",
                        x->file[MATVEC_X], v->shape[v_batch], v_batch ? " a row" : "", inner,
                        v_batch ? hint : "");
    st = broadcast_operand(x, MATVEC_A, a_batch, &batch, &p->stride_a, err);
    st = st ? st : broadcast_operand(x, MATVEC_X, v_batch, &batch, &p->stride_x, err);
    if (st)
        return st;
    p->batch = batch.count;
    p->stride_y = outer;
    result.rank = batch.rank;
    memcpy(result.shape, batch.shape, sizeof result.shape);
    result.shape[result.rank++] = outer;
    if (batch.count == 0) {
        p->batch = 1; /* of nothing */
        p->rows = p->columns = 0;
    }
    return start_product(x, &result, p->beta != 0, err);
}

static const char *host_source(const variant *v)
{
    if (v == &matvec_simd)
        return "host/ops/matvec/matvec_simd_loops.c and matvec_simd_body.h";
    return strncmp(v->name, "contiguous", strlen("contiguous")) == 0
               ? "host/ops/matvec/matvec_level.c and matvec_level_body.h"
               : "host/ops/matvec/matvec_host.c and matvec_host_body.h";
}

static const char *const tune_sizes[] = {"1000", "4096", "10000", "10x1000000", "1000000x10", NULL};
static const char *const tune_sizes_cpu[] = {"1000", "4096", "10x100000", "100000x10", NULL};

static const peer_library peers[] = {PEER_CLBLAST, PEER_CUBLAS, PEER_OPENBLAS, {0}};

const operation_command matvec_command = {
    .sizes = {.bench = "4096",
              .roofline = "16384",
              .roofline_cpu = "4096",
              .tune = tune_sizes,
              .tune_cpu = tune_sizes_cpu},
    .problem_bytes = sizeof(tsr_matvec_problem),
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
    .size_form = "n or ROWSxCOLUMNS",
    .size_numbers = 2,
    .lay_out = lay_out,
    .check_settings = check_added_settings,
    .pose = pose,
};
