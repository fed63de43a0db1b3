/**
 * A few keys, each to its place by comparisons with all: cl/sort/sort_counted.cl.
 */
#include "base/sizes.h"
#include "ops/sort/sort_commands.h"
#include "ops/sort/sort_variants.h"

/* Entries of cl/sort/sort_counted.cl, in the variant's order. */
enum { COUNTED_PLACE, COUNTED_RETURN };

enum {
    KEYS_MAX = 1 << 14, /* beyond, comparisons take longer than anything else on any device */
    LOADED = 8,         /* keys of a tile that a work-item loads at once */
    RETURN_GROUP = 128,
    KEYS_OF_TEAM = 8, /* at most, where they are not given, ... */
    KEYS_OF_MANY = 4, /* ... and of more keys */
    TEAM_LANES = 32,
};

/* As few keys for each team as leave a group for each unit, which has all keys to load: 4222 uint32
 * take 8.7 us of an H200 by 4 and 10.2 by 2, 8300 float32 16.6 by 8 and 18.5 by 4, 3000 float32
 * with an index 7.8 by 4 and 8.7 by 1. */
static size_t usual_keys(size_t n, size_t teams, size_t units)
{
    size_t keys = 1;

    while (keys < KEYS_OF_TEAM && n > keys * teams * units)
        keys *= 2;
    return n > keys * teams * units ? KEYS_OF_MANY : keys;
}

static const tunable tunables[] = {
    {"KEYS",
     "keys that a team places: more are compared for each read, and leave fewer groups; 0: as few "
     "as leave a group for each compute unit",
     {0, 1, 2, 4, 8},
     0,
     2},
    {"GROUP", "work-items in a work-group", {32, 64, 128, 256, 512}, 256, 32},
};

/* The scalars of both launches: counted_call of cl/sort/sort_counted.cl. */
typedef struct counted_call {
    uint64_t offset_keys, offset_index, offset_values;
    uint64_t offset_copy;
    uint32_t n;
    uint32_t unused; /* what would be padding: calls are compared by their bytes */
} counted_call;

_Static_assert(sizeof(counted_call) == 40, "as OpenCL C lays it out");

/* Where the copy of the values starts in the workspace, in values: behind the keys. */
static size_t copy_offset(const tsr_sort_problem *s)
{
    return s->value_bytes ? size_div_up(s->n * tsr_type_size(s->type), s->value_bytes) : 0;
}

static void add_commands(const job *j, size_t placed, size_t group, plan *out)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const size_t moved = tsr_type_size(s->type) + s->value_bytes;
    const counted_call call = {.offset_keys = s->offset_keys,
                               .offset_index = sort_index_offset(s),
                               .offset_values = s->offset_values,
                               .offset_copy = copy_offset(s),
                               .n = (uint32_t)s->n};
    command *c = plan_launch_1d(out, COUNTED_PLACE, size_div_up(s->n, placed) * group, group);

    command_operand(c, SORT_KEYS);
    sort_step_result_index(c, s);
    sort_step_values(c, s);
    command_workspace(c);
    command_workspace(c);
    command_block(c, &call, sizeof(call));
    sort_step_moves(c, s, s->n, moved + sort_entry_bytes(s));
    c = sort_launch(out, s, COUNTED_RETURN, s->n, group_fit(j->device, 0, RETURN_GROUP));
    command_operand(c, SORT_KEYS);
    sort_step_values(c, s);
    command_workspace(c);
    command_workspace(c);
    command_block(c, &call, sizeof(call));
    sort_step_moves(c, s, s->n, 2 * moved);
}

static const char *plan_counted(const job *j, plan *out)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const size_t group = group_fit(j->device, 0, param(j->params, "GROUP"));
    const size_t team = size_min(TEAM_LANES, group), teams = group / team;
    const size_t tile = LOADED * group;
    size_t keys = param(j->params, "KEYS");
    const char *why;

    if (sort_rows(s) > 1)
        return "it sorts one row";
    if (s->n > KEYS_MAX)
        return plan_unsupported(out, "it compares each key with all: at most %d of them, not %zu",
                                KEYS_MAX, s->n);
    if (!keys)
        keys = usual_keys(s->n, teams, size_max(j->device->compute_units, 1));
    if (keys > team)
        return plan_unsupported(out, "KEYS=%zu exceeds the %zu work-items of a team", keys, team);
    why = sort_unsupported_room(j, group,
                                tile * tsr_type_size(s->type) + teams * keys * sizeof(uint32_t),
                                j->device->local_memory, out);
    if (why)
        return why;
    plan_set(out, "KEYS", (uint32_t)keys);
    plan_set(out, "GROUP", (uint32_t)group);
    sort_define_keys(out, s);
    plan_define(out, "ARGSORT=%d", s->argsort);
    plan_define(out, "TEAM=%zu", team);
    plan_define(out, "TILE=%zu", tile);
    if (sort_is_done(s))
        return NULL;
    out->workspace =
        s->value_bytes ? (copy_offset(s) + s->n) * s->value_bytes : s->n * tsr_type_size(s->type);
    add_commands(j, teams * keys, group, out);
    return NULL;
}

const variant sort_counted = {
    .name = "counted",
    .idea = "few keys: each to its place, the number of keys before it, by comparing it with all",
    .unstated = "brings all keys to each group, by loads whose width their number decides",
    .source = "sort/sort_counted.cl",
    .entries = {"sort_counted_place", "sort_counted_return"},
    .build = "",
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables),
    .plan = plan_counted,
};
