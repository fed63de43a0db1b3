/* Reductions by vectors, of every type: one body, and for floats of 16 bits the loops of float32
 * over blocks that are converted. */
#include <stdbool.h>
#include <string.h>

#include "base/past_caches.h"
#include "ops/reduce/reduce_simd.h"

/* Results side by side, for vectors and to hide the latency of an addition; they are combined in
 * one order.  The sum of integers of some blocks is exact in EXACT. */
enum { LANES = 32, FEW_LANES = 8, BLOCK = 4096 };

/* Columns of four rows that are added before the next ones, while as many are fetched. */
enum { COLUMNS_AT_ONCE = 128 };

/* Short rows that are reduced side by side. */
enum { ROWS = 16 };

/* Of `many` lanes `few`. */
#define JOIN_LANES(lane, many, few)                                                                \
    do {                                                                                           \
        for (size_t reach = (many) / 2; reach >= (few); reach /= 2)                                \
            for (size_t l = 0; l < reach; l++)                                                     \
                (lane)[l] += (lane)[l + reach];                                                    \
    } while (0)

/* Elements whose extreme is found before that of the next ones, and in which the place of the best
 * is looked for in the end. */
enum { SEARCHED = 1 << 11 };

/* Bytes ahead of a loop over neighbours that are fetched: processors stop at the end of a page. */
enum { AHEAD = 2048 };

/* As fetch_ahead (base/fetch_ahead.h), but into the first-level cache. */
static inline void fetch(const void *at, size_t ahead, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += CACHE_LINE)
        __builtin_prefetch((const char *)((uintptr_t)at + ahead + i));
}

/* A large array is read at so many places at once, BLOCK elements apart: each is a stream that the
 * processor fetches for itself, and one brings three quarters of what four do. */
enum { STREAMS = 4 };

/* Do something with each element here[l] of STREAMS blocks from `from` on, of lane l. */
#define STREAMS_OF(from, ...)                                                                      \
    do {                                                                                           \
        for (size_t in_block = 0; in_block < BLOCK; in_block += LANES)                             \
            for (size_t s = 0; s < STREAMS; s++) {                                                 \
                const __typeof__(*(from)) *here = (from) + s * BLOCK + in_block;                   \
                                                                                                   \
                fetch(here, AHEAD, LANES * sizeof(*here));                                         \
                for (size_t l = 0; l < LANES; l++) {                                               \
                    __VA_ARGS__                                                                    \
                }                                                                                  \
            }                                                                                      \
    } while (0)

/* Add `number`, of element i, to `lanes` lanes, in double precision with carries. */
#define ADD_TO_LANES(number, lanes)                                                                \
    for (size_t l = 0, i = at; l < (lanes); l++, i++) {                                            \
        const double term = (number)-carry[l], sum = lane[l] + term;                               \
        const double lost = (sum - lane[l]) - term;                                                \
                                                                                                   \
        carry[l] = fabs(lost) <= DBL_MAX ? lost : 0;                                               \
        lane[l] = sum;                                                                             \
    }

/* Of `many` lanes with carries `few`: what rounding loses of each sum is found exactly (Knuth, The
 * Art of Computer Programming, volume 2, section 4.2.2, theorem B). */
#define JOIN_CARRIED(many, few)                                                                    \
    for (size_t reach = (many) / 2; reach >= (few); reach /= 2)                                    \
        for (size_t l = 0; l < reach; l++) {                                                       \
            const double a = lane[l], b = lane[l + reach], sum = a + b, part_b = sum - a;          \
            const double left = (a - (sum - part_b)) + (b - part_b);                               \
            const double lost = carry[l] + carry[l + reach] - left;                                \
                                                                                                   \
            carry[l] = fabs(lost) <= DBL_MAX ? lost : 0;                                           \
            lane[l] = sum;                                                                         \
        }

