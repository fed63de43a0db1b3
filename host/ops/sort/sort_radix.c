#include "ops/sort/sort_radix.h"

#include "core/last_group.h"
#include "ops/sort/sort_order.h"
#include "ops/sort/sort_steps.h"

enum {
    WARP = 32,
    BITS_TOGETHER = 8, /* of a digit, where counters are shared by a team or few work-items */
    BITS_ALONE = 4,
    GROUP_SWEEP = 384,
    GROUP_WARPS = 512,
    GROUP_ALONE = 256,
    ITEMS_ON_CPU = 16, /* a CPU goes through the work-items of a group one by one */
    BYTES_SWEEP = 96,  /* of keys alone that a work-item takes of a tile */
    BYTES_USUAL = 64,  /* of keys, or of what goes with them, where it holds both */
    SCAN_GROUP = 256,  /* as cl/sort/sort_radix_scan.clh and cl/sort/sort_onesweep.cl have it */
    COPIES_BYTES = 64 << 10, /* of all copies of counters, where there is so much local memory */
    COPIES_WARPS = 32,       /* one for each bank */
    COPIES_ALONE = 8,
    LINE = 128 /* bytes: where parts of the workspace begin */
};

const tunable sort_radix_tunables[RADIX_TUNABLES] = {
    {"BITS",
     "bits of a digit: fewer passes against more counters and shorter runs",
     {0, 4, 8},
     0,
     4},
    {"PER_UNIT",
     "chunks for each compute unit: groups side by side against sums to be scanned",
     {1, 8},
     8,
     8},
    {"GROUP",
     "work-items of a work-group: a larger tile has longer runs, a smaller one waits less",
     {0, 8, 16, 256, 384, 512},
     0,
     8},
    {"ITEMS",
     "keys of a tile that a work-item takes: longer runs against registers",
     {0, 1, 4, 8, 12, 16, 24},
     0,
     4},
};

/* Which of the variants. */
typedef enum radix_way { WAY_ITEM, WAY_ALONE, WAY_WARPS, WAY_SWEEP } radix_way;

/* What goes with a key. */
typedef enum payload { PAYLOAD_NONE = 1, PAYLOAD_INDEX, PAYLOAD_VALUE } payload;

typedef struct layout {
    radix_way way;
    bool warps; /* rank digits; else each work-item alone */
    payload payload;
    size_t payload_bytes;        /* between passes */
    uint32_t bits, group, items; /* of a digit; of a work-group; keys of each work-item */
    uint32_t copies;             /* of counters */
    size_t passes;
    size_t tile, tiles; /* keys of a tile */
    size_t chunk, chunks;
    size_t local; /* bytes */
    /* Bytes of the workspace: */
    size_t keys_at, loads_at, counts_at, states_at, workspace;
} layout;

static payload payload_of(const tsr_sort_problem *s)
{
    if (!sort_with_index(s))
        return PAYLOAD_NONE;
    return sort_values_go_along(s) ? PAYLOAD_VALUE : PAYLOAD_INDEX;
}

/* Whether values are moved in the end, by an index. */
static bool values_follow(const layout *s, const tsr_sort_problem *p)
{
    return p->value_bytes && s->payload == PAYLOAD_INDEX;
}

/* Counters of the digits that one launch counts, and those of a pass's tiles. */
static size_t counted_digits(const layout *s)
{
    return (s->way == WAY_SWEEP ? s->passes : 1) << s->bits;
}

static size_t states_of_pass(const layout *s)
{
    return s->tiles << s->bits;
}

/* Of all passes, and a ticket for each. */
static size_t states(const layout *s)
{
    return s->way == WAY_SWEEP ? s->passes * (states_of_pass(s) + 1) : 0;
}

/* Where the workspace has what: behind the index, if it is not the caller's. */
static void lay_out(const tsr_sort_problem *p, layout *s)
{
    const size_t key = tsr_type_size(p->type);
    const bool with_index = values_follow(s, p) && !p->argsort;

    s->keys_at = size_round_up(with_index ? p->n * sizeof(int64_t) : 0, LINE);
    s->loads_at = size_round_up(s->keys_at + p->n * key, LINE);
    s->counts_at = size_round_up(s->loads_at + p->n * s->payload_bytes, LINE);
    s->states_at = s->counts_at + (s->chunks + 1) * counted_digits(s) * sizeof(uint32_t);
    s->workspace = s->states_at + states(s) * sizeof(uint32_t);
}

