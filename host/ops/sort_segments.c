#include "ops/sort_segments.h"

#include <inttypes.h>

#include "base/fail.h"
#include "ops/sort_steps.h"

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
    TILE_LEAST = 1024,
    TILE_MOST = 1 << 15, /* as cl/sort_segments.clh has it */
    BATCH_MOST = 256,    /* as there: segments of a work-group */
    BATCH_TILES = 4,     /* of keys, at least, for a work-group */
    BATCH_BYTES = 3300,  /* local memory of a batch_list and what stands beside it, rounded up */
    GROUP_ON_CPU = 16,   /* which goes through the work-items of a group one by one */
    GROUP_ON_GPU = 256,
    GROUPS_OF_TILES =
        1 << 12 /* that take the tiles of long segments in turn: more than run at once */
};

const tunable sort_segments_tunables[SEGMENTS_TUNABLES] = {
    {"GROUP",
     "work-items in a work-group: more hide latency, fewer leave room for other groups",
     {0, 16, 64, 128, 256, 512},
     0},
    {"TILE",
     "positions of a tile: longer segments without passes over memory, against local memory",
     {0, 64, 256, 1024, 2048, 4096, 8192, 16384, 32768},
     0},
};

typedef struct segments_plan {
    size_t group, tile;
    size_t batch;        /* segments of a work-group */
    uint32_t tile_shift; /* 2^tile_shift positions of a tile */
    uint32_t top_shift;  /* 2^top_shift holds any segment */
    bool noted;          /* the longest segment is looked for on the device */
} segments_plan;

static size_t local_bytes(const tsr_sort_problem *s, size_t tile)
{
    const size_t index = sort_with_index(s) ? tile : 1; /* as TILE_INDICES */

    return size_round_up(tile * tsr_type_size(s->type), sizeof(int64_t)) + index * sizeof(int64_t) +
           BATCH_BYTES;
}

/* The tile that holds the longest segment, as far as there is room. */
static size_t settle_tile(const job *j)
{
    const tsr_sort_problem *s = &j->problem->sort;
    size_t tile = TILE_LEAST;

    while (tile < sort_longest(s) && tile < TILE_MOST &&
           local_bytes(s, 2 * tile) <= j->device->local_memory)
        tile *= 2;
    return tile;
}

static segments_plan plan_of(const job *j)
{
    const tsr_sort_problem *s = &j->problem->sort;
    const size_t mean = size_max(s->n / size_max(s->segments, 1), 1);
    segments_plan plan = {.group = param(j->params, "GROUP"), .tile = param(j->params, "TILE")};

    if (!plan.group)
        plan.group =
            group_fit(j->device, 0, j->device->kind == DEVICE_CPU ? GROUP_ON_CPU : GROUP_ON_GPU);
    if (!plan.tile)
        plan.tile = settle_tile(j);
    plan.batch = size_min(size_max(BATCH_TILES * plan.tile / mean, 1), BATCH_MOST);
    plan.tile_shift = size_log2_up(plan.tile);
    plan.top_shift = size_log2_up(sort_longest(s));
    plan.noted = plan.top_shift > plan.tile_shift && !s->segment_longest;
    return plan;
}

void sort_segments_defines(const job *j, text *out)
{
    const segments_plan plan = plan_of(j);

    sort_key_defines(j, out);
    if (!param(j->params, "GROUP"))
        text_format(out, " -DGROUP=%zu", plan.group);
    if (!param(j->params, "TILE"))
        text_format(out, " -DTILE=%zu", plan.tile);
}

const char *sort_segments_unsuited(const job *j, text *reason)
{
    const tsr_sort_problem *s = &j->problem->sort;
    const size_t limit = group_limit(j->device, 0);
    segments_plan plan;

    if (!s->segments)
        return "it sorts segments of given lengths, and none are given";
    plan = plan_of(j);
    if (sort_longest(s) > SORT_POSITIONS_32)
        text_format(reason, "it indexes in 32 bits: segments of at most %zu keys, not %zu",
                    SORT_POSITIONS_32, sort_longest(s));
    else if (plan.group > limit)
        text_format(reason, "it needs work-groups of %zu, and the device has at most %zu",
                    plan.group, limit);
    else if (local_bytes(s, plan.tile) > j->device->local_memory)
        text_format(reason, "it needs %zu bytes of local memory, and the device has %zu",
                    local_bytes(s, plan.tile), j->device->local_memory);
    else
        return NULL;
    return text_get(reason);
}

/* Where the exponent of the longest segment stands in the workspace, in units of 4 bytes: behind
 * the values' part. */
static size_t offset_longest(const job *j)
{
    return size_div_up(sort_values_workspace(j), sizeof(uint32_t));
}

