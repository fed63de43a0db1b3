#include "cli/operands.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "file/block.h"

enum { SHAPE_SIZE = 64 };

/* "3x4", or "12 elements", for messages. */
static const char *shape_of(const array *a, char out[SHAPE_SIZE])
{
    if (a->rank == 2)
        snprintf(out, SHAPE_SIZE, "%zux%zu", a->shape[0], a->shape[1]);
    else if (a->rank == 1)
        snprintf(out, SHAPE_SIZE, "a vector of %zu", a->shape[0]);
    else
        snprintf(out, SHAPE_SIZE, "a scalar");
    return out;
}

const char *input_name(const char *file)
{
    return file && !strcmp(file, "-") ? "standard input" : file;
}

/* Whether an operation takes operands of a type; matmul and matvec compute, sort compares. */
static bool takes_type(const operation *op, tsr_type type)
{
    if (type == TSR_F32 || type == TSR_F64)
        return true;
    return op == &operation_sort &&
           (type == TSR_I32 || type == TSR_U32 || type == TSR_I64 || type == TSR_U64);
}

/* What the command line does about a type or precision that the operation refuses. */
static tsr_status check_type(const operation *op, const options *o, const char *file, tsr_type type,
                             tsr_error *err)
{
    const bool f64 = type == TSR_F64;

    if (!takes_type(op, type))
        return tsr_fail(err, TSR_EINVAL, 0,
                        "%s is %s, and %s takes %sfloat32 or float64; --as f32 or --as f64 "
                        "converts",
                        input_name(file), tsr_type_name(type), op->name,
                        op == &operation_sort ? "int32, uint32, int64, uint64, " : "");
    if (o->given[OPTION_PRECISION] && f64 != (o->precision == TSR_PRECISION_F64))
        return tsr_fail(err, TSR_EINVAL, 0,
                        "precision %s does not go with %s operands; --as %s converts them",
                        tsr_precision_name(o->precision), tsr_type_name(type), f64 ? "f32" : "f64");
    return TSR_OK;
}

/* Read `count` files, NULL for one that is not given, into arrays of one type. */
static tsr_status read_files(const operation *op, const options *o, const char *const files[],
                             size_t count, array *out, tsr_error *err)
{
    size_t first = 0;

    for (size_t i = 0; i < count; i++) {
        tsr_status st = files[i] ? array_read(files[i], &out[i], err) : TSR_OK;

        if (!st && files[i] && o->given[OPTION_AS])
            st = array_convert(&out[i], o->as, err);
        if (st)
            return st;
    }
    for (size_t i = 1; i < count; i++) {
        if (files[i] && out[i].type != out[first].type)
            return tsr_fail(err, TSR_EINVAL, 0,
                            "%s is %s and %s is %s; --as f32 or --as f64 converts",
                            input_name(files[first]), tsr_type_name(out[first].type),
                            input_name(files[i]), tsr_type_name(out[i].type));
    }
    return check_type(op, o, files[first], out[first].type, err);
}

/* `hint` follows the message. */
static tsr_status need_matrix(const char *file, const array *a, const char *hint, tsr_error *err)
{
    char shape[SHAPE_SIZE];

    if (a->rank == 2)
        return TSR_OK;
    return tsr_fail(err, TSR_EINVAL, 0, "%s is %s, and a matrix of rank 2 is needed%s",
                    input_name(file), shape_of(a, shape), hint);
}

/* A vector, or a matrix that is one because it has one column or one row. */
static tsr_status need_vector(const char *file, array *a, const char *hint, tsr_error *err)
{
    char shape[SHAPE_SIZE];

    if (a->rank == 2 && (a->shape[0] == 1 || a->shape[1] == 1)) {
        a->shape[0] *= a->shape[1];
        a->shape[1] = 1;
        a->rank = 1;
    }
    if (a->rank == 1)
        return TSR_OK;
    return tsr_fail(err, TSR_EINVAL, 0, "%s is %s, and a vector is needed%s", input_name(file),
                    shape_of(a, shape), hint);
}

/* An array of zeros of a shape. */
static tsr_status make_zeros(tsr_type type, unsigned rank, size_t rows, size_t columns, array *out,
                             tsr_error *err)
{
    array a = {.type = type, .rank = rank, .shape = {rows, columns}};
    char name[96];
    size_t bytes = 0;
    tsr_status st;

    if (!size_mul(rows, columns, &bytes) || !size_mul(bytes, tsr_type_size(type), &bytes))
        return tsr_fail(err, TSR_EOVERFLOW, 0, "the result, %zux%zu %s, has too many elements",
                        rows, columns, tsr_type_name(type));
    if (bytes) {
        snprintf(name, sizeof name, "the result, %zux%zu %s", rows, columns, tsr_type_name(type));
        st = block_allocate(name, bytes, &a.data, err);
        if (st)
            return st;
        memset(a.data, 0, bytes);
    }
    *out = a;
    return TSR_OK;
}

/* The result starts as what --add names, whose shape has been checked, or as zeros. */
static tsr_status start_result(const options *o, unsigned rank, size_t rows, size_t columns,
                               tsr_type type, array *result, tsr_error *err)
{
    if (o->given[OPTION_ADD] && o->beta != 0)
        return TSR_OK;
    array_free(result);
    return make_zeros(type, rank, rows, columns, result, err);
}

