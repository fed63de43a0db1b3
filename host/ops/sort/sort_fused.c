/**
 * The network with keys in registers: cl/sort/sort_fused.cl.
 */
#include "base/sizes.h"
#include "ops/sort/sort_commands.h"
#include "ops/sort/sort_variants.h"

/* Entries of cl/sort/sort_fused.cl, in the variants' order. */
enum {
    FUSED_TILE,
    FUSED_MERGE,
    FUSED_FLIP,
    FUSED_PASS,
    FUSED_FLIP_LONG,
    FUSED_PASS_LONG,
    FUSED_KEEP
};

enum {
    LINE = 128,                /* bytes that a pass reads side by side: a cache line */
    TILE_BYTES = 64 << 10,     /* of a tile where it is not given, ... */
    TILE_BYTES_MIN = 16 << 10, /* ... and where few keys are shared out */
    WARP = 32,
    USUAL_SHORT_GROUP = 128,
    CHUNK_BYTES = 16 << 20, /* two of them stay in the cache of a large GPU; it has to hold them */
    CHUNK_OF_ALL = 31,      /* CHUNK where all keys are sorted at once */
    KEYS_ON_CPU = 8, /* a CPU has fewer registers, and goes through the work-items of a group ... */
    ITEMS_ON_CPU = 16, /* ... one by one */
};

/* Those of NVIDIA's variant that shuffles have one more, the last. */
static const tunable tunables[] = {
    {"KEYS",
     "keys that a work-item holds: strides without an exchange against registers",
     {0, 4, 8, 16, 32, 64},
     0,
     4,
     .cpu_most = 8},
    {"GROUP",
     "work-items that merge a tile: a larger one saves passes and takes local memory",
     {0, 8, 64, 128, 256, 512, 1024},
     0,
     8},
    {"SORT_TILES",
     "merged tiles in one that is sorted first: a larger one saves two passes a "
     "stage, and has fewer groups",
     {0, 1, 2, 4},
     0,
     .host_only = true},
    {"PASS_TILES", "merged tiles in one of a long pass: longer rows, or more strides", {1, 2}, 1},
    {"STAGES",
     "strides of a long pass: fewer passes against shorter rows",
     {0, 6, 7, 8, 9, 10, 11},
     0},
    {"SHORT_GROUP",
     "work-items that do strides in registers alone: more have fewer registers each",
     {0, 8, 128, 256, 512},
     0,
     8},
    {"LAYOUT", "keys in local memory: 1 plainly, 2 swizzled against bank conflicts", {1, 2}, 2},
    {"CHUNK",
     "exponent of the number of keys that are sorted before the next are begun: they stay in "
     "cache, and take more launches; 31: all at once",
     {0, 20, 21, 22, 23, 24, 31},
     0,
     .host_only = true},
    {"QUEUES",
     "chunks that are sorted side by side: idle units against the cache's room",
     {1, 2},
     2,
     .host_only = true},
    {"SHUFFLES",
     "stages after those in registers that are done by shuffles: each costs more than the one "
     "before, while in local memory all cost the same",
     {1, 2, 3, 4, 5},
     3},
};

enum { TUNABLES = ARRAY_COUNT(tunables) - 1, TUNABLES_SHUFFLES = ARRAY_COUNT(tunables) };

/* How the network is split. */
typedef struct layout {
    uint32_t keys;                          /* that a work-item holds */
    uint32_t group, sort_group, pass_group; /* work-items that merge a tile, sort one, and do long
                                               strides */
    uint32_t short_group;                   /* that do strides in registers alone */
    uint32_t keys_shift, tile_shift;        /* 2^tile_shift keys in a tile that is merged */
    uint32_t sort_shift, pass_shift;        /* in one that is sorted, in one of long strides */
    uint32_t stages;                        /* strides of a long pass */
    uint32_t chunk_shift;                   /* keys that are sorted before the next */
    size_t local, local_limit;              /* bytes of local memory, at most */
    bool stated;                            /* groups hand keys on through local memory alone */
} layout;

