/*
 * Scans in C.  A piece of the elements is loaded as values, scanned in vectors, and stored: of
 * large results past the caches.
 */
#include "ops/scan/scan_loops.h"
#include "base/elements.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/fetch_ahead.h"
#include "base/past_caches.h"
#include "base/unrolled.h"
#include "base/vector_half.h"
#include "ops/scan/scan_vectors.h"

/* Elements that are combined side by side; and the distance of prefetches, in bytes. */
enum { LANES = 32, FETCH_DISTANCE = 2048 };

#define AS_IT_IS(x)   (x)
#define ADD(a, b)     ((a) + (b))
#define LEAST(a, b)   ((b) < (a) ? (b) : (a))
#define LARGEST(a, b) ((b) > (a) ? (b) : (a))
/* A NaN takes the place of any number, and no comparison replaces it. */
#define LEAST_REAL(a, b)   ((((b) < (a)) | ((b) != (b))) ? (b) : (a))
#define LARGEST_REAL(a, b) ((((b) > (a)) | ((b) != (b))) ? (b) : (a))

/* Elements before the first piece that is whole cache lines of the result, n where there are
 * none. */
static size_t scan_head(const void *out, size_t size, ptrdiff_t step, size_t n)
{
    const size_t lines =
        step > 0 ? past_caches_head(out, size, n) : ((uintptr_t)out + size) % CACHE_LINE / size;

    return lines < n ? lines : n;
}

/* Vectors of elements as vectors of values, and back. */
#define DOUBLE_OF(x)               ((double)(x))
#define FLOAT_OF(x)                ((float)(x))
#define VECTOR_AS_IT_IS(v, wanted) __builtin_convertvector(v, wanted)
#if ISA == 2 /* one instruction, where GCC 12 converts halves and puts them together */
#define VECTOR_DOUBLE_OF(v, wanted) ((wanted)_mm512_cvtps_pd((__m256)(v)))
#define VECTOR_FLOAT_OF(v, wanted)  ((wanted)_mm512_cvtpd_ps((__m512d)(v)))
#else
#define VECTOR_DOUBLE_OF VECTOR_AS_IT_IS
#define VECTOR_FLOAT_OF  VECTOR_AS_IT_IS
#endif

/* Store vectors of `each` bytes that are whole lines past the caches.  Two of 32 bytes are joined
 * in a register: a load of the whole line would wait until both halves have been stored. */
static inline __attribute__((always_inline)) void store_lines(void *to, const void *vectors,
                                                              size_t bytes, size_t each)
{
#if ISA == 2
    if (each == 32) {
        const __m256i *half = vectors;

        for (size_t i = 0; i < bytes / CACHE_LINE; i++)
            _mm512_stream_si512(
                (__m512i *)to + i,
                _mm512_inserti64x4(_mm512_castsi256_si512(half[2 * i]), half[2 * i + 1], 1));
        return;
    }
#endif
    (void)each;
    past_caches_store(to, vectors, bytes);
}

/* Of long stretches, forwards, past the caches: a line of results at a time, so that lines are read
 * and written by turns.  Returns how many elements are done; `value` goes with them. */
