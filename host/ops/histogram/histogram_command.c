#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/elements.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "core/fields.h"
#include "core/posing.h"
#include "core/real.h"
#include "file/block.h"
#include "ops/histogram/histogram_problem.h"

/* Bins where nothing says how many: of files as numpy.histogram, of sizes one for each byte. */
enum { BINS_OF_FILES = 10, BINS_OF_SIZES = 256 };

static const field_choice orders[] = {
    {"random", DISTRIBUTION_PLAIN},      {"sorted", DISTRIBUTION_ORDERED},
    {"reversed", DISTRIBUTION_REVERSED}, {"constant", DISTRIBUTION_CONSTANT},
    {"few-values", DISTRIBUTION_FEW},    {"two-values", DISTRIBUTION_TWO},
    {"sawtooth", DISTRIBUTION_SAWTOOTH}, {NULL, 0}};

static const field_choice weights[] = {
    {"none", TSR_HISTOGRAM_COUNTS}, {"float32", TSR_HISTOGRAM_F32},
    {"f32", TSR_HISTOGRAM_F32},     {"float64", TSR_HISTOGRAM_F64},
    {"f64", TSR_HISTOGRAM_F64},     {"int64", TSR_HISTOGRAM_I64},
    {"i64", TSR_HISTOGRAM_I64},     {NULL, 0}};

static const field fields[] = {
    {.name = "type",
     .kind = FIELD_TYPE,
     .offset = offsetof(tsr_histogram_problem, type),
     .in_class = CLASS_EXACT},
    {.name = "n",
     .kind = FIELD_COUNT,
     .offset = offsetof(tsr_histogram_problem, n),
     .extent = true,
     .in_class = CLASS_POWER_OF_2},
    {.name = "bins",
     .kind = FIELD_COUNT,
     .offset = offsetof(tsr_histogram_problem, bins),
     .extent = true,
     .in_class = CLASS_POWER_OF_2,
     .option = "bins",
     .otherwise = "10",
     .taken = WITH_FILES,
     .value = "N",
     .meaning = "count in N bins of equal width",
     .expects = "a whole number from 1 on"},
    {.name = "uneven",
     .kind = FIELD_FLAG,
     .offset = offsetof(tsr_histogram_problem, uneven),
     .in_class = CLASS_EXACT,
     .option = "uneven",
     .taken = WITH_SIZES,
     .meaning = "bins of different widths, which are searched"},
    {.name = "weights",
     .kind = FIELD_CHOICE,
     .offset = offsetof(tsr_histogram_problem, weights),
     .in_class = CLASS_EXACT,
     .option = "weighted",
     .otherwise = "none",
     .taken = WITH_SIZES,
     .value = "TYPE",
     .meaning = "elements have weights of this type, which are added up: f32, f64 or i64",
     .choices = weights},
    {.kind = FIELD_INTERVAL,
     .option = "range",
     .otherwise = "the least and the largest element",
     .taken = WITH_FILES,
     .value = "LOW:HIGH",
     .meaning = "the bins lie between these; what is outside is not counted",
     .expects = "two finite numbers, LOW:HIGH, the first not above the second"},
    {.kind = FIELD_INPUTS,
     .option = "order",
     .otherwise = "random",
     .taken = WITH_INPUTS,
     .value = "ORDER",
     .meaning = "order of the elements: random; sorted or reversed; constant, all in one bin; "
                "few-values or two-values, 17 or 2 distinct ones; sawtooth, ascending stretches",
     .choices = orders},
};

static const problem_member members[] = {
    PROBLEM_MEMBER(tsr_histogram_problem, add, FLAG),
    PROBLEM_MEMBER(tsr_histogram_problem, offset_x, COUNT),
    PROBLEM_MEMBER(tsr_histogram_problem, offset_edges, COUNT),
    PROBLEM_MEMBER(tsr_histogram_problem, offset_counts, COUNT),
    PROBLEM_MEMBER(tsr_histogram_problem, offset_weights, COUNT),
};

