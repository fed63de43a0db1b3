/* Proving histogram: test inputs, the sweep of edge sizes, and the reference. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elements.h"
#include "base/fail.h"
#include "base/random.h"
#include "base/sizes.h"
#include "core/real.h"
#include "ops/histogram/histogram_problem.h"

/* Elements that a stream of random numbers fills, and a thread takes at once. */
enum { CHUNK = 1 << 16 };

/* ---- inputs --------------------------------------------------------------------------------- */

/* Where elements lie: all numbers of an integer type, and others from -1 to 1. */
typedef struct span {
    double low, high;
} span;

static span span_of(tsr_type type)
{
    const double numbers = ldexp(1, (int)(8 * tsr_type_size(type)));

    if (type_is_real(type))
        return (span){-1, 1};
    return type_is_signed(type) ? (span){-numbers / 2, numbers / 2} : (span){0, numbers};
}

/* Store the number that lies at a part `at`, from 0 to below 1, of a type's span. */
static void put(tsr_type type, void *x, size_t i, double at)
{
    const size_t size = tsr_type_size(type);
    const span s = span_of(type);
    uint64_t word;

    if (type_is_real(type)) {
        real_set(type, x, i, s.low + at * (s.high - s.low));
        return;
    }
    word = (uint64_t)(at * ldexp(1, (int)(8 * size)));
    if (type_is_signed(type))
        word ^= (uint64_t)1 << (8 * size - 1);
    bits_set(type, x, i, word);
}

/* What floating-point elements may be beside numbers between the edges. */
static void put_special(tsr_type type, void *x, size_t i, uint64_t draw)
{
    static const double special[] = {NAN, INFINITY, -INFINITY, -0.0, 0, 1e-41, -1e-41, FLT_MAX};
    const uint64_t extremes[] = {0, UINT64_MAX, (uint64_t)1 << (8 * tsr_type_size(type) - 1),
                                 ((uint64_t)1 << (8 * tsr_type_size(type) - 1)) - 1};

    if (type_is_real(type))
        real_set(type, x, i, special[draw % ARRAY_COUNT(special)]);
    else
        bits_set(type, x, i, extremes[draw % ARRAY_COUNT(extremes)]);
}

/* An element on an edge, or of integers just above it. */
static void put_edge(tsr_type type, void *x, size_t i, double edge)
{
    const double above = ceil(edge);
    uint64_t word;

    if (type_is_real(type)) {
        real_set(type, x, i, edge);
        return;
    }
    word = above < 0 ? (uint64_t)(int64_t)above : (uint64_t)above;
    memcpy((char *)x + i * tsr_type_size(type), &word, tsr_type_size(type));
}

static void fill_element(const tsr_histogram_problem *p, distribution f, size_t i, uint64_t *state,
                         const void *edges, void *x)
{
    const tsr_type edge = tsr_histogram_edge_type(p->type);
    const double u = random_unit(state);
    const uint64_t draw = random_u64(state);
    const size_t at = p->offset_x + i;

    switch (f) {
    case DISTRIBUTION_SPECIAL:
        if (draw % 4 == 0)
            put_special(p->type, x, at, draw / 4);
        else if (draw % 4 == 1)
            put_edge(p->type, x, at,
                     real_get(edge, edges, p->offset_edges + draw / 4 % (p->bins + 1)));
        else
            put(p->type, x, at, u);
        break;
    case DISTRIBUTION_FEW:
        put(p->type, x, at, floor(u * 17) / 17);
        break;
    case DISTRIBUTION_ORDERED:
        put(p->type, x, at, (double)i / (double)p->n);
        break;
    case DISTRIBUTION_REVERSED:
        put(p->type, x, at, (double)(p->n - 1 - i) / (double)p->n);
        break;
    case DISTRIBUTION_CONSTANT:
        put(p->type, x, at, 0.3);
        break;
    case DISTRIBUTION_TWO:
        put(p->type, x, at, draw & 1 ? 0.3 : 0.6);
        break;
    case DISTRIBUTION_SAWTOOTH:
        put(p->type, x, at, (double)(i % 97) / 97);
        break;
    default:
        put(p->type, x, at, u);
        break;
    }
}

/* All elements are inside where they may be measured; of distributions that tests alone have, some
 * are outside of both ends.  Uneven bins get wider, and some are empty. */
