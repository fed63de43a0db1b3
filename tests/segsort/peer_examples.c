#include "peer_examples.h"
#include "base/sizes.h"
#include "ops/segsort/segsort_problem.h"

typedef struct example {
    tsr_segsort_problem problem;
    distribution inputs;
} example;

/* Some with few distinct keys, whose order shows whether a sort is stable. */
static const example examples[] = {
    {{{.type = TSR_U32, .n = 4096}, .segments = 13, .segment_longest = 4096}, 0},
    {{{.type = TSR_U32, .n = 4096, .argsort = true, .descending = true},
      .segments = 13,
      .segment_longest = 4096},
     DISTRIBUTION_FEW},
    {{{.type = TSR_U32, .n = 4096}, .segments = 1}, 0},
    {{{.type = TSR_I32, .n = 4096, .argsort = true}, .segments = 300}, DISTRIBUTION_FEW},
    {{{.type = TSR_I64, .n = 4096, .descending = true}, .segments = 13}, 0},
    {{{.type = TSR_U64, .n = 4096}, .segments = 5000}, 0},
    {{{.type = TSR_F32, .n = 4096}, .segments = 13}, 0},
    {{{.type = TSR_F64, .n = 4096, .argsort = true}, .segments = 13}, DISTRIBUTION_FEW},
};

static const tsr_segsort_problem refused[] = {
    {{.type = TSR_U32}, .segments = 3},
    {{.type = TSR_U32, .n = (size_t)1 << 40}, .segments = 3},
    {{.type = TSR_U32, .n = 8, .value_bytes = 16}, .segments = 3},
};

bool peer_example(size_t i, problem *out)
{
    if (i >= ARRAY_COUNT(examples))
        return false;
    *out = segsort_problem(examples[i].problem);
    out->inputs = examples[i].inputs;
    return true;
}

bool peer_refused(size_t i, problem *out, const void **first)
{
    if (i >= ARRAY_COUNT(refused))
        return false;
    *out = segsort_problem(refused[i]);
    *first = NULL;
    return true;
}
