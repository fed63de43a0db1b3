#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "core/fields.h"
#include "core/posing.h"
#include "ops/scan/scan_problem.h"

static const field_choice ways[] = {
    {"sum", TSR_SCAN_SUM}, {"min", TSR_SCAN_MIN}, {"max", TSR_SCAN_MAX}, {NULL, 0}};

/* Of a dimension; negative ones count from the last. */
static bool axis_read(const char *value, int *out)
{
    char *end;
    const long n = strtol(value, &end, 10);

    if (end == value || *end || value[0] == '+' || value[0] == ' ' || n < -ARRAY_RANK_MAX ||
        n >= ARRAY_RANK_MAX)
        return false;
    *out = (int)n;
    return true;
}

static bool is_axis(const char *value)
{
    int axis;

    return axis_read(value, &axis);
}

static const field fields[] = {
    {.name = "type",
     .kind = FIELD_TYPE,
     .offset = offsetof(tsr_scan_problem, type),
     .in_class = CLASS_EXACT},
    {.name = "outer",
     .kind = FIELD_COUNT,
     .offset = offsetof(tsr_scan_problem, outer),
     .extent = true,
     .zero = ZERO_IS_ONE,
     .in_class = CLASS_POWER_OF_4},
    {.name = "n",
     .kind = FIELD_COUNT,
     .offset = offsetof(tsr_scan_problem, n),
     .extent = true,
     .in_class = CLASS_POWER_OF_4},
    {.name = "inner",
     .kind = FIELD_COUNT,
     .offset = offsetof(tsr_scan_problem, inner),
     .extent = true,
     .zero = ZERO_IS_ONE,
     .in_class = CLASS_POWER_OF_4},
    {.name = "by",
     .kind = FIELD_CHOICE,
     .offset = offsetof(tsr_scan_problem, by),
     .in_class = CLASS_EXACT,
     .option = "by",
     .otherwise = "sum",
     .taken = WITH_FILES | WITH_SIZES,
     .value = "NAME",
     .meaning = "running sums, or with min or max running minima or maxima",
     .choices = ways},
    {.name = "exclusive",
     .kind = FIELD_FLAG,
     .offset = offsetof(tsr_scan_problem, exclusive),
     .option = "exclusive",
     .taken = WITH_FILES | WITH_SIZES,
     .meaning = "the result at each element covers those before it, without itself"},
    {.name = "reverse",
     .kind = FIELD_FLAG,
     .offset = offsetof(tsr_scan_problem, reverse),
     .option = "reverse",
     .taken = WITH_FILES | WITH_SIZES,
     .meaning = "go from the end to the front"},
    {.name = "same_type",
     .kind = FIELD_FLAG,
     .offset = offsetof(tsr_scan_problem, same_type),
     .option = "same-type",
     .taken = WITH_FILES | WITH_SIZES,
     .meaning = "sums of integers have the elements' type, in which they wrap, not 64 bits"},
    {.kind = FIELD_ASKED,
     .option = "axis",
     .otherwise = "the whole array, row after row",
     .taken = WITH_FILES,
     .value = "N",
     .meaning = "scan along dimension N, from 0 on or, from -1 down, counted from the last",
     .expects = "a dimension: 0, 1... or -1, -2...",
     .reads = is_axis},
    {.name = "segments",
     .kind = FIELD_COUNT,
     .offset = offsetof(tsr_scan_problem, segments),
     .option = "segments",
     .otherwise = "none",
     .taken = WITH_SIZES,
     .value = "N",
     .meaning = "N segments of random lengths, each scanned by itself",
     .expects = "a whole number from 1 on"},
};

static const problem_member members[] = {
    PROBLEM_MEMBER(tsr_scan_problem, offset_x, COUNT),
    PROBLEM_MEMBER(tsr_scan_problem, offset_result, COUNT),
    PROBLEM_MEMBER(tsr_scan_problem, offset_segments, COUNT),
};

const char *scan_by_name(const problem *p)
{
    return field_choice_name(field_of_kind(p->op, FIELD_CHOICE), p);
}

static const file_use files[] = {
    {.operand = SCAN_X},
    {.option = "segments",
     .meaning = "scan each segment by itself: FILE has where they start, and last the number of "
                "elements",
     .operand = SCAN_SEGMENTS,
     .as_it_is = true},
};

static const operation_help help = {
    .usage = "X -o S [--by sum|min|max] [--exclusive] [--reverse] [--axis N] [--segments OFFSETS]",
    .summary = "compute the running sums, minima or maxima of an array",
    .details =
        "X is an array of any shape in a .npy or .mtx file; - is standard input.  S has its shape\n"
        "and, but for sums of integers, its type: those are int64 or uint64, as of NumPy's "
        "cumsum,\n"
        "unless --same-type.  Without --axis X is one sequence, row after row.  A NaN in X makes\n"
        "all results from it on NaN.\n"
        "With --segments X is a vector, and OFFSETS a .npy file of ascending whole numbers: where\n"
        "each segment starts, from 0, and at the end the number of elements.  Two equal numbers\n"
        "stand for an empty segment.\n",
    .examples = "tessera scan x.npy -o sums.npy --verify\n"
                "tessera scan table.npy -o best_so_far.npy --by max --axis 0\n",
};

