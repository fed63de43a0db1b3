/**
 * Sort: the operation, and every way of doing it.
 *
 * The device variants are bitonic networks in the flip form, which
 * cl/sort/sort_naive.cl explains, and radix sorts (cl/sort/sort_radix.cl).  What each kernel
 * expects of its launches stands at the top of its file.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "core/groups.h"
#include "core/last_group.h"
#include "core/variant.h"
#include "ops/sort/sort_cpu_merges.h"
#include "ops/sort/sort_cpu_segments.h"
#include "ops/sort/sort_cpu_vectors.h"
#include "ops/sort/sort_fields.h"
#include "ops/sort/sort_fused.h"
#include "ops/sort/sort_order.h"
#include "ops/sort/sort_partition.h"
#include "ops/sort/sort_proof.h"
#include "ops/sort/sort_radix.h"
#include "ops/sort/sort_segments.h"
#include "ops/sort/sort_steps.h"
#include "ops/sort/sort_top.h"

/* ---- naive ------------------------------------------------------------------------------- */

enum { NAIVE_IOTA, NAIVE_EXCHANGE, NAIVE_KEEP, NAIVE_GROUP = 256 };

static void naive_launch(const job *j, unsigned entry, size_t items, command *out)
{
    const size_t local = group_fit(j->device, 0, NAIVE_GROUP);

    sort_launch_rows(sort_of(j->problem), entry, items, local, out);
}

static const char *naive_unsupported(const job *j, text *reason)
{
    const tsr_sort_problem *s = sort_of(j->problem);

    if (sort_parts_unsupported(s))
        return sort_parts_unsupported(s);
    return sort_groups_unsupported(s, group_fit(j->device, 0, NAIVE_GROUP), reason);
}

static bool naive_keys_step(const job *j, size_t i, command *out)
{
    const tsr_sort_problem *s = sort_of(j->problem);

    if (sort_is_done(s))
        return false;
    if (sort_with_index(s) && i-- == 0) {
        naive_launch(j, NAIVE_IOTA, s->n, out);
        sort_step_index(out, s);
        command_u64(out, s->argsort ? s->offset_index : 0);
        command_u64(out, s->n);
        command_u32(out, (uint32_t)sort_rows(s));
        sort_step_moves(out, s, s->n, sizeof(int64_t));
        return true;
    }
    for (size_t stage = 1, half = 1; half < s->n; stage++, half *= 2) {
        if (i < stage) {
            const size_t stride = half >> i, pairs = sort_exchange_items(s->n, stride, 2);

            naive_launch(j, NAIVE_EXCHANGE, pairs, out);
            sort_step_sequence(out, s);
            command_u64(out, s->n);
            command_u64(out, stride);
            command_u32(out, i == 0);
            command_u32(out, (uint32_t)sort_rows(s));
            sort_step_moves(out, s, size_min(2 * pairs, s->n), 2 * sort_element_bytes(s));
            return true;
        }
        i -= stage;
    }
    return false;
}

static bool naive_step(const job *j, size_t i, command *out)
{
    return sort_step_or_values(j, i, naive_keys_step, NAIVE_KEEP, out);
}

/* ---- two-phase, two-phase-registers: tiles in local memory ------------------------------- */

enum { TWO_PHASE_TILE, TWO_PHASE_PASS, TWO_PHASE_MERGE, TWO_PHASE_KEEP };

/* How a variant splits the network. */
typedef struct tiling {
    size_t group;  /* work-items in a work-group */
    size_t tile;   /* keys in a tile */
    size_t stages; /* sub-stages in a global launch */
} tiling;

/* Why the device has no room for a tile, or its work-group. */
static const char *tile_unsupported(const job *j, tiling t, text *reason)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const size_t index = sort_with_index(s) ? t.tile : 1; /* as TILE_INDICES */
    const size_t keys = size_round_up(t.tile * tsr_type_size(s->type), sizeof(int64_t));
    const size_t local = keys + index * sizeof(int64_t);
    const size_t limit = group_limit(j->device, 0);

    if (t.group > limit)
        text_format(reason, "it needs work-groups of %zu, and the device has at most %zu", t.group,
                    limit);
    else if (local > j->device->local_memory)
        text_format(reason, "it needs %zu bytes of local memory, and the device has %zu", local,
                    j->device->local_memory);
    else
        return NULL;
    return text_get(reason);
}

static const char *tiling_unsupported(const job *j, tiling t, text *reason)
{
    const tsr_sort_problem *s = sort_of(j->problem);

    if (sort_parts_unsupported(s))
        return sort_parts_unsupported(s);
    if (sort_positions_unsupported(s, reason))
        return text_get(reason);
    if (tile_unsupported(j, t, reason))
        return text_get(reason);
    return sort_groups_unsupported(s, t.group, reason);
}

/* A work-group per started tile. */
static void launch_tiles(const tsr_sort_problem *s, unsigned entry, tiling t, command *out)
{
    sort_launch_rows(s, entry, size_div_up(s->n, t.tile) * t.group, t.group, out);
    sort_step_sequence(out, s);
    command_u32(out, (uint32_t)s->n);
    command_u32(out, (uint32_t)sort_rows(s));
    /* The first launch has no index to read yet. */
    sort_step_moves(out, s, s->n,
                    (entry == TWO_PHASE_TILE ? tsr_type_size(s->type) : sort_element_bytes(s)) +
                        sort_element_bytes(s));
}

