#include "cli/operands.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "cli/messages.h"
#include "core/real.h"
#include "file/block.h"
#include "ops/matmul/matmul_shape.h"
#include "ops/matvec/matvec_shape.h"
#include "ops/sort/sort_order.h"
#include "ops/sort/sort_segments.h"

enum { SHAPE_SIZE = 72 };

/* "3x4", or "12 elements", for messages. */
static const char *shape_of(const array *a, char out[SHAPE_SIZE])
{
    if (a->rank == 3)
        snprintf(out, SHAPE_SIZE, "%zux%zux%zu", a->shape[0], a->shape[1], a->shape[2]);
    else if (a->rank == 2)
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
    if (op == &operation_sort)
        return sort_takes(type);
    return type == TSR_F32 || type == TSR_F64 || type == TSR_F16 || type == TSR_BF16;
}

tsr_status operands_check_rounding(const operation *op, tsr_type type, tsr_precision precision,
                                   tsr_error *err)
{
    if (op == &operation_matmul || !(real_rounding(type, precision) > 0))
        return TSR_OK;
    return tsr_fail(err, TSR_ENAME, 0,
                    "precision %s does not go with %s operands of %s: matmul alone rounds factors",
                    tsr_precision_name(precision), tsr_type_name(type), op->name);
}

/* What the command line does about a type or precision that the operation refuses. */
static tsr_status check_type(const operation *op, const options *o, const char *file, tsr_type type,
                             tsr_error *err)
{
    if (!takes_type(op, type))
        return tsr_fail(err, TSR_EINVAL, 0,
                        "%s is %s, and %s takes %sfloat32 or float64; --as f32 or --as f64 "
                        "converts",
                        input_name(file), tsr_type_name(type), op->name,
                        op == &operation_sort ? "int8 to int64, uint8 to uint64, float16, "
                                              : "float16, bfloat16, ");
    if (!o->given[OPTION_PRECISION])
        return TSR_OK;
    if (real_check(op->name, type, o->precision, NULL))
        return tsr_fail(err, TSR_ENAME, 0,
                        "precision %s does not go with %s operands; --as %s converts them",
                        tsr_precision_name(o->precision), tsr_type_name(type),
                        o->precision == TSR_PRECISION_F64 ? "f64" : "f32");
    return operands_check_rounding(op, type, o->precision, err);
}

/* Read one file into an array, converted to a type where --as is given. */
static tsr_status read_file(const options *o, const char *file, tsr_type as, array *out,
                            tsr_error *err)
{
    tsr_status st = array_read(file, out, err);
    size_t overflowed = 0;

    if (st)
        return st;
    if (out->type == TSR_BF16 && o->as != TSR_BF16)
        return tsr_fail(
            err, TSR_EINVAL, 0,
            "%s holds two bytes an element and not what they mean; --as bf16 takes them "
            "for bfloat16",
            input_name(file));
    if (o->given[OPTION_AS])
        st = array_convert(out, as, &overflowed, err);
    /* --quiet is for summaries: a result that is right, of other values, looks like any other. */
    if (overflowed)
        warn("%s: %zu of %zu values %s infinite as %s, whose largest is %.6g", input_name(file),
             overflowed, array_count(out), overflowed == 1 ? "is" : "are", tsr_type_name(as),
             real_most(as));
    return st;
}

/* Read `count` files, NULL for one that is not given, into arrays of one type; what --add names,
 * the third, is of the result's. */
