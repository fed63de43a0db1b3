#include "measure/errors.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/random.h"
#include "base/sizes.h"
#include "core/real.h"
#include "stream/host_memory.h"

/* The operands of every product. */
enum { LEFT, RIGHT, RESULT };

static const double work_limit = 0x1p28;
enum { ELEMENTS_MAX = 1 << 20, PRODUCTS_MAX = 16, BLOCK_MAX = 64, BLOCK_ELEMENTS = 1 << 24 };

const char *errors_distribution_name(error_distribution f)
{
    static const char *const names[] = {"uniform", "wide", "cancelling", "special"};

    return names[f];
}

/* ---- where elements are ------------------------------------------------------------------- */

/* A vector in an array: the index of its first element, and the distance to the next one. */
typedef struct strided {
    size_t first, step;
} strided;

static strided row_of(const product_view *x, size_t i)
{
    return (strided){x->left + i * x->left_row, x->left_step};
}

static strided column_of(const product_view *x, size_t j)
{
    return (strided){x->right + j * x->right_column, x->right_step};
}

double errors_unit(const problem *p)
{
    return real_unit(p->op->product(p, 0).result);
}

/* ---- inputs ------------------------------------------------------------------------------- */

/* The second half of a vector: its first half, made positive, times `sign` and 1 + U(0, 2^-6), so
 * that no order of adding up has the rounding errors of both halves cancel too. */
static void mirror(tsr_type type, void *array, strided v, size_t depth, double sign,
                   uint64_t *state)
{
    const size_t half = depth / 2;

    for (size_t q = 0; q < half; q++) {
        const double value = fabs(real_get(type, array, v.first + q * v.step));

        real_set(type, array, v.first + q * v.step, value);
        real_set(type, array, v.first + (q + half) * v.step,
                 sign * value * (1 + 0x1p-6 * random_unit(state)));
    }
}

/* Ordinary numbers in the place of what is not finite and of the largest ones; then the infinities
 * and NaN of row or column i. */
static void sprinkle(tsr_type type, void *array, strided v, size_t depth, size_t i, uint64_t *state)
{
    static const double plus[] = {0, 0, 0, 0, NAN, INFINITY, 0, INFINITY};
    static const double minus[] = {0, 0, 0, 0, 0, 0, -INFINITY, -INFINITY};

    for (size_t q = 0; q < depth; q++)
        if (!(fabs(real_get(type, array, v.first + q * v.step)) <= 1))
            real_set(type, array, v.first + q * v.step, 2 * random_unit(state) - 1);
    if (plus[i % 8] != 0)
        real_set(type, array, v.first + random_u64(state) % depth * v.step, plus[i % 8]);
    if (minus[i % 8] != 0)
        real_set(type, array, v.first + random_u64(state) % depth * v.step, minus[i % 8]);
}

/* Row or column i of an operand, as a distribution has it. */
static void shape_line(error_distribution f, tsr_type type, void *array, strided v, size_t depth,
                       size_t i, double sign)
{
    uint64_t state = i;

    if (f == ERRORS_CANCELLING)
        mirror(type, array, v, depth, sign, &state);
    else
        sprinkle(type, array, v, depth, i, &state);
}

/* A matrix that the products of a batch share is shaped again with each, and is of the distribution
 * each time. */
static void shape(const product_view *x, error_distribution f, void *const arrays[])
{
    const long long rows = (long long)x->rows, columns = (long long)x->columns;

#ifdef _OPENMP
#pragma omp parallel for if ((double)rows * (double)x->depth > 1e5)
#endif
    for (long long i = 0; i < rows; i++)
        shape_line(f, x->type, arrays[LEFT], row_of(x, (size_t)i), x->depth, (size_t)i, 1);
#ifdef _OPENMP
#pragma omp parallel for if ((double)columns * (double)x->depth > 1e5)
#endif
    for (long long j = 0; j < columns; j++)
        shape_line(f, x->type, arrays[RIGHT], column_of(x, (size_t)j), x->depth, (size_t)j, -1);
}

static tsr_status fill(error_case *c, uint64_t seed, tsr_error *err)
{
    static const distribution distributions[] = {DISTRIBUTION_UNIFORM, DISTRIBUTION_ORDERED,
                                                 DISTRIBUTION_UNIFORM, DISTRIBUTION_SPECIAL};
    const problem *p = c->problem;

    for (size_t i = 0; i < c->operand_count; i++) {
        c->before[i] = malloc(c->operand[i].bytes + 1);
        if (!c->before[i])
            return tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu bytes of %s",
                            c->operand[i].bytes, c->operand[i].name);
    }
    p->op->fill(p, seed, distributions[c->distribution], c->before);
    for (size_t e = 0; e < p->op->products(p) && c->distribution >= ERRORS_CANCELLING; e++) {
        const product_view x = p->op->product(p, e);

        shape(&x, c->distribution, c->before);
    }
    return TSR_OK;
}

