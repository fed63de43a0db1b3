/* Test inputs, and the edge shapes that variants are verified on. */
#include "ops/matmul/matmul_descriptor.h"

#include <math.h>

#include "base/random.h"
#include "base/sizes.h"
#include "ops/matmul/matmul_shape.h"

void matmul_fill(const problem *q, uint64_t seed, distribution f, void *const arrays[])
{
    const tsr_matmul_problem *p = matmul_of(q);
    const matmul_matrix matrix[] = {matmul_matrix_a(p), matmul_matrix_b(p), matmul_matrix_c(p)};
    const view scales_a = matmul_scales_a(p), scales_b = matmul_scales_b(p);
    const tsr_type part = type_part(matmul_type_c(p));
    operand o[OPERANDS_MAX];

    q->op->operands(q, o);
    for (size_t i = MATMUL_A; i <= MATMUL_C; i++)
        view_fill(&o[i], &matrix[i], f, random_stream(seed, i), arrays[i]);
    if (matmul_scaled(p) & SCALES_A)
        view_fill(&o[MATMUL_SCALE_A], &scales_a, f, random_stream(seed, MATMUL_SCALE_A),
                  arrays[MATMUL_SCALE_A]);
    if (matmul_scaled(p) & SCALES_B)
        view_fill(&o[MATMUL_SCALE_B], &scales_b, f, random_stream(seed, MATMUL_SCALE_B),
                  arrays[MATMUL_SCALE_B]);
    /* What beta == 0 must not read. */
    if (!matmul_reads_c(p))
        for (size_t i = 0; i < o[MATMUL_C].bytes / tsr_type_size(part); i += 3)
            real_set(part, arrays[MATMUL_C], i, NAN);
}

/* m, n, k: empty, one, primes, one off each tile size, thin, deep. */
static const size_t sweep_shapes[][3] = {
    {0, 5, 3},     {5, 0, 3},     {4, 6, 0},      {1, 1, 1},     {2, 3, 1},    {1, 7, 5},
    {7, 1, 5},     {8, 8, 8},     {7, 9, 11},     {15, 17, 16},  {16, 16, 16}, {17, 15, 33},
    {31, 33, 32},  {3, 5, 300},   {63, 65, 64},   {64, 64, 64},  {65, 63, 31}, {1, 257, 129},
    {257, 1, 131}, {128, 128, 1}, {127, 129, 65}, {97, 101, 103}};
enum { TINY_SHAPES = 12, COMBINATIONS = 20 };

/* After all combinations: more rows, more columns and more products than a grid of 65535 groups of
 * 16 covers; more than one of the largest tiles each way, whatever is transposed; more tiles than a
 * large device runs at once, which groups share after whole ones; and whole tiles of a C of 16 bits
 * whose rows are aligned. */