/* Half a tile where local memory has no room for a whole one, or units would have none, and so on.
 */
static uint32_t usual_group(const job *j, size_t local, uint32_t keys)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t held = keys * sort_held_bytes(p);
    const double bytes = (double)p->n * (double)sort_rows(p) * (double)sort_held_bytes(p);
    const double units = (double)size_max(j->device->compute_units, 1);
    size_t tile = TILE_BYTES;

    while (tile > held &&
           (tile > local || (tile > TILE_BYTES_MIN && bytes < 0.75 * units * (double)tile)))
        tile /= 2;
    return (uint32_t)group_fit(j->device, 0,
                               j->device->kind == DEVICE_CPU ? ITEMS_ON_CPU : tile / held);
}

/* The exponent of a chunk: several stand in a row that fills a GPU by itself.  Where keys arrive,
 * it is the largest that makes ARRIVING_CHUNKS of them, as far as the cache holds two: a chunk's
 * launches cost the same however short it is. */
enum { ARRIVING_CHUNKS = 8 };

static uint32_t usual_chunk(const job *j)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t keys = CHUNK_BYTES / sort_held_bytes(p);
    const uint32_t shift = size_log2_up(p->n / ARRIVING_CHUNKS + 1);

    if (j->arriving)
        return (uint32_t)size_min(shift ? shift - 1 : 0, size_log2_up(keys));
    return j->device->kind == DEVICE_GPU && sort_rows(p) == 1 && p->n > 2 * keys
               ? size_log2_up(keys)
               : CHUNK_OF_ALL;
}

/* Few keys of up to 32 bits alone on a GPU: smaller tiles, of which there are as many as units can
 * take. 8000 float32 take 13.1 us of an H200 with these, 13.6 with the usual ones, 4800 12.2
 * and 13.0. */
enum { FEW_KEYS = 1 << 14, FEW_KEYS_HELD = 16, FEW_KEYS_GROUP = 128 };

static bool has_few_keys(const job *j)
{
    const tsr_sort_problem *p = sort_of(j->problem);

    return j->device->kind == DEVICE_GPU && sort_held_bytes(p) == 4 && sort_rows(p) == 1 &&
           p->n > SORT_SHORT_KEYS && p->n <= FEW_KEYS && !param(j->params, "KEYS") &&
           !param(j->params, "GROUP");
}

/* The layout; tunables that are 0 are resolved here.  Local memory beyond the reported limit was
 * probed for the variants that need it, and for no other. */
static layout lay_out(const job *j, bool large_local, plan *out)
{
    const size_t held = sort_held_bytes(sort_of(j->problem));
    uint32_t sort_tiles = param(j->params, "SORT_TILES");
    layout s = {.keys = param(j->params, "KEYS"),
                .group = param(j->params, "GROUP"),
                .short_group = param(j->params, "SHORT_GROUP"),
                .stages = param(j->params, "STAGES"),
                .chunk_shift = param(j->params, "CHUNK"),
                .local_limit = large_local
                                   ? size_max(j->device->local_memory, j->device->large_local)
                                   : j->device->local_memory};

    if (has_few_keys(j)) {
        s.keys = FEW_KEYS_HELD;
        s.group = (uint32_t)group_fit(j->device, 0, FEW_KEYS_GROUP);
    }
    if (!s.keys)
        s.keys = j->device->kind == DEVICE_CPU ? KEYS_ON_CPU : held == 8 ? 16 : 32;
    if (!s.group)
        s.group = usual_group(j, s.local_limit, s.keys);
    s.keys_shift = size_log2_up(s.keys);
    s.tile_shift = size_log2_up(s.group) + s.keys_shift;
    if (!sort_tiles)
        sort_tiles = 2 * s.group <= group_limit(j->device, 0) &&
                             s.tile_shift + 1 <= SORT_TILE_SHIFT_MAX &&
                             ((size_t)2 << s.tile_shift) * held <= s.local_limit
                         ? 2
                         : 1;
    s.sort_group = s.group * sort_tiles;
    s.sort_shift = size_log2_up(s.sort_group) + s.keys_shift;
    s.pass_group = s.group * param(j->params, "PASS_TILES");
    s.pass_shift = size_log2_up(s.pass_group) + s.keys_shift;
    if (!s.short_group)
        s.short_group = (uint32_t)group_fit(j->device, 0, USUAL_SHORT_GROUP);
    if (!s.stages)
        s.stages = (uint32_t)size_max(
            s.pass_shift - size_min(size_log2_up(LINE / held), s.pass_shift), s.keys_shift + 1);
    if (!s.chunk_shift)
        s.chunk_shift = usual_chunk(j);
    if (j->arriving)
        s.chunk_shift = (uint32_t)size_max(s.chunk_shift, s.sort_shift);
    s.local = (size_t)size_max(s.sort_group, s.pass_group) * s.keys * held;
    plan_set(out, "KEYS", s.keys);
    plan_set(out, "GROUP", s.group);
    plan_set(out, "SORT_TILES", sort_tiles);
    plan_set(out, "STAGES", s.stages);
    plan_set(out, "SHORT_GROUP", s.short_group);
    plan_set(out, "CHUNK", s.chunk_shift);
    return s;
}

