#include "ops/sort/sort_fused.h"

#include <string.h>

#include "ops/sort/sort_order.h"
#include "ops/sort/sort_steps.h"

enum {
    LINE = 128,                /* bytes that a pass reads side by side: a cache line */
    TILE_BYTES = 64 << 10,     /* of a tile where it is not told, ... */
    TILE_BYTES_MIN = 16 << 10, /* ... and where few keys are shared out */
    TILE_SHIFT_MAX = 15,       /* as cl/sort/sort_held_tile.clh has it */
    WARP = 32,
    USUAL_SHORT_GROUP = 128,
    CHUNK_BYTES = 16 << 20, /* two of them stay in the cache of a large GPU; it has to hold them */
    KEYS_ON_CPU = 8, /* a CPU has fewer registers, and goes through the work-items of a group ... */
    ITEMS_ON_CPU = 16, /* ... one by one */
};

const tunable sort_fused_tunables[FUSED_TUNABLES_SHUFFLES] = {
    {"KEYS",
     "keys that a work-item holds: strides without a hand-over against registers",
     {0, 4, 8, 16, 32, 64},
     0,
     4},
    {"GROUP",
     "work-items that merge a tile: a larger one saves passes and takes local memory",
     {0, 8, 64, 128, 256, 512, 1024},
     0,
     8},
    {"SORT_TILES",
     "merged tiles in one that is sorted first: a larger one saves two passes a "
     "stage, and has fewer groups",
     {0, 1, 2, 4},
     0},
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
     "exponent of keys that are sorted before the next: they stay in cache, and take more "
     "launches; 31: all at once",
     {0, 20, 21, 22, 23, 24, 31},
     0},
    {"QUEUES",
     "chunks that are sorted side by side: idle units against the cache's room",
     {1, 2},
     2},
    {"SHUFFLES",
     "stages above those in registers that shuffles do: each costs more than the one "
     "before, and local memory as much for all",
     {1, 2, 3, 4, 5},
     3},
};

/* What is beyond the reported limit was probed for the variants that need it, and for no other. */
static size_t local_limit(const job *j, bool warp)
{
    return warp ? size_max(j->device->local_memory, j->device->large_local)
                : j->device->local_memory;
}

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

static bool fits(const job *j, size_t local, const fused_plan *s, uint32_t group)
{
    return group <= group_limit(j->device, 0) && (size_t)group * s->keys <= 1 << TILE_SHIFT_MAX &&
           (size_t)group * s->keys * sort_held_bytes(sort_of(j->problem)) <= local;
}

/* Where several chunks stand in a row that fills a GPU by itself. */
static uint32_t usual_chunk(const job *j)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t keys = CHUNK_BYTES / sort_held_bytes(p);

    return j->device->kind == DEVICE_GPU && sort_rows(p) == 1 && p->n > 2 * keys
               ? size_log2_up(keys)
               : 0;
}

fused_plan sort_fused_plan(const job *j, bool warp)
{
    const size_t held = sort_held_bytes(sort_of(j->problem)), local = local_limit(j, warp);
    const uint32_t tiles = param(j->params, "SORT_TILES"), stages = param(j->params, "STAGES");
    fused_plan s = {.keys = param(j->params, "KEYS"), .group = param(j->params, "GROUP")};

    if (!s.keys)
        s.keys = j->device->kind == DEVICE_CPU ? KEYS_ON_CPU : held == 8 ? 16 : 32;
    if (!s.group)
        s.group = usual_group(j, local, s.keys);
    s.keys_shift = size_log2_up(s.keys);
    s.tile_shift = size_log2_up(s.group) + s.keys_shift;
    s.sort_group = s.group * (tiles ? tiles : fits(j, local, &s, 2 * s.group) ? 2 : 1);
    s.sort_shift = size_log2_up(s.sort_group) + s.keys_shift;
    s.pass_group = s.group * param(j->params, "PASS_TILES");
    s.pass_shift = size_log2_up(s.pass_group) + s.keys_shift;
    s.short_group = param(j->params, "SHORT_GROUP");
    if (!s.short_group)
        s.short_group = (uint32_t)group_fit(j->device, 0, USUAL_SHORT_GROUP);
    s.stages =
        stages
            ? stages
            : (uint32_t)size_max(s.pass_shift - size_min(size_log2_up(LINE / held), s.pass_shift),
                                 s.keys_shift + 1);
    s.chunk_shift = param(j->params, "CHUNK");
    if (!s.chunk_shift)
        s.chunk_shift = usual_chunk(j);
    s.local = (size_t)size_max(s.sort_group, s.pass_group) * s.keys * held;
    return s;
}

