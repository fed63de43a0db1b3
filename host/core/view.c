#include "core/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/sizes.h"
#include "core/real.h"

enum { PARALLEL_MIN = 100000 }; /* elements that are worth several threads */

bool view_span(const view *x, size_t *out)
{
    *out = 0;
    return x->lines == 0 || x->length == 0 ||
           (size_mul(x->lines - 1, x->ld, out) && size_add(*out, x->length, out));
}

bool view_extent(const view *x, size_t *out)
{
    size_t n, before;

    if (!view_span(x, &n))
        return false;
    if (n == 0) {
        *out = 0;
        return true;
    }
    return size_mul(x->count - 1, x->stride, &before) && size_add(n, before, &n) &&
           size_add(n, x->offset, &n) && size_mul(n, tsr_type_size(x->type), out);
}

bool view_apart(const view *x, size_t products)
{
    size_t one;

    if (products == 1 || x->lines == 0 || x->length == 0)
        return true;
    view_span(x, &one);
    return x->stride >= one ||
           (x->stride >= x->length && x->ld >= (x->count - 1) * x->stride + x->length);
}

bool view_gapless(const view *x)
{
    return x->offset == 0 && x->ld == x->length &&
           (x->count == 1 || x->stride == x->lines * x->length);
}

operand view_operand(const char *name, const view *x, operand_access access)
{
    operand o = {.name = name,
                 .type = x->type,
                 .access = access,
                 .begin = x->offset * tsr_type_size(x->type)};

    view_extent(x, &o.bytes);
    return o;
}

void *view_copy(const view *x, const void *array, tsr_precision precision)
{
    const tsr_type type = real_sums(x->type);
    size_t bytes;
    void *copy = NULL;

    if (size_mul(x->lines, x->length, &bytes) && size_mul(bytes, tsr_type_size(type), &bytes))
        copy = malloc(size_max(bytes, 1));
    for (size_t l = 0; copy && l < x->lines; l++)
        for (size_t i = 0; i < x->length; i++)
            real_set(type, copy, l * x->length + i,
                     real_rounded(precision, real_get(x->type, array, view_line(x, 0, l) + i)));
    return copy;
}

void view_put(const view *x, const void *copy, void *array)
{
    const tsr_type type = real_sums(x->type);

    for (size_t l = 0; l < x->lines; l++)
        for (size_t i = 0; i < x->length; i++)
            real_set(x->type, array, view_line(x, 0, l) + i,
                     real_get(type, copy, l * x->length + i));
}

void view_fill(const operand *o, const view *x, distribution f, uint64_t seed, void *array)
{
    const long long elements = (long long)(o->bytes / tsr_type_size(o->type));
    const long long lines = (long long)(o->bytes ? x->count * x->lines : 0);

#ifdef _OPENMP
#pragma omp parallel for if (elements > PARALLEL_MIN)
#endif
    for (long long i = 0; i < elements; i++)
        real_set(o->type, array, (size_t)i, NAN);
#ifdef _OPENMP
#pragma omp parallel for if (elements > PARALLEL_MIN)
#endif
    for (long long l = 0; l < lines; l++) {
        const size_t first = view_line(x, (size_t)l / x->lines, (size_t)l % x->lines);
        uint64_t state = random_stream(seed, (uint64_t)l);

        for (size_t i = 0; i < x->length; i++)
            real_set(o->type, array, first + i, real_random(o->type, f, &state));
    }
}

/* In the order of memory: from the end of a line to the start of the next one, which is of the same
 * matrix where those follow one another, and of the next one where they lie side by side. */
bool view_gaps_kept(const view *x, const void *before, const void *after)
{
    const unsigned char *was = before, *is = after;
    const size_t size = tsr_type_size(x->type), lines = x->length ? x->count * x->lines : 0;
    const bool beside = x->count > 1 && x->lines > 1 && x->stride < x->ld;
    size_t end = 0;

    for (size_t i = 0; i < lines; i++) {
        const size_t start = beside ? view_line(x, i % x->count, i / x->count)
                                    : view_line(x, i / x->lines, i % x->lines);

        if (memcmp(was + end * size, is + end * size, (start - end) * size) != 0)
            return false;
        end = start + x->length;
    }
    return true;
}
