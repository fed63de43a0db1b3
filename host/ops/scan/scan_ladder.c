/* The first steps of scan on a device: float32 sums of one line. */
#include "base/sizes.h"
#include "core/groups.h"
#include "ops/scan/scan_problem.h"

enum { GROUP_CPU = 64, GROUP_GPU = 256 };

/* NULL, or why the first steps do not take a problem. */
static const char *unsupported(const tsr_scan_problem *p)
{
    if (p->type != TSR_F32 || p->by != TSR_SCAN_SUM)
        return "it computes sums of float32";
    if (scan_lines(p) > 1 || p->segments)
        return "it scans one line, without segments";
    return p->reverse ? "it scans from the front alone" : NULL;
}

static size_t group_of(const job *j, plan *out)
{
    const size_t set = param(j->params, "GROUP");
    const size_t usual = j->device->kind == DEVICE_CPU ? GROUP_CPU : GROUP_GPU;
    const size_t local = group_fit(j->device, 0, set ? set : usual);

    plan_set(out, "GROUP", (uint32_t)local);
    return local;
}

/* ---- Hillis and Steele ---------------------------------------------------------------------- */

enum { START, ROUND };

/* As scan_hillis_steele.cl has it. */
typedef struct line_call {
    uint64_t n, from, to, distance;
} line_call;

/* Where a round leaves its results: in the result where `back`, else in the workspace. */
static void add_array(command *c, bool back)
{
    if (back)
        command_operand(c, SCAN_RESULT);
    else
        command_workspace(c);
}

static const char *plan_hillis_steele(const job *j, plan *out)
{
    const tsr_scan_problem *p = scan_of(j->problem);
    const char *why = unsupported(p);
    const size_t local = group_of(j, out), items = size_round_up(p->n, local);
    const unsigned rounds = size_log2_up(p->n);
    line_call call = {.n = p->n, .from = p->offset_x};
    bool back = rounds % 2 == 0; /* so that the last round ends in the result */

    if (why)
        return why;
    plan_define(out, "EXCLUSIVE=%d", p->exclusive);
    if (p->n == 0)
        return NULL;
    out->workspace = rounds ? p->n * sizeof(float) : 0;
    for (unsigned k = 0; k <= rounds; k++, back = !back) {
        command *c = plan_launch_1d(out, k ? ROUND : START, items, local);

        call.to = back ? p->offset_result : 0;
        if (k == 0)
            command_operand(c, SCAN_X);
        else
            add_array(c, !back);
        add_array(c, back);
        command_block(c, &call, sizeof(call));
        c->bytes = 2 * (double)sizeof(float) * (double)p->n;
        /* A round reads the element itself, and the one before it where there is one. */
        c->traffic.requested =
            k ? c->bytes + (double)sizeof(float) * ((double)p->n - (double)call.distance)
              : c->bytes - (double)sizeof(float) * p->exclusive;
        c->traffic.busy = (double)p->n / (double)items;
        call.from = call.to;
        call.distance = (size_t)1 << k;
    }
    return NULL;
}

static const tunable line_tunables[] = {
    {"GROUP", GROUP_MEANING, {0, 32, 64, 128, 256}, 0, 32, .host_only = true},
};

const variant scan_hillis_steele = {
    .name = "hillis-steele",
    .idea = "log2(n) rounds over memory, in each of which every element adds an earlier one",
    .source = "scan/scan_hillis_steele.cl",
    .entries = {"hillis_steele_start", "hillis_steele_round"},
    .build = "",
    .tunables = line_tunables,
    .tunable_count = ARRAY_COUNT(line_tunables),
    .plan = plan_hillis_steele,
};

/* ---- Blelloch ------------------------------------------------------------------------------ */

enum { TILES, ADD };

enum { LEVELS_MAX = 64, WARP = 32 };

/* As scan_blelloch.cl has it. */
typedef struct level_call {
    uint64_t n, from, to, totals, exclusive;
} level_call;

/* What a tree of two elements a work-item asks of local memory in each tile: both are stored and in
 * the end loaded; each of the 2 local - 1 nodes above a pair is 2 loads and a store on the way up,
 * and 3 loads and 2 stores on the way down; and the root goes to the totals and becomes 0. */
static void state_tree(size_t tiles, size_t local, command *c)
{
    c->traffic.local = (double)sizeof(float) * (20 * (double)local - 6) * (double)tiles;
    c->traffic.barriers = 2 * size_log2_up(2 * local) + 2;
}

/* The same of warps: each leaves a sum for each half of the tile, and every work-item loads all. */
static void state_warps(size_t tiles, size_t local, command *c)
{
    const double sums = 2 * (double)local / WARP;

    c->traffic.local = (double)sizeof(float) * sums * ((double)local + 1) * (double)tiles;
    c->traffic.barriers = 1;
}

/* The levels of a problem that unsupported() takes: tiles of two elements a work-item, whose local
 * memory `state` knows, and sums that are added to those of each level below the top. */