#define LINES(name, IN, OUT, VALUE, BYTES, LOAD, STORE, COMBINE, IDENTITY)                         \
    static __attribute__((noinline)) size_t name##_lines(                                          \
        name##_held *value, const IN *x, name##_out *out, size_t n, const scan_stretch *s)         \
    {                                                                                              \
        enum { WIDTH = VECTOR_BYTES / sizeof(VALUE), OF_LINE = CACHE_LINE / sizeof(OUT) };         \
        enum { SOME = OF_LINE > WIDTH ? OF_LINE : WIDTH };                                         \
        typedef VALUE vector __attribute__((vector_size(VECTOR_BYTES)));                           \
        typedef IN taken __attribute__((vector_size(WIDTH * sizeof(IN))));                         \
        typedef OUT given __attribute__((vector_size(WIDTH * sizeof(OUT))));                       \
        vector none = {0}, carry = {0};                                                            \
        size_t done = 0;                                                                           \
                                                                                                   \
        for (size_t l = 0; l < WIDTH; l++) {                                                       \
            none[l] = (VALUE)(IDENTITY);                                                           \
            carry[l] = *value;                                                                     \
        }                                                                                          \
        for (; done + SOME <= n; done += SOME) {                                                   \
            given to[SOME / WIDTH];                                                                \
                                                                                                   \
            if (done * sizeof(IN) % CACHE_LINE == 0)                                               \
                fetch_ahead(x + done, s->ahead * (ptrdiff_t)sizeof(IN), SOME * sizeof(IN));        \
            UNROLLED                                                                               \
            for (size_t i = 0; i < SOME / WIDTH; i++) {                                            \
                taken from;                                                                        \
                vector v, all;                                                                     \
                                                                                                   \
                memcpy(&from, x + done + i * WIDTH, sizeof(from));                                 \
                v = VECTOR_##LOAD(from, vector);                                                   \
                WITHIN_##BYTES##_BYTES(STEP_##COMBINE);                                            \
                all = LAST_OF_##BYTES##_BYTES(v);                                                  \
                v = VECTORS_##COMBINE(carry, v);                                                   \
                carry = VECTORS_##COMBINE(carry, all);                                             \
                to[i] = VECTOR_##STORE(v, given);                                                  \
            }                                                                                      \
            store_lines(out + done, to, sizeof(to), sizeof(to[0]));                                \
        }                                                                                          \
        *value = carry[0];                                                                         \
        return done;                                                                               \
    }
#define LINES_AS_IT_IS(...)  LINES(__VA_ARGS__)
#define LINES_DOUBLE_OF(...) /* sum_f32_lines(), here */

static double sum_f32_sum(const float *x, size_t n, const double lanes[LANES], size_t done);

/* Sums of float32: within a vector in float32, with log2(WIDTH) roundings, and the carry in double,
 * which takes two thirds of the time of double throughout.  What the stretch ahead comes to is
 * summed as it comes from memory. */
static __attribute__((noinline)) size_t sum_f32_lines(double *value, const float *x, float *out,
                                                      size_t n, const scan_stretch *s)
{
    enum { WIDTH = VECTOR_BYTES / sizeof(float), HALF = WIDTH / 2 };
    enum { LINE = CACHE_LINE / sizeof(float) };
    typedef float vector __attribute__((vector_size(VECTOR_BYTES)));
    typedef float half __attribute__((vector_size(VECTOR_BYTES / 2)));
    typedef double sums __attribute__((vector_size(VECTOR_BYTES)));
    const float *next = s->total_ahead ? (const float *)s->x + s->at + s->ahead : NULL;
    const vector none = {0};
    sums lane[LANES / HALF] = {{0}};
    double before = *value;
    size_t done = 0;

    for (; done + LANES <= n; done += LANES) {
        UNROLLED
        for (size_t line = 0; line < LANES; line += LINE) {
            vector to[LINE / WIDTH];

            fetch_ahead(x + done + line, s->ahead * (ptrdiff_t)sizeof(float) + FETCH_DISTANCE,
                        CACHE_LINE);
            if (next) {
                UNROLLED
                for (size_t i = line; i < line + LINE; i += HALF) {
                    half from;

                    memcpy(&from, next + done + i, sizeof(from));
                    lane[i / HALF] += VECTOR_DOUBLE_OF(from, sums);
                }
            }
            UNROLLED
            for (size_t i = 0; i < LINE / WIDTH; i++) {
                vector v;

                memcpy(&v, x + done + line + i * WIDTH, sizeof(v));
                WITHIN_4_BYTES(STEP_ADD);
                to[i] = v + (float)before;
                before += (double)v[WIDTH - 1];
            }
            store_lines(out + done + line, to, sizeof(to), sizeof(to[0]));
        }
    }
    if (next) {
        double lanes[LANES];

        memcpy(lanes, lane, sizeof(lanes));
        s->total_ahead->real = sum_f32_sum(next, s->n_ahead, lanes, done);
    }
    *value = before;
    return done;
}

