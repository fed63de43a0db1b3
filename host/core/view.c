#include "core/view.h"

#include <math.h>
#include <string.h>

#include "base/elements.h"
#include "base/random.h"
#include "base/scratch.h"
#include "base/sizes.h"
#include "base/team.h"
#include "base/vector_half.h"
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

bool view_contiguous(const view *x)
{
    return (x->lines <= 1 || x->ld == x->length) &&
           (x->count == 1 || x->stride == x->lines * x->length);
}

operand view_operand(const char *name, const view *x, operand_access access)
{
    operand o = {.name = name,
                 .type = x->type,
                 .access = access,
                 .view = *x,
                 .begin = x->offset * tsr_type_size(x->type)};

    view_extent(x, &o.bytes);
    return o;
}

bool operands_interleave(const operand *x, const void *x_at, const operand *y, const void *y_at)
{
    const uintptr_t x_begin = (uintptr_t)x_at + x->begin, x_end = (uintptr_t)x_at + x->bytes;
    const uintptr_t y_begin = (uintptr_t)y_at + y->begin, y_end = (uintptr_t)y_at + y->bytes;

    return x->bytes && y->bytes && x_begin < y_end && y_begin < x_end;
}

/* Lines of `bytes` bytes, `pitch` apart. */
typedef struct comb {
    intptr_t at;
    intptr_t count, bytes, pitch;
} comb;

static comb comb_of(const view *x, const void *at, size_t e)
{
    const size_t size = tsr_type_size(x->type);

    return (comb){(intptr_t)((uintptr_t)at + view_line(x, e, 0) * size), (intptr_t)x->lines,
                  (intptr_t)(x->length * size), (intptr_t)(x->ld * size)};
}

static intptr_t floor_div(intptr_t a, intptr_t b)
{
    return a / b - (a % b < 0);
}

/* Lines k of x and l of y meet where y->at + l pitch is within x->bytes behind x->at + k pitch, or
 * y->bytes before it: for some l - k. */
static bool same_pitch_meets(const comb *x, const comb *y, intptr_t pitch)
{
    const intptr_t apart = y->at - x->at;
    const intptr_t first = floor_div(-apart - y->bytes, pitch) + 1;
    const intptr_t last = floor_div(x->bytes - apart - 1, pitch);

    return first <= last && first <= y->count - 1 && last >= 1 - x->count;
}

static bool combs_meet(const comb *x, const comb *y)
{
    if (x->count == 1 || y->count == 1 || x->pitch == y->pitch) {
        const intptr_t pitch = x->count > 1 ? x->pitch : y->pitch;

        return same_pitch_meets(x, y, pitch > 0 ? pitch : 1);
    }
    for (intptr_t k = 0; k < x->count; k++) {
        const comb line = {x->at + k * x->pitch, 1, x->bytes, 0};

        if (same_pitch_meets(&line, y, y->pitch))
            return true;
    }
    return false;
}

bool operands_meet(const operand *x, const void *x_at, const operand *y, const void *y_at)
{
    enum { STEPS_MAX = 1 << 22 };
    const bool walks = x->view.lines > 1 && y->view.lines > 1 &&
                       x->view.ld * tsr_type_size(x->type) != y->view.ld * tsr_type_size(y->type);
    const bool swap = walks && x->view.lines > y->view.lines;
    const operand *a = swap ? y : x, *b = swap ? x : y;
    const void *a_at = swap ? y_at : x_at, *b_at = swap ? x_at : y_at;

    if (!operands_interleave(x, x_at, y, y_at))
        return false;
    if ((double)a->view.count * (double)b->view.count * (walks ? (double)a->view.lines : 1) >
        STEPS_MAX)
        return true;
    for (size_t e = 0; e < a->view.count; e++)
        for (size_t f = 0; f < b->view.count; f++) {
            const comb one = comb_of(&a->view, a_at, e), other = comb_of(&b->view, b_at, f);

            if (combs_meet(&one, &other))
                return true;
        }
    return false;
}