static const tsr_matmul_problem sweep_large[] = {
    {.m = 1048700, .n = 1, .k = 2, .alpha = 1},
    {.m = 1, .n = 1048700, .k = 2, .alpha = 1},
    {.m = 513, .n = 257, .k = 80, .alpha = 1},
    {.m = 67600, .n = 1, .k = 24, .alpha = 1, .beta = 1},
    {.m = 1, .n = 67600, .k = 29, .alpha = -1, .trans_a = true, .trans_b = true},
    {.m = 1,
     .n = 2,
     .k = 3,
     .alpha = 1,
     .batch = 66000,
     .stride_a = 3,
     .stride_b = 6,
     .stride_c = 2},
    {.m = 65, .n = 70, .k = 1100, .alpha = 1, .beta = 1, .trans_a = true, .type = TSR_BF16},
    {.m = 150, .n = 260, .k = 40, .alpha = 0.5, .beta = -1, .type = TSR_F16},
    {.m = 131, .n = 256, .k = 24, .alpha = 1, .trans_b = true, .type = TSR_BF16},
    {.m = 513, .n = 257, .k = 81, .alpha = 2, .beta = 1, .trans_a = true, .trans_b = true},
    {.m = 257, .n = 129, .k = 96, .alpha = 1, .precision = TSR_PRECISION_TF32},
    {.m = 65, .n = 70, .k = 66, .alpha = 1, .precision = TSR_PRECISION_F32_STRICT},
    {.m = 513, .n = 257, .k = 80, .alpha = 1, .trans_b = true, .type = TSR_I8},
    {.m = 131, .n = 256, .k = 1104, .alpha = 3, .beta = 1, .type = TSR_I8},
    {.m = 65, .n = 70, .k = 1100, .alpha = -1, .beta = 2, .trans_a = true, .type = TSR_I8},
    {.m = 513, .n = 257, .k = 80, .alpha = 1, .trans_b = true, .type = TSR_F8E4M3},
    {.m = 131, .n = 256, .k = 1104, .alpha = 3, .beta = 1, .type = TSR_F8E4M3, .c_f32 = true},
    {.m = 65,
     .n = 70,
     .k = 1100,
     .alpha = -1,
     .beta = 2,
     .trans_a = true,
     .type = TSR_F8E5M2,
     .c_bf16 = true},
    {.m = 513, .n = 260, .k = 16, .alpha = 2, .type = TSR_F8E4M3, .scale_a = true, .scale_b = true},
    {.m = 131,
     .n = 257,
     .k = 48,
     .alpha = 1,
     .beta = -1,
     .trans_b = true,
     .type = TSR_F8E4M3,
     .c_bf16 = true,
     .scale_b = true,
     .offset_scale_b = 3},
    {.m = 20,
     .n = 130,
     .k = 1100,
     .alpha = 1,
     .beta = 1,
     .trans_b = true,
     .type = TSR_F8E5M2,
     .c_f32 = true,
     .scale_a = true,
     .scale_b = true,
     .offset_scale_a = 1},
    {.m = 257,
     .n = 129,
     .k = 99,
     .alpha = 2,
     .beta = 1,
     .trans_a = true,
     .trans_b = true,
     .precision = TSR_PRECISION_TF32}};

static const double sweep_scales[][2] = {{1, 0}, {1, 1},  {-1, 0}, {1.5, -0.5}, {0, 1},
                                         {0, 0}, {1, -1}, {0, 2},  {-2.5, 0},   {0.5, 1}};

/* Gaps between the lines of a problem's matrices, `more` and others, and before the first. */
static void spread(tsr_matmul_problem *p, size_t more)
{
    p->lda = matmul_lines_a(p).length + 3;
    p->ldb = matmul_lines_b(p).length + 1 + more;
    p->ldc = matmul_lines_c(p).length + 2;
    p->offset_a = 5;
    p->offset_b = more % 3;
    p->offset_c = 7;
    if (p->scale_a)
        p->offset_scale_a = 1 + more % 4;
    if (p->scale_b)
        p->offset_scale_b = more % 5;
}

/* Make a batch of a problem in one of the ways there are; of one product in most of 16. */
static void repeat(tsr_matmul_problem *p, size_t way)
{
    const matmul_matrix a = matmul_matrix_a(p), b = matmul_matrix_b(p), c = matmul_matrix_c(p);
    const size_t gap = way % 16 == 2 ? 5 : 0;

    if (way % 16 >= 5)
        return;
    p->batch = 2 + way % 16 % 4;
    p->stride_a = a.lines * a.ld + gap;
    p->stride_b = b.lines * b.ld + gap;
    p->stride_c = c.lines * c.ld + gap;
    if (p->scale_a)
        p->stride_scale_a = way % 5 ? p->m + gap : 0;
    if (p->scale_b)
        p->stride_scale_b = way / 2 % 2 ? p->n + 1 : 0;
    if (way % 16 == 0)
        p->stride_a = 0; /* shared */
    if (way % 16 == 1)
        p->stride_b = 0;
    if (way % 16 == 3) {
        p->stride_c = c.length + 1; /* side by side */
        p->ldc = p->batch * p->stride_c + c.ld - c.length;
    }
}

/* Types of 16 bits, and precisions that round float32 factors.  Each of these builds takes a CPU's
 * compiler a second, so a kind comes with two transposes, and float32 results with one of one kind.
 */
enum { NARROW = 64, NARROW_TINY = 12 };

