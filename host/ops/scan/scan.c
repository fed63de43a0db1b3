/* Running sums, minima or maxima of an array: the operation, and its plain variant on the host. */
#include <math.h>
#include <string.h>

#include "base/elements.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "core/real.h"
#include "ops/scan/scan_problem.h"

/* ---- on the host --------------------------------------------------------------------------- */

/* `count` elements from `at` on, every `step`-th, forwards or backwards. */
static void scan_reals(const tsr_scan_problem *p, const void *x, void *result, size_t at,
                       ptrdiff_t step, size_t count)
{
    double value = p->by == TSR_SCAN_SUM ? 0 : p->by == TSR_SCAN_MIN ? INFINITY : -INFINITY;

    for (size_t i = 0; i < count; i++, at += (size_t)step) {
        const double next = real_get(p->type, x, p->offset_x + at);

        if (p->exclusive)
            real_set(p->type, result, p->offset_result + at, value);
        if (p->by == TSR_SCAN_SUM)
            value += next;
        else if (isnan(next) || (p->by == TSR_SCAN_MIN ? next < value : next > value))
            value = next;
        if (!p->exclusive)
            real_set(p->type, result, p->offset_result + at, value);
    }
}

/* Minima and maxima of signed integers are those of unsigned ones with the sign bit inverted. */
static void scan_wholes(const tsr_scan_problem *p, const void *x, void *result, size_t at,
                        ptrdiff_t step, size_t count)
{
    const tsr_type to = tsr_scan_result_type(p);
    const uint64_t sign = type_is_signed(p->type) ? (uint64_t)1 << 63 : 0;
    const unsigned bits = (unsigned)(8 * tsr_type_size(p->type) - (sign != 0));
    const uint64_t most = UINT64_MAX >> (64 - bits); /* of the type */
    const uint64_t least = sign ? ~most : 0;
    uint64_t value = p->by == TSR_SCAN_SUM ? 0 : p->by == TSR_SCAN_MIN ? most : least;

    for (size_t i = 0; i < count; i++, at += (size_t)step) {
        const uint64_t next = integer_get(p->type, x, p->offset_x + at);

        if (p->exclusive)
            bits_set(to, result, p->offset_result + at, value);
        if (p->by == TSR_SCAN_SUM)
            value += next;
        else if (p->by == TSR_SCAN_MIN ? (next ^ sign) < (value ^ sign)
                                       : (next ^ sign) > (value ^ sign))
            value = next;
        if (!p->exclusive)
            bits_set(to, result, p->offset_result + at, value);
    }
}

static void scan_line(const tsr_scan_problem *p, void *const operands[], size_t first, size_t step,
                      size_t count)
{
    const size_t at = p->reverse && count ? first + (count - 1) * step : first;
    const ptrdiff_t pace = p->reverse ? -(ptrdiff_t)step : (ptrdiff_t)step;

    (type_is_real(p->type) ? scan_reals : scan_wholes)(p, operands[SCAN_X], operands[SCAN_RESULT],
                                                       at, pace, count);
}

static tsr_status loop_run(const problem *q, void *const operands[], tsr_error *err)
{
    const tsr_scan_problem *p = scan_of(q);
    const size_t inner = scan_inner(p);

    (void)err;
    if (p->segments) {
        const uint64_t *offsets = (const uint64_t *)operands[SCAN_SEGMENTS] + p->offset_segments;

        for (size_t s = 0; s < p->segments; s++)
            scan_line(p, operands, (size_t)offsets[s], 1, (size_t)(offsets[s + 1] - offsets[s]));
        return TSR_OK;
    }
    for (size_t line = 0; line < scan_lines(p); line++)
        scan_line(p, operands, line / inner * p->n * inner + line % inner, inner, p->n);
    return TSR_OK;
}

static const variant scan_loop = {.name = "loop",
                                  .idea = "the plain loop; a sum in double precision",
                                  .plan = plan_in_c,
                                  .host = loop_run};

static const variant *const variants[] = {
    &scan_loop,    &scan_simd,           &scan_hillis_steele, &scan_blelloch, &scan_blelloch_padded,
    &scan_shuffle, &scan_three_launches, &scan_look_back,     &scan_warps,    &scan_chunks,
};

/* ---- the operation ------------------------------------------------------------------------- */

static tsr_status check(const problem *q, tsr_error *err)
{
    const tsr_scan_problem *p = scan_of(q);
    size_t bytes, elements;
    view x, result, segments;

    if (operation_check_type(q->op, p->type, err))
        return TSR_EINVAL;
    if (p->by > TSR_SCAN_MAX)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "scan: by is %zu, which is neither a sum, minimum nor maximum", p->by);
    if (p->segments && scan_lines(p) > 1)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "scan: segments need a single line, and there are %zu x %zu lines",
                        scan_outer(p), scan_inner(p));
    if (!size_mul(scan_outer(p), scan_inner(p), &elements) ||
        !size_mul(elements, p->n, &elements) || p->segments == SIZE_MAX)
        return tsr_fail(err, TSR_EOVERFLOW, 0, "scan: %zu x %zu x %zu elements exceed %zu",
                        scan_outer(p), p->n, scan_inner(p), SIZE_MAX);
    x = scan_x(p);
    result = scan_result(p);
    segments = scan_segments(p);
    if (!view_extent(&x, &bytes) || !view_extent(&result, &bytes) ||
        !view_extent(&segments, &bytes))
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "scan: %zu elements of %zu segments (offsets %zu, %zu and %zu) exceed %zu "
                        "bytes",
                        elements, p->segments, p->offset_x, p->offset_result, p->offset_segments,
                        SIZE_MAX);
    return TSR_OK;
}