static const char *plan_tiles(const job *j, size_t local,
                              void (*state)(size_t tiles, size_t local, command *c), plan *out)
{
    const tsr_scan_problem *p = scan_of(j->problem);
    const size_t tile = 2 * local;
    level_call level[LEVELS_MAX];
    size_t levels = 0, at = 0; /* of the workspace, in elements */

    if (p->n == 0)
        return NULL;
    for (size_t n = p->n;; n = size_div_up(n, tile)) {
        level_call *l = &level[levels];

        *l = (level_call){.n = n, .from = at, .to = at, .exclusive = 1};
        if (levels++ == 0) {
            l->from = p->offset_x;
            l->to = p->offset_result;
            l->exclusive = p->exclusive;
        } else {
            at += n;
        }
        l->totals = at;
        if (n <= tile)
            break;
    }
    out->workspace = (at + 1) * sizeof(float);
    for (size_t k = 0; k < levels; k++) {
        const size_t tiles = size_div_up((size_t)level[k].n, tile);
        command *c = plan_launch_1d(out, TILES, tiles * local, local);

        if (k == 0) {
            command_operand(c, SCAN_X);
            command_operand(c, SCAN_RESULT);
        } else {
            command_workspace(c);
            command_workspace(c);
        }
        command_workspace(c);
        command_block(c, &level[k], sizeof(level[k]));
        c->bytes = (double)sizeof(float) * (2 * (double)level[k].n + (double)tiles);
        c->traffic.requested = c->bytes;
        state(tiles, local, c);
    }
    for (size_t k = levels - 1; k-- > 0;) {
        const size_t tiles = size_div_up((size_t)level[k].n, tile);
        command *c = plan_launch_1d(out, ADD, tiles * local, local);

        if (k == 0)
            command_operand(c, SCAN_RESULT);
        else
            command_workspace(c);
        command_workspace(c);
        command_block(c, &level[k], sizeof(level[k]));
        c->bytes = (double)sizeof(float) * (2 * (double)level[k].n + (double)tiles);
        /* Each work-item loads the sum for each of its elements. */
        c->traffic.requested = 3 * (double)sizeof(float) * (double)level[k].n;
    }
    return NULL;
}

static const char *plan_blelloch(const job *j, plan *out, bool padded)
{
    const char *why = unsupported(scan_of(j->problem));
    const size_t local = group_of(j, out), tile = 2 * local;
    const size_t memory = (tile + (padded ? tile / 32 : 0)) * sizeof(float);

    if (why)
        return why;
    if ((why = plan_unsupported_local(out, memory, j->device->local_memory)))
        return why;
    plan_define(out, "PADDED=%d", padded);
    return plan_tiles(j, local, state_tree, out);
}

static const char *plan_plain(const job *j, plan *out)
{
    return plan_blelloch(j, out, false);
}

static const char *plan_padded(const job *j, plan *out)
{
    return plan_blelloch(j, out, true);
}

static const tunable tree_tunables[] = {
    {"GROUP", GROUP_MEANING, {0, 1, 32, 64, 128, 256, 512}, 0, 32, .cpu_most = 64},
};

const variant scan_blelloch = {
    .name = "blelloch",
    .idea =
        "a tree in local memory, up and down: n additions, not n log2(n); tiles, then their totals",
    .answers = 1u << CAUSE_BYTES | 1u << CAUSE_LAUNCHES,
    .source = "scan/scan_blelloch.cl",
    .entries = {"blelloch_tiles", "blelloch_add"},
    .build = "",
    .tunables = tree_tunables,
    .tunable_count = ARRAY_COUNT(tree_tunables),
    .plan = plan_plain,
};

const variant scan_blelloch_padded = {
    .name = "blelloch-padded",
    .idea = "the same with a word left out after each 32: no two work-items in one bank",
    .answers = 1u << CAUSE_LOCAL,
    .source = "scan/scan_blelloch.cl",
    .entries = {"blelloch_tiles", "blelloch_add"},
    .build = "",
    .tunables = tree_tunables,
    .tunable_count = ARRAY_COUNT(tree_tunables),
    .plan = plan_padded,
};

/* ---- warps ---------------------------------------------------------------------------------- */

static const char *plan_shuffle(const job *j, plan *out)
{
    const char *why = unsupported(scan_of(j->problem));
    const size_t local = group_of(j, out);

    if (why)
        return why;
    if (local < WARP)
        return "the device's work-groups are smaller than a warp of 32";
    return plan_tiles(j, local, state_warps, out);
}

static const tunable warp_tunables[] = {
    {"GROUP", GROUP_MEANING, {0, 32, 64, 128, 256, 512}, 0, 32},
};

const variant scan_shuffle = {
    .name = "shuffle",
    .idea = "warps scan in registers by NVIDIA's shuffle instruction, and one barrier is left",
    .answers = 1u << CAUSE_BARRIERS | 1u << CAUSE_LOCAL,
    .source = "scan/scan_shuffle.cl",
    .entries = {"shuffle_tiles", "shuffle_add"},
    .build = "",
    .needs = 1u << FEATURE_PTX,
    .tunables = warp_tunables,
    .tunable_count = ARRAY_COUNT(warp_tunables),
    .plan = plan_shuffle,
};