static size_t local_limit(const job *j, const layout *s)
{
    return s->warps ? size_max(j->device->local_memory, j->device->large_local)
                    : j->device->local_memory;
}

/* Keys alone leave registers for more of them. */
static bool sweeps_keys(const layout *s)
{
    return s->way == WAY_SWEEP && s->payload == PAYLOAD_NONE;
}

static uint32_t usual_group(const job *j, const layout *s)
{
    if (j->device->kind == DEVICE_CPU)
        return (uint32_t)group_fit(j->device, 0, ITEMS_ON_CPU);
    if (s->warps)
        return sweeps_keys(s) ? GROUP_SWEEP : GROUP_WARPS;
    return (uint32_t)group_fit(j->device, 0, GROUP_ALONE);
}

/* The sweep counts all digits at once, which takes as many times the room. */
static uint32_t usual_copies(const job *j, const layout *s)
{
    const size_t all = s->passes * sizeof(uint32_t) << s->bits;
    const size_t room = size_min(local_limit(j, s), COPIES_BYTES);
    uint32_t copies = s->warps ? COPIES_WARPS : COPIES_ALONE;

    if (j->device->kind == DEVICE_CPU)
        return 1;
    while (s->way == WAY_SWEEP && copies > 1 && copies * all > room)
        copies /= 2;
    return copies;
}

/* Half as many where units would have no tile. */
static uint32_t usual_items(const job *j, const layout *s)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t widest = size_max(size_max(tsr_type_size(p->type), s->payload_bytes), 4);
    uint32_t items = (uint32_t)(BYTES_USUAL / widest);

    if (sweeps_keys(s))
        items = (uint32_t)(BYTES_SWEEP / widest);
    return 2 * p->n < j->device->compute_units * s->group * items ? items / 2 : items;
}

/* What the tunables leave open. */
static void settle(const job *j, layout *s)
{
    const size_t key = tsr_type_size(sort_of(j->problem)->type);
    const bool together = s->warps || j->device->kind == DEVICE_CPU;

    if (!s->bits)
        s->bits = (uint32_t)size_min(together ? BITS_TOGETHER : BITS_ALONE, 4 * key);
    s->passes = 8 * key / s->bits;
    if (!s->group)
        s->group = usual_group(j, s);
    if (!s->items)
        s->items = usual_items(j, s);
    s->copies = usual_copies(j, s);
}

/* A tile, in the place of its counters; the counters of a chunk; and the sums of a scan. */
static size_t local_bytes(const layout *s, size_t key)
{
    const size_t counters = (size_t)(s->warps ? s->group / WARP : s->group) << s->bits;
    const size_t room =
        size_max(counters * sizeof(uint32_t), s->tile * size_max(key, s->payload_bytes));
    const size_t digits = (size_t)3 << s->bits;
    const size_t words = size_max(s->copies * counted_digits(s), SCAN_GROUP);

    if (s->way == WAY_ITEM)
        return SCAN_GROUP * sizeof(uint32_t);
    return size_max(room + (digits + s->group) * sizeof(uint32_t), words * sizeof(uint32_t));
}

static layout plan_of(const job *j, radix_way way)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t units = size_max(j->device->compute_units, 1) * param(j->params, "PER_UNIT");
    const bool item = way == WAY_ITEM;
    layout s = {.way = way,
                .warps = way == WAY_WARPS ||
                         (way == WAY_SWEEP && last_group_of(j->device) == LAST_GROUP_PTX),
                .payload = payload_of(p),
                .bits = param(j->params, "BITS"),
                .group = item ? 1 : param(j->params, "GROUP"),
                .items = item ? 1 : param(j->params, "ITEMS")};

    s.payload_bytes = s.payload == PAYLOAD_NONE    ? 0
                      : s.payload == PAYLOAD_INDEX ? sizeof(uint32_t)
                                                   : p->value_bytes;
    settle(j, &s);
    s.tile = (size_t)s.group * s.items;
    s.tiles = size_div_up(p->n, s.tile);
    s.chunk = size_div_up(s.tiles, units) * s.tile;
    s.chunks = s.chunk ? size_div_up(p->n, s.chunk) : 0;
    s.local = local_bytes(&s, tsr_type_size(p->type));
    lay_out(p, &s);
    return s;
}

static void defines_of_tile(const job *j, const layout *s, text *out)
{
    if (!param(j->params, "GROUP"))
        text_format(out, " -DGROUP=%u", s->group);
    if (!param(j->params, "ITEMS"))
        text_format(out, " -DITEMS=%u", s->items);
    text_format(out, " -DCOPIES=%u", s->copies);
}

