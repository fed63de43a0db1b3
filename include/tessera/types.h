/** Element types, their order in memory, and the precision that arithmetic runs in. */
#ifndef TESSERA_TYPES_H
#define TESSERA_TYPES_H

#include <stddef.h>

#include "tessera/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tsr_type {
    TSR_F32 = 0,
    TSR_F64,
    TSR_I32,
    TSR_U32,
    TSR_I64,
    TSR_U64,
    TSR_F16,
    TSR_I8,
    TSR_U8,
    TSR_I16,
    TSR_U16,
    TSR_BF16,   /* bfloat16: the upper half of a float32 */
    TSR_C64,    /* complex64: two float32, the real part first */
    TSR_C128,   /* complex128: two float64, the real part first */
    TSR_F8E4M3, /* float8_e4m3fn of OCP's OFP8: 4 significant bits, up to 448, no infinity */
    TSR_F8E5M2, /* float8_e5m2: 3 significant bits, up to 57344, the upper half of a float16 */
    TSR_TYPE_COUNT
} tsr_type;

/** What the arithmetic of matmul and matvec promises. */
typedef enum tsr_precision {
    TSR_PRECISION_DEFAULT = 0, /* that of the operands' type: f32, f64, f16, bf16, i8 or f8 */
    TSR_PRECISION_F32,         /* as accurate as FP32 fused multiply-adds, or better */
    TSR_PRECISION_F32_STRICT,  /* FP32 fused multiply-add chains only */
    TSR_PRECISION_TF32,        /* factors rounded to TF32's 11 bits, FP32 sums */
    TSR_PRECISION_BF16,        /* factors rounded to BF16's 8 bits, FP32 sums */
    TSR_PRECISION_F16,         /* factors rounded to FP16's 11 bits and range, FP32 sums */
    TSR_PRECISION_F64,
    TSR_PRECISION_I8, /* of int8 operands alone: whole sums, modulo 2^32 */
    TSR_PRECISION_F8, /* of FP8 operands alone: sums of 128 products as matrix units add them up, of
                         these FP32 sums */
    TSR_PRECISION_COUNT
} tsr_precision;

/** How the elements of a stored matrix follow one another. */
typedef enum tsr_layout {
    TSR_ROW_MAJOR = 0, /* rows follow one another: C's usual order, and NumPy's */
    TSR_COLUMN_MAJOR   /* columns do: Fortran's and BLAS's */
} tsr_layout;

/** Bytes of one element. */
TSR_API size_t tsr_type_size(tsr_type type);

/** NumPy's name of a type, or ml_dtypes': "float32", "int64", "float8_e4m3fn".  Static. */
TSR_API const char *tsr_type_name(tsr_type type);

/**
 * Name of a precision as the command line spells it: "f32-strict".  Static.
 *
 * @param precision  What a problem asks for.
 */
TSR_API const char *tsr_precision_name(tsr_precision precision);

#ifdef __cplusplus
}
#endif
#endif
