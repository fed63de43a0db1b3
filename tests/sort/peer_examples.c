#include <math.h>

#include "base/sizes.h"
#include "ops/sort/sort_order.h"
#include "peer_examples.h"

typedef struct example {
    tsr_sort_problem problem;
    distribution inputs;
} example;

/* Some with few distinct keys, whose order shows whether a sort is stable. */
static const example examples[] = {
    {{.type = TSR_U32, .n = 1}, 0},
    {{.type = TSR_U32, .n = 2, .argsort = true}, 0},
    {{.type = TSR_U32, .n = 31, .descending = true}, 0},
    {{.type = TSR_U32, .n = 100003}, 0},
    {{.type = TSR_U32, .n = 100003, .descending = true}, 0},
    {{.type = TSR_U32, .n = 100003, .argsort = true}, DISTRIBUTION_FEW},
    {{.type = TSR_U32, .n = 100003, .argsort = true, .descending = true}, DISTRIBUTION_FEW},
    {{.type = TSR_I32, .n = 4096}, 0},
    {{.type = TSR_I32, .n = 5003, .argsort = true, .descending = true}, DISTRIBUTION_FEW},
    {{.type = TSR_U64, .n = 5003}, 0},
    {{.type = TSR_U64, .n = 5003, .argsort = true, .descending = true}, DISTRIBUTION_FEW},
    {{.type = TSR_I64, .n = 5003, .descending = true}, 0},
    {{.type = TSR_I64, .n = 5003, .argsort = true}, DISTRIBUTION_FEW},
    {{.type = TSR_F32, .n = 5003}, 0},
    {{.type = TSR_F32, .n = 5003, .argsort = true, .descending = true}, DISTRIBUTION_FEW},
    {{.type = TSR_F64, .n = 5003, .descending = true}, 0},
    {{.type = TSR_F64, .n = 5003, .argsort = true}, DISTRIBUTION_FEW},
    {{.type = TSR_U32, .n = 100003, .value_bytes = 4}, DISTRIBUTION_FEW},
    {{.type = TSR_U32, .n = 5003, .value_bytes = 8, .descending = true}, 0},
    {{.type = TSR_I64, .n = 5003, .value_bytes = 4, .descending = true}, DISTRIBUTION_FEW},
    {{.type = TSR_F32, .n = 5003, .value_bytes = 8}, DISTRIBUTION_FEW},
    {{.type = TSR_U32, .n = 1024, .rows = 4, .descending = true}, 0},
    {{.type = TSR_U32, .n = 1024, .rows = 4, .argsort = true}, DISTRIBUTION_FEW},
    {{.type = TSR_I32, .n = 1024, .rows = 4, .argsort = true, .descending = true},
     DISTRIBUTION_FEW},
    {{.type = TSR_U64, .n = 1024, .rows = 4}, 0},
    {{.type = TSR_I64, .n = 1024, .rows = 4, .descending = true}, 0},
    {{.type = TSR_F32, .n = 1024, .rows = 4}, 0},
    {{.type = TSR_F64, .n = 1024, .rows = 4, .argsort = true}, DISTRIBUTION_FEW},
};

/* Keys without a place or an order of their own. */
static const float not_a_number[] = {1, NAN}, negative_zero[] = {0, -0.0f};

static const struct {
    tsr_sort_problem problem;
    const float *keys;
} refused[] = {
    {{.type = TSR_U32}, NULL},
    {{.type = TSR_U32, .n = (size_t)1 << 40}, NULL},
    {{.type = TSR_U32, .n = 8, .value_bytes = 16}, NULL},
    {{.type = TSR_F32, .n = 2}, not_a_number},
    {{.type = TSR_F32, .n = 2}, negative_zero},
};

bool peer_example(size_t i, problem *out)
{
    if (i >= ARRAY_COUNT(examples))
        return false;
    *out = problem_from(&operation_sort, &examples[i].problem, sizeof(examples[i].problem));
    out->inputs = examples[i].inputs;
    return true;
}

bool peer_refused(size_t i, problem *out, const void **first)
{
    if (i >= ARRAY_COUNT(refused))
        return false;
    *out = problem_from(&operation_sort, &refused[i].problem, sizeof(refused[i].problem));
    *first = refused[i].keys;
    return true;
}