static tsr_status check_settings(const given_options *given, tsr_error *err)
{
    if (setting_of(given, "axis") && setting_of(given, "segments"))
        return tsr_fail(err, TSR_ENAME, 0, "--axis %s and --segments %s exclude each other",
                        setting_of(given, "axis"), setting_of(given, "segments"));
    return TSR_OK;
}

/* A number of elements, or all three extents. */
static tsr_status lay_out(problem *q, const given_options *given, const char *size, const size_t *n,
                          size_t count, tsr_error *err)
{
    tsr_scan_problem *p = scan_in(q);

    (void)given, (void)n;
    if (count == 1)
        p->outer = p->inner = 1;
    if (count > 1 && p->segments)
        return tsr_fail(
            err, TSR_ENAME, 0,
            "--segments %zu need a single line: --size must be a number of elements, not '%s'",
            p->segments, size);
    return TSR_OK;
}

/* The dimensions before the axis, the axis, and those behind it. */
static tsr_status pose_axis(posing *x, const char *value, tsr_error *err)
{
    tsr_scan_problem *p = scan_in(&x->problem);
    const array *a = &x->array[SCAN_X];
    const int rank = (int)a->rank;
    char shape[SHAPE_SIZE];
    int axis = 0;

    axis_read(value, &axis);
    if (axis < -rank || axis >= rank)
        return tsr_fail(err, TSR_EINVAL, 0, "--axis %s: %s is %s, and has %d dimension%s", value,
                        x->file[SCAN_X], shape_text(a, shape), rank, rank == 1 ? "" : "s");
    axis += axis < 0 ? rank : 0;
    p->outer = p->inner = 1;
    p->n = a->shape[axis];
    for (int i = 0; i < rank; i++)
        if (i != axis)
            *(i < axis ? &p->outer : &p->inner) *= a->shape[i];
    /* An extent of 0 would count as 1. */
    if (array_count(a) == 0)
        p->n = 0;
    return TSR_OK;
}

static tsr_status pose_segments(posing *x, tsr_error *err)
{
    tsr_scan_problem *p = scan_in(&x->problem);
    tsr_status st = need_vector(x, SCAN_X, "; --segments are stretches of it", err);
    size_t longest;

    st = st ? st : need_offsets(x, SCAN_SEGMENTS, &p->segments, err);
    return st ? st
              : operation_check_offsets(&operation_scan, p->n, p->segments,
                                        x->array[SCAN_SEGMENTS].data, &longest, err);
}

static tsr_status pose(posing *x, tsr_error *err)
{
    tsr_scan_problem *p = scan_in(&x->problem);
    const array *a = &x->array[SCAN_X];
    const char *axis = setting_of(x->given, "axis");
    tsr_status st = TSR_OK;
    array result;

    p->n = array_count(a);
    if (axis)
        st = pose_axis(x, axis, err);
    else if (x->file[SCAN_SEGMENTS])
        st = pose_segments(x, err);
    if (st)
        return st;
    result = *a;
    result.type = tsr_scan_result_type(p);
    if (result.type != a->type) { /* NumPy's sums of booleans are int64 */
        result.type = a->boolean ? TSR_I64 : result.type;
        result.boolean = false;
    } else if (p->by == TSR_SCAN_SUM) {
        result.boolean = false; /* sums of booleans are no booleans */
    }
    return make_zeros(&result, &x->array[SCAN_RESULT], err);
}

static const char *host_source(const variant *v)
{
    return v == &scan_simd ? "host/ops/scan/scan_loops.c" : "host/ops/scan/scan.c";
}

static const char *const tune_sizes[] = {"2^16",         "2^20",         "2^24", "2^28",
                                         "10000x1000x1", "1x1000x10000", NULL};
static const char *const tune_sizes_cpu[] = {"2^16", "2^20", "2^24", NULL};

static const peer_library peers[] = {{"boost_compute", "Boost.Compute", "libboost-dev"},
                                     PEER_CUB,
                                     PEER_TBB("parallel std::inclusive_scan (TBB)"),
                                     {"std", "std::inclusive_scan", "g++"},
                                     {0}};

const operation_command scan_command = {
    .sizes = {.bench = "2^24",
              .roofline = "2^28",
              .roofline_cpu = "2^24",
              .tune = tune_sizes,
              .tune_cpu = tune_sizes_cpu},
    .problem_bytes = sizeof(tsr_scan_problem),
    .peers = peers,
    .fields = fields,
    .field_count = ARRAY_COUNT(fields),
    .members = members,
    .member_count = ARRAY_COUNT(members),
    .files = files,
    .file_count = ARRAY_COUNT(files),
    .help = &help,
    .host_source = host_source,
    .no_output = "'-o FILE' says where the results go",
    .size_form = "a number of elements, or OUTERxNxINNER, of which the middle is scanned",
    .size_numbers = 3,
    .lay_out = lay_out,
    .check_settings = check_settings,
    .pose = pose,
};
