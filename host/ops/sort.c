/**
 * Sort: the operation, and every way of doing it.
 *
 * The device variants are bitonic networks in the flip form, which
 * cl/sort_naive.cl explains.  What each kernel expects of its launches stands
 * at the top of its file.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "ops/groups.h"
#include "ops/sort_order.h"
#include "ops/sort_proof.h"
#include "ops/variant.h"

/* Positions in kernels with a 32-bit index, up to the end of the last tile or block. */
#define POSITIONS_32 ((size_t)1 << 31)

/* ---- what the variants on a device share ------------------------------------------------- */

static const char *kernel_type(tsr_type type)
{
    switch (type) {
    case TSR_I32:
        return "int";
    case TSR_U32:
        return "uint";
    case TSR_I64:
        return "long";
    case TSR_U64:
        return "ulong";
    case TSR_F32:
        return "float";
    default:
        return "double";
    }
}

static void key_defines(const job *j, text *out)
{
    const tsr_sort_problem *s = &j->problem->sort;

    text_format(out, " -DKEY=%s -DDESCENDING=%d -DWITH_INDEX=%d", kernel_type(s->type),
                s->descending, s->argsort);
}

/* One key is sorted, but its index is still to be written. */
static bool nothing_to_do(const tsr_sort_problem *s)
{
    return s->n == 0 || (s->n == 1 && !s->argsort);
}

/* The array, its index and where they start.  Kernels without an index get the keys in its
 * place, and leave them alone. */
static void step_sequence(step *out, const tsr_sort_problem *s)
{
    step_operand(out, 0);
    step_operand(out, s->argsort ? 1 : 0);
    step_u64(out, s->offset_keys);
    step_u64(out, s->argsort ? s->offset_index : 0);
}

/* Work-items needed where a block of `held * stride` positions takes `stride` of them.  The last
 * block has nothing to exchange unless it reaches beyond its first `stride` positions. */
static size_t exchange_items(size_t n, size_t stride, size_t held)
{
    const size_t block = stride * held;

    return n / block * stride + (n % block > stride ? stride : 0);
}

/* ---- naive ------------------------------------------------------------------------------- */

enum { NAIVE_IOTA, NAIVE_EXCHANGE, NAIVE_GROUP = 256 };

static void naive_launch(const job *j, unsigned entry, size_t items, step *out)
{
    const size_t local = group_fit(j->device, 0, NAIVE_GROUP);

    step_launch_1d(out, entry, size_round_up(items, local), local);
}

static bool naive_step(const job *j, size_t i, step *out)
{
    const tsr_sort_problem *s = &j->problem->sort;

    if (nothing_to_do(s))
        return false;
    if (s->argsort && i-- == 0) {
        naive_launch(j, NAIVE_IOTA, s->n, out);
        step_operand(out, 1);
        step_u64(out, s->offset_index);
        step_u64(out, s->n);
        return true;
    }
    for (size_t stage = 1, half = 1; half < s->n; stage++, half *= 2) {
        if (i < stage) {
            const size_t stride = half >> i;

            naive_launch(j, NAIVE_EXCHANGE, exchange_items(s->n, stride, 2), out);
            step_sequence(out, s);
            step_u64(out, s->n);
            step_u64(out, stride);
            step_u32(out, i == 0);
            return true;
        }
        i -= stage;
    }
    return false;
}

/* ---- two-phase, two-phase-registers: tiles in local memory ------------------------------- */

enum { TWO_PHASE_TILE, TWO_PHASE_PASS, TWO_PHASE_MERGE };

/* How a variant splits the network. */
typedef struct tiling {
    size_t group;  /* work-items in a work-group */
    size_t tile;   /* keys in a tile */
    size_t stages; /* sub-stages in a global launch */
} tiling;

static const char *tiling_unsuited(const job *j, tiling t, text *reason)
{
    const tsr_sort_problem *s = &j->problem->sort;
    const size_t index = s->argsort ? t.tile : 1; /* as TILE_INDICES */
    const size_t local = t.tile * tsr_type_size(s->type) + index * sizeof(int64_t);
    const size_t limit = group_limit(j->device, 0);

    if (s->n > POSITIONS_32)
        text_format(reason, "it indexes in 32 bits: at most %zu keys, not %zu", POSITIONS_32, s->n);
    else if (t.group > limit)
        text_format(reason, "it needs work-groups of %zu, and the device has at most %zu", t.group,
                    limit);
    else if (local > j->device->local_memory)
        text_format(reason, "it needs %zu bytes of local memory, and the device has %zu", local,
                    j->device->local_memory);
    else
        return NULL;
    return text_get(reason);
}