static tsr_matmul_problem sweep_narrow(size_t i, size_t shapes)
{
    static const struct {
        tsr_type type;
        tsr_precision precision;
        bool alike; /* A is transposed where B is, else where it is not */
    } kinds[] = {{TSR_F16, TSR_PRECISION_DEFAULT, true},
                 {TSR_BF16, TSR_PRECISION_DEFAULT, false},
                 {TSR_F32, TSR_PRECISION_BF16, true},
                 {TSR_F32, TSR_PRECISION_F16, false}};
    const size_t kind = i % ARRAY_COUNT(kinds), round = i / ARRAY_COUNT(kinds);
    const size_t *shape = sweep_shapes[(3 * round + 5 * kind + 4) % shapes];
    const double *scale = sweep_scales[(round + 3 * kind) % ARRAY_COUNT(sweep_scales)];
    const bool trans = round & 1, alike = kinds[kind].alike;
    tsr_matmul_problem p = {.type = kinds[kind].type,
                            .precision = kinds[kind].precision,
                            .m = shape[0],
                            .n = shape[1],
                            .k = shape[2],
                            .trans_a = trans,
                            .trans_b = trans == alike,
                            .alpha = scale[0],
                            .beta = scale[1],
                            .c_f32 = kind == 0 && (round & 2) && !trans,
                            .layout = i / 3 % 2 ? TSR_COLUMN_MAJOR : TSR_ROW_MAJOR};

    if (round & 4)
        spread(&p, 3 + round);
    repeat(&p, 5 * round + 3 * kind);
    return p;
}

/* Every shape with each combination of transposes, float32 and float64, gaps, and TF32; a third of
 * them column-major, and a third in batches. */
static tsr_matmul_problem sweep_wide(size_t shape, size_t c, bool tiny)
{
    const double *scale = sweep_scales[(shape + 3 * c) % ARRAY_COUNT(sweep_scales)];
    tsr_matmul_problem p = {.m = sweep_shapes[shape][0],
                            .n = sweep_shapes[shape][1],
                            .k = sweep_shapes[shape][2],
                            .trans_a = c & 1,
                            .trans_b = (c & 2) != 0,
                            .alpha = scale[0],
                            .beta = scale[1]};

    p.type = tiny ? (c & 1 ? TSR_F64 : TSR_F32) : (c & 8 ? TSR_F64 : TSR_F32);
    p.precision = c & 16 ? TSR_PRECISION_TF32 : TSR_PRECISION_DEFAULT;
    p.layout = (shape + c / 4) % 3 == 0 ? TSR_COLUMN_MAJOR : TSR_ROW_MAJOR;
    if (c & 4 || (c & 16 && shape % 2) || tiny)
        spread(&p, shape % 5);
    repeat(&p, 5 * shape + 3 * c);
    return p;
}

/* Many small products, in groups that hold several: sizes about those of tiles, counts that leave
 * a group in part without work, gaps, a matrix that all share, and each transpose. */
static const struct {
    size_t m, n, k, batch, gap;
    unsigned trans; /* 1: A; 2: B */
    bool shared;    /* one B for all */
    double beta;
} sweep_batches[] = {
    {1, 3, 16, 7, 2, 0, false, 0},      {16, 16, 16, 7, 0, 3, false, 1},
    {15, 3, 17, 2, 1, 1, true, -0.5},   {3, 15, 1, 100, 0, 2, false, 0},
    {16, 16, 16, 100, 0, 0, false, 0},  {17, 16, 15, 100, 3, 3, false, 1},
    {31, 33, 16, 7, 4, 1, false, 0},    {33, 31, 65, 2, 0, 2, true, 1},
    {32, 32, 32, 7, 8, 1, false, -0.5}, {64, 64, 64, 7, 16, 2, false, 0},
    {65, 64, 33, 2, 0, 0, false, 0.5},  {63, 17, 64, 100, 1, 0, false, 0},
    {128, 128, 128, 2, 4, 3, false, 0},
};
enum { TINY_BATCHES = 3 };

