/* The sum, minimum or maximum of an array: the operation, and its variant on the host. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "ops/reduce/reduce_problem.h"

/* ---- on the host --------------------------------------------------------------------------- */

static const char *loop_plan(const job *j, plan *out)
{
    (void)j, (void)out;
    return NULL;
}

static tsr_status loop_run(const problem *q, void *const operands[], tsr_error *err)
{
    const tsr_reduce_problem *p = reduce_of(q);
    const float *x = p->n ? (const float *)operands[REDUCE_X] + p->offset_x : NULL;
    double sum = 0;
    float best = p->n ? x[0] : 0;

    (void)err;
    /* Once best is NaN no comparison replaces it. */
    switch (p->by) {
    case TSR_REDUCE_SUM:
        for (size_t i = 0; i < p->n; i++)
            sum += (double)x[i];
        best = (float)sum;
        break;
    case TSR_REDUCE_MIN:
        for (size_t i = 1; i < p->n; i++)
            best = x[i] < best || isnan(x[i]) ? x[i] : best;
        break;
    default:
        for (size_t i = 1; i < p->n; i++)
            best = x[i] > best || isnan(x[i]) ? x[i] : best;
        break;
    }
    ((float *)operands[REDUCE_RESULT])[p->offset_result] = best;
    return TSR_OK;
}

static const variant reduce_loop = {.name = "loop",
                                    .idea = "the plain loop; a sum in double precision",
                                    .plan = loop_plan,
                                    .host = loop_run};

static const variant *const variants[] = {&reduce_loop, &reduce_simd, &reduce_tree, &reduce_vector};

/* ---- the operation ------------------------------------------------------------------------- */

static tsr_status check(const problem *q, tsr_error *err)
{
    const tsr_reduce_problem *p = reduce_of(q);
    const view x = reduce_x(p), result = reduce_result(p);
    size_t bytes;

    if (p->type != TSR_F32)
        return tsr_fail(err, TSR_EINVAL, 0, "reduce: elements are float32, not %s",
                        tsr_type_name(p->type));
    if (p->by > TSR_REDUCE_MAX)
        return tsr_fail(err, TSR_EINVAL, 0, "reduce: no reduction has the number %zu", p->by);
    if (p->n == 0 && p->by != TSR_REDUCE_SUM)
        return tsr_fail(err, TSR_EINVAL, 0, "reduce: no elements have no %s", reduce_by_name(q));
    if (!view_extent(&x, &bytes) || !view_extent(&result, &bytes))
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "reduce: %zu elements (offsets %zu and %zu) exceed %zu bytes", p->n,
                        p->offset_x, p->offset_result, SIZE_MAX);
    return TSR_OK;
}

static size_t operands(const problem *q, operand out[OPERANDS_MAX])
{
    const view x = reduce_x(reduce_of(q)), result = reduce_result(reduce_of(q));

    out[REDUCE_X] = view_operand("x", &x, ACCESS_READ);
    out[REDUCE_RESULT] = view_operand("result", &result, ACCESS_WRITE);
    out[REDUCE_RESULT].whole = true;
    return 2;
}

static double work(const problem *p)
{
    return (double)reduce_of(p)->n;
}

static double traffic(const problem *p)
{
    return (double)sizeof(float) * ((double)reduce_of(p)->n + 1);
}

static void describe(const problem *q, text *out)
{
    const tsr_reduce_problem *p = reduce_of(q);

    text_format(out, "%s of %zu %s", reduce_by_name(q), p->n, tsr_type_name(p->type));
    if (p->offset_x || p->offset_result)
        text_format(out, " offsets %zu %zu", p->offset_x, p->offset_result);
}

static size_t prefer(const problem *p, const device_facts *d, const char *out[PREFERENCES_MAX])
{
    static const char *const on_host[] = {"simd", "loop"}, *const on_device[] = {"vector", "tree"};

    (void)p;
    if (d->kind == DEVICE_HOST) {
        memcpy(out, on_host, sizeof(on_host));
        return ARRAY_COUNT(on_host);
    }
    memcpy(out, on_device, sizeof(on_device));
    return ARRAY_COUNT(on_device);
}

/* As long as it takes some 10 milliseconds, which are spent on memory in either case. */
static const char *prefer_c(const problem *p, const device_facts *d)
{
    (void)d;
    return reduce_of(p)->n <= (size_t)1 << 26 ? "simd" : NULL;
}

const operation operation_reduce = {
    .name = "reduce",
    .idea = "result := x[0] op x[1] op ..., op a sum, minimum or maximum",
    .unit = WORK_BYTES,
    .types = 1u << TSR_F32,
    .default_type = TSR_F32,
    .result = REDUCE_RESULT,
    .command = &reduce_command,
    .variants = variants,
    .variant_count = ARRAY_COUNT(variants),
    .check = check,
    .operands = operands,
    .work = work,
    .bytes = traffic,
    .describe = describe,
    .prefer = prefer,
    .prefer_c = prefer_c,
    .fill = reduce_fill,
    .sweep = reduce_sweep,
    .verify = reduce_verify,
};
