#include "ops/sort_top.h"

#include "ops/sort_fused.h"
#include "ops/sort_steps.h"

enum {
    GROUP_LEAST = 256,
    GROUP_LEAST_ON_CPU = 16, /* which goes through the work-items of a group one by one */
    KEYS_ON_CPU = 8,
    KEYS_ON_GPU = 16,    /* of 32, fewer work-items have registers at a time */
    TILE_MOST = 1 << 15, /* as cl/sort_held_tile.clh has it */
    VALUE_ALIGNMENT = 16
};

const tunable sort_top_tunables[TOP_TUNABLES] = {
    {"KEYS",
     "keys that a work-item holds: strides without a hand-over against registers",
     {0, 4, 8, 16, 32},
     0},
    {"GROUP",
     "work-items that sort a tile: of a larger one fewer keys are left, and sorting takes longer",
     {0, 8, 64, 128, 256, 512, 1024},
     0},
    {"LAYOUT", "keys in local memory: 1 plainly, 2 swizzled against bank conflicts", {1, 2}, 2},
};

typedef struct top_plan {
    size_t keys, group, tile;
    size_t held;   /* bytes of a held key: cl/sort_held.clh */
    size_t stored; /* bytes of what launches leave of it for the next one */
} top_plan;

static top_plan plan_of(const job *j)
{
    const tsr_sort_problem *p = &j->problem->sort;
    const size_t key = tsr_type_size(p->type), most = group_limit(j->device, 0);
    const bool on_cpu = j->device->kind == DEVICE_CPU;
    top_plan s = {.keys = param(j->params, "KEYS"), .group = param(j->params, "GROUP")};
    const bool settled = s.group > 0;

    s.held = sort_held_bytes(p);
    s.stored = sort_with_index(p) ? 8 : key;
    if (!s.keys)
        s.keys = on_cpu ? KEYS_ON_CPU : KEYS_ON_GPU;
    if (!settled)
        s.group = group_fit(j->device, 0, on_cpu ? GROUP_LEAST_ON_CPU : GROUP_LEAST);
    /* A tile leaves at most a fourth, where there is room for so large a one. */
    while (!settled && s.group * s.keys / 4 < sort_top(p) && 2 * s.group <= most &&
           2 * s.group * s.keys <= TILE_MOST &&
           2 * s.group * s.keys * s.held <= j->device->local_memory)
        s.group *= 2;
    s.tile = s.group * s.keys;
    return s;
}

void sort_top_defines(const job *j, text *out)
{
    const top_plan s = plan_of(j);

    sort_key_defines(j, out);
    if (!param(j->params, "KEYS"))
        text_format(out, " -DKEYS=%zu", s.keys);
    if (!param(j->params, "GROUP"))
        text_format(out, " -DGROUP=%zu", s.group);
    text_format(out, " -DSHUFFLES=0 -DTEAM=1 -DTEAM_MEANS=TEAM_NONE");
}

/* Why the device has no room for the plan, or the tile none for what is kept. */
static const char *plan_unsuited(const job *j, const top_plan *s, text *reason)
{
    const tsr_sort_problem *p = &j->problem->sort;
    const size_t limit = group_limit(j->device, 0), local = s->tile * s->held;

    if (s->tile > TILE_MOST)
        text_format(reason, "its tiles have at most %d keys, not %zu", TILE_MOST, s->tile);
    else if (s->group > limit)
        text_format(reason, "it needs work-groups of %zu, and the device has at most %zu", s->group,
                    limit);
    else if (local > j->device->local_memory)
        text_format(reason, "it needs %zu bytes of local memory, and the device has %zu", local,
                    j->device->local_memory);
    else if (p->n > s->tile && sort_top(p) > s->tile / 2)
        text_format(reason, "a tile of %zu keys keeps at most half of them, not %zu", s->tile,
                    sort_top(p));
    else
        return NULL;
    return text_get(reason);
}

const char *sort_top_unsuited(const job *j, text *reason)
{
    const tsr_sort_problem *p = &j->problem->sort;
    top_plan s;

    if (!p->top)
        return "it finds the first keys alone, and all are wanted";
    if (p->n > SORT_POSITIONS_32) {
        text_format(reason, "it indexes in 32 bits: at most %zu keys, not %zu", SORT_POSITIONS_32,
                    p->n);
        return text_get(reason);
    }
    if (!sort_fused_takes(p))
        return "it packs a key and its index in 64 bits, and the key alone has as many";
    s = plan_of(j);
    if (plan_unsuited(j, &s, reason))
        return text_get(reason);
    return sort_groups_unsuited(p, size_min(s.group, group_fit(j->device, 0, SORT_VALUES_GROUP)),
                                reason);
}

/* ---- workspace: the values that are kept, their index, and what two launches leave -------------
 */

