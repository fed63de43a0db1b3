#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "core/posing.h"
#include "ops/axpy/axpy_problem.h"

/* A whole number that float64 rounds is none that an integer could be multiplied by. */
static bool is_factor(const char *value)
{
    char *end;
    long long whole;
    double held;

    errno = 0;
    whole = strtoll(value, &end, 10);
    held = (double)whole;
    return *end || errno || (held < 0x1p63 && (long long)held == whole);
}

static const field fields[] = {
    {.name = "type",
     .kind = FIELD_TYPE,
     .offset = offsetof(tsr_axpy_problem, type),
     .in_class = CLASS_EXACT},
    {.name = "n",
     .kind = FIELD_COUNT,
     .offset = offsetof(tsr_axpy_problem, n),
     .extent = true,
     .in_class = CLASS_POWER_OF_2},
    {.name = "alpha",
     .kind = FIELD_REAL,
     .offset = offsetof(tsr_axpy_problem, alpha),
     .normal = 1,
     .option = "alpha",
     .otherwise = "1",
     .taken = WITH_FILES | WITH_SIZES,
     .value = "A",
     .meaning = "factor of X; of integers a whole number",
     .expects = "a number, whole ones as float64 holds them",
     .reads = is_factor},
    {.name = "in_place",
     .kind = FIELD_FLAG,
     .offset = offsetof(tsr_axpy_problem, in_place),
     .option = "in-place",
     .taken = WITH_SIZES,
     .meaning = "add to the second array, and write no third one"},
};

static const problem_member members[] = {
    PROBLEM_MEMBER(tsr_axpy_problem, incx, COUNT),
    PROBLEM_MEMBER(tsr_axpy_problem, incy, COUNT),
    PROBLEM_MEMBER(tsr_axpy_problem, incz, COUNT),
    PROBLEM_MEMBER(tsr_axpy_problem, offset_x, COUNT),
    PROBLEM_MEMBER(tsr_axpy_problem, offset_y, COUNT),
    PROBLEM_MEMBER(tsr_axpy_problem, offset_z, COUNT),
};

/* What is added comes in the result's array. */
static const file_use files[] = {{.operand = AXPY_X}, {.operand = AXPY_Z}};

static const operation_help help = {
    .usage = "X Y -o Z [--alpha A]",
    .summary = "add two arrays, the first times a factor: Z := A X + Y",
    .details = "X and Y are arrays of one shape and type in .npy or .mtx files; - is standard "
               "input.  Z is\n"
               ".mtx by its suffix, else .npy.  Integers wrap, as NumPy has them.  The sum is made "
               "in the memory\n"
               "that Y was read into (\"in place\"): the files X and Y stay as they are.\n",
    .examples = "tessera axpy x.npy y.npy -o sum.npy --verify\n"
                "tessera axpy x.npy y.npy -o y.npy --alpha -0.5\n",
};

static tsr_status pose(posing *x, tsr_error *err)
{
    const array *a = &x->array[AXPY_X], *b = &x->array[AXPY_Z];
    char left[SHAPE_SIZE], right[SHAPE_SIZE];

    if (a->rank != b->rank || memcmp(a->shape, b->shape, a->rank * sizeof(*a->shape)) != 0)
        return tsr_fail(err, TSR_EINVAL, 0, "shapes do not match: %s is %s and %s is %s",
                        x->file[AXPY_X], shape_text(a, left), x->file[AXPY_Z],
                        shape_text(b, right));
    if (a->boolean || b->boolean)
        return tsr_fail(
            err, TSR_EINVAL, 0,
            "%s is bool, and only numbers can be scaled and added; --as f32 converts it",
            x->file[a->boolean ? AXPY_X : AXPY_Z]);
    axpy_in(&x->problem)->n = array_count(a);
    axpy_in(&x->problem)->in_place = true;
    return TSR_OK;
}

static const char *host_source(const variant *v)
{
    return v == &axpy_simd ? "host/ops/axpy/axpy_simd_loops.c" : "host/ops/axpy/axpy_host.c";
}

static const char *const tune_sizes[] = {"2^16", "2^20", "2^24", "2^28", NULL};
static const char *const tune_sizes_cpu[] = {"2^16", "2^20", "2^24", NULL};

static const peer_library peers[] = {PEER_CLBLAST,
                                     PEER_CUB,
                                     PEER_CUBLAS,
                                     PEER_OPENBLAS,
                                     PEER_TBB("parallel std::transform (TBB)"),
                                     {"std", "std::transform", "g++"},
                                     {0}};

const operation_command axpy_command = {
    .sizes = {.bench = "2^24",
              .roofline = "2^28",
              .roofline_cpu = "2^24",
              .tune = tune_sizes,
              .tune_cpu = tune_sizes_cpu},
    .fields = fields,
    .field_count = ARRAY_COUNT(fields),
    .members = members,
    .member_count = ARRAY_COUNT(members),
    .problem_bytes = sizeof(tsr_axpy_problem),
    .peers = peers,
    .files = files,
    .file_count = ARRAY_COUNT(files),
    .no_output = "'-o FILE' says where the sum goes",
    .help = &help,
    .size_form = "a number of elements",
    .size_numbers = 1,
    .pose = pose,
    .host_source = host_source,
};
