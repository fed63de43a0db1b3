/* What operations that tests make up have in common: n numbers, in a sort's problem. */
#ifndef TESTS_UNIT_MADE_UP_OPERATION_H
#define TESTS_UNIT_MADE_UP_OPERATION_H

#include "core/variant.h"
#include "ops/sort/sort_order.h"

static inline tsr_status made_up_check(const problem *p, tsr_error *err)
{
    (void)p;
    (void)err;
    return TSR_OK;
}

/* One operand of n numbers of 4 bytes, read and written. */
static inline size_t made_up_operands(const problem *p, operand out[OPERANDS_MAX])
{
    out[0] = (operand){.name = "x",
                       .type = sort_of(p)->type,
                       .access = ACCESS_READ_WRITE,
                       .bytes = sort_of(p)->n * sizeof(uint32_t)};
    return 1;
}

static inline double made_up_work(const problem *p)
{
    return (double)sort_of(p)->n;
}

static inline void made_up_describe(const problem *p, text *out)
{
    text_format(out, "%zu numbers", sort_of(p)->n);
}

#endif
