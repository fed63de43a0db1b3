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

#define REAL         float
#define NAMED(name)  name##_f32
#define PUBLIC(name) ISA_NAMED(name##_f32)
#include "ops/matmul/matmul_simd_body.h"
#undef REAL
#undef NAMED
#undef PUBLIC

#define REAL         double
#define NAMED(name)  name##_f64
#define PUBLIC(name) ISA_NAMED(name##_f64)
#include "ops/matmul/matmul_simd_body.h"
