#include "peer_examples.h"
#include "base/sizes.h"
#include "ops/axpy/axpy_problem.h"

static const tsr_axpy_problem examples[] = {
    {.n = 1, .alpha = 1},
    {.n = 100003, .alpha = -2.5},
    {.n = 1, .alpha = 3, .in_place = true},
    {.n = 100003, .alpha = 1, .in_place = true},
    {.type = TSR_F64, .n = 5003, .alpha = 0.3, .in_place = true},
    {.type = TSR_F64, .n = 5003, .alpha = 0.3},
    {.type = TSR_U32, .n = 5003, .alpha = 7},
    {.type = TSR_U64, .n = 5003, .alpha = 7, .in_place = true},
};

bool peer_example(size_t i, problem *out)
{
    if (i < ARRAY_COUNT(examples))
        *out = problem_from(&operation_axpy, &examples[i], sizeof(examples[i]));
    return i < ARRAY_COUNT(examples);
}

bool peer_refused(size_t i, problem *out, const void **first)
{
    const tsr_axpy_problem none = {.alpha = 1, .in_place = true};

    *first = NULL;
    *out = problem_from(&operation_axpy, &none, sizeof(none));
    return i == 0;
}
