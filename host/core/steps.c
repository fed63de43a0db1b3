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

void command_launch_1d(command *s, unsigned entry, size_t global, size_t local)
{
    *s = (command){.kind = COMMAND_LAUNCH, .entry = entry, .dims = 1};
    s->global[0] = global;
    s->local[0] = local;
}

void command_launch_2d(command *s, unsigned entry, size_t global_x, size_t global_y, size_t local_x,
                       size_t local_y)
{
    command_launch_1d(s, entry, global_x, local_x);
    s->dims = 2;
    s->global[1] = global_y;
    s->local[1] = local_y;
}

static command_arg *next_arg(command *s, arg_kind kind)
{
    assert(s->n_args < COMMAND_ARGS_MAX);
    s->arg[s->n_args] = (command_arg){.kind = kind};
    return &s->arg[s->n_args++];
}

void command_operand(command *s, unsigned index)
{
    next_arg(s, ARG_OPERAND)->index = index;
}

void command_workspace(command *s)
{
    next_arg(s, ARG_WORKSPACE);
}

void command_group_counters(command *s)
{
    next_arg(s, ARG_GROUP_COUNTERS);
}

void command_strict_counter(command *s)
{
    next_arg(s, ARG_STRICT_COUNTER);
}

static void scalar(command *s, const void *value, size_t bytes)
{
    command_arg *a = next_arg(s, ARG_SCALAR);

    a->bytes = bytes;
    memcpy(a->scalar, value, bytes);
}

void command_u32(command *s, uint32_t value)
{
    scalar(s, &value, sizeof(value));
}

void command_u64(command *s, uint64_t value)
{
    scalar(s, &value, sizeof(value));
}

void command_real(command *s, tsr_type type, double value)
{
    float narrow = (float)value;

    if (type == TSR_F64)
        scalar(s, &value, sizeof(value));
    else
        scalar(s, &narrow, sizeof(narrow));
}

void command_local(command *s, size_t bytes)
{
    next_arg(s, ARG_LOCAL)->bytes = bytes;
}

void command_block(command *s, const void *block, size_t bytes)
{
    assert(bytes <= sizeof(s->block));
    for (unsigned i = 0; i < s->n_args; i++)
        assert(s->arg[i].kind != ARG_BLOCK && "a launch has room for one");
    next_arg(s, ARG_BLOCK)->bytes = bytes;
    memcpy(s->block, block, bytes);
}