static const file_use files[] = {
    {.operand = HISTOGRAM_X},
    {.option = "edges",
     .meaning =
         "in place of --bins and --range: FILE has the ascending edges of the bins, one more "
         "than there are bins",
     .operand = HISTOGRAM_EDGES,
     .as_it_is = true},
    {.option = "weights",
     .meaning =
         "add up the elements' weights, which FILE has in an array of X's shape, in place of "
         "counting",
     .operand = HISTOGRAM_WEIGHTS,
     .as_it_is = true},
};

static const operation_help help = {
    .usage = "X -o H [--bins N] [--range LOW:HIGH | --edges E] [--weights W]",
    .summary = "count the elements of an array that lie in each of some bins",
    .details =
        "X is an array of any shape in a .npy or .mtx file; - is standard input.  H gets\n"
        "an int64 for each bin.  As in numpy.histogram, a bin includes its lower edge and "
        "not\n"
        "its upper one, except the last, which includes both.  NaNs and elements outside of all "
        "bins\n"
        "are not counted; without --range or --edges every element has to be finite.  With "
        "--weights\n"
        "H has the sum of the weights of each bin's elements: float32 for float16 and float32\n"
        "weights, float64 for float64, int64 for integers.\n",
    .examples = "tessera histogram image.npy -o counts.npy --bins 256 --range 0:256\n"
                "tessera histogram x.npy -o counts.npy --edges edges.npy --verify\n"
                "tessera histogram x.npy -o sums.npy --bins 50 --weights mass.npy\n",
};

static tsr_status check_settings(const given_options *given, tsr_error *err)
{
    static const char *const even[] = {"bins", "range"};

    for (size_t i = 0; i < ARRAY_COUNT(even); i++)
        if (setting_of(given, even[i]) && setting_of(given, "edges"))
            return tsr_fail(err, TSR_ENAME, 0,
                            "--%s and --edges exclude each other: the edges say where the bins are",
                            even[i]);
    return TSR_OK;
}

static tsr_status lay_out(problem *p, const given_options *given, const char *size, const size_t *n,
                          size_t count, tsr_error *err)
{
    (void)given, (void)size, (void)n, (void)err;
    if (count == 1)
        histogram_in(p)->bins = BINS_OF_SIZES;
    return TSR_OK;
}

/* The least and the largest element, both finite; of none 0 and 1. */
static tsr_status find_range(const posing *x, double *low, double *high, tsr_error *err)
{
    const array *a = &x->array[HISTOGRAM_X];
    const size_t n = array_count(a);

    *low = n ? INFINITY : 0;
    *high = n ? -INFINITY : 1;
    for (size_t i = 0; i < n; i++) {
        const double v = histogram_value(a->type, a->data, i);

        if (!isfinite(v))
            return tsr_fail(err, TSR_EINVAL, 0,
                            "%s holds %s as element %zu, and so its elements have no range; "
                            "--range LOW:HIGH counts those between two numbers",
                            x->file[HISTOGRAM_X], isnan(v) ? "NaN" : "an infinity", i);
        *low = v < *low ? v : *low;
        *high = v > *high ? v : *high;
    }
    return TSR_OK;
}

static tsr_status allocate_edges(posing *x, size_t bins, array *out, tsr_error *err)
{
    const tsr_type type = tsr_histogram_edge_type(histogram_of(&x->problem)->type);
    array edges = {.type = type, .rank = 1};

    if (!size_add(bins, 1, &edges.shape[0]))
        return tsr_fail(err, TSR_EINVAL, 0, "%zu bins are too many", bins);
    return make_named_zeros("the edges", &edges, out, err);
}

