#include "ops/grayscale/grayscale_simd.h"

#include <math.h>

/* A loop for each number of channels, which the compiler has to know to use vectors. */
static inline void bytes(const uint8_t *colour, size_t n, size_t channels,
                         const uint32_t weights[3], uint8_t *restrict grey)
{
    const uint32_t r = weights[0], g = weights[1], b = weights[2];

    for (size_t i = 0; i < n; i++) {
        const uint8_t *pixel = colour + i * channels;

        grey[i] = (uint8_t)((r * pixel[0] + g * pixel[1] + b * pixel[2] + 32768) >> 16);
    }
}

static inline void reals(const float *colour, size_t n, size_t channels, const float weights[3],
                         float *restrict grey)
{
    const float r = weights[0], g = weights[1], b = weights[2];

    for (size_t i = 0; i < n; i++) {
        const float *pixel = colour + i * channels;

        grey[i] = fmaf(b, pixel[2], fmaf(g, pixel[1], r * pixel[0]));
    }
}

void ISA_NAMED(grayscale_bytes)(const uint8_t *colour, size_t n, size_t channels,
                                const uint32_t weights[3], uint8_t *grey)
{
    if (channels == 3)
        bytes(colour, n, 3, weights, grey);
    else
        bytes(colour, n, 4, weights, grey);
}

void ISA_NAMED(grayscale_reals)(const float *colour, size_t n, size_t channels,
                                const float weights[3], float *grey)
{
    if (channels == 3)
        reals(colour, n, 3, weights, grey);
    else
        reals(colour, n, 4, weights, grey);
}
