/* Selections on a device: by an atomic counter, by three launches, and by looking back. */
#include <string.h>

#include "base/elements.h"
#include "base/sizes.h"
#include "core/groups.h"
#include "core/last_group.h"
#include "core/real.h"
#include "core/warp_look_back.h"
#include "ops/select/select_problem.h"

/* ---- what all of them share ---------------------------------------------------------------- */

/* As select.clh has it. */
typedef struct select_call {
    uint64_t n, items, tiles, from, to, to_indices, to_count, blocks_at, value;
} select_call;

/* The bits of what is compared with, rounded to the type. */
static uint64_t value_bits(const tsr_select_problem *p)
{
    const double real = type_is_real(p->type) ? real_round(p->type, p->value.real) : 0;
    const float narrow = (float)real;
    uint64_t bits = p->value.natural;
    uint32_t low;

    if (p->type == TSR_F64) {
        memcpy(&bits, &real, sizeof(bits));
    } else if (type_is_real(p->type)) {
        memcpy(&low, &narrow, sizeof(low));
        bits = low;
    }
    return bits;
}

static select_call call_of(const tsr_select_problem *p, size_t items, size_t tiles)
{
    return (select_call){.n = p->n,
                         .items = items,
                         .tiles = tiles,
                         .from = p->offset_x,
                         .to = p->offset_result,
                         .to_indices = p->offset_indices,
                         .to_count = p->offset_count,
                         .value = value_bits(p)};
}

/* NULL and the -Ds, or why the device has no such elements. */
static const char *define(const job *j, plan *out)
{
    const tsr_select_problem *p = select_of(j->problem);
    const char *value = !type_is_real(p->type) ? plan_type_name(p->type)
                        : p->type == TSR_F64   ? "double"
                                               : "float";

    if (p->type == TSR_F64 && !j->device->fp64)
        return "the device has no double precision";
    plan_define(out, "BITS=%s", plan_bits_name(p->type));
    plan_define(out, "VALUE=%s", value);
    plan_define(out, "AS_VALUE=as_%s", value);
    plan_define(out, "FLOATS=%d", plan_float_form(p->type));
    plan_define(out, "WHERE=%zu", p->where);
    plan_define(out, "WITH_INDICES=%d", p->with_indices);
    return NULL;
}

/* Work-items of a group where GROUP is 0.  A core runs those of its group in turns: on a CPU one
 * takes the whole tile. */
enum { GROUP_CPU = 1, GROUP_GPU = 256 };

static size_t group_of(const job *j, size_t usual_cpu, plan *out)
{
    const size_t set = param(j->params, "GROUP");
    const size_t usual = j->device->kind == DEVICE_CPU ? usual_cpu : GROUP_GPU;
    const size_t local = group_fit(j->device, 0, set ? set : usual);

    plan_set(out, "GROUP", (uint32_t)local);
    return local;
}

static double element_bytes(const tsr_select_problem *p)
{
    return (double)tsr_type_size(p->type) * (double)p->n;
}

/* What is stored, at most. */
static double stored_bytes(const tsr_select_problem *p)
{
    return element_bytes(p) + (p->with_indices ? (double)sizeof(int64_t) * (double)p->n : 0);
}

/* The results; kernels that store no indices do not write to the second argument. */
static void add_results(command *c, const tsr_select_problem *p)
{
    command_operand(c, SELECT_RESULT);
    command_operand(c, p->with_indices ? SELECT_INDICES : SELECT_RESULT);
}

static void clear_count(const tsr_select_problem *p, plan *out)
{
    plan_fill(out, ARG_OPERAND, SELECT_COUNT, p->offset_count * sizeof(uint64_t), sizeof(uint64_t),
              0);
}

/* What a scan of one word over a group's work-items asks of local memory (group_scan.clh), and its
 * barriers. */
static double scan_bytes(size_t group)
{
    const double items = (double)group, rounds = (double)size_log2_up(group);

    return (double)sizeof(uint32_t) *
           (items * (2 + 3 * rounds) - (double)((size_t)1 << size_log2_up(group)) + 1);
}