/* As numpy.histogram has it where there is nothing between: half to each side. */
static tsr_status make_even_edges(posing *x, tsr_error *err)
{
    const char *range = setting_of(x->given, "range");
    tsr_histogram_problem *p = histogram_in(&x->problem);
    double low, high;
    tsr_status st = TSR_OK;

    if (!range)
        st = find_range(x, &low, &high, err);
    else if (!interval_read(range, &low, &high))
        st = tsr_fail(err, TSR_ENAME, 0, "'%s' is not a range", range);
    if (st)
        return st;
    if (low == high) {
        low -= 0.5;
        high += 0.5;
    }
    st = allocate_edges(x, p->bins, &x->array[HISTOGRAM_EDGES], err);
    return st ? st
              : tsr_histogram_edges(p->type, p->bins, low, high, x->array[HISTOGRAM_EDGES].data,
                                    err);
}

static bool is_int64(tsr_type type)
{
    return type == TSR_I64 || type == TSR_U64;
}

/* Edges of a file, of any type, in the one that elements are compared in. */
static tsr_status take_edges(posing *x, tsr_error *err)
{
    tsr_histogram_problem *p = histogram_in(&x->problem);
    array given = x->array[HISTOGRAM_EDGES], edges = {0};
    tsr_status st = need_vector(x, HISTOGRAM_EDGES, "", err);
    double before = -INFINITY;

    given.rank = x->array[HISTOGRAM_EDGES].rank;
    given.shape[0] = x->array[HISTOGRAM_EDGES].shape[0];
    if (st)
        return st;
    if (given.type == TSR_BF16)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "%s has elements of two bytes without a type, and edges must be numbers",
                        x->file[HISTOGRAM_EDGES]);
    if (given.shape[0] < 2)
        return tsr_fail(err, TSR_EINVAL, 0, "%s has %zu edge%s, and at least two are needed",
                        x->file[HISTOGRAM_EDGES], given.shape[0], given.shape[0] == 1 ? "" : "s");
    p->bins = given.shape[0] - 1;
    p->uneven = true;
    st = allocate_edges(x, p->bins, &edges, err);
    for (size_t i = 0; i <= p->bins && !st; i++) {
        const double edge = histogram_value(given.type, given.data, i);

        if (isnan(edge))
            st = tsr_fail(err, TSR_EINVAL, 0, "%s: edge %zu is NaN", x->file[HISTOGRAM_EDGES], i);
        else if (edge < before)
            st = tsr_fail(err, TSR_EINVAL, 0, "%s: edge %zu is %.9g, below the %.9g before it",
                          x->file[HISTOGRAM_EDGES], i, edge, before);
        else if (is_int64(p->type) && is_int64(given.type) && fabs(edge) >= 0x1p53)
            st = tsr_fail(err, TSR_EINVAL, 0,
                          "%s: edge %zu is about %.0f, and whole numbers from 2^53 on are not "
                          "compared exactly: save the edges as float64",
                          x->file[HISTOGRAM_EDGES], i, edge);
        else
            histogram_set_edge(p->type, edges.data, i, edge, i == p->bins);
        before = edge;
    }
    if (st) {
        array_free(&edges);
        return st;
    }
    array_free(&x->array[HISTOGRAM_EDGES]);
    x->array[HISTOGRAM_EDGES] = edges;
    return TSR_OK;
}

/* Integers of any type as int64, in place. */
static tsr_status make_int64(const posing *x, array *a, tsr_error *err)
{
    array shape = *a, whole = {0};
    tsr_status st;

    shape.type = TSR_I64;
    shape.boolean = false;
    st = make_zeros(&shape, &whole, err);
    for (size_t i = 0; i < array_count(a) && !st; i++) {
        const uint64_t v = integer_get(a->type, a->data, i);

        if (a->type == TSR_U64 && v > INT64_MAX)
            st = tsr_fail(err, TSR_EINVAL, 0,
                          "%s: weight %zu is %" PRIu64 ", and int64 ends at %" PRId64,
                          x->file[HISTOGRAM_WEIGHTS], i, v, INT64_MAX);
        ((uint64_t *)whole.data)[i] = v;
    }
    if (st) {
        array_free(&whole);
        return st;
    }
    array_free(a);
    *a = whole;
    return TSR_OK;
}

