#include "ops/matvec_proof.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "base/sizes.h"
#include "ops/findings.h"
#include "ops/matvec_host.h"
#include "ops/real.h"

enum { PARALLEL_LEAST = 100000 }; /* elements that are worth several threads */

/* Lines of A from the start of its array: gaps that nobody may read hold NaN.  Each line has a
 * stream of random numbers of its own. */
static void fill_matrix(const tsr_matvec_problem *m, size_t elements, family f, uint64_t seed,
                        void *a)
{
    const size_t lda = m->lda ? m->lda : m->columns, first = size_min(m->offset_a, elements);
    const long long lines = (long long)(lda ? size_div_up(elements - first, lda) : 0);

    for (size_t i = 0; i < first; i++)
        real_set(m->type, a, i, NAN);
#ifdef _OPENMP
#pragma omp parallel for if (elements > PARALLEL_LEAST)
#endif
    for (long long l = 0; l < lines; l++) {
        const size_t start = first + (size_t)l * lda, end = size_min(start + lda, elements);
        uint64_t state = random_stream(seed, (uint64_t)l);

        for (size_t i = start; i < end; i++)
            real_set(m->type, a, i, i - start < m->columns ? real_random(m->type, f, &state) : NAN);
    }
}

void matvec_fill(const problem *p, uint64_t seed, family f, void *const operand_at[])
{
    const tsr_matvec_problem *m = &p->matvec;
    const size_t size = tsr_type_size(m->type);
    const bool overwrites = real_round(m->type, m->beta) == 0;
    uint64_t state = random_stream(seed, 1);
    operand o[OPERANDS_MAX];

    p->op->operands(p, o);
    fill_matrix(m, o[MATVEC_A].bytes / size, f, random_stream(seed, 0), operand_at[MATVEC_A]);
    for (size_t i = 0; i < o[MATVEC_X].bytes / size; i++)
        real_set(m->type, operand_at[MATVEC_X], i,
                 i < m->offset_x ? NAN : real_random(m->type, f, &state));
    for (size_t i = 0; i < o[MATVEC_Y].bytes / size; i++) {
        const double value = real_random(m->type, f, &state);

        real_set(m->type, operand_at[MATVEC_Y], i, overwrites && i % 3 == 0 ? NAN : value);
    }
}

typedef struct shape {
    size_t rows, columns;
} shape;

/* None, one, primes, one off the sizes of tiles and teams, thin both ways.  A simulator takes the
 * first TINY_SHAPES. */
static const shape shapes[] = {
    {0, 0},     {0, 5},      {5, 0},      {1, 1},     {2, 1},     {3, 3},     {7, 5},
    {13, 17},   {31, 33},    {33, 32},    {1, 40},    {40, 1},    {1, 2},     {8, 8},
    {31, 31},   {32, 32},    {33, 33},    {33, 31},   {16, 37},   {37, 16},   {63, 64},
    {64, 63},   {65, 65},    {64, 64},    {67, 127},  {127, 67},  {128, 129}, {129, 128},
    {255, 33},  {33, 255},   {256, 256},  {257, 255}, {255, 257}, {1, 1000},  {1000, 1},
    {1, 4099},  {4099, 1},   {2, 2049},   {2049, 2},  {10, 1000}, {1000, 10}, {3, 5000},
    {5000, 3},  {10007, 7},  {7, 10007},  {511, 513}, {1000, 40}, {40, 1000}, {1000, 65},
    {65, 1000}, {1, 100003}, {100003, 1}, {16, 3001}, {3001, 16}, {1000, 257}};

enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]), TINY_SHAPES = 12, FORMS = 4 };

/* Each shape as it is and transposed, in both types (tiny: in one); the rest is drawn from a
 * sequence that the problem's number seeds. */