static void defines(const job *j, bool warp, uint32_t team, const char *means, text *out)
{
    const fused_plan s = sort_fused_plan(j, warp);

    sort_key_defines(j, out);
    if (!param(j->params, "KEYS"))
        text_format(out, " -DKEYS=%u", s.keys);
    if (!param(j->params, "GROUP"))
        text_format(out, " -DGROUP=%u", s.group);
    if (!param(j->params, "SHORT_GROUP"))
        text_format(out, " -DSHORT_GROUP=%u", s.short_group);
    if (!param(j->params, "STAGES"))
        text_format(out, " -DSTAGES=%u", s.stages);
    text_format(out, " -DSORT_GROUP=%u -DPASS_GROUP=%u -DTEAM=%u -DTEAM_MEANS=%s", s.sort_group,
                s.pass_group, team, means);
}

void sort_fused_defines(const job *j, text *out)
{
    defines(j, false, 1, "TEAM_NONE -DSHUFFLES=0", out);
}

void sort_fused_defines_subgroup(const job *j, text *out)
{
    defines(j, false, SHUFFLE_TEAM, "TEAM_SHUFFLES", out);
    text_format(out, " -DSHUFFLES=%u", size_log2_up(SHUFFLE_TEAM)); /* all strides of a team */
}

void sort_fused_defines_warp(const job *j, text *out)
{
    defines(j, true, WARP, "TEAM_WARP -DSHUFFLES=0", out);
}

void sort_fused_defines_shfl(const job *j, text *out)
{
    defines(j, true, WARP, "TEAM_SHFL", out);
}

/* Why the device has no room for the layout. */
static const char *room_unsupported(const job *j, bool warp, const fused_plan *s, text *reason)
{
    const size_t items = size_max(size_max(s->sort_group, s->pass_group), s->short_group);
    const size_t local = local_limit(j, warp);

    if (items > group_limit(j->device, 0))
        text_format(reason, "it needs work-groups of %zu, and the device has at most %zu", items,
                    group_limit(j->device, 0));
    else if (s->local > local)
        text_format(reason, "it needs %zu bytes of local memory, and the device has %zu", s->local,
                    local);
    else
        return NULL;
    return text_get(reason);
}

/* Why the parts of the layout do not go together. */
static const char *layout_unsupported(const fused_plan *s, text *reason)
{
    const uint32_t most = (uint32_t)size_max(s->sort_shift, s->pass_shift);

    if (most > TILE_SHIFT_MAX)
        text_format(reason, "its tiles have at most 2^%d keys, not 2^%u", TILE_SHIFT_MAX, most);
    else if (s->stages <= s->keys_shift || s->stages > s->pass_shift)
        text_format(reason,
                    "work-items that hold %u keys, and tiles of 2^%u, take %u to %u STAGES, not %u",
                    s->keys, s->pass_shift, s->keys_shift + 1, s->pass_shift, s->stages);
    else
        return NULL;
    return text_get(reason);
}

bool sort_fused_takes(const tsr_sort_problem *p)
{
    return !(sort_with_index(p) && tsr_type_size(p->type) == 8);
}

static const char *unsupported(const job *j, bool warp, text *reason)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const fused_plan s = sort_fused_plan(j, warp);

    if (sort_parts_unsupported(p))
        return sort_parts_unsupported(p);
    if (sort_positions_unsupported(p, reason))
        return text_get(reason);
    if (!sort_fused_takes(p))
        return "it packs a key and its index in 64 bits, and the key alone has as many";
    if (layout_unsupported(&s, reason) || room_unsupported(j, warp, &s, reason))
        return text_get(reason);
    return sort_groups_unsupported(p, size_min(s.group, s.short_group), reason);
}