static double scan_barriers(size_t group)
{
    return 2 * (double)size_log2_up(group) + 1;
}

/* An atomic addition reads and writes a word. */
enum { ATOMIC_BYTES = 8 };

/* ---- a counter ----------------------------------------------------------------------------- */

enum { CLEAR, SELECT };

enum { GROUP_COUNTED_CPU = 64 };

/* @param to  Receives the launch that selects; untouched where there is none. */
static const char *plan_counter(const job *j, command **to, plan *out)
{
    const tsr_select_problem *p = select_of(j->problem);
    const char *why = define(j, out);
    const size_t local = group_of(j, GROUP_COUNTED_CPU, out);
    const select_call call = call_of(p, 1, 0);
    command *c;

    if (why)
        return why;
    if (!p->any_order)
        return "it selects in another order each time, which only any_order (--any-order) allows";
    if (p->n > UINT32_MAX)
        return plan_unsupported(out, "it counts in 32 bits: at most %u elements, not %zu",
                                UINT32_MAX, p->n);
    c = plan_launch_1d(out, CLEAR, 1, 1);
    command_operand(c, SELECT_COUNT);
    command_block(c, &call, sizeof(call));
    c->bytes = c->traffic.requested = sizeof(uint64_t);
    if (p->n == 0)
        return NULL;
    c = plan_launch_1d(out, SELECT, size_round_up(p->n, local), local);
    command_operand(c, SELECT_X);
    add_results(c, p);
    command_operand(c, SELECT_COUNT);
    command_block(c, &call, sizeof(call));
    c->bytes = element_bytes(p) + stored_bytes(p);
    c->traffic.busy = (double)p->n / (double)c->global[0];
    *to = c;
    return NULL;
}

static const char *plan_atomic(const job *j, plan *out)
{
    command *c = NULL;
    const char *why = plan_counter(j, &c, out);

    if (!why && c)
        c->traffic.requested = c->bytes + ATOMIC_BYTES * (double)select_of(j->problem)->n;
    return why;
}

static const char *plan_group_atomic(const job *j, plan *out)
{
    command *c = NULL;
    const char *why = plan_counter(j, &c, out);
    double groups;

    if (why || !c)
        return why;
    groups = (double)c->global[0] / (double)c->local[0];
    c->traffic.requested = c->bytes + ATOMIC_BYTES * groups;
    /* Where the group begins is stored once, and read by those that have selected. */
    c->traffic.local = groups * (scan_bytes(c->local[0]) + (double)sizeof(uint32_t)) +
                       (double)select_of(j->problem)->n * (double)sizeof(uint32_t);
    c->traffic.barriers = scan_barriers(c->local[0]) + 1;
    return NULL;
}

static const char *plan_ballot(const job *j, plan *out)
{
    command *c = NULL;
    const char *why;

    if (group_limit(j->device, 0) < 32)
        return "it needs work-groups of whole warps";
    why = plan_counter(j, &c, out);
    if (!why && c)
        c->traffic.requested = c->bytes + ATOMIC_BYTES * (double)c->global[0] / 32;
    return why;
}

static const tunable counter_tunables[] = {
    {"GROUP", GROUP_MEANING, {0, 32, 64, 128, 256}, 0, 32, .cpu_most = 32},
};

const variant select_atomic = {
    .name = "atomic",
    .idea = "an atomic counter says where each element goes: no order",
    .source = "select/select_atomic.cl",
    .entries = {"select_clear", "select_atomic"},
    .build = "",
    .tunables = counter_tunables,
    .tunable_count = ARRAY_COUNT(counter_tunables),
    .plan = plan_atomic,
};

const variant select_group_atomic = {
    .name = "group-atomic",
    .idea = "a scan in each work-group, and one atomic for all that it selects",
    .source = "select/select_group_atomic.cl",
    .entries = {"select_clear", "select_group_atomic"},
    .build = "",
    .tunables = counter_tunables,
    .tunable_count = ARRAY_COUNT(counter_tunables),
    .plan = plan_group_atomic,
};

