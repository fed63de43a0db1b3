/** z := alpha x + y of a stretch of elements, compiled for each instruction set (base/isa.h). */
#ifndef OPS_AXPY_SIMD_H
#define OPS_AXPY_SIMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/isa.h"

typedef struct axpy_share {
    size_t n;
    const void *x, *y; /* the first of each; y is z in place */
    void *z;
    size_t incx, incy, incz;
    double alpha;     /* of floats */
    uint64_t whole;   /* of integers */
    bool past_caches; /* z is written to memory, which no cache keeps it from: for what is large
                         and not read */
} axpy_share;

typedef void axpy_loop_of(const axpy_share *s);

axpy_loop_of ISA_EACH(axpy_f32), ISA_EACH(axpy_f64), ISA_EACH(axpy_f16), ISA_EACH(axpy_bf16);
axpy_loop_of ISA_EACH(axpy_u8), ISA_EACH(axpy_u16), ISA_EACH(axpy_u32), ISA_EACH(axpy_u64);

#endif
