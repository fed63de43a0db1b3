/* The elements for which a comparison holds: the operation, and its plain variant on the host. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/elements.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "core/real.h"
#include "ops/select/select_problem.h"

/* ---- comparing ----------------------------------------------------------------------------- */

/* The order of two values, and whether they are a number each. */
static bool order_holds(size_t where, bool less, bool equal, bool numbers, bool is_nan)
{
    switch (where) {
    case TSR_GREATER:
        return numbers && !less && !equal;
    case TSR_GREATER_EQUAL:
        return numbers && !less;
    case TSR_LESS:
        return numbers && less;
    case TSR_LESS_EQUAL:
        return numbers && (less || equal);
    case TSR_EQUAL:
        return numbers && equal;
    case TSR_NOT_EQUAL:
        return !numbers || !equal;
    case TSR_IS_NAN:
        return is_nan;
    default:
        return !is_nan;
    }
}

static double flushed(tsr_type type, double x, bool flushes)
{
    return flushes && (type == TSR_F32 || type == TSR_BF16) && fabs(x) < (double)FLT_MIN ? 0 : x;
}

bool select_holds(const tsr_select_problem *p, const void *x, size_t i, bool flushes)
{
    uint64_t natural;

    if (type_is_real(p->type)) {
        const double a = flushed(p->type, real_get(p->type, x, i), flushes);
        const double b = flushed(p->type, real_round(p->type, p->value.real), flushes);

        return order_holds(p->where, a < b, a == b, !isnan(a) && !isnan(b), isnan(a));
    }
    if (type_is_signed(p->type)) {
        const int64_t a = (int64_t)integer_get(p->type, x, i), b = p->value.integer;

        return order_holds(p->where, a < b, a == b, true, false);
    }
    natural = integer_get(p->type, x, i);
    return order_holds(p->where, natural < p->value.natural, natural == p->value.natural, true,
                       false);
}

/* ---- on the host --------------------------------------------------------------------------- */

static tsr_status loop_run(const problem *q, void *const operands[], tsr_error *err)
{
    const tsr_select_problem *p = select_of(q);
    const size_t size = tsr_type_size(p->type);
    const char *x = operands[SELECT_X];
    char *result = operands[SELECT_RESULT];
    uint64_t count = 0;

    (void)err;
    for (size_t i = 0; i < p->n; i++) {
        if (!select_holds(p, x, p->offset_x + i, false))
            continue;
        memcpy(result + (p->offset_result + count) * size, x + (p->offset_x + i) * size, size);
        if (p->with_indices)
            ((int64_t *)operands[SELECT_INDICES])[p->offset_indices + count] = (int64_t)i;
        count++;
    }
    ((uint64_t *)operands[SELECT_COUNT])[p->offset_count] = count;
    return TSR_OK;
}

static const variant select_loop = {.name = "loop",
                                    .idea = "the plain loop: compare, and store what is selected",
                                    .plan = plan_in_c,
                                    .host = loop_run};

static const variant *const variants[] = {
    &select_loop,   &select_simd,           &select_atomic,    &select_group_atomic,
    &select_ballot, &select_three_launches, &select_look_back, &select_warps,
};

/* ---- the operation ------------------------------------------------------------------------- */

/* An integer type holds the value that its elements are compared with. */
static bool is_of_type(const tsr_select_problem *p)
{
    const unsigned bits = 8 * (unsigned)tsr_type_size(p->type);

    if (type_is_real(p->type) || bits == 64)
        return true;
    if (type_is_signed(p->type))
        return p->value.integer >= -((int64_t)1 << (bits - 1)) &&
               p->value.integer < (int64_t)1 << (bits - 1);
    return p->value.natural < (uint64_t)1 << bits;
}