const variant select_ballot = {
    .name = "ballot",
    .idea = "a warp's ballot in place of the scan: no barrier, one atomic a warp",
    .source = "select/select_ballot.cl",
    .entries = {"select_clear", "select_ballot"},
    .build = "",
    .needs = 1u << FEATURE_PTX,
    .tunables = counter_tunables,
    .tunable_count = ARRAY_COUNT(counter_tunables),
    .plan = plan_ballot,
};

/* ---- tiles --------------------------------------------------------------------------------- */

enum { COUNTS, PLACES, PUTS, ONE_TILE };

enum { ITEMS_CPU = 4096, ITEMS_GPU = 8, PLACES_GROUP = 256, PLACES_GROUP_CPU = 1 };

/* Elements of a work-item of a GPU up to which one tile has all, for which a first call compiles
 * one kernel instead of three. */
enum { ITEMS_ALONE = 64 };

static size_t items_usual(const job *j)
{
    return j->device->kind == DEVICE_CPU ? ITEMS_CPU : ITEMS_GPU;
}

static size_t items_of_one_tile(const job *j, size_t local)
{
    const size_t all = size_div_up(select_of(j->problem)->n, local);

    return all <= ITEMS_ALONE ? size_max(all, items_usual(j)) : items_usual(j);
}

static size_t items_of(const job *j, size_t usual, plan *out)
{
    const size_t set = param(j->params, "ITEMS");

    plan_set(out, "ITEMS", (uint32_t)(set ? set : usual));
    return set ? set : usual;
}

static const char *plan_three_launches(const job *j, plan *out)
{
    const tsr_select_problem *p = select_of(j->problem);
    const char *why = define(j, out);
    const size_t local = group_of(j, GROUP_CPU, out);
    const size_t items = items_of(j, items_of_one_tile(j, local), out);
    const size_t tiles = size_div_up(p->n, local * items);
    const size_t adding =
        group_fit(j->device, 0, j->device->kind == DEVICE_CPU ? PLACES_GROUP_CPU : PLACES_GROUP);
    const select_call call = call_of(p, items, tiles);
    command *c;

    if (why)
        return why;
    plan_define(out, "PLACES_GROUP=%zu", adding);
    /* On a GPU it runs where nothing better is compiled yet. */
    plan_define(out, "UNROLLED=%d", j->device->kind == DEVICE_CPU);
    plan_define(out, "ONE_TILE=%d", tiles == 1);
    if (p->n == 0) {
        clear_count(p, out);
        return NULL;
    }
    if (tiles == 1) {
        c = plan_launch_1d(out, ONE_TILE, local, local);
        command_operand(c, SELECT_X);
        add_results(c, p);
        command_operand(c, SELECT_COUNT);
        command_block(c, &call, sizeof(call));
        c->bytes = element_bytes(p) + stored_bytes(p);
        /* Elements are read twice. */
        c->traffic.requested = c->bytes + element_bytes(p) + (double)sizeof(uint64_t);
        c->traffic.local = scan_bytes(local);
        c->traffic.barriers = scan_barriers(local);
        return NULL;
    }
    out->workspace = tiles * sizeof(uint64_t);
    c = plan_launch_1d(out, COUNTS, tiles * local, local);
    command_operand(c, SELECT_X);
    command_workspace(c);
    command_block(c, &call, sizeof(call));
    c->bytes = c->traffic.requested = element_bytes(p) + (double)out->workspace;
    c->traffic.local = (double)tiles * scan_bytes(local);
    c->traffic.barriers = scan_barriers(local);
    c = plan_launch_1d(out, PLACES, adding, adding);
    command_workspace(c);
    command_operand(c, SELECT_COUNT);
    command_block(c, &call, sizeof(call));
    c->bytes = 2 * (double)out->workspace;
    /* Counts are read twice; each work-item adds up the sums of those before it. */
    c->traffic.requested = 3 * (double)out->workspace + (double)sizeof(uint64_t);
    c->traffic.local =
        (double)sizeof(uint64_t) * ((double)adding + (double)adding * (double)(adding - 1) / 2 + 1);
    c->traffic.barriers = 1;
    c = plan_launch_1d(out, PUTS, tiles * local, local);
    command_operand(c, SELECT_X);
    add_results(c, p);
    command_workspace(c);
    command_block(c, &call, sizeof(call));
    c->bytes = element_bytes(p) + stored_bytes(p);
    /* Elements are read twice, and the tile's place by every work-item. */
    c->traffic.requested =
        c->bytes + element_bytes(p) + (double)sizeof(uint64_t) * (double)c->global[0];
    c->traffic.local = (double)tiles * scan_bytes(local);
    c->traffic.barriers = scan_barriers(local);
    return NULL;
}

