#include "ops/sort/sort_top.h"

#include "ops/sort/sort_fused.h"
#include "ops/sort/sort_order.h"
#include "ops/sort/sort_steps.h"
#include "ops/sort/sort_vector_block.h"

/* How the search is split: parts of what a row has, each of which leaves what it keeps. */
typedef struct top_plan {
    size_t first, part;    /* keys of a part of the first launch, and of the others */
    bool part_is_argument; /* of the kernel */
    size_t group;          /* work-items of a part */
    size_t stored;         /* bytes of what launches leave of a key for the next one */
} top_plan;

/* ---- top-tiles: a work-group sorts a tile ------------------------------------------------------
 */

enum {
    GROUP_MIN = 256,
    GROUP_LEAST_ON_CPU = 16, /* which goes through the work-items of a group one by one */
    KEYS_ON_CPU = 8,
    KEYS_ON_GPU = 16,  /* of 32, fewer work-items have registers at a time */
    TILE_MAX = 1 << 15 /* as cl/sort/sort_held_tile.clh has it */
};

const tunable sort_top_tunables[TOP_TUNABLES] = {
    {"KEYS",
     "keys that a work-item holds: strides without a hand-over against registers",
     {0, 4, 8, 16, 32},
     0,
     4},
    {"GROUP",
     "work-items that sort a tile: of a larger one fewer keys are left, and sorting takes longer",
     {0, 8, 64, 128, 256, 512, 1024},
     0,
     8},
    {"LAYOUT", "keys in local memory: 1 plainly, 2 swizzled against bank conflicts", {1, 2}, 2},
};

/* A tile, and its keys of a work-item. */
typedef struct tile_plan {
    size_t keys, group, tile;
    size_t held; /* bytes of a held key: cl/sort/sort_held.clh */
} tile_plan;

static tile_plan tile_of(const job *j)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t most = group_limit(j->device, 0);
    const bool on_cpu = j->device->kind == DEVICE_CPU;
    tile_plan s = {.keys = param(j->params, "KEYS"), .group = param(j->params, "GROUP")};
    const bool settled = s.group > 0;

    s.held = sort_held_bytes(p);
    if (!s.keys)
        s.keys = on_cpu ? KEYS_ON_CPU : KEYS_ON_GPU;
    if (!settled)
        s.group = group_fit(j->device, 0, on_cpu ? GROUP_LEAST_ON_CPU : GROUP_MIN);
    /* A tile leaves at most a fourth, where there is room for so large a one. */
    while (!settled && s.group * s.keys / 4 < sort_top(p) && 2 * s.group <= most &&
           2 * s.group * s.keys <= TILE_MAX &&
           2 * s.group * s.keys * s.held <= j->device->local_memory)
        s.group *= 2;
    s.tile = s.group * s.keys;
    return s;
}

static top_plan plan_of_tiles(const job *j)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const tile_plan s = tile_of(j);

    return (top_plan){.first = s.tile,
                      .part = s.tile,
                      .group = s.group,
                      .stored = sort_with_index(p) ? 8 : tsr_type_size(p->type)};
}

void sort_top_defines(const job *j, text *out)
{
    const tile_plan s = tile_of(j);

    sort_key_defines(j, out);
    if (!param(j->params, "KEYS"))
        text_format(out, " -DKEYS=%zu", s.keys);
    if (!param(j->params, "GROUP"))
        text_format(out, " -DGROUP=%zu", s.group);
    text_format(out, " -DSHUFFLES=0 -DTEAM=1 -DTEAM_MEANS=TEAM_NONE");
}

/* Why none of these variants takes the problem. */
static const char *top_unsupported(const tsr_sort_problem *p, text *reason)
{
    if (!p->top)
        return "it finds the first keys alone, and all are wanted";
    return sort_positions_unsupported(p, reason);
}

/* Why the device has no room for a tile, or the tile none for what is kept. */
static const char *tile_unsupported(const job *j, const tile_plan *s, text *reason)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t limit = group_limit(j->device, 0), local = s->tile * s->held;

    if (s->tile > TILE_MAX)
        text_format(reason, "its tiles have at most %d keys, not %zu", TILE_MAX, s->tile);
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

