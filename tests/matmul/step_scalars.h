/* What the tests of matmul's plans share: the scalars of a step, each of the size that is asked. */
#ifndef UNIT_STEP_SCALARS_H
#define UNIT_STEP_SCALARS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/variant.h"

static inline void scalar_read(const command *s, size_t arg, void *out, size_t bytes)
{
    assert_true(arg < s->n_args);
    assert_int_equal(s->arg[arg].kind, ARG_SCALAR);
    assert_int_equal(s->arg[arg].bytes, bytes);
    memcpy(out, s->arg[arg].scalar, bytes);
}

static inline uint32_t scalar_u32(const command *s, size_t arg)
{
    uint32_t value = 0;

    scalar_read(s, arg, &value, sizeof(value));
    return value;
}

static inline uint64_t scalar_u64(const command *s, size_t arg)
{
    uint64_t value = 0;

    scalar_read(s, arg, &value, sizeof(value));
    return value;
}

static inline float scalar_f32(const command *s, size_t arg)
{
    float value = 0;

    scalar_read(s, arg, &value, sizeof(value));
    return value;
}

#endif
