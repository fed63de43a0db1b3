/* Scans of tiles by work-groups: by three launches, and by looking back. */
#include "base/sizes.h"
#include "core/groups.h"
#include "core/last_group.h"
#include "ops/scan/scan_problem.h"

enum { TILE_TOTALS, TILE_CARRIES, TILE_SCANS };

/* Where the tunables are 0.  A core runs the work-items of its group in turns: on a CPU few take
 * many elements. */
enum { GROUP_CPU = 4, GROUP_GPU = 256, ITEMS_CPU = 256, ITEMS_GPU = 8 };

enum { CARRY_GROUP_CPU = 1, CARRY_GROUP_GPU = 256 };

/* As scan_tile.clh has it. */
typedef struct tiles_call {
    uint64_t n, rows, tiles, from, to, segments, from_segments, aggregates, prefixes;
} tiles_call;

typedef struct layout {
    size_t group, items, value; /* work-items; elements of each; bytes of a value */
    tiles_call call;
    size_t all;    /* tiles of all lines */
    size_t states; /* bytes of words, one for each tile and another, before the values */
} layout;

/* NULL and the tiles of a job with their -Ds, or why it has none. */
static const char *lay_out(const job *j, layout *out, plan *to)
{
    const tsr_scan_problem *p = scan_of(j->problem);
    const bool cpu = j->device->kind == DEVICE_CPU;
    const size_t group = param(j->params, "GROUP"), items = param(j->params, "ITEMS");
    const char *why = scan_define(j, to);
    size_t tile, local;

    if (why)
        return why;
    if (scan_inner(p) > 1)
        return "it scans lines whose elements are side by side, not columns";
    out->value = scan_value_bytes(p);
    out->group = group_fit(j->device, 0, group ? group : cpu ? GROUP_CPU : GROUP_GPU);
    out->items = items ? items : cpu ? ITEMS_CPU : ITEMS_GPU;
    tile = out->group * out->items;
    local =
        (tile + tile / 32 + 1 + out->group + 1) * out->value + (out->group + 2) * sizeof(uint32_t);
    if ((why = plan_unsupported_local(to, local, j->device->local_memory)))
        return why;
    plan_set(to, "GROUP", (uint32_t)out->group);
    plan_set(to, "ITEMS", (uint32_t)out->items);
    out->call = (tiles_call){.n = p->n,
                             .rows = scan_outer(p),
                             .tiles = size_div_up(p->n, tile),
                             .from = p->offset_x,
                             .to = p->offset_result,
                             .segments = p->segments,
                             .from_segments = p->offset_segments};
    out->all = scan_outer(p) * out->call.tiles;
    if (out->all > UINT32_MAX - 1)
        return plan_unsupported(to, "it numbers tiles in 32 bits: at most %u, not %zu",
                                UINT32_MAX - 1, out->all);
    out->states = size_round_up((out->all + 1) * sizeof(uint32_t), sizeof(uint64_t));
    out->call.aggregates = out->states / out->value;
    out->call.prefixes = out->call.aggregates + out->all;
    return NULL;
}

/* x, and the offsets of segments; kernels without segments do not read that argument. */
static void add_inputs(command *c, const tsr_scan_problem *p)
{
    command_operand(c, SCAN_X);
    command_operand(c, p->segments ? SCAN_SEGMENTS : SCAN_X);
}

static double read_bytes(const tsr_scan_problem *p)
{
    return (double)tsr_type_size(p->type) * (double)scan_elements(p);
}

static double moved_bytes(const tsr_scan_problem *p)
{
    return read_bytes(p) +
           (double)tsr_type_size(tsr_scan_result_type(p)) * (double)scan_elements(p);
}

/* Bytes of a carry: a value, and whether a segment starts. */
static double carry_bytes(const layout *x)
{
    return (double)x->value + (double)sizeof(uint32_t);
}

/* What a tile asks of local memory until its work-items know what is before them: elements come and
 * are read once, and carries go from work-item to work-item (before_item of scan_tile.clh). */
static double tile_bytes(const layout *x)
{
    const double group = (double)x->group, rounds = (double)size_log2_up(x->group);
    const double handed = (2 * rounds + 3) * group - (double)((size_t)1 << size_log2_up(x->group));

    return 2 * group * (double)x->items * (double)x->value + handed * carry_bytes(x);
}

static double tile_barriers(const layout *x)
{
    return 2 * (double)size_log2_up(x->group) + 3;
}

/* The same of a launch that stores results: each is written to the tile and read from it, and so is
 * its element once more. */
static void state_results(const tsr_scan_problem *p, const layout *x, command *c)
{
    c->traffic.local =
        (double)x->all * tile_bytes(x) + 3 * (double)x->value * (double)scan_elements(p);
    c->traffic.barriers = tile_barriers(x) + 1;
}

