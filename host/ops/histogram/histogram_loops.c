#include "ops/histogram/histogram_loops.h"

#include <stdint.h>
#include <string.h>

#include "base/fetch_ahead.h"
#include "base/half.h"

/* Elements whose bins are guessed by vectors before they are counted. */
enum { BLOCK = 256 };

/* The largest guess: an int that float32 holds as well. */
enum { GUESS_MAX = 0x7FFFFF80 };

/* For edges of type V.  The guess is where x would be among bins of equal width; halves, so that
 * the widest range does not overflow; a NaN becomes 0.  From there on the edges decide. */
#define FIND(name, T, V, VALUE)                                                                    \
    static void guess_##name(const T *x, size_t n, V low, V factor, V most, int32_t *to)           \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            V at = ((V)VALUE(x[i]) * (V)0.5 - low) * factor;                                       \
                                                                                                   \
            at = at > 0 ? at : 0;                                                                  \
            to[i] = (int32_t)(at < most ? at : most);                                              \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static size_t search_##name(const V *edges, size_t bins, V v)                                  \
    {                                                                                              \
        size_t first = 0, count = bins;                                                            \
                                                                                                   \
        while (count > 1) {                                                                        \
            const size_t half = count / 2;                                                         \
                                                                                                   \
            first = edges[first + half] <= v ? first + half : first;                               \
            count -= half;                                                                         \
        }                                                                                          \
        return first;                                                                              \
    }                                                                                              \
                                                                                                   \
    /* The bins of n elements, at most BLOCK; the number of bins for none. */                      \
    static void find_##name(const histogram_bins *b, const void *elements, size_t n, size_t *to)   \
    {                                                                                              \
        const T *x = elements;                                                                     \
        const V *edges = b->edges;                                                                 \
        const V low = edges[0], high = edges[b->bins];                                             \
        const V width = high * (V)0.5 - low * (V)0.5;                                              \
        const size_t last = b->bins - 1;                                                           \
        const V factor = width > 0 ? (V)b->bins / width : 0;                                       \
        const V most = last < GUESS_MAX ? (V)last : (V)GUESS_MAX;                                  \
        int32_t guess[BLOCK];                                                                      \
                                                                                                   \
        if (!b->uneven)                                                                            \
            guess_##name(x, n, low *(V)0.5, factor, most, guess);                                  \
        for (size_t i = 0; i < n; i++) {                                                           \
            const V v = (V)VALUE(x[i]);                                                            \
            size_t bin;                                                                            \
                                                                                                   \
            if (!(v >= low && v <= high)) {                                                        \
                to[i] = b->bins;                                                                   \
                continue;                                                                          \
            }                                                                                      \
            if (b->uneven) {                                                                       \
                to[i] = search_##name(edges, b->bins, v);                                          \
                continue;                                                                          \
            }                                                                                      \
            bin = (size_t)guess[i] < last ? (size_t)guess[i] : last;                               \
            while (bin > 0 && v < edges[bin])                                                      \
                bin--;                                                                             \
            while (bin < last && v >= edges[bin + 1])                                              \
                bin++;                                                                             \
            to[i] = bin;                                                                           \
        }                                                                                          \
    }

#define AS_IT_IS(v) (v)

FIND(f32, float, float, AS_IT_IS)
FIND(f64, double, double, AS_IT_IS)
FIND(i32, int32_t, double, AS_IT_IS)
FIND(u32, uint32_t, double, AS_IT_IS)
FIND(i64, int64_t, double, AS_IT_IS)
FIND(u64, uint64_t, double, AS_IT_IS)
FIND(f16, uint16_t, float, half_to_float)
FIND(bf16, uint16_t, float, bfloat_to_float)
FIND(i8, int8_t, float, AS_IT_IS)
FIND(u8, uint8_t, float, AS_IT_IS)
FIND(i16, int16_t, float, AS_IT_IS)
FIND(u16, uint16_t, float, AS_IT_IS)

