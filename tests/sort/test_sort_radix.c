/* What the variants of sort by digits launch: carried out here, as the headers of
 * cl/sort/sort_radix.cl, cl/sort/sort_onesweep.cl, cl/sort/sort_cpu_radix.cl and
 * cl/sort/sort_values.clh have it, it sorts; the parts of the workspace lie apart in what is asked
 * for; what cannot be done is refused; and who prefers which. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/sizes.h"
#include "core/registry.h"
#include "ops/sort/sort_order.h"
#include "ops/sort/sort_radix.h"
#include "sort_plans.h"

/* Operands. */
enum { KEYS, INDEX, VALUES, COUNT };

enum { OFFSET_KEYS = 3, OFFSET_INDEX = 5, OFFSET_VALUES = 2, BEHIND = 4, UNWRITTEN = 0xA5 };

static device_facts gpu(void)
{
    return (device_facts){.kind = DEVICE_GPU,
                          .compute_units = 3,
                          .max_work_group = 1024,
                          .max_work_item = {1024, 1024, 64},
                          .local_memory = 48 << 10,
                          .feature = {[FEATURE_DEVICE_SCOPE] = FEATURE_YES}};
}

static device_facts nvidia(void)
{
    device_facts d = gpu();

    d.nvidia = true;
    d.nv_capability = 90;
    d.large_local = 227 << 10;
    d.feature[FEATURE_PTX] = d.feature[FEATURE_LARGE_LOCAL] = FEATURE_YES;
    return d;
}

static device_facts cpu(void)
{
    device_facts d = gpu();

    d.kind = DEVICE_CPU;
    return d;
}

/* The value of a -D among a variant's options. */
static size_t defined(const variant *v, const job *j, const char *name)
{
    char wanted[32];
    text options = {0};
    const char *at;
    size_t value;

    variant_options(v, j, &options);
    snprintf(wanted, sizeof(wanted), "-D%s=", name);
    at = strstr(text_get(&options), wanted);
    assert_non_null(at);
    value = strtoul(at + strlen(wanted), NULL, 10);
    text_free(&options);
    return value;
}

/* ---- carrying the steps out ------------------------------------------------------------------ */

/* A sort under way: buffers of the bytes that their owners have, no more. */
typedef struct sorting {
    const variant *v;
    job job;
    const tsr_sort_problem *problem;
    unsigned char *operand[COUNT], *workspace;
    size_t operand_bytes[COUNT], workspace_bytes;
    size_t bits, digits, tile, group; /* digits: 2^bits */
    bool sweeps;
} sorting;

/* Elements of a buffer, from the one that an argument gives as its offset. */
typedef struct region {
    unsigned char *at;
    size_t bytes;
} region;

static region region_at(const sorting *s, const command *now, unsigned arg, unsigned offset,
                        size_t element, size_t count)
{
    const command_arg *a = &now->arg[arg];
    const bool theirs = a->kind == ARG_OPERAND;
    unsigned char *buffer = theirs ? s->operand[a->index] : s->workspace;
    const size_t begin = scalar(now, offset) * element;

    assert_true(theirs || a->kind == ARG_WORKSPACE);
    assert_true(begin + count * element <=
                (theirs ? s->operand_bytes[a->index] : s->workspace_bytes));
    return (region){buffer + begin, count * element};
}

static void assert_apart(const region *regions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++)
            assert_true(regions[i].at + regions[i].bytes <= regions[k].at ||
                        regions[k].at + regions[k].bytes <= regions[i].at);
}

static size_t key_bytes(const sorting *s)
{
    return tsr_type_size(s->problem->type);
}

static uint64_t key_at(const unsigned char *keys, size_t bytes, size_t i)
{
    uint64_t key = 0;

    memcpy(&key, keys + i * bytes, bytes); /* both little-endian */
    return key;
}

static size_t digit_at(const sorting *s, const unsigned char *keys, size_t i, size_t shift)
{
    return (key_at(keys, key_bytes(s), i) >> shift) & (s->digits - 1);
}