static void defines(const job *j, radix_way way, text *out)
{
    static const char *const payloads[] = {
        [PAYLOAD_NONE] = "NONE", [PAYLOAD_INDEX] = "INDEX", [PAYLOAD_VALUE] = "VALUE"};
    const layout s = plan_of(j, way);

    sort_key_defines(j, out);
    if (!param(j->params, "BITS"))
        text_format(out, " -DBITS=%u", s.bits);
    if (way != WAY_ITEM)
        defines_of_tile(j, &s, out);
    text_format(out, " -DPAYLOAD=PAYLOAD_%s -DWARPS=%d", payloads[s.payload], s.warps);
    if (way != WAY_SWEEP)
        return;
    text_format(out, " -DPASSES=%zu -DSTATES=STATES_%s", s.passes, s.warps ? "PTX" : "ATOMICS");
    last_group_standard(j->device, last_group_of(j->device), out);
}

void sort_radix_defines_item(const job *j, text *out)
{
    defines(j, WAY_ITEM, out);
}

void sort_radix_defines(const job *j, text *out)
{
    defines(j, WAY_ALONE, out);
}

void sort_radix_defines_warp(const job *j, text *out)
{
    defines(j, WAY_WARPS, out);
}

void sort_radix_defines_sweep(const job *j, text *out)
{
    defines(j, WAY_SWEEP, out);
}

/* Why the parts of the layout do not go together, or the device has no room for it. */
static const char *layout_unsupported(const job *j, const layout *s, text *reason)
{
    const size_t limit = group_limit(j->device, 0);
    const size_t local = local_limit(j, s);

    if (s->passes % 2)
        text_format(reason, "it takes an even number of digits, and of %u bits a key has %zu",
                    s->bits, s->passes);
    else if (s->group > limit)
        text_format(reason, "it needs work-groups of %u, and the device has at most %zu", s->group,
                    limit);
    else if (s->warps && (s->group < 1u << s->bits || s->group % WARP))
        text_format(reason,
                    "it needs a work-item for each of %u digits and whole warps of %d, not groups "
                    "of %u",
                    1u << s->bits, WARP, s->group);
    else if (s->local > local)
        text_format(reason, "it needs %zu bytes of local memory, and the device has %zu", s->local,
                    local);
    else
        return NULL;
    return text_get(reason);
}

static size_t workspace_of(const job *j, const layout *s)
{
    const tsr_sort_problem *p = sort_of(j->problem);

    if (sort_is_done(p))
        return 0;
    return size_max(s->workspace, values_follow(s, p) ? sort_values_workspace(j) : 0);
}

static size_t workspace(const job *j, radix_way way)
{
    const layout s = plan_of(j, way);

    return workspace_of(j, &s);
}

/* Why the device has no room for copies of the operands; one whose memory is unknown has. */
static const char *room_unsupported(const job *j, const layout *s, text *reason)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t bytes = workspace_of(j, s);
    const double all = (double)p->n * (double)sort_entry_bytes(p) + (double)bytes;
    const unsigned long long largest = j->device->max_allocation;
    const unsigned long long memory = j->device->global_memory / 4 * 3; /* others use it too */

    if (largest && bytes > largest)
        text_format(reason,
                    "its workspace of %zu bytes is over the device's largest allocation of %llu",
                    bytes, largest);
    else if (memory && all > (double)memory)
        text_format(reason,
                    "it needs a workspace of %zu bytes beside what it sorts, and has %llu for both",
                    bytes, memory);
    else
        return NULL;
    return text_get(reason);
}

static const char *unsupported(const job *j, radix_way way, text *reason)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t most = way == WAY_SWEEP ? INT32_MAX : UINT32_MAX;
    const char *why;
    layout s;

    if (sort_parts_unsupported(p))
        return sort_parts_unsupported(p);
    if (sort_rows(p) > 1)
        return "it sorts one row";
    if (p->n > most) {
        text_format(reason, "it counts in %d bits: at most %zu keys, not %zu",
                    way == WAY_SWEEP ? 31 : 32, most, p->n);
        return text_get(reason);
    }
    if (way == WAY_SWEEP && last_group_of(j->device) == LAST_GROUP_NONE)
        return "it needs atomics in the scope of the device";
    if (way == WAY_WARPS && j->device->nv_capability < 70)
        return "it needs warps whose lanes meet, of compute capability 7.0";
    s = plan_of(j, way);
    why = layout_unsupported(j, &s, reason);
    return why ? why : room_unsupported(j, &s, reason);
}

