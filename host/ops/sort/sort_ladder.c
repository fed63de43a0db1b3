/**
 * The bitonic network step by step.  As lessons, which sort uint32 keys and nothing else: in global
 * memory (cl/sort/sort_naive.cl, which explains the flip form), in the form of textbooks
 * (cl/sort/sort_alternating.cl and sort_padded.cl), and in tiles of local memory
 * (cl/sort/sort_two_phase.cl).  In full, with every type, index, values and rows: in global memory
 * (cl/sort/sort_general.cl), and in tiles with registers (cl/sort/sort_registers.cl).  And the
 * host's sort, for comparison.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "ops/sort/sort_commands.h"
#include "ops/sort/sort_variants.h"

/* ---- the host ---------------------------------------------------------------------------- */

static void reverse(unsigned char *array, size_t n, size_t bytes)
{
    unsigned char t[sizeof(sort_pair)];

    for (size_t i = 0; i < n / 2; i++) {
        unsigned char *a = array + i * bytes, *b = array + (n - 1 - i) * bytes;

        memcpy(t, a, bytes);
        memcpy(a, b, bytes);
        memcpy(b, t, bytes);
    }
}

/* qsort is not stable, so the index decides between equal keys.  What is to descend is sorted
 * upwards with falling indices among equal keys, and reversed. */
static tsr_status qsort_pairs(const tsr_sort_problem *s, unsigned char *keys, int64_t *index,
                              tsr_error *err)
{
    const size_t bytes = tsr_type_size(s->type), n = s->n;
    sort_pair *pairs = calloc(n, sizeof(*pairs));

    if (!pairs)
        return tsr_fail(err, TSR_ENOMEM, 0, "sort: no memory for %zu keys with their index", n);
    for (size_t i = 0; i < n; i++) {
        memcpy(&pairs[i].key, keys + i * bytes, bytes);
        pairs[i].index = (int64_t)(s->descending ? n - 1 - i : i);
    }
    qsort(pairs, n, sizeof(*pairs), sort_pair_comparator(s->type));
    if (s->descending)
        reverse((unsigned char *)pairs, n, sizeof(*pairs));
    for (size_t i = 0; i < n; i++) {
        memcpy(keys + i * bytes, &pairs[i].key, bytes);
        index[i] = s->descending ? (int64_t)n - 1 - pairs[i].index : pairs[i].index;
    }
    free(pairs);
    return TSR_OK;
}

/* Put values into the order of an index. */
static tsr_status gather_host(const tsr_sort_problem *s, const int64_t *index,
                              unsigned char *values, tsr_error *err)
{
    const size_t bytes = s->value_bytes;
    unsigned char *copy = malloc(s->n * bytes);

    if (!copy)
        return tsr_fail(err, TSR_ENOMEM, 0, "sort: no memory for a copy of %zu values of %zu bytes",
                        s->n, bytes);
    memcpy(copy, values, s->n * bytes);
    for (size_t i = 0; i < s->n; i++)
        memcpy(values + i * bytes, copy + (size_t)index[i] * bytes, bytes);
    free(copy);
    return TSR_OK;
}

/* values is NULL where there are none, index where nobody asks for it. */
static tsr_status qsort_indexed(const tsr_sort_problem *s, unsigned char *keys, int64_t *index,
                                unsigned char *values, tsr_error *err)
{
    int64_t *own = index ? NULL : malloc(s->n * sizeof(*own));
    tsr_status st;

    if (!index && !own)
        return tsr_fail(err, TSR_ENOMEM, 0, "sort: no memory for the order of %zu keys", s->n);
    st = qsort_pairs(s, keys, index ? index : own, err);
    if (st == TSR_OK && values)
        st = gather_host(s, index ? index : own, values, err);
    free(own);
    return st;
}