static tsr_status read_files(const operation *op, const options *o, const char *const files[],
                             size_t count, array *out, tsr_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const bool wide = i == 2 && o->given[OPTION_OUT_TYPE];
        tsr_status st =
            files[i] ? read_file(o, files[i], wide ? TSR_F32 : o->as, &out[i], err) : TSR_OK;

        if (st)
            return st;
        if (files[i] && wide && out[i].type != TSR_F32)
            return tsr_fail(err, TSR_EINVAL, 0,
                            "%s is %s, and with --out-type f32 what is added is float32; --as "
                            "converts",
                            input_name(files[i]), tsr_type_name(out[i].type));
        if (files[i] && !wide && out[i].type != out[0].type)
            return tsr_fail(err, TSR_EINVAL, 0,
                            "%s is %s and %s is %s; --as f32 or --as f64 converts",
                            input_name(files[0]), tsr_type_name(out[0].type), input_name(files[i]),
                            tsr_type_name(out[i].type));
    }
    return check_type(op, o, files[0], out[0].type, err);
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
        a->rank = 1;
    }
    if (a->rank == 1)
        return TSR_OK;
    return tsr_fail(err, TSR_EINVAL, 0, "%s is %s, and a vector is needed%s", input_name(file),
                    shape_of(a, shape), hint);
}

/* An array of zeros of a shape: an array without data. */
static tsr_status make_zeros(const array *shape, array *out, tsr_error *err)
{
    char what[SHAPE_SIZE], name[128];
    array a = *shape;
    size_t bytes = tsr_type_size(a.type);
    bool fits = true;
    tsr_status st;

    for (unsigned i = 0; i < a.rank; i++)
        fits = fits && size_mul(bytes, a.shape[i], &bytes);
    snprintf(name, sizeof name, "the result, %s %s", shape_of(&a, what), tsr_type_name(a.type));
    if (!fits)
        return tsr_fail(err, TSR_EOVERFLOW, 0, "%s, has too many elements", name);
    if (bytes) {
        st = block_allocate(name, bytes, &a.data, err);
        if (st)
            return st;
        memset(a.data, 0, bytes);
    }
    *out = a;
    return TSR_OK;
}

/* The result starts as what --add names, whose shape has been checked, or as zeros. */
static tsr_status start_result(const options *o, const array *shape, array *result, tsr_error *err)
{
    if (o->given[OPTION_ADD] && o->beta != 0)
        return TSR_OK;
    array_free(result);
    return make_zeros(shape, result, err);
}

/* A file's matrices: of rank 3 one behind another. */
typedef struct matrices {
    size_t count, rows, columns;
} matrices;

static matrices matrices_of(const array *a)
{
    const size_t *last = a->shape + a->rank - 2;

    return (matrices){a->rank == 3 ? a->shape[0] : 1, last[0], last[1]};
}

/* From matrix to matrix; one of a lone matrix serves every product. */
static size_t stride_of(const matrices *x)
{
    return x->count == 1 ? 0 : x->rows * x->columns;
}

static tsr_status need_matrices(const char *file, const array *a, const char *hint, tsr_error *err)
{
    char shape[SHAPE_SIZE];

    if (a->rank == 2 || a->rank == 3)
        return TSR_OK;
    return tsr_fail(err, TSR_EINVAL, 0, "%s is %s, and a matrix of rank 2 is needed%s",
                    input_name(file), shape_of(a, shape), a->rank == 1 ? hint : "");
}

static bool is_mtx(const char *path)
{
    const size_t length = path ? strlen(path) : 0;

    return length >= 4 && !strcmp(path + length - 4, ".mtx");
}