/* Add `number`, of element i, in double precision, n times, each lane with a carry. */
#define COMPENSATED_LANES(number, n, part)                                                         \
    do {                                                                                           \
        double lane[LANES] = {0}, carry[LANES] = {0};                                              \
        size_t at = 0;                                                                             \
                                                                                                   \
        for (; at + LANES <= (n); at += LANES) {                                                   \
            fetch(&x[at], AHEAD, LANES * sizeof(*x));                                              \
            ADD_TO_LANES(number, LANES)                                                            \
        }                                                                                          \
        if (at > 0)                                                                                \
            JOIN_CARRIED(LANES, FEW_LANES)                                                         \
        for (; at + FEW_LANES <= (n); at += FEW_LANES)                                             \
            ADD_TO_LANES(number, FEW_LANES)                                                        \
        if (at < (n)) {                                                                            \
            T rest[FEW_LANES] = {0};                                                               \
                                                                                                   \
            memcpy(rest, x + at, ((n)-at) * sizeof(*x));                                           \
            x = rest;                                                                              \
            at = 0;                                                                                \
            ADD_TO_LANES(number, FEW_LANES)                                                        \
        }                                                                                          \
        JOIN_CARRIED(FEW_LANES, 1)                                                                 \
        reduce_add(part, -carry[0]);                                                               \
        reduce_add(part, lane[0]);                                                                 \
    } while (0)

#define T            float
#define OF(name)     name##_f32
#define EXACT        double
#define REAL         1
#define SIGNED       1
#define BAD          int32_t
#define COMPENSATED  0
#define LEAST_OF_T   (-INFINITY)
#define LARGEST_OF_T INFINITY
#include "ops/reduce/reduce_simd_body.h"

#define T            double
#define OF(name)     name##_f64
#define EXACT        double
#define REAL         1
#define SIGNED       1
#define BAD          int64_t
#define COMPENSATED  1
#define LEAST_OF_T   (-INFINITY)
#define LARGEST_OF_T INFINITY
#include "ops/reduce/reduce_simd_body.h"

#define T            int8_t
#define OF(name)     name##_i8
#define EXACT        int32_t
#define REAL         0
#define SIGNED       1
#define BAD          int8_t
#define COMPENSATED  0
#define LEAST_OF_T   INT8_MIN
#define LARGEST_OF_T INT8_MAX
#include "ops/reduce/reduce_simd_body.h"

#define T            uint8_t
#define OF(name)     name##_u8
#define EXACT        uint32_t
#define REAL         0
#define SIGNED       0
#define BAD          int8_t
#define COMPENSATED  0
#define LEAST_OF_T   0
#define LARGEST_OF_T UINT8_MAX
#include "ops/reduce/reduce_simd_body.h"

#define T            int16_t
#define OF(name)     name##_i16
#define EXACT        int32_t
#define REAL         0
#define SIGNED       1
#define BAD          int16_t
#define COMPENSATED  0
#define LEAST_OF_T   INT16_MIN
#define LARGEST_OF_T INT16_MAX
#include "ops/reduce/reduce_simd_body.h"

#define T            uint16_t
#define OF(name)     name##_u16
#define EXACT        uint32_t
#define REAL         0
#define SIGNED       0
#define BAD          int16_t
#define COMPENSATED  0
#define LEAST_OF_T   0
#define LARGEST_OF_T UINT16_MAX
#include "ops/reduce/reduce_simd_body.h"

#define T            int32_t
#define OF(name)     name##_i32
#define EXACT        int64_t
#define REAL         0
#define SIGNED       1
#define BAD          int32_t
#define COMPENSATED  0
#define LEAST_OF_T   INT32_MIN
#define LARGEST_OF_T INT32_MAX
#include "ops/reduce/reduce_simd_body.h"

#define T            uint32_t
#define OF(name)     name##_u32
#define EXACT        uint64_t
#define REAL         0
#define SIGNED       0
#define BAD          int32_t
#define COMPENSATED  0
#define LEAST_OF_T   0
#define LARGEST_OF_T UINT32_MAX
#include "ops/reduce/reduce_simd_body.h"

#define T            int64_t
#define OF(name)     name##_i64
#define EXACT        uint64_t
#define REAL         0
#define SIGNED       1
#define BAD          int64_t
#define COMPENSATED  1
#define LEAST_OF_T   INT64_MIN
#define LARGEST_OF_T INT64_MAX
#include "ops/reduce/reduce_simd_body.h"

