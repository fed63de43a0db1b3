/**
 * Segments of given lengths: cl/sort/sort_segments.cl, and with keys in registers
 * cl/sort/sort_segments_registers.cl.
 */
#include "ops/sort/sort_segments.h"

#include <inttypes.h>

#include "base/fail.h"
#include "ops/sort/sort_commands.h"
#include "ops/sort/sort_variants.h"

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
     "keys that a work-item holds, and of the smallest block: strides without a hand-over against "
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
    bool noted;                      /* the longest segment is looked for on the device */
    size_t longest_at; /* where its length is kept in the workspace, behind what values
                          need, in units of 4 bytes */
} layout;

static size_t mean_length(const tsr_sort_problem *s)
{
    return size_max(s->n / size_max(s->segments, 1), 1);
}

/* Keys that a tile is to hold: the longest segment, unless there are few as long. */
static size_t length_wanted(const tsr_sort_problem *s)
{
    const size_t usual = size_max(FEW_MEANS * mean_length(s), TILE_FOR_FEW);

    return size_min(sort_longest(s), usual);
}

/* What follows from the tile. */
static layout finish(const job *j, layout l)
{
    const tsr_sort_problem *s = sort_of(j->problem);

    l.batch = size_min(size_max(BATCH_TILES * l.tile / mean_length(s), 1), BATCH_MAX);
    l.tile_shift = size_log2_up(l.tile);
    l.top_shift = size_log2_up(sort_longest(s));
    l.noted = l.top_shift > l.tile_shift && !s->segment_longest;
    l.longest_at = l.noted ? size_div_up(sort_values_bytes(s), sizeof(uint32_t)) : 0;
    return l;
}

/* Local memory of pairs and of the list of segments. */
static size_t pairs_bytes(const tsr_sort_problem *s, size_t tile)
{
    return sort_pairs_bytes(s, tile) + BATCH_BYTES;
}

static layout lay_out_pairs(const job *j)
{
    const tsr_sort_problem *s = sort_of(j->problem);
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
static size_t usual_keys(const tsr_sort_problem *s)
{
    const size_t held = sort_held_bytes(s);
    const size_t length = size_min(sort_longest(s), 2 * mean_length(s));
    const size_t side_by_side = ((size_t)1 << size_log2_up(length)) / (SECTOR / held);

    return size_min(size_max(side_by_side, KEYS_MIN), KEYS_BYTES / held);
}

static layout lay_out_registers(const job *j, bool warp)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const size_t held = sort_held_bytes(s), most = group_limit(j->device, 0);
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

tsr_status sort_segments_check(size_t n, size_t segments, const uint64_t *offsets, size_t *longest,
                               tsr_error *err)
{
    size_t most = 1;

    if (offsets[0] != 0)
        return tsr_fail(err, TSR_EINVAL, 0, "sort: segment offset 0 is %" PRIu64 ", not 0",
                        offsets[0]);
    for (size_t i = 1; i <= segments; i++) {
        if (offsets[i] < offsets[i - 1])
            return tsr_fail(err, TSR_EINVAL, 0,
                            "sort: segment offset %zu is %" PRIu64 ", below the %" PRIu64
                            " of offset %zu",
                            i, offsets[i], offsets[i - 1], i - 1);
        most = size_max(most, (size_t)(offsets[i] - offsets[i - 1]));
    }
    if (offsets[segments] != n)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "sort: segment offset %zu, the last one, is %" PRIu64
                        ", and there are %zu keys",
                        segments, offsets[segments], n);
    *longest = most;
    return TSR_OK;
}

const char *sort_unsupported_segments(const tsr_sort_problem *s, plan *out)
{
    if (!s->segments)
        return "it sorts segments of given lengths, and none are given";
    if (sort_longest(s) <= SORT_POSITIONS_32)
        return NULL;
    return plan_unsupported(out, "it indexes in 32 bits: segments of at most %zu keys, not %zu",
                            SORT_POSITIONS_32, sort_longest(s));
}

/* ---- commands ----------------------------------------------------------------------------- */

void sort_segments_fill_longest(size_t offset, plan *out)
{
    plan_fill(out, ARG_WORKSPACE, 0, offset * sizeof(uint32_t), sizeof(uint32_t), 0);
}

void sort_segments_move_values(const job *j, unsigned keep, plan *out)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const size_t local = sort_values_group(j);
    command *c;

    if (!s->value_bytes || sort_is_done(s))
        return;
    sort_keep_values(j, keep, out);
    c = plan_launch_1d(out, keep + 1, size_round_up(s->n, local), local);
    command_operand(c, 2);
    command_workspace(c);
    sort_step_index(c, s);
    command_operand(c, 3);
    command_u64(c, s->offset_values);
    command_u64(c, sort_copy_offset(s));
    command_u64(c, s->argsort ? s->offset_index : 0);
    command_u64(c, s->offset_segments);
    command_u64(c, s->n);
    command_u64(c, s->segments);
    sort_step_moves(c, s, s->n, 2 * s->value_bytes + sizeof(int64_t));
}

