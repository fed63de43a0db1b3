/* Reductions of an array or along an axis: the operation, and the plain loop on the host. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/elements.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "ops/reduce/reduce_problem.h"

/* ---- types --------------------------------------------------------------------------------- */

tsr_type tsr_reduce_result_type(tsr_type type, size_t by)
{
    const bool real = type_is_real(type);

    if ((unsigned)type >= SINGLE_TYPE_COUNT)
        return TSR_TYPE_COUNT;
    switch (by) {
    case TSR_REDUCE_SUM:
        return real ? type : type_is_signed(type) ? TSR_I64 : TSR_U64;
    case TSR_REDUCE_MIN:
    case TSR_REDUCE_MAX:
        return type;
    case TSR_REDUCE_MEAN:
    case TSR_REDUCE_NORM2:
        return real ? type : TSR_F64;
    case TSR_REDUCE_ANY:
    case TSR_REDUCE_ALL:
        return TSR_U8;
    case TSR_REDUCE_ARGMIN:
    case TSR_REDUCE_ARGMAX:
    case TSR_REDUCE_COUNT:
        return TSR_I64;
    default:
        return TSR_TYPE_COUNT;
    }
}

tsr_type reduce_value_type(const tsr_reduce_problem *p)
{
    const bool counts =
        p->by == TSR_REDUCE_ANY || p->by == TSR_REDUCE_ALL || p->by == TSR_REDUCE_COUNT;

    if (counts)
        return TSR_U64;
    if (type_is_real(p->type))
        return p->type == TSR_F64 ? TSR_F64 : TSR_F32;
    if (p->by == TSR_REDUCE_MEAN || p->by == TSR_REDUCE_NORM2)
        return TSR_F64;
    return type_is_signed(p->type) ? TSR_I64 : TSR_U64;
}

bool reduce_is_whole(const tsr_reduce_problem *p)
{
    const reduce_shape s = reduce_shape_of(p);

    return s.outer == 1 && s.inner == 1 && (s.step == 1 || s.n <= 1);
}

bool reduce_is_plain(const tsr_reduce_problem *p)
{
    return p->type == TSR_F32 && p->by <= TSR_REDUCE_MAX && reduce_is_whole(p);
}

const char reduce_not_plain[] =
    "it takes the sum, minimum or maximum of a whole float32 array without gaps";

/* ---- on the host --------------------------------------------------------------------------- */

static const char *loop_plan(const job *j, plan *out)
{
    (void)out;
    return reduce_is_plain(reduce_of(j->problem)) ? NULL : reduce_not_plain;
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

static const variant *const variants[] = {
    &reduce_loop,       &reduce_simd,      &reduce_atomic,   &reduce_interleaved,
    &reduce_sequential, &reduce_first_add, &reduce_subgroup, &reduce_shuffle,
    &reduce_redux,      &reduce_tree,      &reduce_vector,   &reduce_group_atomic,
    &reduce_last_group, &reduce_whole,     &reduce_rows,     &reduce_columns,
};

/* ---- the operation ------------------------------------------------------------------------- */

static tsr_status check_strides(const reduce_shape *s, tsr_error *err)
{
    size_t span = 0;

    if (s->n > 1 && s->step < s->inner)
        return tsr_fail(err, TSR_EINVAL, 0, "reduce: step %zu is below inner, %zu", s->step,
                        s->inner);
    if (s->n && (!size_mul(s->n - 1, s->step, &span) || !size_add(span, s->inner, &span)))
        return tsr_fail(err, TSR_EOVERFLOW, 0, "reduce: %zu steps of %zu elements exceed %zu bytes",
                        s->n, s->step, SIZE_MAX);
    if (s->outer > 1 && s->stride < span)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "reduce: stride %zu is below the %zu elements of one result or row of them",
                        s->stride, span);
    return TSR_OK;
}