static void fill_edges(const tsr_histogram_problem *p, distribution f, void *edges)
{
    const tsr_type type = tsr_histogram_edge_type(p->type);
    const size_t size = tsr_type_size(type);
    span s = span_of(p->type);

    for (size_t i = 0; i < p->offset_edges; i++)
        real_set(type, edges, i, NAN);
    if (f == DISTRIBUTION_SPECIAL || f == DISTRIBUTION_UNIFORM) {
        const double width = s.high - s.low;

        s.low += 0.1 * width;
        s.high -= 0.15 * width;
    }
    tsr_histogram_edges(p->type, p->bins, s.low, s.high, (char *)edges + p->offset_edges * size,
                        NULL);
    for (size_t i = 1; i < p->bins && p->uneven; i++) {
        const double part = (double)i / (double)p->bins;
        const size_t at = p->offset_edges + i;

        histogram_set_edge(p->type, edges, at, s.low + part * part * (s.high - s.low), false);
        if (i % 7 == 3 || real_get(type, edges, at) < real_get(type, edges, at - 1))
            real_set(type, edges, at, real_get(type, edges, at - 1));
    }
}

/* Weights of a distribution; those of integers are any. */
static void fill_weights(const tsr_histogram_problem *p, uint64_t seed, distribution f,
                         void *weights)
{
    const tsr_type type = histogram_sum_type(p);
    uint64_t state = random_stream(seed, UINT64_MAX);

    for (size_t i = 0; i < p->offset_weights + p->n; i++)
        if (i < p->offset_weights || !type_is_real(type))
            bits_set(type, weights, i, random_u64(&state));
        else
            real_set(type, weights, i, real_random(type, f, &state));
}

void histogram_fill(const problem *q, uint64_t seed, distribution f, void *const arrays[])
{
    const tsr_histogram_problem *p = histogram_of(q);
    const size_t chunks = size_div_up(p->n, CHUNK);
    uint64_t state = random_stream(seed, 0);

    fill_edges(p, f, arrays[HISTOGRAM_EDGES]);
    for (size_t i = 0; p->n && i < p->offset_x * tsr_type_size(p->type); i++)
        ((unsigned char *)arrays[HISTOGRAM_X])[i] = (unsigned char)(random_u64(&state) >> 56);
    /* Counts that are there, whose lower halves carry into the upper ones. */
    for (size_t i = 0; i < p->offset_counts + p->bins; i++)
        if (type_is_real(histogram_sum_type(p)))
            real_set(histogram_sum_type(p), arrays[HISTOGRAM_COUNTS], i, random_unit(&state));
        else
            ((int64_t *)arrays[HISTOGRAM_COUNTS])[i] =
                (int64_t)(random_u64(&state) >> 30 | 0xFFFFFFFF);
    if (p->weights && p->n)
        fill_weights(p, seed, f, arrays[HISTOGRAM_WEIGHTS]);
#ifdef _OPENMP
#pragma omp parallel for if (chunks > 1)
#endif
    for (size_t c = 0; c < chunks; c++) {
        uint64_t own = random_stream(seed, 1 + c);

        for (size_t i = c * CHUNK; i < size_min((c + 1) * CHUNK, p->n); i++)
            fill_element(p, f, i, &own, arrays[HISTOGRAM_EDGES], arrays[HISTOGRAM_X]);
    }
}

/* ---- the sweep ------------------------------------------------------------------------------ */

/* None, one, primes, one off vectors and groups; bins from one to more than a group has work-items.
 * A simulator takes the first TINY_SHAPES. */
static const struct {
    size_t n, bins;
} shapes[] = {{300, 16},  {67, 5},      {0, 3},   {129, 300},  {1, 1},     {10241, 256}, {33, 2},
              {5003, 17}, {4096, 1000}, {257, 7}, {65537, 64}, {9001, 12}, {100003, 256}};
static const size_t offsets[][3] = {{0, 0, 0}, {1, 3, 2}, {16, 0, 1}, {5, 1, 0}};

/* Every other problem has special values. */
static const distribution distributions[] = {
    DISTRIBUTION_UNIFORM,  DISTRIBUTION_FEW, DISTRIBUTION_ORDERED, DISTRIBUTION_REVERSED,
    DISTRIBUTION_CONSTANT, DISTRIBUTION_TWO, DISTRIBUTION_SAWTOOTH};

/* Then there are weights; the last problems are of bytes, long enough for several groups, of which
 * runs have one value, and one for a group alone. */