/* ---- exact results ------------------------------------------------------------------------ */

/* A sum that carries what its additions round off, and the classes of what is not finite. */
typedef struct exact_sum {
    long double high, low, scale;
    bool nan, plus, minus, open;
} exact_sum;

/* Two-sum: Knuth, The Art of Computer Programming, volume 2, section 4.2.2, theorem B. */
static inline void add_finite(exact_sum *s, long double term)
{
    const long double sum = s->high + term, part = sum - s->high;

    s->low += (s->high - (sum - part)) + (term - part);
    s->high = sum;
    s->scale += fabsl(term);
}

/* Infinity times what a device or a precision may take for zero is infinity or NaN. */
static void add_other(exact_sum *s, double a, double b, double least)
{
    const double term = a * b;

    if (isnan(term))
        s->nan = true;
    else if (fmin(fabs(a), fabs(b)) < least)
        s->open = true;
    else if (term > 0)
        s->plus = true;
    else
        s->minus = true;
}

static void gather(tsr_type type, const void *array, strided v, size_t depth, double *out)
{
    for (size_t q = 0; q < depth; q++)
        out[q] = real_get(type, array, v.first + q * v.step);
}

static error_class class_of_sum(const exact_sum *s, const product_view *x)
{
    if (s->nan || (s->plus && s->minus))
        return ERRORS_NAN;
    if (s->open)
        return ERRORS_OPEN;
    if (s->plus || s->minus)
        return s->plus ? ERRORS_PLUS : ERRORS_MINUS;
    /* Finite where neither a partial sum, all of which lie within the scale, nor the result may
     * overflow. */
    return (s->scale * 1.5L < real_most(real_sums(x->type)) &&
            fabsl(s->high + s->low) + 0x1p-6L * s->scale < 0.99L * real_most(x->result))
               ? ERRORS_FINITE
               : ERRORS_OPEN;
}

static error_sample element(const product_view *x, const double *row, const double *column,
                            size_t at)
{
    /* The smallest normal number of the narrowest type that factors may be rounded to. */
    const double least = x->type == TSR_F64 ? DBL_MIN : 0x1p-14;
    exact_sum s = {0};

    for (size_t q = 0; q < x->depth; q++) {
        const long double term = (long double)row[q] * column[q];

        if (isfinite(term))
            add_finite(&s, term);
        else
            add_other(&s, row[q], column[q], least);
    }
    return (error_sample){
        .at = at, .is = class_of_sum(&s, x), .exact = s.high + s.low, .scale = s.scale};
}

/* Which rows and columns of how many products are looked at. */
typedef struct grid {
    size_t products, rows, columns;
} grid;

/* Part i of `count` equal parts of `of` lines: one of them at random. */
static size_t pick(size_t i, size_t count, size_t of)
{
    uint64_t state = i;
    const size_t begin = (size_t)((double)i * (double)of / (double)count);
    const size_t end = (size_t)((double)(i + 1) * (double)of / (double)count);

    if (count == of)
        return i;
    return begin + (size_t)(random_u64(&state) % size_max(end - begin, 1));
}

static grid grid_of(const problem *p)
{
    const product_view x = p->op->product(p, 0);
    grid g = {p->op->products(p), x.rows, x.columns};
    const double all = (double)g.products * (double)g.rows * (double)g.columns;
    double most = fmin(work_limit / (double)x.depth, ELEMENTS_MAX);

    if (all <= most)
        return g;
    g.products = size_min(g.products, PRODUCTS_MAX);
    most = fmax(most / (double)g.products, 1);
    g.columns = size_min(x.columns, (size_t)ceil(sqrt(most)));
    g.rows = size_min(x.rows, (size_t)ceil(most / (double)g.columns));
    g.columns = size_min(x.columns, (size_t)ceil(most / (double)g.rows));
    return g;
}

/* The rows of the grid with `count` of its columns, whose elements lie one behind another. */
static tsr_status sample_block(const error_case *c, const product_view *x, const grid *g,
                               size_t first, size_t count, const double *columns, error_sample *out)
{
    const long long rows = (long long)g->rows;
    bool short_of_memory = false;

#ifdef _OPENMP
#pragma omp parallel if ((double)rows * (double)x->depth > 1e4)
#endif
    {
        double *row = malloc(x->depth * sizeof(*row));

#ifdef _OPENMP
#pragma omp for schedule(dynamic, 4)
#endif
        for (long long r = 0; r < rows; r++) {
            const size_t i = pick((size_t)r, g->rows, x->rows);

            if (row)
                gather(x->type, c->before[LEFT], row_of(x, i), x->depth, row);
            for (size_t s = 0; s < count && row; s++) {
                const size_t j = pick(first + s, g->columns, x->columns);

                out[(size_t)r * g->columns + first + s] = element(
                    x, row, columns + s * x->depth, x->to + i * x->to_row + j * x->to_column);
            }
        }
        if (!row) {
#ifdef _OPENMP
#pragma omp atomic write
#endif
            short_of_memory = true;
        }
        free(row);
    }
    return short_of_memory ? TSR_ENOMEM : TSR_OK;
}