/* A work-group per started tile. */
static void launch_tiles(const tsr_sort_problem *s, unsigned entry, tiling t, step *out)
{
    step_launch_1d(out, entry, size_div_up(s->n, t.tile) * t.group, t.group);
    step_sequence(out, s);
    step_u32(out, (uint32_t)s->n);
}

/* Pass `pass` of the stage that merges runs into runs of `size` keys. */
static void launch_pass(const tsr_sort_problem *s, tiling t, size_t size, size_t pass, step *out)
{
    const size_t stride = size >> t.stages * (pass + 1);
    const size_t items = exchange_items(s->n, stride, (size_t)1 << t.stages);

    step_launch_1d(out, TWO_PHASE_PASS, size_round_up(items, t.group), t.group);
    step_sequence(out, s);
    step_u32(out, (uint32_t)s->n);
    step_u32(out, (uint32_t)stride);
    step_u32(out, pass == 0);
}

/* Sort tiles; then for each stage above them, passes for the long strides and one merge. */
static bool tiling_step(const job *j, tiling t, size_t i, step *out)
{
    const tsr_sort_problem *s = &j->problem->sort;

    if (nothing_to_do(s))
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
     256},
    {"KEYS_PER_ITEM",
     "keys of a tile per work-item: a larger tile saves global launches and takes local memory",
     {2, 4, 8, 16, 32},
     8},
};

static tiling two_phase_tiling(const job *j)
{
    const size_t group = param(j->params, "GROUP");

    return (tiling){group, group * param(j->params, "KEYS_PER_ITEM"), 1};
}

static const char *two_phase_unsuited(const job *j, text *reason)
{
    return tiling_unsuited(j, two_phase_tiling(j), reason);
}

static bool two_phase_step(const job *j, size_t i, step *out)
{
    return tiling_step(j, two_phase_tiling(j), i, out);
}

static const tunable two_phase_registers_tunables[] = {
    {"GROUP",
     "work-items in a work-group: more make a larger tile, which saves global passes",
     {1, 16, 64, 128, 256, 512, 1024},
     256},
    {"STAGES",
     "sub-stages per read, in 2^STAGES registers: more save traffic until registers run out",
     {1, 2, 3, 4, 5},
     3},
};

static tiling two_phase_registers_tiling(const job *j)
{
    const size_t group = param(j->params, "GROUP"), stages = param(j->params, "STAGES");

    return (tiling){group, group << stages, stages};
}

static const char *two_phase_registers_unsuited(const job *j, text *reason)
{
    return tiling_unsuited(j, two_phase_registers_tiling(j), reason);
}

static bool two_phase_registers_step(const job *j, size_t i, step *out)
{
    return tiling_step(j, two_phase_registers_tiling(j), i, out);
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

static tsr_status qsort_host(const problem *p, void *const operands[], tsr_error *err)
{
    const tsr_sort_problem *s = &p->sort;
    const size_t bytes = tsr_type_size(s->type);
    unsigned char *keys;

    if (nothing_to_do(s))
        return TSR_OK;
    keys = (unsigned char *)operands[0] + s->offset_keys * bytes;
    if (s->argsort)
        return qsort_pairs(s, keys, (int64_t *)operands[1] + s->offset_index, err);
    qsort(keys, s->n, bytes, sort_comparator(s->type));
    if (s->descending)
        reverse(keys, s->n, bytes);
    return TSR_OK;
}

/* ---- the table --------------------------------------------------------------------------- */

static const variant variants[] = {
    {
        .name = "qsort",
        .idea = "the C library's qsort, with one comparator per type",
        .host = qsort_host,
    },
    {
        .name = "naive",
        .idea = "bitonic network in global memory: one launch per sub-stage",
        .source = "sort_naive.cl",
        .entries = {"sort_naive_iota", "sort_naive_exchange"},
        .build = "",
        .defines = key_defines,
        .step = naive_step,
    },
    {
        .name = "two-phase",
        .idea = "all short strides of a stage in one launch, in a tile of local memory",
        .source = "sort_two_phase.cl",
        .entries = {"sort_two_phase_tile", "sort_two_phase_exchange", "sort_two_phase_merge"},
        .build = "",
        .tunables = two_phase_tunables,
        .tunable_count = ARRAY_COUNT(two_phase_tunables),
        .defines = key_defines,
        .unsuited = two_phase_unsuited,
        .step = two_phase_step,
    },
    {
        .name = "two-phase-registers",
        .idea = "several sub-stages for each read, in registers, of global and of local memory",
        .source = "sort_registers.cl",
        .entries = {"sort_registers_tile", "sort_registers_pass", "sort_registers_merge"},
        .build = "",
        .tunables = two_phase_registers_tunables,
        .tunable_count = ARRAY_COUNT(two_phase_registers_tunables),
        .defines = key_defines,
        .unsuited = two_phase_registers_unsuited,
        .step = two_phase_registers_step,
    },
};

/* ---- the operation ----------------------------------------------------------------------- */

static bool is_key_type(tsr_type type)
{
    return type == TSR_I32 || type == TSR_U32 || type == TSR_I64 || type == TSR_U64 ||
           type == TSR_F32 || type == TSR_F64;
}

static tsr_status check_extent(const char *what, size_t n, size_t offset, size_t bytes,
                               tsr_error *err)
{
    size_t end;

    if (!size_add(n, offset, &end) || !size_mul(end, bytes, &end))
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "sort: %zu %s of %zu bytes at offset %zu exceed what memory can address", n,
                        what, bytes, offset);
    return TSR_OK;
}

