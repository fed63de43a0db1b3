/*
 * z := alpha x + y of every type, by loops that the compiler turns into vectors.
 *
 * A store to memory that no cache has first reads the line that it is in, which is a quarter of all
 * traffic.  Where z is large, blocks of it are computed in the first-level cache, and stored past
 * the caches: whole lines, which are not read (Intel 64 and IA-32 Architectures Optimization
 * Reference Manual, "Streaming Non-temporal Stores").
 */
#include <stdint.h>

#include "base/vector_half.h"
#include "ops/axpy/axpy_simd.h"

#define STORED      float
#define NUMBER      float
#define ALPHA       alpha
#define GET(v)      (v)
#define PUT(v)      (v)
#define NAMED(part) f32_##part
#define PUBLIC      ISA_NAMED(axpy_f32)
#include "ops/axpy/axpy_simd_body.h"

#define STORED      double
#define NUMBER      double
#define ALPHA       alpha
#define GET(v)      (v)
#define PUT(v)      (v)
#define NAMED(part) f64_##part
#define PUBLIC      ISA_NAMED(axpy_f64)
#include "ops/axpy/axpy_simd_body.h"

#define STORED      uint16_t
#define NUMBER      float
#define ALPHA       alpha
#define GET(v)      vector_of_half(v)
#define PUT(v)      vector_half_of(v)
#define NAMED(part) f16_##part
#define PUBLIC      ISA_NAMED(axpy_f16)
#include "ops/axpy/axpy_simd_body.h"

#define STORED      uint16_t
#define NUMBER      float
#define ALPHA       alpha
#define GET(v)      vector_of_bfloat(v)
#define PUT(v)      vector_bfloat_of(v)
#define NAMED(part) bf16_##part
#define PUBLIC      ISA_NAMED(axpy_bf16)
#include "ops/axpy/axpy_simd_body.h"

/* Unsigned numbers of 32 bits and more wrap; narrower ones would become int. */
#define STORED      uint8_t
#define NUMBER      uint32_t
#define ALPHA       whole
#define GET(v)      (v)
#define PUT(v)      ((uint8_t)(v))
#define NAMED(part) u8_##part
#define PUBLIC      ISA_NAMED(axpy_u8)
#include "ops/axpy/axpy_simd_body.h"

#define STORED      uint16_t
#define NUMBER      uint32_t
#define ALPHA       whole
#define GET(v)      (v)
#define PUT(v)      ((uint16_t)(v))
#define NAMED(part) u16_##part
#define PUBLIC      ISA_NAMED(axpy_u16)
#include "ops/axpy/axpy_simd_body.h"

#define STORED      uint32_t
#define NUMBER      uint32_t
#define ALPHA       whole
#define GET(v)      (v)
#define PUT(v)      (v)
#define NAMED(part) u32_##part
#define PUBLIC      ISA_NAMED(axpy_u32)
#include "ops/axpy/axpy_simd_body.h"

#define STORED      uint64_t
#define NUMBER      uint64_t
#define ALPHA       whole
#define GET(v)      (v)
#define PUT(v)      (v)
#define NAMED(part) u64_##part
#define PUBLIC      ISA_NAMED(axpy_u64)
#include "ops/axpy/axpy_simd_body.h"
