#include "core/posing.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "core/fields.h"
#include "file/block.h"

const char *shape_text(const array *a, char out[SHAPE_SIZE])
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

bool names_mtx(const char *path)
{
    const size_t length = path ? strlen(path) : 0;

    return length >= 4 && !strcmp(path + length - 4, ".mtx");
}

tsr_status need_matrix(const posing *x, unsigned i, const char *hint, tsr_error *err)
{
    char shape[SHAPE_SIZE];

    if (x->array[i].rank == 2)
        return TSR_OK;
    return tsr_fail(err, TSR_EINVAL, 0, "%s is %s, and a matrix of rank 2 is needed%s", x->file[i],
                    shape_text(&x->array[i], shape), hint);
}

tsr_status need_matrices(const posing *x, unsigned i, const char *hint, tsr_error *err)
{
    const unsigned rank = x->array[i].rank;

    return rank == 3 ? TSR_OK : need_matrix(x, i, rank == 1 ? hint : "", err);
}

tsr_status need_vector(posing *x, unsigned i, const char *hint, tsr_error *err)
{
    array *a = &x->array[i];
    char shape[SHAPE_SIZE];

    if (a->rank == 2 && (a->shape[0] == 1 || a->shape[1] == 1)) {
        a->shape[0] *= a->shape[1];
        a->rank = 1;
    }
    if (a->rank == 1)
        return TSR_OK;
    return tsr_fail(err, TSR_EINVAL, 0, "%s is %s, and a vector is needed%s", x->file[i],
                    shape_text(a, shape), hint);
}

tsr_status make_zeros(const array *shape, array *out, tsr_error *err)
{
    char what[SHAPE_SIZE], name[128];
    array a = *shape;
    size_t bytes = tsr_type_size(a.type);
    bool fits = true;
    tsr_status st;

    for (unsigned i = 0; i < a.rank; i++)
        fits = fits && size_mul(bytes, a.shape[i], &bytes);
    snprintf(name, sizeof name, "the result, %s %s", shape_text(&a, what), tsr_type_name(a.type));
    if (!fits)
        return tsr_fail(err, TSR_EOVERFLOW, 0, "%s, has too many elements", name);
    a.data = NULL;
    if (bytes) {
        st = block_allocate(name, bytes, &a.data, err);
        if (st)
            return st;
        memset(a.data, 0, bytes);
    }
    *out = a;
    return TSR_OK;
}

matrices matrices_of(const array *a)
{
    const size_t *last = a->shape + a->rank - 2;

    return (matrices){a->rank == 3 ? a->shape[0] : 1, last[0], last[1]};
}

size_t matrices_stride(const matrices *x)
{
    return x->count == 1 ? 0 : x->rows * x->columns;
}

/* What is added, against the shape of the result. */
static tsr_status check_added(posing *x, const array *result, tsr_error *err)
{
    array *added = &x->array[2];
    char is[SHAPE_SIZE], wanted[SHAPE_SIZE];
    tsr_status st = result->rank == 1 ? need_vector(x, 2, "", err) : TSR_OK;

    if (st || (added->rank == result->rank &&
               !memcmp(added->shape, result->shape, result->rank * sizeof *result->shape)))
        return st;
    if (result->rank == 1)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "shapes do not match: %s has %zu elements and the product of %s and %s %zu",
                        x->file[2], added->shape[0], x->file[0], x->file[1], result->shape[0]);
    return tsr_fail(err, TSR_EINVAL, 0,
                    "shapes do not match: %s is %s and the product of %s and %s is %s", x->file[2],
                    shape_text(added, is), x->file[0], x->file[1], shape_text(result, wanted));
}

const field_choice product_out_types[] = {{"f32", true}, {"float32", true}, {NULL, 0}};

tsr_status start_product(posing *x, const array *shape, double beta, tsr_error *err)
{
    tsr_status st = x->file[2] ? check_added(x, shape, err) : TSR_OK;

    if (st || (x->file[2] && beta != 0))
        return st;
    array_free(&x->array[2]);
    return make_zeros(shape, &x->array[2], err);
}

tsr_status check_added_settings(const given_options *given, tsr_error *err)
{
    const char *beta = setting_of(given, "beta"), *add = setting_of(given, "add");
    double factor = 0;

    if (beta && real_read(beta, &factor) && factor != 0 && !add)
        return tsr_fail(err, TSR_ENAME, 0, "--beta %s needs --add FILE to scale", beta);
    if (add && !beta)
        return tsr_fail(err, TSR_ENAME, 0, "--add %s needs --beta Y, its factor", add);
    return TSR_OK;
}