static tsr_status check(const problem *p, tsr_error *err)
{
    const tsr_sort_problem *s = &p->sort;
    tsr_status st;

    if ((unsigned)s->type >= TSR_TYPE_COUNT)
        return tsr_fail(err, TSR_EINVAL, 0, "sort: there is no type %d", (int)s->type);
    if (!is_key_type(s->type))
        return tsr_fail(err, TSR_EINVAL, 0,
                        "sort: takes int32, uint32, int64, uint64, float32 or float64, not %s",
                        tsr_type_name(s->type));
    st = check_extent("keys", s->n, s->offset_keys, tsr_type_size(s->type), err);
    if (st == TSR_OK && s->argsort)
        st = check_extent("indices", s->n, s->offset_index, sizeof(int64_t), err);
    return st;
}

/* Bytes up to the end of the last element; 0 where there is none. */
static size_t used_bytes(size_t n, size_t offset, size_t element)
{
    return n ? (offset + n) * element : 0;
}

static size_t operands(const problem *p, operand out[OPERANDS_MAX])
{
    const tsr_sort_problem *s = &p->sort;

    out[0] = (operand){.name = "keys",
                       .type = s->type,
                       .access = ACCESS_READ_WRITE,
                       .begin = s->offset_keys * tsr_type_size(s->type),
                       .bytes = used_bytes(s->n, s->offset_keys, tsr_type_size(s->type))};
    if (!s->argsort)
        return 1;
    out[1] = (operand){.name = "index",
                       .type = TSR_I64,
                       .access = ACCESS_WRITE,
                       .begin = s->offset_index * sizeof(int64_t),
                       .bytes = used_bytes(s->n, s->offset_index, sizeof(int64_t)),
                       .whole = s->offset_index == 0};
    return 2;
}

static double work(const problem *p)
{
    return (double)p->sort.n;
}

static double bytes(const problem *p)
{
    const size_t key = 2 * tsr_type_size(p->sort.type);

    return (double)p->sort.n * (double)(key + (p->sort.argsort ? sizeof(int64_t) : 0));
}

static void describe(const problem *p, text *out)
{
    const tsr_sort_problem *s = &p->sort;

    text_format(out, "%zu %s%s%s", s->n, tsr_type_name(s->type), s->argsort ? " argsort" : "",
                s->descending ? " descending" : "");
}

/* The direction costs nothing; the bytes that move and the number of stages do. */
static void classify(const problem *p, text *out)
{
    const tsr_sort_problem *s = &p->sort;
    unsigned exponent = 12;

    while (exponent < 64 && s->n >> exponent)
        exponent += 4;
    text_format(out, "%zu-byte%s below 2^%u", tsr_type_size(s->type), s->argsort ? " argsort" : "",
                exponent);
}

static size_t prefer(const problem *p, const device_facts *d, const char *out[PREFERENCES_MAX])
{
    static const char *const on_device[] = {"two-phase-registers", "two-phase", "naive"};

    (void)p;
    if (d->kind == DEVICE_HOST) {
        out[0] = "qsort";
        return 1;
    }
    for (size_t i = 0; i < ARRAY_COUNT(on_device); i++)
        out[i] = on_device[i];
    return ARRAY_COUNT(on_device);
}

const operation operation_sort = {
    .name = "sort",
    .idea = "keys in order, and with argsort the positions they came from",
    .rate = "Mkeys/s",
    .variants = variants,
    .variant_count = ARRAY_COUNT(variants),
    .check = check,
    .operands = operands,
    .work = work,
    .bytes = bytes,
    .describe = describe,
    .classify = classify,
    .prefer = prefer,
    .fill = sort_fill,
    .sweep = sort_sweep,
    .expect = sort_expect,
    .verify = sort_verify,
};