static tsr_matmul_problem sweep_batch(size_t i)
{
    tsr_matmul_problem p = {.m = sweep_batches[i].m,
                            .n = sweep_batches[i].n,
                            .k = sweep_batches[i].k,
                            .trans_a = sweep_batches[i].trans & 1,
                            .trans_b = (sweep_batches[i].trans & 2) != 0,
                            .alpha = 1.5,
                            .beta = sweep_batches[i].beta,
                            .batch = sweep_batches[i].batch};

    p.stride_a = p.m * p.k + sweep_batches[i].gap;
    p.stride_b = sweep_batches[i].shared ? 0 : p.k * p.n + sweep_batches[i].gap;
    p.stride_c = p.m * p.n + sweep_batches[i].gap;
    return p;
}

/* Complex operands: both types, each op() of A with each of B, real and complex scales, gaps and
 * batches. */
enum { COMPLEX = 64, COMPLEX_TINY = 16 };

static tsr_matmul_problem sweep_complex(size_t i, size_t shapes)
{
    static const double imaginary[][2] = {{0, 0}, {0, 0}, {0, 0}, {-0.5, 0}, {0, 1.5}, {2, -1}};
    const size_t *shape = sweep_shapes[(i + i / 16 + 6) % shapes];
    const double *scale = sweep_scales[(3 * i + i / 8 + 1) % ARRAY_COUNT(sweep_scales)];
    tsr_matmul_problem p = {.type = i % 2 ? TSR_C128 : TSR_C64,
                            .m = shape[0],
                            .n = shape[1],
                            .k = shape[2],
                            .trans_a = i / 2 & 1,
                            .trans_b = i / 4 & 1,
                            .conj_a = i / 8 & 1,
                            .conj_b = (i / 2 + i / 16) & 1,
                            .alpha = scale[0],
                            .beta = scale[1],
                            .alpha_im = imaginary[(i / 2 + i / 12) % ARRAY_COUNT(imaginary)][0],
                            .beta_im = imaginary[(i / 2 + i / 12) % ARRAY_COUNT(imaginary)][1],
                            .layout = i % 5 == 0 ? TSR_COLUMN_MAJOR : TSR_ROW_MAJOR};

    if (i % 3 == 0)
        spread(&p, i);
    repeat(&p, 3 * i + 6);
    return p;
}

/* int8: each pair of transposes, whole scales up to those that wrap, gaps and batches. */
enum { WHOLE = 64, WHOLE_TINY = 8 };

static tsr_matmul_problem sweep_int8(size_t i, size_t shapes)
{
    static const double scales[][2] = {{1, 0},  {1, 1}, {-3, 2}, {0, -1}, {2147483647, -2147483648},
                                       {-1, 0}, {0, 0}, {1, 0},  {5, 1}};
    const size_t *shape = sweep_shapes[(i + i / 8 + 3) % shapes];
    const double *scale = scales[(i + i / 4) % ARRAY_COUNT(scales)];
    tsr_matmul_problem p = {.type = TSR_I8,
                            .m = shape[0],
                            .n = shape[1],
                            .k = shape[2],
                            .trans_a = i & 1,
                            .trans_b = i / 2 & 1,
                            .alpha = scale[0],
                            .beta = scale[1],
                            .layout = i % 5 == 0 ? TSR_COLUMN_MAJOR : TSR_ROW_MAJOR};

    if (i / 4 % 2)
        spread(&p, i);
    repeat(&p, 3 * i + 4);
    return p;
}

/* FP8: both types, each result, each pair of transposes, gaps and batches; every fifth in f32. */
enum { FP8 = 80, FP8_TINY = 12 };

static tsr_matmul_problem sweep_fp8(size_t i, size_t shapes)
{
    const size_t *shape = sweep_shapes[(i + i / 12 + 5) % shapes];
    const double *scale = sweep_scales[(i + i / 6) % ARRAY_COUNT(sweep_scales)];
    tsr_matmul_problem p = {.type = i % 2 ? TSR_F8E5M2 : TSR_F8E4M3,
                            .precision = i % 5 == 4 ? TSR_PRECISION_F32 : TSR_PRECISION_DEFAULT,
                            .m = shape[0],
                            .n = shape[1],
                            .k = shape[2],
                            .trans_a = i / 2 & 1,
                            .trans_b = (i / 2 + i / 12) & 1,
                            .alpha = scale[0] * (i / 2 % 3 == 2 ? 512 : 1), /* some saturate */
                            .beta = scale[1],
                            .c_f32 = i / 2 % 3 == 0,
                            .c_bf16 = i / 2 % 3 == 1,
                            .layout = i % 7 == 0 ? TSR_COLUMN_MAJOR : TSR_ROW_MAJOR};

    if (i / 4 % 2)
        spread(&p, i);
    repeat(&p, 3 * i + 4);
    return p;
}

