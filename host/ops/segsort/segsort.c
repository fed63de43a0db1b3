/* The sort of segments of any lengths, each by itself: the operation. */
#include "base/elements.h"
#include "base/fail.h"
#include "core/view.h"
#include "ops/segsort/segsort_problem.h"
#include "ops/sort/sort_commands.h"
#include "ops/sort/sort_fields.h"
#include "ops/sort/sort_partition.h"
#include "ops/sort/sort_proof.h"
#include "ops/sort/sort_variants.h"

/* ---- the variants ------------------------------------------------------------------------- */

static tsr_status run_qsort(const problem *p, void *const operands[], tsr_error *err)
{
    const sort_parts parts = segsort_parts(segsort_of(p), (const void *const *)operands);

    return sort_qsort_parts(&parts, operands, err);
}

static tsr_status run_host_radix(const problem *p, void *const operands[], tsr_error *err)
{
    const sort_parts parts = segsort_parts(segsort_of(p), (const void *const *)operands);

    return sort_host_parts(p, &parts, operands, err);
}

static const variant segsort_qsort = {
    .name = "qsort",
    .idea = "the C library's qsort of each segment, with one comparator per type",
    .plan = plan_in_c,
    .host = run_qsort,
};

const variant segsort_host_radix = {
    .name = "host-radix",
    .idea = "digits in C: a core a segment, or all of them for what is long",
    .plan = plan_in_c,
    .host = run_host_radix,
    .serves_cpus = true,
};

static const variant *const variants[] = {
    &segsort_qsort,     &segsort_host_radix, &segsort_tiles,
    &segsort_registers, &segsort_warp,       &segsort_cpu_merges,
};

/* Segments of fewer keys in the mean are better sorted many to a tile on CPUs. */
enum { SHORT_SEGMENT = 4 };

static size_t prefer(const problem *p, const device_facts *d, const char *out[PREFERENCES_MAX])
{
    size_t n = 0;

    if (d->kind == DEVICE_HOST) {
        out[0] = "host-radix";
        return 1;
    }
    if (d->kind == DEVICE_GPU) {
        out[n++] = "segments-warp";
        out[n++] = "segments-registers";
    } else if (d->kind == DEVICE_CPU && segsort_mean(segsort_of(p)) >= SHORT_SEGMENT) {
        out[n++] = "cpu-segments";
    }
    out[n++] = "segments";
    return n;
}

/* Tiles of keys in local memory: loops, where the others have networks in registers. */
static const char *prefer_first(const problem *p, const device_facts *d)
{
    if (d->kind == DEVICE_CPU)
        return sort_keys(sort_of(p)) <= SORT_IN_C_FIRST ? "host-radix" : NULL;
    return sort_keys(sort_of(p)) <= (size_t)1 << 20 ? "segments" : NULL;
}

/* ---- the operation ------------------------------------------------------------------------ */

static tsr_status check(const problem *p, tsr_error *err)
{
    const tsr_segsort_problem *s = segsort_of(p);
    tsr_status st = operation_sort.check(p, err);
    size_t offsets;

    if (st)
        return st;
    if (sort_rows(&s->sort) > 1)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "segsort: takes one row of keys, which it sorts by segments, not %zu rows",
                        s->sort.rows);
    if (s->segments == 0 && s->sort.n)
        return tsr_fail(err, TSR_EINVAL, 0, "segsort: segments is 0, and there are %zu keys",
                        s->sort.n);
    if (!size_add(s->segments, 1, &offsets))
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "segsort: the offsets of %zu segments exceed what memory can address",
                        s->segments);
    return sort_check_extent(p, "segment offsets", offsets, s->offset_segments, sizeof(uint64_t),
                             err);
}

/* Index and values have no bytes where none are asked for. */
static size_t operands(const problem *p, operand out[OPERANDS_MAX])
{
    const tsr_segsort_problem *s = segsort_of(p);
    const view offsets =
        view_of(TSR_U64, 1, s->segments + 1, s->segments + 1, s->offset_segments, 1, 0);

    operation_sort.operands(p, out);
    out[SEGSORT_OFFSETS] = view_operand("segment offsets", &offsets, ACCESS_READ);
    return SEGSORT_OFFSETS + 1;
}

