#include "cli/bench_problem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "cli/operands.h"
#include "ops/matmul/matmul_shape.h"
#include "ops/matvec/matvec_shape.h"
#include "ops/sort/sort_order.h"

enum { DIMENSIONS_MAX = 3 };

/* What comes of reading numbers. */
typedef enum outcome { READ, MALFORMED, TOO_LARGE } outcome;

static outcome read_digits(const char **at, size_t *out)
{
    size_t n = 0;

    if (!isdigit((unsigned char)**at))
        return MALFORMED;
    for (; isdigit((unsigned char)**at); ++*at)
        if (!size_mul(n, 10, &n) || !size_add(n, (size_t)(**at - '0'), &n))
            return TOO_LARGE;
    *out = n;
    return READ;
}

static outcome read_power(size_t base, size_t exponent, size_t *out)
{
    size_t n = 1;

    if (base < 2 && exponent)
        n = base;
    for (size_t i = 0; base >= 2 && i < exponent; i++)
        if (!size_mul(n, base, &n))
            return TOO_LARGE;
    *out = n;
    return READ;
}

/* "1024", "10M" or "2^24"; *at moves behind it. */
static outcome read_number(const char **at, size_t *out)
{
    size_t exponent, factor = 1;
    outcome got = read_digits(at, out);

    if (got != READ)
        return got;
    if (**at == '^') {
        ++*at;
        got = read_digits(at, &exponent);
        return got == READ ? read_power(*out, exponent, out) : got;
    }
    if (**at == 'k' || **at == 'K')
        factor = 1000;
    else if (**at == 'M')
        factor = 1000000;
    else if (**at == 'G')
        factor = 1000000000;
    if (factor > 1)
        ++*at;
    return size_mul(*out, factor, out) ? READ : TOO_LARGE;
}

/* The dimensions of a size, 1 to 3 of them. */
static outcome read_dimensions(const char *size, size_t out[DIMENSIONS_MAX], size_t *count)
{
    for (*count = 0; *count < DIMENSIONS_MAX;) {
        const outcome got = read_number(&size, &out[(*count)++]);

        if (got != READ || !*size)
            return got;
        if (*size != 'x' && *size != 'X')
            return MALFORMED;
        size++;
    }
    return MALFORMED;
}

/* A lone number, or `wanted` of them. */
static tsr_status read_size(const operation *op, const char *size, size_t wanted, const char *form,
                            size_t out[DIMENSIONS_MAX], size_t *count, tsr_error *err)
{
    const outcome got = read_dimensions(size, out, count);

    if (got == TOO_LARGE)
        return tsr_fail(err, TSR_ENAME, 0, "--size '%s' is too large: a number is at most %zu",
                        size, SIZE_MAX);
    if (got == READ && (*count == 1 || *count == wanted))
        return TSR_OK;
    return tsr_fail(err, TSR_ENAME, 0, "--size '%s' is no size of a %s, which is %s", size,
                    op->name, form);
}

/* Nothing is measured on a problem of nothing; `verify` has empty ones too. */
static tsr_status check_full(const operation *op, const char *size, size_t count,
                             const size_t n[DIMENSIONS_MAX], tsr_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (n[i] == 0)
            return tsr_fail(err, TSR_ENAME, 0,
                            "--size '%s' is an empty %s: there is nothing to measure", size,
                            op->name);
    return TSR_OK;
}

/* The first option given that the operation has no use for. */
static tsr_status check_options(const operation *op, const options *o, tsr_error *err)
{
    static const struct {
        option_id id;
        const operation *op, *also; /* NULL: overlap */
    } only[] = {
        {OPTION_TRANS_A, &operation_matmul, NULL},
        {OPTION_TRANS_B, &operation_matmul, NULL},
        {OPTION_TRANS, &operation_matvec, NULL},
        {OPTION_BATCH, &operation_matmul, &operation_matvec},
        {OPTION_OUT_TYPE, &operation_matmul, &operation_matvec},
        {OPTION_PRECISION, &operation_matmul, &operation_matvec},
        {OPTION_WITH_INDEX, &operation_sort, NULL},
        {OPTION_DESCENDING, &operation_sort, NULL},
        {OPTION_SEGMENT_LENGTHS, &operation_sort, NULL},
        {OPTION_TOP, &operation_sort, NULL},
        {OPTION_VALUE_BYTES, &operation_sort, NULL},
        {OPTION_ORDER, &operation_sort, NULL},
        {OPTION_QUEUES, NULL, NULL},
        {OPTION_CHUNKS, NULL, NULL},
        {OPTION_PINNED, NULL, NULL},
        {OPTION_ROUNDS, NULL, NULL},
    };

    for (size_t i = 0; i < sizeof only / sizeof *only; i++) {
        const operation *owner = only[i].op, *also = only[i].also;

        if (o->given[only[i].id] && owner != op && also != op)
            return tsr_fail(err, TSR_ENAME, 0, "%s has no --%s, which is of %s%s%s", op->name,
                            option_name(only[i].id), owner ? owner->name : "overlap",
                            also ? " and " : "", also ? also->name : "");
    }
    return TSR_OK;
}

static tsr_type type_wanted(const operation *op, const options *o)
{
    if (o->given[OPTION_TYPE])
        return o->type;
    if (op == &operation_sort)
        return TSR_U32;
    return o->precision == TSR_PRECISION_F64 ? TSR_F64 : TSR_F32;
}

static tsr_status too_large(const char *size, tsr_error *err)
{
    return tsr_fail(err, TSR_EOVERFLOW, 0,
                    "--size '%s' is too large: a matrix has at most %zu elements", size, SIZE_MAX);
}