#define T            uint64_t
#define OF(name)     name##_u64
#define EXACT        uint64_t
#define REAL         0
#define SIGNED       0
#define BAD          int64_t
#define COMPENSATED  1
#define LEAST_OF_T   0
#define LARGEST_OF_T UINT64_MAX
#include "ops/reduce/reduce_simd_body.h"

/* ---- floats of 16 bits --------------------------------------------------------------------- */

/* binary16 without branches: the exponent is moved by a multiplication, which also makes denormals
 * normal, and that of infinity and NaN is set. */
static void convert_f16(float *to, const uint16_t *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t magnitude = (uint32_t)(x[i] & 0x7FFF) << 13;
        const uint32_t special = x[i] % 0x8000u >= 0x7C00u ? 0x7F800000u : 0;
        float value;
        uint32_t bits;

        memcpy(&value, &magnitude, sizeof(value));
        value *= 0x1p112f;
        memcpy(&bits, &value, sizeof(bits));
        bits |= special | (uint32_t)(x[i] & 0x8000) << 16;
        memcpy(&to[i], &bits, sizeof(bits));
    }
}

static void convert_bf16(float *to, const uint16_t *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t bits = (uint32_t)x[i] << 16;

        memcpy(&to[i], &bits, sizeof(bits));
    }
}

#define NARROW_ROW(type, name)                                                                     \
    static void name##_##type(const void *from, size_t n, size_t first, reduce_part *part)         \
    {                                                                                              \
        const uint16_t *x = from;                                                                  \
        float block[BLOCK];                                                                        \
                                                                                                   \
        for (size_t at = 0; at < n; at += BLOCK) {                                                 \
            const size_t count = n - at < BLOCK ? n - at : BLOCK;                                  \
                                                                                                   \
            convert_##type(block, x + at, count);                                                  \
            name##_f32(block, count, first + at, part);                                            \
        }                                                                                          \
    }

#define NARROW_COLUMNS(type, name)                                                                 \
    static void name##_columns_##type(const void *from, size_t rows, size_t width, size_t pitch,   \
                                      size_t first, reduce_tile *tile)                             \
    {                                                                                              \
        const uint16_t *x = from;                                                                  \
        float row[REDUCE_TILE];                                                                    \
                                                                                                   \
        for (size_t r = 0; r < rows; r++, x += pitch) {                                            \
            convert_##type(row, x, width);                                                         \
            name##_columns_f32(row, 1, width, 0, first + r, tile);                                 \
        }                                                                                          \
    }

#define NARROW_BOTH(type, name) NARROW_ROW(type, name) NARROW_COLUMNS(type, name)

#define NARROW(type)                                                                               \
    NARROW_BOTH(type, sum)                                                                         \
    NARROW_BOTH(type, min)                                                                         \
    NARROW_BOTH(type, max)                                                                         \
    NARROW_BOTH(type, argmin)                                                                      \
    NARROW_BOTH(type, argmax)                                                                      \
    NARROW_BOTH(type, norm2)                                                                       \
    NARROW_BOTH(type, count)                                                                       \
                                                                                                   \
    static const reduce_loops loops_##type = {                                                     \
        .row = {sum_##type, min_##type, max_##type, argmin_##type, argmax_##type, sum_##type,      \
                norm2_##type, count_##type, count_##type, count_##type},                           \
        .columns = {sum_columns_##type, min_columns_##type, max_columns_##type,                    \
                    argmin_columns_##type, argmax_columns_##type, sum_columns_##type,              \
                    norm2_columns_##type, count_columns_##type, count_columns_##type,              \
                    count_columns_##type},                                                         \
        .start = start_f32,                                                                        \
        .part = part_f32,                                                                          \
        .join = join_f32};

NARROW(f16)
NARROW(bf16)

reduce_loops_table ISA_NAMED(reduce_loops_of) = {
    [TSR_F32] = &loops_f32, [TSR_F64] = &loops_f64, [TSR_I32] = &loops_i32,
    [TSR_U32] = &loops_u32, [TSR_I64] = &loops_i64, [TSR_U64] = &loops_u64,
    [TSR_F16] = &loops_f16, [TSR_I8] = &loops_i8,   [TSR_U8] = &loops_u8,
    [TSR_I16] = &loops_i16, [TSR_U16] = &loops_u16, [TSR_BF16] = &loops_bf16,
};
