/**
 * Many short rows: cl/sort/sort_rows.cl, with pairs in local memory, and
 * cl/sort/sort_rows_registers.cl, with keys in registers.
 */
#include "base/sizes.h"
#include "ops/sort/sort_commands.h"
#include "ops/sort/sort_variants.h"

/* The keys, and their index where it is wanted. */
static void pass_sequence(command *c, const tsr_sort_problem *s)
{
    command_operand(c, SORT_KEYS);
    sort_step_result_index(c, s);
}

/* What the launch moves.  A work-group has all values of its rows, so that it moves them, too. */
static void moves(command *c, const tsr_sort_problem *s)
{
    sort_step_moves(c, s, s->n, tsr_type_size(s->type) + s->value_bytes + sort_entry_bytes(s));
}

/* ---- rows: many rows in a tile of local memory --------------------------------------------- */

static const tunable tile_tunables[] = {
    {"GROUP",
     "work-items in a work-group: more hide latency, fewer leave room for other groups",
     {1, 16, 64, 128, 256, 512, 1024},
     256,
     16},
    {"KEYS_PER_ITEM",
     "keys of a tile per work-item: a larger tile holds longer rows and takes local memory",
     {2, 4, 8, 16, 32},
     8},
};

/* The scalars of a call, as cl/sort/sort_rows.cl has them. */
typedef struct row_tiles {
    uint64_t offset_keys, offset_index, offset_values, rows;
    uint32_t n, shift;
} row_tiles;

static const char *plan_tile(const job *j, plan *out)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const size_t group = param(j->params, "GROUP");
    const size_t tile = group * param(j->params, "KEYS_PER_ITEM");
    const row_tiles call = {.offset_keys = s->offset_keys,
                            .offset_index = s->offset_index,
                            .offset_values = s->offset_values,
                            .rows = sort_rows(s),
                            .n = (uint32_t)s->n,
                            .shift = size_log2_up(s->n)};
    const double stages = (double)call.shift * (call.shift + 1) / 2;
    const char *why;
    size_t groups;
    command *c;

    if (s->n > tile)
        return plan_unsupported(out, "a row has to fit in its tile: at most %zu keys, not %zu",
                                tile, s->n);
    why = sort_unsupported_room(j, group, sort_pairs_bytes(s, tile), j->device->local_memory, out);
    if (why)
        return why;
    sort_define_keys(out, s);
    plan_define(out, "ARGSORT=%d", s->argsort);
    if (sort_is_done(s))
        return NULL;
    groups = size_div_up(sort_rows(s), tile >> call.shift);
    c = plan_launch_1d(out, 0, groups * group, group);
    pass_sequence(c, s);
    if (s->value_bytes)
        command_operand(c, SORT_VALUES);
    command_block(c, &call, sizeof(call));
    moves(c, s);
    c->traffic.requested = c->bytes;
    /* Filled, read and written by each sub-stage; then keys are read for the store, and an index
     * for that and for the values. */
    c->traffic.local =
        (double)(groups * tile) * (double)sort_element_bytes(s) * (1 + 2 * stages) +
        (double)sort_keys(s) *
            (double)(tsr_type_size(s->type) +
                     sizeof(int64_t) * ((s->argsort ? 1 : 0) + (s->value_bytes ? 1 : 0)));
    c->traffic.barriers = 1 + stages + (s->value_bytes ? 1 : 0);
    return NULL;
}

const variant sort_short_rows = {
    .name = "rows",
    .idea = "many short rows at once: each work-group sorts all that a tile holds",
    .source = "sort/sort_rows.cl",
    .entries = {"sort_rows_tile"},
    .build = "",
    .tunables = tile_tunables,
    .tunable_count = ARRAY_COUNT(tile_tunables),
    .plan = plan_tile,
};

/* ---- rows in registers --------------------------------------------------------------------- */

enum {
    WARP = 32,
    ROWS_GROUP = 128,
    KEYS_ON_CPU = 4,
    SECTOR = 32,    /* bytes that neighbours read of a row at least, where it has as many */
    ROW_STRIP = 64, /* bytes of held keys side by side that are written as they are held */
};