/* FP8 whose rows, columns or both have scales: of inputs of every kind, so that among them are 0,
 * infinity and NaN, and powers of two.  The result stays as it is for some in a row, as builds do.
 */
enum { SCALED = 48, SCALED_TINY = 9, SHAPES_SCALED = ARRAY_COUNT(sweep_shapes) - 2 };

static tsr_matmul_problem sweep_scaled(size_t i, size_t shapes)
{
    static const double scales[][2] = {{1, 0}, {2, 1}, {-1.5, -0.5}, {0, 1}};
    /* Without the last two, of a million products each: scales are of the sums. */
    const size_t *shape = sweep_shapes[(i + i / 9 + 7) % size_min(shapes, SHAPES_SCALED)];
    const double *scale = scales[(i + i / 5) % ARRAY_COUNT(scales)];
    tsr_matmul_problem p = {.type = i / 3 % 2 ? TSR_F8E5M2 : TSR_F8E4M3,
                            .m = shape[0],
                            .n = shape[1],
                            .k = shape[2],
                            .trans_a = i / 6 % 4 == 1,
                            .trans_b = i / 6 % 4 != 0,
                            .alpha = scale[0],
                            .beta = scale[1],
                            .c_f32 = i / 3 % 3 == 0,
                            .c_bf16 = i / 3 % 3 == 1,
                            .scale_a = i % 3 != 1,
                            .scale_b = i % 3 != 0,
                            .layout = i % 5 == 2 ? TSR_COLUMN_MAJOR : TSR_ROW_MAJOR};

    if (i / 2 % 2)
        spread(&p, i);
    repeat(&p, 3 * i + 4);
    return p;
}

bool matmul_sweep(size_t i, bool tiny, problem *out)
{
    const size_t shapes = tiny ? TINY_SHAPES : ARRAY_COUNT(sweep_shapes);
    const size_t combinations = tiny ? 4 : COMBINATIONS;
    const size_t narrow = tiny ? NARROW_TINY : NARROW;
    const size_t batches = tiny ? TINY_BATCHES : ARRAY_COUNT(sweep_batches);
    const size_t large = tiny ? 0 : ARRAY_COUNT(sweep_large);
    const size_t complex = tiny ? COMPLEX_TINY : COMPLEX;
    const size_t whole = tiny ? WHOLE_TINY : WHOLE, fp8 = tiny ? FP8_TINY : FP8;
    const size_t scaled = tiny ? SCALED_TINY : SCALED;

    *out = (problem){.op = &operation_matmul};
    if (i < shapes * combinations) {
        *matmul_in(out) = sweep_wide(i / combinations, i % combinations, tiny);
        return true;
    }
    i -= shapes * combinations;
    if (i < narrow) {
        *matmul_in(out) = sweep_narrow(i, shapes);
        return true;
    }
    i -= narrow;
    if (i < batches) {
        *matmul_in(out) = sweep_batch(i);
        return true;
    }
    i -= batches;
    if (i < shapes) {
        /* Every shape as lessons take it: float32, one product, A B alone, no gaps. */
        *matmul_in(out) = (tsr_matmul_problem){
            .m = sweep_shapes[i][0], .n = sweep_shapes[i][1], .k = sweep_shapes[i][2], .alpha = 1};
        return true;
    }
    i -= shapes;
    if (i < complex) {
        *matmul_in(out) = sweep_complex(i, shapes);
        return true;
    }
    i -= complex;
    if (i < whole) {
        *matmul_in(out) = sweep_int8(i, shapes);
        return true;
    }
    i -= whole;
    if (i < fp8) {
        *matmul_in(out) = sweep_fp8(i, shapes);
        return true;
    }
    i -= fp8;
    if (i < scaled) {
        *matmul_in(out) = sweep_scaled(i, shapes);
        return true;
    }
    i -= scaled;
    if (i >= large)
        return false;
    *matmul_in(out) = sweep_large[i];
    return true;
}