enum {
    TINY_SHAPES = 5,
    TINY_COUNTED = 24,
    COUNTED = 52,
    TINY_WEIGHTED = 12,
    WEIGHTED = 26,
    TINY_BYTES = 1,
    BYTES = 8
};

static bool bytes_problem(size_t i, bool tiny, problem *out)
{
    const size_t bins[] = {256, 12, 5000};
    const tsr_histogram_problem p = {.type = i % 2 ? TSR_I8 : TSR_U8,
                                     .n = tiny             ? 301
                                          : i + 1 == BYTES ? 31
                                                           : 70001 + 1000 * i,
                                     .bins = bins[i % ARRAY_COUNT(bins)],
                                     .add = i % 4 == 1,
                                     .offset_x = i % 5};

    if (i >= (tiny ? TINY_BYTES : BYTES))
        return false;
    *out = problem_from(&operation_histogram, &p, sizeof(p));
    /* One value first. */
    out->inputs = distributions[(i + 4) % ARRAY_COUNT(distributions)];
    return true;
}

bool histogram_sweep(size_t i, bool tiny, problem *out)
{
    const size_t shape = i % (tiny ? TINY_SHAPES : ARRAY_COUNT(shapes));
    const size_t *offset = offsets[i / 3 % ARRAY_COUNT(offsets)];
    const size_t counted = tiny ? TINY_COUNTED : COUNTED;
    const bool weighted = i >= counted;
    const tsr_histogram_problem p = {.type = (tsr_type)(i % SINGLE_TYPE_COUNT),
                                     .n = shapes[shape].n,
                                     .bins = shapes[shape].bins,
                                     .uneven = i / SINGLE_TYPE_COUNT % 2,
                                     .add = i % 3 == 1,
                                     .offset_x = offset[0],
                                     .offset_edges = offset[1],
                                     .offset_counts = offset[2],
                                     .weights = weighted ? 1 + i / 2 % 3 : TSR_HISTOGRAM_COUNTS,
                                     .offset_weights = weighted ? offset[1] : 0};

    if (i >= counted + (tiny ? TINY_WEIGHTED : WEIGHTED))
        return bytes_problem(i - counted - (tiny ? TINY_WEIGHTED : WEIGHTED), tiny, out);
    *out = problem_from(&operation_histogram, &p, sizeof(p));
    out->inputs = (i + i / SINGLE_TYPE_COUNT) % 2 == 0
                      ? DISTRIBUTION_SPECIAL
                      : distributions[i % ARRAY_COUNT(distributions)];
    return true;
}

/* ---- the reference -------------------------------------------------------------------------- */

/* A device that flushes denormals takes them for 0. */
static long double seen(const tsr_histogram_problem *p, const device_facts *d, double v)
{
    const bool wide = tsr_histogram_edge_type(p->type) == TSR_F64;
    const bool kept = wide ? d->denormals_f64 : d->denormals_f32;

    return !kept && fabs(v) < (wide ? DBL_MIN : (double)FLT_MIN) ? 0 : (long double)v;
}

/* The bin of a value: the last of those whose lower edge is not above it; bins for none. */
static size_t bin_of(const long double *edges, size_t bins, long double v)
{
    size_t above = bins; /* the first edge above v, of those that begin a bin */

    if (isnan(v) || v > edges[bins])
        return bins;
    for (size_t first = 0; first < above;) {
        const size_t middle = first + (above - first) / 2;

        if (edges[middle] > v)
            above = middle;
        else
            first = middle + 1;
    }
    return above ? above - 1 : bins;
}

/* Add x to counts, each element as 1 or as its weight, by every thread. */
static void add_all(const tsr_histogram_problem *p, const device_facts *d, const void *x,
                    const uint64_t *weights, const long double *edges, uint64_t *counts)
{
#ifdef _OPENMP
#pragma omp parallel for if (p->n > CHUNK)
#endif
    for (size_t i = 0; i < p->n; i++) {
        const size_t bin =
            bin_of(edges, p->bins, seen(p, d, histogram_value(p->type, x, p->offset_x + i)));

        if (bin == p->bins)
            continue;
#ifdef _OPENMP
#pragma omp atomic
#endif
        counts[bin] += weights ? weights[p->offset_weights + i] : 1;
    }
}