/* Chunks of a launch that goes through all keys, whole tiles each. */
static size_t chunks_of(const sorting *s, const command *now, size_t chunk)
{
    const size_t chunks = now->global[0] / now->local[0];

    assert_int_equal(now->local[0], s->group);
    assert_int_equal(chunk % s->tile, 0);
    assert_int_equal(chunks, size_div_up(s->problem->n, chunk));
    assert_true(chunks <= s->job.device->compute_units * param(s->job.params, "PER_UNIT"));
    return chunks;
}

/* counts[digit][chunk], for each of the digits from `shift` on that the launch counts. */
static void count(const sorting *s, const region *keys, region counts, size_t chunk, size_t chunks,
                  size_t shift)
{
    const size_t n = s->problem->n, all = counts.bytes / sizeof(uint32_t) / (chunks + 1);
    uint32_t *out = (uint32_t *)(void *)counts.at;

    memset(out, 0, all * chunks * sizeof(*out));
    for (size_t d = 0; d < all / s->digits; d++)
        for (size_t i = 0; i < n; i++)
            out[(d * s->digits + digit_at(s, keys->at, i, shift + d * s->bits)) * chunks +
                i / chunk]++;
}

/* sort_radix_count, sort_radix_digits: which sets all states back, of the workspace's end. */
static void run_count(const sorting *s, const command *now)
{
    enum { KEYS_IN, COUNTS, AT_KEYS, AT_COUNTS, N, CHUNK, SHIFT };
    enum { STATES = 2, SWEEP_AT_KEYS, SWEEP_AT_COUNTS, AT_STATES, SWEEP_N, SWEEP_CHUNK, ALL };
    const size_t chunk = scalar(now, s->sweeps ? SWEEP_CHUNK : CHUNK);
    const size_t chunks = chunks_of(s, now, chunk);
    const size_t passes = s->sweeps ? 8 * key_bytes(s) / s->bits : 1;
    region used[3] = {region_at(s, now, KEYS_IN, s->sweeps ? SWEEP_AT_KEYS : AT_KEYS, key_bytes(s),
                                s->problem->n),
                      region_at(s, now, COUNTS, s->sweeps ? SWEEP_AT_COUNTS : AT_COUNTS,
                                sizeof(uint32_t), passes * s->digits * (chunks + 1))};

    assert_int_equal(scalar(now, s->sweeps ? SWEEP_N : N), s->problem->n);
    if (s->sweeps) {
        used[2] = region_at(s, now, STATES, AT_STATES, sizeof(uint32_t), (size_t)scalar(now, ALL));
        memset(used[2].at, 0, used[2].bytes);
    }
    assert_apart(used, s->sweeps ? 3 : 2);
    count(s, &used[0], used[1], chunk, chunks, s->sweeps ? 0 : (size_t)scalar(now, SHIFT));
}

/* sort_radix_scan: sums over the chunks before; sort_radix_totals: behind them those over all. */
static void run_sums(const sorting *s, const command *now)
{
    enum { COUNTS, AT_COUNTS, CHUNKS };
    const size_t digits = now->global[0] / now->local[0], chunks = scalar(now, CHUNKS);
    const region counts =
        region_at(s, now, COUNTS, AT_COUNTS, sizeof(uint32_t), digits * (chunks + 1));
    uint32_t *all = (uint32_t *)(void *)counts.at;

    assert_true(now->local[0] <= 256);
    assert_int_equal(now->local[0] & (now->local[0] - 1), 0);
    assert_int_equal(digits, s->sweeps ? 8 * key_bytes(s) / s->bits * s->digits : s->digits);
    for (size_t digit = 0; digit < digits; digit++) {
        uint32_t sum = 0;

        for (size_t c = 0; c < chunks; c++) {
            const uint32_t own = all[digit * chunks + c];

            if (!s->sweeps)
                all[digit * chunks + c] = sum;
            sum += own;
        }
        all[digits * chunks + digit] = sum;
    }
}

/* A pass from arrays to others, keys with what goes with them. */
typedef struct pass {
    region keys, keys_to, loads, loads_to, counts, states;
    size_t load; /* bytes of what goes with a key; 0: nothing */
    size_t shift;
    bool last, indexes;
} pass;