/* Pass `pass` of the stage that merges runs into runs of `size` keys. */
static void launch_pass(const tsr_sort_problem *s, tiling t, size_t size, size_t pass, command *out)
{
    const size_t stride = size >> t.stages * (pass + 1);
    const size_t items = sort_exchange_items(s->n, stride, (size_t)1 << t.stages);

    sort_launch_rows(s, TWO_PHASE_PASS, items, t.group, out);
    sort_step_sequence(out, s);
    command_u32(out, (uint32_t)s->n);
    command_u32(out, (uint32_t)stride);
    command_u32(out, pass == 0);
    command_u32(out, (uint32_t)sort_rows(s));
    sort_step_moves(out, s, size_min(items << t.stages, s->n), 2 * sort_element_bytes(s));
}

/* Sort tiles; then for each stage above them, passes for the long strides and one merge. */
static bool tiling_step(const job *j, tiling t, size_t i, command *out)
{
    const tsr_sort_problem *s = sort_of(j->problem);

    if (sort_is_done(s))
        return false;
    if (i-- == 0) {
        launch_tiles(s, TWO_PHASE_TILE, t, out);
        return true;
    }
    for (size_t stage = 1, half = t.tile; half < s->n; stage++, half *= 2) {
        const size_t passes = size_div_up(stage, t.stages);

        if (i < passes) {
            launch_pass(s, t, 2 * half, i, out);
            return true;
        }
        if (i == passes) {
            launch_tiles(s, TWO_PHASE_MERGE, t, out);
            return true;
        }
        i -= passes + 1;
    }
    return false;
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

static tiling two_phase_tiling(const job *j)
{
    const size_t group = param(j->params, "GROUP");

    return (tiling){group, group * param(j->params, "KEYS_PER_ITEM"), 1};
}

static const char *two_phase_unsupported(const job *j, text *reason)
{
    return tiling_unsupported(j, two_phase_tiling(j), reason);
}

static bool two_phase_keys_step(const job *j, size_t i, command *out)
{
    return tiling_step(j, two_phase_tiling(j), i, out);
}

static bool two_phase_step(const job *j, size_t i, command *out)
{
    return sort_step_or_values(j, i, two_phase_keys_step, TWO_PHASE_KEEP, out);
}

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

static tiling two_phase_registers_tiling(const job *j)
{
    const size_t group = param(j->params, "GROUP"), stages = param(j->params, "STAGES");

    return (tiling){group, group << stages, stages};
}

static const char *two_phase_registers_unsupported(const job *j, text *reason)
{
    return tiling_unsupported(j, two_phase_registers_tiling(j), reason);
}

static bool two_phase_registers_keys_step(const job *j, size_t i, command *out)
{
    return tiling_step(j, two_phase_registers_tiling(j), i, out);
}

static bool two_phase_registers_step(const job *j, size_t i, command *out)
{
    return sort_step_or_values(j, i, two_phase_registers_keys_step, TWO_PHASE_KEEP, out);
}

/* ---- rows: many rows in a tile of local memory ------------------------------------------- */

enum { ROWS_TILE, ROWS_KEEP };

static const char *rows_unsupported(const job *j, text *reason)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const tiling t = two_phase_tiling(j);

    if (sort_parts_unsupported(s))
        return sort_parts_unsupported(s);
    if (s->n > t.tile) {
        text_format(reason, "a row has to fit in its tile: at most %zu keys, not %zu", t.tile,
                    s->n);
        return text_get(reason);
    }
    if (tile_unsupported(j, t, reason))
        return text_get(reason);
    return s->value_bytes
               ? sort_groups_unsupported(s, group_fit(j->device, 0, SORT_VALUES_GROUP), reason)
               : NULL;
}

static bool rows_keys_step(const job *j, size_t i, command *out)
{
    const tsr_sort_problem *s = sort_of(j->problem);
    const tiling t = two_phase_tiling(j);
    const uint32_t shift = size_log2_up(s->n);

    if (i > 0 || sort_is_done(s))
        return false;
    command_launch_1d(out, ROWS_TILE, size_div_up(sort_rows(s), t.tile >> shift) * t.group,
                      t.group);
    sort_step_sequence(out, s);
    command_u32(out, (uint32_t)s->n);
    command_u32(out, shift);
    command_u64(out, sort_rows(s));
    sort_step_moves(out, s, s->n, tsr_type_size(s->type) + sort_element_bytes(s));
    return true;
}