/* What the tiles of a row leave of n keys. */
static size_t left_of(const tsr_sort_problem *p, const top_plan *s, size_t n)
{
    const size_t whole = (n - 1) / s->tile;

    return whole * sort_top(p) + size_min(n - whole * s->tile, sort_top(p));
}

typedef struct top_space {
    size_t index; /* bytes before it */
    size_t even;  /* bytes before what the first launch, the third and so on leave */
    size_t odd;   /* before what the others do */
    size_t in_all;
} top_space;

static top_space space_of(const job *j, const top_plan *s)
{
    const tsr_sort_problem *p = &j->problem->sort;
    const size_t rows = sort_rows(p), kept = rows * sort_top(p);
    const size_t first = p->n > s->tile ? left_of(p, s, p->n) : 0;
    const size_t second = first > s->tile ? left_of(p, s, first) : 0;
    top_space space = {.index = size_round_up(kept * p->value_bytes, VALUE_ALIGNMENT)};

    space.even = space.index + (p->value_bytes && !p->argsort ? kept * sizeof(int64_t) : 0);
    space.odd = space.even + rows * first * s->stored;
    space.in_all = space.odd + rows * second * s->stored;
    return space;
}

size_t sort_top_workspace(const job *j)
{
    const top_plan s = plan_of(j);

    return sort_is_done(&j->problem->sort) ? 0 : space_of(j, &s).in_all;
}

/* ---- its launches ------------------------------------------------------------------------------
 */

/* Elements between the indices of two rows: the caller's array has them all. */
static size_t index_length(const tsr_sort_problem *p)
{
    return p->argsort ? p->n : sort_top(p);
}

static size_t index_offset(const tsr_sort_problem *p, const top_space *space)
{
    return p->argsort ? p->offset_index : space->index / sizeof(int64_t);
}

/* Launch `level`, on n keys of each row. */
static void launch_level(const job *j, const top_plan *s, size_t level, size_t n, step *out)
{
    const tsr_sort_problem *p = &j->problem->sort;
    const top_space space = space_of(j, s);
    const size_t own = level % 2 ? space.odd : space.even, other = space.even + space.odd - own;
    const bool last = n <= s->tile;
    const size_t read = level ? s->stored : tsr_type_size(p->type);

    sort_launch_rows(p, TOP_TILE, size_div_up(n, s->tile) * s->group, s->group, out);
    step_operand(out, 0);
    sort_step_index(out, p);
    if (space.in_all)
        step_workspace(out);
    else
        step_operand(out, 0); /* one launch, which leaves nothing for another */
    step_u64(out, p->offset_keys);
    step_u64(out, index_offset(p, &space));
    step_u64(out, p->n);
    step_u64(out, index_length(p));
    step_u64(out, other / s->stored);
    step_u64(out, own / s->stored);
    step_u32(out, (uint32_t)n);
    step_u32(out, (uint32_t)sort_top(p));
    step_u32(out, (uint32_t)sort_rows(p));
    step_u32(out, level == 0);
    step_u32(out, last);
    out->bytes = (double)sort_rows(p) *
                 ((double)n * (double)read +
                  (double)left_of(p, s, n) * (double)(last ? sort_element_bytes(p) : s->stored));
}

static void launch_values(const job *j, const top_plan *s, unsigned entry, step *out)
{
    const tsr_sort_problem *p = &j->problem->sort;
    const top_space space = space_of(j, s);

    sort_launch_rows(p, entry, sort_top(p), group_fit(j->device, 0, SORT_VALUES_GROUP), out);
    step_operand(out, 2);
    step_workspace(out);
    if (entry == TOP_GATHER)
        sort_step_index(out, p);
    step_u64(out, p->offset_values);
    if (entry == TOP_GATHER)
        step_u64(out, index_offset(p, &space));
    step_u64(out, p->n);
    if (entry == TOP_GATHER)
        step_u64(out, index_length(p));
    step_u32(out, (uint32_t)sort_top(p));
    step_u32(out, (uint32_t)sort_rows(p));
    sort_step_moves(out, p, sort_top(p),
                    2 * p->value_bytes + (entry == TOP_GATHER ? sizeof(int64_t) : 0));
}

bool sort_top_step(const job *j, size_t i, step *out)
{
    const tsr_sort_problem *p = &j->problem->sort;
    const top_plan s = plan_of(j);
    size_t n = p->n, level = 0;

    if (sort_is_done(p))
        return false;
    for (; level < i && n > s.tile; level++)
        n = left_of(p, &s, n);
    i -= level;
    if (i == 0)
        launch_level(j, &s, level, n, out);
    else if (i <= 2 && p->value_bytes)
        launch_values(j, &s, i == 1 ? TOP_GATHER : TOP_PUT, out);
    else
        return false;
    return true;
}
