/*
 * The share of a thread in a product of a matrix and a vector: either a row at a time is multiplied
 * by x, or rows times elements of x are added to all sums.  Four rows go together, which hides
 * latencies and reads x, or writes the sums, once for four.
 */
#include <stdint.h>
#include <string.h>

#include "ops/matvec/matvec_simd.h"

#if ISA == 2
enum { VECTOR_BYTES = 64 };
#elif ISA == 1
enum { VECTOR_BYTES = 32 };
#else
enum { VECTOR_BYTES = 16 };
#endif

enum { ROWS = 4 };

#ifdef __clang__
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif

#define REAL         float
#define MASK         int32_t
#define NAMED(name)  name##_f32
#define PUBLIC(name) ISA_NAMED(name##_f32)
#include "ops/matvec/matvec_simd_body.h"
#undef REAL
#undef NAMED
#undef PUBLIC

#undef MASK
#define REAL         double
#define MASK         int64_t
#define NAMED(name)  name##_f64
#define PUBLIC(name) ISA_NAMED(name##_f64)
#include "ops/matvec/matvec_simd_body.h"