tsr_status sort_qsort_parts(const sort_parts *parts, void *const operands[], tsr_error *err)
{
    const tsr_sort_problem *s = parts->keys;
    const size_t bytes = tsr_type_size(s->type);
    unsigned char *keys, *values = NULL;
    int64_t *index = NULL;
    tsr_status st = TSR_OK;

    if (sort_is_done(s))
        return TSR_OK;
    keys = (unsigned char *)operands[0] + s->offset_keys * bytes;
    if (s->argsort)
        index = (int64_t *)operands[1] + s->offset_index;
    if (s->value_bytes)
        values = (unsigned char *)operands[2] + s->offset_values * s->value_bytes;
    for (size_t i = 0; i < parts->count && st == TSR_OK; i++) {
        tsr_sort_problem part = *s;

        part.n = sort_part_at(parts, i).n;
        if (sort_is_done(&part))
            ;
        else if (index || values)
            st = qsort_indexed(&part, keys, index, values, err);
        else {
            qsort(keys, part.n, bytes, sort_comparator(part.type));
            if (part.descending)
                reverse(keys, part.n, bytes);
        }
        keys += part.n * bytes;
        index = index ? index + part.n : NULL;
        values = values ? values + part.n * s->value_bytes : NULL;
    }
    return st;
}

static tsr_status qsort_host(const problem *p, void *const operands[], tsr_error *err)
{
    const sort_parts rows = sort_parts_of_rows(sort_of(p));

    return sort_qsort_parts(&rows, operands, err);
}

const variant sort_qsort = {
    .name = "qsort",
    .idea = "the C library's qsort, with one comparator per type",
    .plan = plan_in_c,
    .host = qsort_host,
};

/* ---- lessons ------------------------------------------------------------------------------- */

enum { NETWORK_GROUP = 256 };

/* NULL, or the first thing that a problem needs and a lesson leaves out; `full` has it. */
static const char *unsupported_lesson(const tsr_sort_problem *s, const char *full, plan *out)
{
    if (s->type != TSR_U32)
        return plan_unsupported(out, "it takes uint32 keys alone: use `%s` for %s", full,
                                tsr_type_name(s->type));
    if (s->descending)
        return plan_unsupported(out, "it sorts in ascending order alone: use `%s`", full);
    if (s->argsort || s->value_bytes)
        return plan_unsupported(out, "it sorts keys alone: use `%s` for %s", full,
                                s->argsort ? "an index" : "values");
    if (sort_rows(s) > 1)
        return plan_unsupported(out, "it sorts one row: use `%s` for %zu rows", full, sort_rows(s));
    if (s->offset_keys)
        return plan_unsupported(out, "it takes keys from offset 0: use `%s` for offset %zu", full,
                                s->offset_keys);
    return sort_unsupported_positions(s, out);
}

/* The keys and their number. */
static void step_lesson(command *c, const tsr_sort_problem *s)
{
    command_operand(c, 0);
    command_u32(c, (uint32_t)s->n);
}

/* One sub-stage in global memory, a pair a work-item: the first of a stage flips. */
static void add_exchange(const tsr_sort_problem *s, unsigned entry, size_t group, size_t stride,
                         bool flip, plan *out)
{
    const size_t pairs = sort_exchange_items(s->n, stride, 2);
    command *c = sort_launch(out, s, entry, pairs, group);

    step_lesson(c, s);
    command_u32(c, (uint32_t)stride);
    command_u32(c, flip);
    sort_step_moves(c, s, size_min(2 * pairs, s->n), 2 * sort_element_bytes(s));
    c->traffic.requested = c->bytes;
    c->traffic.busy = (double)pairs / (double)c->global[0];
}

static const char *plan_naive(const job *j, plan *out)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const char *why = unsupported_lesson(s, "general", out);

    if (why)
        return why;
    for (size_t half = 1; half < s->n; half *= 2)
        for (size_t stride = half; stride > 0; stride /= 2)
            add_exchange(s, 0, group_fit(j->device, 0, NETWORK_GROUP), stride, stride == half, out);
    return NULL;
}

const variant sort_naive = {
    .name = "naive",
    .idea = "bitonic network in global memory: one launch per sub-stage",
    .source = "sort/sort_naive.cl",
    .entries = {"sort_naive"},
    .build = "",
    .plan = plan_naive,
};