bool matvec_sweep(size_t i, bool tiny, problem *out)
{
    static const double factors[] = {1, 0, -1, 0.7};
    static const size_t gaps[] = {0, 0, 1, 5}, offsets[] = {0, 0, 3, 16};
    const size_t forms = tiny ? 2 : FORMS;
    const size_t which = i / forms;
    uint64_t state = i;
    tsr_matvec_problem p = {0};

    if (which >= (size_t)(tiny ? TINY_SHAPES : SHAPES))
        return false;
    p.rows = shapes[which].rows;
    p.columns = shapes[which].columns;
    p.trans = i % 2;
    p.type = (tiny ? which % 3 == 2 : i % FORMS >= 2) ? TSR_F64 : TSR_F32;
    p.alpha = factors[random_u64(&state) % 4];
    p.beta = factors[random_u64(&state) % 4];
    /* alpha == 0 reads nothing: every fourth would be too many. */
    if (p.alpha == 0 && random_u64(&state) % 2)
        p.alpha = 1;
    p.lda = p.columns + gaps[random_u64(&state) % 4];
    p.offset_a = offsets[random_u64(&state) % 4];
    p.offset_x = offsets[random_u64(&state) % 4];
    p.offset_y = offsets[random_u64(&state) % 4];
    *out = (problem){.op = &operation_matvec, .matvec = p};
    return true;
}

enum { BLOCK = 64 };

/* Sums of `count` rows from the `first`.  Along memory in the inner loop, whichever way A lies. */
static void add_up(const matvec_view *v, const tsr_matvec_problem *m, size_t first, size_t count,
                   const void *const before[], real_sum *sum)
{
    size_t at[BLOCK];

    for (size_t i = 0; i < count; i++)
        at[i] = m->offset_a + (first + i) * v->row_step;
    if (v->trans) {
        for (size_t c = 0; c < v->columns; c++) {
            const double x = real_get(m->type, before[MATVEC_X], m->offset_x + c);

            for (size_t i = 0; i < count; i++)
                real_sum_add(&sum[i],
                             real_get(m->type, before[MATVEC_A], at[i] + c * v->column_step), x);
        }
        return;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < v->columns; c++)
            real_sum_add(&sum[i], real_get(m->type, before[MATVEC_A], at[i] + c),
                         real_get(m->type, before[MATVEC_X], m->offset_x + c));
}

/* Rows from `first`, at most BLOCK. */
static void judge_block(const tsr_matvec_problem *m, const device_facts *d, size_t first,
                        const void *const before[], const void *const after[], verdict *out)
{
    const matvec_view v = matvec_view_of(m);
    const size_t count = size_min(BLOCK, v.rows - first);
    real_sum sum[BLOCK];

    for (size_t i = 0; i < count; i++)
        sum[i] = real_sum_start(m->type, m->precision, d);
    add_up(&v, m, first, count, before, sum);
    for (size_t i = 0; i < count; i++) {
        const size_t row = first + i;
        const double c = v.beta == 0 ? 0 : real_get(m->type, before[MATVEC_Y], m->offset_y + row);
        const double got = real_get(m->type, after[MATVEC_Y], m->offset_y + row);
        const double ratio = real_judge(&sum[i], v.alpha, v.beta, c, got);

        if (isfinite(ratio) || out->ok)
            out->worst = fmax(out->worst, ratio);
        if (ratio <= 1 || !out->ok)
            continue;
        out->ok = false;
        snprintf(out->detail, sizeof(out->detail),
                 "y[%zu] is %.9g, %.3g times its error bound away from %.9Lg", row, got, ratio,
                 v.alpha * real_sum_value(&sum[i]) + (long double)v.beta * c);
    }
}

tsr_status matvec_verify(const problem *p, const device_facts *d, const void *const before[],
                         const void *const after[], const void *expected, verdict *out,
                         tsr_error *err)
{
    const tsr_matvec_problem *m = &p->matvec;
    const matvec_view v = matvec_view_of(m);
    const size_t size = tsr_type_size(m->type);
    const long long blocks = (long long)size_div_up(v.rows, BLOCK);
    findings f = {.out = out};

    (void)expected;
    (void)err;
    *out = (verdict){.ok = true};
    if (v.rows && m->offset_y &&
        memcmp(before[MATVEC_Y], after[MATVEC_Y], m->offset_y * size) != 0) {
        out->ok = false;
        out->worst = INFINITY;
        snprintf(out->detail, sizeof(out->detail), "elements of y before offset %zu changed",
                 m->offset_y);
        return TSR_OK;
    }
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) if (v.rows * v.columns > PARALLEL_LEAST)
#endif
    for (long long block = 0; block < blocks; block++) {
        verdict part = {.ok = true};

        judge_block(m, d, (size_t)block * BLOCK, before, after, &part);
        findings_join(&f, &part, (size_t)block);
    }
    return TSR_OK;
}