/* The problem that two operands pose, and the shape of its result. */
static tsr_status pose_matmul(const options *o, const char *const files[], const array *a,
                              const array *b, tsr_matmul_problem *p, array *result, tsr_error *err)
{
    const bool trans_a = o->given[OPTION_TRANS_A], trans_b = o->given[OPTION_TRANS_B];
    const matrices x = matrices_of(a), y = matrices_of(b);
    const size_t batch = x.count == 1 ? y.count : x.count;
    char left[SHAPE_SIZE], right[SHAPE_SIZE];

    *p = (tsr_matmul_problem){.type = a->type,
                              .precision = o->precision,
                              .m = trans_a ? x.columns : x.rows,
                              .n = trans_b ? y.rows : y.columns,
                              .k = trans_a ? x.rows : x.columns,
                              .trans_a = trans_a,
                              .trans_b = trans_b,
                              .alpha = o->alpha,
                              .beta = o->beta,
                              .c_f32 = o->given[OPTION_OUT_TYPE],
                              .batch = batch,
                              .stride_a = stride_of(&x),
                              .stride_b = stride_of(&y)};
    if ((trans_b ? y.columns : y.rows) != p->k)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "shapes do not match: %s is %s%s and %s is %s%s, inner lengths %zu and %zu",
                        input_name(files[0]), shape_of(a, left), trans_a ? " transposed" : "",
                        input_name(files[1]), shape_of(b, right), trans_b ? " transposed" : "",
                        p->k, trans_b ? y.columns : y.rows);
    if ((x.count != batch && x.count != 1) || (y.count != batch && y.count != 1))
        return tsr_fail(err, TSR_EINVAL, 0,
                        "shapes do not match: %s is %s and %s is %s, batches of %zu and %zu",
                        input_name(files[0]), shape_of(a, left), input_name(files[1]),
                        shape_of(b, right), x.count, y.count);
    *result = (array){.type = p->c_f32 ? TSR_F32 : p->type, .rank = 2, .shape = {p->m, p->n}};
    if (a->rank == 3 || b->rank == 3)
        *result = (array){.type = result->type, .rank = 3, .shape = {batch, p->m, p->n}};
    if (result->rank == 3 && is_mtx(o->value[OPTION_OUTPUT]))
        return tsr_fail(err, TSR_EINVAL, 0,
                        "output %s: a .mtx file holds one matrix, and the result is %s",
                        o->value[OPTION_OUTPUT], shape_of(result, left));
    if (!size_mul(p->m, p->n, &p->stride_c))
        p->stride_c = 0; /* the result has too many elements, as it is told when it is made */
    if (batch == 0) {
        p->batch = 1; /* of nothing */
        p->m = 0;
    }
    return TSR_OK;
}

static bool same_shape(const array *a, const array *b)
{
    return a->rank == b->rank && !memcmp(a->shape, b->shape, a->rank * sizeof *a->shape);
}

/* What --add names, against the shape of the result. */
static tsr_status check_added(const char *const files[], array *y, const array *result,
                              tsr_error *err)
{
    char is[SHAPE_SIZE], wanted[SHAPE_SIZE];
    tsr_status st = result->rank == 1 ? need_vector(files[2], y, "", err) : TSR_OK;

    if (st || same_shape(y, result))
        return st;
    if (result->rank == 1)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "shapes do not match: %s has %zu elements and the product of %s and %s %zu",
                        input_name(files[2]), y->shape[0], input_name(files[0]),
                        input_name(files[1]), result->shape[0]);
    return tsr_fail(err, TSR_EINVAL, 0,
                    "shapes do not match: %s is %s and the product of %s and %s is %s",
                    input_name(files[2]), shape_of(y, is), input_name(files[0]),
                    input_name(files[1]), shape_of(result, wanted));
}

static tsr_status load_matmul(const options *o, operands *x, tsr_error *err)
{
    const char *const files[] = {o->operand[0], o->operand[1], o->value[OPTION_ADD]};
    array *c = &x->array[2], result = {.rank = 2};
    tsr_status st = read_files(&operation_matmul, o, files, 3, x->array, err);

    for (size_t i = 0; !st && i < 3; i++)
        if (files[i])
            st = need_matrices(files[i], &x->array[i],
                               i < 2 ? "; matvec multiplies a matrix by a vector" : "", err);
    st = st ? st
            : pose_matmul(o, files, &x->array[0], &x->array[1], matmul_in(&x->problem), &result,
                          err);
    if (!st && files[2])
        st = check_added(files, c, &result, err);
    return st ? st : start_result(o, &result, c, err);
}

/* One vector, or the rows of a matrix. */
typedef struct vectors {
    size_t count, length;
} vectors;

/* x, which a matrix of one column stands for too where its rows have not the length. */
static tsr_status vectors_of(const char *file, size_t length, const char *hint, array *v,
                             vectors *out, tsr_error *err)
{
    const bool rows =
        v->rank == 2 && (v->shape[1] == length || (v->shape[0] != 1 && v->shape[1] != 1));
    tsr_status st = rows ? TSR_OK : need_vector(file, v, hint, err);

    *out = rows ? (vectors){v->shape[0], v->shape[1]} : (vectors){1, v->shape[0]};
    return st;
}