const char *sort_fused_unsupported(const job *j, text *reason)
{
    return unsupported(j, false, reason);
}

const char *sort_fused_unsupported_warp(const job *j, text *reason)
{
    const fused_plan s = sort_fused_plan(j, true);

    if (s.group < WARP) {
        text_format(reason, "it needs whole warps of %d work-items, not %u", WARP, s.group);
        return text_get(reason);
    }
    return unsupported(j, true, reason);
}

/* ---- its launches ------------------------------------------------------------------------- */

/* A part of each row, and how many of its commands are still to be passed over. */
typedef struct range {
    const job *job;
    const fused_plan *layout;
    size_t first, end; /* positions */
    size_t left;       /* commands before the one that is wanted */
    unsigned lane;
    command *out;
} range;

/* Launch `groups` groups for each row on positions up to `end`; `argument` is the last one of the
 * kernel. */
static void launch(const range *r, unsigned entry, size_t groups, size_t local, size_t end,
                   uint32_t argument)
{
    const tsr_sort_problem *s = sort_of(r->job->problem);
    /* Between launches an index has its key in itself. */
    const size_t key = tsr_type_size(s->type), stored = sort_with_index(s) ? sizeof(int64_t) : key;
    const bool leaves_keys = argument && (entry == FUSED_TILE || entry == FUSED_MERGE);
    const size_t read = entry == FUSED_TILE ? key : stored;
    const size_t written = leaves_keys ? sort_element_bytes(s) : stored;

    sort_launch_rows(s, entry, groups * local, local, r->out);
    sort_step_sequence(r->out, s);
    command_u64(r->out, s->n);
    command_u32(r->out, (uint32_t)r->first);
    command_u32(r->out, (uint32_t)end);
    command_u32(r->out, (uint32_t)sort_rows(s));
    command_u32(r->out, argument);
    sort_step_moves(r->out, s, end - r->first, read + written);
    r->out->lane = r->lane;
    r->out->first = r->first;
    r->out->end = end;
    r->out->settles = leaves_keys;
}

/* Whether it is the turn of the next command. */
static bool is_next(range *r)
{
    return r->left-- == 0;
}

/* Where a stage ends: a last block that has keys in its lower half alone is in order. */
static size_t stage_end(const range *r, uint32_t stage)
{
    const size_t block = (size_t)1 << stage, n = r->end - r->first;

    return r->end - (n % block <= block / 2 ? n % block : 0);
}

/* The pass that leaves strides below 2^shift. */
static void launch_pass(const range *r, bool flip, bool is_long, uint32_t shift, size_t end)
{
    const fused_plan *s = r->layout;
    const uint32_t strides = is_long ? s->stages : s->keys_shift;
    const size_t items =
        sort_exchange_items(end - r->first, (size_t)1 << shift, (size_t)1 << strides);
    const uint32_t columns = s->pass_shift - s->stages;

    if (is_long)
        launch(r, flip ? FUSED_FLIP_LONG : FUSED_PASS_LONG, items >> columns, s->pass_group, end,
               shift);
    else
        launch(r, flip ? FUSED_FLIP : FUSED_PASS, size_div_up(items, s->short_group),
               s->short_group, end, shift);
}

/* Whether `strides` more strides, to be done in as few passes as can be, begin with a long one. */
static bool begins_long(const fused_plan *s, uint32_t strides)
{
    return strides > s->keys_shift && (strides <= s->stages || strides > 2 * s->keys_shift);
}

/* The next pass of a stage of which strides below 2^*top are left: true where it is the wanted
 * command. */
static bool pass_step(range *r, uint32_t stage, uint32_t *top, size_t end)
{
    const fused_plan *s = r->layout;
    const bool flip = *top == stage, is_long = begins_long(s, *top - s->tile_shift);

    *top -= is_long ? s->stages : s->keys_shift;
    if (!is_next(r))
        return false;
    launch_pass(r, flip, is_long, *top, end);
    return true;
}