/* Weights of a file, of any type, in one that sums have. */
static tsr_status take_weights(posing *x, tsr_error *err)
{
    tsr_histogram_problem *p = histogram_in(&x->problem);
    const array *elements = &x->array[HISTOGRAM_X];
    array *a = &x->array[HISTOGRAM_WEIGHTS];
    char theirs[SHAPE_SIZE], ours[SHAPE_SIZE];

    if (a->rank != elements->rank ||
        memcmp(a->shape, elements->shape, a->rank * sizeof(*a->shape)) != 0)
        return tsr_fail(err, TSR_EINVAL, 0, "%s is %s and %s is %s: each element needs one weight",
                        x->file[HISTOGRAM_X], shape_text(elements, ours),
                        x->file[HISTOGRAM_WEIGHTS], shape_text(a, theirs));
    if (a->type == TSR_BF16)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "%s has elements of two bytes without a type, and weights must be numbers",
                        x->file[HISTOGRAM_WEIGHTS]);
    if (type_is_complex(a->type))
        return tsr_fail(err, TSR_EINVAL, 0, "%s is %s, and weights are added up as real numbers",
                        x->file[HISTOGRAM_WEIGHTS], tsr_type_name(a->type));
    if (!type_is_real(a->type)) {
        p->weights = TSR_HISTOGRAM_I64;
        return a->type == TSR_I64 ? TSR_OK : make_int64(x, a, err);
    }
    p->weights = a->type == TSR_F64 ? TSR_HISTOGRAM_F64 : TSR_HISTOGRAM_F32;
    return array_convert(a, histogram_sum_type(p), NULL, err);
}

static tsr_status pose(posing *x, tsr_error *err)
{
    tsr_histogram_problem *p = histogram_in(&x->problem);
    array counts = {.rank = 1};
    tsr_status st;

    p->n = array_count(&x->array[HISTOGRAM_X]);
    if (p->bins == 0)
        p->bins = BINS_OF_FILES;
    st = x->file[HISTOGRAM_EDGES] ? take_edges(x, err) : make_even_edges(x, err);
    if (!st && x->file[HISTOGRAM_WEIGHTS])
        st = take_weights(x, err);
    counts.type = histogram_sum_type(p);
    counts.shape[0] = p->bins;
    return st ? st : make_zeros(&counts, &x->array[HISTOGRAM_COUNTS], err);
}

static const char *host_source(const variant *v)
{
    return v == &histogram_tables ? "host/ops/histogram/histogram_loops.c"
                                  : "host/ops/histogram/histogram_host.c";
}

static const char *const tune_sizes[] = {"2^16x256", "2^20x256", "2^24x256", "2^28x256", NULL};
static const char *const tune_sizes_cpu[] = {"2^16x256", "2^20x256", "2^24x256", NULL};

static const peer_library peers[] = {PEER_CUB, {"boost", "Boost.Histogram", "libboost-dev"}, {0}};

const operation_command histogram_command = {
    .sizes = {.bench = "2^24",
              .roofline = "2^28",
              .roofline_cpu = "2^24",
              .tune = tune_sizes,
              .tune_cpu = tune_sizes_cpu},
    .problem_bytes = sizeof(tsr_histogram_problem),
    .peers = peers,
    .fields = fields,
    .field_count = ARRAY_COUNT(fields),
    .members = members,
    .member_count = ARRAY_COUNT(members),
    .files = files,
    .file_count = ARRAY_COUNT(files),
    .help = &help,
    .host_source = host_source,
    .no_output = "'-o FILE' says where the counts go",
    .size_form = "a number of elements, or ELEMENTSxBINS",
    .size_numbers = 2,
    .lay_out = lay_out,
    .check_settings = check_settings,
    .pose = pose,
};
