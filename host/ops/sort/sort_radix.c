/**
 * Sorts by digits: cl/sort/sort_radix.cl, sort_onesweep.cl, sort_cpu_radix.cl.
 */
#include "base/sizes.h"
#include "core/last_group.h"
#include "ops/sort/sort_commands.h"
#include "ops/sort/sort_variants.h"

/* Entries of each, in the variants' order: what counts digits, what adds up the counts, and what
 * sorts by a digit. */
enum { RADIX_COUNT, RADIX_SCAN, RADIX_SCATTER, RADIX_KEEP };

enum {
    WARP = 32,
    BITS_TOGETHER = 8, /* of a digit, where counters are shared by a team or few work-items */
    BITS_ALONE = 4,
    GROUP_SWEEP = 384,
    GROUP_WARPS = 512,
    GROUP_ALONE = 256,
    ITEMS_ON_CPU = 16,       /* a CPU goes through the work-items of a group one by one */
    BYTES_SWEEP = 96,        /* of keys alone that a work-item takes of a tile */
    BYTES_USUAL = 64,        /* of keys, or of what goes with them, where it holds both */
    SCAN_GROUP = 256,        /* work-items that add up counts, at most */
    COPIES_BYTES = 64 << 10, /* of all copies of counters, where there is so much local memory */
    COPIES_WARPS = 32,       /* one for each bank */
    COPIES_ALONE = 8,
    LINE = 128 /* bytes: where parts of the workspace begin */
};

/* Those of the variant for CPUs are the first. */
static const tunable tunables[] = {
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
     {0, 1, 2, 4, 8, 12, 16, 24},
     0,
     4},
};

enum { CPU_TUNABLES = 2 };

/* Which of the variants. */
typedef enum radix_way { WAY_CPU, WAY_ALONE, WAY_WARPS, WAY_SWEEP } radix_way;

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

/* Whether one work-group has all keys: they are sorted where they are, and nothing is counted
 * before. */
static bool one_tile(const layout *s)
{
    return s->way == WAY_SWEEP && s->tiles == 1;
}