/* What is left of a stage: strides below 2^top. */
static bool rest_step(range *r, uint32_t stage, uint32_t top, size_t end, bool last)
{
    const fused_plan *s = r->layout;

    while (top > s->tile_shift)
        if (pass_step(r, stage, &top, end))
            return true;
    if (!is_next(r))
        return false;
    launch(r, FUSED_MERGE, size_div_up(end - r->first, (size_t)1 << s->tile_shift), s->group, end,
           last);
    return true;
}

/* The commands of a stage: true once the wanted one is out. */
static bool stage_step(range *r, uint32_t stage, bool last)
{
    return rest_step(r, stage, stage, stage_end(r, stage), last);
}

/* Stages from `stage` up to the first that sorts the range, or `most`. */
static bool stages_step(range *r, uint32_t stage, uint32_t most, bool last)
{
    const uint32_t top = size_log2_up(r->end - r->first), end = (uint32_t)size_min(top, most);

    for (; stage <= end; stage++)
        if (stage_step(r, stage, last && stage == end))
            return true;
    return false;
}

/* Sort the tiles of a range, and merge them up to blocks of 2^most. */
static bool range_step(range *r, uint32_t most, bool last)
{
    const fused_plan *s = r->layout;
    const size_t n = r->end - r->first, tile = (size_t)1 << s->sort_shift;

    if (is_next(r)) {
        launch(r, FUSED_TILE, size_div_up(n, tile), s->sort_group, r->end, last && n <= tile);
        return true;
    }
    return stages_step(r, s->sort_shift + 1, most, last);
}

/* How many commands sort a chunk. */
static size_t range_commands(const range *r, size_t chunk)
{
    range one = *r;

    one.first = 0;
    one.end = chunk;
    one.left = SIZE_MAX;
    range_step(&one, UINT32_MAX, false);
    return SIZE_MAX - one.left;
}

/* Command r->left of all chunks, so many of which are sorted side by side, each as far as it goes
 * alone.  Their commands take turns, so that both queues fill alike. */
static bool chunks_step(range *r, size_t chunk, unsigned queues)
{
    const size_t n = sort_of(r->job->problem)->n;
    const size_t commands = queues * range_commands(r, chunk);
    /* What whole chunks have before the wanted one need not be gone through. */
    const size_t before = size_min(r->left / commands, n / (queues * chunk));

    r->left -= before * commands;
    for (size_t first = before * queues * chunk; first < n; first += queues * chunk) {
        bool more = true;

        for (size_t i = 0; more; i++) {
            more = false;
            for (unsigned q = 0; q < queues && first + q * chunk < n; q++) {
                range one = *r;

                one.first = first + q * chunk;
                one.end = size_min(one.first + chunk, n);
                one.left = i;
                one.lane = queues > 1 ? 1 + q : 0;
                if (!range_step(&one, UINT32_MAX, false))
                    continue;
                more = true;
                if (is_next(r))
                    return true;
            }
        }
    }
    return false;
}

/* Depth first: chunk by chunk, then what is left for all. */
static bool plan_step(const job *j, bool warp, size_t i, command *out)
{
    const size_t n = sort_of(j->problem)->n;
    const fused_plan s = sort_fused_plan(j, warp);
    const size_t chunk = s.chunk_shift ? (size_t)1 << s.chunk_shift : n;
    range r = {.job = j, .layout = &s, .left = i, .out = out};

    if (sort_is_done(sort_of(j->problem)))
        return false;
    r.end = n;
    if (n <= chunk)
        return range_step(&r, UINT32_MAX, true);
    return chunks_step(&r, chunk, param(j->params, "QUEUES")) ||
           stages_step(&r, s.chunk_shift + 1, UINT32_MAX, true);
}

/* ---- as keys arrive ------------------------------------------------------------------------ */

/* So many chunks at least: the last one's sort, and what is merged behind it, is what the copies in
 * do not hide.  And parts that the last stage leaves one by one: the last one's copy out is what
 * the others do not hide. */