static tsr_status check(const problem *q, tsr_error *err)
{
    const tsr_select_problem *p = select_of(q);
    size_t bytes;
    view x, result, indices, count;

    if (operation_check_type(q->op, p->type, err))
        return TSR_EINVAL;
    if (p->where > TSR_IS_NOT_NAN)
        return tsr_fail(err, TSR_EINVAL, 0, "select: comparison %zu does not exist", p->where);
    if (p->where < TSR_IS_NAN && !is_of_type(p))
        return tsr_fail(err, TSR_EINVAL, 0, "select: the value is beyond the range of %s",
                        tsr_type_name(p->type));
    x = select_x(p);
    result = select_result(p);
    indices = select_indices(p);
    count = select_count(p);
    if (!view_extent(&x, &bytes) || !view_extent(&result, &bytes) ||
        !view_extent(&indices, &bytes) || !view_extent(&count, &bytes))
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "select: %zu elements (offsets %zu, %zu, %zu and %zu) exceed %zu bytes",
                        p->n, p->offset_x, p->offset_result, p->offset_indices, p->offset_count,
                        SIZE_MAX);
    return TSR_OK;
}

static size_t operands(const problem *q, operand out[OPERANDS_MAX])
{
    const tsr_select_problem *p = select_of(q);
    const view x = select_x(p), result = select_result(p), indices = select_indices(p);
    const view count = select_count(p);

    out[SELECT_X] = view_operand("x", &x, ACCESS_READ);
    out[SELECT_RESULT] = view_operand("result", &result, ACCESS_WRITE);
    out[SELECT_INDICES] = view_operand("indices", &indices, ACCESS_WRITE);
    out[SELECT_COUNT] = view_operand("count", &count, ACCESS_WRITE);
    out[SELECT_COUNT].whole = true;
    out[SELECT_COUNT].read_back = true; /* atomics add to it */
    return SELECT_OPERANDS;
}

static double work(const problem *p)
{
    return (double)select_of(p)->n;
}

/* What is written depends on the elements, and is not counted. */
static double traffic(const problem *q)
{
    const tsr_select_problem *p = select_of(q);

    return (double)tsr_type_size(p->type) * (double)p->n + (double)sizeof(uint64_t);
}

void select_describe_rest(const problem *q, text *out)
{
    const tsr_select_problem *p = select_of(q);

    text_format(out, " of %zu %s", p->n, tsr_type_name(p->type));
    if (p->with_indices)
        text_append(out, " with indices");
    if (p->any_order)
        text_append(out, " in any order");
    if (p->offset_x || p->offset_result || p->offset_indices || p->offset_count)
        text_format(out, " offsets %zu %zu %zu %zu", p->offset_x, p->offset_result,
                    p->offset_indices, p->offset_count);
}

static void describe(const problem *q, text *out)
{
    text_append(out, "those ");
    select_condition(q, out);
    select_describe_rest(q, out);
}

static size_t prefer(const problem *p, const device_facts *d, const char *out[PREFERENCES_MAX])
{
    static const char *const on_host[] = {"simd", "loop"};
    static const char *const on_cpu[] = {"three-launches"};
    static const char *const on_gpu[] = {"warps", "look-back", "three-launches"};
    const char *const *list = d->kind == DEVICE_HOST  ? on_host
                              : d->kind == DEVICE_CPU ? on_cpu
                                                      : on_gpu;
    const size_t count = d->kind == DEVICE_HOST ? 2 : d->kind == DEVICE_CPU ? 1 : 3;

    (void)p;
    memcpy(out, list, count * sizeof(*list));
    return count;
}

/* Whatever the size: its time is spent on memory, and kernels read the elements twice. */
static const char *prefer_c(const problem *p, const device_facts *d)
{
    (void)p, (void)d;
    return "simd";
}

/* No feature has to be probed for it. */
static const char *prefer_first(const problem *p, const device_facts *d)
{
    return d->kind == DEVICE_GPU && select_of(p)->n <= (size_t)1 << 20 ? "three-launches" : NULL;
}

const operation operation_select = {
    .name = "select",
    .idea = "result := the elements for which a comparison holds, in their order",
    .unit = WORK_BYTES,
    .exact = true,
    .types = SINGLE_TYPES,
    .default_type = TSR_F32,
    .result = SELECT_RESULT,
    .command = &select_command,
    .variants = variants,
    .variant_count = ARRAY_COUNT(variants),
    .check = check,
    .operands = operands,
    .partition = select_partition,
    .work = work,
    .bytes = traffic,
    .describe = describe,
    .prefer = prefer,
    .prefer_c = prefer_c,
    .prefer_first = prefer_first,
    .fill = select_fill,
    .sweep = select_sweep,
    .verify = select_verify,
};
