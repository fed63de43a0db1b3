/**
 * Segments of like length side by side in a tile: cl/segsort/segsort_tiles.cl, and with keys in
 * registers cl/segsort/segsort_registers.cl.
 */
#include "ops/segsort/segsort_problem.h"
#include "ops/sort/sort_commands.h"

/* Entries of both, in the variants' order. */
enum { SEGMENTS_SHORT, SEGMENTS_TILE, SEGMENTS_EXCHANGE, SEGMENTS_MERGE, SEGMENTS_KEEP };

enum {
    TILE_MIN = 1024,
    TILE_MAX = 1 << SORT_TILE_SHIFT_MAX,
    BATCH_MAX = 256,     /* segments that a work-group lists at most */
    TILE_FOR_FEW = 4096, /* a larger one, for the longest alone, leaves the others less room */
    FEW_MEANS = 4,       /* what is longer than so many mean lengths is taken for rare */
    BATCH_TILES = 4,     /* of keys, at least, for a work-group */
    /* Local memory of a batch_list, a start and a length for each, and of what stands beside it. */
    BATCH_BYTES = BATCH_MAX * (8 + 4) + 248,
    GROUP_ON_CPU = 16,  /* which goes through the work-items of a group one by one */
    GROUP_ON_GPU = 256, /* with pairs in local memory, */
    GROUP_HELD_ON_CPU = 8,
    GROUP_HELD = 128, /* and with keys in registers, at least */
    KEYS_MIN = 4,     /* in registers; and at most, by their bytes: */
    KEYS_BYTES = 128,
    SECTOR = 32, /* bytes that neighbours read of a segment at least, if it has as many */
    WARP = 32,
    /* That take the tiles of long segments in turn: more than run at once. */
    GROUPS_OF_TILES = 1 << 12
};

static const tunable pairs_tunables[] = {
    {"GROUP",
     "work-items in a work-group: more hide latency, fewer leave room for other groups",
     {0, 16, 64, 128, 256, 512},
     0,
     16},
    {"TILE",
     "positions of a tile: longer segments without passes over memory, against local memory",
     {0, 64, 256, 1024, 2048, 4096, 8192, 16384, 32768},
     0,
     64},
};

static const tunable registers_tunables[] = {
    {"KEYS",
     "keys that a work-item holds, and of the smallest block: strides without an exchange against "
     "registers and short segments",
     {0, 4, 8, 16, 32},
     0,
     4,
     .cpu_most = 4},
    {"GROUP",
     "work-items in a work-group: with KEYS they make a tile, which longer segments need",
     {0, 8, 32, 64, 128, 256, 512, 1024},
     0,
     8,
     .cpu_most = 8},
    {"LAYOUT", "keys in local memory: 1 plainly, 2 swizzled against bank conflicts", {1, 2}, 2},
};

typedef struct layout {
    size_t group, tile;
    size_t keys;                     /* that a work-item holds; 0: pairs in local memory */
    size_t local_bytes, local_limit; /* of local memory */
    size_t batch;                    /* segments of a work-group */
    uint32_t tile_shift;             /* 2^tile_shift positions of a tile */
    uint32_t top_shift;              /* 2^top_shift holds any segment */
    bool has_long;                   /* a segment may be longer than a tile */
    bool noted;                      /* the longest segment is looked for on the device, and kept in
                                        the workspace behind what values need */
} layout;

static size_t mean_length(const tsr_segsort_problem *s)
{
    return size_max(segsort_mean(s), 1);
}

/* Keys that a tile is to hold: the longest segment, unless there are few as long. */
static size_t length_wanted(const tsr_segsort_problem *s)
{
    const size_t usual = size_max(FEW_MEANS * mean_length(s), TILE_FOR_FEW);

    return size_min(segsort_longest(s), usual);
}

