#include "ops/matvec/matvec_descriptor.h"

#include <math.h>
#include <stdio.h>

#include "base/random.h"
#include "base/sizes.h"
#include "core/findings.h"
#include "ops/matvec/matvec_shape.h"

enum { PARALLEL_MIN = 200000 }; /* operations that are worth several threads */

void matvec_fill(const problem *q, uint64_t seed, distribution f, void *const arrays[])
{
    const tsr_matvec_problem *p = matvec_of(q);
    const view of[] = {matvec_a(p), matvec_x(p), matvec_y(p)};
    operand o[OPERANDS_MAX];

    q->op->operands(q, o);
    for (size_t i = MATVEC_A; i <= MATVEC_Y; i++)
        view_fill(&o[i], &of[i], f, random_stream(seed, i), arrays[i]);
    /* What beta == 0 must not read. */
    if (matvec_view_of(p).beta == 0)
        for (size_t i = 0; i < o[MATVEC_Y].bytes / tsr_type_size(o[MATVEC_Y].type); i += 3)
            real_set(o[MATVEC_Y].type, arrays[MATVEC_Y], i, NAN);
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

enum { TINY_SHAPES = 12, FORMS = 4, TINY_FORMS = 2, NARROW = 48, TINY_NARROW = 8 };

/* After all of them: more products than a grid has rows of groups on some devices, batches of rows
 * that are cut into parts, and types of 16 bits whose sums are long. */
static const tsr_matvec_problem sweep_large[] = {
    {.rows = 2, .columns = 3, .alpha = 1, .batch = 66000, .stride_a = 6, .stride_y = 2},
    {.rows = 3, .columns = 20000, .alpha = 1, .batch = 2, .stride_a = 60000, .stride_y = 4},
    {.rows = 20000,
     .columns = 3,
     .trans = true,
     .alpha = 1,
     .beta = 1,
     .batch = 2,
     .stride_x = 20000,
     .stride_y = 3},
    {.rows = 3, .columns = 5000, .alpha = 1, .beta = 1, .type = TSR_BF16},
    {.rows = 5000, .columns = 3, .alpha = 1, .beta = 1, .type = TSR_F16, .trans = true}};

/* Last of all, tiny too: transposed, a last tile that is narrower than its work-items side by side,
 * of which those beyond the edge have nothing to read; and rows that start at every place of a
 * vector. */
static const tsr_matvec_problem sweep_edges[] = {
    {.rows = 20, .columns = 131, .trans = true, .alpha = 1},
    {.rows = 9, .columns = 97, .alpha = 1, .type = TSR_BF16},
    {.rows = 9, .columns = 99, .alpha = 1, .type = TSR_F16},
    {.rows = 2, .columns = 1025, .alpha = 1},
    {.rows = 2, .columns = 1027, .alpha = 1, .type = TSR_F64}};

/* Gaps between lines, and before the first elements. */
static void spread(tsr_matvec_problem *p, uint64_t *state)
{
    static const size_t gaps[] = {0, 0, 1, 5}, offsets[] = {0, 0, 3, 16};
    const size_t gap = gaps[random_u64(state) % 4];

    p->lda = matvec_line_length(p) + gap;
    p->offset_a = offsets[random_u64(state) % 4];
    p->offset_x = offsets[random_u64(state) % 4];
    p->offset_y = offsets[random_u64(state) % 4];
}

/* Make a batch of one in `every` small problems, in one of the ways there are: those whose results
 * lie side by side have gaps in y. */
static void repeat(tsr_matvec_problem *p, size_t every, bool beside, uint64_t *state)
{
    const view a = matvec_a(p), x = matvec_x(p), y = matvec_y(p);
    const size_t way = random_u64(state) % 5, gap = random_u64(state) % 2 * 5;

    if (p->rows * p->columns > 10000 || random_u64(state) % every)
        return;
    p->batch = 2 + random_u64(state) % 4;
    p->stride_a = way == 0 ? 0 : a.lines * a.ld + gap; /* shared, or one behind another */
    p->stride_x = way == 1 ? 0 : x.lines * x.ld + gap;
    p->stride_y = y.lines * y.ld + gap;
    if (way == 2 && beside) {
        p->stride_y = 1 + gap;
        p->incy = p->batch * p->stride_y;
    }
}

/* Factors that occur.  alpha == 0 reads nothing: every fourth would be too many. */
static void scale(tsr_matvec_problem *p, uint64_t *state)
{
    static const double factors[] = {1, 0, -1, 0.7};

    p->alpha = factors[random_u64(state) % 4];
    p->beta = factors[random_u64(state) % 4];
    if (p->alpha == 0 && random_u64(state) % 2)
        p->alpha = 1;
}

/* Each shape as it is and transposed, in float32 and float64 (tiny: in one of them); the rest is
 * drawn from a sequence that the problem's number seeds.  Each kind of build takes a CPU's compiler
 * a second, so float32 has gaps in vectors for float64 as well, in every other problem. */
static tsr_matvec_problem sweep_wide(size_t i, bool tiny)
{
    static const size_t steps[] = {1, 2, 3};
    const size_t which = i / (tiny ? TINY_FORMS : FORMS), form = i % (tiny ? TINY_FORMS : FORMS);
    tsr_matvec_problem p = {
        .rows = shapes[which].rows, .columns = shapes[which].columns, .trans = form % 2};
    const bool f64 = tiny ? which % 3 == 2 : form >= 2;
    uint64_t state = i;

    p.type = f64 ? TSR_F64 : TSR_F32;
    scale(&p, &state);
    p.layout = random_u64(&state) % 3 ? TSR_ROW_MAJOR : TSR_COLUMN_MAJOR;
    spread(&p, &state);
    if (!f64 && (which + form) % 2) {
        p.incx = steps[random_u64(&state) % 3];
        p.incy = steps[random_u64(&state) % 3];
    }
    repeat(&p, tiny ? 2 : 4, !f64, &state);
    return p;
}

/* Types of 16 bits: float16 has float32 results, and bfloat16 gaps in vectors, one way round each.
 */
static tsr_matvec_problem sweep_narrow(size_t i, bool tiny)
{
    const shape s = shapes[(5 * i + 3) % (tiny ? TINY_SHAPES : ARRAY_COUNT(shapes))];
    const bool bf16 = i % 2, turned = i / 2 % 2;
    uint64_t state = i;
    tsr_matvec_problem p = {.type = bf16 ? TSR_BF16 : TSR_F16,
                            .rows = s.rows,
                            .columns = s.columns,
                            .layout = i / 4 % 3 == 0 ? TSR_COLUMN_MAJOR : TSR_ROW_MAJOR};

    p.trans = turned != (p.layout == TSR_COLUMN_MAJOR);
    p.y_f32 = !bf16 && !turned;
    scale(&p, &state);
    spread(&p, &state);
    p.incx = bf16 && turned ? 2 : 1;
    p.incy = bf16 && turned ? 3 : 1;
    repeat(&p, 4, false, &state);
    return p;
}

bool matvec_sweep(size_t i, bool tiny, problem *out)
{
    const size_t wide = tiny ? TINY_SHAPES * TINY_FORMS : ARRAY_COUNT(shapes) * FORMS;
    const size_t narrow = tiny ? TINY_NARROW : NARROW;
    const size_t plain = tiny ? TINY_SHAPES : ARRAY_COUNT(shapes);
    const size_t large = tiny ? 0 : ARRAY_COUNT(sweep_large), edges = ARRAY_COUNT(sweep_edges);

    if (i >= wide + narrow + plain + large + edges)
        return false;
    *out = (problem){.op = &operation_matvec};
    if (i < wide)
        *matvec_in(out) = sweep_wide(i, tiny);
    else if (i < wide + narrow)
        *matvec_in(out) = sweep_narrow(i - wide, tiny);
    else if (i < wide + narrow + plain)
        *matvec_in(out) = (tsr_matvec_problem){.type = TSR_F32,
                                               .rows = shapes[i - wide - narrow].rows,
                                               .columns = shapes[i - wide - narrow].columns,
                                               .alpha = 1};
    else if (i < wide + narrow + plain + large)
        *matvec_in(out) = sweep_large[i - wide - narrow - plain];
    else
        *matvec_in(out) = sweep_edges[i - wide - narrow - plain - large];
    return true;
}

enum { BLOCK = 64 };

/* One product to be judged: of a batch, or alone. */
typedef struct judged {
    const tsr_matvec_problem *p;
    const device_facts *device;
    const void *const *before, *const *after;
    size_t product, batch; /* number of the product, of so many */
} judged;

static double x_at(const judged *j, size_t c)
{
    return real_get(j->p->type, j->before[MATVEC_X], j->p->offset_x + c * matvec_incx(j->p));
}

/* Sums of `count` rows from the `first`.  Along memory in the inner loop, whichever way A lies. */
static void add_up(const judged *j, const matvec_view *v, size_t first, size_t count, real_sum *sum)
{
    const tsr_type type = j->p->type;
    const void *a = j->before[MATVEC_A];
    size_t at[BLOCK];

    for (size_t i = 0; i < count; i++)
        at[i] = j->p->offset_a + (first + i) * v->row_step;
    if (v->trans) {
        for (size_t c = 0; c < v->columns; c++) {
            const double x = x_at(j, c);

            for (size_t i = 0; i < count; i++)
                real_sum_add(&sum[i], real_get(type, a, at[i] + c * v->column_step), x);
        }
        return;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < v->columns; c++)
            real_sum_add(&sum[i], real_get(type, a, at[i] + c), x_at(j, c));
}

static void judge_row(const judged *j, const matvec_view *v, size_t row, const real_sum *sum,
                      verdict *out)
{
    const tsr_type type = matvec_type_y(j->p);
    const size_t at = j->p->offset_y + row * matvec_incy(j->p);
    const double c = v->beta == 0 ? 0 : real_get(type, j->before[MATVEC_Y], at);
    const double got = real_get(type, j->after[MATVEC_Y], at);
    const double ratio = real_judge(sum, v->alpha, v->beta, c, got);
    char product[PRODUCT_TEXT_SIZE];

    if (isfinite(ratio) || out->ok)
        out->worst = fmax(out->worst, ratio);
    if (ratio <= 1 || !out->ok)
        return;
    out->ok = false;
    snprintf(out->detail, sizeof(out->detail),
             "y[%zu]%s is %.9g, %.3g times its error bound away from %.9Lg", row,
             findings_product(j->batch, j->product, product), got, ratio,
             v->alpha * real_sum_value(sum) + (long double)v->beta * c);
}

/* Rows from `first`, at most BLOCK. */
static void judge_block(const judged *j, size_t first, verdict *out)
{
    const matvec_view v = matvec_view_of(j->p);
    const size_t count = size_min(BLOCK, v.rows - first);
    real_sum sum[BLOCK];

    for (size_t i = 0; i < count; i++) {
        sum[i] = real_sum_start(j->p->type, j->p->precision, j->device);
        sum[i].result = matvec_type_y(j->p);
    }
    add_up(j, &v, first, count, sum);
    for (size_t i = 0; i < count; i++)
        judge_row(j, &v, first + i, &sum[i], out);
}

tsr_status matvec_verify(const problem *q, const device_facts *d, const void *const before[],
                         const void *const after[], const void *expected, verdict *out,
                         tsr_error *err)
{
    const tsr_matvec_problem *p = matvec_of(q);
    const view y = matvec_y(p);
    const size_t batch = matvec_batch(p), blocks = size_div_up(matvec_view_of(p).rows, BLOCK);
    const size_t parts = blocks * batch;
    findings f = {.out = out, .failed_at = SIZE_MAX};

    (void)expected;
    (void)err;
    *out = (verdict){.ok = view_gaps_kept(&y, before[MATVEC_Y], after[MATVEC_Y])};
    if (!out->ok) {
        out->worst = INFINITY;
        snprintf(out->detail, sizeof(out->detail), "memory outside y was written");
        return TSR_OK;
    }
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) if (q->op->work(q) > PARALLEL_MIN)
#endif
    for (size_t i = 0; i < parts; i++) {
        const tsr_matvec_problem one = matvec_product(p, (size_t)i / blocks);
        const judged j = {&one, d, before, after, (size_t)i / blocks, batch};
        verdict part = {.ok = true};

        judge_block(&j, (size_t)i % blocks * BLOCK, &part);
        findings_join(&f, &part, (size_t)i);
    }
    return TSR_OK;
}
