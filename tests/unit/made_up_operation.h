/* What operations that tests make up have in common: n numbers of 4 bytes. */
#ifndef TESTS_UNIT_MADE_UP_OPERATION_H
#define TESTS_UNIT_MADE_UP_OPERATION_H

#include "core/view.h"

typedef struct made_up {
    tsr_type type;
    size_t n;
} made_up;

static inline const made_up *made_up_of(const problem *p)
{
    return (const made_up *)(const void *)p->bytes;
}

static inline tsr_status made_up_check(const problem *p, tsr_error *err)
{
    (void)p;
    (void)err;
    return TSR_OK;
}

/* One operand of n numbers of 4 bytes, read and written. */
static inline size_t made_up_operands(const problem *p, operand out[OPERANDS_MAX])
{
    const view x = view_of(made_up_of(p)->type, 1, made_up_of(p)->n, made_up_of(p)->n, 0, 1, 0);

    out[0] = view_operand("x", &x, ACCESS_READ_WRITE);
    return 1;
}

static inline double made_up_work(const problem *p)
{
    return (double)made_up_of(p)->n;
}

static inline void made_up_describe(const problem *p, text *out)
{
    text_format(out, "%zu numbers", made_up_of(p)->n);
}

#endif