const char *sort_top_unsupported(const job *j, text *reason)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const char *why = top_unsupported(p, reason);
    tile_plan s;

    if (why)
        return why;
    if (!sort_fused_takes(p))
        return "it packs a key and its index in 64 bits, and the key alone has as many";
    s = tile_of(j);
    if (tile_unsupported(j, &s, reason))
        return text_get(reason);
    return sort_groups_unsupported(p, size_min(s.group, group_fit(j->device, 0, SORT_VALUES_GROUP)),
                                   reason);
}

/* ---- cpu-top: a work-item keeps a heap --------------------------------------------------------
 */

/* Work-items for each core, so that none waits long for another one. */
enum { CHUNKS_CORE = 4 };

/* A chunk keeps at most an eighth of its keys, unless it is the only one. */
enum { CHUNK_KEPT = 8 };

const tunable sort_cpu_top_tunables[ITEM_TOP_TUNABLES] = {
    {"BITS", "width of a vector; 0: as wide as the device's", {0, 128, 256, 512}, 0, 128},
    {"VECTORS",
     "vectors that are compared at once: fewer comparisons, and more keys to look at after one "
     "that hits",
     {1, 2, 4, 8, 16},
     8,
     2},
    {"STRIP",
     "bytes of keys that are read in their order: more is faster to read, less is closer to random",
     {256, 4096, 16384, 65536},
     16384,
     256},
    {"CHUNK",
     "keys of a work-item, at least: more leave fewer keys for the next launch, and fewer "
     "work-items for the cores",
     {64, 4096, 16384, 65536},
     16384,
     64},
};

static top_plan plan_of_chunks(const job *j)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t items = size_max(j->device->compute_units, 1) * CHUNKS_CORE;
    const size_t least = size_max(param(j->params, "CHUNK"), CHUNK_KEPT * sort_top(p));

    return (top_plan){
        .first = size_max(size_div_up(p->n, size_div_up(items, sort_rows(p))), least),
        .part = least,
        .part_is_argument = true,
        .group = 1,
        .stored = 16, /* an element of cl/sort/sort_key.clh */
    };
}

/* Keys of a heap: a power of 2, since each is a program of its own. */
static size_t heap_of(const job *j)
{
    return (size_t)1 << size_log2_up(sort_top(sort_of(j->problem)));
}

void sort_cpu_top_defines(const job *j, text *out)
{
    sort_key_defines(j, out);
    text_format(out, " -DLANES=%u -DHEAP=%zu",
                sort_vector_lanes(j, tsr_type_size(sort_of(j->problem)->type)), heap_of(j));
}

const char *sort_cpu_top_unsupported(const job *j, text *reason)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t element = tsr_type_size(p->type) + (sort_with_index(p) ? sizeof(uint32_t) : 0);
    const char *why = top_unsupported(p, reason);

    if (why)
        return why;
    if (heap_of(j) > j->device->local_memory / element) {
        text_format(reason,
                    "it keeps %zu keys of %zu bytes in local memory, and the device has %zu bytes",
                    heap_of(j), element, j->device->local_memory);
        return text_get(reason);
    }
    return sort_groups_unsupported(
        p, size_min(plan_of_chunks(j).first, group_fit(j->device, 0, SORT_VALUES_GROUP)), reason);
}

/* ---- workspace: the values that are kept, their index, and what two launches leave -------------
 */

enum { VALUE_ALIGNMENT = 16 };

/* Keys of a part of launch `level`. */
static size_t part_of(const top_plan *s, size_t level)
{
    return level ? s->part : s->first;
}

/* What launch `level` leaves of n keys of a row. */
static size_t left_of(const tsr_sort_problem *p, const top_plan *s, size_t level, size_t n)
{
    const size_t part = part_of(s, level), whole = (n - 1) / part;

    return whole * sort_top(p) + size_min(n - whole * part, sort_top(p));
}

typedef struct top_space {
    size_t index; /* bytes before it */
    size_t even;  /* bytes before what the first launch, the third and so on leave */
    size_t odd;   /* before what the others do */
    size_t in_all;
} top_space;