/* n elements of a line in the type of their sums, rounded to a precision. */
static void widen(tsr_type type, tsr_precision precision, const void *array, size_t first, size_t n,
                  void *copy)
{
    const bool as_it_is = real_is_plain(type, precision);
    const uint16_t *narrow = (const uint16_t *)array + first;
    const size_t size = tsr_type_size(type);
    float *wide = copy;

    if (as_it_is && type == TSR_F16)
        for (size_t i = 0; i < n; i++)
            wide[i] = vector_of_half(narrow[i]);
    else if (as_it_is && type == TSR_BF16)
        for (size_t i = 0; i < n; i++)
            wide[i] = vector_of_bfloat(narrow[i]);
    else if (type == TSR_I8)
        for (size_t i = 0; i < n; i++)
            ((int32_t *)copy)[i] = (int32_t)integer_get(type, array, first + i);
    else if (as_it_is && !type_is_fp8(type))
        memcpy(copy, (const char *)array + first * size, n * size);
    else
        for (size_t i = 0; i < n; i++)
            real_set(real_sums(type), copy, i,
                     real_rounded(precision, real_get(type, array, first + i)));
}

/* The other way round. */
static void narrow(tsr_type type, const void *copy, size_t n, void *array, size_t first)
{
    uint16_t *to = (uint16_t *)array + first;
    const size_t size = tsr_type_size(type);
    const float *from = copy;

    if (type == TSR_F16)
        for (size_t i = 0; i < n; i++)
            to[i] = vector_half_of(from[i]);
    else if (type == TSR_BF16)
        for (size_t i = 0; i < n; i++)
            to[i] = vector_bfloat_of(from[i]);
    else if (type_is_fp8(type))
        for (size_t i = 0; i < n; i++)
            real_set(type, array, first + i, (double)from[i]);
    else
        memcpy((char *)array + first * size, copy, n * size);
}

/* A copy of a matrix that is made or stored, some lines an item. */
typedef struct copying {
    const view *x;
    const void *from;
    void *to;
    tsr_precision precision;
    size_t line_bytes; /* of the copy */
    size_t at_once;
} copying;

static void widen_lines(void *context, size_t item, size_t who)
{
    const copying *c = context;
    const size_t first = item * c->at_once, end = size_min(first + c->at_once, c->x->lines);

    (void)who;
    for (size_t l = first; l < end; l++)
        widen(c->x->type, c->precision, c->from, view_line(c->x, 0, l), c->x->length,
              (char *)c->to + l * c->line_bytes);
}

static void narrow_lines(void *context, size_t item, size_t who)
{
    const copying *c = context;
    const size_t first = item * c->at_once, end = size_min(first + c->at_once, c->x->lines);

    (void)who;
    for (size_t l = first; l < end; l++)
        narrow(c->x->type, (const char *)c->from + l * c->line_bytes, c->x->length, c->to,
               view_line(c->x, 0, l));
}

static void copy_lines(copying c, void (*work)(void *context, size_t item, size_t who))
{
    enum { AT_ONCE = 1 << 15 }; /* elements */

    if (c.x->lines == 0 || c.x->length == 0)
        return;
    c.line_bytes = c.x->length * tsr_type_size(real_sums(c.x->type));
    c.at_once = size_div_up(AT_ONCE, c.x->length);
    team_run(c.x->lines * c.x->length > PARALLEL_MIN ? team_threads() : 1,
             size_div_up(c.x->lines, c.at_once), work, &c);
}

void *view_copy(const view *x, const void *array, tsr_precision precision)
{
    size_t bytes;
    void *copy = NULL;

    if (size_mul(x->lines, x->length, &bytes) &&
        size_mul(bytes, tsr_type_size(real_sums(x->type)), &bytes))
        copy = scratch_take(bytes);
    if (copy)
        copy_lines((copying){.x = x, .from = array, .to = copy, .precision = precision},
                   widen_lines);
    return copy;
}

void view_put(const view *x, const void *copy, void *array)
{
    copy_lines((copying){.x = x, .from = copy, .to = array}, narrow_lines);
}

void view_fill(const operand *o, const view *x, distribution f, uint64_t seed, void *array)
{
    const tsr_type type = type_part(o->type);
    const size_t parts = type_parts(o->type);
    const long long elements = (long long)(o->bytes / tsr_type_size(type));
    const long long lines = (long long)(o->bytes ? x->count * x->lines : 0);

#ifdef _OPENMP
#pragma omp parallel for if (elements > PARALLEL_MIN)
#endif
    for (long long i = 0; i < elements; i++)
        real_set(type, array, (size_t)i, NAN);
#ifdef _OPENMP
#pragma omp parallel for if (elements > PARALLEL_MIN)
#endif
    for (long long l = 0; l < lines; l++) {
        const size_t first = view_line(x, (size_t)l / x->lines, (size_t)l % x->lines);
        uint64_t state = random_stream(seed, (uint64_t)l);

        for (size_t i = 0; i < x->length * parts; i++)
            real_set(type, array, first * parts + i, real_random(type, f, &state));
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
