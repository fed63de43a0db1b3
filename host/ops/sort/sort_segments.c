#include "ops/sort/sort_segments.h"

#include <inttypes.h>

#include "base/fail.h"
#include "ops/sort/sort_fused.h"
#include "ops/sort/sort_order.h"
#include "ops/sort/sort_steps.h"

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

enum {
    TILE_MIN = 1024,
    TILE_MAX = 1 << 15,  /* as cl/sort/sort_segments.clh and cl/sort/sort_held_tile.clh have it */
    TILE_FOR_FEW = 4096, /* a larger one, for the longest alone, leaves the others less room */
    FEW_MEANS = 4,       /* what is longer than so many mean lengths is taken for rare */
    BATCH_TILES = 4,     /* of keys, at least, for a work-group */
    /* Local memory of a batch_list, a start and a length for each, and of what stands beside it. */
    BATCH_BYTES = SEGMENTS_BATCH_MAX * (8 + 4) + 248,
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

const tunable sort_segments_tunables[SEGMENTS_TUNABLES] = {
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

const tunable sort_held_segments_tunables[HELD_SEGMENTS_TUNABLES] = {
    {"KEYS",
     "keys that a work-item holds, and of the smallest block: strides without a hand-over against "
     "registers and short segments",
     {0, 4, 8, 16, 32},
     0,
     4},
    {"GROUP",
     "work-items in a work-group: with KEYS they make a tile, which longer segments need",
     {0, 8, 32, 64, 128, 256, 512, 1024},
     0,
     8},
    {"LAYOUT", "keys in local memory: 1 plainly, 2 swizzled against bank conflicts", {1, 2}, 2},
};

typedef struct segments_plan {
    size_t group, tile;
    size_t keys;                     /* that a work-item holds; 0: pairs in local memory */
    size_t local_bytes, local_limit; /* of local memory */
    size_t batch;                    /* segments of a work-group */
    uint32_t tile_shift;             /* 2^tile_shift positions of a tile */
    uint32_t top_shift;              /* 2^top_shift holds any segment */
    bool noted;                      /* the longest segment is looked for on the device */
} segments_plan;

/* The layout of a variant; tunables that are 0 are settled here. */
typedef segments_plan (*planner)(const job *j);

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
static segments_plan plan_rest(const job *j, segments_plan layout)
{
    const tsr_sort_problem *s = sort_of(j->problem);

    layout.batch =
        size_min(size_max(BATCH_TILES * layout.tile / mean_length(s), 1), SEGMENTS_BATCH_MAX);
    layout.tile_shift = size_log2_up(layout.tile);
    layout.top_shift = size_log2_up(sort_longest(s));
    layout.noted = layout.top_shift > layout.tile_shift && !s->segment_longest;
    return layout;
}

static size_t pairs_bytes(const tsr_sort_problem *s, size_t tile)
{
    const size_t index = sort_with_index(s) ? tile : 1; /* as TILE_INDICES */

    return size_round_up(tile * tsr_type_size(s->type), sizeof(int64_t)) + index * sizeof(int64_t) +
           BATCH_BYTES;
}

static segments_plan plan_pairs(const job *j)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const bool on_cpu = j->device->kind == DEVICE_CPU;
    segments_plan layout = {.group = param(j->params, "GROUP"),
                            .tile = param(j->params, "TILE"),
                            .local_limit = j->device->local_memory};

    if (!layout.group)
        layout.group = group_fit(j->device, 0, on_cpu ? GROUP_ON_CPU : GROUP_ON_GPU);
    if (!layout.tile)
        for (layout.tile = TILE_MIN; layout.tile < length_wanted(s) && layout.tile < TILE_MAX &&
                                     pairs_bytes(s, 2 * layout.tile) <= layout.local_limit;)
            layout.tile *= 2;
    layout.local_bytes = pairs_bytes(s, layout.tile);
    return plan_rest(j, layout);
}

/* Keys for a work-item: neighbours read side by side what is not short. */
static size_t settle_keys(const tsr_sort_problem *s)
{
    const size_t held = sort_held_bytes(s);
    const size_t length = size_min(sort_longest(s), 2 * mean_length(s));
    const size_t side_by_side = ((size_t)1 << size_log2_up(length)) / (SECTOR / held);

    return size_min(size_max(side_by_side, KEYS_MIN), KEYS_BYTES / held);
}

static segments_plan plan_held_of(const job *j, bool warp)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const size_t held = sort_held_bytes(s), most = group_limit(j->device, 0);
    const bool on_cpu = j->device->kind == DEVICE_CPU;
    segments_plan layout = {.group = param(j->params, "GROUP"),
                            .keys = param(j->params, "KEYS"),
                            .local_limit = j->device->local_memory};