static const char *plan_look_back(const job *j, plan *out)
{
    const tsr_select_problem *p = select_of(j->problem);
    const last_group way = last_group_of(j->device);
    const char *why = define(j, out);
    const size_t local = group_of(j, GROUP_CPU, out), items = items_of(j, items_usual(j), out);
    const size_t tiles = size_div_up(p->n, local * items);
    const select_call call = call_of(p, items, tiles);
    command *c;

    if (why)
        return why;
    plan_define(out, "UNROLLED=1");
    if (way == LAST_GROUP_NONE)
        return "it needs atomic operations of device scope";
    if (p->n > INT32_MAX)
        return plan_unsupported(out, "it counts in 31 bits: at most %d elements, not %zu",
                                INT32_MAX, p->n);
    plan_define(out, "STATES=STATES_%s", way == LAST_GROUP_PTX ? "PTX" : "ATOMICS");
    last_group_standard(j->device, way, &out->defines);
    if (p->n == 0) {
        clear_count(p, out);
        return NULL;
    }
    out->workspace = (tiles + 1) * sizeof(uint32_t);
    plan_fill(out, ARG_WORKSPACE, 0, 0, out->workspace, 0);
    c = plan_launch_1d(out, 0, tiles * local, local);
    command_operand(c, SELECT_X);
    add_results(c, p);
    command_operand(c, SELECT_COUNT);
    command_workspace(c);
    command_block(c, &call, sizeof(call));
    c->bytes = element_bytes(p) + stored_bytes(p) + 2 * (double)out->workspace;
    /* Elements are read twice.  A tile draws a ticket and publishes twice; it looks at four states
     * of 32 bits, or more often where those before it are late.  The ticket and where the tile
     * begins are handed to its work-items. */
    c->traffic.requested = element_bytes(p) * 2 + stored_bytes(p) + sizeof(uint64_t) +
                           (double)tiles * (ATOMIC_BYTES + 6 * (double)sizeof(uint32_t));
    c->traffic.local =
        (double)tiles * (scan_bytes(local) + 2 * (double)(local + 1) * (double)sizeof(uint32_t));
    c->traffic.barriers = scan_barriers(local) + 2;
    return NULL;
}

static const tunable tile_tunables[] = {
    {"GROUP", GROUP_MEANING, {0, 1, 32, 64, 128, 256, 512}, 0, 32, .cpu_most = 32},
    {"ITEMS",
     "elements of a work-item: more leave fewer tiles whose places have to be found, fewer leave "
     "more work-groups; 0: by the device",
     {0, 4, 8, 16, 32, 4096},
     0,
     4,
     .host_only = true,
     .any = true},
};

const variant select_three_launches = {
    .name = "three-launches",
    .idea = "count in each tile, scan the counts, store: the elements keep their order",
    .source = "select/select_three_launches.cl",
    .entries = {"select_counts", "select_places", "select_puts", "select_one_tile"},
    .build = "",
    .tunables = tile_tunables,
    .tunable_count = ARRAY_COUNT(tile_tunables),
    .plan = plan_three_launches,
};

const variant select_look_back = {
    .name = "look-back",
    .idea = "one launch: by decoupled look-back each tile finds where its elements go",
    .source = "select/select_look_back.cl",
    .entries = {"select_look_back"},
    .build = "",
    .uses = LAST_GROUP_USES,
    .tunables = tile_tunables,
    .tunable_count = ARRAY_COUNT(tile_tunables),
    .plan = plan_look_back,
};

