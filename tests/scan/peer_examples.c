#include "peer_examples.h"
#include "base/sizes.h"
#include "ops/scan/scan_problem.h"

static const tsr_scan_problem examples[] = {
    {.n = 1, .by = TSR_SCAN_SUM},
    {.n = 100003, .by = TSR_SCAN_SUM},
    {.n = 5003, .by = TSR_SCAN_MIN},
    {.n = 1000003, .by = TSR_SCAN_MAX},
    {.n = 100003, .by = TSR_SCAN_SUM, .exclusive = true},
    {.n = 5003, .by = TSR_SCAN_MIN, .exclusive = true},
    {.type = TSR_F64, .n = 100003, .by = TSR_SCAN_SUM},
    {.type = TSR_I32, .n = 100003, .by = TSR_SCAN_SUM},
    {.type = TSR_I32, .n = 100003, .by = TSR_SCAN_SUM, .same_type = true},
    {.type = TSR_I32, .n = 5003, .by = TSR_SCAN_SUM, .exclusive = true},
};

static const tsr_scan_problem refused[] = {
    {.by = TSR_SCAN_SUM},
    {.n = 10, .reverse = true},
    {.n = 10, .inner = 3},
};

bool peer_example(size_t i, problem *out)
{
    if (i < ARRAY_COUNT(examples))
        *out = problem_from(&operation_scan, &examples[i], sizeof(examples[i]));
    return i < ARRAY_COUNT(examples);
}

bool peer_refused(size_t i, problem *out, const void **first)
{
    *first = NULL;
    if (i < ARRAY_COUNT(refused))
        *out = problem_from(&operation_scan, &refused[i], sizeof(refused[i]));
    return i < ARRAY_COUNT(refused);
}
