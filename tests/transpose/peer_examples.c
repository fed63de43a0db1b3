#include "peer_examples.h"
#include "base/sizes.h"
#include "ops/transpose/transpose_problem.h"

static const tsr_transpose_problem examples[] = {
    {.rows = 1, .columns = 1},
    {.rows = 113, .columns = 71},
    {.rows = 512, .columns = 1000},
    {.type = TSR_F64, .rows = 300, .columns = 130},
};

static const tsr_transpose_problem refused[] = {
    {.rows = 0, .columns = 3},
    {.type = TSR_U8, .rows = 2, .columns = 3},
    {.rows = 2, .columns = 3, .batch = 4},
};

bool peer_example(size_t i, problem *out)
{
    if (i < ARRAY_COUNT(examples))
        *out = problem_from(&operation_transpose, &examples[i], sizeof(examples[i]));
    return i < ARRAY_COUNT(examples);
}

bool peer_refused(size_t i, problem *out, const void **first)
{
    *first = NULL;
    if (i < ARRAY_COUNT(refused))
        *out = problem_from(&operation_transpose, &refused[i], sizeof(refused[i]));
    return i < ARRAY_COUNT(refused);
}