/* A launch with the arguments of all kernels that sort. */
static command *launch(const tsr_sort_problem *s, const layout *l, unsigned entry, size_t groups,
                       plan *out)
{
    command *c = plan_launch_1d(out, entry, groups * l->group, l->group);

    command_operand(c, 0);
    sort_step_index(c, s);
    command_operand(c, 3);
    if (l->noted)
        command_workspace(c);
    else
        command_operand(c, 0); /* which it leaves alone */
    command_u64(c, s->offset_keys);
    command_u64(c, s->argsort ? s->offset_index : 0);
    command_u64(c, s->offset_segments);
    command_u64(c, s->n);
    command_u64(c, s->segments);
    command_u64(c, l->longest_at);
    command_u32(c, l->noted);
    return c;
}

/* A launch for tiles of segments that are long enough for a stage. */
static command *launch_tiles(const tsr_sort_problem *s, const layout *l, unsigned entry,
                             uint32_t stage, plan *out)
{
    const size_t tiles = 2 * size_div_up(s->n, l->tile);
    command *c = launch(s, l, entry, size_min(tiles, GROUPS_OF_TILES), out);

    command_u32(c, stage);
    return c;
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
    command *c;

    plan_set(out, "GROUP", (uint32_t)l->group);
    sort_define_keys(out, s);
    plan_define(out, "BATCH_MAX=%d", BATCH_MAX);
    out->workspace = sort_values_bytes(s);
    if (sort_is_done(s))
        return NULL;
    if (l->noted) {
        out->workspace = (l->longest_at + 1) * sizeof(uint32_t);
        sort_segments_fill_longest(l->longest_at, out);
    }
    c = launch(s, l, SEGMENTS_SHORT, size_div_up(s->segments, l->batch), out);
    command_u32(c, (uint32_t)l->batch);
    if (l->top_shift <= l->tile_shift) /* else it is not known how many are short */
        sort_step_moves(c, s, s->n, tsr_type_size(s->type) + sort_element_bytes(s));
    else
        launch_tiles(s, l, SEGMENTS_TILE, l->tile_shift + 1, out);
    for (uint32_t stage = l->tile_shift + 1; stage <= l->top_shift; stage++) {
        for (uint32_t i = 0; i < stage - l->tile_shift; i++) {
            c = launch_tiles(s, l, SEGMENTS_EXCHANGE, stage, out);
            command_u32(c, 1u << (stage - 1 - i));
            command_u32(c, i == 0);
        }
        launch_tiles(s, l, SEGMENTS_MERGE, stage, out);
    }
    sort_segments_move_values(j, SEGMENTS_KEEP, out);
    return NULL;
}

static const char *plan_pairs(const job *j, plan *out)
{
    const char *why = sort_unsupported_segments(sort_of(j->problem), out);
    layout l;

    if (why)
        return why;
    l = lay_out_pairs(j);
    if ((why = layout_unsupported(j, &l, out)))
        return why;
    plan_set(out, "TILE", (uint32_t)l.tile);
    return plan_segments(j, &l, out);
}

/* With keys in registers, which the work-group hands on, or a warp within itself. */
static const char *plan_registers(const job *j, plan *out, uint32_t team, const char *means)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const layout l = lay_out_registers(j, team == WARP);
    const char *why;

    if (l.group < team)
        return plan_unsupported(out, "it needs whole warps of %d work-items, not %zu", WARP,
                                l.group);
    if (s->segments && (why = sort_unsupported_packed(s)))
        return why;
    if ((why = sort_unsupported_segments(s, out)) || (why = layout_unsupported(j, &l, out)))
        return why;
    plan_set(out, "KEYS", (uint32_t)l.keys);
    plan_define(out, "SHUFFLES=0");
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

const variant sort_segments = {
    .name = "segments",
    .idea = "segments of given lengths: those of like length side by side in a tile",
    .source = "sort/sort_segments.cl",
    .entries = {"sort_segments_short", "sort_segments_tile", "sort_segments_exchange",
                "sort_segments_merge", "sort_values_keep", "sort_segments_gather"},
    .build = "",
    .tunables = pairs_tunables,
    .tunable_count = ARRAY_COUNT(pairs_tunables),
    .plan = plan_pairs,
};

const variant sort_segments_registers = {
    .name = "segments-registers",
    .alias = "segments-held",
    .idea = "segments in registers, handed on in local memory between strides",
    .source = "sort/sort_segments_registers.cl",
    .entries = {"sort_segments_registers_short", "sort_segments_registers_tile",
                "sort_segments_exchange", "sort_segments_registers_merge", "sort_values_keep",
                "sort_segments_gather"},
    .build = "",
    .tunables = registers_tunables,
    .tunable_count = ARRAY_COUNT(registers_tunables),
    .plan = plan_group,
};

const variant sort_segments_warp = {
    .name = "segments-warp",
    .idea = "a segment belongs to a warp or less where it fits, which waits for nobody else",
    .source = "sort/sort_segments_registers.cl",
    .entries = {"sort_segments_registers_short", "sort_segments_registers_tile",
                "sort_segments_exchange", "sort_segments_registers_merge", "sort_values_keep",
                "sort_segments_gather"},
    .build = "",
    .needs = 1u << FEATURE_PTX | 1u << FEATURE_LARGE_LOCAL,
    .tunables = registers_tunables,
    .tunable_count = ARRAY_COUNT(registers_tunables),
    .plan = plan_warp,
};
