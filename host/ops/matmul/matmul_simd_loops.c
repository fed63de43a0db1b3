/*
 * The share of a thread in a product: register tiles over copies of blocks of A and B, after Goto
 * and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 34 (2008).
 *
 * A slab of B, BLOCK_K x BLOCK_N, is copied into panels of TILE_N columns, and a block of A,
 * BLOCK_M x BLOCK_K, into panels of TILE_M rows; in a panel the elements of one k follow one
 * another.  The block of A stays in the second-level cache while the slab's panels pass, each of
 * which is multiplied by all of it. Panels are filled up with zeros, so that the tile's loop knows
 * no edges: those are in the update of C alone.
 */
#include <stdint.h>
#include <string.h>

#include "base/past_caches.h"
#include "ops/matmul/matmul_simd.h"

#if ISA == 2
#include <immintrin.h>
#endif

/* A tile is two vectors wide and as high as the vector registers allow, which hold its sums, a row
 * of B and an element of A. */
#if ISA == 2
enum { VECTOR_BYTES = 64, TILE_M = 14 };
#elif ISA == 1
enum { VECTOR_BYTES = 32, TILE_M = 6 };
#else
enum { VECTOR_BYTES = 16, TILE_M = 6 };
#endif

/* Elements of k in a block, bytes of a row of a slab, and tiles of a block of A times the bytes of
 * a number: the block takes half a megabyte at most, and a second-level cache holds it. */
enum { BLOCK_K = 512, SLAB_BYTES = 4096, BLOCK_BYTES = 64 };

/* How far ahead of its sums a tile asks for its panels, of which that of B alone fills a
 * first-level cache. */
enum { AHEAD_BYTES = 1024 };

/* Products of few rows or columns.  FEW_ROWS lines, or vectors of lines, and FEW_COLUMNS few ones
 * are summed at once, in registers.  FEW_K: elements of k in a block of dot products.  FEW_*_4THS:
 * quarters of TILE_N up to which lines are few: ALONG where the larger factor's elements of k are
 * side by side, APART where they are not, TURNED where sums keep the order of tiles besides.
 * On two cores of a Xeon with AVX-512 products take 0.3 to 1.1 of the time of tiles so, 5x3000x500
 * float64 0.38 ms and 0.96, with B transposed 0.31 and 1.04; with AVX2 alone, which copies tiles
 * element by element, 0.2 to 0.6 side by side. */
enum { FEW_ROWS = 4, FEW_K = 2 * BLOCK_K };
#if ISA == 2
enum { FEW_COLUMNS = 6, FEW_ALONG_4THS = 3, FEW_APART_4THS = 3, FEW_TURNED_4THS = 2 };
#elif ISA == 1
enum { FEW_COLUMNS = 3, FEW_ALONG_4THS = 4, FEW_APART_4THS = 2, FEW_TURNED_4THS = 1 };
#else
enum { FEW_COLUMNS = 2, FEW_ALONG_4THS = 1, FEW_APART_4THS = 1, FEW_TURNED_4THS = 1 };
#endif

/* OF_WIDTH(columns, CALL, x, ...) is CALL(x, columns, ...) with a constant in place of `columns`,
 * of which there are FEW_COLUMNS at most: no wider call is compiled than there are registers for.
 */
_Static_assert(FEW_COLUMNS <= 6, "OF_WIDTH has a case for each number of columns");
#define WIDTH(columns, CALL, x, ...)                                                               \
    case columns:                                                                                  \
        CALL(x, size_min(columns, FEW_COLUMNS), __VA_ARGS__);                                      \
        break;
#define OF_WIDTH(columns, ...)                                                                     \
    switch (columns) {                                                                             \
        WIDTH(1, __VA_ARGS__)                                                                      \
        WIDTH(2, __VA_ARGS__)                                                                      \
        WIDTH(3, __VA_ARGS__)                                                                      \
        WIDTH(4, __VA_ARGS__)                                                                      \
        WIDTH(5, __VA_ARGS__)                                                                      \
        WIDTH(6, __VA_ARGS__)                                                                      \
    default:                                                                                       \
        break;                                                                                     \
    }

/* Round a product before another one is added: of a b + c d GCC fuses either product, and not the
 * same one in vectors as elsewhere. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#define ROUNDED(x) __asm__("" : "+x"(x))
#elif defined(__GNUC__) && !defined(__clang__) && defined(__aarch64__)
#define ROUNDED(x) __asm__("" : "+w"(x))
#else
#define ROUNDED(x) (void)(x)
#endif

/* Of `upper` and `lower` the blocks of `half` by `half` elements that are on one side: of the first
 * columns (from: 0) or of the others (from: half), the lower ones behind the upper ones. */
