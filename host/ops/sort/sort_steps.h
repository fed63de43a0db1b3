/** What the steps of sort's variants share. */
#ifndef OPS_SORT_STEPS_H
#define OPS_SORT_STEPS_H

#include "ops/sort/sort_commands.h"

/* Why a kernel with a 32-bit index does not take so many keys; NULL: it does. */
static inline const char *sort_positions_unsupported(const tsr_sort_problem *s, text *reason)
{
    if (s->n <= SORT_POSITIONS_32)
        return NULL;
    text_format(reason, "it indexes in 32 bits: at most %zu keys, not %zu", SORT_POSITIONS_32,
                s->n);
    return text_get(reason);
}

static inline void sort_key_defines(const job *j, text *out)
{
    const tsr_sort_problem *s = sort_of(j->problem);

    text_format(out, " -DKEY=%s -DDESCENDING=%d -DWITH_INDEX=%d -DVALUE_BYTES=%zu -DWITH_ROWS=%d",
                sort_kernel_type(s->type), s->descending, sort_with_index(s), s->value_bytes,
                sort_rows(s) > 1);
}

/* Fewer than 2^32 work-groups, as sort_row.clh numbers them. */
static inline const char *sort_groups_unsupported(const tsr_sort_problem *s, size_t group,
                                                  text *reason)
{
    const size_t most = UINT32_MAX / (s->n / group + 1);

    if (sort_rows(s) == 1 || sort_rows(s) <= most)
        return NULL;
    text_format(reason, "it numbers work-groups in 32 bits: at most %zu rows of %zu keys, not %zu",
                most, s->n, sort_rows(s));
    return text_get(reason);
}

/* A launch of the work-groups that one row takes, for each row: `items` in a row, in groups of
 * `local`. */
static inline void sort_launch_rows(const tsr_sort_problem *s, unsigned entry, size_t items,
                                    size_t local, command *out)
{
    command_launch_1d(out, entry, size_round_up(items, local) * sort_rows(s), local);
}

static inline size_t sort_values_workspace(const job *j)
{
    return sort_values_bytes(sort_of(j->problem));
}

enum { SORT_VALUES_STEPS = 2 };

/* Steps 0 and 1 of what follows the sort of keys with their index: entry `keep` and the next. */
static inline bool sort_values_step(const job *j, size_t i, unsigned keep, command *out)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const size_t local = group_fit(j->device, 0, SORT_VALUES_GROUP);

    if (i >= SORT_VALUES_STEPS)
        return false;
    sort_launch_rows(s, keep + (unsigned)i, s->n, local, out);
    command_operand(out, 2);
    command_workspace(out);
    if (i == 1)
        sort_step_index(out, s);
    command_u64(out, s->offset_values);
    command_u64(out, sort_copy_offset(s));
    if (i == 1)
        command_u64(out, s->argsort ? s->offset_index : 0);
    command_u64(out, s->n);
    command_u32(out, (uint32_t)sort_rows(s));
    sort_step_moves(out, s, s->n, 2 * s->value_bytes + (i == 1 ? sizeof(int64_t) : 0));
    return true;
}

/* Step i of those that sort keys, and behind them of those that move values. */
static inline bool sort_step_or_values(const job *j, size_t i,
                                       bool (*keys_step)(const job *, size_t, command *),
                                       unsigned keep, command *out)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    size_t count = 0;
    command passed;

    if (keys_step(j, i, out))
        return true;
    if (!s->value_bytes || sort_is_done(s))
        return false;
    while (keys_step(j, count, &passed))
        count++;
    return sort_values_step(j, i - count, keep, out);
}

#endif