/* The problem that matrices and vectors pose, and the shape of its result. */
static tsr_status pose_matvec(const options *o, const char *const files[], const array *a, array *v,
                              tsr_matvec_problem *p, array *result, tsr_error *err)
{
    const bool trans = o->given[OPTION_TRANS];
    const char *hint = a->rank == 3 ? "" : "; matmul multiplies matrices";
    const matrices m = matrices_of(a);
    const size_t inner = trans ? m.rows : m.columns, outer = trans ? m.columns : m.rows;
    char left[SHAPE_SIZE], right[SHAPE_SIZE];
    size_t batch;
    vectors x;
    tsr_status st = vectors_of(files[1], inner, hint, v, &x, err);

    if (st)
        return st;
    batch = m.count == 1 ? x.count : m.count;
    if (x.count != 1 && x.count != batch)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "shapes do not match: %s is %s and %s is %s, batches of %zu and %zu",
                        input_name(files[0]), shape_of(a, left), input_name(files[1]),
                        shape_of(v, right), m.count, x.count);
    if (x.length != inner)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "shapes do not match: %s is %s%s and %s has %zu elements%s, not %zu%s",
                        input_name(files[0]), shape_of(a, left), trans ? " transposed" : "",
                        input_name(files[1]), x.length, x.count == 1 ? "" : " a row", inner,
                        x.count == 1 ? "" : hint);
    *p = (tsr_matvec_problem){.type = a->type,
                              .precision = o->precision,
                              .rows = m.rows,
                              .columns = m.columns,
                              .trans = trans,
                              .alpha = o->alpha,
                              .beta = o->beta,
                              .y_f32 = o->given[OPTION_OUT_TYPE],
                              .batch = batch,
                              .stride_a = stride_of(&m),
                              .stride_x = x.count == 1 ? 0 : x.length,
                              .stride_y = outer};
    *result = (array){.type = p->y_f32 ? TSR_F32 : p->type, .rank = 1, .shape = {outer}};
    if (a->rank == 3 || x.count != 1)
        *result = (array){.type = result->type, .rank = 2, .shape = {batch, outer}};
    if (batch == 0) {
        p->batch = 1; /* of nothing */
        p->rows = p->columns = 0;
    }
    return TSR_OK;
}

static tsr_status load_matvec(const options *o, operands *x, tsr_error *err)
{
    const char *const files[] = {o->operand[0], o->operand[1], o->value[OPTION_ADD]};
    array *a = &x->array[0], *y = &x->array[2], result = {.rank = 1};
    tsr_status st = read_files(&operation_matvec, o, files, 3, x->array, err);

    st = st ? st : need_matrices(files[0], a, "", err);
    st = st ? st : pose_matvec(o, files, a, &x->array[1], matvec_in(&x->problem), &result, err);
    if (!st && files[2])
        st = check_added(files, y, &result, err);
    return st ? st : start_result(o, &result, y, err);
}

/* Values in the shape of the keys; one dimension more makes each of them several numbers. */
static tsr_status load_values(const options *o, const array *keys, operands *x, tsr_error *err)
{
    const char *const file = o->value[OPTION_VALUES];
    array *v = &x->array[2];
    char own[SHAPE_SIZE], shape[SHAPE_SIZE];
    tsr_status st = array_read_any(file, v, err);
    size_t each, bytes;

    if (st)
        return st;
    if (v->rank < keys->rank || v->rank > keys->rank + 1 ||
        memcmp(v->shape, keys->shape, keys->rank * sizeof *keys->shape) != 0)
        return tsr_fail(
            err, TSR_EINVAL, 0, "shapes do not match: %s is %s, and its keys in %s are %s",
            input_name(file), shape_of(v, own), input_name(o->operand[0]), shape_of(keys, shape));
    each = v->rank > keys->rank ? v->shape[keys->rank] : 1;
    bytes = size_min(each, 16) * size_min(array_element_size(v), 32);
    if (each == 0 || each > 16 || bytes > 16 || (bytes & (bytes - 1)))
        return tsr_fail(err, TSR_EINVAL, 0,
                        "%s has %zu %s for each key, and a value has 1, 2, 4, 8 or 16 bytes",
                        input_name(file), each, array_type_name(v));
    if (v->opaque && is_mtx(o->value[OPTION_VALUES_OUT]))
        return tsr_fail(err, TSR_EINVAL, 0,
                        "output %s: a .mtx file holds real or whole numbers, and %s holds %s",
                        o->value[OPTION_VALUES_OUT], input_name(file), v->descr);
    sort_in(&x->problem)->value_bytes = bytes;
    return TSR_OK;
}

