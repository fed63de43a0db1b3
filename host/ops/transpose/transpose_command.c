#include <stddef.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "core/posing.h"
#include "file/block.h"
#include "ops/transpose/transpose_problem.h"

static const field fields[] = {
    {.name = "type",
     .kind = FIELD_TYPE,
     .offset = offsetof(tsr_transpose_problem, type),
     .in_class = CLASS_EXACT},
    {.name = "element_bytes",
     .kind = FIELD_COUNT,
     .offset = offsetof(tsr_transpose_problem, element_bytes),
     .option = "element-bytes",
     .otherwise = "those of the type",
     .taken = WITH_SIZES,
     .value = "N",
     .meaning = "move elements of N bytes",
     .expects = "a whole number from 1 to 16",
     .most = ELEMENT_BYTES_MAX},
    {.name = "rows",
     .kind = FIELD_COUNT,
     .offset = offsetof(tsr_transpose_problem, rows),
     .extent = true,
     .in_class = CLASS_POWER_OF_4},
    {.name = "columns",
     .kind = FIELD_COUNT,
     .offset = offsetof(tsr_transpose_problem, columns),
     .extent = true,
     .in_class = CLASS_POWER_OF_4},
    {.name = "batch",
     .kind = FIELD_COUNT,
     .offset = offsetof(tsr_transpose_problem, batch),
     .zero = ZERO_IS_ONE,
     .in_class = CLASS_POWER_OF_4,
     .option = "batch",
     .otherwise = "1",
     .taken = WITH_SIZES,
     .value = "N",
     .meaning = "N matrices of this size, one after another in memory",
     .expects = "a whole number from 1 to 2^30",
     .most = (size_t)1 << 30},
    {.name = "in_place",
     .kind = FIELD_FLAG,
     .offset = offsetof(tsr_transpose_problem, in_place),
     .in_class = CLASS_EXACT,
     .option = "in-place",
     .taken = WITH_FILES | WITH_SIZES,
     .meaning = "transpose a square matrix in its own memory"},
};

static const problem_member members[] = {
    PROBLEM_MEMBER(tsr_transpose_problem, lda, COUNT),
    PROBLEM_MEMBER(tsr_transpose_problem, ldb, COUNT),
    PROBLEM_MEMBER(tsr_transpose_problem, offset_a, COUNT),
    PROBLEM_MEMBER(tsr_transpose_problem, offset_b, COUNT),
    PROBLEM_MEMBER(tsr_transpose_problem, stride_a, COUNT),
    PROBLEM_MEMBER(tsr_transpose_problem, stride_b, COUNT),
};

static const file_use files[] = {{.operand = TRANSPOSE_A, .as_it_is = true, .moved = true}};

static const operation_help help = {
    .usage = "A -o B [--in-place]",
    .summary = "transpose matrices of any type: B := A^T",
    .details =
        "A is a matrix in a .npy or .mtx file; - is standard input.  An array of rank 3 or more is "
        "a\n"
        "batch: the last two dimensions change places, as by NumPy's swapaxes(-1, -2).  B is .mtx "
        "by\n"
        "its suffix, else .npy, in the order of rows.  Elements are of any type of 1 to 16 bytes, "
        "and\n"
        "are moved as they are; --as converts them first.\n",
    .examples = "tessera transpose a.npy -o b.npy\n"
                "tessera transpose square.npy -o square.npy --in-place\n",
};

/* What a file holds in the array of its operand: in place it is the result's. */
static tsr_status pose(posing *x, tsr_error *err)
{
    tsr_transpose_problem *p = transpose_in(&x->problem);
    array *a = &x->array[TRANSPOSE_A], *b = &x->array[TRANSPOSE_B];
    tsr_status st = need_matrices(x, TRANSPOSE_A, "", err);
    unsigned batch;
    size_t bytes;

    if (st)
        return st;
    batch = a->rank - 2;
    p->type = a->type;
    p->element_bytes = a->opaque;
    p->batch = 1;
    for (unsigned i = 0; i < batch; i++)
        p->batch *= a->shape[i];
    p->rows = a->shape[batch];
    p->columns = a->shape[batch + 1];
    if (p->batch == 0) { /* of nothing */
        p->rows = p->columns = 0;
    }
    if (a->opaque > ELEMENT_BYTES_MAX)
        return tsr_fail(
            err, TSR_EINVAL, 0, "%s is %s: elements of %zu bytes, and of up to %d are transposed",
            x->file[TRANSPOSE_A], array_type_name(a), a->opaque, (int)ELEMENT_BYTES_MAX);
    *b = *a;
    b->shape[batch] = a->shape[batch + 1];
    b->shape[batch + 1] = a->shape[batch];
    if (p->in_place) {
        *a = (array){0};
        return TSR_OK;
    }
    b->data = NULL;
    bytes = array_count(a) * array_element_size(a);
    return bytes ? block_allocate("the result", bytes, &b->data, err) : TSR_OK;
}

static const char *host_source(const variant *v)
{
    return v == &transpose_simd ? "host/ops/transpose/transpose_loops.c"
                                : "host/ops/transpose/transpose_host.c";
}

static const char *const tune_sizes[] = {"512", "2048", "8192", "4095x8193", NULL};
static const char *const tune_sizes_cpu[] = {"512", "2048", "4096", NULL};

static const peer_library peers[] = {PEER_CUBLAS, PEER_OPENBLAS, {0}};

const operation_command transpose_command = {
    .sizes = {.bench = "4096",
              .roofline = "8192",
              .roofline_cpu = "4096",
              .tune = tune_sizes,
              .tune_cpu = tune_sizes_cpu},
    .fields = fields,
    .field_count = ARRAY_COUNT(fields),
    .members = members,
    .member_count = ARRAY_COUNT(members),
    .problem_bytes = sizeof(tsr_transpose_problem),
    .peers = peers,
    .files = files,
    .file_count = ARRAY_COUNT(files),
    .no_output = "'-o FILE' says where the transposed matrix goes",
    .help = &help,
    .size_form = "n or MxN",
    .size_numbers = 2,
    .pose = pose,
    .host_source = host_source,
};