enum { ARRIVING_CHUNKS = 8, LEAVING_PARTS = 8 };

/* The largest power of two that makes as many chunks, as far as the cache holds two of them: a
 * chunk's launches cost the same however short it is. */
static uint32_t arriving_shift(const job *j, const fused_plan *s)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const uint32_t most = size_log2_up(CHUNK_BYTES / sort_held_bytes(p));
    const uint32_t shift = size_log2_up(p->n / ARRIVING_CHUNKS + 1);
    const uint32_t wanted = param(j->params, "CHUNK");

    return (uint32_t)size_max(wanted ? wanted : size_min(shift ? shift - 1 : 0, most),
                              s->sort_shift);
}

/* The last stage: after its first pass blocks have nothing more to do with each other, and go
 * through what is left one part after another. */
static bool leaving_step(range *r, uint32_t stage)
{
    const size_t n = r->end - r->first;
    uint32_t top = stage;
    size_t part;

    if (pass_step(r, stage, &top, r->end))
        return true;
    part = size_round_up(size_div_up(n, LEAVING_PARTS),
                         (size_t)1 << size_max(top, r->layout->tile_shift));
    for (size_t at = r->first; at < r->end; at += part) {
        range one = *r;

        one.first = at;
        one.end = size_min(at + part, r->end);
        if (rest_step(&one, stage, top, one.end, true))
            return true;
        r->left = one.left;
    }
    return false;
}

/* What chunk c, of 2^shift keys, makes whole: blocks of two of them, of four, and so on; the last
 * chunk all blocks that it is in the upper half of. */
static bool merges_step(range *r, size_t c, uint32_t shift)
{
    const size_t n = sort_of(r->job->problem)->n, chunk = (size_t)1 << shift;
    const bool last = n - c * chunk <= chunk;
    const uint32_t top = size_log2_up(n);

    for (uint32_t stage = shift + 1; stage <= top; stage++) {
        const size_t block = (size_t)1 << (stage - shift), at = c % block;
        range one = *r;

        if (!last && at != block - 1)
            return false;
        if (at < block / 2)
            continue;
        one.first = (c - at) * chunk;
        one.end = size_min(one.first + block * chunk, n);
        if (stage == top ? leaving_step(&one, stage) : stage_step(&one, stage, false))
            return true;
        r->left = one.left;
    }
    return false;
}

/* Chunk by chunk, in turn in each lane, and merged with those before as soon as can be: what is
 * left when the last one arrives is its own sort and one merge of each size. */
static bool arriving_keys_step(const job *j, bool warp, size_t i, command *out)
{
    const size_t n = sort_of(j->problem)->n;
    const fused_plan s = sort_fused_plan(j, warp);
    const uint32_t shift = arriving_shift(j, &s), queues = param(j->params, "QUEUES");
    const size_t chunk = (size_t)1 << shift;
    range r = {.job = j, .layout = &s, .end = n, .left = i, .out = out};
    size_t commands;

    if (sort_is_done(sort_of(j->problem)))
        return false;
    if (n <= chunk)
        return range_step(&r, UINT32_MAX, true);
    commands = range_commands(&r, chunk);
    for (size_t c = 0; c * chunk < n; c++) {
        range one = r;

        one.first = c * chunk;
        one.end = size_min(one.first + chunk, n);
        one.lane = queues > 1 ? 1 + c % queues : 0;
        if (one.end - one.first == chunk && one.left >= commands)
            one.left -= commands;
        else if (range_step(&one, UINT32_MAX, false))
            return true;
        r.left = one.left;
        if (merges_step(&r, c, shift))
            return true;
    }
    return false;
}

static bool arriving_keys(const job *j, size_t i, command *out)
{
    return arriving_keys_step(j, false, i, out);
}

static bool arriving_keys_warp(const job *j, size_t i, command *out)
{
    return arriving_keys_step(j, true, i, out);
}

bool sort_fused_arriving(const job *j, size_t i, command *out)
{
    return sort_step_or_values(j, i, arriving_keys, FUSED_KEEP, out);
}