static bool rows_step(const job *j, size_t i, command *out)
{
    return sort_step_or_values(j, i, rows_keys_step, ROWS_KEEP, out);
}

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
    const uint64_t *offsets = sort_segment_offsets(s, (const void *const *)operands);
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
    for (size_t i = 0; i < sort_parts(s) && st == TSR_OK; i++) {
        tsr_sort_problem part = *s;

        part.n = sort_part_at(s, offsets, i).n;
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

/* ---- the table --------------------------------------------------------------------------- */

/* What cl/sort/sort_fused.cl has for each variant of it. */
#define FUSED_ENTRIES                                                                              \
    {                                                                                              \
        "sort_fused_tile", "sort_fused_merge", "sort_fused_flip", "sort_fused_pass",               \
            "sort_fused_flip_long", "sort_fused_pass_long", "sort_values_keep",                    \
            "sort_values_gather"                                                                   \
    }

static const variant *const variants[] = {
    &(const variant){
        .name = "qsort",
        .idea = "the C library's qsort, with one comparator per type",
        .host = qsort_host,
    },
    &(const variant){
        .name = "naive",
        .idea = "bitonic network in global memory: one launch per sub-stage",
        .source = "sort/sort_naive.cl",
        .entries = {"sort_naive_iota", "sort_naive_exchange", "sort_values_keep",
                    "sort_values_gather"},
        .build = "",
        .defines = sort_key_defines,
        .unsupported = naive_unsupported,
        .workspace = sort_values_workspace,
        .step = naive_step,
    },
    &(const variant){
        .name = "two-phase",
        .idea = "all short strides of a stage in one launch, in a tile of local memory",
        .source = "sort/sort_two_phase.cl",
        .entries = {"sort_two_phase_tile", "sort_two_phase_exchange", "sort_two_phase_merge",
                    "sort_values_keep", "sort_values_gather"},
        .build = "",
        .tunables = two_phase_tunables,
        .tunable_count = ARRAY_COUNT(two_phase_tunables),
        .defines = sort_key_defines,
        .unsupported = two_phase_unsupported,
        .workspace = sort_values_workspace,
        .step = two_phase_step,
    },
    &(const variant){
        .name = "two-phase-registers",
        .idea = "several sub-stages for each read, in registers, of global and of local memory",
        .source = "sort/sort_registers.cl",
        .entries = {"sort_registers_tile", "sort_registers_pass", "sort_registers_merge",
                    "sort_values_keep", "sort_values_gather"},
        .build = "",
        .tunables = two_phase_registers_tunables,
        .tunable_count = ARRAY_COUNT(two_phase_registers_tunables),
        .defines = sort_key_defines,
        .unsupported = two_phase_registers_unsupported,
        .workspace = sort_values_workspace,
        .step = two_phase_registers_step,
    },
    &(const variant){
        .name = "fused-passes",
        .idea = "nine and more sub-stages for each read: keys change hands in local memory",
        .source = "sort/sort_fused.cl",
        .entries = FUSED_ENTRIES,
        .build = "",
        .tunables = sort_fused_tunables,
        .tunable_count = FUSED_TUNABLES,
        .defines = sort_fused_defines,
        .unsupported = sort_fused_unsupported,
        .workspace = sort_values_workspace,
        .step = sort_fused_step,
        .arriving_step = sort_fused_arriving,
    },
    &(const variant){
        .name = "fused-passes-subgroup",
        .idea = "within a sub-group, keys of the first stages change hands without local memory",
        .source = "sort/sort_fused.cl",
        .entries = FUSED_ENTRIES,
        .build = "-cl-std=%CLC%",
        .needs = 1u << FEATURE_SUBGROUPS | 1u << FEATURE_SUBGROUP_SHUFFLE,
        .tunables = sort_fused_tunables,
        .tunable_count = FUSED_TUNABLES,
        .defines = sort_fused_defines_subgroup,
        .unsupported = sort_fused_unsupported,
        .workspace = sort_values_workspace,
        .step = sort_fused_step,
        .arriving_step = sort_fused_arriving,
    },
    &(const variant){
        .name = "fused-passes-warp",
        .idea = "within a warp, keys change hands without waiting for the others; larger tiles",
        .source = "sort/sort_fused.cl",
        .entries = FUSED_ENTRIES,
        .build = "",
        .needs = 1u << FEATURE_PTX | 1u << FEATURE_LARGE_LOCAL,
        .tunables = sort_fused_tunables,
        .tunable_count = FUSED_TUNABLES,
        .defines = sort_fused_defines_warp,
        .unsupported = sort_fused_unsupported_warp,
        .workspace = sort_values_workspace,
        .step = sort_fused_step_warp,
        .arriving_step = sort_fused_arriving_warp,
    },
    &(const variant){
        .name = "fused-passes-shfl",
        .idea = "within a warp, keys of the first stages change hands without local memory",
        .source = "sort/sort_fused.cl",
        .entries = FUSED_ENTRIES,
        .build = "",
        .needs = 1u << FEATURE_PTX | 1u << FEATURE_LARGE_LOCAL,
        .tunables = sort_fused_tunables,
        .tunable_count = FUSED_TUNABLES_SHUFFLES,
        .defines = sort_fused_defines_shfl,
        .unsupported = sort_fused_unsupported_warp,
        .workspace = sort_values_workspace,
        .step = sort_fused_step_warp,
        .arriving_step = sort_fused_arriving_warp,
    },
    &(const variant){
        .name = "radix",
        .idea = "no network: keys are dealt out by one digit after another, in as many passes",
        .source = "sort/sort_radix.cl",
        .entries = {"sort_radix_count", "sort_radix_scan", "sort_radix_scatter", "sort_values_keep",
                    "sort_values_gather"},
        .build = "",
        .tunables = sort_radix_tunables,
        .tunable_count = RADIX_TUNABLES,
        .defines = sort_radix_defines,
        .unsupported = sort_radix_unsupported,
        .workspace = sort_radix_workspace,
        .step = sort_radix_step,
        .arriving_step = sort_radix_step,
    },
    &(const variant){
        .name = "radix-warp",
        .idea = "a warp ranks its digits by ballots: larger digits, in half as many passes",
        .source = "sort/sort_radix.cl",
        .entries = {"sort_radix_count", "sort_radix_scan", "sort_radix_scatter", "sort_values_keep",
                    "sort_values_gather"},
        .build = "",
        .needs = 1u << FEATURE_PTX,
        .uses = 1u << FEATURE_LARGE_LOCAL,
        .tunables = sort_radix_tunables,
        .tunable_count = RADIX_TUNABLES,
        .defines = sort_radix_defines_warp,
        .unsupported = sort_radix_unsupported_warp,
        .workspace = sort_radix_workspace_warp,
        .step = sort_radix_step_warp,
        .arriving_step = sort_radix_step_warp,
    },
    &(const variant){
        .name = "onesweep",
        .alias = "radix-sweep",
        .idea = "keys are read once a digit: work-groups tell each other where theirs begin",
        .source = "sort/sort_onesweep.cl",
        .entries = {"sort_radix_digits", "sort_radix_totals", "sort_onesweep", "sort_values_keep",
                    "sort_values_gather"},
        .build = "",
        .uses = LAST_GROUP_USES | 1u << FEATURE_LARGE_LOCAL,
        .tunables = sort_radix_tunables,
        .tunable_count = RADIX_TUNABLES,
        .defines = sort_radix_defines_sweep,
        .unsupported = sort_radix_unsupported_sweep,
        .workspace = sort_radix_workspace_sweep,
        .step = sort_radix_step_sweep,
        .arriving_step = sort_radix_step_sweep,
    },
    &(const variant){
        .name = "cpu-vectors",
        .alias = "item-vectors",
        .idea = "for CPUs: each work-item alone, comparators in explicit vectors, no barriers",
        .source = "sort/sort_cpu_vectors.cl",
        .entries = {"sort_cpu_vectors_block", "sort_cpu_vectors_pass", "sort_cpu_vectors_merge",
                    "sort_values_keep", "sort_values_gather"},
        .build = "",
        .tunables = sort_cpu_vectors_tunables,
        .tunable_count = ITEM_VECTORS_TUNABLES,
        .defines = sort_cpu_vectors_defines,
        .unsupported = sort_cpu_vectors_unsupported,
        .workspace = sort_cpu_vectors_workspace,
        .step = sort_cpu_vectors_step,
    },
    &(const variant){
        .name = "cpu-merges",
        .alias = "item-merges",
        .idea = "runs merged through a network in registers: a stage is one pass, however long",
        .source = "sort/sort_cpu_merges.cl",
        .entries = {"sort_cpu_merges_block", "sort_cpu_merges_merge", "sort_values_keep",
                    "sort_values_gather"},
        .build = "",
        .tunables = sort_cpu_merges_tunables,
        .tunable_count = ITEM_MERGES_TUNABLES,
        .defines = sort_cpu_merges_defines,
        .unsupported = sort_cpu_merges_unsupported,
        .workspace = sort_cpu_merges_workspace,
        .step = sort_cpu_merges_step,
    },
    &(const variant){
        .name = "cpu-radix",
        .alias = "item-radix",
        .idea = "for CPUs: each work-item deals a chunk out by one digit after another, alone",
        .source = "sort/sort_cpu_radix.cl",
        .entries = {"sort_cpu_radix_count", "sort_radix_scan", "sort_cpu_radix_deal",
                    "sort_values_keep", "sort_values_gather"},
        .build = "",
        .tunables = sort_radix_tunables,
        .tunable_count = ITEM_RADIX_TUNABLES,
        .defines = sort_radix_defines_item,
        .unsupported = sort_radix_unsupported_item,
        .workspace = sort_radix_workspace_item,
        .step = sort_radix_step_item,
        .arriving_step = sort_radix_step_item,
    },
    &(const variant){
        .name = "rows",
        .idea = "many short rows at once: each work-group sorts all that a tile holds",
        .source = "sort/sort_rows.cl",
        .entries = {"sort_rows_tile", "sort_values_keep", "sort_values_gather"},
        .build = "",
        .tunables = two_phase_tunables,
        .tunable_count = ARRAY_COUNT(two_phase_tunables),
        .defines = sort_key_defines,
        .unsupported = rows_unsupported,
        .workspace = sort_values_workspace,
        .step = rows_step,
    },
    &(const variant){
        .name = "rows-registers",
        .alias = "rows-held",
        .idea = "short rows in registers, handed on in local memory between strides",
        .source = "sort/sort_rows_registers.cl",
        .entries = {"sort_rows_registers_tile", "sort_values_keep", "sort_values_gather"},
        .build = "",
        .tunables = sort_held_rows_tunables,
        .tunable_count = HELD_ROWS_TUNABLES,
        .defines = sort_held_rows_defines,
        .unsupported = sort_held_rows_unsupported,
        .workspace = sort_values_workspace,
        .step = sort_held_rows_step,
    },
    &(const variant){
        .name = "rows-warp",
        .idea = "a row belongs to a warp or less, which waits for nobody else",
        .source = "sort/sort_rows_registers.cl",
        .entries = {"sort_rows_registers_tile", "sort_values_keep", "sort_values_gather"},
        .build = "",
        .needs = 1u << FEATURE_PTX,
        .tunables = sort_held_rows_tunables,
        .tunable_count = HELD_ROWS_TUNABLES,
        .defines = sort_held_rows_defines_warp,
        .unsupported = sort_held_rows_unsupported_warp,
        .workspace = sort_values_workspace,
        .step = sort_held_rows_step,
    },
    &(const variant){
        .name = "rows-shfl",
        .idea = "within a warp, keys of a row change hands from register to register",
        .source = "sort/sort_rows_registers.cl",
        .entries = {"sort_rows_registers_tile", "sort_values_keep", "sort_values_gather"},
        .build = "",
        .needs = 1u << FEATURE_PTX,
        .tunables = sort_held_rows_tunables,
        .tunable_count = HELD_ROWS_TUNABLES_SHUFFLES,
        .defines = sort_held_rows_defines_shfl,
        .unsupported = sort_held_rows_unsupported_warp,
        .workspace = sort_values_workspace,
        .step = sort_held_rows_step,
    },
    &(const variant){
        .name = "segments",
        .idea = "segments of given lengths: those of like length side by side in a tile",
        .source = "sort/sort_segments.cl",
        .entries = {"sort_segments_short", "sort_segments_tile", "sort_segments_exchange",
                    "sort_segments_merge", "sort_values_keep", "sort_segments_gather"},
        .build = "",
        .tunables = sort_segments_tunables,
        .tunable_count = SEGMENTS_TUNABLES,
        .defines = sort_segments_defines,
        .unsupported = sort_segments_unsupported,
        .workspace = sort_segments_workspace,
        .step = sort_segments_step,
    },
    &(const variant){
        .name = "segments-registers",
        .alias = "segments-held",
        .idea = "segments in registers, handed on in local memory between strides",
        .source = "sort/sort_segments_registers.cl",
        .entries = {"sort_segments_registers_short", "sort_segments_registers_tile",
                    "sort_segments_exchange", "sort_segments_registers_merge", "sort_values_keep",
                    "sort_segments_gather"},
        .build = "",
        .tunables = sort_held_segments_tunables,
        .tunable_count = HELD_SEGMENTS_TUNABLES,
        .defines = sort_held_segments_defines,
        .unsupported = sort_held_segments_unsupported,
        .workspace = sort_held_segments_workspace,
        .step = sort_held_segments_step,
    },
    &(const variant){
        .name = "segments-warp",
        .idea = "a segment belongs to a warp or less where it fits, which waits for nobody else",
        .source = "sort/sort_segments_registers.cl",
        .entries = {"sort_segments_registers_short", "sort_segments_registers_tile",
                    "sort_segments_exchange", "sort_segments_registers_merge", "sort_values_keep",
                    "sort_segments_gather"},
        .build = "",
        .needs = 1u << FEATURE_PTX | 1u << FEATURE_LARGE_LOCAL,
        .tunables = sort_held_segments_tunables,
        .tunable_count = HELD_SEGMENTS_TUNABLES,
        .defines = sort_held_segments_defines_warp,
        .unsupported = sort_held_segments_unsupported_warp,
        .workspace = sort_held_segments_workspace_warp,
        .step = sort_held_segments_step_warp,
    },
    &(const variant){
        .name = "cpu-segments",
        .alias = "item-segments",
        .idea = "for CPUs: blocks and merges of all segments, in explicit vectors, no barriers",
        .source = "sort/sort_cpu_segments.cl",
        .entries = {"sort_cpu_segments_block", "sort_cpu_segments_merge", "sort_values_keep",
                    "sort_segments_gather"},
        .build = "",
        .tunables = sort_cpu_merges_tunables,
        .tunable_count = ITEM_SEGMENTS_TUNABLES,
        .defines = sort_cpu_segments_defines,
        .unsupported = sort_cpu_segments_unsupported,
        .workspace = sort_cpu_segments_workspace,
        .step = sort_cpu_segments_step,
    },
    &(const variant){
        .name = "top-tiles",
        .idea = "the first keys alone: each tile keeps as many, until one tile is left",
        .source = "sort/sort_top.cl",
        .entries = {"sort_top_tile", "sort_top_gather", "sort_top_put"},
        .build = "",
        .tunables = sort_top_tunables,
        .tunable_count = TOP_TUNABLES,
        .defines = sort_top_defines,
        .unsupported = sort_top_unsupported,
        .workspace = sort_top_workspace,
        .step = sort_top_step,
    },
    &(const variant){
        .name = "cpu-top",
        .alias = "item-top",
        .idea = "for CPUs: each work-item keeps the first keys of a chunk in a heap, alone",
        .source = "sort/sort_cpu_top.cl",
        .entries = {"sort_cpu_top_chunk", "sort_top_gather", "sort_top_put"},
        .build = "",
        .tunables = sort_cpu_top_tunables,
        .tunable_count = ITEM_TOP_TUNABLES,
        .defines = sort_cpu_top_defines,
        .unsupported = sort_cpu_top_unsupported,
        .workspace = sort_cpu_top_workspace,
        .step = sort_cpu_top_step,
    },
};

/* ---- the operation ----------------------------------------------------------------------- */

static tsr_status check_extent(const char *what, size_t n, size_t offset, size_t bytes,
                               tsr_error *err)
{
    size_t end;

    if (!size_add(n, offset, &end) || !size_mul(end, bytes, &end) || end > PTRDIFF_MAX)
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "sort: %zu %s of %zu bytes at offset %zu exceed what memory can address", n,
                        what, bytes, offset);
    return TSR_OK;
}

