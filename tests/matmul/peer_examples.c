#include "peer_examples.h"
#include "base/sizes.h"
#include "ops/matmul/matmul_shape.h"

#define F32        TSR_F32, TSR_PRECISION_F32
#define F32_STRICT TSR_F32, TSR_PRECISION_F32_STRICT
#define TF32       TSR_F32, TSR_PRECISION_TF32
#define F64        TSR_F64, TSR_PRECISION_F64

/* No two dimensions alike, so that a swapped leading dimension shows; some are primes. */
static const tsr_matmul_problem examples[] = {
    {F32, 1, 1, 1, false, false, 1, 0},      {F32, 37, 53, 29, false, false, 1, 0},
    {F32, 37, 53, 29, true, false, 1, 0},    {F32, 37, 53, 29, false, true, 1, 0},
    {F32, 37, 53, 29, true, true, -0.5, 2},  {F32, 160, 96, 224, false, false, 1, -1},
    {F32_STRICT, 64, 32, 48, 0, 0, 1, 0},    {TF32, 160, 96, 224, false, false, 2, 0.5},
    {TF32, 37, 53, 29, false, true, 1, 0},   {F64, 37, 53, 29, false, false, 1, 0},
    {F64, 37, 53, 29, true, false, 3, 0.25}, {F64, 160, 96, 224, false, true, 1, 1},
};

static const tsr_matmul_problem refused[] = {
    {F32, 0, 4, 4, false, false, 1, 0},
    {TSR_F32, TSR_PRECISION_BF16, 4, 4, 4, false, false, 1, 0},
    {F32, (size_t)1 << 31, 1, 1, false, false, 1, 0},
};

bool peer_example(size_t i, problem *out)
{
    if (i < ARRAY_COUNT(examples))
        *out = matmul_problem(examples[i]);
    return i < ARRAY_COUNT(examples);
}

bool peer_refused(size_t i, problem *out, const void **first)
{
    *first = NULL;
    if (i < ARRAY_COUNT(refused))
        *out = matmul_problem(refused[i]);
    return i < ARRAY_COUNT(refused);
}