bool sort_fused_arriving_warp(const job *j, size_t i, command *out)
{
    return sort_step_or_values(j, i, arriving_keys_warp, FUSED_KEEP, out);
}

/* ---- all at once --------------------------------------------------------------------------- */

static bool keys_step(const job *j, size_t i, command *out)
{
    return plan_step(j, false, i, out);
}

static bool keys_step_warp(const job *j, size_t i, command *out)
{
    return plan_step(j, true, i, out);
}

bool sort_fused_step(const job *j, size_t i, command *out)
{
    return sort_step_or_values(j, i, keys_step, FUSED_KEEP, out);
}

bool sort_fused_step_warp(const job *j, size_t i, command *out)
{
    return sort_step_or_values(j, i, keys_step_warp, FUSED_KEEP, out);
}

/* ---- short rows ---------------------------------------------------------------------------- */

enum {
    ROWS_GROUP = 128,
    SECTOR = 32,    /* bytes that neighbours read of a row at least, where it has as many */
    ROW_STRIP = 64, /* bytes of held keys side by side that are written as they are held */
};

const tunable sort_held_rows_tunables[HELD_ROWS_TUNABLES_SHUFFLES] = {
    {"KEYS",
     "keys that a work-item holds: strides without a hand-over against registers, and against "
     "neighbours that read side by side",
     {0, 4, 8, 16, 32},
     0,
     4},
    {"GROUP",
     "work-items in a work-group, of one row or of many",
     {0, 8, 32, 64, 128, 256, 512, 1024},
     0,
     8},
    {"LAYOUT", "keys in local memory: 1 plainly, 2 swizzled against bank conflicts", {1, 2}, 2},
    {"SHUFFLES",
     "stages above those in registers that shuffles do, in place of local memory",
     {1, 2, 3, 4, 5},
     5},
};

typedef struct rows_plan {
    uint32_t keys, group;
    uint32_t row_shift, tile_shift; /* positions of a row, and of a work-group */
} rows_plan;

/* Whether keys go from register to register: the variant that does has a tunable for it, the last.
 */
static bool rows_shuffle(const job *j)
{
    const params *p = j->params;

    return strcmp(p->tunables[p->count - 1].name, "SHUFFLES") == 0;
}

/* As many as leave neighbours a sector; of a row alone, as few as leave it four warps.  A shuffle
 * costs so little that half the keys do. */
static uint32_t usual_row_keys(const job *j)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t held = sort_held_bytes(p), positions = (size_t)1 << size_log2_up(p->n);
    const size_t most = 2 * ROW_STRIP / held, members = SECTOR / held;

    if (!rows_shuffle(j))
        return (uint32_t)size_min(most, size_max(4, positions / members));
    return (uint32_t)size_min(most / 2,
                              size_max(4, positions / (sort_rows(p) > 1 ? members : 4 * WARP)));
}

static rows_plan plan_rows(const job *j)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const uint32_t shift = size_log2_up(p->n);
    rows_plan s = {.keys = param(j->params, "KEYS"), .group = param(j->params, "GROUP")};

    if (!s.keys)
        s.keys = usual_row_keys(j);
    s.row_shift = (uint32_t)size_max(shift, size_log2_up(s.keys));
    /* Where not even one row fits the device's limits, unsupported() says so. */
    if (!s.group)
        s.group = (uint32_t)size_max(group_fit(j->device, 0, ROWS_GROUP),
                                     group_fit(j->device, 0, ((size_t)1 << s.row_shift) / s.keys));
    s.tile_shift = size_log2_up(s.group) + size_log2_up(s.keys);
    return s;
}

/* Whether vectors of a row's keys are aligned: buffers of a device are, host memory that a CPU's
 * buffer may lie in need not be. */
static bool rows_aligned(const job *j, size_t vector)
{
    const tsr_sort_problem *p = sort_of(j->problem);

    return j->device->kind != DEVICE_CPU && p->n % vector == 0 && p->offset_keys % vector == 0 &&
           (!p->argsort || p->offset_index % vector == 0);
}