    /* What is beyond the reported limit was probed for the variant that needs it alone. */
    if (warp)
        layout.local_limit = size_max(layout.local_limit, j->device->large_local);
    /* A CPU's compiler takes minutes over more, for every length anew. */
    if (!layout.keys)
        layout.keys = on_cpu ? KEYS_MIN : settle_keys(s);
    if (!layout.group && on_cpu)
        layout.group = group_fit(j->device, 0, GROUP_HELD_ON_CPU);
    if (!layout.group)
        for (layout.group = group_fit(j->device, 0, GROUP_HELD);
             layout.group * layout.keys < length_wanted(s) && 2 * layout.group <= most &&
             2 * layout.group * layout.keys <= TILE_MAX &&
             2 * layout.group * layout.keys * held + BATCH_BYTES <= layout.local_limit;)
            layout.group *= 2;
    layout.tile = layout.group * layout.keys;
    layout.local_bytes = layout.tile * held + BATCH_BYTES;
    return plan_rest(j, layout);
}

static segments_plan plan_held(const job *j)
{
    return plan_held_of(j, false);
}

static segments_plan plan_warp(const job *j)
{
    return plan_held_of(j, true);
}

/* Of all three variants. */
static void common_defines(const job *j, text *out)
{
    sort_key_defines(j, out);
    text_format(out, " -DBATCH_MAX=%d", SEGMENTS_BATCH_MAX);
}

void sort_segments_defines(const job *j, text *out)
{
    const segments_plan layout = plan_pairs(j);

    common_defines(j, out);
    if (!param(j->params, "GROUP"))
        text_format(out, " -DGROUP=%zu", layout.group);
    if (!param(j->params, "TILE"))
        text_format(out, " -DTILE=%zu", layout.tile);
}

static void held_defines(const job *j, const segments_plan *layout, int team, const char *means,
                         text *out)
{
    common_defines(j, out);
    if (!param(j->params, "KEYS"))
        text_format(out, " -DKEYS=%zu", layout->keys);
    if (!param(j->params, "GROUP"))
        text_format(out, " -DGROUP=%zu", layout->group);
    text_format(out, " -DSHUFFLES=0 -DTEAM=%d -DTEAM_MEANS=%s", team, means);
}

void sort_held_segments_defines(const job *j, text *out)
{
    const segments_plan layout = plan_held(j);

    held_defines(j, &layout, 1, "TEAM_NONE", out);
}

void sort_held_segments_defines_warp(const job *j, text *out)
{
    const segments_plan layout = plan_warp(j);

    held_defines(j, &layout, WARP, "TEAM_WARP", out);
}

const char *sort_segments_lengths_unsupported(const tsr_sort_problem *s, text *reason)
{
    if (!s->segments)
        return "it sorts segments of given lengths, and none are given";
    if (sort_longest(s) <= SORT_POSITIONS_32)
        return NULL;
    text_format(reason, "it indexes in 32 bits: segments of at most %zu keys, not %zu",
                SORT_POSITIONS_32, sort_longest(s));
    return text_get(reason);
}