/* One key, of which the last pass leaves a position in 64 bits. */
static void put(const sorting *s, const pass *p, size_t i, size_t to)
{
    const size_t key = key_bytes(s);
    uint32_t position = (uint32_t)i;

    memcpy(p->keys_to.at + to * key, p->keys.at + i * key, key);
    if (p->indexes && p->shift > 0)
        memcpy(&position, p->loads.at + i * sizeof(position), sizeof(position));
    if (p->indexes && p->last)
        ((int64_t *)(void *)p->loads_to.at)[to] = position;
    else if (p->indexes)
        ((uint32_t *)(void *)p->loads_to.at)[to] = position;
    else if (p->load)
        memcpy(p->loads_to.at + to * p->load, p->loads.at + i * p->load, p->load);
}

/* What both kernels have in common: PASS_ARRAYS, and PASS_OFFSETS from argument `offsets` on. */
static pass pass_of(const sorting *s, const command *now, unsigned offsets)
{
    enum { KEYS_IN, KEYS_TO, LOADS, LOADS_TO };
    const tsr_sort_problem *q = s->problem;
    const bool none = !q->argsort && !q->value_bytes;
    pass p = {.indexes = !none && (q->argsort || q->value_bytes > 8),
              .shift = scalar(now, now->n_args - 2),
              .last = scalar(now, now->n_args - 1) != 0};

    p.load = none ? 0 : p.indexes ? sizeof(uint32_t) : q->value_bytes;
    p.keys = region_at(s, now, KEYS_IN, offsets, key_bytes(s), q->n);
    p.keys_to = region_at(s, now, KEYS_TO, offsets + 1, key_bytes(s), q->n);
    if (p.load) {
        p.loads = region_at(s, now, LOADS, offsets + 2, p.load, q->n);
        p.loads_to = region_at(s, now, LOADS_TO, offsets + 3, p.load, q->n);
        if (p.indexes && p.last)
            p.loads_to.bytes = q->n * sizeof(int64_t);
    }
    assert_int_equal(p.last, p.shift + s->bits == 8 * key_bytes(s));
    assert_int_equal(now->settles, p.last);
    assert_int_equal(now->end, q->n);
    return p;
}

static void assert_pass_apart(const pass *p)
{
    region used[6] = {p->keys, p->keys_to, p->counts, p->states, p->loads, p->loads_to};

    assert_apart(used, p->load ? 6 : 4);
}

/* sort_radix_scatter: each chunk goes on from where the scan says. */
static void run_scatter(const sorting *s, const command *now)
{
    enum { COUNTS = 4, OFFSETS, AT_COUNTS = 9, N, CHUNK };
    const size_t n = s->problem->n, chunk = scalar(now, CHUNK);
    const size_t chunks = chunks_of(s, now, chunk);
    size_t *next = calloc(s->digits, sizeof(*next));
    pass p = pass_of(s, now, OFFSETS);
    const uint32_t *counts, *totals;

    p.counts = region_at(s, now, COUNTS, AT_COUNTS, sizeof(uint32_t), s->digits * (chunks + 1));
    counts = (const uint32_t *)(const void *)p.counts.at;
    totals = counts + s->digits * chunks;
    assert_int_equal(scalar(now, N), n);
    assert_pass_apart(&p);
    for (size_t i = 0; i < n; i++) {
        if (i % chunk == 0) {
            for (size_t digit = 0, begin = 0; digit < s->digits; begin += totals[digit++])
                next[digit] = begin + counts[digit * chunks + i / chunk];
        }
        put(s, &p, i, next[digit_at(s, p.keys.at, i, p.shift)]++);
    }
    free(next);
}

/* sort_onesweep: tiles in the order of their tickets, and each has states of its own, which
 * nobody has written before. */