/* Where the workspace has what: behind the index, if it is not the caller's. */
static void lay_out(const tsr_sort_problem *p, layout *s)
{
    const size_t key = tsr_type_size(p->type);
    const bool with_index = values_follow(s, p) && !p->argsort;

    s->keys_at = size_round_up(with_index ? p->n * sizeof(int64_t) : 0, LINE);
    s->loads_at = size_round_up(s->keys_at + p->n * key, LINE);
    /* One pass makes the index, and reads no copy of it. */
    s->counts_at = size_round_up(
        s->loads_at + (s->passes > 1 || s->payload == PAYLOAD_VALUE ? p->n * s->payload_bytes : 0),
        LINE);
    s->states_at = s->counts_at + (s->chunks + 1) * counted_digits(s) * sizeof(uint32_t);
    s->workspace = one_tile(s) ? s->keys_at : s->states_at + states(s) * sizeof(uint32_t);
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

/* Keys of 16 bits alone that one tile takes in groups of 512, with fewer for each work-item:
 * float16 6100 take 10.5 us of an H200, 8100 13.0, and by the network 12.7 and 13.2, in more
 * launches. */
enum { TILE_ITEMS = 12, TILE_ITEMS_MAX = 16 };

static bool is_tile_of_words(const tsr_sort_problem *p, const layout *s)
{
    return sweeps_keys(s) && s->warps && tsr_type_size(p->type) == 2 &&
           p->n > GROUP_SWEEP * TILE_ITEMS && p->n <= GROUP_WARPS * TILE_ITEMS_MAX;
}

/* Keys of warps that sweep, and more beside each. */
static bool sweeps_pairs(const layout *s)
{
    return s->way == WAY_SWEEP && s->warps && s->payload != PAYLOAD_NONE;
}

/* Many keys of 8 bits, which are one digit, with an index or 2 to 4 bytes beside each, take larger
 * tiles; of 384 x 24 or of 512 x 16 is the compiler's matter: where keys are what their order is,
 * uint8 that ascend, 20278104 with 4-byte values take 204 us of an H200 by the one and 246 by the
 * other, of int8 242 and 208, and so it is of 9000000 to 60000000 and of argsort. */
enum { MANY_BYTES = 1 << 23, MANY_ITEMS = 24, MANY_ITEMS_TURNED = 16 };

static bool sweeps_many_bytes_with(const tsr_sort_problem *p, const layout *s)
{
    return sweeps_pairs(s) && tsr_type_size(p->type) == 1 && p->n >= MANY_BYTES &&
           s->payload_bytes >= 2 && s->payload_bytes <= 4;
}

static bool is_its_order(const tsr_sort_problem *p)
{
    return p->type == TSR_U8 && !p->descending;
}

static uint32_t usual_group(const job *j, const layout *s)
{
    const tsr_sort_problem *p = sort_of(j->problem);

    if (j->device->kind == DEVICE_CPU)
        return (uint32_t)group_fit(j->device, 0, ITEMS_ON_CPU);
    if (s->warps)
        return (sweeps_keys(s) && !is_tile_of_words(p, s)) ||
                       (sweeps_many_bytes_with(p, s) && is_its_order(p))
                   ? GROUP_SWEEP
                   : GROUP_WARPS;
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

/* Of warps that sweep: the smallest tiles of which each unit has one at most.  On an H200, 40000
 * uint32 with 4-byte values take 31.5 us in tiles of 512 x 2, 33.4 of 4 and 39.1 of 8; 400000
 * float16 with 4-byte values 26.1 of 8, 28.0 of 12 and 30.3 of 16, and 1000000 37.6, 40.4 and 34.6;
 * 110000 uint16 alone 19.4 of 384 x 4 and 21.3 of 12.
 * Of more keys alone the largest tiles, and of pairs those of 512 x 12: 40000000 float16 with
 * 4-byte values take 761 us of 8, 642 of 12 and 766 of 16, 10000000 float64 with 8-byte values
 * 1119, 1015 and 1132.  But words with 4 bytes beside each take larger ones where that saves a
 * round of two tiles a unit: 10000000 uint32 with 4-byte values 390 us of 12 and 357 of 16, 2100000
 * 120 and 102. */
enum { PAIR_ITEMS_MAX = 16, PAIR_ITEMS = 12 };

static uint32_t items_for_one_wave(const job *j, const layout *s, uint32_t most)
{
    static const uint32_t items[] = {2, 4, 8, 12, 16};
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t units_take = (size_t)j->device->compute_units * s->group;
    const bool words = tsr_type_size(p->type) == 4 && s->payload_bytes == 4;
    uint32_t fit = items[0];

    for (size_t i = sweeps_keys(s) ? 1 : 0; i < ARRAY_COUNT(items) && items[i] <= most; i++) {
        fit = items[i];
        if (p->n <= fit * units_take)
            return fit;
    }
    if (sweeps_keys(s))
        return most;
    if (words &&
        size_div_up(p->n, 2 * fit * units_take) < size_div_up(p->n, 2 * PAIR_ITEMS * units_take))
        return fit;
    return (uint32_t)size_min(fit, PAIR_ITEMS);
}

/* Keys for each work-item of a tile that finds room in local memory, beside what ranks its digits.
 */
enum { RANKS_BYTES = 8 << 10 };

static uint32_t items_in_local(const job *j, const layout *s, size_t widest)
{
    const size_t room = size_max(local_limit(j, s), RANKS_BYTES) - RANKS_BYTES;

    return (uint32_t)size_min(PAIR_ITEMS_MAX, room / (s->group * widest));
}

/* Keys that a work-group takes at once: no more for each work-item than they need, and of those
 * that the tunable takes. */
static uint32_t items_of_one_tile(const tsr_sort_problem *p, const layout *s, uint32_t items)
{
    while (items % 8 == 0 && 2 * p->n <= (size_t)s->group * items)
        items /= 2;
    return items;
}

/* The largest tiles leave a unit two of them at most.  They suit keys that are few enough for one
 * each, or two, or so many that the last round of two is well filled: at least so many percent of
 * the room that all rounds have.  6000000 int64 with 8-byte values take 648 us of an H200 and 743
 * in tiles of 12, 3000000 351 and 400, 3000000 uint32 with them 153 and 168, 6000000 int64 with
 * 4-byte values 596 and 630, 3000000 float32 with them 134 and 147, and float64 with 8-byte values,
 * which more rounds make slower, 3000000 378 and 385, 6000000 695 and 670. */
enum {
    LARGE_ITEMS = 24,
    LARGE_FULL = 75,
    LARGE_FULL_OF_SHORT_KEYS = 85,
    LARGE_FULL_OF_FEW_BYTES = 90,
    LARGE_FULL_OF_WORDS = 66
};

static bool fills_large_tiles(const job *j, const layout *s, size_t widest)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t key = tsr_type_size(p->type), with = s->payload_bytes;
    const size_t units = size_max(j->device->compute_units, 1);
    const size_t tile = (size_t)s->group * LARGE_ITEMS, tiles = size_div_up(p->n, tile);
    const size_t room = tiles <= units ? units : size_round_up(tiles, 2 * units);
    const size_t full = 100 * (p->n / tile) / room;

    if (!sweeps_pairs(s) || s->group != GROUP_WARPS || key < 4 ||
        tile * widest + RANKS_BYTES > local_limit(j, s))
        return false;
    if (key == 4 && with == 4)
        return room == 2 * units && full >= LARGE_FULL_OF_WORDS;
    if (p->type == TSR_F64 && with == 8 && room > 2 * units)
        return false;
    return full >= (with < 8  ? LARGE_FULL_OF_FEW_BYTES
                    : key < 8 ? LARGE_FULL_OF_SHORT_KEYS
                              : LARGE_FULL);
}

/* Keys of a work-item; of those that do not sweep by warps half as many where units would have no
 * tile. */
static uint32_t usual_items(const job *j, const layout *s)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t widest = size_max(size_max(tsr_type_size(p->type), s->payload_bytes), 4);
    const uint32_t items = (uint32_t)((sweeps_keys(s) ? BYTES_SWEEP : BYTES_USUAL) / widest);

    if (is_tile_of_words(p, s) && s->group == GROUP_WARPS)
        return p->n <= GROUP_WARPS * TILE_ITEMS ? TILE_ITEMS : TILE_ITEMS_MAX;
    if (sweeps_many_bytes_with(p, s) && s->group == GROUP_SWEEP)
        return MANY_ITEMS;
    if (sweeps_many_bytes_with(p, s) && s->group == GROUP_WARPS)
        return MANY_ITEMS_TURNED;
    if (s->way == WAY_SWEEP && p->n <= (size_t)s->group * items)
        return items_of_one_tile(p, s, items);
    if (s->warps && sweeps_keys(s))
        return items_for_one_wave(j, s, items);
    if (fills_large_tiles(j, s, widest))
        return LARGE_ITEMS;
    if (sweeps_pairs(s))
        return items_for_one_wave(j, s, items_in_local(j, s, widest));
    return 2 * p->n < j->device->compute_units * s->group * items ? items / 2 : items;
}