static top_space space_of(const job *j, const top_plan *s)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t rows = sort_rows(p), kept = rows * sort_top(p);
    const size_t first = p->n > s->first ? left_of(p, s, 0, p->n) : 0;
    const size_t second = first > s->part ? left_of(p, s, 1, first) : 0;
    top_space space = {.index = size_round_up(kept * p->value_bytes, VALUE_ALIGNMENT)};

    space.even = size_round_up(
        space.index + (p->value_bytes && !p->argsort ? kept * sizeof(int64_t) : 0), s->stored);
    space.odd = space.even + rows * first * s->stored;
    space.in_all = space.odd + rows * second * s->stored;
    return space;
}

static size_t workspace_of(const job *j, top_plan s)
{
    return sort_is_done(sort_of(j->problem)) ? 0 : space_of(j, &s).in_all;
}

/* ---- launches ----------------------------------------------------------------------------------
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
static void launch_level(const job *j, const top_plan *s, size_t level, size_t n, command *out)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const top_space space = space_of(j, s);
    const size_t own = level % 2 ? space.odd : space.even, other = space.even + space.odd - own;
    const size_t part = part_of(s, level), read = level ? s->stored : tsr_type_size(p->type);
    const bool last = n <= part;

    sort_launch_rows(p, TOP_PART, size_div_up(n, part) * s->group, s->group, out);
    command_operand(out, 0);
    sort_step_index(out, p);
    if (space.in_all)
        command_workspace(out);
    else
        command_operand(out, 0); /* one launch, which leaves nothing for another */
    command_u64(out, p->offset_keys);
    command_u64(out, index_offset(p, &space));
    command_u64(out, p->n);
    command_u64(out, index_length(p));
    command_u64(out, other / s->stored);
    command_u64(out, own / s->stored);
    command_u32(out, (uint32_t)n);
    command_u32(out, (uint32_t)sort_top(p));
    command_u32(out, (uint32_t)sort_rows(p));
    command_u32(out, level == 0);
    command_u32(out, last);
    if (s->part_is_argument)
        command_u32(out, (uint32_t)size_min(part, n));
    out->bytes = (double)sort_rows(p) * ((double)n * (double)read +
                                         (double)left_of(p, s, level, n) *
                                             (double)(last ? sort_element_bytes(p) : s->stored));
}

static void launch_values(const job *j, const top_plan *s, unsigned entry, command *out)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const top_space space = space_of(j, s);

    sort_launch_rows(p, entry, sort_top(p), group_fit(j->device, 0, SORT_VALUES_GROUP), out);
    command_operand(out, 2);
    command_workspace(out);
    if (entry == TOP_GATHER)
        sort_step_index(out, p);
    command_u64(out, p->offset_values);
    if (entry == TOP_GATHER)
        command_u64(out, index_offset(p, &space));
    command_u64(out, p->n);
    if (entry == TOP_GATHER)
        command_u64(out, index_length(p));
    command_u32(out, (uint32_t)sort_top(p));
    command_u32(out, (uint32_t)sort_rows(p));
    sort_step_moves(out, p, sort_top(p),
                    2 * p->value_bytes + (entry == TOP_GATHER ? sizeof(int64_t) : 0));
}

static bool step_of(const job *j, top_plan s, size_t i, command *out)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    size_t n = p->n, level = 0;

    if (sort_is_done(p))
        return false;
    for (; level < i && n > part_of(&s, level); level++)
        n = left_of(p, &s, level, n);
    i -= level;
    if (i == 0)
        launch_level(j, &s, level, n, out);
    else if (i <= 2 && p->value_bytes)
        launch_values(j, &s, i == 1 ? TOP_GATHER : TOP_PUT, out);
    else
        return false;
    return true;
}

/* ---- the variants ------------------------------------------------------------------------------
 */

size_t sort_top_workspace(const job *j)
{
    return workspace_of(j, plan_of_tiles(j));
}

bool sort_top_step(const job *j, size_t i, command *out)
{
    return step_of(j, plan_of_tiles(j), i, out);
}

size_t sort_cpu_top_workspace(const job *j)
{
    return workspace_of(j, plan_of_chunks(j));
}

bool sort_cpu_top_step(const job *j, size_t i, command *out)
{
    return step_of(j, plan_of_chunks(j), i, out);
}
