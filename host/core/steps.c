#include <assert.h>
#include <string.h>

#include "core/variant.h"

uint32_t param(const params *p, const char *name)
{
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->tunables[i].name, name) == 0)
            return p->value[i];
    assert(!"the variant declares this tunable");
    return 0;
}

void step_launch_1d(step *s, unsigned entry, size_t global, size_t local)
{
    *s = (step){.kind = STEP_LAUNCH, .entry = entry, .dims = 1};
    s->global[0] = global;
    s->local[0] = local;
}

void step_launch_2d(step *s, unsigned entry, size_t global_x, size_t global_y, size_t local_x,
                    size_t local_y)
{
    step_launch_1d(s, entry, global_x, local_x);
    s->dims = 2;
    s->global[1] = global_y;
    s->local[1] = local_y;
}

static step_arg *next_arg(step *s, arg_kind kind)
{
    assert(s->n_args < STEP_ARGS_MAX);
    s->arg[s->n_args] = (step_arg){.kind = kind};
    return &s->arg[s->n_args++];
}

void step_operand(step *s, unsigned index)
{
    next_arg(s, ARG_OPERAND)->index = index;
}

void step_workspace(step *s)
{
    next_arg(s, ARG_WORKSPACE);
}

void step_group_counters(step *s)
{
    next_arg(s, ARG_GROUP_COUNTERS);
}

void step_strict_counter(step *s)
{
    next_arg(s, ARG_STRICT_COUNTER);
}

static void scalar(step *s, const void *value, size_t bytes)
{
    step_arg *a = next_arg(s, ARG_SCALAR);

    a->bytes = bytes;
    memcpy(a->scalar, value, bytes);
}

void step_u32(step *s, uint32_t value)
{
    scalar(s, &value, sizeof(value));
}

void step_u64(step *s, uint64_t value)
{
    scalar(s, &value, sizeof(value));
}

void step_real(step *s, tsr_type type, double value)
{
    float narrow = (float)value;

    if (type == TSR_F64)
        scalar(s, &value, sizeof(value));
    else
        scalar(s, &narrow, sizeof(narrow));
}

void step_local(step *s, size_t bytes)
{
    next_arg(s, ARG_LOCAL)->bytes = bytes;
}

void step_block(step *s, const void *block, size_t bytes)
{
    assert(bytes <= sizeof(s->block));
    for (unsigned i = 0; i < s->n_args; i++)
        assert(s->arg[i].kind != ARG_BLOCK && "a launch has room for one");
    next_arg(s, ARG_BLOCK)->bytes = bytes;
    memcpy(s->block, block, bytes);
}
