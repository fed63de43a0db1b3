/**
 * Parts of a row keep their first keys: cl/topk/topk_tiles.cl and cl/topk/topk_cpu_heaps.cl.
 */
#include "base/sizes.h"
#include "ops/sort/sort_commands.h"
#include "ops/sort/sort_vector_block.h"
#include "ops/topk/topk_problem.h"

/* The entries of both, in the variants' order. */
enum { TOPK_PART, TOPK_GATHER, TOPK_PUT };

/* How the search is split: parts of what a row has, each of which leaves what it keeps. */
typedef struct layout {
    size_t first, part; /* keys of a part of the first launch, and of the others */
    size_t group;       /* work-items of a part */
    size_t stored;      /* bytes of what launches leave of a key for the next one */
    size_t keys, held;  /* of a work-item that sorts a tile; bytes of one.  0: no tile */
} layout;

/* ---- tiles: a work-group sorts a tile ----------------------------------------------------------
 */

enum {
    GROUP_MIN = 256,
    GROUP_MIN_ON_CPU = 16, /* which goes through the work-items of a group one by one */
    KEYS_ON_CPU = 8,
    KEYS_ON_GPU = 16, /* of 32, fewer work-items have registers at a time */
    TILE_MAX = 1 << SORT_TILE_SHIFT_MAX
};

static const tunable tile_tunables[] = {
    {"KEYS",
     "keys that a work-item holds: strides without an exchange against registers",
     {0, 4, 8, 16, 32},
     0,
     4,
     .cpu_most = 8},
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
    const tsr_topk_problem *t = topk_of(j->problem);
    const size_t most = group_limit(j->device, 0);
    const bool on_cpu = j->device->kind == DEVICE_CPU;
    tile_plan s = {.keys = param(j->params, "KEYS"), .group = param(j->params, "GROUP")};
    const bool given = s.group > 0;

    s.held = sort_held_bytes(&t->sort);
    if (!s.keys)
        s.keys = on_cpu ? KEYS_ON_CPU : KEYS_ON_GPU;
    if (!given)
        s.group = group_fit(j->device, 0, on_cpu ? GROUP_MIN_ON_CPU : GROUP_MIN);
    /* A tile leaves at most a fourth, where there is room for so large a one. */
    while (!given && s.group * s.keys / 4 < topk_kept(t) && 2 * s.group <= most &&
           2 * s.group * s.keys <= TILE_MAX &&
           2 * s.group * s.keys * s.held <= j->device->local_memory)
        s.group *= 2;
    s.tile = s.group * s.keys;
    return s;
}

/* ---- cpu-heaps: a work-item keeps a heap -------------------------------------------------------
 */

/* Work-items for each core, so that none waits long for another one. */
enum { CHUNKS_CORE = 4 };

/* A chunk keeps at most an eighth of its keys, unless it is the only one. */
enum { CHUNK_KEPT = 8 };

static const tunable cpu_tunables[] = {
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
     64,
     .host_only = true},
};

/* ---- workspace: the values that are kept, their index, and what two launches leave -------------
 */

enum { VALUE_ALIGNMENT = 16 };

/* Keys of a part of launch `level`. */
static size_t part_of(const layout *s, size_t level)
{
    return level ? s->part : s->first;
}

/* What launch `level` leaves of n keys of a row. */
static size_t left_of(const tsr_topk_problem *t, const layout *s, size_t level, size_t n)
{
    const size_t part = part_of(s, level), whole = (n - 1) / part;

    return whole * topk_kept(t) + size_min(n - whole * part, topk_kept(t));
}

typedef struct top_space {
    size_t index; /* bytes before it */
    size_t even;  /* bytes before what the first launch, the third and so on leave */
    size_t odd;   /* before what the others do */
    size_t in_all;
} top_space;

static top_space space_of(const tsr_topk_problem *t, const layout *s)
{
    const tsr_sort_problem *p = &t->sort;
    const size_t rows = sort_rows(p), kept = rows * topk_kept(t);
    const size_t first = p->n > s->first ? left_of(t, s, 0, p->n) : 0;
    const size_t second = first > s->part ? left_of(t, s, 1, first) : 0;
    top_space space = {.index = size_round_up(kept * p->value_bytes, VALUE_ALIGNMENT)};

    space.even = size_round_up(
        space.index + (p->value_bytes && !p->argsort ? kept * sizeof(int64_t) : 0), s->stored);
    space.odd = space.even + rows * first * s->stored;
    space.in_all = space.odd + rows * second * s->stored;
    return space;
}