static const char *unsupported(const job *j, planner plan_of, text *reason)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const size_t limit = group_limit(j->device, 0);
    const char *why = sort_segments_lengths_unsupported(s, reason);
    segments_plan layout;

    if (why)
        return why;
    layout = plan_of(j);
    if (layout.tile > TILE_MAX)
        text_format(reason, "its tiles have at most %d keys, not %zu", TILE_MAX, layout.tile);
    else if (layout.group > limit)
        text_format(reason, "it needs work-groups of %zu, and the device has at most %zu",
                    layout.group, limit);
    else if (layout.local_bytes > layout.local_limit)
        text_format(reason, "it needs %zu bytes of local memory, and the device has %zu",
                    layout.local_bytes, layout.local_limit);
    else
        return NULL;
    return text_get(reason);
}

const char *sort_segments_unsupported(const job *j, text *reason)
{
    return unsupported(j, plan_pairs, reason);
}

static const char *held_unsupported(const job *j, planner plan_of, text *reason)
{
    if (sort_of(j->problem)->segments && !sort_fused_takes(sort_of(j->problem)))
        return "it packs a key and its index in 64 bits, and the key alone has as many";
    return unsupported(j, plan_of, reason);
}

const char *sort_held_segments_unsupported(const job *j, text *reason)
{
    return held_unsupported(j, plan_held, reason);
}

const char *sort_held_segments_unsupported_warp(const job *j, text *reason)
{
    const size_t group = plan_warp(j).group;

    if (group < WARP) {
        text_format(reason, "it needs whole warps of %d work-items, not %zu", WARP, group);
        return text_get(reason);
    }
    return held_unsupported(j, plan_warp, reason);
}

/* Where the exponent of the longest segment stands in the workspace, in units of 4 bytes: behind
 * the values' part. */
static size_t offset_longest(const job *j)
{
    return size_div_up(sort_values_workspace(j), sizeof(uint32_t));
}

static size_t workspace(const job *j, planner plan_of)
{
    const bool noted = !sort_is_done(sort_of(j->problem)) && plan_of(j).noted;

    return noted ? (offset_longest(j) + 1) * sizeof(uint32_t) : sort_values_workspace(j);
}

size_t sort_segments_workspace(const job *j)
{
    return workspace(j, plan_pairs);
}

size_t sort_held_segments_workspace(const job *j)
{
    return workspace(j, plan_held);
}

size_t sort_held_segments_workspace_warp(const job *j)
{
    return workspace(j, plan_warp);
}

/* ---- their commands -------------------------------------------------------------------------- */

void sort_segments_fill_longest(size_t offset, command *out)
{
    command_launch_1d(out, 0, 0, 0);
    out->kind = COMMAND_FILL;
    out->fill_target = (command_arg){.kind = ARG_WORKSPACE};
    out->fill_offset = offset * sizeof(uint32_t);
    out->fill_bytes = sizeof(uint32_t);
    out->fill_pattern = 0;
}

/* What all kernels that sort are told. */
static void launch(const job *j, const segments_plan *layout, unsigned entry, size_t groups,
                   command *out)
{
    const tsr_sort_problem *s = sort_of(j->problem);

    command_launch_1d(out, entry, groups * layout->group, layout->group);
    command_operand(out, 0);
    sort_step_index(out, s);
    command_operand(out, 3);
    if (layout->noted)
        command_workspace(out);
    else
        command_operand(out, 0); /* which it leaves alone */
    command_u64(out, s->offset_keys);
    command_u64(out, s->argsort ? s->offset_index : 0);
    command_u64(out, s->offset_segments);
    command_u64(out, s->n);
    command_u64(out, s->segments);
    command_u64(out, layout->noted ? offset_longest(j) : 0);
    command_u32(out, layout->noted);
}

static void launch_short(const job *j, const segments_plan *layout, command *out)
{
    const tsr_sort_problem *s = sort_of(j->problem);

    launch(j, layout, SEGMENTS_SHORT, size_div_up(s->segments, layout->batch), out);
    command_u32(out, (uint32_t)layout->batch);
    if (layout->top_shift <= layout->tile_shift) /* else it is not known how many are short */
        sort_step_moves(out, s, s->n, tsr_type_size(s->type) + sort_element_bytes(s));
}