static void run_sweep(const sorting *s, const command *now)
{
    enum { TOTALS = 4, STATES, OFFSETS, AT_TOTALS = 10, AT_STATES, AT_TICKETS, N };
    const size_t n = s->problem->n, tiles = now->global[0] / now->local[0];
    const region ticket = region_at(s, now, STATES, AT_TICKETS, sizeof(uint32_t), 1);
    size_t *next = calloc(s->digits, sizeof(*next));
    pass p = pass_of(s, now, OFFSETS);
    const uint32_t *totals;
    uint32_t *states;

    p.counts = region_at(s, now, TOTALS, AT_TOTALS, sizeof(uint32_t), s->digits);
    p.states = region_at(s, now, STATES, AT_STATES, sizeof(uint32_t), tiles * s->digits);
    totals = (const uint32_t *)(const void *)p.counts.at;
    states = (uint32_t *)(void *)p.states.at;
    assert_pass_apart(&p);
    assert_apart((const region[]){p.states, ticket}, 2);
    assert_int_equal(scalar(now, N), n);
    assert_int_equal(now->local[0], s->group);
    assert_int_equal(tiles, size_div_up(n, s->tile));
    for (size_t digit = 1; digit < s->digits; digit++)
        next[digit] = next[digit - 1] + totals[digit - 1];
    for (size_t i = 0; i < n; i++) {
        if (i % s->tile == 0)
            assert_int_equal((*(uint32_t *)(void *)ticket.at)++, i / s->tile);
        put(s, &p, i, next[digit_at(s, p.keys.at, i, p.shift)]++);
    }
    for (size_t k = 0; k < tiles * s->digits; k++)
        assert_int_equal(states[k]++, 0);
    free(next);
}

/* sort_values_keep and sort_values_gather, for an index in the workspace or the caller's. */
static void run_values(const sorting *s, const command *now, bool gathers)
{
    enum { VALUES_AT, COPY, INDEX_AT };
    const unsigned offsets = gathers ? INDEX_AT + 1 : INDEX_AT;
    const size_t n = s->problem->n, bytes = s->problem->value_bytes;
    region used[3] = {region_at(s, now, VALUES_AT, offsets, bytes, n),
                      region_at(s, now, COPY, offsets + 1, bytes, n)};

    if (gathers)
        used[2] = region_at(s, now, INDEX_AT, offsets + 2, sizeof(int64_t), n);
    assert_apart(used, gathers ? 3 : 2);
    if (!gathers)
        memcpy(used[1].at, used[0].at, n * bytes);
    for (size_t i = 0; gathers && i < n; i++)
        memcpy(used[0].at + i * bytes,
               used[1].at + (size_t)((const int64_t *)(const void *)used[2].at)[i] * bytes, bytes);
}

static void run(const sorting *s, const command *now)
{
    assert_int_equal(now->global[0] % now->local[0], 0);
    if (now->entry == RADIX_COUNT)
        run_count(s, now);
    else if (now->entry == RADIX_SCAN)
        run_sums(s, now);
    else if (now->entry == RADIX_SCATTER && s->sweeps)
        run_sweep(s, now);
    else if (now->entry == RADIX_SCATTER)
        run_scatter(s, now);
    else
        run_values(s, now, now->entry > RADIX_KEEP);
}

/* ---- sorted or not --------------------------------------------------------------------------- */

static const size_t offset_of[COUNT] = {OFFSET_KEYS, OFFSET_INDEX, OFFSET_VALUES};

static size_t element_of(const sorting *s, unsigned which)
{
    const tsr_sort_problem *q = s->problem;

    return which == KEYS    ? key_bytes(s)
           : which == INDEX ? (q->argsort ? sizeof(int64_t) : 0)
                            : q->value_bytes;
}

/* Keys of which many are alike, and values that name their keys; nothing at the operands' ends. */
static void fill(sorting *s)
{
    const size_t n = s->problem->n;
    uint64_t state = n;

    for (unsigned k = 0; k < COUNT; k++) {
        s->operand_bytes[k] = (offset_of[k] + n + BEHIND) * element_of(s, k);
        s->operand[k] = malloc(s->operand_bytes[k] + 1);
        assert_non_null(s->operand[k]);
        memset(s->operand[k], UNWRITTEN, s->operand_bytes[k]);
    }
    s->workspace_bytes = s->v->workspace(&s->job);
    s->workspace = malloc(s->workspace_bytes + 1);
    assert_non_null(s->workspace);
    memset(s->workspace, UNWRITTEN, s->workspace_bytes);
    for (size_t i = 0; i < n; i++) {
        const uint64_t bits = random_u64(&state);
        const uint64_t key = bits & random_u64(&state) & 0x8003010F80308031u;
        const uint64_t value[2] = {i, ~(uint64_t)i};

        memcpy(s->operand[KEYS] + (OFFSET_KEYS + i) * key_bytes(s), &key, key_bytes(s));
        memcpy(s->operand[VALUES] + (OFFSET_VALUES + i) * s->problem->value_bytes, value,
               s->problem->value_bytes);
    }
}