static tsr_status check(const problem *q, tsr_error *err)
{
    static const char *const names[] = {
        [TSR_REDUCE_MIN] = "minimum",
        [TSR_REDUCE_MAX] = "maximum",
        [TSR_REDUCE_ARGMIN] = "index of a minimum",
        [TSR_REDUCE_ARGMAX] = "index of a maximum",
    };
    const tsr_reduce_problem *p = reduce_of(q);
    const reduce_shape s = reduce_shape_of(p);
    tsr_status st;
    size_t bytes;

    if (operation_check_type(q->op, p->type, err))
        return TSR_EINVAL;
    if (p->by > TSR_REDUCE_COUNT)
        return tsr_fail(err, TSR_EINVAL, 0, "reduce: reduction %zu does not exist", p->by);
    if (p->n == 0 && p->by < ARRAY_COUNT(names) && names[p->by])
        return tsr_fail(err, TSR_EINVAL, 0,
                        "reduce: the array is empty, and an empty array has no %s", names[p->by]);
    if (!size_mul(s.outer, s.inner, &bytes) || (p->stride == 0 && !size_mul(s.n, s.step, &bytes)))
        return tsr_fail(err, TSR_EOVERFLOW, 0, "reduce: %zu x %zu x %zu elements exceed %zu bytes",
                        s.outer, s.n, s.inner, SIZE_MAX);
    st = check_strides(&s, err);
    if (!st) {
        const view x = reduce_x(p), result = reduce_result(p);

        if (!view_extent(&x, &bytes) || !view_extent(&result, &bytes))
            st = tsr_fail(err, TSR_EOVERFLOW, 0,
                          "reduce: %zu x %zu x %zu elements (offsets %zu and %zu) exceed %zu bytes",
                          s.outer, s.n, s.inner, p->offset_x, p->offset_result, SIZE_MAX);
    }
    return st;
}

static size_t operands(const problem *q, operand out[OPERANDS_MAX])
{
    const view x = reduce_x(reduce_of(q)), result = reduce_result(reduce_of(q));

    out[REDUCE_X] = view_operand("x", &x, ACCESS_READ);
    out[REDUCE_RESULT] = view_operand("result", &result, ACCESS_WRITE);
    out[REDUCE_RESULT].whole = true;
    out[REDUCE_RESULT].read_back = true;
    return 2;
}

static double elements(const tsr_reduce_problem *p)
{
    const view x = reduce_x(p);

    return view_elements(&x);
}

static double work(const problem *p)
{
    return elements(reduce_of(p));
}

static double traffic(const problem *q)
{
    const tsr_reduce_problem *p = reduce_of(q);
    const view result = reduce_result(p);

    return (double)tsr_type_size(p->type) * elements(p) +
           (double)tsr_type_size(result.type) * view_elements(&result);
}

static size_t prefer(const problem *p, const device_facts *d, const char *out[PREFERENCES_MAX])
{
    const tsr_reduce_problem *r = reduce_of(p);
    size_t n = 0;

    if (d->kind == DEVICE_HOST) {
        out[n++] = "simd";
        out[n++] = "loop";
        return n;
    }
    if (d->kind != DEVICE_CPU && reduce_is_whole(r))
        out[n++] = "whole";
    if (reduce_is_plain(r)) {
        out[n++] = "vector";
        out[n++] = "tree";
    }
    out[n++] = "rows";
    out[n++] = "columns";
    return n;
}

/* It is as fast as memory at any size.  On two cores (PoCL 3.1) 10^8 elements of float32 take it 18
 * ms, and `vector`, whose work-items take turns at lines of the cache, 106. */
static const char *prefer_c(const problem *p, const device_facts *d)
{
    (void)p, (void)d;
    return "simd";
}

/* On a CPU C runs while a kernel that a tuning entry names is compiled.  On a GPU a probe would
 * have to be compiled for the last group of what runs fastest; a second launch needs none. */
static const char *prefer_first(const problem *p, const device_facts *d)
{
    if (d->kind == DEVICE_CPU)
        return "simd";
    if (work(p) > REDUCE_FIRST_CALL_ELEMENTS || !reduce_is_whole(reduce_of(p)))
        return NULL;
    return reduce_is_plain(reduce_of(p)) ? "tree" : "rows";
}

const operation operation_reduce = {
    .name = "reduce",
    .idea = "result := x[0] op x[1] op ..., of an array or along an axis",
    .unit = WORK_BYTES,
    .types = SINGLE_TYPES,
    .default_type = TSR_F32,
    .result = REDUCE_RESULT,
    .command = &reduce_command,
    .variants = variants,
    .variant_count = ARRAY_COUNT(variants),
    .check = check,
    .operands = operands,
    .partition = reduce_partition,
    .work = work,
    .bytes = traffic,
    .describe = reduce_describe,
    .classify = reduce_classify,
    .class_text = reduce_class_text,
    .size_text = reduce_size_text,
    .shrink = reduce_shrink,
    .prefer = prefer,
    .prefer_c = prefer_c,
    .prefer_first = prefer_first,
    .fill = reduce_fill,
    .sweep = reduce_sweep,
    .verify = reduce_verify,
};