/* Those of NVIDIA's variant that shuffles have one more, the last. */
static const tunable registers_tunables[] = {
    {"KEYS",
     "keys that a work-item holds: strides without an exchange against registers, and against "
     "neighbours that read side by side",
     {0, 4, 8, 16, 32},
     0,
     4,
     .cpu_most = 8},
    {"GROUP",
     "work-items in a work-group, of one row or of many",
     {0, 8, 32, 64, 128, 256, 512, 1024},
     0,
     8},
    {"LAYOUT", "keys in local memory: 1 plainly, 2 swizzled against bank conflicts", {1, 2}, 2},
    {"SHUFFLES",
     "stages after those in registers that are done by shuffles in place of local memory",
     {1, 2, 3, 4, 5},
     5},
};

enum {
    REGISTERS_TUNABLES = ARRAY_COUNT(registers_tunables) - 1,
    REGISTERS_TUNABLES_SHUFFLES = ARRAY_COUNT(registers_tunables)
};

/* As many keys of a work-item as leave neighbours a sector; of a row alone, as few as leave it four
 * warps.  A shuffle costs so little that half the keys do. */
static uint32_t usual_keys(const tsr_sort_problem *p, bool shuffles)
{
    const size_t held = sort_held_bytes(p), positions = (size_t)1 << size_log2_up(p->n);
    const size_t most = 2 * ROW_STRIP / held, members = SECTOR / held;

    if (!shuffles)
        return (uint32_t)size_min(most, size_max(4, positions / members));
    return (uint32_t)size_min(most / 2,
                              size_max(4, positions / (sort_rows(p) > 1 ? members : 4 * WARP)));
}

/* Whether vectors of a row's keys are aligned: buffers of a device are, host memory that a CPU's
 * buffer may lie in need not be. */
static bool aligned(const job *j, size_t vector)
{
    const tsr_sort_problem *p = sort_of(j->problem);

    return j->device->kind != DEVICE_CPU && p->n % vector == 0 && p->offset_keys % vector == 0 &&
           (!p->argsort || p->offset_index % vector == 0);
}

/* Each row's positions are read, the first again beyond its end, and its keys written.  All keys of
 * a tile go through local memory before the levels of each stage above a work-item's, and where
 * they are turned for the store. */
static void state_registers(const tsr_sort_problem *p, uint32_t keys_shift, uint32_t row_shift,
                            bool turned, size_t tile, command *c)
{
    const size_t positions = c->global[0] / c->local[0] * tile;
    uint32_t turns = turned;

    for (uint32_t stage = keys_shift + 1; stage <= row_shift; stage++)
        turns += 1 + (stage - 1) / keys_shift;
    c->traffic.requested =
        (double)sort_rows(p) * ((double)((size_t)tsr_type_size(p->type) << row_shift) +
                                (double)p->n * (double)(p->value_bytes + sort_entry_bytes(p)));
    c->traffic.local = 2.0 * turns * (double)positions * (double)sort_held_bytes(p);
    c->traffic.barriers = turns + (p->value_bytes ? 1 : 0);
}

