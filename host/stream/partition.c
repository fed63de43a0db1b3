#include "stream/partition.h"

#include <assert.h>

#include "base/fail.h"
#include "stream/budget.h"

void partition_add_shape(partition *p, size_t i)
{
    assert(p->shape_count < PARTITION_SHAPES_MAX);
    p->shape[p->shape_count++] = i;
}

/* What is cut, whatever the budget. */
typedef struct cutting {
    const problem *problem;
    const selection *selection;
} cutting;

static tsr_status cut(const cutting *c, const stream_budget *budget, partition *out, tsr_error *err)
{
    tsr_status st = TSR_OK;

    *out = (partition){0};
    if (c->problem->op->partition)
        st = c->problem->op->partition(c->problem, c->selection, budget, out, err);
    out->problem = c->problem;
    return st;
}

/* Whether so many bytes leave few enough pieces. */
static bool leaves_few(const cutting *c, stream_budget budget, size_t bytes)
{
    partition p;

    budget.all = bytes;
    return cut(c, &budget, &p, NULL) == TSR_OK && p.pieces <= PIECES_MAX;
}

/* Refuse operands that are not cut and that the session's device_memory does not hold. */
static tsr_status check_whole(const problem *p, const stream_budget *budget, tsr_error *err)
{
    if (p->op->partition || !budget->limited || stream_holds(budget, p))
        return TSR_OK;
    return stream_refuse(err, p->op->name, budget, stream_bytes(p),
                         "operands, which it does not cut into pieces,");
}

tsr_status partition_choose(const tsr_session *s, const problem *p, const selection *sel,
                            partition *out, tsr_error *err)
{
    const stream_budget budget = stream_budget_of(s);
    const cutting c = {p, sel};
    size_t few = budget.max, many = budget.all;
    partition chosen;
    tsr_status st = check_whole(p, &budget, err);

    st = st ? st : cut(&c, &budget, &chosen, err);

    if (st)
        return st;
    if (!budget.limited || chosen.pieces <= PIECES_MAX || !leaves_few(&c, budget, few)) {
        *out = chosen;
        return TSR_OK;
    }
    /* Refused, with the fewest bytes that are not. */
    while (few - many > 1) {
        const size_t middle = many + (few - many) / 2;

        if (leaves_few(&c, budget, middle))
            few = middle;
        else
            many = middle;
    }
    return tsr_fail(err, TSR_EOVERFLOW, 0,
                    "%s: with %zu bytes of device memory it falls into %zu pieces, and at most %d "
                    "are allowed: it needs %zu bytes or more",
                    p->op->name, budget.all, chosen.pieces, (int)PIECES_MAX, few);
}