/* A launch for tiles of segments that are long enough for a stage. */
static void launch_tiles(const job *j, const segments_plan *layout, unsigned entry, uint32_t stage,
                         command *out)
{
    const size_t tiles = 2 * size_div_up(sort_of(j->problem)->n, layout->tile);

    launch(j, layout, entry, size_min(tiles, GROUPS_OF_TILES), out);
    command_u32(out, stage);
}

/* Command i of those for long segments. */
static bool long_step(const job *j, const segments_plan *layout, size_t i, command *out)
{
    const uint32_t first = layout->tile_shift + 1;

    if (i-- == 0) {
        launch_tiles(j, layout, SEGMENTS_TILE, first, out);
        return true;
    }
    for (uint32_t stage = first; stage <= layout->top_shift; stage++) {
        const size_t strides = stage - layout->tile_shift;

        if (i < strides) {
            launch_tiles(j, layout, SEGMENTS_EXCHANGE, stage, out);
            command_u32(out, 1u << (stage - 1 - i));
            command_u32(out, i == 0);
            return true;
        }
        if (i == strides) {
            launch_tiles(j, layout, SEGMENTS_MERGE, stage, out);
            return true;
        }
        i -= strides + 1;
    }
    return false;
}

static bool plan_step(const job *j, planner plan_of, size_t i, command *out)
{
    segments_plan layout;

    if (sort_is_done(sort_of(j->problem)))
        return false;
    layout = plan_of(j);
    if (layout.noted && i-- == 0) {
        sort_segments_fill_longest(offset_longest(j), out);
        return true;
    }
    if (i-- == 0) {
        launch_short(j, &layout, out);
        return true;
    }
    return layout.top_shift > layout.tile_shift && long_step(j, &layout, i, out);
}

static bool pairs_step(const job *j, size_t i, command *out)
{
    return plan_step(j, plan_pairs, i, out);
}

static bool held_step(const job *j, size_t i, command *out)
{
    return plan_step(j, plan_held, i, out);
}

static bool warp_step(const job *j, size_t i, command *out)
{
    return plan_step(j, plan_warp, i, out);
}

static void launch_gather(const job *j, unsigned entry, command *out)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const size_t local = group_fit(j->device, 0, SORT_VALUES_GROUP);

    command_launch_1d(out, entry, size_round_up(s->n, local), local);
    command_operand(out, 2);
    command_workspace(out);
    sort_step_index(out, s);
    command_operand(out, 3);
    command_u64(out, s->offset_values);
    command_u64(out, sort_copy_offset(s));
    command_u64(out, s->argsort ? s->offset_index : 0);
    command_u64(out, s->offset_segments);
    command_u64(out, s->n);
    command_u64(out, s->segments);
    sort_step_moves(out, s, s->n, 2 * s->value_bytes + sizeof(int64_t));
}

/* Steps that move values are the same as for one sequence, but for what an index counts from. */
bool sort_segments_step_or_values(const job *j, size_t i,
                                  bool (*keys_step)(const job *, size_t, command *), unsigned keep,
                                  command *out)
{
    if (!sort_step_or_values(j, i, keys_step, keep, out))
        return false;
    if (out->kind == COMMAND_LAUNCH && out->entry == keep + 1)
        launch_gather(j, keep + 1, out);
    return true;
}

bool sort_segments_step(const job *j, size_t i, command *out)
{
    return sort_segments_step_or_values(j, i, pairs_step, SEGMENTS_KEEP, out);
}

bool sort_held_segments_step(const job *j, size_t i, command *out)
{
    return sort_segments_step_or_values(j, i, held_step, SEGMENTS_KEEP, out);
}

bool sort_held_segments_step_warp(const job *j, size_t i, command *out)
{
    return sort_segments_step_or_values(j, i, warp_step, SEGMENTS_KEEP, out);
}