/* What the tunables leave open. */
static void resolve(const job *j, layout *s)
{
    const size_t key = tsr_type_size(sort_of(j->problem)->type);
    const bool together = s->warps || j->device->kind == DEVICE_CPU;

    /* Two digits of a key at least, but for the sweep, which takes a byte at once. */
    if (!s->bits)
        s->bits = (uint32_t)size_min(together ? BITS_TOGETHER : BITS_ALONE,
                                     (s->way == WAY_SWEEP ? 8 : 4) * key);
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

    if (s->way == WAY_CPU)
        return SCAN_GROUP * sizeof(uint32_t);
    return size_max(room + (digits + s->group) * sizeof(uint32_t), words * sizeof(uint32_t));
}

static layout layout_of(const job *j, radix_way way)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t units = size_max(j->device->compute_units, 1) * param(j->params, "PER_UNIT");
    layout s = {.way = way,
                .warps = way == WAY_WARPS ||
                         (way == WAY_SWEEP && last_group_of(j->device) == LAST_GROUP_PTX),
                .payload = payload_of(p),
                .bits = param(j->params, "BITS"),
                .group = way == WAY_CPU ? 1 : param(j->params, "GROUP"),
                .items = way == WAY_CPU ? 1 : param(j->params, "ITEMS")};

    s.payload_bytes = s.payload == PAYLOAD_NONE    ? 0
                      : s.payload == PAYLOAD_INDEX ? sizeof(uint32_t)
                                                   : p->value_bytes;
    resolve(j, &s);
    s.tile = (size_t)s.group * s.items;
    s.tiles = size_div_up(p->n, s.tile);
    s.chunk = size_div_up(s.tiles, units) * s.tile;
    s.chunks = s.chunk ? size_div_up(p->n, s.chunk) : 0;
    s.local = local_bytes(&s, tsr_type_size(p->type));
    lay_out(p, &s);
    return s;
}