size_t sort_segments_workspace(const job *j)
{
    const bool noted = !sort_is_done(&j->problem->sort) && plan_of(j).noted;

    return noted ? (offset_longest(j) + 1) * sizeof(uint32_t) : sort_values_workspace(j);
}

/* ---- its commands ---------------------------------------------------------------------------- */

/* No segment has been seen yet. */
static void fill_longest(const job *j, step *out)
{
    step_launch_1d(out, 0, 0, 0);
    out->kind = STEP_FILL;
    out->fill_target = (step_arg){.kind = ARG_WORKSPACE};
    out->fill_offset = offset_longest(j) * sizeof(uint32_t);
    out->fill_bytes = sizeof(uint32_t);
    out->fill_pattern = 0;
}

/* What all kernels that sort are told. */
static void launch(const job *j, const segments_plan *plan, unsigned entry, size_t groups,
                   step *out)
{
    const tsr_sort_problem *s = &j->problem->sort;

    step_launch_1d(out, entry, groups * plan->group, plan->group);
    step_operand(out, 0);
    sort_step_index(out, s);
    step_operand(out, 3);
    if (plan->noted)
        step_workspace(out);
    else
        step_operand(out, 0); /* which it leaves alone */
    step_u64(out, s->offset_keys);
    step_u64(out, s->argsort ? s->offset_index : 0);
    step_u64(out, s->offset_segments);
    step_u64(out, s->n);
    step_u64(out, s->segments);
    step_u64(out, plan->noted ? offset_longest(j) : 0);
    step_u32(out, plan->noted);
}

static void launch_short(const job *j, const segments_plan *plan, step *out)
{
    const tsr_sort_problem *s = &j->problem->sort;

    launch(j, plan, SEGMENTS_SHORT, size_div_up(s->segments, plan->batch), out);
    step_u32(out, (uint32_t)plan->batch);
    if (plan->top_shift <= plan->tile_shift) /* else it is not known how many are short */
        sort_step_moves(out, s, s->n, tsr_type_size(s->type) + sort_element_bytes(s));
}

/* A launch for tiles of segments that are long enough for a stage. */
static void launch_tiles(const job *j, const segments_plan *plan, unsigned entry, uint32_t stage,
                         step *out)
{
    const size_t tiles = 2 * size_div_up(j->problem->sort.n, plan->tile);

    launch(j, plan, entry, size_min(tiles, GROUPS_OF_TILES), out);
    step_u32(out, stage);
}

/* Command i of those for long segments. */
static bool long_step(const job *j, const segments_plan *plan, size_t i, step *out)
{
    const uint32_t first = plan->tile_shift + 1;

    if (i-- == 0) {
        launch_tiles(j, plan, SEGMENTS_TILE, first, out);
        return true;
    }
    for (uint32_t stage = first; stage <= plan->top_shift; stage++) {
        const size_t strides = stage - plan->tile_shift;

        if (i < strides) {
            launch_tiles(j, plan, SEGMENTS_EXCHANGE, stage, out);
            step_u32(out, 1u << (stage - 1 - i));
            step_u32(out, i == 0);
            return true;
        }
        if (i == strides) {
            launch_tiles(j, plan, SEGMENTS_MERGE, stage, out);
            return true;
        }
        i -= strides + 1;
    }
    return false;
}

static bool keys_step(const job *j, size_t i, step *out)
{
    segments_plan plan;

    if (sort_is_done(&j->problem->sort))
        return false;
    plan = plan_of(j);
    if (plan.noted && i-- == 0) {
        fill_longest(j, out);
        return true;
    }
    if (i-- == 0) {
        launch_short(j, &plan, out);
        return true;
    }
    return plan.top_shift > plan.tile_shift && long_step(j, &plan, i, out);
}

static void launch_gather(const job *j, step *out)
{
    const tsr_sort_problem *s = &j->problem->sort;
    const size_t local = group_fit(j->device, 0, SORT_VALUES_GROUP);

    step_launch_1d(out, SEGMENTS_GATHER, size_round_up(s->n, local), local);
    step_operand(out, 2);
    step_workspace(out);
    sort_step_index(out, s);
    step_operand(out, 3);
    step_u64(out, s->offset_values);
    step_u64(out, sort_copy_offset(s));
    step_u64(out, s->argsort ? s->offset_index : 0);
    step_u64(out, s->offset_segments);
    step_u64(out, s->n);
    step_u64(out, s->segments);
    sort_step_moves(out, s, s->n, 2 * s->value_bytes + sizeof(int64_t));
}

bool sort_segments_step(const job *j, size_t i, step *out)
{
    /* Those that move values are the same for rows, but for what an index counts from. */
    if (!sort_step_or_values(j, i, keys_step, SEGMENTS_KEEP, out))
        return false;
    if (out->kind == STEP_LAUNCH && out->entry == SEGMENTS_GATHER)
        launch_gather(j, out);
    return true;
}