static size_t operands(const problem *q, operand out[OPERANDS_MAX])
{
    const tsr_scan_problem *p = scan_of(q);
    const view x = scan_x(p), result = scan_result(p), segments = scan_segments(p);

    out[SCAN_X] = view_operand("x", &x, ACCESS_READ);
    out[SCAN_RESULT] = view_operand("result", &result, ACCESS_WRITE);
    out[SCAN_RESULT].whole = true;
    out[SCAN_RESULT].read_back = true;
    out[SCAN_SEGMENTS] = view_operand("segment offsets", &segments, ACCESS_READ);
    return SCAN_OPERANDS;
}

static tsr_status inspect(problem *q, const void *const operands[], tsr_error *err)
{
    const tsr_scan_problem *p = scan_of(q);
    size_t longest;

    if (!p->segments)
        return TSR_OK;
    return operation_check_offsets(q->op, p->n, p->segments,
                                   (const uint64_t *)operands[SCAN_SEGMENTS] + p->offset_segments,
                                   &longest, err);
}

static double work(const problem *p)
{
    return (double)scan_elements(scan_of(p));
}

static double traffic(const problem *q)
{
    const tsr_scan_problem *p = scan_of(q);
    const size_t each = tsr_type_size(p->type) + tsr_type_size(tsr_scan_result_type(p));

    return (double)each * (double)scan_elements(p) +
           (p->segments ? (double)sizeof(uint64_t) * ((double)p->segments + 1) : 0);
}

static void describe(const problem *q, text *out)
{
    const tsr_scan_problem *p = scan_of(q);

    text_format(out, "%s%s of ", p->exclusive ? "exclusive " : "", scan_by_name(q));
    if (p->segments) {
        text_format(out, "%zu segment%s of %zu", p->segments, p->segments == 1 ? "" : "s", p->n);
    } else {
        if (scan_lines(p) > 1)
            text_format(out, "%zux", scan_outer(p));
        text_format(out, "%zu", p->n);
        if (scan_lines(p) > 1)
            text_format(out, "x%zu", scan_inner(p));
    }
    text_format(out, " %s", tsr_type_name(p->type));
    if (p->same_type && p->by == TSR_SCAN_SUM && !type_is_real(p->type))
        text_append(out, " in their type");
    if (p->reverse)
        text_append(out, " from the end");
    if (p->offset_x || p->offset_result || p->offset_segments)
        text_format(out, " offsets %zu %zu %zu", p->offset_x, p->offset_result, p->offset_segments);
}

/* Columns side by side are read by work-items side by side; of them `chunks` makes the most. */
static size_t prefer(const problem *p, const device_facts *d, const char *out[PREFERENCES_MAX])
{
    static const char *const on_host[] = {"simd", "loop"};
    static const char *const of_lines[] = {"warps", "look-back", "three-launches", "chunks"};
    const bool tiles = d->kind != DEVICE_CPU && scan_inner(scan_of(p)) == 1;

    if (d->kind == DEVICE_HOST) {
        memcpy(out, on_host, sizeof(on_host));
        return ARRAY_COUNT(on_host);
    }
    memcpy(out, of_lines + (tiles ? 0 : 3), (tiles ? 4 : 1) * sizeof(*of_lines));
    return tiles ? 4 : 1;
}

/* Whatever the size: its time is spent on memory, and kernels read the elements twice. */
static const char *prefer_c(const problem *p, const device_facts *d)
{
    (void)p, (void)d;
    return "simd";
}

/* The smallest kernels, for every problem: a fraction of a millisecond up to this size. */
static const char *prefer_first(const problem *p, const device_facts *d)
{
    return d->kind == DEVICE_GPU && scan_elements(scan_of(p)) <= (size_t)1 << 20 ? "chunks" : NULL;
}

const operation operation_scan = {
    .name = "scan",
    .idea = "result[i] := x[0] op x[1] op ... op x[i], op a sum, minimum or maximum",
    .unit = WORK_BYTES,
    .types = SINGLE_TYPES,
    .default_type = TSR_F32,
    .result = SCAN_RESULT,
    .command = &scan_command,
    .variants = variants,
    .variant_count = ARRAY_COUNT(variants),
    .check = check,
    .operands = operands,
    .inspect = inspect,
    .partition = scan_partition,
    .work = work,
    .bytes = traffic,
    .describe = describe,
    .prefer = prefer,
    .prefer_c = prefer_c,
    .prefer_first = prefer_first,
    .fill = scan_fill,
    .sweep = scan_sweep,
    .verify = scan_verify,
};