/* The sub-stages of the textbook's form, of so many positions: a work-item each. */
static void add_alternating(const tsr_sort_problem *s, unsigned entry, size_t group,
                            size_t positions, bool padded, plan *out)
{
    for (size_t size = 2; size <= positions; size *= 2)
        for (size_t stride = size / 2; stride > 0; stride /= 2) {
            command *c = sort_launch(out, s, entry, positions, group);

            if (padded)
                command_workspace(c);
            else
                command_operand(c, 0);
            command_u32(c, (uint32_t)positions);
            command_u32(c, (uint32_t)size);
            command_u32(c, (uint32_t)stride);
            sort_step_moves(c, s, positions, 2 * sort_element_bytes(s));
            c->traffic.requested = c->bytes;
            c->traffic.busy = (double)positions / 2 / (double)c->global[0];
        }
}

static const char *plan_alternating(const job *j, plan *out)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const char *why = unsupported_lesson(s, "general", out);

    if (why)
        return why;
    if (s->n & (s->n - 1))
        return plan_unsupported(out, "it sorts powers of 2 alone: use `padded` for %zu keys", s->n);
    add_alternating(s, 0, group_fit(j->device, 0, NETWORK_GROUP), s->n, false, out);
    return NULL;
}

const variant sort_alternating = {
    .name = "alternating",
    .idea = "the textbook's network: directions alternate; a work-item a key, powers of 2 alone",
    .source = "sort/sort_alternating.cl",
    .entries = {"sort_alternating"},
    .build = "",
    .plan = plan_alternating,
};

/* Entries of sort_padded.cl. */
enum { PADDED_FILL, PADDED_EXCHANGE, PADDED_KEEP };

static const char *plan_padded(const job *j, plan *out)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const size_t group = group_fit(j->device, 0, NETWORK_GROUP), bytes = sort_element_bytes(s);
    const size_t positions = (size_t)1 << size_log2_up(s->n);
    const char *why = unsupported_lesson(s, "general", out);
    command *c;

    if (why || sort_is_done(s))
        return why;
    out->workspace = positions * bytes;
    c = sort_launch(out, s, PADDED_FILL, positions, group);
    step_lesson(c, s);
    command_workspace(c);
    command_u32(c, (uint32_t)positions);
    c->bytes = c->traffic.requested = (double)bytes * (double)(s->n + positions);
    add_alternating(s, PADDED_EXCHANGE, group, positions, true, out);
    c = sort_launch(out, s, PADDED_KEEP, s->n, group);
    command_workspace(c);
    step_lesson(c, s);
    sort_step_moves(c, s, s->n, 2 * bytes);
    c->traffic.requested = c->bytes;
    return NULL;
}

const variant sort_padded = {
    .name = "padded",
    .idea = "the same for any number of keys: sentinels, the largest, fill up to a power of 2",
    .source = "sort/sort_padded.cl",
    .entries = {"sort_padded_fill", "sort_padded_exchange", "sort_padded_keep"},
    .build = "",
    .plan = plan_padded,
};

/* Entries of sort_two_phase.cl, and of sort_registers.cl with two more. */
enum { TWO_PHASE_TILE, TWO_PHASE_PASS, TWO_PHASE_MERGE, TWO_PHASE_KEEP };

static const tunable two_phase_tunables[] = {
    {"GROUP",
     "work-items in a work-group: more hide latency, fewer leave room for other groups",
     {1, 2, 4, 16, 64, 128, 256, 512, 1024},
     256,
     16},
    {"KEYS_PER_ITEM",
     "keys of a tile per work-item: a larger tile saves global launches and takes local memory",
     {2, 4, 8, 16, 32},
     8,
     4},
};

/* All tiles in local memory, with so many sub-stages. */
static void add_lesson_tiles(const tsr_sort_problem *s, unsigned entry, size_t group, size_t tile,
                             size_t stages, plan *out)
{
    const double positions = (double)size_round_up(s->n, tile);
    command *c = sort_launch(out, s, entry, size_div_up(s->n, tile) * group, group);

    step_lesson(c, s);
    sort_step_moves(c, s, s->n, 2 * sort_element_bytes(s));
    c->traffic.requested = c->bytes;
    /* Filled, read and written by each sub-stage, and read for the store. */
    c->traffic.local =
        (double)sort_element_bytes(s) * (positions * (1 + 2 * (double)stages) + (double)s->n);
    c->traffic.barriers = 1 + (double)stages;
}