static void rows_defines(const job *j, uint32_t team, const char *means, text *out)
{
    const rows_plan s = plan_rows(j);
    const size_t vector = 16 / sort_held_bytes(sort_of(j->problem));

    sort_key_defines(j, out);
    if (!param(j->params, "KEYS"))
        text_format(out, " -DKEYS=%u", s.keys);
    if (!param(j->params, "GROUP"))
        text_format(out, " -DGROUP=%u", s.group);
    text_format(out, " -DROW_SHIFT=%u -DSTRIP_BYTES=%d -DWIDE=%d -DALIGNED=%d", s.row_shift,
                ROW_STRIP, sort_of(j->problem)->n % vector == 0, rows_aligned(j, vector));
    text_format(out, " -DTEAM=%u -DTEAM_MEANS=%s", team, means);
}

void sort_held_rows_defines(const job *j, text *out)
{
    rows_defines(j, 1, "TEAM_NONE -DSHUFFLES=0", out);
}

void sort_held_rows_defines_warp(const job *j, text *out)
{
    rows_defines(j, WARP, "TEAM_WARP -DSHUFFLES=0", out);
}

void sort_held_rows_defines_shfl(const job *j, text *out)
{
    rows_defines(j, WARP, "TEAM_SHFL", out);
}

const char *sort_held_rows_unsupported(const job *j, text *reason)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t limit = group_limit(j->device, 0);
    rows_plan s;
    size_t local;

    if (sort_parts_unsupported(p))
        return sort_parts_unsupported(p);
    if (!sort_fused_takes(p))
        return "it packs a key and its index in 64 bits, and the key alone has as many";
    /* Beyond it a layout has nothing to say. */
    if (p->n > (size_t)1 << TILE_SHIFT_MAX) {
        text_format(reason, "a row has to fit in its tile: at most %d keys, not %zu",
                    1 << TILE_SHIFT_MAX, p->n);
        return text_get(reason);
    }
    s = plan_rows(j);
    local = ((size_t)1 << s.tile_shift) * sort_held_bytes(p);
    if (s.row_shift > s.tile_shift)
        text_format(reason, "a row has to fit in its tile: at most %d keys, not %zu",
                    1 << s.tile_shift, p->n);
    else if (s.tile_shift > TILE_SHIFT_MAX)
        text_format(reason, "its tiles have at most 2^%d keys, not 2^%u", TILE_SHIFT_MAX,
                    s.tile_shift);
    else if (s.group > limit)
        text_format(reason, "it needs work-groups of %u, and the device has at most %zu", s.group,
                    limit);
    else if (local > j->device->local_memory)
        text_format(reason, "it needs %zu bytes of local memory, and the device has %zu", local,
                    j->device->local_memory);
    else
        return p->value_bytes
                   ? sort_groups_unsupported(p, group_fit(j->device, 0, SORT_VALUES_GROUP), reason)
                   : NULL;
    return text_get(reason);
}

const char *sort_held_rows_unsupported_warp(const job *j, text *reason)
{
    const char *why = sort_held_rows_unsupported(j, reason);
    const uint32_t group = why ? WARP : plan_rows(j).group;

    if (group < WARP)
        text_format(reason, "it needs whole warps of %d work-items, not %u", WARP, group);
    return group < WARP ? text_get(reason) : why;
}

static bool held_rows_keys_step(const job *j, size_t i, command *out)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    rows_plan s;

    if (i > 0 || sort_is_done(p))
        return false;
    s = plan_rows(j);
    command_launch_1d(
        out, HELD_ROWS_TILE,
        size_div_up(sort_rows(p), (size_t)1 << (s.tile_shift - s.row_shift)) * s.group, s.group);
    sort_step_sequence(out, p);
    command_u32(out, (uint32_t)p->n);
    command_u64(out, sort_rows(p));
    sort_step_moves(out, p, p->n, tsr_type_size(p->type) + sort_element_bytes(p));
    return true;
}

bool sort_held_rows_step(const job *j, size_t i, command *out)
{
    return sort_step_or_values(j, i, held_rows_keys_step, HELD_ROWS_KEEP, out);
}
