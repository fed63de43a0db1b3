#include <stddef.h>

#include "base/sizes.h"
#include "core/fields.h"
#include "core/posing.h"
#include "ops/reduce/reduce_problem.h"

static const field_choice reductions[] = {
    {"sum", TSR_REDUCE_SUM}, {"min", TSR_REDUCE_MIN}, {"max", TSR_REDUCE_MAX}, {NULL, 0}};

static const field fields[] = {
    {.name = "type",
     .kind = FIELD_TYPE,
     .offset = offsetof(tsr_reduce_problem, type),
     .in_class = CLASS_EXACT},
    {.name = "n",
     .kind = FIELD_COUNT,
     .offset = offsetof(tsr_reduce_problem, n),
     .extent = true,
     .in_class = CLASS_POWER_OF_2},
    {.name = "by",
     .kind = FIELD_CHOICE,
     .offset = offsetof(tsr_reduce_problem, by),
     .in_class = CLASS_EXACT,
     .option = "by",
     .otherwise = "sum",
     .taken = WITH_FILES | WITH_SIZES,
     .value = "NAME",
     .meaning = "combine elements to their sum, min or max",
     .expects = "sum, min or max",
     .choices = reductions},
};

const char *reduce_by_name(const problem *p)
{
    return field_choice_name(field_of_kind(p->op, FIELD_CHOICE), p);
}

static const file_use files[] = {{.operand = REDUCE_X}};

static const operation_help help = {
    .usage = "X -o R [--by sum|min|max]",
    .summary = "compute the sum, minimum or maximum of an array",
    .details = "X is an array of any shape in a .npy or .mtx file; - is standard input.  R, an "
               "array of one\n"
               "element, is .mtx by its suffix, else .npy.  A NaN in X makes R NaN.\n",
    .examples = "tessera reduce x.npy -o sum.npy --verify\n"
                "tessera reduce x.npy --by max -o largest.npy\n",
};

static tsr_status pose(posing *x, tsr_error *err)
{
    const array *a = &x->array[REDUCE_X];
    const array result = {.type = a->type, .rank = 1, .shape = {1}};

    reduce_in(&x->problem)->n = array_count(a);
    return make_zeros(&result, &x->array[REDUCE_RESULT], err);
}

static const char *host_source(const variant *v)
{
    return v == &reduce_simd ? "host/ops/reduce/reduce_simd_loops.c" : "host/ops/reduce/reduce.c";
}

static const char *const tune_sizes[] = {"2^16", "2^20", "2^24", "2^28", NULL};
static const char *const tune_sizes_cpu[] = {"2^16", "2^20", "2^24", NULL};

static const peer_library peers[] = {
    {"tbb", "parallel std::reduce (TBB)", "libtbb-dev"}, {"std", "std::reduce", "g++"}, {0}};

const operation_command reduce_command = {
    .sizes = {.bench = "2^24",
              .roofline = "2^28",
              .roofline_cpu = "2^24",
              .tune = tune_sizes,
              .tune_cpu = tune_sizes_cpu},
    .problem_bytes = sizeof(tsr_reduce_problem),
    .peers = peers,
    .fields = fields,
    .field_count = ARRAY_COUNT(fields),
    .files = files,
    .file_count = ARRAY_COUNT(files),
    .help = &help,
    .host_source = host_source,
    .no_output = "'-o FILE' says where the result goes",
    .size_form = "a number of elements",
    .size_numbers = 1,
    .pose = pose,
};