/* ---- commands ----------------------------------------------------------------------------- */

/* Elements between the indices of two rows: the caller's array has them all. */
static size_t index_length(const tsr_topk_problem *t)
{
    return t->sort.argsort ? t->sort.n : topk_kept(t);
}

static size_t index_offset(const tsr_sort_problem *p, const top_space *space)
{
    return p->argsort ? p->offset_index : space->index / sizeof(int64_t);
}

/* The scalars of a launch: topk_call of cl/topk/topk_values.clh. */
typedef struct topk_call {
    uint64_t offset_keys, offset_index, offset_values;
    uint64_t length, index_length;
    uint64_t from, to;
    uint32_t n;
    uint32_t keep;
    uint32_t rows;
    uint32_t chunk;
    uint32_t first, last;
} topk_call;

_Static_assert(sizeof(topk_call) == 80, "as OpenCL C lays it out");

/* What launches have in common. */
static topk_call call_of(const tsr_topk_problem *t, const top_space *space)
{
    const tsr_sort_problem *p = &t->sort;

    return (topk_call){.offset_keys = p->offset_keys,
                       .offset_index = index_offset(p, space),
                       .offset_values = p->offset_values,
                       .length = p->n,
                       .index_length = index_length(t),
                       .keep = (uint32_t)topk_kept(t),
                       .rows = (uint32_t)sort_rows(p)};
}

/* What tiles ask for: each key is fetched once, each that is kept is left once, and at each turn
 * all go through local memory.  A stage beyond those in registers begins with a turn and takes one
 * more for each level below its first (tile_stage of cl/sort/sort_held_tile.clh); one ends it all.
 */
static void state_tiles(const layout *s, command *c)
{
    const size_t shift = size_log2_up(s->keys), tile = s->group * s->keys;
    const double tiles = (double)c->global[0] / (double)c->local[0];
    size_t turns = s->group > 1;

    for (size_t stage = shift + 1; stage <= size_log2_up(tile); stage++)
        turns += 1 + (stage - 1) / shift;
    c->traffic.requested = c->bytes;
    c->traffic.local = tiles * (double)turns * 2 * (double)tile * (double)s->held;
    c->traffic.barriers = (double)turns;
}

/* Launch `level`, on n keys of each row. */
static void add_level(const tsr_topk_problem *t, const layout *s, const top_space *space,
                      size_t level, size_t n, plan *out)
{
    const tsr_sort_problem *p = &t->sort;
    const size_t own = level % 2 ? space->odd : space->even, other = space->even + space->odd - own;
    const size_t part = part_of(s, level), read = level ? s->stored : tsr_type_size(p->type);
    const bool last = n <= part;
    topk_call call = call_of(t, space);
    command *c = sort_launch(out, p, TOPK_PART, size_div_up(n, part) * s->group, s->group);

    call.from = other / s->stored;
    call.to = own / s->stored;
    call.n = (uint32_t)n;
    call.chunk = (uint32_t)size_min(part, n);
    call.first = level == 0;
    call.last = last;
    sort_step_keys(c, p);
    if (space->in_all)
        command_workspace(c);
    else
        command_no_buffer(c); /* one launch, which leaves nothing for another */
    command_block(c, &call, sizeof(call));
    c->bytes = (double)sort_rows(p) *
               ((double)n * (double)read + (double)left_of(t, s, level, n) *
                                               (double)(last ? sort_element_bytes(p) : s->stored));
    if (s->keys)
        state_tiles(s, c);
}

/* Gather the values that are kept, or put them into their place. */
static void add_values(const job *j, const top_space *space, unsigned entry, plan *out)
{
    const tsr_topk_problem *t = topk_of(j->problem);
    const tsr_sort_problem *p = &t->sort;
    const bool gather = entry == TOPK_GATHER;
    const topk_call call = call_of(t, space);
    command *c = sort_launch(out, p, entry, topk_kept(t), sort_values_group(j));

    command_operand(c, 2);
    command_workspace(c);
    if (gather)
        sort_step_index(c, p);
    command_block(c, &call, sizeof(call));
    sort_step_moves(c, p, topk_kept(t), 2 * p->value_bytes + (gather ? sizeof(int64_t) : 0));
    c->traffic.requested = c->bytes;
}

