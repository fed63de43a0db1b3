#include "peer_examples.h"
#include "base/sizes.h"
#include "ops/select/select_problem.h"

static const tsr_select_problem examples[] = {
    {.n = 1, .where = TSR_GREATER},
    {.n = 100003, .where = TSR_GREATER, .value = {.real = 0.25}},
    {.n = 5003, .where = TSR_LESS},
    {.n = 5003, .where = TSR_LESS_EQUAL},
    {.type = TSR_I32, .n = 5003, .where = TSR_NOT_EQUAL},
    {.n = 70001, .where = TSR_GREATER, .value = {.real = 2}}, /* none */
    {.type = TSR_F64, .n = 5003, .where = TSR_GREATER},
    {.type = TSR_I32, .n = 100003, .where = TSR_LESS, .value = {.integer = -7}},
};

static const tsr_select_problem refused[] = {
    {.where = TSR_GREATER},
    {.n = 100, .where = TSR_IS_NAN},
    {.type = TSR_F16, .n = 100, .where = TSR_GREATER},
};

bool peer_example(size_t i, problem *out)
{
    if (i < ARRAY_COUNT(examples))
        *out = problem_from(&operation_select, &examples[i], sizeof(examples[i]));
    return i < ARRAY_COUNT(examples);
}

bool peer_refused(size_t i, problem *out, const void **first)
{
    *first = NULL;
    if (i < ARRAY_COUNT(refused))
        *out = problem_from(&operation_select, &refused[i], sizeof(refused[i]));
    return i < ARRAY_COUNT(refused);
}