/* What follows from the tile. */
static layout finish(const job *j, layout l)
{
    const tsr_segsort_problem *s = segsort_of(j->problem);

    l.batch = size_min(size_max(BATCH_TILES * l.tile / mean_length(s), 1), BATCH_MAX);
    l.tile_shift = size_log2_up(l.tile);
    l.top_shift = size_log2_up(segsort_longest(s));
    l.has_long = l.top_shift > l.tile_shift;
    l.noted = l.has_long && !s->segment_longest;
    return l;
}

/* Local memory of pairs and of the list of segments. */
static size_t pairs_bytes(const tsr_segsort_problem *s, size_t tile)
{
    return sort_pairs_bytes(&s->sort, tile) + BATCH_BYTES;
}

static layout lay_out_pairs(const job *j)
{
    const tsr_segsort_problem *s = segsort_of(j->problem);
    const bool on_cpu = j->device->kind == DEVICE_CPU;
    layout l = {.group = param(j->params, "GROUP"),
                .tile = param(j->params, "TILE"),
                .local_limit = j->device->local_memory};

    if (!l.group)
        l.group = group_fit(j->device, 0, on_cpu ? GROUP_ON_CPU : GROUP_ON_GPU);
    if (!l.tile)
        for (l.tile = TILE_MIN; l.tile < length_wanted(s) && l.tile < TILE_MAX &&
                                pairs_bytes(s, 2 * l.tile) <= l.local_limit;)
            l.tile *= 2;
    l.local_bytes = pairs_bytes(s, l.tile);
    return finish(j, l);
}

/* Keys for a work-item: neighbours read side by side what is not short. */
static size_t usual_keys(const tsr_segsort_problem *s)
{
    const size_t held = sort_held_bytes(&s->sort);
    const size_t length = size_min(segsort_longest(s), 2 * mean_length(s));
    const size_t side_by_side = ((size_t)1 << size_log2_up(length)) / (SECTOR / held);

    return size_min(size_max(side_by_side, KEYS_MIN), KEYS_BYTES / held);
}

static layout lay_out_registers(const job *j, bool warp)
{
    const tsr_segsort_problem *s = segsort_of(j->problem);
    const size_t held = sort_held_bytes(&s->sort), most = group_limit(j->device, 0);
    const bool on_cpu = j->device->kind == DEVICE_CPU;
    layout l = {.group = param(j->params, "GROUP"),
                .keys = param(j->params, "KEYS"),
                .local_limit = j->device->local_memory};

    /* What is beyond the reported limit was probed for the variant that needs it alone. */
    if (warp)
        l.local_limit = size_max(l.local_limit, j->device->large_local);
    /* A CPU's compiler takes minutes over more, for every length anew. */
    if (!l.keys)
        l.keys = on_cpu ? KEYS_MIN : usual_keys(s);
    if (!l.group && on_cpu)
        l.group = group_fit(j->device, 0, GROUP_HELD_ON_CPU);
    if (!l.group)
        for (l.group = group_fit(j->device, 0, GROUP_HELD);
             l.group * l.keys < length_wanted(s) && 2 * l.group <= most &&
             2 * l.group * l.keys <= TILE_MAX &&
             2 * l.group * l.keys * held + BATCH_BYTES <= l.local_limit;)
            l.group *= 2;
    l.tile = l.group * l.keys;
    l.local_bytes = l.tile * held + BATCH_BYTES;
    return finish(j, l);
}

const char *segsort_unsupported(const tsr_segsort_problem *s, plan *out)
{
    if (segsort_longest(s) <= SORT_POSITIONS_32)
        return NULL;
    return plan_unsupported(out, "it indexes in 32 bits: segments of at most %zu keys, not %zu",
                            SORT_POSITIONS_32, segsort_longest(s));
}

/* ---- commands ----------------------------------------------------------------------------- */

segsort_call segsort_call_of(const tsr_segsort_problem *s)
{
    return (segsort_call){.offset_keys = s->sort.offset_keys,
                          .offset_index = s->sort.argsort ? s->sort.offset_index : 0,
                          .offset_segments = s->offset_segments,
                          .n = s->sort.n,
                          .segments = s->segments};
}

