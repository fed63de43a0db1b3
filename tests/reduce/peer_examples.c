#include "peer_examples.h"
#include "base/sizes.h"
#include "ops/reduce/reduce_problem.h"

static const tsr_reduce_problem examples[] = {
    {.n = 1, .by = TSR_REDUCE_SUM},
    {.n = 100003, .by = TSR_REDUCE_SUM},
    {.n = 5003, .by = TSR_REDUCE_MIN},
    {.n = 1000003, .by = TSR_REDUCE_MIN},
    {.n = 2, .by = TSR_REDUCE_MAX},
    {.n = 1000003, .by = TSR_REDUCE_MAX},
    {.n = 5003, .by = TSR_REDUCE_NORM2},
    {.type = TSR_F64, .n = 100003, .by = TSR_REDUCE_NORM2},
    {.n = 5003, .by = TSR_REDUCE_ARGMIN},
    {.n = 1000003, .by = TSR_REDUCE_ARGMAX},
    {.n = 1001, .by = TSR_REDUCE_SUM, .outer = 130},
    {.n = 1001, .by = TSR_REDUCE_SUM, .inner = 130},
    {.n = 70, .by = TSR_REDUCE_MAX, .outer = 1003},
    {.type = TSR_F64, .n = 70, .by = TSR_REDUCE_SUM, .inner = 1003},
    {.type = TSR_F64, .n = 70, .by = TSR_REDUCE_SUM, .outer = 1003},
    {.type = TSR_F64, .n = 100003, .by = TSR_REDUCE_MIN},
    {.type = TSR_I32, .n = 100003, .by = TSR_REDUCE_SUM},
    {.type = TSR_I32, .n = 100, .by = TSR_REDUCE_SUM, .outer = 77},
    {.type = TSR_I32, .n = 100003, .by = TSR_REDUCE_ARGMIN},
};

bool peer_example(size_t i, problem *out)
{
    if (i < ARRAY_COUNT(examples))
        *out = problem_from(&operation_reduce, &examples[i], sizeof(examples[i]));
    return i < ARRAY_COUNT(examples);
}

bool peer_refused(size_t i, problem *out, const void **first)
{
    const tsr_reduce_problem none = {.by = TSR_REDUCE_SUM};

    *first = NULL;
    *out = problem_from(&operation_reduce, &none, sizeof(none));
    return i == 0;
}