static tsr_status check_values(const tsr_sort_problem *s, tsr_error *err)
{
    const size_t bytes = s->value_bytes;

    if (bytes > 16 || (bytes & (bytes - 1)))
        return tsr_fail(err, TSR_EINVAL, 0, "sort: takes values of 1, 2, 4, 8 or 16 bytes, not %zu",
                        bytes);
    /* The workspace holds a copy of them behind their index. */
    if (sort_keys(s) > SIZE_MAX / (2 * (sizeof(int64_t) + 16)))
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "sort: %zu values of %zu bytes with their index exceed what memory can "
                        "address",
                        sort_keys(s), bytes);
    return check_extent("values", sort_keys(s), s->offset_values, bytes, err);
}

static tsr_status check_segments(const tsr_sort_problem *s, tsr_error *err)
{
    size_t offsets;

    if (sort_rows(s) > 1)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "sort: takes %zu rows or %zu segments, not both at a time", s->rows,
                        s->segments);
    if (s->top)
        return tsr_fail(err, TSR_EINVAL, 0, "sort: finds no first %zu keys of each of %zu segments",
                        s->top, s->segments);
    if (!size_add(s->segments, 1, &offsets))
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "sort: the offsets of %zu segments exceed what memory can address",
                        s->segments);
    return check_extent("segment offsets", offsets, s->offset_segments, sizeof(uint64_t), err);
}

