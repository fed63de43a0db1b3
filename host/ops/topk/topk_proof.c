/* Proving topk: the sweep of edge sizes; inputs and reference are those of sort. */
#include "base/sizes.h"
#include "ops/sort/sort_proof.h"
#include "ops/topk/topk_problem.h"

/* One row and several, with what goes along: every type, with an index and without one. */
static const sort_case cases[] = {
    {TSR_U32, {SORT_UP, SORT_UP}, {0, 0}, 0, {1}},
    {TSR_F32, {SORT_DOWN, SORT_DOWN}, {0, 0}, 0, {10}},
    {TSR_I32, {SORT_UP_INDEX, SORT_UP}, {2, 2}, 3, {3}},
    {TSR_U32, {SORT_DOWN_INDEX, SORT_DOWN}, {4, 4}, 5, {64}},
    {TSR_F16, {SORT_UP, SORT_UP_INDEX}, {16, 16}, 2, {7}},
    {TSR_F64, {SORT_DOWN, SORT_DOWN}, {0, 0}, 2, {100}},
    {TSR_I64, {SORT_UP_INDEX, SORT_UP}, {1, 1}, 0, {2}},
    {TSR_I8, {SORT_UP, SORT_DOWN_INDEX}, {0, 0}, 0, {20}},
    {TSR_U8, {SORT_UP_INDEX, SORT_DOWN}, {0, 0}, 0, {5}},
    {TSR_I16, {SORT_DOWN, SORT_UP_INDEX}, {0, 0}, 0, {40}},
    {TSR_U16, {SORT_UP, SORT_DOWN_INDEX}, {0, 0}, 0, {3}},
    {TSR_U64, {SORT_UP, SORT_DOWN_INDEX}, {0, 0}, 0, {10}},
    {TSR_F32, {SORT_UP_INDEX, SORT_UP_INDEX}, {0, 0}, 0, {2}},
    {TSR_F64, {SORT_UP_INDEX, SORT_DOWN_INDEX}, {0, 0}, 0, {64}},
};

bool topk_sweep(size_t i, bool tiny, problem *out)
{
    problem p = {.op = &operation_topk};
    const sort_case *c = sort_sweep_cases(cases, ARRAY_COUNT(cases), i, tiny, &p);

    if (!c)
        return false;
    topk_in(&p)->k = c->own[0];
    *out = p;
    return true;
}

static sort_parts parts_of(const problem *p)
{
    sort_parts parts = sort_parts_of_rows(sort_of(p));

    parts.kept = topk_kept(topk_of(p));
    return parts;
}

tsr_status topk_expect(const problem *p, const void *const before[], void **out, tsr_error *err)
{
    const sort_parts parts = parts_of(p);

    return sort_expect_parts(&parts, before, out, err);
}

tsr_status topk_verify(const problem *p, const device_facts *d, const void *const before[],
                       const void *const after[], const void *expected, verdict *out,
                       tsr_error *err)
{
    const sort_parts parts = parts_of(p);

    (void)d; /* the order is the same everywhere */
    return sort_verify_parts(&parts, before, after, expected, out, err);
}