/* Launches until one part of each row is left, and behind them the values. */
static void add_commands(const job *j, const layout *s, plan *out)
{
    const tsr_topk_problem *t = topk_of(j->problem);
    const tsr_sort_problem *p = &t->sort;
    top_space space;

    if (sort_is_done(p))
        return;
    space = space_of(t, s);
    out->workspace = space.in_all;
    for (size_t n = p->n, level = 0;; level++) {
        add_level(t, s, &space, level, n, out);
        if (n <= part_of(s, level))
            break;
        n = left_of(t, s, level, n);
    }
    if (p->value_bytes) {
        add_values(j, &space, TOPK_GATHER, out);
        add_values(j, &space, TOPK_PUT, out);
    }
}

/* ---- plans --------------------------------------------------------------------------------- */

static const char *plan_tiles(const job *j, plan *out)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const char *why = sort_unsupported_positions(p, out);
    tile_plan s;
    layout l;

    if (why || (why = sort_unsupported_packed(p)))
        return why;
    s = tile_of(j);
    if (s.tile > TILE_MAX)
        return plan_unsupported(out, "its tiles have at most %d keys, not %zu", TILE_MAX, s.tile);
    if ((why = sort_unsupported_room(j, s.group, s.tile * s.held, j->device->local_memory, out)))
        return why;
    if (p->n > s.tile && topk_kept(topk_of(j->problem)) > s.tile / 2)
        return plan_unsupported(out, "its tile of %zu keys can keep at most half of them, not %zu",
                                s.tile, topk_kept(topk_of(j->problem)));
    if ((why = sort_unsupported_groups(p, size_min(s.group, sort_values_group(j)), out)))
        return why;
    l = (layout){.first = s.tile,
                 .part = s.tile,
                 .group = s.group,
                 .stored = sort_with_index(p) ? 8 : tsr_type_size(p->type),
                 .keys = s.keys,
                 .held = s.held};
    plan_set(out, "KEYS", (uint32_t)s.keys);
    plan_set(out, "GROUP", (uint32_t)s.group);
    sort_define_keys(out, p);
    plan_define(out, "SHUFFLES=0");
    sort_define_tile(out, 1, "TEAM_NONE");
    add_commands(j, &l, out);
    return NULL;
}

static const char *plan_heaps(const job *j, plan *out)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t kept = topk_kept(topk_of(j->problem));
    const size_t element = tsr_type_size(p->type) + (sort_with_index(p) ? sizeof(uint32_t) : 0);
    const size_t items = size_max(j->device->compute_units, 1) * CHUNKS_CORE;
    const size_t least = size_max(param(j->params, "CHUNK"), CHUNK_KEPT * kept);
    /* A power of 2, since each heap is a program of its own. */
    const size_t heap = (size_t)1 << size_log2_up(kept);
    const layout l = {
        .first = size_max(size_div_up(p->n, size_div_up(items, sort_rows(p))), least),
        .part = least,
        .group = 1,
        .stored = 16, /* an element of cl/sort/sort_key.clh */
    };
    const char *why = sort_unsupported_positions(p, out);

    if (why)
        return why;
    if (heap > j->device->local_memory / element)
        return plan_unsupported(
            out, "it keeps %zu keys of %zu bytes in local memory, and the device has %zu bytes",
            heap, element, j->device->local_memory);
    if ((why = sort_unsupported_groups(p, size_min(l.first, sort_values_group(j)), out)))
        return why;
    plan_set(out, "BITS", (uint32_t)sort_vector_bits(j));
    sort_define_keys(out, p);
    plan_define(out, "LANES=%u", sort_vector_lanes(j, tsr_type_size(p->type)));
    plan_define(out, "HEAP=%zu", heap);
    add_commands(j, &l, out);
    return NULL;
}

const variant topk_tiles = {
    .name = "tiles",
    .alias = "top-tiles",
    .idea = "the first keys alone: each tile keeps as many, until one tile is left",
    .source = "topk/topk_tiles.cl",
    .entries = {"topk_tile", "topk_gather", "topk_put"},
    .build = "",
    .slow_unless_optimized = true,
    .tunables = tile_tunables,
    .tunable_count = ARRAY_COUNT(tile_tunables),
    .plan = plan_tiles,
};

const variant topk_cpu_heaps = {
    .name = "cpu-heaps",
    .alias = "cpu-top item-top",
    .idea = "for CPUs: each work-item keeps the first keys of a chunk in a heap, alone",
    .unstated = "changes its heaps as often as the keys make it",
    .source = "topk/topk_cpu_heaps.cl",
    .entries = {"topk_cpu_heaps_chunk", "topk_gather", "topk_put"},
    .build = "",
    .tunables = cpu_tunables,
    .tunable_count = ARRAY_COUNT(cpu_tunables),
    .plan = plan_heaps,
};
