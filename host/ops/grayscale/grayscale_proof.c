/* Proving grayscale: test inputs, the sweep of edge shapes, and the reference. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "base/sizes.h"
#include "core/real.h"
#include "ops/grayscale/grayscale_problem.h"

enum { CHUNK = 1 << 16 };

void grayscale_fill(const problem *q, uint64_t seed, distribution f, void *const arrays[])
{
    operand o[OPERANDS_MAX];

    q->op->operands(q, o);
    for (size_t k = 0; k < 2; k++) {
        const size_t n = o[k].bytes / tsr_type_size(o[k].type), chunks = size_div_up(n, CHUNK);

#ifdef _OPENMP
#pragma omp parallel for if (chunks > 1)
#endif
        for (size_t c = 0; c < chunks; c++) {
            uint64_t state = random_stream(seed, 2 * c + k);

            for (size_t i = c * CHUNK; i < size_min((c + 1) * CHUNK, n); i++) {
                if (o[k].type == TSR_U8)
                    ((uint8_t *)arrays[k])[i] = (uint8_t)(random_u64(&state) >> 56);
                else
                    real_set(o[k].type, arrays[k], i, real_random(o[k].type, f, &state));
            }
        }
    }
}

/* No pixels, one, and one off groups and words.  A simulator takes the first TINY_SHAPES. */
static const size_t shapes[][2] = {{5, 7},  {1, 1},   {0, 3},    {3, 67},   {1, 130},  {33, 2},
                                   {17, 1}, {64, 64}, {129, 65}, {31, 257}, {1, 5003}, {300, 401}};
static const size_t offsets[][2] = {{0, 0}, {1, 3}, {4, 8}, {5, 1}, {2, 0}};

enum { TINY_SHAPES = 5, KINDS = 12 };

bool grayscale_sweep(size_t i, bool tiny, problem *out)
{
    const size_t shape = i / KINDS;
    const size_t *offset = offsets[i % ARRAY_COUNT(offsets)];
    tsr_grayscale_problem p;

    if (shape >= (tiny ? TINY_SHAPES : ARRAY_COUNT(shapes)))
        return false;
    p = (tsr_grayscale_problem){.type = i & 1 ? TSR_F32 : TSR_U8,
                                .height = shapes[shape][0],
                                .width = shapes[shape][1],
                                .channels = i & 2 ? 4 : 3,
                                .luma = i % KINDS / 4,
                                .offset_in = offset[0],
                                .offset_out = offset[1]};
    *out = problem_from(&operation_grayscale, &p, sizeof(p));
    return true;
}

/* The brightness of a pixel of bytes, by the weights of the contract. */
static double grey_of_bytes(const tsr_grayscale_problem *p, const uint8_t *pixel)
{
    static const uint64_t parts[][3] = {
        {19595, 38470, 7471}, {13933, 46871, 4732}, {2 * 9798, 2 * 19235, 2 * 3735}};
    uint64_t sum = 0;

    for (size_t c = 0; c < 3; c++)
        sum += parts[p->luma][c] * pixel[c];
    return floor((double)sum / 65536 + 0.5);
}

static bool same(const device_facts *d, float got, float exact)
{
    uint32_t bits, exact_bits;

    if (isnan(exact))
        return isnan(got);
    if (d && !d->denormals_f32 && fabsf(exact) <= 4 * FLT_MIN)
        return fabsf(got - exact) <= 4 * FLT_MIN;
    memcpy(&bits, &got, sizeof(bits));
    memcpy(&exact_bits, &exact, sizeof(exact_bits));
    return bits == exact_bits;
}

tsr_status grayscale_verify(const problem *q, const device_facts *d, const void *const before[],
                            const void *const after[], const void *expected, verdict *out,
                            tsr_error *err)
{
    static const float weights[][3] = {
        {0.299f, 0.587f, 0.114f}, {0.2126f, 0.7152f, 0.0722f}, {0.299f, 0.587f, 0.114f}};
    const tsr_grayscale_problem *p = grayscale_of(q);
    const view grey = grayscale_grey(p);
    const float *w = weights[p->luma];

    (void)expected, (void)err;
    *out = (verdict){.ok = view_gaps_kept(&grey, before[GRAYSCALE_GREY], after[GRAYSCALE_GREY])};
    if (!out->ok)
        snprintf(out->detail, sizeof(out->detail), "memory outside the picture was written");
    for (size_t i = 0; i < grayscale_pixels(p) && out->ok; i++) {
        const size_t from = p->offset_in + i * p->channels, to = p->offset_out + i;
        double got, exact;

        if (p->type == TSR_U8) {
            exact = grey_of_bytes(p, (const uint8_t *)before[GRAYSCALE_COLOUR] + from);
            got = ((const uint8_t *)after[GRAYSCALE_GREY])[to];
            out->ok = got == exact;
        } else {
            const float *pixel = (const float *)before[GRAYSCALE_COLOUR] + from;
            const float value = fmaf(w[2], pixel[2], fmaf(w[1], pixel[1], w[0] * pixel[0]));

            exact = (double)value;
            got = (double)((const float *)after[GRAYSCALE_GREY])[to];
            out->ok = same(d, (float)got, value);
        }
        if (!out->ok)
            snprintf(out->detail, sizeof(out->detail), "pixel %zu of row %zu is %.9g, not %.9g",
                     i % p->width, i / p->width, got, exact);
    }
    out->worst = out->ok ? 0 : INFINITY;
    return TSR_OK;
}
