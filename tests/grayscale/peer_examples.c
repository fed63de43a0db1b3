#include "peer_examples.h"
#include "base/sizes.h"
#include "ops/grayscale/grayscale_problem.h"

static const tsr_grayscale_problem examples[] = {
    {TSR_U8, 1, 1, 3, TSR_LUMA_OPENCV, 0, 0},     {TSR_U8, 257, 1023, 3, TSR_LUMA_OPENCV, 0, 0},
    {TSR_U8, 100, 333, 4, TSR_LUMA_OPENCV, 0, 0}, {TSR_F32, 1, 1, 3, TSR_LUMA_BT601, 0, 0},
    {TSR_F32, 64, 1024, 3, TSR_LUMA_BT601, 0, 0}, {TSR_F32, 64, 256, 4, TSR_LUMA_OPENCV, 0, 0},
};

static const tsr_grayscale_problem refused[] = {
    {TSR_U8, 0, 5, 3, TSR_LUMA_OPENCV, 0, 0},
    {TSR_U8, 5, 5, 3, TSR_LUMA_BT601, 0, 0},
    {TSR_F32, 5, 5, 3, TSR_LUMA_BT709, 0, 0},
};

bool peer_example(size_t i, problem *out)
{
    if (i < ARRAY_COUNT(examples))
        *out = problem_from(&operation_grayscale, &examples[i], sizeof(examples[i]));
    return i < ARRAY_COUNT(examples);
}

bool peer_refused(size_t i, problem *out, const void **first)
{
    *first = NULL;
    if (i < ARRAY_COUNT(refused))
        *out = problem_from(&operation_grayscale, &refused[i], sizeof(refused[i]));
    return i < ARRAY_COUNT(refused);
}