#if ISA == 2
static inline __attribute__((always_inline)) __m512 transposed_f32(__m512 upper, __m512 lower,
                                                                   int half, int from)
{
    switch (half) {
    case 1:
        return from ? _mm512_mask_movehdup_ps(lower, 0x5555, upper)
                    : _mm512_mask_moveldup_ps(upper, 0xaaaa, lower);
    case 2:
        return from ? _mm512_shuffle_ps(upper, lower, 0xee) : _mm512_shuffle_ps(upper, lower, 0x44);
    case 4:
        return from ? _mm512_mask_shuffle_f32x4(lower, 0x0f0f, upper, upper, 0xf5)
                    : _mm512_mask_shuffle_f32x4(upper, 0xf0f0, lower, lower, 0xa0);
    default:
        return from ? _mm512_shuffle_f32x4(upper, lower, 0xee)
                    : _mm512_shuffle_f32x4(upper, lower, 0x44);
    }
}

static inline __attribute__((always_inline)) __m512d transposed_f64(__m512d upper, __m512d lower,
                                                                    int half, int from)
{
    switch (half) {
    case 1:
        return from ? _mm512_unpackhi_pd(upper, lower) : _mm512_unpacklo_pd(upper, lower);
    case 2:
        return from ? _mm512_mask_shuffle_f64x2(lower, 0x33, upper, upper, 0xf5)
                    : _mm512_mask_shuffle_f64x2(upper, 0xcc, lower, lower, 0xa0);
    default:
        return from ? _mm512_shuffle_f64x2(upper, lower, 0xee)
                    : _mm512_shuffle_f64x2(upper, lower, 0x44);
    }
}
#endif

#if ISA == 2
#define TRANSPOSED(upper, lower, half, from)                                                       \
    (vector_f32) transposed_f32((__m512)(upper), (__m512)(lower), (int)(half), (int)(from))
#define LOAD_SOME(at, n)     (vector_f32) _mm512_maskz_loadu_ps((__mmask16)((1u << (n)) - 1), at)
#define STORE_SOME(at, n, v) _mm512_mask_storeu_ps(at, (__mmask16)((1u << (n)) - 1), (__m512)(v))
#endif
#define FEW
#define ELEMENT       float
#define REAL          float
#define RESULT        float
#define SCALE(x)      ((float)(x))
#define RESULT_OF(x)  (x)
#define RESULTS_OF(x) (x)
#define ROUND(x)      ROUNDED(x)
#define NAMED(name)   name##_f32
#define PUBLIC(name)  ISA_NAMED(name##_f32)
#include "ops/matmul/matmul_simd_body.h"

#if ISA == 2
#define TRANSPOSED(upper, lower, half, from)                                                       \
    (vector_f64) transposed_f64((__m512d)(upper), (__m512d)(lower), (int)(half), (int)(from))
#define LOAD_SOME(at, n)     (vector_f64) _mm512_maskz_loadu_pd((__mmask8)((1u << (n)) - 1), at)
#define STORE_SOME(at, n, v) _mm512_mask_storeu_pd(at, (__mmask8)((1u << (n)) - 1), (__m512d)(v))
#endif
#define FEW
#define ELEMENT       double
#define REAL          double
#define RESULT        double
#define SCALE(x)      (x)
#define RESULT_OF(x)  (x)
#define RESULTS_OF(x) (x)
#define ROUND(x)      ROUNDED(x)
#define NAMED(name)   name##_f64
#define PUBLIC(name)  ISA_NAMED(name##_f64)
#include "ops/matmul/matmul_simd_body.h"

/* int8: the products of a block, of 2^14 at most, add up in float32 exactly, and as fast as those
 * of float32. C is without a sign, so that sums wrap; alpha and beta are whole numbers of 32 bits.
 */
_Static_assert(BLOCK_K <= 1 << (24 - 14), "sums of a block are whole numbers of 24 bits");

typedef int32_t whole __attribute__((vector_size(VECTOR_BYTES)));
typedef uint32_t wrapping __attribute__((vector_size(VECTOR_BYTES)));

#define ELEMENT       int8_t
#define REAL          float
#define RESULT        uint32_t
#define SCALE(x)      ((uint32_t)(int32_t)(x))
#define RESULT_OF(x)  ((uint32_t)(int32_t)(x))
#define RESULTS_OF(x) ((wrapping) __builtin_convertvector(x, whole))
#define ROUND(x)      (void)(x)
#define NAMED(name)   name##_i8
#define PUBLIC(name)  ISA_NAMED(name##_i8)
#include "ops/matmul/matmul_simd_body.h"
