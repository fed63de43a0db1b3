/* z := alpha x + y: the operation. */
#include <math.h>
#include <string.h>

#include "base/elements.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "core/real.h"
#include "ops/axpy/axpy_problem.h"

static const variant *const variants[] = {
    &axpy_loop,        &axpy_threads, &axpy_simd,    &axpy_naive,
    &axpy_grid_stride, &axpy_vector,  &axpy_general,
};

static const char *const names[] = {"x", "y", "z"};

/* From -2^63 on, a negative number wraps; 2^63 does as well as its negative. */
uint64_t axpy_whole(double alpha)
{
    return alpha < 0 ? 0 - (uint64_t)-alpha : (uint64_t)alpha;
}

static tsr_status check(const problem *q, tsr_error *err)
{
    const tsr_axpy_problem *p = axpy_of(q);
    size_t bytes;

    if (operation_check_type(q->op, p->type, err))
        return TSR_EINVAL;
    if (type_is_real(p->type)) {
        const tsr_status st = real_check_scale("axpy", "alpha", real_sums(p->type), p->alpha, err);

        if (st)
            return st;
    } else if (!(fabs(p->alpha) <= 0x1p63) || p->alpha != floor(p->alpha)) {
        return tsr_fail(err, TSR_EINVAL, 0,
                        "axpy: alpha = %g, and for %s it must be a whole number from -2^63 to 2^63",
                        p->alpha, tsr_type_name(p->type));
    }
    for (size_t i = 0; i < AXPY_OPERANDS; i++) {
        const view v = axpy_view(p, i);

        if (!view_extent(&v, &bytes))
            return tsr_fail(err, TSR_EOVERFLOW, 0,
                            "axpy: %s of %zu elements (inc%s %zu, offset %zu) exceeds %zu bytes",
                            names[i], p->n, names[i], axpy_inc(p, i), v.offset, SIZE_MAX);
    }
    return TSR_OK;
}

static size_t operands(const problem *q, operand out[OPERANDS_MAX])
{
    const tsr_axpy_problem *p = axpy_of(q);
    const operand_access access[] = {ACCESS_READ, ACCESS_READ,
                                     p->in_place ? ACCESS_READ_WRITE : ACCESS_WRITE};

    for (size_t i = 0; i < AXPY_OPERANDS; i++) {
        const view v = axpy_view(p, i);

        out[i] = view_operand(names[i], &v, access[i]);
    }
    out[AXPY_Z].whole = !p->in_place;
    if (p->in_place)
        out[AXPY_Y].bytes = 0; /* there is none */
    return AXPY_OPERANDS;
}

static size_t *offset(problem *q, size_t i)
{
    tsr_axpy_problem *p = axpy_in(q);

    return i == AXPY_X ? &p->offset_x : i == AXPY_Y ? &p->offset_y : &p->offset_z;
}

static double work(const problem *p)
{
    return 2 * (double)axpy_of(p)->n;
}

static double traffic(const problem *p)
{
    return 3 * (double)axpy_of(p)->n * (double)tsr_type_size(axpy_of(p)->type);
}

static void describe(const problem *q, text *out)
{
    const tsr_axpy_problem *p = axpy_of(q);

    text_format(out, "%zu %s", p->n, tsr_type_name(p->type));
    if (p->alpha != 1)
        text_format(out, " alpha %g", p->alpha);
    if (p->in_place)
        text_append(out, " in place");
    if (!axpy_is_dense(p))
        text_format(out, " inc %zu %zu %zu", axpy_inc(p, AXPY_X), axpy_inc(p, AXPY_Y),
                    axpy_inc(p, AXPY_Z));
    if (p->offset_x || p->offset_y || p->offset_z)
        text_format(out, " offsets %zu %zu %zu", p->offset_x, p->offset_y, p->offset_z);
}

static size_t prefer(const problem *p, const device_facts *d, const char *out[PREFERENCES_MAX])
{
    static const char *const on_host[] = {"simd", "threads", "loop"}, *const on_device[] = {
                                                                          "general", "vector",
                                                                          "grid-stride", "naive"};

    (void)p;
    if (d->kind == DEVICE_HOST) {
        memcpy(out, on_host, sizeof(on_host));
        return ARRAY_COUNT(on_host);
    }
    memcpy(out, on_device, sizeof(on_device));
    return ARRAY_COUNT(on_device);
}

/* It is as fast as memory at any size, and writes results past the caches, which no kernel can. */
static const char *prefer_c(const problem *p, const device_facts *d)
{
    (void)p, (void)d;
    return "simd";
}

const operation operation_axpy = {
    .name = "axpy",
    .idea = "z := alpha x + y",
    .unit = WORK_BYTES,
    .types = SINGLE_TYPES,
    .default_type = TSR_F32,
    .result = AXPY_Z,
    .command = &axpy_command,
    .variants = variants,
    .variant_count = ARRAY_COUNT(variants),
    .check = check,
    .operands = operands,
    .offset = offset,
    .partition = axpy_partition,
    .work = work,
    .bytes = traffic,
    .describe = describe,
    .prefer = prefer,
    .prefer_c = prefer_c,
    .fill = axpy_fill,
    .sweep = axpy_sweep,
    .verify = axpy_verify,
};
