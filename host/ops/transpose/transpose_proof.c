/* Proving transpose: test inputs, the sweep of edge shapes, and the comparison with the definition.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "base/sizes.h"
#include "ops/transpose/transpose_problem.h"

enum { PARALLEL_MIN = 100000 }; /* bytes that are worth several threads */

/* Without the highest bit of an exponent a float of any type is finite. */
static const uint64_t finite = 0xBFFFBFFFBFFFBFFFu;

/* Any bytes, gaps included: no element is looked at.  Other libraries multiply by 1, which NaNs of
 * some bits do not survive: plain inputs have none. */
void transpose_fill(const problem *q, uint64_t seed, distribution f, void *const arrays[])
{
    operand o[OPERANDS_MAX];

    q->op->operands(q, o);
    for (size_t k = 0; k < TRANSPOSE_OPERANDS; k++) {
        const uint64_t stream = random_stream(seed, k);
        const long long words = (long long)size_div_up(o[k].bytes, 8);

#ifdef _OPENMP
#pragma omp parallel for if (o[k].bytes > PARALLEL_MIN)
#endif
        for (long long i = 0; i < words; i++) {
            const uint64_t random = random_stream(stream, (uint64_t)i);
            const uint64_t bits = f == DISTRIBUTION_PLAIN ? random & finite : random;
            const size_t at = 8 * (size_t)i;

            memcpy((unsigned char *)arrays[k] + at, &bits, size_min(8, o[k].bytes - at));
        }
    }
}

/* ---- the sweep ----------------------------------------------------------------------------- */

/* Nothing, one element, rows and columns alone, one off tiles, and several tiles either way; square
 * ones are transposed in place as well.  A simulator takes the first TINY_SHAPES. */
static const size_t shapes[][2] = {
    {0, 3},     {37, 37},  {33, 70}, {70, 33},   {5, 33},   {64, 64},  {64, 32},   {1, 70},
    {1, 1},     {32, 32},  {31, 33}, {3, 0},     {70, 1},   {16, 16},  {65, 63},   {128, 64},
    {129, 127}, {64, 129}, {100, 3}, {7, 7},     {2, 2},    {255, 17}, {256, 256}, {130, 130},
    {1, 5003},  {5003, 1}, {257, 9}, {513, 511}, {9, 1031}, {4, 4},    {1000, 40}, {96, 1031},
};

enum { TINY_SHAPES = 8, TYPE_SHAPES = 24 };

/* Types by their widths, the main one first, and elements that no type has. */
static const struct {
    tsr_type type;
    size_t bytes;
} elements[] = {{TSR_F32, 0}, {TSR_U8, 0},  {TSR_U16, 0},  {TSR_U64, 0}, {TSR_F64, 0},
                {TSR_I32, 0}, {TSR_U32, 0}, {TSR_I64, 0},  {TSR_F16, 0}, {TSR_BF16, 0},
                {TSR_I8, 0},  {TSR_I16, 0}, {TSR_F32, 16}, {TSR_F32, 3}, {TSR_F32, 12},
                {TSR_F32, 6}, {TSR_F32, 5}};

bool transpose_sweep(size_t i, bool tiny, problem *out)
{
    const size_t element = i % ARRAY_COUNT(elements), at = i / ARRAY_COUNT(elements);
    const size_t count = tiny ? TINY_SHAPES : element ? TYPE_SHAPES : ARRAY_COUNT(shapes);
    const size_t limit = tiny ? TINY_SHAPES : ARRAY_COUNT(shapes);
    const size_t turn = (at + element) % 6;
    tsr_transpose_problem p = {.type = elements[element].type,
                               .element_bytes = elements[element].bytes};

    if (at >= limit)
        return false;
    if (at < count) {
        p.rows = shapes[at][0];
        p.columns = shapes[at][1];
    }
    p.in_place = p.rows == p.columns && turn != 0 && turn != 2;
    /* Half of them are plain, which the ladder takes; others have gaps, offsets, or are batches. */
    if (turn == 1) {
        p.lda = p.columns + 3;
        p.ldb = p.rows + 5;
        p.offset_a = 2;
        p.offset_b = 7;
    } else if (turn == 3) {
        p.offset_a = 4;
        p.offset_b = 8;
    } else if (turn == 4 && p.rows * p.columns < 5000) {
        p.batch = 3;
        p.stride_b = p.rows * p.columns + 4;
    }
    *out = problem_from(&operation_transpose, &p, sizeof(p));
    return true;
}

/* ---- the reference ------------------------------------------------------------------------- */

/* Where an element is, in bytes. */
static size_t place(const stored_matrix *m, size_t bytes, size_t e, size_t row, size_t column)
{
    return (m->offset + e * m->stride + row * m->ld + column) * bytes;
}

tsr_status transpose_verify(const problem *q, const device_facts *d, const void *const before[],
                            const void *const after[], const void *expected, verdict *out,
                            tsr_error *err)
{
    const tsr_transpose_problem *p = transpose_of(q);
    const size_t from = p->in_place ? TRANSPOSE_B : TRANSPOSE_A, bytes = transpose_bytes(p);
    const stored_matrix a = transpose_stored(p, TRANSPOSE_A), b = transpose_stored(p, TRANSPOSE_B);
    const view result = transpose_view(p, TRANSPOSE_B);
    const long long lines = (long long)(p->columns ? transpose_batch(p) * p->rows : 0);
    long long first = lines; /* row of all matrices in which an element is wrong */

    (void)d, (void)expected, (void)err;
    *out = (verdict){.ok = view_gaps_kept(&result, before[TRANSPOSE_B], after[TRANSPOSE_B])};
    if (!out->ok) {
        snprintf(out->detail, sizeof(out->detail), "memory outside the result was written");
        return TSR_OK;
    }
#ifdef _OPENMP
#pragma omp parallel for reduction(min : first) if (lines > 64)
#endif
    for (long long l = 0; l < lines; l++) {
        const size_t e = (size_t)l / p->rows, i = (size_t)l % p->rows;

        for (size_t j = 0; j < p->columns; j++)
            if (memcmp((const unsigned char *)before[from] + place(&a, bytes, e, i, j),
                       (const unsigned char *)after[TRANSPOSE_B] + place(&b, bytes, e, j, i),
                       bytes) != 0)
                first = l < first ? l : first;
    }
    out->ok = first == lines;
    for (size_t j = 0; j < p->columns && !out->ok && !out->detail[0]; j++) {
        const size_t e = (size_t)first / p->rows, i = (size_t)first % p->rows;

        if (memcmp((const unsigned char *)before[from] + place(&a, bytes, e, i, j),
                   (const unsigned char *)after[TRANSPOSE_B] + place(&b, bytes, e, j, i),
                   bytes) != 0)
            snprintf(out->detail, sizeof(out->detail),
                     "element (%zu, %zu) of B%s is not element (%zu, %zu) of A", j, i,
                     transpose_batch(p) > 1 ? ", of one of the batch," : "", i, j);
    }
    return TSR_OK;
}
