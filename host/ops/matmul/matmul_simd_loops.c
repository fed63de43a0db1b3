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

/* Of a product of few rows or columns: lines or vectors and few lines at once, so that their sums
 * are in registers, and elements of k. */
enum { FEW_ROWS = 4, FEW_COLUMNS = ISA == 2 ? 4 : 2, FEW_K = 2 * BLOCK_K };

/* Of `upper` and `lower` the blocks of `half` by `half` elements that are on one side: of the first
 * columns (from: 0) or of the others (from: half), the lower ones behind the upper ones. */
#if ISA == 2
typedef int32_t places_f32 __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t places_f64 __attribute__((vector_size(VECTOR_BYTES)));

static inline __m512 transposed_f32(__m512 upper, __m512 lower, int half, int from)
{
    const places_f32 lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const places_f32 place = lane + from + (((lane & half) != 0) & (16 - half));

    return _mm512_permutex2var_ps(upper, (__m512i)place, lower);
}

static inline __m512d transposed_f64(__m512d upper, __m512d lower, int half, int from)
{
    const places_f64 lane = {0, 1, 2, 3, 4, 5, 6, 7};
    const places_f64 place = lane + from + (((lane & half) != 0) & (8 - half));

    return _mm512_permutex2var_pd(upper, (__m512i)place, lower);
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
#define NAMED(name)   name##_i8
#define PUBLIC(name)  ISA_NAMED(name##_i8)
#include "ops/matmul/matmul_simd_body.h"
