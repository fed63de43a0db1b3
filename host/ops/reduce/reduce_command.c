#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "core/fields.h"
#include "core/posing.h"
#include "ops/reduce/reduce_problem.h"

static const field_choice reductions[] = {{"sum", TSR_REDUCE_SUM},
                                          {"min", TSR_REDUCE_MIN},
                                          {"max", TSR_REDUCE_MAX},
                                          {"argmin", TSR_REDUCE_ARGMIN},
                                          {"argmax", TSR_REDUCE_ARGMAX},
                                          {"mean", TSR_REDUCE_MEAN},
                                          {"norm2", TSR_REDUCE_NORM2},
                                          {"any", TSR_REDUCE_ANY},
                                          {"all", TSR_REDUCE_ALL},
                                          {"count", TSR_REDUCE_COUNT},
                                          {NULL, 0}};

/* "all", or a whole number of either sign. */
static bool is_axis(const char *value)
{
    uint64_t n;

    return !strcmp(value, "all") ||
           (whole_read(value + (*value == '-'), &n) && n < ARRAY_RANK_MAX + 1);
}

static const field fields[] = {
    {.name = "type", .kind = FIELD_TYPE, .offset = offsetof(tsr_reduce_problem, type)},
    {.name = "outer",
     .kind = FIELD_COUNT,
     .offset = offsetof(tsr_reduce_problem, outer),
     .zero = ZERO_IS_ONE},
    {.name = "n", .kind = FIELD_COUNT, .offset = offsetof(tsr_reduce_problem, n), .extent = true},
    {.name = "inner",
     .kind = FIELD_COUNT,
     .offset = offsetof(tsr_reduce_problem, inner),
     .zero = ZERO_IS_ONE},
    {.name = "by",
     .kind = FIELD_CHOICE,
     .offset = offsetof(tsr_reduce_problem, by),
     .option = "by",
     .otherwise = "sum",
     .taken = WITH_FILES | WITH_SIZES,
     .value = "NAME",
     .meaning = "what to compute: sum, mean, min or max; argmin or argmax, the index of the least "
                "or largest; norm2, the root of the sum of squares; any or all, whether one or "
                "each is not 0; count, how many are not 0",
     .choices = reductions},
    {.kind = FIELD_ASKED,
     .option = "axis",
     .otherwise = "all",
     .taken = WITH_FILES | WITH_SIZES,
     .value = "N",
     .meaning = "reduce along this axis: of a matrix 0 gives a result for each column, 1 for each "
                "row; -1 is the last axis",
     .expects = "all or a whole number",
     .reads = is_axis},
    {.name = "any_order",
     .kind = FIELD_FLAG,
     .offset = offsetof(tsr_reduce_problem, any_order),
     .option = "any-order",
     .taken = WITH_FILES | WITH_SIZES,
     .meaning = "let sums be added in another order each time, as atomic operations do"},
};

static const problem_member members[] = {
    PROBLEM_MEMBER(tsr_reduce_problem, offset_x, COUNT),
    PROBLEM_MEMBER(tsr_reduce_problem, offset_result, COUNT),
    PROBLEM_MEMBER(tsr_reduce_problem, step, COUNT),
    PROBLEM_MEMBER(tsr_reduce_problem, stride, COUNT),
};

const char *reduce_by_name(const problem *p)
{
    return field_choice_name(field_of_kind(p->op, FIELD_CHOICE), p);
}

/* ---- sizes --------------------------------------------------------------------------------- */

/* Set outer, n and inner to what reducing an array of this shape along --axis takes. */
static tsr_status set_shape(tsr_reduce_problem *p, const given_options *given, const char *what,
                            const size_t *shape, size_t rank, tsr_error *err)
{
    const char *asked = setting_of(given, "axis");
    const bool all = !asked || !strcmp(asked, "all");
    const long given_axis = all ? 0 : strtol(asked, NULL, 10);
    const long axis = given_axis < 0 ? given_axis + (long)rank : given_axis;

    if (!all && rank == 0)
        return tsr_fail(err, TSR_EINVAL, 0, "%s is a single number and has no axis %ld", what,
                        given_axis);
    if (!all && (axis < 0 || axis >= (long)rank))
        return tsr_fail(err, TSR_EINVAL, 0, "%s has axes -%zu to %zu, and no axis %ld", what, rank,
                        rank - 1, given_axis);
    p->outer = p->n = p->inner = 1;
    for (size_t i = 0; i < rank; i++) {
        size_t *extent = all || (long)i == axis ? &p->n : (long)i < axis ? &p->outer : &p->inner;

        if (!size_mul(*extent, shape[i], extent))
            return tsr_fail(err, TSR_EOVERFLOW, 0, "%s has more than %zu elements", what, SIZE_MAX);
    }
    return TSR_OK;
}

