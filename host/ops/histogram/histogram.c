/* How many elements lie in each of some bins: the operation. */
#include <string.h>

#include "base/elements.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "core/fields.h"
#include "ops/histogram/histogram_problem.h"
#include "stream/engine.h"

static const variant *const variants[] = {&histogram_loop,  &histogram_tables, &histogram_naive,
                                          &histogram_local, &histogram_copies, &histogram_few,
                                          &histogram_bytes, &histogram_own};

static tsr_status check(const problem *q, tsr_error *err)
{
    const tsr_histogram_problem *p = histogram_of(q);
    size_t edges, bytes;
    view x, counts, all_edges, weights;

    if (operation_check_type(q->op, p->type, err))
        return TSR_EINVAL;
    if (p->weights > TSR_HISTOGRAM_I64)
        return tsr_fail(err, TSR_EINVAL, 0, "histogram: weights %zu do not exist", p->weights);
    if (p->bins == 0)
        return tsr_fail(err, TSR_EINVAL, 0, "histogram: bins is 0");
    x = histogram_x(p);
    if (!view_extent(&x, &bytes))
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "histogram: %zu elements (offset %zu) exceed %zu bytes", p->n, p->offset_x,
                        SIZE_MAX);
    if (!size_add(p->bins, 1, &edges))
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "histogram: %zu bins have more edges than size_t can count", p->bins);
    all_edges = histogram_edges(p);
    counts = histogram_counts(p);
    if (!view_extent(&all_edges, &bytes) || !view_extent(&counts, &bytes))
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "histogram: %zu bins (offsets %zu and %zu) exceed %zu bytes", p->bins,
                        p->offset_edges, p->offset_counts, SIZE_MAX);
    weights = histogram_weights(p);
    if (!view_extent(&weights, &bytes))
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "histogram: %zu weights (offset %zu) exceed %zu bytes", p->n,
                        p->offset_weights, SIZE_MAX);
    return TSR_OK;
}

static size_t operands(const problem *q, operand out[OPERANDS_MAX])
{
    const tsr_histogram_problem *p = histogram_of(q);
    const view x = histogram_x(p), edges = histogram_edges(p), counts = histogram_counts(p);
    const view weights = histogram_weights(p);

    out[HISTOGRAM_X] = view_operand("x", &x, ACCESS_READ);
    out[HISTOGRAM_EDGES] = view_operand("edges", &edges, ACCESS_READ);
    out[HISTOGRAM_COUNTS] =
        view_operand("counts", &counts, p->add ? ACCESS_READ_WRITE : ACCESS_WRITE);
    out[HISTOGRAM_COUNTS].whole = !p->add;
    out[HISTOGRAM_COUNTS].read_back = true;
    if (!p->weights)
        return HISTOGRAM_WEIGHTS;
    out[HISTOGRAM_COUNTS].name = "sums";
    out[HISTOGRAM_WEIGHTS] = view_operand("weights", &weights, ACCESS_READ);
    return HISTOGRAM_WEIGHTS + 1;
}

static tsr_status inspect(problem *p, const void *const arrays[], tsr_error *err)
{
    return histogram_check_edges(histogram_of(p), arrays[HISTOGRAM_EDGES], err);
}

static double work(const problem *p)
{
    return (double)histogram_of(p)->n;
}

static double traffic(const problem *q)
{
    const tsr_histogram_problem *p = histogram_of(q);
    const view x = histogram_x(p), edges = histogram_edges(p), counts = histogram_counts(p);
    const view weights = histogram_weights(p);

    return (double)view_bytes(&x) + (double)view_bytes(&edges) + (double)view_bytes(&weights) +
           (p->add ? 2 : 1) * (double)view_bytes(&counts);
}

