/**
 * Merge sort by merge paths: cl/sort/sort_merge_path.cl.
 */
#include "base/sizes.h"
#include "ops/sort/sort_commands.h"
#include "ops/sort/sort_variants.h"

/* Entries of cl/sort/sort_merge_path.cl, in the variant's order. */
enum { MERGE_TILES, MERGE_RUNS, MERGE_LAST };

static const tunable tunables[] = {
    {"GROUP",
     "work-items in a work-group: more make longer runs at once, and leave fewer groups",
     {4, 64, 128, 256, 512},
     256,
     4},
    {"ITEMS",
     "keys of a work-item: more save launches and hold more registers; an odd number spreads "
     "work-items over the banks of local memory; 0: as many as are faster for so many keys",
     {0, 1, 3, 7, 11},
     0,
     3},
};

/* The scalars of a launch: merge_call of cl/sort/sort_merge_path.cl. */
typedef struct merge_call {
    uint64_t offset_keys, offset_index, offset_values;
    uint64_t orders_from, orders_to;
    uint64_t positions_from, positions_to;
    uint64_t copy;
    uint32_t n, run;
} merge_call;

_Static_assert(sizeof(merge_call) == 72, "as OpenCL C lays it out");

/* Where the parts of the workspace start, each in its own elements, and what they take. */
typedef struct merge_space {
    size_t orders[2], positions[2], copy, bytes;
} merge_space;

static merge_space space_of(const tsr_sort_problem *s)
{
    const size_t key = tsr_type_size(s->type);
    merge_space w = {.orders = {0, s->n}, .bytes = 2 * s->n * key};

    if (sort_with_index(s)) {
        w.positions[0] = size_div_up(w.bytes, sizeof(uint32_t));
        w.positions[1] = w.positions[0] + s->n;
        w.bytes = (w.positions[1] + s->n) * sizeof(uint32_t);
    }
    if (s->value_bytes) {
        w.copy = size_div_up(w.bytes, s->value_bytes);
        w.bytes = (w.copy + s->n) * s->value_bytes;
    }
    return w;
}

/* Bytes of a key and its position in the workspace. */
static size_t held_bytes(const tsr_sort_problem *s)
{
    return tsr_type_size(s->type) + (sort_with_index(s) ? sizeof(uint32_t) : 0);
}

static void add_commands(const tsr_sort_problem *s, size_t group, size_t tile, plan *out)
{
    const merge_space w = space_of(s);
    const size_t items = size_div_up(s->n, tile) * group, held = held_bytes(s);
    merge_call call = {.offset_keys = s->offset_keys,
                       .offset_index = sort_index_offset(s),
                       .offset_values = s->offset_values,
                       .orders_to = w.orders[0],
                       .positions_to = w.positions[0],
                       .copy = w.copy,
                       .n = (uint32_t)s->n,
                       .run = (uint32_t)tile};
    command *c = plan_launch_1d(out, MERGE_TILES, items, group);
    bool last;

    command_operand(c, SORT_KEYS);
    sort_step_values(c, s);
    command_workspace(c);
    command_workspace(c);
    command_workspace(c);
    command_block(c, &call, sizeof(call));
    sort_step_moves(c, s, s->n, tsr_type_size(s->type) + held + 2 * s->value_bytes);
    do {
        const unsigned to = call.orders_to == w.orders[0];

        last = 2 * (size_t)call.run >= s->n;
        call.orders_from = call.orders_to;
        call.positions_from = call.positions_to;
        call.orders_to = w.orders[to];
        call.positions_to = w.positions[to];
        c = plan_launch_1d(out, last ? MERGE_LAST : MERGE_RUNS, items, group);
        if (last) {
            command_operand(c, SORT_KEYS);
            sort_step_result_index(c, s);
            sort_step_values(c, s);
        }
        command_workspace(c);
        command_workspace(c);
        if (last)
            command_workspace(c);
        command_block(c, &call, sizeof(call));
        sort_step_moves(c, s, s->n, held + (last ? sort_entry_bytes(s) + s->value_bytes : held));
        call.run *= 2;
    } while (!last);
}

/* Where more keys of a work-item save a launch, that is faster from so many keys on. */
enum { ITEMS_FEW = 7, ITEMS_MANY = 11, MANY_FROM = 1 << 19 };

static size_t usual_items(size_t n, size_t group)
{
    const size_t few = size_log2_up(size_div_up(n, group * ITEMS_FEW));
    const size_t many = size_log2_up(size_div_up(n, group * ITEMS_MANY));

    return n >= MANY_FROM && many < few ? ITEMS_MANY : ITEMS_FEW;
}

static const char *plan_merge_path(const job *j, plan *out)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const size_t group = group_fit(j->device, 0, param(j->params, "GROUP"));
    const size_t given = param(j->params, "ITEMS");
    const size_t items = given ? given : usual_items(s->n, group), tile = group * items;
    const char *why;

    if (sort_rows(s) > 1)
        return "it sorts one row";
    if (group < 2)
        return "two work-items of a group look for the ends of its tile";
    if ((why = sort_unsupported_positions(s, out)) ||
        (why = sort_unsupported_room(j, group, tile * held_bytes(s) + 4 * sizeof(uint32_t),
                                     j->device->local_memory, out)))
        return why;
    plan_set(out, "GROUP", (uint32_t)group);
    plan_set(out, "ITEMS", (uint32_t)items);
    sort_define_keys(out, s);
    plan_define(out, "ARGSORT=%d", s->argsort);
    if (sort_is_done(s))
        return NULL;
    out->workspace = space_of(s).bytes;
    add_commands(s, group, tile, out);
    return NULL;
}

const variant sort_merge_path = {
    .name = "merge-path",
    .idea = "runs merged in pairs, a launch for each doubling: work-items find their parts by the "
            "merge path",
    .unstated = "searches for the parts of a merge, and the keys decide how often",
    .source = "sort/sort_merge_path.cl",
    .entries = {"sort_merge_tiles", "sort_merge_runs", "sort_merge_last"},
    .build = "",
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables),
    .plan = plan_merge_path,
};