static tsr_status check(const problem *p, tsr_error *err)
{
    const tsr_sort_problem *s = sort_of(p);
    tsr_status st;
    size_t keys;

    if ((unsigned)s->type >= TSR_TYPE_COUNT)
        return tsr_fail(err, TSR_EINVAL, 0, "sort: there is no type %d", (int)s->type);
    if (!sort_takes(s->type))
        return tsr_fail(err, TSR_EINVAL, 0,
                        "sort: takes int8 to int64, uint8 to uint64, float16, float32 or float64, "
                        "not %s",
                        tsr_type_name(s->type));
    if (!size_mul(s->n, sort_rows(s), &keys))
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "sort: %zu rows of %zu keys exceed what memory can address", s->rows, s->n);
    st = check_extent("keys", keys, s->offset_keys, tsr_type_size(s->type), err);
    if (st == TSR_OK && s->argsort)
        st = check_extent("indices", keys, s->offset_index, sizeof(int64_t), err);
    if (st == TSR_OK && s->value_bytes)
        st = check_values(s, err);
    return st == TSR_OK && s->segments ? check_segments(s, err) : st;
}

/* The segments' offsets ascend from 0 to n; the longest one is what host memory tells. */
static tsr_status inspect(problem *p, const void *const operands[], tsr_error *err)
{
    tsr_sort_problem *s = sort_in(p);

    if (!s->segments)
        return TSR_OK;
    return sort_segments_check(s->n, s->segments, sort_segment_offsets(s, operands),
                               &s->segment_longest, err);
}