static void describe(const problem *q, text *out)
{
    const tsr_histogram_problem *p = histogram_of(q);

    text_format(out, "%zu %s in %zu%s bin%s", p->n, tsr_type_name(p->type), p->bins,
                p->uneven ? " uneven" : "", p->bins == 1 ? "" : "s");
    if (p->weights)
        text_format(out, ", %s weights", tsr_type_name(histogram_sum_type(p)));
    if (p->add)
        text_append(out, ", added");
    if (p->offset_x || p->offset_edges || p->offset_counts)
        text_format(out, " offsets %zu %zu %zu", p->offset_x, p->offset_edges, p->offset_counts);
    if (p->weights && p->offset_weights)
        text_format(out, " weights %zu", p->offset_weights);
    if (q->inputs != DISTRIBUTION_PLAIN)
        text_format(out, ", %s", q->op->inputs_name(q->inputs));
}

static const char *inputs_name(distribution f)
{
    static const char *const words[DISTRIBUTION_COUNT] = {
        [DISTRIBUTION_PLAIN] = "random",      [DISTRIBUTION_UNIFORM] = "random and outside",
        [DISTRIBUTION_SPECIAL] = "special",   [DISTRIBUTION_FEW] = "few-values",
        [DISTRIBUTION_ORDERED] = "sorted",    [DISTRIBUTION_REVERSED] = "reversed",
        [DISTRIBUTION_CONSTANT] = "constant", [DISTRIBUTION_TWO] = "two-values",
        [DISTRIBUTION_SAWTOOTH] = "sawtooth"};

    return words[f];
}

static void shrink(problem *p)
{
    histogram_in(p)->n /= 64;
}

/* Bytes of the sums of one work-item beyond which atomics in global memory are faster than tables
 * of each work-item's own, whose bins are too many for one pass over the array. */
enum { OWN_BYTES_MAX = 4096 };

static size_t prefer(const problem *q, const device_facts *d, const char *out[PREFERENCES_MAX])
{
    static const char *const on_host[] = {"tables", "loop"},
                             *const on_device[] = {"bytes", "few", "copies", "local", "naive"},
                             *const weighted[] = {"own", "naive"},
                             *const weighted_many[] = {"naive", "own"};
    const tsr_histogram_problem *p = histogram_of(q);
    const bool many = p->bins > OWN_BYTES_MAX / tsr_type_size(histogram_sum_type(p));
    const char *const *names = on_device;
    size_t count = ARRAY_COUNT(on_device);

    if (d->kind == DEVICE_HOST) {
        names = on_host;
        count = ARRAY_COUNT(on_host);
    } else if (p->weights) {
        names = many && d->kind != DEVICE_CPU ? weighted_many : weighted;
        count = ARRAY_COUNT(weighted);
    }
    memcpy(out, names, count * sizeof(*names));
    return count;
}

/* A CPU's kernels count no faster than its C code. */
static const char *prefer_c(const problem *p, const device_facts *d)
{
    (void)p, (void)d;
    return "tables";
}

/* ---- streaming ------------------------------------------------------------------------------ */

/* x comes in pieces of ELEMENTS elements, with their weights, each counted while the next is
 * copied; the counts stay on the device, and every piece but the first adds to them. */
enum { ELEMENTS };

/* Elements of an operand from `first` on, of one that its offset is at. */
static host_rows stretch(const view *v, void *array, size_t first, size_t count)
{
    const size_t size = tsr_type_size(v->type);

    return host_bytes((const char *)array + (v->offset + first) * size, count * size);
}

static void elements_piece(const partition *p, void *const host[], size_t i, piece *out)
{
    const tsr_histogram_problem *q = histogram_of(p->problem);
    const size_t at = i * p->cut[ELEMENTS], n = size_min(p->cut[ELEMENTS], q->n - at);
    const view x = histogram_x(q), edges = histogram_edges(q), counts = histogram_counts(q);
    const view weights = histogram_weights(q);
    tsr_histogram_problem *one;

    *out = (piece){.problem = *p->problem};
    one = histogram_in(&out->problem);
    one->n = n;
    one->offset_x = one->offset_edges = one->offset_counts = one->offset_weights = 0;
    one->add = q->add || i > 0;
    out->slice[HISTOGRAM_X] =
        (slice){.slot = i, .rows = stretch(&x, host[HISTOGRAM_X], at, n), .blocks = 1, .in = true};
    out->slice[HISTOGRAM_EDGES] = (slice){
        .rows = stretch(&edges, host[HISTOGRAM_EDGES], 0, q->bins + 1), .blocks = 1, .in = true};
    out->slice[HISTOGRAM_COUNTS] =
        (slice){.rows = stretch(&counts, host[HISTOGRAM_COUNTS], 0, q->bins),
                .blocks = 1,
                .in = q->add,
                .out = true};
    if (q->weights)
        out->slice[HISTOGRAM_WEIGHTS] =
            (slice){.slot = i,
                    .rows = stretch(&weights, host[HISTOGRAM_WEIGHTS], at, n),
                    .blocks = 1,
                    .in = true};
}

