/*
 * The share of a thread in a product: register tiles over copies of blocks of A and B, after Goto
 * and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 34 (2008).
 *
 * A slab of B, BLOCK_K x BLOCK_N, is copied into panels of TILE_N columns, and a block of A,
 * BLOCK_M x BLOCK_K, into panels of TILE_M rows; in a panel the elements of one k follow one
 * another.  A panel of B stays in the first-level cache while all of the block of A passes from the
 * second. Panels are filled up with zeros, so that the tile's loop knows no edges: those are in the
 * update of C alone.
 */
#include <stdint.h>
#include <string.h>

#include "ops/matmul/matmul_simd.h"

/* A tile is two vectors wide and as high as the vector registers allow, which hold its sums, a row
 * of B and an element of A. */
#if ISA == 2
enum { VECTOR_BYTES = 64, TILE_M = 14 };
#elif ISA == 1
enum { VECTOR_BYTES = 32, TILE_M = 6 };
#else
enum { VECTOR_BYTES = 16, TILE_M = 6 };
#endif
enum { BLOCK_K = 256, BLOCK_M = 16 * TILE_M, BLOCK_N = 1024 };

#ifdef __clang__
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif

#define ELEMENT       float
#define REAL          float
#define RESULT        float
#define SCALE(x)      ((float)(x))
#define RESULT_OF(x)  (x)
#define RESULTS_OF(x) (x)
#define NAMED(name)   name##_f32
#define PUBLIC(name)  ISA_NAMED(name##_f32)
#include "ops/matmul/matmul_simd_body.h"

#define ELEMENT       double
#define REAL          double
#define RESULT        double
#define SCALE(x)      (x)
#define RESULT_OF(x)  (x)
#define RESULTS_OF(x) (x)
#define NAMED(name)   name##_f64
#define PUBLIC(name)  ISA_NAMED(name##_f64)
#include "ops/matmul/matmul_simd_body.h"

/* int8: BLOCK_K products of 2^14 at most add up in float32 exactly, and as fast as those of
 * float32. C is without a sign, so that sums wrap; alpha and beta are whole numbers of 32 bits. */
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
