#include "ops/histogram/histogram_loops.h"

#include <stdint.h>
#include <string.h>

#include "base/half.h"

/* Elements whose bins are guessed by vectors before they are counted. */
enum { BLOCK = 256 };

/* The largest guess: an int that float32 holds as well. */
enum { GUESS_MAX = 0x7FFFFF80 };

/* For edges of type V.  The guess is where x would be among bins of equal width; halves, so that
 * the widest range does not overflow; a NaN becomes 0.  From there on the edges decide. */
#define COUNT(name, T, V, VALUE)                                                                   \
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
    static void count_##name(const histogram_bins *b, const T *x, size_t n, size_t *table)         \
    {                                                                                              \
        const V *edges = b->edges;                                                                 \
        const V low = edges[0], high = edges[b->bins];                                             \
        const V width = high * (V)0.5 - low * (V)0.5;                                              \
        const size_t last = b->bins - 1;                                                           \
        const V factor = width > 0 ? (V)b->bins / width : 0;                                       \
        const V most = last < GUESS_MAX ? (V)last : (V)GUESS_MAX;                                  \
        int32_t guess[BLOCK];                                                                      \
                                                                                                   \
        for (size_t at = 0; at < n; at += BLOCK) {                                                 \
            const size_t here = n - at < BLOCK ? n - at : BLOCK;                                   \
                                                                                                   \
            if (!b->uneven)                                                                        \
                guess_##name(x + at, here, low * (V)0.5, factor, most, guess);                     \
            for (size_t i = 0; i < here; i++) {                                                    \
                const V v = (V)VALUE(x[at + i]);                                                   \
                size_t bin;                                                                        \
                                                                                                   \
                if (!(v >= low && v <= high)) {                                                    \
                    table[b->bins]++;                                                              \
                    continue;                                                                      \
                }                                                                                  \
                if (b->uneven) {                                                                   \
                    table[search_##name(edges, b->bins, v)]++;                                     \
                    continue;                                                                      \
                }                                                                                  \
                bin = (size_t)guess[i] < last ? (size_t)guess[i] : last;                           \
                while (bin > 0 && v < edges[bin])                                                  \
                    bin--;                                                                         \
                while (bin < last && v >= edges[bin + 1])                                          \
                    bin++;                                                                         \
                table[bin]++;                                                                      \
            }                                                                                      \
        }                                                                                          \
    }

#define AS_IT_IS(v) (v)

COUNT(f32, float, float, AS_IT_IS)
COUNT(f64, double, double, AS_IT_IS)
COUNT(i32, int32_t, double, AS_IT_IS)
COUNT(u32, uint32_t, double, AS_IT_IS)
COUNT(i64, int64_t, double, AS_IT_IS)
COUNT(u64, uint64_t, double, AS_IT_IS)
COUNT(f16, uint16_t, float, half_to_float)
COUNT(bf16, uint16_t, float, bfloat_to_float)
COUNT(i8, int8_t, float, AS_IT_IS)
COUNT(u8, uint8_t, float, AS_IT_IS)
COUNT(i16, int16_t, float, AS_IT_IS)
COUNT(u16, uint16_t, float, AS_IT_IS)

/* The bin of a value of 8 bits, the number of bins for none. */
static size_t bin_of_byte(const histogram_bins *b, float v)
{
    const float *edges = b->edges;

    return v >= edges[0] && v <= edges[b->bins] ? search_f32(edges, b->bins, v) : b->bins;
}

static void count_values(const histogram_bins *b, const void *x, size_t n, size_t *table)
{
    switch (b->type) {
    case TSR_F32:
        count_f32(b, x, n, table);
        break;
    case TSR_F64:
        count_f64(b, x, n, table);
        break;
    case TSR_I32:
        count_i32(b, x, n, table);
        break;
    case TSR_U32:
        count_u32(b, x, n, table);
        break;
    case TSR_I64:
        count_i64(b, x, n, table);
        break;
    case TSR_U64:
        count_u64(b, x, n, table);
        break;
    case TSR_F16:
        count_f16(b, x, n, table);
        break;
    case TSR_BF16:
        count_bf16(b, x, n, table);
        break;
    case TSR_I8:
        count_i8(b, x, n, table);
        break;
    case TSR_U8:
        count_u8(b, x, n, table);
        break;
    case TSR_I16:
        count_i16(b, x, n, table);
        break;
    default:
        count_u16(b, x, n, table);
        break;
    }
}

/* Of each value that a byte has, in four tables in turn: one value again and again waits for its
 * own count in a fourth of the places. */
static void count_bytes(const unsigned char *x, size_t n, uint32_t table[4][256])
{
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        uint64_t word;

        memcpy(&word, x + i, sizeof(word));
        table[0][word & 255]++;
        table[1][word >> 8 & 255]++;
        table[2][word >> 16 & 255]++;
        table[3][word >> 24 & 255]++;
        table[0][word >> 32 & 255]++;
        table[1][word >> 40 & 255]++;
        table[2][word >> 48 & 255]++;
        table[3][word >> 56]++;
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