/* Why the parts of the layout do not go together, or the device has no room for it. */
static const char *layout_unsupported(const job *j, const layout *s, plan *out)
{
    if (s->passes % 2 && s->way != WAY_SWEEP)
        return plan_unsupported(
            out, "it needs an even number of digits a key, and with %u bits each there are %zu",
            s->bits, s->passes);
    if (s->group > group_limit(j->device, 0))
        return plan_unsupported(out, "it needs work-groups of %u, and the device has at most %zu",
                                s->group, group_limit(j->device, 0));
    if (s->warps && (s->group < 1u << s->bits || s->group % WARP))
        return plan_unsupported(out,
                                "it needs a work-item for each of %u values of a digit and whole "
                                "warps of %d, not work-groups of %u",
                                1u << s->bits, WARP, s->group);
    return sort_unsupported_room(j, s->group, s->local, local_limit(j, s), out);
}

/* Why the device has no room for copies of the operands; one whose memory is unknown has. */
static const char *memory_unsupported(const job *j, size_t bytes, plan *out)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const double all = (double)p->n * (double)sort_entry_bytes(p) + (double)bytes;
    const unsigned long long memory = j->device->global_memory / 4 * 3; /* others use it too */

    if (memory && all > (double)memory)
        return plan_unsupported(out,
                                "it needs a workspace of %zu bytes beside what it sorts, and the "
                                "device has %llu for both",
                                bytes, memory);
    return NULL;
}

/* ---- commands ----------------------------------------------------------------------------- */

/* Passes go from the caller's keys to their copy and back, the last to the caller's: where there is
 * an odd number of them, the launch that counts makes the copy from which the first goes. */
static bool reads_copy(const layout *s, size_t pass)
{
    return !one_tile(s) && (s->passes - pass) % 2;
}

/* The payload's array in the caller's hands: its index, or the one at the start of the workspace;
 * or its values. */
