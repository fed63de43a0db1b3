/**
 * The bitonic network step by step: on the host for comparison, in global memory
 * (cl/sort/sort_naive.cl, which explains the flip form), in tiles of local memory
 * (cl/sort/sort_two_phase.cl), and with registers (cl/sort/sort_registers.cl).
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

static void qsort_keys(const tsr_sort_problem *s, unsigned char *keys)
{
    const size_t bytes = tsr_type_size(s->type);

    qsort(keys, s->n, bytes, sort_comparator(s->type));
    if (s->descending)
        reverse(keys, s->n, bytes);
}

static tsr_status qsort_host(const problem *p, void *const operands[], tsr_error *err)
{
    const tsr_sort_problem *s = sort_of(p);
    sort_parts parts = sort_parts_of_rows(s);
    const size_t bytes = tsr_type_size(s->type);
    unsigned char *keys, *values = NULL;
    int64_t *index = NULL;
    tsr_status st = TSR_OK;

    if (sort_is_done(s))
        return TSR_OK;
    if (s->segments) {
        parts.count = s->segments;
        parts.offsets = sort_segment_offsets(s, (const void *const *)operands);
    }
    keys = (unsigned char *)operands[0] + s->offset_keys * bytes;
    if (s->argsort)
        index = (int64_t *)operands[1] + s->offset_index;
    if (s->value_bytes)
        values = (unsigned char *)operands[2] + s->offset_values * s->value_bytes;
    for (size_t i = 0; i < parts.count && st == TSR_OK; i++) {
        tsr_sort_problem part = *s;

        part.n = sort_part_at(&parts, i).n;
        if (sort_is_done(&part))
            ;
        else if (index || values)
            st = qsort_indexed(&part, keys, index, values, err);
        else
            qsort_keys(&part, keys);
        keys += part.n * bytes;
        index = index ? index + part.n : NULL;
        values = values ? values + part.n * s->value_bytes : NULL;
    }
    return st;
}

/* It takes every problem. */
static const char *plan_qsort(const job *j, plan *out)
{
    (void)j, (void)out;
    return NULL;
}

const variant sort_qsort = {
    .name = "qsort",
    .idea = "the C library's qsort, with one comparator per type",
    .plan = plan_qsort,
    .host = qsort_host,
};

/* ---- naive --------------------------------------------------------------------------------- */

enum { NAIVE_IOTA, NAIVE_EXCHANGE, NAIVE_KEEP, NAIVE_GROUP = 256 };

static const char *plan_naive(const job *j, plan *out)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const size_t group = group_fit(j->device, 0, NAIVE_GROUP);
    const char *why;
    command *c;

    if ((why = sort_parts_unsupported(s)) || (why = sort_unsupported_groups(s, group, out)))
        return why;
    sort_define_keys(out, s);
    out->workspace = sort_values_bytes(s);
    if (sort_is_done(s))
        return NULL;
    if (sort_with_index(s)) {
        c = sort_launch(out, s, NAIVE_IOTA, s->n, group);
        sort_step_index(c, s);
        command_u64(c, s->argsort ? s->offset_index : 0);
        command_u64(c, s->n);
        command_u32(c, (uint32_t)sort_rows(s));
        sort_step_moves(c, s, s->n, sizeof(int64_t));
    }
    for (size_t half = 1; half < s->n; half *= 2)
        for (size_t stride = half; stride > 0; stride /= 2) {
            const size_t pairs = sort_exchange_items(s->n, stride, 2);

            c = sort_launch(out, s, NAIVE_EXCHANGE, pairs, group);
            sort_step_sequence(c, s);
            command_u64(c, s->n);
            command_u64(c, stride);
            command_u32(c, stride == half);
            command_u32(c, (uint32_t)sort_rows(s));
            sort_step_moves(c, s, size_min(2 * pairs, s->n), 2 * sort_element_bytes(s));
        }
    sort_move_values(j, NAIVE_KEEP, out);
    return NULL;
}

const variant sort_naive = {
    .name = "naive",
    .idea = "bitonic network in global memory: one launch per sub-stage",
    .source = "sort/sort_naive.cl",
    .entries = {"sort_naive_iota", "sort_naive_exchange", "sort_values_keep", "sort_values_gather"},
    .build = "",
    .plan = plan_naive,
};

/* ---- two-phase, two-phase-registers: tiles in local memory --------------------------------- */

enum { TWO_PHASE_TILE, TWO_PHASE_PASS, TWO_PHASE_MERGE, TWO_PHASE_KEEP };

