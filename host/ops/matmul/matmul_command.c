#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "core/posing.h"
#include "ops/matmul/matmul_fields.h"
#include "ops/matmul/matmul_shape.h"

static const field fields[] = {
    PRODUCT_TYPE_FIELDS(tsr_matmul_problem, c_f32),
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
    PRODUCT_FACTOR_FIELDS(tsr_matmul_problem, CLASS_POWER_OF_2),
    {.kind = FIELD_PRECISION,
     .offset = offsetof(tsr_matmul_problem, precision),
     .in_class = CLASS_EXACT,
     .option = "precision",
     .otherwise = "that of the type",
     .taken = WITH_FILES | WITH_SIZES,
     .value = "P",
     .meaning = "f32, f32-strict, f64; tf32, bf16 or f16 round the factors of float32 operands, "
                "which matrix units multiply faster",
     .expects = "f32, f32-strict, tf32, bf16, f16 or f64"},
};

static const file_use files[] = {
    {.operand = MATMUL_A},
    {.operand = MATMUL_B},
    {.option = "add", .meaning = "add this, times beta, to the product", .operand = MATMUL_C},
};

static const operation_help help = {
    .usage = "A B -o C [--alpha X] [--beta Y --add C0]",
    .summary = "multiply matrices: C := alpha op(A) op(B) + beta C0",
    .details =
        "A, B and C0 are matrices in .npy or .mtx files; - is standard input.  C is .mtx by its\n"
        "suffix, else .npy.  An array of rank 3 is a batch of matrices, as NumPy has it.\n",
};

static tsr_status lay_out(problem *p, const given_options *given, const char *size, const size_t *n,
                          size_t count, tsr_error *err)
{
    tsr_matmul_problem *q = matmul_in(p);

    (void)given, (void)n, (void)count;
    if (size_mul(q->m, q->k, &q->stride_a) && size_mul(q->k, q->n, &q->stride_b) &&
        size_mul(q->m, q->n, &q->stride_c))
        return TSR_OK;
    return tsr_fail(err, TSR_EOVERFLOW, 0,
                    "--size '%s' is too large: a matrix has at most %zu elements", size, SIZE_MAX);
}

static tsr_status pose(posing *x, tsr_error *err)
{
    tsr_matmul_problem *p = matmul_in(&x->problem);
    const array *a = &x->array[MATMUL_A], *b = &x->array[MATMUL_B];
    array result;
    char left[SHAPE_SIZE], right[SHAPE_SIZE];
    matrices of_a, of_b;
    size_t batch, inner;

    for (unsigned i = 0; i < MATMUL_OPERANDS; i++) {
        tsr_status st =
            x->file[i]
                ? need_matrices(x, i,
                                i < MATMUL_C ? "; matvec multiplies a matrix by a vector" : "", err)
                : TSR_OK;

        if (st)
            return st;
    }
    of_a = matrices_of(a);
    of_b = matrices_of(b);
    batch = of_a.count == 1 ? of_b.count : of_a.count;
    inner = p->trans_b ? of_b.columns : of_b.rows;
    p->m = p->trans_a ? of_a.columns : of_a.rows;
    p->n = p->trans_b ? of_b.rows : of_b.columns;
    p->k = p->trans_a ? of_a.rows : of_a.columns;
    p->batch = batch;
    p->stride_a = matrices_stride(&of_a);
    p->stride_b = matrices_stride(&of_b);
    if (inner != p->k)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "shapes do not match: %s is %s%s and %s is %s%s, inner lengths %zu and %zu",
                        x->file[MATMUL_A], shape_text(a, left), p->trans_a ? " transposed" : "",
                        x->file[MATMUL_B], shape_text(b, right), p->trans_b ? " transposed" : "",
                        p->k, inner);
    if ((of_a.count != batch && of_a.count != 1) || (of_b.count != batch && of_b.count != 1))
        return tsr_fail(err, TSR_EINVAL, 0,
                        "shapes do not match: %s is %s and %s is %s, batches of %zu and %zu",
                        x->file[MATMUL_A], shape_text(a, left), x->file[MATMUL_B],
                        shape_text(b, right), of_a.count, of_b.count);
    result = (array){.type = matmul_type_c(p), .rank = 2, .shape = {p->m, p->n}};
    if (a->rank == 3 || b->rank == 3)
        result = (array){.type = result.type, .rank = 3, .shape = {batch, p->m, p->n}};
    if (result.rank == 3 && names_mtx(x->output[MATMUL_C]))
        return tsr_fail(err, TSR_EINVAL, 0,
                        "output %s: a .mtx file holds one matrix, and the result is %s",
                        x->output[MATMUL_C], shape_text(&result, left));
    if (!size_mul(p->m, p->n, &p->stride_c))
        p->stride_c = 0; /* start_product() refuses a result of so many elements */
    if (batch == 0) {
        p->batch = 1; /* of nothing */
        p->m = 0;
    }
    return start_product(x, &result, p->beta, err);
}

static const char *host_source(const variant *v)
{
    (void)v;
    return "host/ops/matmul/matmul_host.c and matmul_host_body.h";
}

static const char *const tune_sizes[] = {"512", "1024", "2048", "4096", "8192", NULL};
static const char *const tune_sizes_cpu[] = {"256", "512", "1024", NULL};

static const peer_library peers[] = {{"clblast", "CLBlast", "libclblast-dev"},
                                     {"cublas", "cuBLAS", "NVIDIA's CUDA toolkit"},
                                     {"openblas", "OpenBLAS", "libopenblas-dev"},
                                     {0}};

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
    .files = files,
    .file_count = ARRAY_COUNT(files),
    .help = &help,
    .host_source = host_source,
    .no_output = "'-o FILE' says where the result goes",
    .size_form = "n or MxNxK",
    .size_numbers = 3,
    .rounds_factors = true,
    .lay_out = lay_out,
    .check_settings = check_added_settings,
    .pose = pose,
};