static tsr_status lay_out(problem *p, const given_options *given, const char *size, const size_t *n,
                          size_t count, tsr_error *err)
{
    char what[64];

    snprintf(what, sizeof(what), "--size %.40s", size);
    return set_shape(reduce_in(p), given, what, n, count, err);
}

/* The shape that --axis cuts into outer, n and inner, without extents of 1. */
static void append_shape(const reduce_shape *s, text *out)
{
    if (s->outer > 1)
        text_format(out, "%zux", s->outer);
    text_format(out, "%zu", s->n);
    if (s->inner > 1)
        text_format(out, "x%zu", s->inner);
}

void reduce_size_text(const problem *p, text *out)
{
    const reduce_shape s = reduce_shape_of(reduce_of(p));

    append_shape(&s, out);
}

void reduce_shrink(problem *q)
{
    tsr_reduce_problem *p = reduce_in(q);
    size_t part = 64;
    size_t *const extents[] = {&p->outer, &p->inner, &p->n};

    for (size_t i = 0; i < ARRAY_COUNT(extents) && part > 1; i++)
        while (part > 1 && *extents[i] >= 2 * part) {
            *extents[i] /= part;
            part = 1;
        }
    p->step = p->stride = 0;
}

void reduce_describe(const problem *q, text *out)
{
    const tsr_reduce_problem *p = reduce_of(q);
    const reduce_shape s = reduce_shape_of(p);

    text_append(out, reduce_by_name(q));
    if (s.outer > 1 && s.inner > 1)
        text_append(out, " along axis 1 of ");
    else
        text_append(out, s.outer > 1   ? " of each row of "
                         : s.inner > 1 ? " of each column of "
                                       : " of ");
    append_shape(&s, out);
    text_format(out, " %s", tsr_type_name(p->type));
    if (p->step || p->stride)
        text_format(out, " step %zu stride %zu", s.step, s.stride);
    if (p->offset_x || p->offset_result)
        text_format(out, " offsets %zu %zu", p->offset_x, p->offset_result);
    if (p->any_order)
        text_append(out, " in any order");
}

/* ---- tuning classes ------------------------------------------------------------------------ */

static size_t power_of_2(size_t n)
{
    return n ? (size_t)1 << (size_log2_up(n + 1) - 1) : 0;
}

/* "float32 sum 1024", or with rows and columns "float32 sum 64x1024x1". */
void reduce_classify(const problem *q, text *out)
{
    const reduce_shape s = reduce_shape_of(reduce_of(q));

    text_format(out, "%s %s ", tsr_type_name(reduce_of(q)->type), reduce_by_name(q));
    if (s.outer == 1 && s.inner == 1)
        text_format(out, "%zu", s.n ? power_of_2(s.n) : 1);
    else
        text_format(out, "%zux%zux%zu", power_of_2(s.outer), s.n ? power_of_2(s.n) : 1,
                    power_of_2(s.inner));
}

static void append_range(const char *name, size_t power, text *out)
{
    text_format(out, ", %s %zu", name, power);
    if (power > 1)
        text_format(out, "-%zu", 2 * power - 1);
}

bool reduce_class_text(const char *name, text *out)
{
    char type[16], by[16];
    size_t n[3];
    int end = 0;
    bool known = false;

    if (sscanf(name, "%15s %15s %n", type, by, &end) < 2 || !end)
        return false;
    for (int t = 0; t < TSR_TYPE_COUNT; t++)
        for (const field_choice *c = reductions; c->name; c++)
            known = known || (!strcmp(type, tsr_type_name((tsr_type)t)) && !strcmp(by, c->name));
    name += end;
    if (!known)
        return false;
    end = 0;
    if (sscanf(name, "%zux%zux%zu%n", &n[0], &n[1], &n[2], &end) == 3 && end && !name[end]) {
        text_format(out, "%s %s", type, by);
        append_range("outer", n[0], out);
        append_range("N", n[1], out);
        append_range("inner", n[2], out);
        return true;
    }
    if (sscanf(name, "%zu%n", &n[0], &end) == 1 && end && !name[end]) {
        text_format(out, "%s %s", type, by);
        append_range("N", n[0], out);
        return true;
    }
    return false;
}

/* ---- files --------------------------------------------------------------------------------- */

static const file_use files[] = {{.operand = REDUCE_X}};

static const operation_help help = {
    .usage = "X [-o R] [--by NAME] [--axis N]",
    .summary = "compute the sum, mean, norm, minimum, maximum or count of an array, or along an "
               "axis",
    .details =
        "X is an array of any shape in a .npy or .mtx file; - is standard input.  R has\n"
        "the shape of X without the axis, or one element, and NumPy's type for the result: the "
        "sum\n"
        "of integers has 64 bits.  R is .mtx by its suffix, else .npy; without -o the numbers are\n"
        "printed, one a line.  A NaN in X makes a sum, mean, norm, min or max NaN.\n",
    .examples = "tessera reduce x.npy\n"
                "tessera reduce x.npy --by max -o largest.npy --verify\n"
                "tessera reduce table.npy --axis 0 --by mean -o means.npy\n"
                "tessera bench reduce --size 100000x1000 --axis 1\n",
};