static const char *unsupported(const job *j, const layout *s, bool warps, plan *out)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const uint32_t most = (uint32_t)size_max(s->sort_shift, s->pass_shift);
    const char *why;

    if (warps && s->group < WARP)
        return plan_unsupported(out, "it needs whole warps of %d work-items, not %u", WARP,
                                s->group);
    if ((why = sort_unsupported_positions(p, out)) || (why = sort_unsupported_packed(p)))
        return why;
    if (most > SORT_TILE_SHIFT_MAX)
        return plan_unsupported(out, "its tiles have at most 2^%d keys, not 2^%u",
                                SORT_TILE_SHIFT_MAX, most);
    if (s->stages <= s->keys_shift || s->stages > s->pass_shift)
        return plan_unsupported(
            out, "with %u keys a work-item and tiles of 2^%u keys STAGES must be %u to %u, not %u",
            s->keys, s->pass_shift, s->keys_shift + 1, s->pass_shift, s->stages);
    why = sort_unsupported_room(j, size_max(size_max(s->sort_group, s->pass_group), s->short_group),
                                s->local, s->local_limit, out);
    return why ? why : sort_unsupported_groups(p, size_min(s->group, s->short_group), out);
}

/* ---- commands ----------------------------------------------------------------------------- */

/* A part of each row, the plan that its commands are added to, and their lane. */
typedef struct range {
    const tsr_sort_problem *problem;
    const layout *layout;
    plan *out;
    size_t first, end; /* positions */
    unsigned lane;
} range;

/* The scalars of a launch: fused_call of cl/sort/sort_fused.cl. */
typedef struct fused_call {
    uint64_t offset_keys, offset_index;
    uint64_t length;
    uint32_t first, end;
    uint32_t rows;
    uint32_t shift;
    uint32_t last;
    uint32_t unused; /* what would be padding: calls are compared by their bytes */
} fused_call;

_Static_assert(sizeof(fused_call) == 48, "as OpenCL C lays it out");

/* How often all keys of a group's tile are written to local memory and read from it. */
static uint32_t turns_of(const layout *s, unsigned entry)
{
    uint32_t turns = 1; /* to where neighbours stand side by side */

    if (entry == FUSED_FLIP || entry == FUSED_PASS)
        return 0;
    if (entry == FUSED_FLIP_LONG || entry == FUSED_PASS_LONG)
        return (s->stages - 1) / s->keys_shift;
    if (entry == FUSED_MERGE)
        return turns + (s->tile_shift - 1) / s->keys_shift;
    for (uint32_t stage = s->keys_shift + 1; stage <= s->sort_shift; stage++)
        turns += 1 + (stage - 1) / s->keys_shift;
    return turns;
}

