#include "peer_examples.h"
#include "base/sizes.h"
#include "ops/matmul/matmul_shape.h"

#define F32        TSR_F32, TSR_PRECISION_F32
#define F32_STRICT TSR_F32, TSR_PRECISION_F32_STRICT
#define TF32       TSR_F32, TSR_PRECISION_TF32
#define F64        TSR_F64, TSR_PRECISION_F64
#define C64        .type = TSR_C64, .precision = TSR_PRECISION_F32
#define I8         .type = TSR_I8, .precision = TSR_PRECISION_I8
#define F8         .type = TSR_F8E4M3, .precision = TSR_PRECISION_F8
#define C128       .type = TSR_C128, .precision = TSR_PRECISION_F64

/* No two dimensions alike, so that a swapped leading dimension shows; some are primes. */
static const tsr_matmul_problem examples[] = {
    {F32, 1, 1, 1, false, false, 1, 0},
    {F32, 37, 53, 29, false, false, 1, 0},
    {F32, 37, 53, 29, true, false, 1, 0},
    {F32, 37, 53, 29, false, true, 1, 0},
    {F32, 37, 53, 29, true, true, -0.5, 2},
    {F32, 160, 96, 224, false, false, 1, -1},
    {F32_STRICT, 64, 32, 48, 0, 0, 1, 0},
    {TF32, 160, 96, 224, false, false, 2, 0.5},
    {TF32, 37, 53, 29, false, true, 1, 0},
    {F64, 37, 53, 29, false, false, 1, 0},
    {F64, 37, 53, 29, true, false, 3, 0.25},
    {F64, 160, 96, 224, false, true, 1, 1},
    {C64, .m = 37, .n = 53, .k = 29, .alpha = 1},
    {C64, .m = 37, .n = 53, .k = 29, .trans_a = true, .conj_a = true, .alpha = 2, .alpha_im = -1,
     .beta = 0.5, .beta_im = 1},
    {C128, .m = 37, .n = 53, .k = 29, .trans_b = true, .conj_b = true, .alpha = 1},
    {C128, .m = 160, .n = 96, .k = 224, .trans_a = true, .alpha = 1, .alpha_im = 1, .beta = -1},
    {I8, .m = 160, .n = 96, .k = 224, .alpha = 1},
    {I8, .m = 36, .n = 52, .k = 28, .trans_b = true, .alpha = -3, .beta = 2},
    {F8, .m = 160, .n = 96, .k = 224, .trans_b = true, .alpha = 0.5},
    {F8, .m = 48, .n = 80, .k = 32, .trans_b = true, .alpha = -1, .beta = 2, .c_f32 = true},
    {F8, .m = 48, .n = 80, .k = 272, .trans_b = true, .alpha = 1, .beta = 0.5, .c_bf16 = true},
    {F8, .m = 48, .n = 80, .k = 272, .trans_b = true, .alpha = 1, .c_bf16 = true, .scale_a = true,
     .scale_b = true},
};

static const tsr_matmul_problem refused[] = {
    {F32, 0, 4, 4, false, false, 1, 0},
    {TSR_F32, TSR_PRECISION_BF16, 4, 4, 4, false, false, 1, 0},
    {F32, (size_t)1 << 31, 1, 1, false, false, 1, 0},
    {C64, .m = 4, .n = 4, .k = 4, .conj_a = true, .alpha = 1},
    {I8, .m = 5, .n = 5, .k = 5, .alpha = 1},
    {F8, .m = 16, .n = 16, .k = 16, .alpha = 1},
    {F8, .m = 16, .n = 16, .k = 16, .trans_b = true, .alpha = 1, .scale_a = true},
};

bool peer_example(size_t i, problem *out)
{
    tsr_matmul_problem p;

    if (i >= ARRAY_COUNT(examples))
        return false;
    p = examples[i];
    /* As commands pose them. */
    p.lda = matmul_ld_a(&p);
    p.ldb = matmul_ld_b(&p);
    p.ldc = matmul_ld_c(&p);
    *out = matmul_problem(p);
    return true;
}

bool peer_refused(size_t i, problem *out, const void **first)
{
    *first = NULL;
    if (i < ARRAY_COUNT(refused))
        *out = matmul_problem(refused[i]);
    return i < ARRAY_COUNT(refused);
}
