#include "core/posing.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "core/fields.h"
#include "file/block.h"

const char *shape_text(const array *a, char out[SHAPE_SIZE])
{
    enum { EXTENT = 21, MORE = 4 };
    size_t length = 0;

    if (a->rank == 1)
        snprintf(out, SHAPE_SIZE, "a vector of %zu", a->shape[0]);
    else if (a->rank == 0)
        snprintf(out, SHAPE_SIZE, "a scalar");
    for (unsigned i = 0; i < a->rank && a->rank > 1; i++) {
        if (length + EXTENT + MORE >= SHAPE_SIZE) {
            snprintf(out + length, SHAPE_SIZE - length, "x...");
            break;
        }
        length +=
            (size_t)snprintf(out + length, SHAPE_SIZE - length, "%s%zu", i ? "x" : "", a->shape[i]);
    }
    return out;
}

bool names_mtx(const char *path)
{
    const size_t length = path ? strlen(path) : 0;

    return length >= 4 && !strcmp(path + length - 4, ".mtx");
}

tsr_status need_matrices(const posing *x, unsigned i, const char *hint, tsr_error *err)
{
    char shape[SHAPE_SIZE];

    if (x->array[i].rank >= 2)
        return TSR_OK;
    return tsr_fail(err, TSR_EINVAL, 0, "%s is %s, and a matrix is needed%s", x->file[i],
                    shape_text(&x->array[i], shape), hint);
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

tsr_status need_offsets(posing *x, unsigned i, size_t *segments, tsr_error *err)
{
    array *offsets = &x->array[i];
    tsr_status st = need_vector(x, i, "", err);

    st = st ? st : array_to_u64(x->file[i], offsets, err);
    if (st)
        return st;
    if (offsets->shape[0] == 0)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "%s is empty: it needs one offset more than there are segments",
                        x->file[i]);
    *segments = offsets->shape[0] - 1;
    return TSR_OK;
}

tsr_status make_zeros(const array *shape, array *out, tsr_error *err)
{
    return make_named_zeros("the result", shape, out, err);
}

tsr_status make_named_zeros(const char *name, const array *shape, array *out, tsr_error *err)
{
    char what[SHAPE_SIZE], described[128];
    array a = *shape;
    size_t bytes = tsr_type_size(a.type);
    bool fits = true;
    tsr_status st;

    for (unsigned i = 0; i < a.rank; i++)
        fits = fits && size_mul(bytes, a.shape[i], &bytes);
    snprintf(described, sizeof described, "%s, %s %s", name, shape_text(&a, what),
             tsr_type_name(a.type));
    if (!fits)
        return tsr_fail(err, TSR_EOVERFLOW, 0, "%s, has too many elements", described);
    a.data = NULL;
    if (bytes) {
        st = block_allocate(described, bytes, &a.data, err);
        if (st)
            return st;
        memset(a.data, 0, bytes);
    }
    *out = a;
    return TSR_OK;
}

/* Of its first `rank` extents, aligned with the last of `of` extents: the one at i, 1 before them.
 */
static size_t extent_at(const array *a, unsigned rank, unsigned of, unsigned i)
{
    return i + rank < of ? 1 : a->shape[i + rank - of];
}

tsr_status broadcast_of(const posing *x, unsigned i, unsigned i_rank, unsigned k, unsigned k_rank,
                        broadcast *out, tsr_error *err)
{
    const unsigned rank = i_rank > k_rank ? i_rank : k_rank;
    char left[SHAPE_SIZE], right[SHAPE_SIZE];

    *out = (broadcast){.rank = rank, .count = 1};
    for (unsigned d = 0; d < rank; d++) {
        const size_t a = extent_at(&x->array[i], i_rank, rank, d);
        const size_t b = extent_at(&x->array[k], k_rank, rank, d);

        if (a != b && a != 1 && b != 1)
            return tsr_fail(err, TSR_EINVAL, 0,
                            "shapes do not match: %s is %s and %s is %s, batches of %zu and %zu",
                            x->file[i], shape_text(&x->array[i], left), x->file[k],
                            shape_text(&x->array[k], right), a, b);
        out->shape[d] = a == 1 ? b : a;
        if (!size_mul(out->count, out->shape[d], &out->count))
            return tsr_fail(err, TSR_EOVERFLOW, 0,
                            "%s is %s and %s is %s: together they are a batch of more than %zu",
                            x->file[i], shape_text(&x->array[i], left), x->file[k],
                            shape_text(&x->array[k], right), SIZE_MAX);
    }
    return TSR_OK;
}

/* Which vector or matrix of an array belongs to the e-th of the broadcast ones. */
static size_t broadcast_source(const array *a, unsigned rank, const broadcast *to, size_t e)
{
    size_t at = 0, step = 1;

    for (unsigned d = to->rank; d-- > 0;) {
        const size_t extent = extent_at(a, rank, to->rank, d);

        at += extent == 1 ? 0 : e % to->shape[d] * step;
        step *= extent;
        e /= to->shape[d];
    }
    return at;
}

tsr_status broadcast_operand(posing *x, unsigned i, unsigned rank, const broadcast *to,
                             size_t *stride, tsr_error *err)
{
    array *a = &x->array[i], given = *a;
    size_t count = 1, each = 1, bytes;
    void *data = NULL;
    tsr_status st;

    for (unsigned d = 0; d < a->rank; d++)
        *(d < rank ? &count : &each) *= a->shape[d];
    *stride = count == 1 ? 0 : each;
    if (count == 1 || count == to->count || to->count == 0 || each == 0)
        return TSR_OK;
    if (!size_mul(each, tsr_type_size(a->type), &each) || !size_mul(each, to->count, &bytes))
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "%s: broadcast to a batch of %zu, it has too many "
                        "elements",
                        x->file[i], to->count);
    st = block_allocate(x->file[i], bytes, &data, err);
    if (st)
        return st;
    for (size_t e = 0; e < to->count; e++)
        memcpy((char *)data + e * each,
               (const char *)given.data + broadcast_source(&given, rank, to, e) * each, each);
    memmove(a->shape + to->rank, given.shape + rank, (given.rank - rank) * sizeof *a->shape);
    memcpy(a->shape, to->shape, to->rank * sizeof *a->shape);
    a->rank = to->rank + given.rank - rank;
    free(a->data);
    a->data = data;
    return TSR_OK;
}

/* What is added, against the shape of the result. */
static tsr_status check_added(posing *x, const array *result, tsr_error *err)
{
    array *added = &x->array[2];
    char is[SHAPE_SIZE], wanted[SHAPE_SIZE];
    tsr_status st = result->rank == 1 ? need_vector(x, 2, "", err) : TSR_OK;

    if (result->rank == 0 && array_count(added) == 1)
        added->rank = 0;
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

const field_choice product_out_types[] = {{"f32", RESULT_F32}, {"float32", RESULT_F32}, {NULL, 0}};

tsr_status start_product(posing *x, const array *shape, bool added, tsr_error *err)
{
    tsr_status st = x->file[2] ? check_added(x, shape, err) : TSR_OK;

    if (st || (x->file[2] && added))
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
