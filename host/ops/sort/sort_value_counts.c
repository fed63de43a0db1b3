/**
 * Keys of 8 bits alone, counted and written again: cl/sort/sort_value_counts.cl.  Rows by a
 * work-group each, or, long ones that are few, one after another.
 */
#include "base/sizes.h"
#include "core/last_group.h"
#include "ops/sort/sort_commands.h"
#include "ops/sort/sort_variants.h"

/* Entries of cl/sort/sort_value_counts.cl, in the variant's order. */
enum { VALUES_COUNT, VALUES_FILL, VALUES_ROWS };

enum {
    VALUES = 256,
    WIDE = 16, /* keys of a vector */
    LOADS = 4,
    MANY_KEYS = 1 << 22,
    COPIES_MANY = 32, /* one for each bank of local memory */
    COPIES_FEW = 16,  /* less to add up */
    COPIES_CPU = 1,
    GROUP_MANY = 512,
    GROUP_FEW = 256,
    GROUP_CPU = 16,
    FILL_GROUPS = 4 /* as many groups write as count, this many times */
};

static const tunable tunables[] = {
    {"COPIES",
     "tables of counts in local memory: fewer waits of neighbours with one value against more to "
     "be added up; 0: on GPUs 32 for 2^22 keys and more, and rows of 2^14 that have a group "
     "each, else 16, of rows below 2^11 8, or as many as there is room for",
     {0, 1, 4, 8, 16, 32},
     0,
     4},
    {"GROUP", "work-items in a work-group", {0, 16, 64, 128, 256, 512, 1024}, 0, 16},
    {"PER_UNIT", "work-groups that count, for each compute unit", {1, 2, 4}, 2, 1},
};

/* Rows that are few and long are sorted one after another, each by all work-groups: on an H200 that
 * takes 7.2 us a row and one for each million keys of it, a group for each row 9 us and one for
 * each 18500: 9 rows of 1000000 take 73 us and 63, 2 of 10000000 34 and 550.  In keys of the
 * latter: */
enum { LAUNCHES_IN_KEYS = 133000, GROUPS_IN_ONE = 54, GROUP_IN_KEYS = 166000 };

static bool is_one_by_one(const tsr_sort_problem *s)
{
    const double n = (double)s->n, rows = (double)sort_rows(s);

    return rows == 1 || rows * (LAUNCHES_IN_KEYS + n / GROUPS_IN_ONE) < n + GROUP_IN_KEYS;
}

/* Of rows: as many work-items as are worth their sums, and of fewer rows than units all that there
 * are: 330 rows of 36349 int8 take an H200 34.5, 33.6 and 37 us by 256, 512 and 1024, 100 of 200000
 * 56, 36 and 28, 3000 of 4000 69 by 128 and 66 by 256, 50000 of 513 188 by 128. */
enum {
    ROW_OF_MANY = 1 << 14,
    GROUP_ALONE = 1024,
    ROW_OF_FEW = 1 << 11,
    GROUP_LEAST = 128,
    COPIES_LEAST = 8
};

/* Up to so many rows of so many keys: 20 of 5000 take 5.7 us by 512 and 6.6 by 256. */
enum { ROW_OF_SOME = 1 << 12, SOME_ROWS = 32 };

static size_t group_of_rows(const tsr_sort_problem *s, const device_facts *d)
{
    if (s->n >= ROW_OF_MANY)
        return sort_rows(s) <= size_max(d->compute_units, 1) ? GROUP_ALONE : GROUP_MANY;
    if (s->n >= ROW_OF_SOME && sort_rows(s) <= SOME_ROWS)
        return GROUP_MANY;
    return s->n < ROW_OF_FEW ? GROUP_LEAST : GROUP_FEW;
}

/* The scalars of a launch: value_call of cl/sort/sort_value_counts.cl. */
typedef struct value_call {
    uint64_t offset_keys, n;
} value_call;

