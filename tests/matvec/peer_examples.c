#include "peer_examples.h"
#include "base/sizes.h"
#include "ops/matvec/matvec_shape.h"

#define F32 TSR_F32, TSR_PRECISION_F32
#define F64 TSR_F64, TSR_PRECISION_F64

static const tsr_matvec_problem examples[] = {
    {F32, 1, 1, false, 1, 0},       {F32, 113, 71, false, 1, 0},   {F32, 113, 71, true, 1, 0},
    {F32, 71, 113, false, -2, 0.5}, {F32, 10, 3001, false, 1, 0},  {F32, 3001, 10, true, 0.5, 1},
    {F64, 113, 71, false, 1, 0},    {F64, 113, 71, true, -2, 0.5},
};

static const tsr_matvec_problem refused[] = {
    {F32, 4, 0, false, 1, 0},
    {F32, 1, (size_t)1 << 31, false, 1, 0},
};

bool peer_example(size_t i, problem *out)
{
    if (i < ARRAY_COUNT(examples))
        *out = matvec_problem(examples[i]);
    return i < ARRAY_COUNT(examples);
}

bool peer_refused(size_t i, problem *out, const void **first)
{
    *first = NULL;
    if (i < ARRAY_COUNT(refused))
        *out = matvec_problem(refused[i]);
    return i < ARRAY_COUNT(refused);
}