static const char *plan_three_launches(const job *j, plan *out)
{
    const tsr_scan_problem *p = scan_of(j->problem);
    const size_t set = param(j->params, "CARRY_GROUP");
    const size_t usual = j->device->kind == DEVICE_CPU ? CARRY_GROUP_CPU : CARRY_GROUP_GPU;
    const size_t adding = group_fit(j->device, 0, set ? set : usual);
    layout x = {0};
    const char *why = lay_out(j, &x, out);
    command *c;

    if (why)
        return why;
    plan_set(out, "CARRY_GROUP", (uint32_t)adding);
    if (scan_elements(p) == 0)
        return NULL;
    if (x.call.tiles > 1) {
        out->workspace = x.states + x.all * x.value;
        c = plan_launch_1d(out, TILE_TOTALS, x.all * x.group, x.group);
        add_inputs(c, p);
        command_workspace(c);
        command_workspace(c);
        command_block(c, &x.call, sizeof(x.call));
        c->bytes = read_bytes(p) + (double)out->workspace;
        if (!p->segments) { /* else offsets decide what is read of them */
            c->traffic.requested = read_bytes(p) + (double)x.all * carry_bytes(&x);
            c->traffic.local = (double)x.all * tile_bytes(&x);
            c->traffic.barriers = tile_barriers(&x);
        }
        c = plan_launch_1d(out, TILE_CARRIES, x.call.rows * adding, adding);
        command_workspace(c);
        command_workspace(c);
        command_block(c, &x.call, sizeof(x.call));
        c->bytes = 2 * (double)out->workspace;
        /* Carries are read twice, and written without the flag; each work-item reads those of all
         * before it. */
        c->traffic.requested = (double)x.all * (2 * carry_bytes(&x) + (double)x.value);
        c->traffic.local = (double)x.call.rows * carry_bytes(&x) *
                           ((double)adding + (double)adding * (double)(adding - 1) / 2);
        c->traffic.barriers = 1;
    }
    c = plan_launch_1d(out, TILE_SCANS, x.all * x.group, x.group);
    add_inputs(c, p);
    if (x.call.tiles > 1)
        command_workspace(c);
    else
        command_operand(c, SCAN_X);
    command_operand(c, SCAN_RESULT);
    command_block(c, &x.call, sizeof(x.call));
    c->bytes = moved_bytes(p) + (double)out->workspace;
    if (!p->segments) {
        c->traffic.requested =
            moved_bytes(p) +
            (x.call.tiles > 1 ? (double)c->global[0] * (double)x.value : 0); /* the carry, by all */
        state_results(p, &x, c);
    }
    return NULL;
}

static const char *plan_look_back(const job *j, plan *out)
{
    const tsr_scan_problem *p = scan_of(j->problem);
    const last_group way = last_group_of(j->device);
    layout x = {0};
    const char *why = lay_out(j, &x, out);
    command *c;

    if (why)
        return why;
    if (way == LAST_GROUP_NONE)
        return "it needs atomic operations of device scope";
    plan_define(out, "PUBLISHES=%d", (int)way);
    last_group_standard(j->device, way, &out->defines);
    if (scan_elements(p) == 0)
        return NULL;
    out->workspace = x.states + 2 * x.all * x.value;
    plan_fill(out, ARG_WORKSPACE, 0, 0, x.states, 0);
    c = plan_launch_1d(out, 0, x.all * x.group, x.group);
    add_inputs(c, p);
    command_operand(c, SCAN_RESULT);
    command_workspace(c);
    command_workspace(c);
    command_block(c, &x.call, sizeof(x.call));
    c->bytes = moved_bytes(p) + (double)out->workspace;
    if (!p->segments) {
        /* A tile draws a ticket, publishes two values and states, and finds what is before it by
         * one state and one value, or by more where those before it are late.  The ticket and what
         * was found are handed to its work-items. */
        c->traffic.requested =
            moved_bytes(p) + (double)x.all * (2 * (double)sizeof(uint32_t) + 3 * carry_bytes(&x));
        state_results(p, &x, c);
        c->traffic.local += (double)x.all * (double)(x.group + 1) * carry_bytes(&x);
        c->traffic.barriers += 2;
    }
    return NULL;
}

static const tunable tunables[] = {
    {"GROUP",
     "work-items in a work-group, at most what the device takes; 0: by the device",
     {0, 1, 4, 32, 64, 128, 256, 512},
     0,
     4,
     .cpu_most = 4},
    {"ITEMS",
     "elements of a work-item: fewer tiles to look back over against local memory; 0: by the "
     "device",
     {0, 2, 4, 8, 16, 32, 256},
     0,
     2,
     .cpu_most = 2},
    /* Of the three launches alone. */
    {"CARRY_GROUP",
     "work-items that scan the totals of a line's tiles: fewer have less to combine; 0: by the "
     "device",
     {0, 1, 32, 256},
     0,
     32,
     .cpu_most = 1},
};

const variant scan_three_launches = {
    .name = "three-launches",
    .idea = "reduce tiles, scan their totals, scan the tiles from there",
    .answers = 1u << CAUSE_BARRIERS | 1u << CAUSE_LAUNCHES,
    .unstated = "searches the offsets of segments, and their lengths decide how often",
    .source = "scan/scan_three_launches.cl",
    .entries = {"scan_tile_totals", "scan_tile_carries", "scan_tiles"},
    .build = "",
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables),
    .plan = plan_three_launches,
};

const variant scan_look_back = {
    .name = "look-back",
    .idea = "one launch: by decoupled look-back each tile finds the value that it starts from",
    .answers = 1u << CAUSE_BYTES | 1u << CAUSE_LAUNCHES,
    .unstated = "searches the offsets of segments, and their lengths decide how often",
    .source = "scan/scan_look_back.cl",
    .entries = {"scan_look_back"},
    .build = "",
    .uses = LAST_GROUP_USES,
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables) - 1,
    .plan = plan_look_back,
};
