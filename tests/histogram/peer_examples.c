#include "peer_examples.h"
#include "base/sizes.h"
#include "ops/histogram/histogram_problem.h"

static const struct {
    tsr_histogram_problem problem;
    distribution inputs;
} examples[] = {
    {{.type = TSR_U8, .n = 1, .bins = 256}, DISTRIBUTION_PLAIN},
    {{.type = TSR_U8, .n = 100003, .bins = 256}, DISTRIBUTION_PLAIN},
    {{.type = TSR_U8, .n = 1000003, .bins = 256}, DISTRIBUTION_CONSTANT},
    {{.type = TSR_F32, .n = 100003, .bins = 256}, DISTRIBUTION_PLAIN},
    {{.type = TSR_F32, .n = 5003, .bins = 10}, DISTRIBUTION_SPECIAL},
    {{.type = TSR_F32, .n = 5003, .bins = 1000, .uneven = true}, DISTRIBUTION_PLAIN},
};

static const tsr_histogram_problem refused[] = {
    {.bins = 10},
    {.n = 100, .bins = 10, .add = true},
    {.n = 100, .bins = 10, .weights = TSR_HISTOGRAM_F32},
    {.type = TSR_BF16, .n = 100, .bins = 10},
};

bool peer_example(size_t i, problem *out)
{
    if (i >= ARRAY_COUNT(examples))
        return false;
    *out = problem_from(&operation_histogram, &examples[i].problem, sizeof(examples[i].problem));
    out->inputs = examples[i].inputs;
    return true;
}

bool peer_refused(size_t i, problem *out, const void **first)
{
    *first = NULL;
    if (i < ARRAY_COUNT(refused))
        *out = problem_from(&operation_histogram, &refused[i], sizeof(refused[i]));
    return i < ARRAY_COUNT(refused);
}