/* Sub-stages that sort a tile of n keys, or as many as begin below n. */
static size_t tile_stages(size_t tile, size_t n)
{
    size_t count = 0;

    for (size_t size = 2; size <= tile && size / 2 < n; size *= 2)
        count += size_log2_up(size);
    return count;
}

static const char *plan_two_phase(const job *j, plan *out)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const size_t group = param(j->params, "GROUP");
    const size_t tile = group * param(j->params, "KEYS_PER_ITEM");
    const char *why = unsupported_lesson(s, "two-phase-registers", out);

    if (!why)
        why =
            sort_unsupported_room(j, group, tile * sizeof(uint32_t), j->device->local_memory, out);
    if (why || sort_is_done(s))
        return why;
    add_lesson_tiles(s, TWO_PHASE_TILE, group, tile, tile_stages(tile, s->n), out);
    for (size_t half = tile; half < s->n; half *= 2) {
        for (size_t stride = half; stride >= tile; stride /= 2)
            add_exchange(s, TWO_PHASE_PASS, group, stride, stride == half, out);
        add_lesson_tiles(s, TWO_PHASE_MERGE, group, tile, size_log2_up(tile), out);
    }
    return NULL;
}

const variant sort_two_phase = {
    .name = "two-phase",
    .idea = "all short strides of a stage in one launch, in a tile of local memory",
    .answers = 1u << CAUSE_LAUNCHES | 1u << CAUSE_REUSE | 1u << CAUSE_BYTES,
    .source = "sort/sort_two_phase.cl",
    .entries = {"sort_two_phase_tile", "sort_two_phase_exchange", "sort_two_phase_merge"},
    .build = "",
    .tunables = two_phase_tunables,
    .tunable_count = ARRAY_COUNT(two_phase_tunables),
    .plan = plan_two_phase,
};

/* ---- in full: global memory ------------------------------------------------------------------ */

enum { GENERAL_IOTA, GENERAL_EXCHANGE, GENERAL_KEEP };

static const char *plan_general(const job *j, plan *out)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const size_t group = group_fit(j->device, 0, NETWORK_GROUP);
    const char *why;
    command *c;

    if ((why = sort_unsupported_groups(s, group, out)))
        return why;
    sort_define_keys(out, s);
    out->workspace = sort_values_bytes(s);
    if (sort_is_done(s))
        return NULL;
    if (sort_with_index(s)) {
        c = sort_launch(out, s, GENERAL_IOTA, s->n, group);
        sort_step_index(c, s);
        command_u64(c, s->argsort ? s->offset_index : 0);
        command_u64(c, s->n);
        command_u32(c, (uint32_t)sort_rows(s));
        sort_step_moves(c, s, s->n, sizeof(int64_t));
        c->traffic.requested = c->bytes;
    }
    for (size_t half = 1; half < s->n; half *= 2)
        for (size_t stride = half; stride > 0; stride /= 2) {
            const size_t pairs = sort_exchange_items(s->n, stride, 2);

            c = sort_launch(out, s, GENERAL_EXCHANGE, pairs, group);
            sort_step_sequence(c, s);
            command_u64(c, s->n);
            command_u64(c, stride);
            command_u32(c, stride == half);
            command_u32(c, (uint32_t)sort_rows(s));
            sort_step_moves(c, s, size_min(2 * pairs, s->n), 2 * sort_element_bytes(s));
            c->traffic.requested = c->bytes;
        }
    sort_move_values(j, GENERAL_KEEP, out);
    return NULL;
}

const variant sort_general = {
    .name = "general",
    .idea = "naive for every type, index, values and rows, in both directions",
    .source = "sort/sort_general.cl",
    .entries = {"sort_general_iota", "sort_general_exchange", "sort_values_keep",
                "sort_values_gather"},
    .build = "",
    .plan = plan_general,
};

/* ---- in full: tiles of local memory and registers ------------------------------------------ */

static const tunable registers_tunables[] = {
    {"GROUP",
     "work-items in a work-group: more make a larger tile, which saves global passes",
     {1, 16, 64, 128, 256, 512, 1024},
     256,
     16},
    {"STAGES",
     "sub-stages per read, in 2^STAGES registers: more save traffic until registers run out",
     {1, 2, 3, 4, 5},
     3,
     2},
};