void segsort_fill_longest(const segsort_call *call, plan *out)
{
    plan_fill(out, ARG_WORKSPACE, 0, call->offset_longest * sizeof(uint32_t), sizeof(uint32_t), 0);
}

void segsort_arguments(command *c, const segsort_call *call)
{
    command_operand(c, SEGSORT_OFFSETS);
    if (call->noted)
        command_workspace(c);
    else
        command_no_buffer(c);
    command_block(c, call, sizeof(*call));
}

void segsort_move_values(const job *j, unsigned keep, plan *out)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const size_t local = sort_values_group(j);
    segsort_call call = segsort_call_of(segsort_of(j->problem));
    command *c;

    if (!s->value_bytes || sort_is_done(s))
        return;
    call.offset_values = s->offset_values;
    call.offset_copy = sort_copy_offset(s);
    sort_keep_values(j, keep, out);
    c = plan_launch_1d(out, keep + 1, size_round_up(s->n, local), local);
    command_operand(c, SORT_VALUES);
    command_workspace(c);
    sort_step_index(c, s);
    command_operand(c, SEGSORT_OFFSETS);
    command_block(c, &call, sizeof(call));
    sort_step_moves(c, s, s->n, 2 * s->value_bytes + sizeof(int64_t));
}

/* A launch of a kernel that sorts. */
static command *launch(const tsr_sort_problem *s, const layout *l, unsigned entry, size_t groups,
                       const segsort_call *call, plan *out)
{
    command *c = plan_launch_1d(out, entry, groups * l->group, l->group);

    sort_step_keys(c, s);
    segsort_arguments(c, call);
    return c;
}

/* A launch for tiles of segments that are long enough for the call's stage. */
static void launch_tiles(const tsr_sort_problem *s, const layout *l, unsigned entry,
                         const segsort_call *call, plan *out)
{
    const size_t tiles = 2 * size_div_up(s->n, l->tile);

    launch(s, l, entry, size_min(tiles, GROUPS_OF_TILES), call, out);
}

/* ---- plans --------------------------------------------------------------------------------- */

/* Why the layout does not suit the device. */
static const char *layout_unsupported(const job *j, const layout *l, plan *out)
{
    if (l->tile > TILE_MAX)
        return plan_unsupported(out, "its tiles have at most %d keys, not %zu", TILE_MAX, l->tile);
    return sort_unsupported_room(j, l->group, l->local_bytes, l->local_limit, out);
}

/* What all variants do, once their own -Ds are defined. */
static const char *plan_segments(const job *j, const layout *l, plan *out)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const size_t segments = segsort_of(j->problem)->segments;
    segsort_call call = segsort_call_of(segsort_of(j->problem));
    command *c;

    plan_set(out, "GROUP", (uint32_t)l->group);
    sort_define_keys(out, s);
    plan_define(out, "BATCH_MAX=%d", BATCH_MAX);
    out->workspace = sort_values_bytes(s);
    if (sort_is_done(s))
        return NULL;
    call.noted = l->noted;
    call.batch = (uint32_t)l->batch;
    if (l->noted) {
        call.offset_longest = size_div_up(out->workspace, sizeof(uint32_t));
        out->workspace = (call.offset_longest + 1) * sizeof(uint32_t);
        segsort_fill_longest(&call, out);
    }
    c = launch(s, l, SEGMENTS_SHORT, size_div_up(segments, l->batch), &call, out);
    call.stage = l->tile_shift + 1;
    if (!l->has_long) /* else it is not known how many are short */
        sort_step_moves(c, s, s->n, tsr_type_size(s->type) + sort_element_bytes(s));
    else
        launch_tiles(s, l, SEGMENTS_TILE, &call, out);
    for (; call.stage <= l->top_shift; call.stage++) {
        for (uint32_t i = 0; i < call.stage - l->tile_shift; i++) {
            call.stride = 1u << (call.stage - 1 - i);
            call.flip = i == 0;
            launch_tiles(s, l, SEGMENTS_EXCHANGE, &call, out);
        }
        launch_tiles(s, l, SEGMENTS_MERGE, &call, out);
    }
    segsort_move_values(j, SEGMENTS_KEEP, out);
    return NULL;
}