static const char *plan_registers(const job *j, plan *out, uint32_t team, const char *means,
                                  bool shuffles)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t held = sort_held_bytes(p), vector = 16 / held;
    uint32_t keys = param(j->params, "KEYS"), group = param(j->params, "GROUP");
    uint32_t row_shift, tile_shift; /* positions of a row, and of a work-group */
    const char *why;
    command *c;

    if ((why = sort_unsupported_packed(p)))
        return why;
    if (p->n > (size_t)1 << SORT_TILE_SHIFT_MAX)
        return plan_unsupported(out, "a row has to fit in its tile: at most %d keys, not %zu",
                                1 << SORT_TILE_SHIFT_MAX, p->n);
    if (!keys) /* a CPU's compiler takes long over more, for every length anew */
        keys = j->device->kind == DEVICE_CPU ? KEYS_ON_CPU : usual_keys(p, shuffles);
    row_shift = (uint32_t)size_max(size_log2_up(p->n), size_log2_up(keys));
    if (!group)
        group = (uint32_t)size_max(group_fit(j->device, 0, ROWS_GROUP),
                                   group_fit(j->device, 0, ((size_t)1 << row_shift) / keys));
    tile_shift = size_log2_up(group) + size_log2_up(keys);
    if (row_shift > tile_shift)
        return plan_unsupported(out, "a row has to fit in its tile: at most %d keys, not %zu",
                                1 << tile_shift, p->n);
    if (tile_shift > SORT_TILE_SHIFT_MAX)
        return plan_unsupported(out, "its tiles have at most 2^%d keys, not 2^%u",
                                SORT_TILE_SHIFT_MAX, tile_shift);
    why = sort_unsupported_room(j, group, ((size_t)1 << tile_shift) * held, j->device->local_memory,
                                out);
    if (why)
        return why;
    if (group < team)
        return plan_unsupported(out, "it needs whole warps of %d work-items, not %u", WARP, group);
    plan_set(out, "KEYS", keys);
    plan_set(out, "GROUP", group);
    sort_define_keys(out, p);
    plan_define(out, "ARGSORT=%d", p->argsort);
    plan_define(out, "ROW_SHIFT=%u", row_shift);
    plan_define(out, "STRIP_BYTES=%d", ROW_STRIP);
    plan_define(out, "WIDE=%d", p->n % vector == 0);
    plan_define(out, "ALIGNED=%d", aligned(j, vector));
    sort_define_tile(out, team, means);
    if (!shuffles)
        plan_define(out, "SHUFFLES=0");
    if (sort_is_done(p))
        return NULL;
    c = plan_launch_1d(
        out, 0, size_div_up(sort_rows(p), (size_t)1 << (tile_shift - row_shift)) * group, group);
    pass_sequence(c, p);
    sort_step_keys_from(c, p, 0);
    command_u32(c, (uint32_t)p->n);
    command_u64(c, sort_rows(p));
    if (p->value_bytes) {
        command_operand(c, SORT_VALUES);
        command_u64(c, p->offset_values);
    }
    moves(c, p);
    if (team == 1) {
        const uint32_t shift = size_log2_up(keys);
        const bool turned = row_shift > shift && (p->n % vector || keys * held > ROW_STRIP);

        state_registers(p, shift, row_shift, turned, (size_t)1 << tile_shift, c);
    }
    return NULL;
}

static const char *plan_group(const job *j, plan *out)
{
    return plan_registers(j, out, 1, "TEAM_NONE", false);
}

static const char *plan_warp(const job *j, plan *out)
{
    return plan_registers(j, out, WARP, "TEAM_WARP", false);
}

static const char *plan_shfl(const job *j, plan *out)
{
    return plan_registers(j, out, WARP, "TEAM_SHFL", true);
}

const variant sort_rows_registers = {
    .name = "rows-registers",
    .alias = "rows-held",
    .idea = "short rows in registers, exchanged in local memory between strides",
    .source = "sort/sort_rows_registers.cl",
    .entries = {"sort_rows_registers_tile"},
    .build = "",
    .slow_unless_optimized = true,
    .tunables = registers_tunables,
    .tunable_count = REGISTERS_TUNABLES,
    .plan = plan_group,
};

const variant sort_rows_warp = {
    .name = "rows-warp",
    .idea = "a row belongs to a warp or a part of one, which waits for no other",
    .source = "sort/sort_rows_registers.cl",
    .entries = {"sort_rows_registers_tile"},
    .build = "",
    .needs = 1u << FEATURE_PTX,
    .tunables = registers_tunables,
    .tunable_count = REGISTERS_TUNABLES,
    .plan = plan_warp,
};

const variant sort_rows_shfl = {
    .name = "rows-shfl",
    .idea = "within a warp, keys of a row are exchanged from register to register",
    .source = "sort/sort_rows_registers.cl",
    .entries = {"sort_rows_registers_tile"},
    .build = "",
    .needs = 1u << FEATURE_PTX,
    .tunables = registers_tunables,
    .tunable_count = REGISTERS_TUNABLES_SHUFFLES,
    .plan = plan_shfl,
};