static void assert_unwritten(const sorting *s)
{
    for (unsigned k = 0; k < COUNT; k++) {
        const size_t element = element_of(s, k);

        for (size_t i = 0; i < offset_of[k] * element; i++)
            assert_int_equal(s->operand[k][i], UNWRITTEN);
        for (size_t i = (offset_of[k] + s->problem->n) * element; i < s->operand_bytes[k]; i++)
            assert_int_equal(s->operand[k][i], UNWRITTEN);
    }
}

/* The result is the stable order of the keys as they were. */
static void assert_sorted(const sorting *s, const unsigned char *before)
{
    const tsr_sort_problem *q = s->problem;
    const size_t n = q->n;
    const unsigned char *keys = s->operand[KEYS] + OFFSET_KEYS * key_bytes(s);
    const int64_t *index = (const int64_t *)(const void *)s->operand[INDEX] + OFFSET_INDEX;
    size_t *order = malloc((n + 1) * sizeof(*order)), *scratch = malloc((n + 1) * sizeof(*scratch));

    assert_true(order && scratch);
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    sort_reference(q->type, false, before, n, order, scratch);
    for (size_t i = 0; i < n; i++) {
        const uint64_t value[2] = {order[i], ~(uint64_t)order[i]};

        assert_int_equal(key_at(keys, key_bytes(s), i), key_at(before, key_bytes(s), order[i]));
        if (q->argsort)
            assert_int_equal(index[i], order[i]);
        assert_memory_equal(s->operand[VALUES] + (OFFSET_VALUES + i) * q->value_bytes, value,
                            q->value_bytes);
    }
    assert_unwritten(s);
    free(order);
    free(scratch);
}

static void check_sorts(const char *name, const device_facts *d, const params *p,
                        const tsr_sort_problem *q)
{
    const problem whole = sort_problem(*q);
    sorting s = {.v = find(name), .job = {&whole, d, p}, .problem = sort_of(&whole)};
    const bool item = !strcmp(name, "cpu-radix"); /* each work-item */
    unsigned char *before;
    text reason = {0};
    command now;

    assert_null(variant_unsupported(s.v, &s.job, &reason));
    s.bits = defined(s.v, &s.job, "BITS");
    s.digits = (size_t)1 << s.bits;
    s.group = item ? 1 : defined(s.v, &s.job, "GROUP");
    s.tile = item ? 1 : s.group * defined(s.v, &s.job, "ITEMS");
    s.sweeps = !strcmp(name, "onesweep");
    fill(&s);
    before = malloc(q->n * key_bytes(&s) + 1);
    assert_non_null(before);
    memcpy(before, s.operand[KEYS] + OFFSET_KEYS * key_bytes(&s), q->n * key_bytes(&s));
    for (size_t i = 0; s.v->step(&s.job, i, &now); i++)
        run(&s, &now);
    assert_sorted(&s, before);
    for (unsigned k = 0; k < COUNT; k++)
        free(s.operand[k]);
    free(s.workspace);
    free(before);
    text_free(&reason);
}

/* What may go with keys. */
static void check_payloads(const char *name, const device_facts *d, const params *p, tsr_type type,
                           size_t n)
{
    static const struct {
        bool argsort;
        size_t value_bytes;
    } payloads[] = {{false, 0}, {true, 0}, {false, 4}, {false, 8}, {false, 16}, {true, 2}};

    for (size_t i = 0; i < sizeof(payloads) / sizeof(payloads[0]); i++) {
        const tsr_sort_problem q = {.type = type,
                                    .n = n,
                                    .argsort = payloads[i].argsort,
                                    .value_bytes = payloads[i].value_bytes,
                                    .offset_keys = OFFSET_KEYS,
                                    .offset_index = OFFSET_INDEX,
                                    .offset_values = OFFSET_VALUES};

        check_sorts(name, d, p, &q);
    }
}

/* The variants, each on a device that has it, the sweep on both kinds; and their smallest tiles
 * that have several keys a work-item, or whole warps. */