/* How a variant splits the network. */
typedef struct tiling {
    size_t group;  /* work-items in a work-group */
    size_t tile;   /* keys in a tile */
    size_t stages; /* sub-stages in a global launch */
} tiling;

/* A work-group per started tile. */
static void add_tiles(const tsr_sort_problem *s, unsigned entry, tiling t, plan *out)
{
    command *c = sort_launch(out, s, entry, size_div_up(s->n, t.tile) * t.group, t.group);

    sort_step_sequence(c, s);
    command_u32(c, (uint32_t)s->n);
    command_u32(c, (uint32_t)sort_rows(s));
    /* The first launch has no index to read yet. */
    sort_step_moves(c, s, s->n,
                    (entry == TWO_PHASE_TILE ? tsr_type_size(s->type) : sort_element_bytes(s)) +
                        sort_element_bytes(s));
}

/* Sort tiles; then for each stage above them, passes for the long strides and one merge. */
static const char *plan_tiling(const job *j, tiling t, plan *out)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const char *why;

    if ((why = sort_parts_unsupported(s)) || (why = sort_unsupported_positions(s, out)) ||
        (why = sort_unsupported_room(j, t.group, sort_pairs_bytes(s, t.tile),
                                     j->device->local_memory, out)) ||
        (why = sort_unsupported_groups(s, t.group, out)))
        return why;
    sort_define_keys(out, s);
    out->workspace = sort_values_bytes(s);
    if (sort_is_done(s))
        return NULL;
    add_tiles(s, TWO_PHASE_TILE, t, out);
    for (size_t half = t.tile; half < s->n; half *= 2) {
        const size_t strides = size_log2_up(2 * half / t.tile);

        for (size_t pass = 0; pass * t.stages < strides; pass++) {
            const size_t stride = 2 * half >> t.stages * (pass + 1);
            const size_t items = sort_exchange_items(s->n, stride, (size_t)1 << t.stages);
            command *c = sort_launch(out, s, TWO_PHASE_PASS, items, t.group);

            sort_step_sequence(c, s);
            command_u32(c, (uint32_t)s->n);
            command_u32(c, (uint32_t)stride);
            command_u32(c, pass == 0);
            command_u32(c, (uint32_t)sort_rows(s));
            sort_step_moves(c, s, size_min(items << t.stages, s->n), 2 * sort_element_bytes(s));
        }
        add_tiles(s, TWO_PHASE_MERGE, t, out);
    }
    sort_move_values(j, TWO_PHASE_KEEP, out);
    return NULL;
}

static const tunable two_phase_tunables[] = {
    {"GROUP",
     "work-items in a work-group: more hide latency, fewer leave room for other groups",
     {1, 16, 64, 128, 256, 512, 1024},
     256,
     16},
    {"KEYS_PER_ITEM",
     "keys of a tile per work-item: a larger tile saves global launches and takes local memory",
     {2, 4, 8, 16, 32},
     8,
     4},
};

static const char *plan_two_phase(const job *j, plan *out)
{
    const size_t group = param(j->params, "GROUP");

    return plan_tiling(j, (tiling){group, group * param(j->params, "KEYS_PER_ITEM"), 1}, out);
}

const variant sort_two_phase = {
    .name = "two-phase",
    .idea = "all short strides of a stage in one launch, in a tile of local memory",
    .source = "sort/sort_two_phase.cl",
    .entries = {"sort_two_phase_tile", "sort_two_phase_exchange", "sort_two_phase_merge",
                "sort_values_keep", "sort_values_gather"},
    .build = "",
    .tunables = two_phase_tunables,
    .tunable_count = ARRAY_COUNT(two_phase_tunables),
    .plan = plan_two_phase,
};

static const tunable two_phase_registers_tunables[] = {
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

static const char *plan_two_phase_registers(const job *j, plan *out)
{
    const size_t group = param(j->params, "GROUP"), stages = param(j->params, "STAGES");

    return plan_tiling(j, (tiling){group, group << stages, stages}, out);
}

const variant sort_two_phase_registers = {
    .name = "two-phase-registers",
    .idea = "several sub-stages for each read, in registers, of global and of local memory",
    .source = "sort/sort_registers.cl",
    .entries = {"sort_registers_tile", "sort_registers_pass", "sort_registers_merge",
                "sort_values_keep", "sort_values_gather"},
    .build = "",
    .tunables = two_phase_registers_tunables,
    .tunable_count = ARRAY_COUNT(two_phase_registers_tunables),
    .plan = plan_two_phase_registers,
};