/* Launch `groups` groups for each row on positions up to `end`: a pass down to the stride 2^shift,
 * or a whole tile, which in the last launch leaves keys. */
static void launch(const range *r, unsigned entry, size_t groups, size_t local, size_t end,
                   uint32_t shift, bool last)
{
    const tsr_sort_problem *s = r->problem;
    /* Between launches an index has its key in itself. */
    const size_t key = tsr_type_size(s->type), stored = sort_with_index(s) ? sizeof(int64_t) : key;
    const size_t read = entry == FUSED_TILE ? key : stored;
    const size_t written = last ? sort_element_bytes(s) : stored;
    const fused_call call = {.offset_keys = s->offset_keys,
                             .offset_index = sort_index_offset(s),
                             .length = s->n,
                             .first = (uint32_t)r->first,
                             .end = (uint32_t)end,
                             .rows = (uint32_t)sort_rows(s),
                             .shift = shift,
                             .last = last};
    command *c = sort_launch(r->out, s, entry, groups * local, local);

    sort_step_keys(c, s);
    command_block(c, &call, sizeof(call));
    sort_step_moves(c, s, end - r->first, read + written);
    if (r->layout->stated) {
        c->traffic.requested = c->bytes;
        c->traffic.barriers = turns_of(r->layout, entry);
        c->traffic.local = c->traffic.barriers * 2 * (double)groups * (double)sort_rows(s) *
                           (double)local * r->layout->keys * (double)sort_held_bytes(s);
    }
    c->lane = r->lane;
    c->first = r->first;
    c->end = end;
    c->settles = last;
}

/* The next pass of a stage, of which strides below 2^top are left: as few passes as can be do what
 * is above a tile.  Returns the exponent of what it leaves. */
static uint32_t add_pass(const range *r, uint32_t stage, uint32_t top, size_t end)
{
    const layout *s = r->layout;
    const uint32_t strides = top - s->tile_shift;
    const bool flip = top == stage;
    const bool is_long =
        strides > s->keys_shift && (strides <= s->stages || strides > 2 * s->keys_shift);
    const uint32_t done = is_long ? s->stages : s->keys_shift, left = top - done;
    const size_t items = sort_exchange_items(end - r->first, (size_t)1 << left, (size_t)1 << done);

    if (!items) /* one key or so beyond whole blocks: nothing to exchange */
        return left;
    if (is_long)
        launch(r, flip ? FUSED_FLIP_LONG : FUSED_PASS_LONG, items >> (s->pass_shift - s->stages),
               s->pass_group, end, left, false);
    else
        launch(r, flip ? FUSED_FLIP : FUSED_PASS, size_div_up(items, s->short_group),
               s->short_group, end, left, false);
    return left;
}

/* What is left of a stage: strides below 2^top. */
static void add_rest(const range *r, uint32_t stage, uint32_t top, size_t end, bool last)
{
    const layout *s = r->layout;

    while (top > s->tile_shift)
        top = add_pass(r, stage, top, end);
    launch(r, FUSED_MERGE, size_div_up(end - r->first, (size_t)1 << s->tile_shift), s->group, end,
           0, last);
}

/* A whole stage.  It ends where a last block has keys in its lower half alone, which is in order.
 */
static void add_stage(const range *r, uint32_t stage, bool last)
{
    const size_t block = (size_t)1 << stage, n = r->end - r->first;

    add_rest(r, stage, stage, r->end - (n % block <= block / 2 ? n % block : 0), last);
}

/* Stages from `stage` up to the one that sorts the range. */
static void add_stages(const range *r, uint32_t stage, bool last)
{
    const uint32_t top = size_log2_up(r->end - r->first);

    for (; stage <= top; stage++)
        add_stage(r, stage, last && stage == top);
}

/* Sort a range: its tiles, and the stages above them. */
static void add_sort(const range *r, bool last)
{
    const layout *s = r->layout;
    const size_t n = r->end - r->first, tile = (size_t)1 << s->sort_shift;

    launch(r, FUSED_TILE, size_div_up(n, tile), s->sort_group, r->end, 0, last && n <= tile);
    add_stages(r, s->sort_shift + 1, last);
}