static tsr_status sample_product(const error_case *c, const product_view *x, const grid *g,
                                 error_sample *out)
{
    const size_t most = size_max(size_min(BLOCK_ELEMENTS / x->depth, BLOCK_MAX), 1);
    double *columns = malloc(size_min(most, g->columns) * x->depth * sizeof(*columns));
    tsr_status st = columns ? TSR_OK : TSR_ENOMEM;

    for (size_t first = 0; first < g->columns && !st; first += most) {
        const size_t count = size_min(most, g->columns - first);

        for (size_t s = 0; s < count; s++)
            gather(x->type, c->before[RIGHT], column_of(x, pick(first + s, g->columns, x->columns)),
                   x->depth, columns + s * x->depth);
        st = sample_block(c, x, g, first, count, columns, out);
    }
    free(columns);
    return st;
}

static tsr_status sample(error_case *c, tsr_error *err)
{
    const grid g = grid_of(c->problem);
    const size_t batch = c->problem->op->products(c->problem), each = g.rows * g.columns;
    const product_view first = c->problem->op->product(c->problem, 0);
    tsr_status st = TSR_OK;

    c->count = g.products * each;
    c->sampled = g.products < batch || g.rows < first.rows || g.columns < first.columns;
    c->samples = malloc(c->count * sizeof(*c->samples));
    if (!c->samples)
        st = TSR_ENOMEM;
    for (size_t e = 0; e < g.products && !st; e++) {
        const product_view x = c->problem->op->product(c->problem, pick(e, g.products, batch));

        st = sample_product(c, &x, &g, c->samples + e * each);
    }
    return st ? tsr_fail(err, TSR_ENOMEM, 0, "no memory for the exact results of %zu elements",
                         c->count)
              : TSR_OK;
}

tsr_status errors_open(const problem *p, uint64_t seed, error_distribution f, error_case *out,
                       tsr_error *err)
{
    tsr_status st;

    assert(p->op->products);
    *out = (error_case){.problem = p, .distribution = f};
    out->operand_count = p->op->operands(p, out->operand);
    st = fill(out, seed, err);
    return st ? st : sample(out, err);
}

void errors_close(error_case *c)
{
    for (size_t i = 0; i < c->operand_count; i++)
        free(c->before[i]);
    free(c->samples);
    *c = (error_case){0};
}

/* ---- results ------------------------------------------------------------------------------ */

static error_class class_of(double x)
{
    return isnan(x) ? ERRORS_NAN : !isinf(x) ? ERRORS_FINITE : x > 0 ? ERRORS_PLUS : ERRORS_MINUS;
}

/* Of an element that should be finite. */
static double error_at(const error_sample *s, double got)
{
    const long double error = fabsl((long double)got - s->exact);

    if (!isfinite(got))
        return INFINITY;
    return error == 0 ? 0 : (double)(error / s->scale);
}

void errors_measure(const error_case *c, const void *result, error_found *out)
{
    const tsr_type type = c->operand[RESULT].type;
    size_t finite = 0;
    double squares = 0;

    *out = (error_found){0};
    for (size_t i = 0; i < c->count; i++) {
        const error_sample *s = &c->samples[i];
        const double got = real_get(type, result, s->at);
        double error;

        if (s->is == ERRORS_OPEN)
            continue;
        out->elements++;
        out->differ += class_of(got) != s->is;
        if (s->is != ERRORS_FINITE)
            continue;
        error = error_at(s, got);
        out->max = fmax(out->max, error);
        squares += error * error;
        finite++;
    }
    out->rms = finite ? sqrt(squares / (double)finite) : 0;
}

tsr_status errors_of_run(tsr_session *s, const tsr_run *run, const error_case *c, error_found *out,
                         tsr_error *err)
{
    const size_t bytes = c->operand[RESULT].bytes;
    void *arrays[OPERANDS_MAX] = {c->before[LEFT], c->before[RIGHT], malloc(bytes + 1)};
    tsr_report report = {0};
    tsr_status st = TSR_OK;

    if (!arrays[RESULT])
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu bytes of %s", bytes,
                        c->operand[RESULT].name);
    memcpy(arrays[RESULT], c->before[RESULT], bytes);
    st = host_memory_run(s, c->problem, arrays, run, &report, err);
    if (!st) {
        errors_measure(c, arrays[RESULT], out);
        out->tiles = report.tiles;
        out->strict_tiles = report.strict_tiles;
    }
    free(arrays[RESULT]);
    return st;
}