static void add_loads(command *c, const tsr_sort_problem *p, const layout *s, bool copy)
{
    if (s->payload == PAYLOAD_NONE)
        command_no_buffer(c);
    else if (copy)
        command_workspace(c);
    else if (s->payload == PAYLOAD_VALUE)
        command_operand(c, 2);
    else
        sort_step_index(c, p);
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

static void step_keys(command *c, bool copy)
{
    if (copy)
        command_workspace(c);
    else
        command_operand(c, 0);
}

/* The scalars of a launch: radix_call of cl/sort/sort_radix_pass.clh. */
typedef struct radix_call {
    uint64_t offset_keys, offset_keys_to, offset_loads, offset_loads_to;
    uint64_t offset_counts, offset_states, offset_tickets;
    uint64_t n, chunk;
    uint64_t states;
    uint32_t shift;
    uint32_t last;
} radix_call;

_Static_assert(sizeof(radix_call) == 88, "as OpenCL C lays it out");

/* What launches have in common. */
static radix_call call_of(const tsr_sort_problem *p, const layout *s, size_t pass, bool from_copy,
                          bool to_copy)
{
    return (radix_call){.offset_keys = keys_offset(p, s, from_copy),
                        .offset_keys_to = keys_offset(p, s, to_copy),
                        .offset_loads = loads_offset(p, s, from_copy),
                        .offset_loads_to = loads_offset(p, s, to_copy),
                        .offset_counts = s->counts_at / sizeof(uint32_t),
                        .offset_states = s->states_at / sizeof(uint32_t),
                        .n = p->n,
                        .chunk = s->chunk,
                        .states = states(s),
                        .shift = (uint32_t)(pass * s->bits),
                        .last = pass + 1 == s->passes};
}

/* Where a launch reads and writes: PASS_ARRAYS of cl/sort/sort_radix_pass.clh. */
static void add_arrays(command *c, const tsr_sort_problem *p, const layout *s, bool from_copy,
                       bool to_copy)
{
    step_keys(c, from_copy);
    step_keys(c, to_copy);
    add_loads(c, p, s, from_copy);
    add_loads(c, p, s, to_copy);
}

/* Count the digits of a pass, or for the sweep of all, and of an odd number copy what is sorted.
 * The command's end stays 0, so that values that arrive are there before the first pass. */
static void add_count(const tsr_sort_problem *p, const layout *s, size_t pass, plan *out)
{
    const bool copies = s->way == WAY_SWEEP && s->passes % 2;
    const bool from_copy = !copies && reads_copy(s, pass);
    const radix_call call = call_of(p, s, pass, from_copy, !from_copy);
    const size_t key = tsr_type_size(p->type);
    const size_t value = s->payload == PAYLOAD_VALUE ? s->payload_bytes : 0;
    command *c = plan_launch_1d(out, RADIX_COUNT, s->chunks * s->group, s->group);

    if (copies)
        add_arrays(c, p, s, false, true);
    else
        step_keys(c, from_copy);
    command_workspace(c);
    if (s->way == WAY_SWEEP)
        command_workspace(c);
    command_block(c, &call, sizeof(call));
    sort_step_moves(c, p, p->n, key + (copies ? key + 2 * value : 0));
    c->bytes += (double)(states(s) * sizeof(uint32_t));
    c->traffic.requested = c->bytes + (double)(s->chunks * counted_digits(s) * sizeof(uint32_t));
    if (s->way == WAY_CPU) /* counts in private memory */
        return;
    /* Counters are cleared, changed by each digit of a key, and added up. */
    c->traffic.local = 2.0 * (double)sizeof(uint32_t) *
                       ((double)(s->chunks * counted_digits(s) * s->copies) +
                        (double)p->n * (double)(s->way == WAY_SWEEP ? s->passes : 1));
    c->traffic.barriers = 2;
}

/* A group a digit reads its counts, which for the scan it reads again and overwrites, and writes
 * their sum.  In local memory they are added up by a tree, or each sum becomes that of those before
 * it in rounds of twice the distance. */
static void state_scan(const layout *s, size_t group, command *c)
{
    const double digits = (double)counted_digits(s), items = (double)group;
    const double rounds = (double)size_log2_up(group), word = (double)sizeof(uint32_t);
    const double times = s->way == WAY_SWEEP ? 1 : 3;
    const double accesses =
        s->way == WAY_SWEEP
            ? 2 * items + 3 * (items - 1)
            : 2 * items + rounds * 3 * items - (double)(group - 1); /* the first have none before */

    c->traffic.requested = word * digits * (times * (double)s->chunks + 1);
    c->traffic.local = word * digits * accesses;
    c->traffic.barriers = s->way == WAY_SWEEP ? rounds : 1 + 2 * rounds;
}

/* Work-items for the chunks of each digit: no more than there are. */
static void add_scan(const job *j, const layout *s, plan *out)
{
    const size_t group = group_fit(j->device, 0, size_min(s->chunks, SCAN_GROUP));
    const size_t digits = counted_digits(s);
    command *c = plan_launch_1d(out, RADIX_SCAN, group * digits, group);

    command_workspace(c);
    command_u64(c, s->counts_at / sizeof(uint32_t));
    command_u32(c, (uint32_t)s->chunks);
    c->bytes = (s->way == WAY_SWEEP ? 1.0 : 2.0) * (double)(s->chunks * digits) * sizeof(uint32_t);
    state_scan(s, group, c);
}

/* What a pass asks for whose work-items rank their own keys: c->bytes, and where the keys of each
 * digit begin in each chunk. */
static void state_tiles(const tsr_sort_problem *p, const layout *s, command *c)
{
    const double digits = (double)((size_t)1 << s->bits), counters = digits * s->group;
    const double tiles = (double)s->tiles, keys = tiles * (double)s->tile, n = (double)p->n;
    const double key = (double)tsr_type_size(p->type), word = (double)sizeof(uint32_t);
    const bool along = s->payload != PAYLOAD_NONE;
    /* Counters are cleared, added up, and read and overwritten by the digits' places.  Of digits a
     * tile has 11 accesses each, but of the last, which has no next one: what they count is noted,
     * two for the scan of them, and what the counters' places and memory's are made of. */
    const double of_tile = 4 * counters + 11 * digits - 1;
    /* The counter of each key is read and written for its rank, and read for its place, and
     * memory's place of its digit is read. */
    const double of_keys = 4;

    c->traffic.requested = c->bytes + 2.0 * (double)((s->chunks << s->bits) * sizeof(uint32_t));
    c->traffic.local = word * (tiles * of_tile + keys * of_keys) +
                       word * digits * 5 * (double)s->chunks + /* begin: noted, scanned, added to */
                       2 * key * keys + (along ? (double)s->payload_bytes * (keys + n) : 0);
    c->traffic.barriers = 2 + tiles / (double)s->chunks * (8 + (along ? 2 : 0));
}

/* Bytes that a pass reads and writes for a key. */
static size_t bytes_of_pass(const tsr_sort_problem *p, const layout *s, size_t pass)
{
    const bool last = pass + 1 == s->passes;
    const size_t load = s->payload_bytes;
    const size_t read = s->payload == PAYLOAD_INDEX && pass == 0 ? 0 : load;
    const size_t left = s->payload == PAYLOAD_INDEX && last ? sizeof(int64_t) : load;

    return 2 * tsr_type_size(p->type) + read + left;
}

/* A pass, or where one tile has all keys all of them. */
static void add_pass(const tsr_sort_problem *p, const layout *s, size_t pass, plan *out)
{
    const bool last = one_tile(s) || pass + 1 == s->passes, sweep = s->way == WAY_SWEEP;
    const bool from_copy = reads_copy(s, pass), to_copy = !one_tile(s) && !from_copy;
    radix_call call = call_of(p, s, pass, from_copy, to_copy);
    command *c =
        plan_launch_1d(out, RADIX_SCATTER, (sweep ? s->tiles : s->chunks) * s->group, s->group);

    add_arrays(c, p, s, from_copy, to_copy);
    if (one_tile(s)) { /* which counts nothing before, and waits for nobody */
        command_no_buffer(c);
        command_no_buffer(c);
    } else {
        command_workspace(c);
    }
    if (sweep && !one_tile(s)) {
        command_workspace(c);
        /* The sums of the pass, its states, and its ticket behind all states. */
        call.offset_counts += s->chunks * counted_digits(s) + (pass << s->bits);
        call.offset_tickets = call.offset_states + s->passes * states_of_pass(s) + pass;
        call.offset_states += pass * states_of_pass(s);
    }
    command_block(c, &call, sizeof(call));
    sort_step_moves(c, p, p->n, bytes_of_pass(p, s, pass));
    for (size_t more = pass + 1; one_tile(s) && more < s->passes; more++)
        c->bytes += (double)p->n * (double)bytes_of_pass(p, s, more);
    if (sweep && !one_tile(s)) /* published and looked back at */
        c->bytes += 2.0 * (double)(states_of_pass(s) * sizeof(uint32_t));
    /* Of one tile it is the first command, which waits for values too. */
    c->end = one_tile(s) ? 0 : p->n;
    c->settles = last;
    if (s->way == WAY_CPU) /* and where the keys of each digit begin */
        c->traffic.requested = c->bytes + 2.0 * (double)((s->chunks << s->bits) * sizeof(uint32_t));
    if (s->way == WAY_ALONE)
        state_tiles(p, s, c);
}

/* ---- plans --------------------------------------------------------------------------------- */

static const char *plan_digits(const job *j, plan *out, radix_way way)
{
    static const char *const payloads[] = {
        [PAYLOAD_NONE] = "NONE", [PAYLOAD_INDEX] = "INDEX", [PAYLOAD_VALUE] = "VALUE"};
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t most = way == WAY_SWEEP ? INT32_MAX : UINT32_MAX;
    const bool sweep = way == WAY_SWEEP;
    const char *why;
    layout s;

    if (sort_rows(p) > 1)
        return "it sorts one row";
    if (p->n > most)
        return plan_unsupported(out, "it counts in %d bits: at most %zu keys, not %zu",
                                sweep ? 31 : 32, most, p->n);
    if (sweep && last_group_of(j->device) == LAST_GROUP_NONE)
        return "it needs atomic operations of device scope";
    if (way == WAY_WARPS && j->device->nv_capability < 70)
        return "it needs barriers within a warp, of compute capability 7.0";
    s = layout_of(j, way);
    if (!sort_is_done(p))
        out->workspace = size_max(s.workspace, values_follow(&s, p) ? sort_values_bytes(p) : 0);
    if ((why = layout_unsupported(j, &s, out)) ||
        (why = memory_unsupported(j, out->workspace, out)))
        return why;
    plan_set(out, "BITS", s.bits);
    sort_define_keys(out, p);
    if (way != WAY_CPU) {
        plan_set(out, "GROUP", s.group);
        plan_set(out, "ITEMS", s.items);
        plan_define(out, "COPIES=%u", s.copies);
    }
    plan_define(out, "PAYLOAD=PAYLOAD_%s", payloads[s.payload]);
    plan_define(out, "WARPS=%d", s.warps);
    plan_define(out, "SCAN_GROUP=%d", SCAN_GROUP);
    if (sweep) {
        plan_define(out, "PASSES=%zu", s.passes);
        plan_define(out, "ONE_TILE=%d", one_tile(&s));
        plan_define(out, "STATES=STATES_%s", s.warps ? "PTX" : "ATOMICS");
        last_group_standard(j->device, last_group_of(j->device), &out->defines);
    }
    out->arriving = j->arriving;
    if (sort_is_done(p))
        return NULL;
    for (size_t pass = 0; pass < (one_tile(&s) ? 1 : s.passes); pass++) {
        if (!sweep || (pass == 0 && !one_tile(&s))) {
            add_count(p, &s, pass, out);
            add_scan(j, &s, out);
        }
        add_pass(p, &s, pass, out);
    }
    if (values_follow(&s, p))
        sort_move_values(j, RADIX_KEEP, out);
    return NULL;
}

/* Work-items rank keys in a tile, each alone or a warp together; the sweep reads keys once for each
 * digit; and a work-item of a CPU scatters keys alone. */
static const char *plan_alone(const job *j, plan *out)
{
    return plan_digits(j, out, WAY_ALONE);
}

static const char *plan_warps(const job *j, plan *out)
{
    return plan_digits(j, out, WAY_WARPS);
}

static const char *plan_sweep(const job *j, plan *out)
{
    return plan_digits(j, out, WAY_SWEEP);
}

static const char *plan_cpu(const job *j, plan *out)
{
    return plan_digits(j, out, WAY_CPU);
}

const variant sort_radix = {
    .name = "radix",
    .idea = "no network: keys are scattered by one digit after another, a pass each",
    .answers = 1u << CAUSE_BYTES | 1u << CAUSE_LAUNCHES,
    .source = "sort/sort_radix.cl",
    .entries = {"sort_radix_count", "sort_radix_scan", "sort_radix_scatter", "sort_values_keep",
                "sort_values_gather"},
    .build = "",
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables),
    .plan = plan_alone,
    .arrives = true,
};