/* Matrices that follow one another without gaps. */
static tsr_status lay_out_batch(const char *size, tsr_matmul_problem *p, tsr_error *err)
{
    if (size_mul(p->m, p->k, &p->stride_a) && size_mul(p->k, p->n, &p->stride_b) &&
        size_mul(p->m, p->n, &p->stride_c))
        return TSR_OK;
    return too_large(size, err);
}

/* The same, and a vector for each. */
static tsr_status lay_out_vectors(const char *size, tsr_matvec_problem *p, tsr_error *err)
{
    p->stride_x = p->trans ? p->rows : p->columns;
    p->stride_y = p->trans ? p->columns : p->rows;
    return size_mul(p->rows, p->columns, &p->stride_a) ? TSR_OK : too_large(size, err);
}

static tsr_status read_sort(const char *size, const options *o, size_t n[DIMENSIONS_MAX],
                            size_t *count, tsr_sort_problem *out, tsr_error *err)
{
    const bool segments = o->given[OPTION_SEGMENT_LENGTHS];
    tsr_status st =
        read_size(&operation_sort, size, 2, "a number of keys, or ROWSxKEYS", n, count, err);

    *out = (tsr_sort_problem){.type = type_wanted(&operation_sort, o),
                              .n = *count == 1 ? n[0] : n[1],
                              .rows = *count == 1 ? 0 : n[0],
                              .descending = o->given[OPTION_DESCENDING],
                              .argsort = o->given[OPTION_WITH_INDEX],
                              .value_bytes = o->value_bytes,
                              .top = o->top};
    if (st || !segments)
        return st;
    if (*count == 1)
        return tsr_fail(err, TSR_ENAME, 0,
                        "--segments %s needs a --size of SEGMENTSxKEYS, their mean length, not "
                        "'%s'",
                        o->value[OPTION_SEGMENT_LENGTHS], size);
    out->rows = 0;
    out->segments = n[0];
    if (!size_mul(n[0], n[1], &out->n) || !size_mul(n[1], o->segment_spread, &out->segment_longest))
        return tsr_fail(err, TSR_ENAME, 0, "--size '%s' is too large: there are at most %zu keys",
                        size, SIZE_MAX);
    return TSR_OK;
}

/* The problem is made of the command line alone, so what is wrong with it is too. */
static tsr_status blame_command_line(tsr_error *err)
{
    if (err)
        err->status = TSR_ENAME;
    return TSR_ENAME;
}

static tsr_matvec_problem matvec_wanted(const options *o, size_t rows, size_t columns)
{
    return (tsr_matvec_problem){.type = type_wanted(&operation_matvec, o),
                                .precision = o->precision,
                                .rows = rows,
                                .columns = columns,
                                .trans = o->given[OPTION_TRANS],
                                .alpha = 1,
                                .y_f32 = o->given[OPTION_OUT_TYPE],
                                .batch = o->batch};
}

tsr_status bench_problem(const operation *op, const char *size, const options *o, problem *out,
                         tsr_error *err)
{
    size_t n[DIMENSIONS_MAX] = {0}, count = 0;
    tsr_status st = check_options(op, o, err);

    if (st)
        return st;
    if (!size)
        size = op == &operation_matmul            ? "1024"
               : op == &operation_matvec          ? "4096"
               : o->given[OPTION_SEGMENT_LENGTHS] ? "100kx100"
                                                  : "10M";
    *out = (problem){.op = op, .inputs = o->order};
    if (op == &operation_matmul) {
        st = read_size(op, size, 3, "n or MxNxK", n, &count, err);
        *matmul_in(out) = (tsr_matmul_problem){.type = type_wanted(op, o),
                                               .precision = o->precision,
                                               .m = n[0],
                                               .n = count == 1 ? n[0] : n[1],
                                               .k = count == 1 ? n[0] : n[2],
                                               .trans_a = o->given[OPTION_TRANS_A],
                                               .trans_b = o->given[OPTION_TRANS_B],
                                               .alpha = 1,
                                               .c_f32 = o->given[OPTION_OUT_TYPE],
                                               .batch = o->batch};
        if (!st)
            st = lay_out_batch(size, matmul_in(out), err);
    } else if (op == &operation_matvec) {
        st = read_size(op, size, 2, "n or ROWSxCOLUMNS", n, &count, err);
        *matvec_in(out) = matvec_wanted(o, n[0], count == 1 ? n[0] : n[1]);
        st = st ? st
                : operands_check_rounding(op, matvec_of(out)->type, matvec_of(out)->precision, err);
        st = st ? st : lay_out_vectors(size, matvec_in(out), err);
    } else {
        st = read_sort(size, o, n, &count, sort_in(out), err);
    }
    st = st ? st : check_full(op, size, count, n, err);
    st = st ? st : op->check(out, err);
    return st ? blame_command_line(err) : TSR_OK;
}

tsr_status bench_words(const char *size, size_t *out, tsr_error *err)
{
    size_t n[DIMENSIONS_MAX] = {0}, count = 0;
    const outcome got = read_dimensions(size, n, &count);

    if (got == TOO_LARGE)
        return tsr_fail(err, TSR_ENAME, 0, "--size '%s' is too large: a number is at most %zu",
                        size, SIZE_MAX);
    if (got != READ || count != 1 || n[0] == 0)
        return tsr_fail(err, TSR_ENAME, 0,
                        "--size '%s' is no size of overlap, which is a number "
                        "of 4-byte words above 0",
                        size);
    *out = n[0];
    return TSR_OK;
}