const char *sort_radix_unsupported_item(const job *j, text *reason)
{
    return unsupported(j, WAY_ITEM, reason);
}

const char *sort_radix_unsupported(const job *j, text *reason)
{
    return unsupported(j, WAY_ALONE, reason);
}

const char *sort_radix_unsupported_warp(const job *j, text *reason)
{
    return unsupported(j, WAY_WARPS, reason);
}

const char *sort_radix_unsupported_sweep(const job *j, text *reason)
{
    return unsupported(j, WAY_SWEEP, reason);
}

size_t sort_radix_workspace_item(const job *j)
{
    return workspace(j, WAY_ITEM);
}

size_t sort_radix_workspace(const job *j)
{
    return workspace(j, WAY_ALONE);
}

size_t sort_radix_workspace_warp(const job *j)
{
    return workspace(j, WAY_WARPS);
}

size_t sort_radix_workspace_sweep(const job *j)
{
    return workspace(j, WAY_SWEEP);
}

/* ---- its launches --------------------------------------------------------------------------- */

/* The caller's keys (their copy) are read by even (odd) passes, and written by the others. */
static bool reads_copy(size_t pass)
{
    return pass % 2;
}

/* The payload's array in the caller's hands: its index, or the one at the start of the workspace;
 * its values; or where there is none, any. */
static void step_loads(command *out, const tsr_sort_problem *p, const layout *s, bool copy)
{
    if (s->payload == PAYLOAD_NONE)
        command_operand(out, 0);
    else if (copy)
        command_workspace(out);
    else if (s->payload == PAYLOAD_VALUE)
        command_operand(out, 2);
    else
        sort_step_index(out, p);
}

/* Where it starts, in its own units. */
static size_t loads_offset(const tsr_sort_problem *p, const layout *s, bool copy)
{
    if (s->payload == PAYLOAD_NONE)
        return 0;
    if (copy)
        return s->loads_at / s->payload_bytes;
    if (s->payload == PAYLOAD_VALUE)
        return p->offset_values;
    return p->argsort ? p->offset_index * (sizeof(int64_t) / s->payload_bytes) : 0;
}

static size_t keys_offset(const tsr_sort_problem *p, const layout *s, bool copy)
{
    return copy ? s->keys_at / tsr_type_size(p->type) : p->offset_keys;
}

static void step_keys(command *out, bool copy)
{
    if (copy)
        command_workspace(out);
    else
        command_operand(out, 0);
}

/* Count the digits from bit `shift` on: one, or for the sweep all.  The step's end stays 0, so that
 * values that arrive are there before the first pass. */
static void launch_count(const tsr_sort_problem *p, const layout *s, size_t pass, command *out)
{
    const bool copy = reads_copy(pass), sweep = s->way == WAY_SWEEP;

    command_launch_1d(out, RADIX_COUNT, s->chunks * s->group, s->group);
    step_keys(out, copy);
    command_workspace(out);
    if (sweep)
        command_workspace(out);
    command_u64(out, keys_offset(p, s, copy));
    command_u64(out, s->counts_at / sizeof(uint32_t));
    if (sweep)
        command_u64(out, s->states_at / sizeof(uint32_t));
    command_u64(out, p->n);
    command_u64(out, s->chunk);
    if (sweep)
        command_u64(out, states(s));
    else
        command_u32(out, (uint32_t)(pass * s->bits));
    sort_step_moves(out, p, p->n, tsr_type_size(p->type));
    out->bytes += (double)(states(s) * sizeof(uint32_t));
}

/* Work-items for the chunks of each digit: no more than there are. */
static void launch_scan(const job *j, const layout *s, command *out)
{
    const size_t group = group_fit(j->device, 0, size_min(s->chunks, SCAN_GROUP));
    const size_t digits = counted_digits(s);

    command_launch_1d(out, RADIX_SCAN, group * digits, group);
    command_workspace(out);
    command_u64(out, s->counts_at / sizeof(uint32_t));
    command_u32(out, (uint32_t)s->chunks);
    out->bytes =
        (s->way == WAY_SWEEP ? 1.0 : 2.0) * (double)(s->chunks * digits) * sizeof(uint32_t);
}

/* The arrays of a pass, PASS_ARRAYS of cl/sort/sort_radix_pass.clh; and where they start,
 * PASS_OFFSETS. */
