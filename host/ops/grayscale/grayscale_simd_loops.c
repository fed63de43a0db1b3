#include "ops/grayscale/grayscale_simd.h"

#include <math.h>
#include <string.h>

#include "base/fetch_ahead.h"
#include "base/past_caches.h"

#if ISA == 2
#include <immintrin.h>
#endif

#if ISA == 2
/* How many bytes ahead pixels are fetched: the processor alone has too few of them on their way. */
enum { AHEAD = 2048, PIXELS = 16, LINE_PIXELS = 64 };

/* What all pixels are converted by. */
typedef struct pixel_vectors {
    __m512i red_green, blue_green, take_red_green, take_blue_green;
} pixel_vectors;

/*
 * 16 pixels, four in each quarter of a vector: products of 16 bits with sign, of which a green one
 * is two halves, since its weight may need all 16.  It loads 64 bytes.
 */
static inline __attribute__((always_inline)) __m128i grey_of(const pixel_vectors *p,
                                                             const uint8_t *colour, size_t channels)
{
    /* Three words of four bytes are four pixels of three. */
    const __m512i apart = _mm512_setr_epi32(0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11);
    const __m512i half = _mm512_set1_epi32(32768);
    __m512i v = _mm512_loadu_si512(colour), sum;

    if (channels == 3)
        v = _mm512_permutexvar_epi32(apart, v);
    sum = _mm512_add_epi32(
        _mm512_madd_epi16(_mm512_shuffle_epi8(v, p->take_red_green), p->red_green),
        _mm512_madd_epi16(_mm512_shuffle_epi8(v, p->take_blue_green), p->blue_green));
    return _mm512_cvtepi32_epi8(_mm512_srli_epi32(_mm512_add_epi32(sum, half), 16));
}

/* Returns the pixels done; a load of 64 bytes ends before the picture does. */
static inline __attribute__((always_inline)) size_t
vectors_of_bytes(const uint8_t *colour, size_t n, size_t channels, const uint32_t weights[3],
                 uint8_t *grey, bool past_caches)
{
    const int low = (int)(weights[1] / 2 << 16 | weights[0]);
    const int high = (int)((weights[1] - weights[1] / 2) << 16 | weights[2]);
    pixel_vectors p = {_mm512_set1_epi32(low), _mm512_set1_epi32(high), {0}, {0}};
    int8_t first[16], second[16];
    size_t i = 0;

    memset(first, -1, sizeof(first)); /* a byte of 0 */
    memset(second, -1, sizeof(second));
    for (size_t k = 0; k < 4; k++) {
        first[4 * k] = (int8_t)(k * channels);
        second[4 * k] = (int8_t)(k * channels + 2);
        first[4 * k + 2] = second[4 * k + 2] = (int8_t)(k * channels + 1);
    }
    p.take_red_green =
        _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)first));
    p.take_blue_green =
        _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)second));
    past_caches = past_caches && n >= 2 * LINE_PIXELS;
    if (past_caches) {
        /* To where a line begins; the next one does some of these again. */
        const size_t head = past_caches_head(grey, 1, n);

        for (size_t k = 0; k < head; k += PIXELS)
            _mm_storeu_si128((__m128i *)(void *)(grey + k),
                             grey_of(&p, colour + k * channels, channels));
        i = head;
    }
    for (; (i + LINE_PIXELS) * channels + 16 <= n * channels; i += LINE_PIXELS) {
        const uint8_t *from = colour + i * channels;
        __m512i line = _mm512_castsi128_si512(grey_of(&p, from, channels));

        fetch_ahead(from, AHEAD, LINE_PIXELS * channels);
        line = _mm512_inserti32x4(line, grey_of(&p, from + PIXELS * channels, channels), 1);
        line = _mm512_inserti32x4(line, grey_of(&p, from + 2 * PIXELS * channels, channels), 2);
        line = _mm512_inserti32x4(line, grey_of(&p, from + 3 * PIXELS * channels, channels), 3);
        if (past_caches)
            _mm512_stream_si512((__m512i *)(void *)(grey + i), line);
        else
            _mm512_storeu_si512(grey + i, line);
    }
    if (past_caches)
        past_caches_end();
    for (; (i + PIXELS) * channels + 16 <= n * channels; i += PIXELS)
        _mm_storeu_si128((__m128i *)(void *)(grey + i),
                         grey_of(&p, colour + i * channels, channels));
    return i;
}
#else
static inline size_t vectors_of_bytes(const uint8_t *colour, size_t n, size_t channels,
                                      const uint32_t weights[3], uint8_t *grey, bool past_caches)
{
    (void)colour, (void)n, (void)channels, (void)weights, (void)grey, (void)past_caches;
    return 0;
}
#endif

/* A loop for each number of channels, which the compiler has to know to use vectors. */
static inline void bytes(const uint8_t *colour, size_t n, size_t channels,
                         const uint32_t weights[3], uint8_t *restrict grey, bool past_caches)
{
    const uint32_t r = weights[0], g = weights[1], b = weights[2];

    for (size_t i = vectors_of_bytes(colour, n, channels, weights, grey, past_caches); i < n; i++) {
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
                                const uint32_t weights[3], uint8_t *grey, bool past_caches)
{
    if (channels == 3)
        bytes(colour, n, 3, weights, grey, past_caches);
    else
        bytes(colour, n, 4, weights, grey, past_caches);
}

void ISA_NAMED(grayscale_reals)(const float *colour, size_t n, size_t channels,
                                const float weights[3], float *grey)
{
    if (channels == 3)
        reals(colour, n, 3, weights, grey);
    else
        reals(colour, n, 4, weights, grey);
}