/* ---- warps --------------------------------------------------------------------------------- */

enum { WARPS_VECTOR = 4, WARPS_GROUP = 256, WARPS_ROWS = 4 };

/* Compute units for each tile that are worth shorter ones: to look back over more tiles takes
 * longer than units that stand idle save. */
enum { WARPS_UNITS_PER_TILE = 4 };

/* What a work-item needs beside its elements, in registers of 32 bits, and in all. */
enum { WARPS_BESIDE = 16, WARPS_REGISTERS_MIN = 32 };

static const char *plan_warps(const job *j, plan *out)
{
    const tsr_select_problem *p = select_of(j->problem);
    const size_t group = group_fit(j->device, 0, param(j->params, "GROUP"));
    const size_t units = size_max(j->device->compute_units, 1), given = param(j->params, "ROWS");
    const char *why = define(j, out);
    size_t rows = given ? given : WARPS_ROWS, tile, memory, words;
    look_back_states at;
    select_call call;
    command *c;

    if (why)
        return why;
    if ((why = look_back_unsupported(j->device, group)))
        return why;
    if (p->n > UINT32_MAX)
        return plan_unsupported(out, "it counts in 32 bits: at most %u elements, not %zu",
                                UINT32_MAX, p->n);
    while (!given && rows > 1 &&
           p->n / (group * rows * WARPS_VECTOR) < units / WARPS_UNITS_PER_TILE)
        rows /= 2;
    tile = group * rows * WARPS_VECTOR;
    memory = tile * (tsr_type_size(p->type) + (p->with_indices ? sizeof(uint16_t) : 0)) +
             (group / 32 + 2) * sizeof(uint32_t);
    if ((why = plan_unsupported_local(out, memory, j->device->local_memory)))
        return why;
    plan_set(out, "GROUP", (uint32_t)group);
    plan_set(out, "ROWS", (uint32_t)rows);
    words = size_div_up(tsr_type_size(p->type), sizeof(uint32_t));
    look_back_registers(
        j, group, size_max(rows * WARPS_VECTOR * words + WARPS_BESIDE, WARPS_REGISTERS_MIN), out);
    look_back_ahead(j, tile * tsr_type_size(p->type), out);
    plan_define(out, "ALIGNED=%d", p->offset_x % WARPS_VECTOR == 0);
    if (p->n == 0) {
        clear_count(p, out);
        return NULL;
    }
    call = call_of(p, rows, size_div_up(p->n, tile));
    at = look_back_states_of(1, call.tiles, 1);
    call.blocks_at = at.blocks_at;
    out->workspace = at.end * sizeof(uint64_t);
    if (call.tiles > 1) /* else nobody reads a state */
        plan_fill(out, ARG_WORKSPACE, 0, 0, out->workspace, 0);
    c = plan_launch_1d(out, 0, call.tiles * group, group);
    command_operand(c, SELECT_X);
    add_results(c, p);
    command_operand(c, SELECT_COUNT);
    command_workspace(c);
    command_block(c, &call, sizeof(call));
    c->bytes = element_bytes(p) + stored_bytes(p) + 2 * (double)out->workspace;
    return NULL;
}

static const tunable warps_tunables[] = {
    {"GROUP", "work-items in a work-group", {64, 128, 256, 512}, WARPS_GROUP, 64},
    {"ROWS",
     "vectors of four elements that a work-item keeps in registers: fewer tiles to look back over "
     "against work-groups side by side; 0: by the size",
     {0, 1, 2, 4},
     0,
     1},
    LOOK_BACK_REGISTERS,
    LOOK_BACK_AHEAD,
};

const variant select_warps = {
    .name = "warps",
    .idea = "vectors in registers, places by a scan of bytes; a warp looks back over many tiles",
    .unstated = "reads again what earlier tiles publish, as long as it is not there",
    .source = "select/select_warps.cl",
    .entries = {"select_warps"},
    .build = "",
    .needs = 1u << FEATURE_PTX,
    .tunables = warps_tunables,
    .tunable_count = ARRAY_COUNT(warps_tunables),
    .plan = plan_warps,
};