/* Bytes up to the end of the last element; 0 where there is none. */
static size_t used_bytes(size_t n, size_t offset, size_t element)
{
    return n ? (offset + n) * element : 0;
}

/* Values are bytes: an integer type of that size, or one that they are two of. */
static tsr_type value_type(size_t bytes)
{
    return bytes == 1 ? TSR_U8 : bytes == 2 ? TSR_U16 : bytes == 4 ? TSR_U32 : TSR_U64;
}

/* The index has no bytes where values alone need it, and the workspace has one; nor have index and
 * values where segments alone follow them. */
static size_t operands(const problem *p, operand out[OPERANDS_MAX])
{
    const tsr_sort_problem *s = sort_of(p);

    out[0] = (operand){.name = "keys",
                       .type = s->type,
                       .access = ACCESS_READ_WRITE,
                       .begin = s->offset_keys * tsr_type_size(s->type),
                       .bytes = used_bytes(sort_keys(s), s->offset_keys, tsr_type_size(s->type))};
    if (!sort_with_index(s) && !s->segments)
        return 1;
    out[1] = (operand){
        .name = "index",
        .type = TSR_I64,
        .access = ACCESS_WRITE,
        .begin = s->argsort ? s->offset_index * sizeof(int64_t) : 0,
        .bytes = used_bytes(s->argsort ? sort_keys(s) : 0, s->offset_index, sizeof(int64_t)),
        .whole = s->offset_index == 0 && sort_top(s) == s->n};
    if (!s->value_bytes && !s->segments)
        return 2;
    out[2] = (operand){.name = "values",
                       .type = value_type(s->value_bytes),
                       .access = ACCESS_READ_WRITE,
                       .begin = s->offset_values * s->value_bytes,
                       .bytes = used_bytes(sort_keys(s), s->offset_values, s->value_bytes)};
    if (!s->segments)
        return 3;
    out[3] = (operand){.name = "segment offsets",
                       .type = TSR_U64,
                       .access = ACCESS_READ,
                       .begin = s->offset_segments * sizeof(uint64_t),
                       .bytes = used_bytes(s->segments + 1, s->offset_segments, sizeof(uint64_t))};
    return 4;
}