static const struct {
    const char *name;
    device_facts (*device)(void);
    const char *small[5];
    size_t tile;
} ways[] = {
    {"cpu-radix", cpu, {"BITS=4", "PER_UNIT=1"}, 1},
    {"radix", gpu, {"BITS=4", "GROUP=16", "ITEMS=4", "PER_UNIT=1"}, 64},
    {"radix-warp", nvidia, {"BITS=4", "GROUP=256", "ITEMS=1", "PER_UNIT=1"}, 256},
    {"onesweep", gpu, {"BITS=4", "GROUP=16", "ITEMS=4", "PER_UNIT=1"}, 64},
    {"onesweep", nvidia, {"BITS=4", "GROUP=256", "ITEMS=1", "PER_UNIT=1"}, 256},
};

enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

static const char *const none[] = {NULL};

/* Around whole tiles: of 3 units, whose chunks are a tile each, and several. */
static void test_steps_sort_any_length(void **state)
{
    static const size_t tiles[] = {1, 2, 3, 4, 6, 7, 13};

    (void)state;
    for (size_t w = 0; w < WAYS; w++) {
        const device_facts d = ways[w].device();
        const params p = settings(find(ways[w].name), ways[w].small);

        for (size_t n = 0; n <= 3; n++)
            check_payloads(ways[w].name, &d, &p, TSR_U32, n);
        for (size_t i = 0; i < sizeof(tiles) / sizeof(tiles[0]); i++)
            for (size_t n = tiles[i] * ways[w].tile - 1; n <= tiles[i] * ways[w].tile + 1; n++)
                check_payloads(ways[w].name, &d, &p, TSR_U32, n);
    }
}

static void test_steps_sort_any_width(void **state)
{
    static const tsr_type types[] = {TSR_U8, TSR_U16, TSR_U32, TSR_U64};

    (void)state;
    for (size_t w = 0; w < WAYS; w++) {
        const device_facts d = ways[w].device();
        const params few = settings(find(ways[w].name), ways[w].small);
        const params usual = settings(find(ways[w].name), none);

        for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
            check_payloads(ways[w].name, &d, &few, types[t], 1000);
            check_payloads(ways[w].name, &d, &usual, types[t], 20001);
        }
    }
}

/* ---- the plan -------------------------------------------------------------------------------- */

static void check_defined(const char *name, device_facts d, tsr_sort_problem q,
                          const char *expected)
{
    const params p = settings(find(name), none);
    const problem whole = sort_problem(q);
    const job j = {&whole, &d, &p, false};
    text options = {0};

    variant_options(find(name), &j, &options);
    if (!strstr(text_get(&options), expected))
        fail_msg("%s: not '%s' in '%s'", name, expected, text_get(&options));
    text_free(&options);
}