/* Whether the counts, or sums of int64, are the reference's. */
static void check_whole(const tsr_histogram_problem *p, const long double *edges,
                        const uint64_t *exact, const int64_t *is, verdict *out)
{
    for (size_t i = 0; i < p->bins && out->ok; i++) {
        out->ok = is[i] == (int64_t)exact[i];
        if (!out->ok)
            snprintf(out->detail, sizeof(out->detail),
                     "the %s of bin %zu, from %.9Lg to %.9Lg, is %" PRId64 ", not %" PRId64,
                     p->weights ? "sum" : "count", i, edges[i], edges[i + 1], is[i],
                     (int64_t)exact[i]);
    }
    out->worst = out->ok ? 0 : INFINITY;
}

/* Whether sums of floating-point weights keep their bound: that of products with 1. */
static tsr_status check_sums(const tsr_histogram_problem *p, const device_facts *d,
                             const void *const before[], const void *after,
                             const long double *edges, verdict *out, tsr_error *err)
{
    const tsr_type type = histogram_sum_type(p);
    real_sum *sums = malloc(p->bins * sizeof(*sums));

    if (!sums)
        return tsr_fail(err, TSR_ENOMEM, 0, "histogram: no memory for %zu sums", p->bins);
    for (size_t i = 0; i < p->bins; i++)
        sums[i] = real_sum_start(type, TSR_PRECISION_DEFAULT, d);
    for (size_t i = 0; i < p->n; i++) {
        const double v = histogram_value(p->type, before[HISTOGRAM_X], p->offset_x + i);
        const size_t bin = bin_of(edges, p->bins, seen(p, d, v));

        if (bin < p->bins)
            real_sum_add(&sums[bin],
                         real_get(type, before[HISTOGRAM_WEIGHTS], p->offset_weights + i), 1);
    }
    for (size_t i = 0; i < p->bins; i++) {
        const double was = real_get(type, before[HISTOGRAM_COUNTS], p->offset_counts + i);
        const double is = real_get(type, after, p->offset_counts + i);
        const double error = real_judge(&sums[i], 1, p->add, was, is);

        out->worst = fmax(out->worst, error);
        if (out->ok && !(error <= 1))
            snprintf(out->detail, sizeof(out->detail),
                     "the sum of bin %zu, from %.9Lg to %.9Lg, is %.9g, not %.9Lg: %.3g times its "
                     "bound",
                     i, edges[i], edges[i + 1], is,
                     real_sum_value(&sums[i]) + (p->add ? (long double)was : 0), error);
        out->ok = out->ok && error <= 1;
    }
    free(sums);
    return TSR_OK;
}

tsr_status histogram_verify(const problem *q, const device_facts *d, const void *const before[],
                            const void *const after[], const void *expected, verdict *out,
                            tsr_error *err)
{
    static const device_facts exact = {.denormals_f32 = true, .denormals_f64 = true};
    const tsr_histogram_problem *p = histogram_of(q);
    const view result = histogram_counts(p);
    long double *edges = malloc((p->bins + 1) * sizeof(*edges));
    uint64_t *counts = calloc(p->bins, sizeof(*counts));
    tsr_status st = TSR_OK;

    (void)expected;
    if (!d)
        d = &exact;
    *out =
        (verdict){.ok = view_gaps_kept(&result, before[HISTOGRAM_COUNTS], after[HISTOGRAM_COUNTS])};
    if (!edges || !counts) {
        st = tsr_fail(err, TSR_ENOMEM, 0, "histogram: no memory for %zu counts", p->bins);
        goto cleanup;
    }
    if (!out->ok) {
        out->worst = INFINITY;
        snprintf(out->detail, sizeof(out->detail), "memory outside the %s was written",
                 p->weights ? "sums" : "counts");
        goto cleanup;
    }
    for (size_t i = 0; i <= p->bins; i++)
        edges[i] = seen(p, d,
                        real_get(tsr_histogram_edge_type(p->type), before[HISTOGRAM_EDGES],
                                 p->offset_edges + i));
    if (type_is_real(result.type)) {
        st = check_sums(p, d, before, after[HISTOGRAM_COUNTS], edges, out, err);
        goto cleanup;
    }
    if (p->add)
        memcpy(counts, (const int64_t *)before[HISTOGRAM_COUNTS] + p->offset_counts,
               p->bins * sizeof(*counts));
    add_all(p, d, before[HISTOGRAM_X], p->weights ? before[HISTOGRAM_WEIGHTS] : NULL, edges,
            counts);
    check_whole(p, edges, counts, (const int64_t *)after[HISTOGRAM_COUNTS] + p->offset_counts, out);

cleanup:
    free(edges);
    free(counts);
    return st;
}