static tsr_status load_matmul(const options *o, operands *x, tsr_error *err)
{
    const char *const files[] = {o->operand[0], o->operand[1], o->value[OPTION_ADD]};
    const bool trans_a = o->given[OPTION_TRANS_A], trans_b = o->given[OPTION_TRANS_B];
    array *a = &x->array[0], *b = &x->array[1], *c = &x->array[2];
    tsr_matmul_problem *p = &x->problem.matmul;
    char left[SHAPE_SIZE], right[SHAPE_SIZE];
    tsr_status st = read_files(&operation_matmul, o, files, 3, x->array, err);

    for (size_t i = 0; !st && i < 3; i++) {
        bool vector = i < 2 && x->array[i].rank == 1;

        if (files[i])
            st = need_matrix(files[i], &x->array[i],
                             vector ? "; matvec multiplies a matrix by a vector" : "", err);
    }
    if (st)
        return st;
    *p = (tsr_matmul_problem){.type = a->type,
                              .precision = o->precision,
                              .m = a->shape[trans_a],
                              .n = b->shape[!trans_b],
                              .k = a->shape[!trans_a],
                              .trans_a = trans_a,
                              .trans_b = trans_b,
                              .alpha = o->alpha,
                              .beta = o->beta};
    if (b->shape[trans_b] != p->k)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "shapes do not match: %s is %s%s and %s is %s%s, inner lengths %zu and %zu",
                        input_name(files[0]), shape_of(a, left), trans_a ? " transposed" : "",
                        input_name(files[1]), shape_of(b, right), trans_b ? " transposed" : "",
                        p->k, b->shape[trans_b]);
    if (files[2] && (c->shape[0] != p->m || c->shape[1] != p->n))
        return tsr_fail(err, TSR_EINVAL, 0,
                        "shapes do not match: %s is %s and the product of %s and %s is %zux%zu",
                        input_name(files[2]), shape_of(c, left), input_name(files[0]),
                        input_name(files[1]), p->m, p->n);
    return start_result(o, 2, p->m, p->n, p->type, c, err);
}

static tsr_status load_matvec(const options *o, operands *x, tsr_error *err)
{
    const char *const files[] = {o->operand[0], o->operand[1], o->value[OPTION_ADD]};
    const bool trans = o->given[OPTION_TRANS];
    array *a = &x->array[0], *v = &x->array[1], *y = &x->array[2];
    tsr_matvec_problem *p = &x->problem.matvec;
    char shape[SHAPE_SIZE];
    tsr_status st = read_files(&operation_matvec, o, files, 3, x->array, err);
    size_t rows;

    st = st ? st : need_matrix(files[0], a, "", err);
    st = st ? st : need_vector(files[1], v, "; matmul multiplies matrices", err);
    if (!st && files[2])
        st = need_vector(files[2], y, "", err);
    if (st)
        return st;
    *p = (tsr_matvec_problem){.type = a->type,
                              .precision = o->precision,
                              .rows = a->shape[0],
                              .columns = a->shape[1],
                              .trans = trans,
                              .alpha = o->alpha,
                              .beta = o->beta};
    rows = a->shape[trans];
    if (v->shape[0] != a->shape[!trans])
        return tsr_fail(err, TSR_EINVAL, 0,
                        "shapes do not match: %s is %s%s and %s has %zu elements, not %zu",
                        input_name(files[0]), shape_of(a, shape), trans ? " transposed" : "",
                        input_name(files[1]), v->shape[0], a->shape[!trans]);
    if (files[2] && y->shape[0] != rows)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "shapes do not match: %s has %zu elements and the product of %s and %s %zu",
                        input_name(files[2]), y->shape[0], input_name(files[0]),
                        input_name(files[1]), rows);
    return start_result(o, 1, rows, 1, p->type, y, err);
}

static tsr_status load_sort(const options *o, operands *x, tsr_error *err)
{
    array *keys = &x->array[0];
    tsr_status st = read_files(&operation_sort, o, o->operand, 1, keys, err);

    if (!st)
        st = need_vector(o->operand[0], keys,
                         keys->rank == 2 ? "; rows of a matrix are not sorted" : "", err);
    if (st)
        return st;
    x->problem.sort = (tsr_sort_problem){.type = keys->type,
                                         .n = keys->shape[0],
                                         .descending = o->given[OPTION_DESCENDING],
                                         .argsort = o->given[OPTION_ARGSORT]};
    if (!o->given[OPTION_ARGSORT])
        return TSR_OK;
    return make_zeros(TSR_I64, 1, keys->shape[0], 1, &x->array[1], err);
}

tsr_status operands_load(const operation *op, const options *o, operands *out, tsr_error *err)
{
    static const struct {
        const operation *op;
        tsr_status (*load)(const options *o, operands *x, tsr_error *err);
    } loaders[] = {{&operation_matmul, load_matmul},
                   {&operation_matvec, load_matvec},
                   {&operation_sort, load_sort}};
    tsr_status st = TSR_OK;

    *out = (operands){.problem = {.op = op}};
    for (size_t i = 0; i < sizeof loaders / sizeof *loaders; i++) {
        if (loaders[i].op == op)
            st = loaders[i].load(o, out, err);
    }
    st = st ? st : op->check(&out->problem, err);
    if (!st)
        out->count = op->operands(&out->problem, out->operand);
    return st;
}

void operands_free(operands *x)
{
    for (size_t i = 0; i < OPERANDS_MAX; i++)
        array_free(&x->array[i]);
}