static const char *plan_pairs(const job *j, plan *out)
{
    const char *why = segsort_unsupported(segsort_of(j->problem), out);
    layout l;

    if (why)
        return why;
    l = lay_out_pairs(j);
    if ((why = layout_unsupported(j, &l, out)))
        return why;
    plan_set(out, "TILE", (uint32_t)l.tile);
    /* On a GPU it runs where nothing better is compiled yet. */
    plan_define(out, "UNROLLED=%d", j->device->kind == DEVICE_CPU);
    plan_define(out, "WITH_LONG=%d", l.has_long);
    return plan_segments(j, &l, out);
}

/* With keys in registers, which the work-group hands on, or a warp within itself. */
static const char *plan_registers(const job *j, plan *out, uint32_t team, const char *means)
{
    const layout l = lay_out_registers(j, team == WARP);
    const char *why;

    if (l.group < team)
        return plan_unsupported(out, "it needs whole warps of %d work-items, not %zu", WARP,
                                l.group);
    if ((why = sort_unsupported_packed(sort_of(j->problem))) ||
        (why = segsort_unsupported(segsort_of(j->problem), out)) ||
        (why = layout_unsupported(j, &l, out)))
        return why;
    plan_set(out, "KEYS", (uint32_t)l.keys);
    plan_define(out, "SHUFFLES=0");
    plan_define(out, "WITH_LONG=1");
    sort_define_tile(out, team, means);
    return plan_segments(j, &l, out);
}

static const char *plan_group(const job *j, plan *out)
{
    return plan_registers(j, out, 1, "TEAM_NONE");
}

static const char *plan_warp(const job *j, plan *out)
{
    return plan_registers(j, out, WARP, "TEAM_WARP");
}

const variant segsort_tiles = {
    .name = "segments",
    .idea = "segments of given lengths: those of like length side by side in a tile",
    .unstated = "moves what the lengths of segments decide, which only the device knows",
    .source = "segsort/segsort_tiles.cl",
    .entries = {"segsort_short", "segsort_tile", "segsort_exchange", "segsort_merge",
                "sort_values_keep", "segsort_gather"},
    .build = "",
    .tunables = pairs_tunables,
    .tunable_count = ARRAY_COUNT(pairs_tunables),
    .plan = plan_pairs,
};

const variant segsort_registers = {
    .name = "segments-registers",
    .alias = "segments-held",
    .idea = "segments in registers, exchanged in local memory between strides",
    .unstated = "moves what the lengths of segments decide, which only the device knows",
    .source = "segsort/segsort_registers.cl",
    .entries = {"segsort_registers_short", "segsort_registers_tile", "segsort_exchange",
                "segsort_registers_merge", "sort_values_keep", "segsort_gather"},
    .build = "",
    .slow_unless_optimized = true,
    .tunables = registers_tunables,
    .tunable_count = ARRAY_COUNT(registers_tunables),
    .plan = plan_group,
};

const variant segsort_warp = {
    .name = "segments-warp",
    .idea = "a segment that fits belongs to a warp or a part of one, which waits for no other",
    .unstated = "moves what the lengths of segments decide, which only the device knows",
    .source = "segsort/segsort_registers.cl",
    .entries = {"segsort_registers_short", "segsort_registers_tile", "segsort_exchange",
                "segsort_registers_merge", "sort_values_keep", "segsort_gather"},
    .build = "",
    .needs = 1u << FEATURE_PTX | 1u << FEATURE_LARGE_LOCAL,
    .tunables = registers_tunables,
    .tunable_count = ARRAY_COUNT(registers_tunables),
    .plan = plan_warp,
};
