/* What the tests of sort's plans share: variants and their parameters, the scalars of a step, and
 * the order of uint32 keys. */
#ifndef UNIT_SORT_PLANS_H
#define UNIT_SORT_PLANS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "core/registry.h"
#include "ops/sort/sort_order.h"

static inline const variant *find(const char *name)
{
    const variant *v = NULL;

    assert_int_equal(variant_find(&operation_sort, name, &v, NULL), TSR_OK);
    return v;
}

/* The variant's parameters with a list of settings, NULL at its end. */
static inline params settings(const variant *v, const char *const *assignments)
{
    params p = params_default(v);

    for (; *assignments; assignments++)
        assert_int_equal(params_set(v, &p, *assignments, NULL), TSR_OK);
    return p;
}

/* Argument `arg` of a step: a scalar of 4 bytes or 8. */
static inline uint64_t scalar(const command *s, unsigned arg)
{
    uint32_t narrow = 0;
    uint64_t wide = 0;

    assert_true(arg < s->n_args && s->arg[arg].kind == ARG_SCALAR);
    if (s->arg[arg].bytes == sizeof(wide)) {
        memcpy(&wide, s->arg[arg].scalar, sizeof(wide));
        return wide;
    }
    assert_int_equal(s->arg[arg].bytes, sizeof(narrow));
    memcpy(&narrow, s->arg[arg].scalar, sizeof(narrow));
    return narrow;
}

/* For qsort. */
static inline int compare_keys(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* The comparator of two positions, of which one at `end` or beyond holds no key. */
static inline void order(uint32_t *keys, size_t low, size_t high, size_t end)
{
    if (high < end && keys[low] > keys[high]) {
        const uint32_t t = keys[low];

        keys[low] = keys[high];
        keys[high] = t;
    }
}

#endif