static const partition_kind in_elements = {.name = "elements", .piece = elements_piece};

static tsr_status cut(const problem *p, const selection *sel, const stream_budget *budget,
                      partition *out, tsr_error *err)
{
    const tsr_histogram_problem *q = histogram_of(p);
    const view x = histogram_x(q), edges = histogram_edges(q), counts = histogram_counts(q);
    const view weights = histogram_weights(q);
    const size_t bytes = view_bytes(&x) + view_bytes(&weights);
    const size_t weight = q->weights ? tsr_type_size(weights.type) : 0;
    const size_t size = tsr_type_size(q->type) + weight;
    const size_t stays = view_bytes(&edges) + view_bytes(&counts);
    const bool holds = stream_holds(budget, p);
    size_t slot, each;

    (void)sel;
    if (bytes == 0 || (holds && bytes < STREAMED_MIN))
        return TSR_OK;
    slot = budget->all > stays ? (budget->all - stays) / PARTITION_SLOTS_MAX : 0;
    if (slot < size && (holds || !budget->limited))
        return TSR_OK;
    if (slot < size)
        return stream_refuse(err, "histogram", budget, stays + PARTITION_SLOTS_MAX * size,
                             "the edges and counts of %zu bins, and %d elements", q->bins,
                             (int)PARTITION_SLOTS_MAX);
    each = size_max(stream_piece_bytes(bytes, size_min(slot, budget->each)) / size, 1);
    each = size_min(each, q->n);
    *out = (partition){.kind = &in_elements,
                       .pieces = size_div_up(q->n, each),
                       .cut = {[ELEMENTS] = each},
                       .slots = {[HISTOGRAM_X] = {PARTITION_SLOTS_MAX, each * (size - weight), 0},
                                 [HISTOGRAM_EDGES] = {1, view_bytes(&edges), 0},
                                 [HISTOGRAM_COUNTS] = {1, view_bytes(&counts), 0}}};
    if (q->weights)
        out->slots[HISTOGRAM_WEIGHTS] = (operand_slots){PARTITION_SLOTS_MAX, each * weight, 0};
    partition_add_shape(out, 0);
    if (out->pieces > 1)
        partition_add_shape(out, 1);
    if (out->pieces > 2 && q->n % each)
        partition_add_shape(out, out->pieces - 1);
    return TSR_OK;
}

/* On a GPU what runs fastest is long, and a probe would have to be compiled for its last group. */
static const char *prefer_first(const problem *q, const device_facts *d)
{
    const tsr_histogram_problem *p = histogram_of(q);

    if (d->kind != DEVICE_GPU || p->weights || p->n > (size_t)1 << 20)
        return NULL;
    return p->bins <= d->local_memory / sizeof(uint32_t) ? "local" : "naive";
}

const operation operation_histogram = {
    .name = "histogram",
    .idea = "counts[i] := elements with edges[i] <= x < edges[i + 1], the last bin closed, or the "
            "sum of their weights",
    .unit = WORK_BYTES,
    .types = SINGLE_TYPES,
    .default_type = TSR_U8,
    .result = HISTOGRAM_COUNTS,
    .command = &histogram_command,
    .variants = variants,
    .variant_count = ARRAY_COUNT(variants),
    .check = check,
    .operands = operands,
    .inspect = inspect,
    .partition = cut,
    .work = work,
    .bytes = traffic,
    .describe = describe,
    .shrink = shrink,
    .inputs_name = inputs_name,
    .prefer = prefer,
    .prefer_c = prefer_c,
    .prefer_first = prefer_first,
    .fill = histogram_fill,
    .sweep = histogram_sweep,
    .verify = histogram_verify,
};
