/* The first keys of the sorted order: the operation.  Its own variants look at all keys and sort
 * few; those of sort, which it has too, sort them all. */
#include "base/elements.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "ops/sort/sort_commands.h"
#include "ops/sort/sort_fields.h"
#include "ops/sort/sort_partition.h"
#include "ops/sort/sort_proof.h"
#include "ops/sort/sort_variants.h"
#include "ops/topk/topk_problem.h"

static const variant *const variants[] = {
    &sort_qsort,
    &sort_host_radix,
    &topk_host_top,
    &topk_tiles,
    &topk_cpu_heaps,
    /* All keys sorted: where many are wanted, and to compare with. */
    SORT_VARIANTS_OF_ALL_KEYS,
};

static tsr_status check(const problem *p, tsr_error *err)
{
    if (topk_of(p)->k == 0)
        return tsr_fail(err, TSR_EINVAL, 0, "topk: k is 0: it says how many keys are wanted");
    return operation_sort.check(p, err);
}

/* A variant of sort writes every index, one of topk those of the first keys. */
static size_t operands(const problem *p, operand out[OPERANDS_MAX])
{
    const size_t count = operation_sort.operands(p, out);

    if (topk_kept(topk_of(p)) < sort_of(p)->n)
        out[SORT_INDEX].whole = false;
    return count;
}

static double traffic(const problem *p)
{
    return sort_traffic(sort_of(p), topk_kept(topk_of(p)));
}

static void describe(const problem *p, text *out)
{
    text_format(out, "first %zu of %s", topk_kept(topk_of(p)),
                sort_rows(sort_of(p)) > 1 ? "each of " : "");
    operation_sort.describe(p, out);
}

static void classify(const problem *p, text *out)
{
    sort_class_of_keys(sort_of(p), " top", sort_of(p)->n, out);
}

static bool class_text(const char *name, text *out)
{
    problem p = {.op = &operation_topk};

    topk_in(&p)->k = 1;
    return sort_class_of_keys_text(&p, name, out);
}

/* On CPUs a heap is faster than a sort of all keys up to such a part of them; a long one, which
 * takes more steps for a key and leaves the nearest cache, up to a smaller part. */
enum { HEAP_SHARE = 256, HEAP_SHARE_LONG = 1024, HEAP_LONG = 256, HEAP_LONG_INDEX = 4096 };

static bool heap_pays(const tsr_topk_problem *t)
{
    const size_t most = sort_with_index(&t->sort) ? HEAP_LONG_INDEX : HEAP_LONG;
    const size_t share = topk_kept(t) > most ? HEAP_SHARE_LONG : HEAP_SHARE;

    return topk_kept(t) <= t->sort.n / share;
}

/* In C the keys that are wanted are to be few. */
enum { COLLECTED_SHARE = 16 };

static bool collecting_pays(const tsr_topk_problem *t)
{
    return topk_kept(t) <= t->sort.n / COLLECTED_SHARE;
}

static size_t prefer(const problem *p, const device_facts *d, const char *out[PREFERENCES_MAX])
{
    size_t n = 0;

    if (d->kind == DEVICE_HOST && collecting_pays(topk_of(p)))
        out[n++] = "host-top";
    if (d->kind == DEVICE_CPU && heap_pays(topk_of(p)))
        out[n++] = "cpu-heaps";
    /* Rows that a tile holds several of are better sorted together. */
    if ((d->kind == DEVICE_GPU || d->kind == DEVICE_ACCELERATOR) && sort_of(p)->n > SORT_SHORT_KEYS)
        out[n++] = "tiles";
    return n + operation_sort.prefer(p, d, out + n);
}

/* Passing over keys takes as long as reading them; what it takes to sort them all, sort knows. */
enum { IN_C_PASSED_OVER = 1 << 24 };

static const char *prefer_c(const problem *p, const device_facts *d)
{
    if (!collecting_pays(topk_of(p)))
        return sort_prefer_c(p, d);
    return sort_keys(sort_of(p)) <= IN_C_PASSED_OVER ? "host-top" : NULL;
}

static const char *prefer_first(const problem *p, const device_facts *d)
{
    if (d->kind == DEVICE_CPU && collecting_pays(topk_of(p)))
        return "host-top";
    return sort_prefer_first(p, d);
}

/* The chunks of a row that the device does not hold are all in order in the end: each pair of them
 * is sorted whole. */
static void exchange_piece(const partition *p, void *const host[], size_t i, piece *out)
{
    sort_exchange_piece(p, host, i, out);
    topk_in(&out->problem)->k = sort_of(&out->problem)->n;
}

static const partition_kind in_exchange = {.name = "exchange", .piece = exchange_piece};

static tsr_status cut(const problem *p, const selection *sel, const stream_budget *budget,
                      partition *out, tsr_error *err)
{
    const tsr_status st = sort_partition(p, sel, budget, out, err);

    if (!st && out->kind && out->kind->piece == sort_exchange_piece)
        out->kind = &in_exchange;
    return st;
}

const operation operation_topk = {
    .name = "topk",
    .origin = {.op = "sort", .problem = "first ", .problem_class = " top"},
    .idea = "the first k keys of the sorted order, with them their values and positions",
    .unit = WORK_KEYS,
    .exact = true,
    .uses_up = true,
    .types = (unsigned)SINGLE_TYPES & ~(1u << TSR_BF16),
    .default_type = TSR_U32,
    .result = SORT_KEYS,
    .command = &topk_command,
    .variants = variants,
    .variant_count = ARRAY_COUNT(variants),
    .check = check,
    .operands = operands,
    .partition = cut,
    .work = sort_work,
    .bytes = traffic,
    .describe = describe,
    .classify = classify,
    .class_text = class_text,
    .size_text = sort_size_text,
    .shrink = sort_shrink,
    .inputs_name = sort_fill_word,
    .prefer = prefer,
    .prefer_c = prefer_c,
    .prefer_first = prefer_first,
    .fill = sort_fill,
    .sweep = topk_sweep,
    .expect = topk_expect,
    .verify = topk_verify,
};
