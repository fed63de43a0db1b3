#include "ops/grayscale/grayscale_simd.h"

#include <math.h>
#include <string.h>

#if ISA == 2
#include <immintrin.h>
#endif

#if ISA == 2
/*
 * 16 pixels at a time, four in each quarter of a vector: products of 16 bits with sign, of which a
 * green one is two halves, since its weight may need all 16.  Returns the pixels done; a load of 64
 * bytes ends before the picture does.
 */
static inline size_t vectors_of_bytes(const uint8_t *colour, size_t n, size_t channels,
                                      const uint32_t weights[3], uint8_t *grey)
{
    enum { PIXELS = 16 };
    const int low = (int)(weights[1] / 2 << 16 | weights[0]);
    const int high = (int)((weights[1] - weights[1] / 2) << 16 | weights[2]);
    const __m512i red_green = _mm512_set1_epi32(low), blue_green = _mm512_set1_epi32(high);
    const __m512i half = _mm512_set1_epi32(32768);
    /* Three words of four bytes are four pixels of three. */
    const __m512i apart = _mm512_setr_epi32(0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11);
    int8_t first[16], second[16];
    __m512i take_red_green, take_blue_green;
    size_t i = 0;

    memset(first, -1, sizeof(first)); /* a byte of 0 */
    memset(second, -1, sizeof(second));
    for (size_t k = 0; k < 4; k++) {
        first[4 * k] = (int8_t)(k * channels);
        second[4 * k] = (int8_t)(k * channels + 2);
        first[4 * k + 2] = second[4 * k + 2] = (int8_t)(k * channels + 1);
    }
    take_red_green = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)first));
    take_blue_green =
        _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)second));
    for (; (i + PIXELS) * channels + 16 <= n * channels; i += PIXELS) {
        __m512i v = _mm512_loadu_si512(colour + i * channels), sum;

        if (channels == 3)
            v = _mm512_permutexvar_epi32(apart, v);
        sum = _mm512_add_epi32(
            _mm512_madd_epi16(_mm512_shuffle_epi8(v, take_red_green), red_green),
            _mm512_madd_epi16(_mm512_shuffle_epi8(v, take_blue_green), blue_green));
        sum = _mm512_srli_epi32(_mm512_add_epi32(sum, half), 16);
        _mm_storeu_si128((__m128i *)(void *)(grey + i), _mm512_cvtepi32_epi8(sum));
    }
    return i;
}
#else
static inline size_t vectors_of_bytes(const uint8_t *colour, size_t n, size_t channels,
                                      const uint32_t weights[3], uint8_t *grey)
{
    (void)colour, (void)n, (void)channels, (void)weights, (void)grey;
    return 0;
}
#endif

/* A loop for each number of channels, which the compiler has to know to use vectors. */
static inline void bytes(const uint8_t *colour, size_t n, size_t channels,
                         const uint32_t weights[3], uint8_t *restrict grey)
{
    const uint32_t r = weights[0], g = weights[1], b = weights[2];

    for (size_t i = vectors_of_bytes(colour, n, channels, weights, grey); i < n; i++) {
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