static double work(const problem *p)
{
    return (double)sort_keys(sort_of(p));
}

static double bytes(const problem *p)
{
    const tsr_sort_problem *s = sort_of(p);
    const size_t key = tsr_type_size(s->type);
    const size_t kept = key + 2 * s->value_bytes + (s->argsort ? sizeof(int64_t) : 0);

    const size_t offsets = s->segments ? (s->segments + 1) * sizeof(uint64_t) : 0;

    return (double)sort_rows(s) *
               ((double)s->n * (double)key + (double)sort_top(s) * (double)kept) +
           (double)offsets;
}

static void describe(const problem *p, text *out)
{
    const tsr_sort_problem *s = sort_of(p);

    if (s->top)
        text_format(out, "first %zu of %s", sort_top(s), sort_rows(s) > 1 ? "each of " : "");
    if (sort_rows(s) > 1)
        text_format(out, "%zu rows of ", sort_rows(s));
    text_format(out, "%zu %s%s%s", s->n, tsr_type_name(s->type), s->argsort ? " argsort" : "",
                s->descending ? " descending" : "");
    if (s->value_bytes)
        text_format(out, " with %zu-byte values", s->value_bytes);
    if (s->segments)
        text_format(out, " in %zu%s segment%s", s->segments, sort_fill_lengths(s),
                    s->segments == 1 ? "" : "s");
    if (s->segments && s->segment_longest)
        text_format(out, " of up to %zu", s->segment_longest);
    if (p->inputs)
        text_format(out, ", %s input", sort_fill_word(p->inputs));
}

/* The direction costs nothing; the bytes that move with each stage or digit and the number of these
 * do.  Values that do not go along with their keys are as an argsort.  Of several rows it is the
 * length that counts, of segments their mean one. */
static void classify(const problem *p, text *out)
{
    const tsr_sort_problem *s = sort_of(p);
    const size_t length = s->n / size_max(s->segments, 1);
    unsigned exponent = 12;

    while (exponent < 64 && length >> exponent)
        exponent += 4;
    text_format(out, "%zu-byte", tsr_type_size(s->type));
    if (sort_values_go_along(s))
        text_format(out, " with %zu-byte values", s->value_bytes);
    else if (sort_with_index(s))
        text_append(out, " argsort");
    text_format(out, "%s%s below 2^%u",
                s->segments        ? " segments"
                : sort_rows(s) > 1 ? " rows"
                                   : "",
                s->top ? " top" : "", exponent);
}

/* Rows of up to so many keys leave most of a work-item's vectors idle: several to a tile are
 * faster. */
enum { SHORT_ROW = 8 };

/* Up to this many keys, on GPUs, `rows` and `two-phase-registers` take one tile with their default
 * tunables; above, passes over memory count. */
enum { SHORT_KEYS = 2048 };

/* Up to so many keys of each of several rows, and of one, shuffles beat local memory.  With an
 * index or 64 bits each key takes two: rows are faster without, and one alone above half as many.
 */
enum { SHUFFLED_ROW = 128, SHUFFLED_ALONE = 4096 };

/* From so many keys on of one row, digits are faster than the network, which does more the more
 * keys there are: ranked by warps, and by work-items alone.  The network takes a key and its index
 * in 64 bits, digits any. */
enum { RADIX_KEYS_WARPS = 1 << 17, RADIX_KEYS_ALONE = 1 << 26 };

/* Up to so many keys the launches of cpu-radix take longer than the network on CPUs. */
enum { NETWORK_KEYS = 1 << 15 };

/* Up to so many keys of one row with an index or values merges are faster on CPUs than digits:
 * those move 8 bytes a key in every pass, digits one pass for each byte of a key and with small
 * values less in each.  Keys of 64 bits leave merges no room for an index: that is the network's
 * limit. */
static size_t most_for_merges(const tsr_sort_problem *s)
{
    switch (tsr_type_size(s->type)) {
    case 1:
        return 1 << 14;
    case 2:
        return 1 << 17;
    case 4:
        return s->value_bytes ? 1 << 21 : 1 << 24;
    default:
        return NETWORK_KEYS;
    }
}

/* On CPUs a heap is faster than a sort of all keys up to such a part of them; a long one, which
 * takes more steps for a key and leaves the nearest cache, up to a smaller part. */
enum { HEAP_SHARE = 256, HEAP_SHARE_LONG = 1024, HEAP_LONG = 256, HEAP_LONG_INDEX = 4096 };