/* The offsets ascend from 0 to n; the longest segment is found in host memory. */
static tsr_status inspect(problem *p, const void *const operands[], tsr_error *err)
{
    tsr_segsort_problem *s = segsort_in(p);

    return operation_check_offsets(p->op, s->sort.n, s->segments,
                                   segsort_parts(s, operands).offsets, &s->segment_longest, err);
}

/* The device holds all keys at once. */
static tsr_status partition_of(const problem *p, const selection *sel, const stream_budget *budget,
                               partition *out, tsr_error *err)
{
    const tsr_segsort_problem *s = segsort_of(p);
    const size_t offsets = (s->offset_segments + s->segments + 1) * sizeof(uint64_t);
    const size_t keys = s->sort.n * sort_entry_bytes(&s->sort);

    (void)sel, (void)out;
    if (!budget->limited || !s->sort.n ||
        (sort_fits(&s->sort, 1, 1, budget) && offsets <= budget->all &&
         keys <= budget->all - offsets))
        return TSR_OK;
    return stream_refuse(err, "segsort", budget, keys + offsets,
                         "%zu keys of %zu segments, their values, indices and offsets", s->sort.n,
                         s->segments);
}

static double bytes(const problem *p)
{
    const tsr_segsort_problem *s = segsort_of(p);

    return sort_traffic(&s->sort, s->sort.n) + ((double)s->segments + 1) * (double)sizeof(uint64_t);
}

static void describe(const problem *p, text *out)
{
    const tsr_segsort_problem *s = segsort_of(p);
    problem keys = sort_problem(s->sort);

    operation_sort.describe(&keys, out);
    text_format(out, " in %zu%s segment%s", s->segments, segsort_lengths_name(s),
                s->segments == 1 ? "" : "s");
    if (s->segment_longest)
        text_format(out, " of up to %zu", s->segment_longest);
    sort_describe_inputs(p, out);
}

/* It is the mean length that counts.  Values follow an index. */
static void classify(const problem *p, text *out)
{
    tsr_sort_problem keys = segsort_of(p)->sort;

    keys.argsort = sort_with_index(&keys);
    keys.value_bytes = 0;
    sort_class_of_keys(&keys, " segments", segsort_mean(segsort_of(p)), out);
}

static bool class_text(const char *name, text *out)
{
    problem p = segsort_problem((tsr_segsort_problem){.segments = 1});

    return sort_class_of_keys_text(&p, name, out);
}

static void size_text(const problem *p, text *out)
{
    text_format(out, "%zux%zu", segsort_of(p)->segments, segsort_mean(segsort_of(p)));
}

static void shrink(problem *p)
{
    sort_in(p)->n /= 64;
    segsort_in(p)->segments = size_div_up(segsort_of(p)->segments, 64);
}

const operation operation_segsort = {
    .name = "segsort",
    .origin = {.op = "sort", .problem = " segment", .problem_class = " segments"},
    .idea = "segments of any lengths, each in order, with their values and positions",
    .unit = WORK_KEYS,
    .exact = true,
    .uses_up = true,
    .types = (unsigned)SINGLE_TYPES & ~(1u << TSR_BF16),
    .default_type = TSR_U32,
    .result = SORT_KEYS,
    .command = &segsort_command,
    .variants = variants,
    .variant_count = ARRAY_COUNT(variants),
    .check = check,
    .operands = operands,
    .inspect = inspect,
    .partition = partition_of,
    .work = sort_work,
    .bytes = bytes,
    .describe = describe,
    .classify = classify,
    .class_text = class_text,
    .size_text = size_text,
    .shrink = shrink,
    .inputs_name = sort_fill_word,
    .prefer = prefer,
    .prefer_c = sort_prefer_c,
    .prefer_first = prefer_first,
    .fill = segsort_fill,
    .sweep = segsort_sweep,
    .expect = segsort_expect,
    .verify = segsort_verify,
};
