/* B := A^T: the operation. */
#include <string.h>

#include "base/elements.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "ops/transpose/transpose_problem.h"

static const variant *const variants[] = {
    &transpose_loop,    &transpose_simd,     &transpose_read_coalesced, &transpose_write_coalesced,
    &transpose_tile,    &transpose_padded,   &transpose_swizzle,        &transpose_vector,
    &transpose_general, &transpose_in_place,
};

static const char *const names[] = {"A", "B"};

static tsr_status check_matrix(const tsr_transpose_problem *p, size_t which, tsr_error *err)
{
    const stored_matrix m = transpose_stored(p, which);
    const char *name = names[which];
    size_t all, bytes;
    view v;

    if (m.ld < m.columns)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "transpose: a row of %s has %zu elements, and the next starts %zu later",
                        name, m.columns, m.ld);
    if (size_mul(m.rows, m.ld, &all) && size_mul(all, transpose_parts(p), &bytes) &&
        size_mul(size_max(m.offset, m.stride), transpose_parts(p), &bytes)) {
        v = transpose_view(p, which);
        if (view_extent(&v, &bytes)) {
            if (which != TRANSPOSE_B || view_apart(&v, transpose_batch(p)))
                return TSR_OK;
            return tsr_fail(err, TSR_EINVAL, 0,
                            "transpose: the %zu matrices of B overlap: stride_b is %zu, and each "
                            "has %zu rows, %zu elements apart",
                            transpose_batch(p), m.stride, m.rows, m.ld);
        }
    }
    return tsr_fail(err, TSR_EOVERFLOW, 0,
                    "transpose: %s, %zux%zu elements of %zu bytes (rows %zu apart, offset %zu, %zu "
                    "of them with stride %zu), exceeds %zu bytes",
                    name, m.rows, m.columns, transpose_bytes(p), m.ld, m.offset, transpose_batch(p),
                    m.stride, SIZE_MAX);
}

static tsr_status check(const problem *q, tsr_error *err)
{
    const tsr_transpose_problem *p = transpose_of(q);
    tsr_status st = TSR_OK;

    if (operation_check_type(q->op, p->type, err))
        return TSR_EINVAL;
    if (p->element_bytes > ELEMENT_BYTES_MAX)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "transpose: elements have 1 to %d bytes, and these have %zu",
                        (int)ELEMENT_BYTES_MAX, p->element_bytes);
    if (p->in_place && p->rows != p->columns)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "transpose: in place a matrix is square, and this one is %zux%zu", p->rows,
                        p->columns);
    for (size_t i = p->in_place ? TRANSPOSE_B : TRANSPOSE_A; i < TRANSPOSE_OPERANDS && !st; i++)
        st = check_matrix(p, i, err);
    return st;
}

static size_t operands(const problem *q, operand out[OPERANDS_MAX])
{
    const tsr_transpose_problem *p = transpose_of(q);
    const view a = transpose_view(p, TRANSPOSE_A), b = transpose_view(p, TRANSPOSE_B);

    out[TRANSPOSE_A] = view_operand(names[TRANSPOSE_A], &a, ACCESS_READ);
    out[TRANSPOSE_B] =
        view_operand(names[TRANSPOSE_B], &b, p->in_place ? ACCESS_READ_WRITE : ACCESS_WRITE);
    out[TRANSPOSE_B].whole = !p->in_place;
    if (p->in_place)
        out[TRANSPOSE_A].bytes = 0; /* there is none */
    return TRANSPOSE_OPERANDS;
}

static double work(const problem *q)
{
    const tsr_transpose_problem *p = transpose_of(q);

    return (double)p->rows * (double)p->columns * (double)transpose_batch(p);
}

static double traffic(const problem *p)
{
    return 2 * work(p) * (double)transpose_bytes(transpose_of(p));
}

static void describe(const problem *q, text *out)
{
    const tsr_transpose_problem *p = transpose_of(q);
    const stored_matrix a = transpose_stored(p, TRANSPOSE_A), b = transpose_stored(p, TRANSPOSE_B);
    const bool dense = a.stride == a.rows * a.ld && b.stride == b.rows * b.ld;

    text_format(out, "%zux%zu", p->rows, p->columns);
    if (p->element_bytes)
        text_format(out, " of %zu bytes", p->element_bytes);
    else
        text_format(out, " %s", tsr_type_name(p->type));
    if (transpose_batch(p) > 1)
        text_format(out, " x %zu", transpose_batch(p));
    if (p->in_place)
        text_append(out, " in place");
    if (!p->in_place && a.ld > a.columns)
        text_format(out, " lda %zu", a.ld);
    if (b.ld > b.columns)
        text_format(out, " ldb %zu", b.ld);
    if (a.offset || b.offset)
        text_format(out, " offsets %zu %zu", a.offset, b.offset);
    if (transpose_batch(p) > 1 && !dense)
        text_format(out, " strides %zu %zu", a.stride, b.stride);
}

static size_t prefer(const problem *p, const device_facts *d, const char *out[PREFERENCES_MAX])
{
    static const char *const on_host[] = {"simd", "loop"};
    static const char *const of_vectors[] = {"vector", "general", "in-place"};

    const tsr_transpose_problem *t = transpose_of(p);
    /* Rows that begin at multiples of a vector, on both sides. */
    const bool vectors = t->rows % 4 == 0 && t->columns % 4 == 0;

    if (d->kind == DEVICE_HOST) {
        memcpy(out, on_host, sizeof(on_host));
        return ARRAY_COUNT(on_host);
    }
    memcpy(out, of_vectors + !vectors, (vectors ? 3 : 2) * sizeof(*of_vectors));
    return vectors ? 3 : 2;
}

/* It is as fast as memory at any size, and writes results past the caches, which no kernel can. */
static const char *prefer_c(const problem *p, const device_facts *d)
{
    (void)p, (void)d;
    return "simd";
}

const operation operation_transpose = {
    .name = "transpose",
    .idea = "B := A^T",
    .unit = WORK_BYTES,
    .exact = true,
    .types = SINGLE_TYPES,
    .default_type = TSR_F32,
    .result = TRANSPOSE_B,
    .command = &transpose_command,
    .variants = variants,
    .variant_count = ARRAY_COUNT(variants),
    .check = check,
    .operands = operands,
    .partition = transpose_partition,
    .work = work,
    .bytes = traffic,
    .describe = describe,
    .prefer = prefer,
    .prefer_c = prefer_c,
    .fill = transpose_fill,
    .sweep = transpose_sweep,
    .verify = transpose_verify,
};