const variant sort_radix_warp = {
    .name = "radix-warp",
    .idea = "a warp ranks its digits by ballots: larger digits, in half as many passes",
    .answers = 1u << CAUSE_BYTES | 1u << CAUSE_LAUNCHES,
    .source = "sort/sort_radix.cl",
    .entries = {"sort_radix_count", "sort_radix_scan", "sort_radix_scatter", "sort_values_keep",
                "sort_values_gather"},
    .build = "",
    .needs = 1u << FEATURE_PTX,
    .uses = 1u << FEATURE_LARGE_LOCAL,
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables),
    .plan = plan_warps,
    .arrives = true,
};

const variant sort_onesweep = {
    .name = "onesweep",
    .alias = "radix-sweep",
    .idea = "one read a digit: by decoupled look-back each work-group finds its offsets",
    .answers = 1u << CAUSE_BYTES | 1u << CAUSE_LAUNCHES,
    .unstated = "reads again what earlier tiles publish, as long as it is not there",
    .source = "sort/sort_onesweep.cl",
    .entries = {"sort_radix_digits", "sort_radix_totals", "sort_onesweep", "sort_values_keep",
                "sort_values_gather"},
    .build = "",
    .uses = LAST_GROUP_USES | 1u << FEATURE_LARGE_LOCAL,
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables),
    .plan = plan_sweep,
    .arrives = true,
};

const variant sort_cpu_radix = {
    .name = "cpu-radix",
    .alias = "item-radix",
    .idea = "for CPUs: each work-item scatters a chunk by one digit after another, alone",
    .source = "sort/sort_cpu_radix.cl",
    .entries = {"sort_cpu_radix_count", "sort_radix_scan", "sort_cpu_radix_scatter",
                "sort_values_keep", "sort_values_gather"},
    .build = "",
    .tunables = tunables,
    .tunable_count = CPU_TUNABLES,
    .plan = plan_cpu,
    .arrives = true,
};