/* Of row `row`; or of all, from the first on. */
static void add_launch(const tsr_sort_problem *s, size_t row, unsigned entry, size_t groups,
                       size_t group, plan *out)
{
    const value_call call = {.offset_keys = s->offset_keys + row * s->n, .n = s->n};
    const size_t size = tsr_type_size(s->type);
    command *c = plan_launch_1d(out, entry, groups * group, group);

    command_operand(c, SORT_KEYS);
    if (entry != VALUES_ROWS)
        command_workspace(c);
    if (entry == VALUES_COUNT)
        command_group_counters(c, true);
    command_block(c, &call, sizeof(call));
    if (entry == VALUES_ROWS)
        sort_step_moves(c, s, sort_keys(s), 2 * size);
    else
        sort_step_moves(c, s, s->n, size);
}

static const char *plan_value_counts(const job *j, plan *out)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const bool on_cpu = j->device->kind == DEVICE_CPU;
    const bool many = s->n >= MANY_KEYS;
    const size_t vectors = size_div_up(s->n, WIDE), rows = sort_rows(s);
    const bool by_groups = !is_one_by_one(s);
    size_t group = param(j->params, "GROUP"), copies = param(j->params, "COPIES"), groups;
    const size_t room = j->device->local_memory;
    size_t words; /* of local memory */
    const char *why;

    if (tsr_type_size(s->type) != 1 || sort_with_index(s))
        return "it sorts keys of 8 bits alone, without values or an index";
    if (s->n > INT32_MAX)
        return plan_unsupported(out, "it counts in 31 bits: at most %d keys, not %zu", INT32_MAX,
                                s->n);
    if (!by_groups && last_group_of(j->device) == LAST_GROUP_NONE)
        return "it needs atomic operations of device scope";
    if (!group)
        group = group_fit(j->device, 0,
                          on_cpu      ? GROUP_CPU
                          : by_groups ? group_of_rows(s, j->device)
                          : many      ? GROUP_MANY
                                      : GROUP_FEW);
    if (!copies)
        for (copies = on_cpu                                       ? COPIES_CPU
                      : many || (by_groups && s->n >= ROW_OF_MANY) ? COPIES_MANY
                      : by_groups && s->n < ROW_OF_FEW             ? COPIES_LEAST
                                                                   : COPIES_FEW;
             copies > 1 && (VALUES * (copies + by_groups) + group + 1) * sizeof(uint32_t) > room;)
            copies /= 2;
    words = VALUES * (copies + by_groups) + group + 1;
    why = sort_unsupported_room(j, group, words * sizeof(uint32_t), room, out);
    if (why)
        return why;
    plan_set(out, "COPIES", (uint32_t)copies);
    plan_set(out, "GROUP", (uint32_t)group);
    sort_define_keys(out, s);
    plan_define(out, "LOADS=%d", LOADS);
    plan_define(out, "ROWS=%d", by_groups);
    if (!by_groups)
        last_group_defines(j->device, last_group_of(j->device), &out->defines);
    if (sort_is_done(s))
        return NULL;
    if (by_groups) {
        add_launch(s, 0, VALUES_ROWS, rows, group, out);
        return NULL;
    }
    out->workspace = VALUES * sizeof(uint32_t);
    groups = size_max(j->device->compute_units, 1) * param(j->params, "PER_UNIT");
    for (size_t row = 0; row < rows; row++) {
        add_launch(s, row, VALUES_COUNT, size_min(groups, size_div_up(vectors, group * LOADS)),
                   group, out);
        add_launch(s, row, VALUES_FILL, size_min(groups * FILL_GROUPS, size_div_up(vectors, group)),
                   group, out);
    }
    return NULL;
}

const variant sort_value_counts = {
    .name = "value-counts",
    .idea = "keys of 8 bits alone: counted by their value, and written again",
    .answers = 1u << CAUSE_BYTES | 1u << CAUSE_LAUNCHES,
    .unstated = "writes a vector at once, or key by key where its keys differ",
    .source = "sort/sort_value_counts.cl",
    .entries = {"sort_value_counts_count", "sort_value_counts_fill", "sort_value_counts_rows"},
    .build = "",
    .uses = LAST_GROUP_USES,
    .group_counters = true,
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables),
    .plan = plan_value_counts,
};