/* The shape of x without the axis. */
static array result_of(const posing *x)
{
    const array *a = &x->array[REDUCE_X];
    const char *asked = setting_of(x->given, "axis");
    array result = {.type = tsr_reduce_result_type(a->type, reduce_of(&x->problem)->by),
                    .rank = 1,
                    .shape = {1}};

    if (asked && strcmp(asked, "all") != 0 && a->rank > 1) {
        const long given_axis = strtol(asked, NULL, 10);
        const size_t axis = (size_t)(given_axis < 0 ? given_axis + (long)a->rank : given_axis);

        result.rank = a->rank - 1;
        for (size_t i = 0, to = 0; i < a->rank; i++)
            if (i != axis)
                result.shape[to++] = a->shape[i];
    }
    return result;
}

/* No results at all: one sum of nothing takes their place, and cut() leaves none of it. */
static bool has_no_results(const posing *x)
{
    const array result = result_of(x);

    return array_count(&result) == 0;
}

static tsr_status pose(posing *x, tsr_error *err)
{
    tsr_reduce_problem *p = reduce_in(&x->problem);
    const array *a = &x->array[REDUCE_X];
    tsr_status st = set_shape(p, x->given, x->file[REDUCE_X], a->shape, a->rank, err);
    array result;

    if (st)
        return st;
    result = result_of(x);
    if (array_count(&result) == 0) {
        /* Extremes along an empty axis stay what they are, and are refused. */
        if (p->n > 0 || !reduce_finds_extreme(p))
            p->by = TSR_REDUCE_SUM;
        p->n = 0;
        p->outer = p->inner = 1;
        result = (array){.type = tsr_reduce_result_type(a->type, p->by), .rank = 1, .shape = {1}};
    }
    return make_zeros(&result, &x->array[REDUCE_RESULT], err);
}

/* The reduction that was asked for, also where pose() has put a sum in its place. */
static size_t reduction_of(const posing *x)
{
    problem asked = x->problem;

    fields_set(&asked, x->given, WITH_FILES);
    return reduce_of(&asked)->by;
}

/* The result as NumPy would have it: of its shape and, of booleans, type.  The bits are the same:
 * no sum of booleans reaches 2^63. */
static void cut(posing *x)
{
    const array shape = result_of(x);
    const size_t by = reduction_of(x);
    const bool boolean = x->array[REDUCE_X].boolean;
    array *r = &x->array[REDUCE_RESULT];

    if (has_no_results(x)) {
        r->rank = shape.rank;
        r->type = tsr_reduce_result_type(x->array[REDUCE_X].type, by);
        memcpy(r->shape, shape.shape, sizeof(r->shape));
    }
    r->boolean = by == TSR_REDUCE_ANY || by == TSR_REDUCE_ALL ||
                 (boolean && (by == TSR_REDUCE_MIN || by == TSR_REDUCE_MAX));
    if (boolean && by == TSR_REDUCE_SUM)
        r->type = TSR_I64;
}

static void describe_asked(const posing *x, text *out)
{
    const array *a = &x->array[REDUCE_X];
    problem asked = x->problem;
    char shape[SHAPE_SIZE];

    if (!has_no_results(x)) {
        reduce_describe(&x->problem, out);
        return;
    }
    reduce_in(&asked)->by = reduction_of(x);
    text_format(out, "%s along axis %s of %s %s", reduce_by_name(&asked),
                setting_of(x->given, "axis"), shape_text(a, shape), tsr_type_name(a->type));
}

static const char *host_source(const variant *v)
{
    return v == &reduce_simd ? "host/ops/reduce/reduce_simd_body.h" : "host/ops/reduce/reduce.c";
}

static const char *const tune_sizes[] = {"2^16", "2^20", "2^24", "2^28", NULL};
static const char *const tune_sizes_cpu[] = {"2^16", "2^20", "2^24", NULL};

static const peer_library peers[] = {{"boost_compute", "Boost.Compute", "libboost-dev"},
                                     PEER_CUB,
                                     PEER_CUBLAS,
                                     PEER_OPENBLAS,
                                     PEER_TBB("parallel std::reduce (TBB)"),
                                     {"std", "std::reduce", "g++"},
                                     {0}};

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
    .members = members,
    .member_count = ARRAY_COUNT(members),
    .files = files,
    .file_count = ARRAY_COUNT(files),
    .help = &help,
    .host_source = host_source,
    .prints_result = true,
    .size_form = "a number of elements, or ROWSxCOLUMNS",
    .size_numbers = 2,
    .lay_out = lay_out,
    .pose = pose,
    .cut = cut,
    .describe_asked = describe_asked,
};