/* Sort every chunk, as many side by side as there are queues.  Their commands take turns, so that
 * both queues fill alike. */
static void add_chunks(const range *whole, size_t chunk, unsigned queues)
{
    plan parts[LANES] = {0}, *out = whole->out;

    for (size_t first = 0; first < whole->end; first += queues * chunk) {
        size_t most = 0;

        for (unsigned q = 0; q < queues; q++) {
            range one = *whole;

            parts[q].count = 0;
            one.first = first + q * chunk;
            one.end = size_min(one.first + chunk, whole->end);
            one.lane = queues > 1 ? 1 + q : 0;
            one.out = &parts[q];
            if (one.first < whole->end)
                add_sort(&one, false);
            most = size_max(most, parts[q].count);
        }
        for (size_t i = 0; i < most; i++)
            for (unsigned q = 0; q < queues; q++)
                if (i < parts[q].count)
                    plan_append(out, &parts[q].commands[i]);
    }
    for (unsigned q = 0; q < queues; q++) {
        out->failed = out->failed || parts[q].failed;
        plan_free(&parts[q]);
    }
}

/* ---- as keys arrive ------------------------------------------------------------------------ */

/* Parts that the last stage leaves one by one: the last one's copy out is what the others do not
 * hide. */
enum { LEAVING_PARTS = 8 };

/* The last stage: after its first pass blocks have nothing more to do with each other, and go
 * through what is left one part after another. */
static void add_leaving(const range *r, uint32_t stage)
{
    const uint32_t top = add_pass(r, stage, stage, r->end);
    const size_t part = size_round_up(size_div_up(r->end - r->first, LEAVING_PARTS),
                                      (size_t)1 << size_max(top, r->layout->tile_shift));

    for (size_t at = r->first; at < r->end; at += part) {
        range one = *r;

        one.first = at;
        one.end = size_min(at + part, r->end);
        add_rest(&one, stage, top, one.end, true);
    }
}

/* What chunk c, of 2^shift keys, makes whole: blocks of two of them, of four, and so on; the last
 * chunk all blocks that it is in the upper half of. */
static void add_merges(const range *whole, size_t c, uint32_t shift)
{
    const size_t n = whole->end, chunk = (size_t)1 << shift;
    const bool last = n - c * chunk <= chunk;
    const uint32_t top = size_log2_up(n);

    for (uint32_t stage = shift + 1; stage <= top; stage++) {
        const size_t block = (size_t)1 << (stage - shift), at = c % block;
        range one = *whole;

        if (!last && at != block - 1)
            return;
        if (at < block / 2)
            continue;
        one.first = (c - at) * chunk;
        one.end = size_min(one.first + block * chunk, n);
        if (stage == top)
            add_leaving(&one, stage);
        else
            add_stage(&one, stage, false);
    }
}

/* Chunk by chunk, in turn in each lane, and merged with those before as soon as can be: what is
 * left when the last one arrives is its own sort and one merge of each size. */
static void add_arriving(const range *whole, uint32_t shift, unsigned queues)
{
    const size_t chunk = (size_t)1 << shift;

    for (size_t c = 0; c * chunk < whole->end; c++) {
        range one = *whole;

        one.first = c * chunk;
        one.end = size_min(one.first + chunk, whole->end);
        one.lane = queues > 1 ? 1 + c % queues : 0;
        add_sort(&one, false);
        add_merges(whole, c, shift);
    }
}

/* ---- plans --------------------------------------------------------------------------------- */