/* None of float16 and bfloat16: PIECE converts them. */
#define NO_LINES(name, IN, OUT, VALUE, BYTES, LOAD, STORE, COMBINE, IDENTITY)                      \
    static inline size_t name##_lines(name##_held *value, const IN *x, name##_out *out, size_t n,  \
                                      const scan_stretch *s)                                       \
    {                                                                                              \
        (void)value, (void)x, (void)out, (void)n, (void)s;                                         \
        return 0;                                                                                  \
    }
#define LINES_vector_of_half(...)   NO_LINES(__VA_ARGS__)
#define LINES_vector_of_bfloat(...) NO_LINES(__VA_ARGS__)

/* Loops `name`: elements IN and OUT, values VALUE of so many BYTES, which LOAD and STORE
 * convert. */
#define LOOPS(name, IN, OUT, VALUE, BYTES, LOAD, STORE, COMBINE, IDENTITY)                         \
    typedef OUT name##_out;                                                                        \
    typedef VALUE name##_held;                                                                     \
                                                                                                   \
    LINES_##LOAD(name, IN, OUT, VALUE, BYTES, LOAD, STORE, COMBINE, IDENTITY)                      \
                                                                                                   \
        static VALUE name##_value(scan_value v)                                                    \
    {                                                                                              \
        VALUE value;                                                                               \
                                                                                                   \
        memcpy(&value, v.bytes, sizeof(value));                                                    \
        return value;                                                                              \
    }                                                                                              \
                                                                                                   \
    static scan_value name##_carry(VALUE value)                                                    \
    {                                                                                              \
        scan_value v = {.whole = 0};                                                               \
                                                                                                   \
        memcpy(v.bytes, &value, sizeof(value));                                                    \
        return v;                                                                                  \
    }                                                                                              \
                                                                                                   \
    /* What n elements come to, of which the first `done` are in the lanes. */                     \
    static VALUE name##_sum(const IN *x, size_t n, const VALUE lanes[LANES], size_t done)          \
    {                                                                                              \
        VALUE lane[LANES], all;                                                                    \
        size_t i = done;                                                                           \
                                                                                                   \
        memcpy(lane, lanes, sizeof(lane));                                                         \
        for (; i + LANES <= n; i += LANES)                                                         \
            for (size_t l = 0; l < LANES; l++) {                                                   \
                const VALUE next = (VALUE)LOAD(x[i + l]);                                          \
                                                                                                   \
                lane[l] = (VALUE)COMBINE(lane[l], next);                                           \
            }                                                                                      \
        all = lane[0];                                                                             \
        for (size_t l = 1; l < LANES; l++)                                                         \
            all = (VALUE)COMBINE(all, lane[l]);                                                    \
        for (; i < n; i++) {                                                                       \
            const VALUE next = (VALUE)LOAD(x[i]);                                                  \
                                                                                                   \
            all = (VALUE)COMBINE(all, next);                                                       \
        }                                                                                          \
        return all;                                                                                \
    }                                                                                              \
                                                                                                   \
    static scan_value name##_combine(scan_value before, scan_value after)                          \
    {                                                                                              \
        const VALUE a = name##_value(before), b = name##_value(after);                             \
                                                                                                   \
        return name##_carry((VALUE)COMBINE(a, b));                                                 \
    }                                                                                              \
                                                                                                   \
    static scan_value name##_total(const void *array, size_t at, size_t n)                         \
    {                                                                                              \
        VALUE lane[LANES];                                                                         \
                                                                                                   \
        for (size_t l = 0; l < LANES; l++)                                                         \
            lane[l] = (VALUE)(IDENTITY);                                                           \
        return name##_carry(name##_sum((const IN *)array + at, n, lane, 0));                       \
    }                                                                                              \
                                                                                                   \
    static VALUE name##_piece(VALUE before, VALUE values[])                                        \
    {                                                                                              \
        typedef VALUE vector __attribute__((vector_size(VECTOR_BYTES)));                           \
        enum { WIDTH = VECTOR_BYTES / sizeof(VALUE) };                                             \
        vector none = {0}, carry = {0};                                                            \
                                                                                                   \
        for (size_t l = 0; l < WIDTH; l++) {                                                       \
            none[l] = (VALUE)(IDENTITY);                                                           \
            carry[l] = before;                                                                     \
        }                                                                                          \
        for (size_t i = 0; i < PIECE; i += WIDTH) {                                                \
            vector v, all;                                                                         \
                                                                                                   \
            memcpy(&v, values + i, sizeof(v));                                                     \
            WITHIN_##BYTES##_BYTES(STEP_##COMBINE);                                                \
            all = LAST_OF_##BYTES##_BYTES(v);                                                      \
            v = VECTORS_##COMBINE(carry, v);                                                       \
            carry = VECTORS_##COMBINE(carry, all);                                                 \
            memcpy(values + i, &v, sizeof(v));                                                     \
        }                                                                                          \
        return carry[0];                                                                           \
    }                                                                                              \
                                                                                                   \
    static VALUE name##_some(VALUE value, const IN *x, name##_out *out, ptrdiff_t step, size_t n)  \
    {                                                                                              \
        for (ptrdiff_t i = 0; i < (ptrdiff_t)n; i++) {                                             \
            const VALUE next = (VALUE)LOAD(x[i * step]);                                           \
                                                                                                   \
            value = (VALUE)COMBINE(value, next);                                                   \
            out[i * step] = (OUT)STORE(value);                                                     \
        }                                                                                          \
        return value;                                                                              \
    }                                                                                              \
                                                                                                   \
    static scan_value name##_run(scan_value before, const scan_stretch *s)                         \
    {                                                                                              \
        enum { BACK = PIECE - 1 };                                                                 \
        const size_t low = s->step > 0 ? 0 : BACK;                                                 \
        const IN *x = (const IN *)s->x + s->at;                                                    \
        name##_out *out = (name##_out *)s->result + s->to;                                         \
        size_t n = s->past_caches ? scan_head(out, sizeof(*out), s->step, s->n) : 0;               \
        VALUE value = name##_some(name##_value(before), x, out, s->step, n);                       \
        size_t done = n;                                                                           \
                                                                                                   \
        if (s->step > 0 && s->past_caches)                                                         \
            done += name##_lines(&value, x + n, out + n, s->n - n, s);                             \
        for (; done + PIECE <= s->n; done += PIECE) {                                              \
            const IN *from = x + s->step * (ptrdiff_t)done - low;                                  \
            name##_out *to = out + s->step * (ptrdiff_t)done - low;                                \
            _Alignas(CACHE_LINE) VALUE values[PIECE];                                              \
            _Alignas(CACHE_LINE) name##_out apart[PIECE];                                          \
            name##_out *there = s->past_caches ? apart : to;                                       \
                                                                                                   \
            if (s->ahead)                                                                          \
                fetch_ahead(from, s->ahead *(ptrdiff_t)sizeof(IN), PIECE * sizeof(IN));            \
            if (s->step > 0)                                                                       \
                for (size_t i = 0; i < PIECE; i++)                                                 \
                    values[i] = (VALUE)LOAD(from[i]);                                              \
            else                                                                                   \
                for (size_t i = 0; i < PIECE; i++)                                                 \
                    values[i] = (VALUE)LOAD(from[BACK - i]);                                       \
            value = name##_piece(value, values);                                                   \
            if (s->step > 0)                                                                       \
                for (size_t i = 0; i < PIECE; i++)                                                 \
                    there[i] = (OUT)STORE(values[i]);                                              \
            else                                                                                   \
                for (size_t i = 0; i < PIECE; i++)                                                 \
                    there[BACK - i] = (OUT)STORE(values[i]);                                       \
            if (s->past_caches)                                                                    \
                past_caches_store(to, apart, sizeof(apart));                                       \
        }                                                                                          \
        if (s->past_caches && done > n)                                                            \
            past_caches_end();                                                                     \
        x += s->step * (ptrdiff_t)done;                                                            \
        out += s->step * (ptrdiff_t)done;                                                          \
        return name##_carry(name##_some(value, x, out, s->step, s->n - done));                     \
    }                                                                                              \
                                                                                                   \
    static void name##_put(scan_value value, void *result, size_t to)                              \
    {                                                                                              \
        ((name##_out *)result)[to] = (OUT)STORE(name##_value(value));                              \
    }                                                                                              \
                                                                                                   \
    static void name##_columns(const void *array, size_t at, void *result, size_t to,              \
                               ptrdiff_t pitch, size_t n, size_t width, bool exclusive)            \
    {                                                                                              \
        const IN *x = (const IN *)array + at;                                                      \
        name##_out *out = (name##_out *)result + to;                                               \
        VALUE value[SCAN_COLUMNS_MAX];                                                             \
                                                                                                   \
        for (size_t c = 0; c < width; c++)                                                         \
            value[c] = (VALUE)(IDENTITY);                                                          \
        for (ptrdiff_t i = 0; i < (ptrdiff_t)n; i++) {                                             \
            const IN *restrict from = x + i * pitch;                                               \
            name##_out *restrict there = out + i * pitch;                                          \
                                                                                                   \
            for (size_t c = 0; exclusive && c < width; c++)                                        \
                there[c] = (OUT)STORE(value[c]);                                                   \
            for (size_t c = 0; c < width; c++) {                                                   \
                const VALUE next = (VALUE)LOAD(from[c]);                                           \
                                                                                                   \
                value[c] = (VALUE)COMBINE(value[c], next);                                         \
            }                                                                                      \
            for (size_t c = 0; !exclusive && c < width; c++)                                       \
                there[c] = (OUT)STORE(value[c]);                                                   \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static scan_value name##_identity(void)                                                        \
    {                                                                                              \
        return name##_carry((VALUE)(IDENTITY));                                                    \
    }                                                                                              \
                                                                                                   \
    static const scan_loops name##_loops = {name##_identity, name##_combine, name##_total,         \
                                            name##_run,      name##_put,     name##_columns,       \
                                            FINDS_##LOAD};

/* Whether they find the total of what is ahead. */
#define FINDS_AS_IT_IS         false
#define FINDS_DOUBLE_OF        true
#define FINDS_vector_of_half   false
#define FINDS_vector_of_bfloat false

#define WHOLE_SUM(name, IN, OUT) LOOPS(name, IN, OUT, uint64_t, 8, AS_IT_IS, AS_IT_IS, ADD, 0)
#define EXTREMES(name, IN, VALUE, BYTES, LOAD, STORE, SUFFIX, LOWEST, HIGHEST)                     \
    LOOPS(min_##name, IN, IN, VALUE, BYTES, LOAD, STORE, LEAST##SUFFIX, HIGHEST)                   \
    LOOPS(max_##name, IN, IN, VALUE, BYTES, LOAD, STORE, LARGEST##SUFFIX, LOWEST)

/* Sums of integers are the same bits for signed and unsigned results; what is narrower than the
 * result is extended by its sign. */
WHOLE_SUM(sum_i8, int8_t, uint64_t)
WHOLE_SUM(sum_u8, uint8_t, uint64_t)
WHOLE_SUM(sum_i16, int16_t, uint64_t)
WHOLE_SUM(sum_u16, uint16_t, uint64_t)
WHOLE_SUM(sum_i32, int32_t, uint64_t)
WHOLE_SUM(sum_u32, uint32_t, uint64_t)
WHOLE_SUM(sum_64, uint64_t, uint64_t)
WHOLE_SUM(same_8, uint8_t, uint8_t)
WHOLE_SUM(same_16, uint16_t, uint16_t)
WHOLE_SUM(same_32, uint32_t, uint32_t)
LOOPS(sum_f32, float, float, double, 8, DOUBLE_OF, FLOAT_OF, ADD, 0)
LOOPS(sum_f64, double, double, double, 8, AS_IT_IS, AS_IT_IS, ADD, 0)
LOOPS(sum_f16, uint16_t, uint16_t, float, 4, vector_of_half, vector_half_of, ADD, 0)
LOOPS(sum_bf16, uint16_t, uint16_t, float, 4, vector_of_bfloat, vector_bfloat_of, ADD, 0)

EXTREMES(i8, int8_t, int32_t, 4, AS_IT_IS, AS_IT_IS, , INT8_MIN, INT8_MAX)
EXTREMES(u8, uint8_t, int32_t, 4, AS_IT_IS, AS_IT_IS, , 0, UINT8_MAX)
EXTREMES(i16, int16_t, int32_t, 4, AS_IT_IS, AS_IT_IS, , INT16_MIN, INT16_MAX)
EXTREMES(u16, uint16_t, int32_t, 4, AS_IT_IS, AS_IT_IS, , 0, UINT16_MAX)
EXTREMES(i32, int32_t, int32_t, 4, AS_IT_IS, AS_IT_IS, , INT32_MIN, INT32_MAX)
EXTREMES(u32, uint32_t, uint32_t, 4, AS_IT_IS, AS_IT_IS, , 0, UINT32_MAX)
EXTREMES(i64, int64_t, int64_t, 8, AS_IT_IS, AS_IT_IS, , INT64_MIN, INT64_MAX)
EXTREMES(u64, uint64_t, uint64_t, 8, AS_IT_IS, AS_IT_IS, , 0, UINT64_MAX)
EXTREMES(f32, float, float, 4, AS_IT_IS, AS_IT_IS, _REAL, -INFINITY, INFINITY)
EXTREMES(f64, double, double, 8, AS_IT_IS, AS_IT_IS, _REAL, -INFINITY, INFINITY)
EXTREMES(f16, uint16_t, float, 4, vector_of_half, vector_half_of, _REAL, -INFINITY, INFINITY)
EXTREMES(bf16, uint16_t, float, 4, vector_of_bfloat, vector_bfloat_of, _REAL, -INFINITY, INFINITY)

const scan_loops *ISA_NAMED(scan_loops_of)(tsr_type type, size_t by, bool same)
{
    static const scan_loops *const of[][TSR_TYPE_COUNT] = {
        [TSR_SCAN_SUM] = {[TSR_F32] = &sum_f32_loops,
                          [TSR_F64] = &sum_f64_loops,
                          [TSR_I32] = &sum_i32_loops,
                          [TSR_U32] = &sum_u32_loops,
                          [TSR_I64] = &sum_64_loops,
                          [TSR_U64] = &sum_64_loops,
                          [TSR_F16] = &sum_f16_loops,
                          [TSR_I8] = &sum_i8_loops,
                          [TSR_U8] = &sum_u8_loops,
                          [TSR_I16] = &sum_i16_loops,
                          [TSR_U16] = &sum_u16_loops,
                          [TSR_BF16] = &sum_bf16_loops},
#define EXTREMES_OF(which)                                                                         \
    {[TSR_F32] = &which##_f32_loops, [TSR_F64] = &which##_f64_loops,                               \
     [TSR_I32] = &which##_i32_loops, [TSR_U32] = &which##_u32_loops,                               \
     [TSR_I64] = &which##_i64_loops, [TSR_U64] = &which##_u64_loops,                               \
     [TSR_F16] = &which##_f16_loops, [TSR_I8] = &which##_i8_loops,                                 \
     [TSR_U8] = &which##_u8_loops,   [TSR_I16] = &which##_i16_loops,                               \
     [TSR_U16] = &which##_u16_loops, [TSR_BF16] = &which##_bf16_loops}
        [TSR_SCAN_MIN] = EXTREMES_OF(min),
        [TSR_SCAN_MAX] = EXTREMES_OF(max),
    };
    static const scan_loops *const narrow[8] = {
        [1] = &same_8_loops, [2] = &same_16_loops, [4] = &same_32_loops};
    const size_t bytes = tsr_type_size(type);

    return by == TSR_SCAN_SUM && same && !type_is_real(type) && bytes < 8 ? narrow[bytes]
                                                                          : of[by][type];
}