/* Where segments start, and behind the last one the number of keys. */
static tsr_status load_segments(const char *file, operands *x, tsr_error *err)
{
    tsr_sort_problem *s = sort_in(&x->problem);
    array *offsets = &x->array[3];
    tsr_status st = array_read(file, offsets, err);
    size_t longest;

    st = st ? st : need_vector(file, offsets, "", err);
    st = st ? st : array_to_u64(input_name(file), offsets, err);
    if (st)
        return st;
    if (offsets->shape[0] == 0)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "%s is empty, and needs one offset more than there are segments",
                        input_name(file));
    s->segments = offsets->shape[0] - 1;
    return sort_segments_check(s->n, s->segments, offsets->data, &longest, err);
}

static tsr_status load_sort(const options *o, operands *x, tsr_error *err)
{
    const bool rows = o->given[OPTION_ROWS];
    array *keys = &x->array[0], given;
    tsr_status st = read_files(&operation_sort, o, o->operand, 1, keys, err);

    given = *keys;
    if (!st && rows)
        st = need_matrix(o->operand[0], keys, ", whose rows --rows sorts", err);
    else if (!st)
        st = need_vector(o->operand[0], keys,
                         keys->rank != 2             ? ""
                         : o->value[OPTION_SEGMENTS] ? "; --segments are stretches of it"
                                                     : "; --rows sorts each row of a matrix",
                         err);
    if (st)
        return st;
    /* Nothing in no rows, as the problem counts them. */
    *sort_in(&x->problem) = (tsr_sort_problem){.type = keys->type,
                                               .n = rows && !keys->shape[0] ? 0 : keys->shape[rows],
                                               .rows = rows ? keys->shape[0] : 1,
                                               .descending = o->given[OPTION_DESCENDING],
                                               .argsort = o->given[OPTION_ARGSORT],
                                               .top = o->top};
    if (o->given[OPTION_VALUES])
        st = load_values(o, &given, x, err);
    if (!st && o->value[OPTION_SEGMENTS])
        st = load_segments(o->value[OPTION_SEGMENTS], x, err);
    if (st || !o->given[OPTION_ARGSORT])
        return st;
    given = *keys;
    given.type = TSR_I64;
    given.data = NULL;
    return make_zeros(&given, &x->array[1], err);
}

/* The dimension of keys, indices or values along which a row's keys lie; a row of a matrix that
 * stands for a vector is one too. */
static unsigned dimension_of_keys(const array *a, bool rows)
{
    return rows || (a->rank > 1 && a->shape[0] == 1);
}

void operands_cut(operands *x, const options *o)
{
    const tsr_sort_problem *s = sort_of(&x->problem);

    if (!o->top || (s->n && sort_top(s) == s->n))
        return;
    for (size_t i = 0; i < OPERANDS_MAX; i++) {
        array *a = &x->array[i];
        const unsigned along = dimension_of_keys(a, o->given[OPTION_ROWS]);
        const size_t row = a->data ? array_count(a) / sort_rows(s) * array_element_size(a) : 0;
        const size_t kept = a->data ? row / s->n * sort_top(s) : 0;

        if (a->rank == 0)
            continue; /* there is none */
        for (size_t r = 1; a->data && r < sort_rows(s); r++)
            memmove((char *)a->data + r * kept, (char *)a->data + r * row, kept);
        a->shape[along] = size_min(a->shape[along], o->top);
    }
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