/* What hands keys on between work-items differs. */
static const char *plan_fused(const job *j, plan *out, uint32_t team, const char *means,
                              int shuffles)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const bool warps = team == WARP;
    layout s = lay_out(j, warps, out);
    const char *why = unsupported(j, &s, warps, out);
    const uint32_t queues = param(j->params, "QUEUES");
    const range whole = {.problem = p, .layout = &s, .out = out, .end = p->n};

    if (why)
        return why;
    s.stated = team == 1;
    sort_define_keys(out, p);
    plan_define(out, "SORT_GROUP=%u", s.sort_group);
    plan_define(out, "PASS_GROUP=%u", s.pass_group);
    sort_define_tile(out, team, means);
    if (shuffles >= 0)
        plan_define(out, "SHUFFLES=%d", shuffles);
    out->workspace = sort_values_bytes(p);
    out->arriving = j->arriving;
    if (sort_is_done(p))
        return NULL;
    if (p->n <= (size_t)1 << s.chunk_shift) {
        add_sort(&whole, true);
    } else if (j->arriving) {
        add_arriving(&whole, s.chunk_shift, queues);
    } else {
        add_chunks(&whole, (size_t)1 << s.chunk_shift, queues);
        add_stages(&whole, s.chunk_shift + 1, true);
    }
    sort_move_values(j, FUSED_KEEP, out);
    return NULL;
}

static const char *plan_group(const job *j, plan *out)
{
    return plan_fused(j, out, 1, "TEAM_NONE", 0);
}

static const char *plan_subgroup(const job *j, plan *out)
{
    /* Shuffles do all strides of a team. */
    return plan_fused(j, out, SHUFFLE_TEAM, "TEAM_SHUFFLES", (int)size_log2_up(SHUFFLE_TEAM));
}

static const char *plan_warp(const job *j, plan *out)
{
    return plan_fused(j, out, WARP, "TEAM_WARP", 0);
}

static const char *plan_shfl(const job *j, plan *out)
{
    return plan_fused(j, out, WARP, "TEAM_SHFL", -1); /* SHUFFLES is a tunable */
}

/* What the four have in common: the kernels, and what they are for. */
#define FUSED                                                                                      \
    .answers =                                                                                     \
        1u << CAUSE_LAUNCHES | 1u << CAUSE_BYTES | 1u << CAUSE_LOCAL | 1u << CAUSE_BARRIERS,       \
    .source = "sort/sort_fused.cl",                                                                \
    .entries = {"sort_fused_tile",  "sort_fused_merge",     "sort_fused_flip",                     \
                "sort_fused_pass",  "sort_fused_flip_long", "sort_fused_pass_long",                \
                "sort_values_keep", "sort_values_gather"},                                         \
    .tunables = tunables, .arrives = true

const variant sort_fused_passes = {
    .name = "fused-passes",
    .idea = "nine and more sub-stages for each read: keys are exchanged in local memory",
    FUSED,
    .build = "",
    .slow_unless_optimized = true,
    .tunable_count = TUNABLES,
    .plan = plan_group,
};

const variant sort_fused_passes_subgroup = {
    .name = "fused-passes-subgroup",
    .idea = "within a sub-group, keys of the first stages are exchanged without local memory",
    FUSED,
    .unstated =
        "passes values on by sub-groups, which the simulator that counts accesses does not have",
    .build = "-cl-std=%CLC%",
    .needs = 1u << FEATURE_SUBGROUPS | 1u << FEATURE_SUBGROUP_SHUFFLE,
    .tunable_count = TUNABLES,
    .plan = plan_subgroup,
};

const variant sort_fused_passes_warp = {
    .name = "fused-passes-warp",
    .idea = "within a warp, keys are exchanged without waiting for other warps; larger tiles",
    FUSED,
    .build = "",
    .needs = 1u << FEATURE_PTX | 1u << FEATURE_LARGE_LOCAL,
    .tunable_count = TUNABLES,
    .plan = plan_warp,
};

const variant sort_fused_passes_shfl = {
    .name = "fused-passes-shfl",
    .idea = "within a warp, keys of the first stages are exchanged without local memory",
    FUSED,
    .build = "",
    .needs = 1u << FEATURE_PTX | 1u << FEATURE_LARGE_LOCAL,
    .tunable_count = TUNABLES_SHUFFLES,
    .plan = plan_shfl,
};