/* Rounds in registers, of `stages` strides each, that do those below 2^strides. */
static size_t rounds_for(size_t strides, size_t stages)
{
    return size_div_up(strides, stages);
}

/* The same of all stages that sort a tile, or as many as begin below n. */
static size_t tile_rounds(size_t tile, size_t stages, size_t n)
{
    size_t rounds = 1; /* neighbours */

    for (size_t size = (size_t)2 << stages; size <= tile && size / 2 < n; size *= 2)
        rounds += 1 + rounds_for(size_log2_up(size) - stages, stages);
    return rounds;
}

/* A work-group per started tile, with so many rounds in registers. */
static void add_tiles(const tsr_sort_problem *s, unsigned entry, size_t group, size_t tile,
                      size_t rounds, plan *out)
{
    const double positions = (double)size_round_up(s->n, tile);
    command *c = sort_launch(out, s, entry, size_div_up(s->n, tile) * group, group);

    sort_step_sequence(c, s);
    command_u32(c, (uint32_t)s->n);
    command_u32(c, (uint32_t)sort_rows(s));
    /* The first launch has no index to read yet. */
    sort_step_moves(c, s, s->n,
                    (entry == TWO_PHASE_TILE ? tsr_type_size(s->type) : sort_element_bytes(s)) +
                        sort_element_bytes(s));
    c->traffic.requested = c->bytes;
    /* Filled, read and written by each round, and read for the store. */
    c->traffic.local = (double)sort_rows(s) * (double)sort_element_bytes(s) *
                       (positions * (1 + 2 * (double)rounds) + (double)s->n);
    c->traffic.barriers = 1 + (double)rounds;
}

/* Sort tiles; then for each stage above them, passes for the long strides and one merge. */
static const char *plan_registers(const job *j, plan *out)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const size_t group = param(j->params, "GROUP"), stages = param(j->params, "STAGES");
    const size_t tile = group << stages;
    const char *why;

    if ((why = sort_unsupported_positions(s, out)) ||
        (why = sort_unsupported_room(j, group, sort_pairs_bytes(s, tile), j->device->local_memory,
                                     out)) ||
        (why = sort_unsupported_groups(s, group, out)))
        return why;
    sort_define_keys(out, s);
    out->workspace = sort_values_bytes(s);
    if (sort_is_done(s))
        return NULL;
    add_tiles(s, TWO_PHASE_TILE, group, tile, tile_rounds(tile, stages, s->n), out);
    for (size_t half = tile; half < s->n; half *= 2) {
        const size_t strides = size_log2_up(2 * half / tile);

        for (size_t pass = 0; pass * stages < strides; pass++) {
            const size_t stride = 2 * half >> stages * (pass + 1);
            const size_t items = sort_exchange_items(s->n, stride, (size_t)1 << stages);
            command *c = sort_launch(out, s, TWO_PHASE_PASS, items, group);

            sort_step_sequence(c, s);
            command_u32(c, (uint32_t)s->n);
            command_u32(c, (uint32_t)stride);
            command_u32(c, pass == 0);
            command_u32(c, (uint32_t)sort_rows(s));
            sort_step_moves(c, s, size_min(items << stages, s->n), 2 * sort_element_bytes(s));
            c->traffic.requested = c->bytes;
        }
        add_tiles(s, TWO_PHASE_MERGE, group, tile, rounds_for(size_log2_up(tile), stages), out);
    }
    sort_move_values(j, TWO_PHASE_KEEP, out);
    return NULL;
}

const variant sort_two_phase_registers = {
    .name = "two-phase-registers",
    .idea = "several sub-stages for each read, in registers, of global and of local memory",
    .answers = 1u << CAUSE_LAUNCHES | 1u << CAUSE_BYTES | 1u << CAUSE_LOCAL | 1u << CAUSE_BARRIERS,
    .source = "sort/sort_registers.cl",
    .entries = {"sort_registers_tile", "sort_registers_pass", "sort_registers_merge",
                "sort_values_keep", "sort_values_gather"},
    .build = "",
    .tunables = registers_tunables,
    .tunable_count = ARRAY_COUNT(registers_tunables),
    .plan = plan_registers,
};