/* Keys alone leave room for more of them; few leave no unit idle. */
static void test_tiles_are_the_problem_s(void **state)
{
    const tsr_sort_problem keys = {.type = TSR_U32, .n = 10000000};
    const tsr_sort_problem wide = {.type = TSR_U64, .n = 10000000, .argsort = true};
    const tsr_sort_problem values = {.type = TSR_U32, .n = 10000000, .value_bytes = 8};
    const tsr_sort_problem few = {.type = TSR_U32, .n = 10000};
    const tsr_sort_problem bytes = {.type = TSR_U8, .n = 10000000};

    (void)state;
    check_defined("radix", gpu(), keys,
                  " -DBITS=4 -DGROUP=256 -DITEMS=16 -DCOPIES=8 -DPAYLOAD=PAYLOAD_NONE -DWARPS=0");
    check_defined("radix-warp", nvidia(), keys,
                  " -DBITS=8 -DGROUP=512 -DITEMS=16 -DCOPIES=32 -DPAYLOAD=PAYLOAD_NONE -DWARPS=1");
    check_defined("onesweep", nvidia(), keys,
                  " -DBITS=8 -DGROUP=384 -DITEMS=24 -DCOPIES=16 -DPAYLOAD=PAYLOAD_NONE -DWARPS=1 "
                  "-DPASSES=4 -DSTATES=STATES_PTX");
    check_defined("onesweep", nvidia(), wide,
                  " -DBITS=8 -DGROUP=512 -DITEMS=8 -DCOPIES=8 -DPAYLOAD=PAYLOAD_INDEX -DWARPS=1 "
                  "-DPASSES=8");
    check_defined("onesweep", nvidia(), values, " -DITEMS=8 -DCOPIES=16 -DPAYLOAD=PAYLOAD_VALUE");
    check_defined("onesweep", nvidia(), few, " -DGROUP=384 -DITEMS=12 ");
    check_defined("onesweep", nvidia(), bytes, " -DBITS=4 ");
    check_defined("onesweep", gpu(), keys, " -DSTATES=STATES_ATOMICS -cl-std=");
    check_defined("radix", cpu(), keys, " -DBITS=8 -DGROUP=16 -DITEMS=16 -DCOPIES=1 ");
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void check_reason(const char *name, const device_facts *d, const tsr_sort_problem *q,
                         const char *const *assignments, const char *expected)
{
    const params p = settings(find(name), assignments);
    const problem whole = sort_problem(*q);
    const job j = {&whole, d, &p, false};
    text reason = {0};
    const char *why = variant_unsupported(find(name), &j, &reason);

    assert_string_equal(why ? why : "suited", expected);
    text_free(&reason);
}

static void test_problems_refused(void **state)
{
    tsr_sort_problem q = {.type = TSR_U32, .n = 1000};

    (void)state;
    for (size_t w = 0; w < WAYS; w++) {
        const device_facts d = ways[w].device();
        const bool sweeps = !strcmp(ways[w].name, "onesweep");

        q = (tsr_sort_problem){.type = TSR_U32, .n = 1000};
        check_reason(ways[w].name, &d, &q, none, "suited");
        q.rows = 2;
        check_reason(ways[w].name, &d, &q, none, "it sorts one row");
        q.rows = 0;
        q.segments = 2;
        check_reason(ways[w].name, &d, &q, none,
                     "it sorts one sequence or rows of one length, not segments of their own");
        q.segments = 0;
        q.n = sweeps ? INT32_MAX : UINT32_MAX;
        check_reason(ways[w].name, &d, &q, none, "suited");
        q.n++;
        check_reason(ways[w].name, &d, &q, none,
                     sweeps ? "it counts in 31 bits: at most 2147483647 keys, not 2147483648"
                            : "it counts in 32 bits: at most 4294967295 keys, not 4294967296");
    }
}

static void test_settings_refused(void **state)
{
    static const char *const byte[] = {"BITS=8", "GROUP=256", NULL};
    static const char *const narrow[] = {"BITS=8", "GROUP=16", NULL};
    static const char *const uneven[] = {"BITS=4", "GROUP=16", NULL};
    static const char *const large[] = {"BITS=8", "GROUP=512", "ITEMS=1", NULL};
    const tsr_sort_problem bytes = {.type = TSR_U8, .n = 1000}, q = {.type = TSR_U32, .n = 1000};
    const device_facts d = nvidia();
    device_facts small = gpu();

    (void)state;
    check_reason("radix-warp", &d, &bytes, byte,
                 "it takes an even number of digits, and of 8 bits a key has 1");
    check_reason("radix-warp", &d, &q, byte, "suited");
    check_reason("radix-warp", &d, &q, narrow,
                 "it needs a work-item for each of 256 digits and whole warps of 32, not groups of "
                 "16");
    check_reason("onesweep", &d, &q, uneven,
                 "it needs a work-item for each of 16 digits and whole warps of 32, not groups of "
                 "16");
    /* A counter for each digit and work-item, 3 words a digit, and one a work-item. */
    check_reason("radix", &small, &q, large,
                 "it needs 529408 bytes of local memory, and the device has 49152");
    small.max_work_group = 256;
    check_reason("radix", &small, &q, large,
                 "it needs work-groups of 512, and the device has at most 256");
}

static void test_devices_refused(void **state)
{
    static const char *const few[] = {"BITS=4", "GROUP=256", "ITEMS=4", NULL}; /* one tile */
    const tsr_sort_problem q = {.type = TSR_U32, .n = 1000};
    device_facts d = nvidia();

    (void)state;
    d.nv_capability = 61;
    check_reason("radix-warp", &d, &q, none,
                 "it needs warps whose lanes meet, of compute capability 7.0");
    check_reason("onesweep", &d, &q, none, "suited"); /* by OpenCL C's atomics */
    d.feature[FEATURE_DEVICE_SCOPE] = FEATURE_NO;
    check_reason("onesweep", &d, &q, none, "it needs atomics in the scope of the device");
    check_reason("radix", &d, &q, none, "suited");
    /* A copy of the keys, in whole lines, and 16 counts and their sums. */
    d = gpu();
    d.global_memory = 10964;
    check_reason("radix", &d, &q, few,
                 "it needs a workspace of 4224 bytes beside what it sorts, and has 8223 for both");
    d.max_allocation = 4223;
    check_reason("radix", &d, &q, few,
                 "its workspace of 4224 bytes is over the device's largest allocation of 4223");
    d.global_memory = 10968;
    d.max_allocation = 4224;
    check_reason("radix", &d, &q, few, "suited");
}

/* ---- who prefers which ----------------------------------------------------------------------- */

static void check_preferred(const device_facts *d, tsr_sort_problem q, const char *expected)
{
    const problem whole = sort_problem(q);
    const char *names[PREFERENCES_MAX];
    const size_t count = operation_sort.prefer(&whole, d, names);

    assert_true(count > 0);
    if (expected)
        assert_string_equal(names[0], expected);
    for (size_t i = 0; !expected && i < count; i++)
        assert_false(strncmp(names[i], "radix", 5) == 0);
}

/* Among those that are preferred: not all of them take the problem. */
static void check_preferred_somewhere(const device_facts *d, tsr_sort_problem q, const char *name,
                                      bool expected)
{
    const problem whole = sort_problem(q);
    const char *names[PREFERENCES_MAX];
    const size_t count = operation_sort.prefer(&whole, d, names);
    bool found = false;

    for (size_t i = 0; i < count; i++)
        found = found || !strcmp(names[i], name);
    assert_int_equal(found, expected);
}

/* On CPUs digits are for many keys with an index or values: more of wider keys. */
static void check_digits_from(const device_facts *d)
{
    static const struct {
        tsr_type type;
        size_t value_bytes, most;
    } cases[] = {{TSR_U8, 0, 1 << 14},
                 {TSR_F16, 0, 1 << 17},
                 {TSR_F32, 0, 1 << 24},
                 {TSR_I32, 4, 1 << 21},
                 {TSR_U64, 0, 1 << 15}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        tsr_sort_problem q = {.type = cases[i].type,
                              .n = cases[i].most,
                              .argsort = !cases[i].value_bytes,
                              .value_bytes = cases[i].value_bytes};

        check_preferred_somewhere(d, q, "cpu-radix", q.n > 1 << 15); /* behind merges */
        if (q.n > 1 << 15)
            check_preferred(d, q, "cpu-merges");
        q.n++;
        check_preferred(d, q, "cpu-radix");
        q.rows = 2;
        check_preferred_somewhere(d, q, "cpu-radix", false);
    }
}

static void test_preferences(void **state)
{
    const device_facts ours = nvidia(), other = gpu(), processor = cpu();
    const tsr_sort_problem huge = {.type = TSR_U8, .n = ((size_t)1 << 31) + 1};
    tsr_sort_problem keys = {.type = TSR_U32, .n = 1 << 17};
    tsr_sort_problem wide = {.type = TSR_U64, .n = 2049, .argsort = true};
    const tsr_sort_problem many = {.type = TSR_U32, .n = 1 << 26};

    (void)state;
    check_preferred(&ours, keys, "onesweep");
    check_preferred(&ours, wide, "onesweep");
    check_preferred(&other, keys, NULL);
    check_preferred(&other, many, "radix");
    check_preferred(&other, wide, "radix");
    check_preferred(&processor, keys, NULL);
    check_preferred(&processor, keys, "cpu-merges");
    check_preferred_somewhere(&processor, huge, "cpu-radix", true); /* merges have no room */
    check_digits_from(&processor);
    keys.rows = 2;
    check_preferred(&ours, keys, NULL);
    keys.rows = 0;
    keys.n--;
    check_preferred(&ours, keys, NULL);
    wide.n--;
    check_preferred(&ours, wide, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_sort_any_length),
        cmocka_unit_test(test_steps_sort_any_width),
        cmocka_unit_test(test_tiles_are_the_problem_s),
        cmocka_unit_test(test_problems_refused),
        cmocka_unit_test(test_settings_refused),
        cmocka_unit_test(test_devices_refused),
        cmocka_unit_test(test_preferences),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