/* The bin of a value of 8 bits, the number of bins for none. */
static size_t bin_of_byte(const histogram_bins *b, float v)
{
    const float *edges = b->edges;

    return v >= edges[0] && v <= edges[b->bins] ? search_f32(edges, b->bins, v) : b->bins;
}

typedef void find_of(const histogram_bins *b, const void *x, size_t n, size_t *to);

static find_of *const find[TSR_TYPE_COUNT] = {
    [TSR_F32] = find_f32, [TSR_F64] = find_f64, [TSR_I32] = find_i32, [TSR_U32] = find_u32,
    [TSR_I64] = find_i64, [TSR_U64] = find_u64, [TSR_F16] = find_f16, [TSR_BF16] = find_bf16,
    [TSR_I8] = find_i8,   [TSR_U8] = find_u8,   [TSR_I16] = find_i16, [TSR_U16] = find_u16};

static void count_values(const histogram_bins *b, const void *x, size_t n, size_t *table)
{
    const size_t size = tsr_type_size(b->type);
    size_t bin[BLOCK];

    for (size_t at = 0; at < n; at += BLOCK) {
        const size_t here = n - at < BLOCK ? n - at : BLOCK;

        find[b->type](b, (const char *)x + at * size, here, bin);
        for (size_t i = 0; i < here; i++)
            table[bin[i]]++;
    }
}

void ISA_NAMED(histogram_weigh)(const histogram_bins *b, const void *x, size_t n, tsr_type type,
                                const void *weights, histogram_sum *table)
{
    const size_t size = tsr_type_size(b->type), weight = tsr_type_size(type);
    size_t bin[BLOCK];

    for (size_t at = 0; at < n; at += BLOCK) {
        const size_t here = n - at < BLOCK ? n - at : BLOCK;
        const void *w = (const char *)weights + at * weight;

        find[b->type](b, (const char *)x + at * size, here, bin);
        for (size_t i = 0; i < here; i++) {
            histogram_sum *sum = &table[bin[i]];

            if (type == TSR_F32)
                sum->real += (double)((const float *)w)[i];
            else if (type == TSR_F64)
                sum->real += ((const double *)w)[i];
            else
                sum->whole += ((const uint64_t *)w)[i];
        }
    }
}

/* Bytes ahead that elements are fetched. */
enum { AHEAD = 1024 };

/* Of each value that a byte has, in four tables in turn: one value again and again waits for its
 * own count in a fourth of the places.  Two words of 32 bits take fewer shifts than one of 64. */
static void count_bytes(const unsigned char *x, size_t n, uint32_t table[4][256])
{
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        uint32_t word[2];

        memcpy(word, x + i, sizeof(word));
        fetch_ahead(x + i, AHEAD, sizeof(word));
        for (size_t k = 0; k < 2; k++) {
            table[0][word[k] & 255]++;
            table[1][word[k] >> 8 & 255]++;
        }
        for (size_t k = 0; k < 2; k++) {
            table[2][word[k] >> 16 & 255]++;
            table[3][word[k] >> 24]++;
        }
    }
    for (; i < n; i++)
        table[0][x[i]]++;
}

/* Bytes worth a table of all their values; and that a count of 32 bits holds. */
enum { BYTES_MIN = 2048, BYTES_MAX = 1 << 30 };

void ISA_NAMED(histogram_count)(const histogram_bins *b, const void *x, size_t n, size_t *table)
{
    const unsigned char *at = x;

    if ((b->type != TSR_U8 && b->type != TSR_I8) || n < BYTES_MIN) {
        count_values(b, x, n, table);
        return;
    }
    while (n) {
        const size_t here = n < BYTES_MAX ? n : BYTES_MAX;
        uint32_t values[4][256] = {{0}};

        count_bytes(at, here, values);
        for (unsigned v = 0; v < 256; v++) {
            const size_t times = (size_t)values[0][v] + values[1][v] + values[2][v] + values[3][v];
            const float value = b->type == TSR_I8 ? (float)(int8_t)v : (float)v;

            if (times)
                table[bin_of_byte(b, value)] += times;
        }
        at += here;
        n -= here;
    }
}