static void step_arrays(const tsr_sort_problem *p, const layout *s, size_t pass, command *out)
{
    step_keys(out, reads_copy(pass));
    step_keys(out, !reads_copy(pass));
    step_loads(out, p, s, reads_copy(pass));
    step_loads(out, p, s, !reads_copy(pass));
}

static void step_offsets(const tsr_sort_problem *p, const layout *s, size_t pass, command *out)
{
    command_u64(out, keys_offset(p, s, reads_copy(pass)));
    command_u64(out, keys_offset(p, s, !reads_copy(pass)));
    command_u64(out, loads_offset(p, s, reads_copy(pass)));
    command_u64(out, loads_offset(p, s, !reads_copy(pass)));
}

static void launch_scatter(const tsr_sort_problem *p, const layout *s, size_t pass, command *out)
{
    command_launch_1d(out, RADIX_SCATTER, s->chunks * s->group, s->group);
    step_arrays(p, s, pass, out);
    command_workspace(out);
    step_offsets(p, s, pass, out);
    command_u64(out, s->counts_at / sizeof(uint32_t));
    command_u64(out, p->n);
    command_u64(out, s->chunk);
}

static void launch_sweep(const tsr_sort_problem *p, const layout *s, size_t pass, command *out)
{
    const size_t totals = s->chunks * counted_digits(s) + (pass << s->bits);
    const size_t states_at = s->states_at / sizeof(uint32_t);

    command_launch_1d(out, RADIX_SCATTER, s->tiles * s->group, s->group);
    step_arrays(p, s, pass, out);
    command_workspace(out);
    command_workspace(out);
    step_offsets(p, s, pass, out);
    command_u64(out, s->counts_at / sizeof(uint32_t) + totals);
    command_u64(out, states_at + pass * states_of_pass(s));
    command_u64(out, states_at + s->passes * states_of_pass(s) + pass);
    command_u64(out, p->n);
}

static void launch_pass(const tsr_sort_problem *p, const layout *s, size_t pass, command *out)
{
    const bool last = pass + 1 == s->passes;
    const size_t key = tsr_type_size(p->type), load = s->payload_bytes;
    const size_t read = s->payload == PAYLOAD_INDEX && pass == 0 ? 0 : load;
    const size_t left = s->payload == PAYLOAD_INDEX && last ? sizeof(int64_t) : load;

    if (s->way == WAY_SWEEP)
        launch_sweep(p, s, pass, out);
    else
        launch_scatter(p, s, pass, out);
    command_u32(out, (uint32_t)(pass * s->bits));
    command_u32(out, last);
    sort_step_moves(out, p, p->n, 2 * key + read + left);
    if (s->way == WAY_SWEEP) /* said and seen */
        out->bytes += 2.0 * (double)(states_of_pass(s) * sizeof(uint32_t));
    out->end = p->n;
    out->settles = last;
}

/* Launches before those of the passes, and in each pass. */
enum { SWEEP_BEFORE = 2, CHUNKS_STEPS = 3 };

/* Step i of those that sort keys. */
static void keys_step(const job *j, const layout *s, size_t i, command *out)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const bool sweep = s->way == WAY_SWEEP;
    const size_t pass = sweep ? i - SWEEP_BEFORE : i / CHUNKS_STEPS;
    const size_t kind = sweep ? size_min(i, RADIX_SCATTER) : i % CHUNKS_STEPS;

    if (kind == RADIX_COUNT)
        launch_count(p, s, sweep ? 0 : pass, out);
    else if (kind == RADIX_SCAN)
        launch_scan(j, s, out);
    else
        launch_pass(p, s, pass, out);
}

static bool plan_step(const job *j, radix_way way, size_t i, command *out)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    layout s;
    size_t count;

    if (sort_is_done(p))
        return false;
    s = plan_of(j, way);
    count = way == WAY_SWEEP ? SWEEP_BEFORE + s.passes : CHUNKS_STEPS * s.passes;
    if (i >= count)
        return values_follow(&s, p) && sort_values_step(j, i - count, RADIX_KEEP, out);
    keys_step(j, &s, i, out);
    return true;
}

bool sort_radix_step_item(const job *j, size_t i, command *out)
{
    return plan_step(j, WAY_ITEM, i, out);
}

bool sort_radix_step(const job *j, size_t i, command *out)
{
    return plan_step(j, WAY_ALONE, i, out);
}

bool sort_radix_step_warp(const job *j, size_t i, command *out)
{
    return plan_step(j, WAY_WARPS, i, out);
}

bool sort_radix_step_sweep(const job *j, size_t i, command *out)
{
    return plan_step(j, WAY_SWEEP, i, out);
}