static bool heap_pays(const tsr_sort_problem *s)
{
    const size_t most = sort_with_index(s) ? HEAP_LONG_INDEX : HEAP_LONG;
    const size_t share = sort_top(s) > most ? HEAP_SHARE_LONG : HEAP_SHARE;

    return s->top && sort_top(s) <= s->n / share;
}

/* Of rows that are not very short, work-items that work alone. */
static size_t prefer_on_cpu(const tsr_sort_problem *s, const char *out[])
{
    const bool alone = sort_rows(s) == 1;
    const bool digits = alone && sort_with_index(s) && s->n > most_for_merges(s);
    size_t n = 0;

    if (heap_pays(s))
        out[n++] = "cpu-top";
    if (digits)
        out[n++] = "cpu-radix";
    if (alone)
        out[n++] = "cpu-merges";
    if (alone || s->n > SHORT_ROW)
        out[n++] = "cpu-vectors";
    if (alone && !digits && s->n > NETWORK_KEYS) /* for what these have no room */
        out[n++] = "cpu-radix";
    return n;
}

static size_t prefer_on_gpu(const problem *p, const device_facts *d, const char *out[])
{
    const size_t keys = sort_rows(sort_of(p)) == 1 ? sort_of(p)->n : 0;
    const bool fused = sort_fused_takes(sort_of(p));
    size_t n = 0;

    /* Other GPUs do not promise that groups that have started get on. */
    if (d->nv_capability >= 70 && keys >= (fused ? RADIX_KEYS_WARPS : 1)) {
        out[n++] = "onesweep";
        out[n++] = "radix-warp";
    }
    if (keys >= (fused ? RADIX_KEYS_ALONE : 1))
        out[n++] = "radix";
    if (fused) {
        out[n++] = "fused-passes-warp";
        out[n++] = "fused-passes";
    }
    return n;
}

/* Rows that a work-group holds whole, and on GPUs a short row alone. */
static size_t prefer_in_one_launch(const problem *p, const device_facts *d, const char *out[])
{
    const size_t words = sort_held_bytes(sort_of(p)) / 4;
    const bool gpu = d->kind == DEVICE_GPU;
    size_t n = 0;

    if (sort_rows(sort_of(p)) == 1) { /* a longer one leaves the device idle */
        if (gpu && sort_of(p)->n <= SHUFFLED_ALONE / words)
            out[n++] = "rows-shfl";
        return n;
    }
    if (gpu && sort_of(p)->n <= SHUFFLED_ROW && words == 1)
        out[n++] = "rows-shfl";
    if (gpu) {
        out[n++] = "rows-warp";
        out[n++] = "rows-registers";
    }
    out[n++] = "rows";
    return n;
}

/* Segments of fewer keys in the mean are better sorted many to a tile on CPUs. */
enum { SHORT_SEGMENT = 4 };

static size_t prefer(const problem *p, const device_facts *d, const char *out[PREFERENCES_MAX])
{
    static const char *const on_device[] = {"two-phase-registers", "two-phase", "naive"};
    size_t n = 0;

    if (d->kind == DEVICE_HOST) {
        out[0] = "qsort";
        return 1;
    }
    if (sort_of(p)->segments) {
        if (d->kind == DEVICE_GPU) {
            out[n++] = "segments-warp";
            out[n++] = "segments-registers";
        } else if (d->kind == DEVICE_CPU && sort_of(p)->n / sort_of(p)->segments >= SHORT_SEGMENT) {
            out[n++] = "cpu-segments";
        }
        out[n++] = "segments";
        return n;
    }
    if (d->kind == DEVICE_CPU)
        n += prefer_on_cpu(sort_of(p), out);
    /* Rows that a tile holds several of are better sorted together. */
    if (sort_of(p)->top && sort_of(p)->n > SHORT_KEYS)
        out[n++] = "top-tiles";
    n += prefer_in_one_launch(p, d, out + n);
    if (d->kind == DEVICE_GPU && sort_of(p)->n > SHORT_KEYS)
        n += prefer_on_gpu(p, d, out + n);
    for (size_t i = 0; i < ARRAY_COUNT(on_device); i++)
        out[n++] = on_device[i];
    return n;
}

const operation operation_sort = {
    .name = "sort",
    .idea = "keys in order, with them their values, and by argsort the positions they came from",
    .words =
        "a stride is how far apart the keys lie that a sub-stage of the network compares; in a "
        "stage it halves down to 1; a pass reads and writes all keys once",
    .unit = WORK_KEYS,
    .exact = true,
    .uses_up = true,
    .types = ((1u << TSR_TYPE_COUNT) - 1) & ~(1u << TSR_BF16),
    .default_type = TSR_U32,
    .result = 0,
    .command = &sort_command,
    .variants = variants,
    .variant_count = ARRAY_COUNT(variants),
    .check = check,
    .operands = operands,
    .partition = sort_partition,
    .inspect = inspect,
    .work = work,
    .bytes = bytes,
    .describe = describe,
    .classify = classify,
    .class_text = sort_class_text,
    .size_text = sort_size_text,
    .shrink = sort_shrink,
    .inputs_name = sort_fill_word,
    .prefer = prefer,
    .fill = sort_fill,
    .sweep = sort_sweep,
    .expect = sort_expect,
    .verify = sort_verify,
};
