#include "peer_common.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ALIGNMENT = 64 };

void peer_say(char *why, size_t why_size, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(why, why_size, format, arguments);
    va_end(arguments);
}

const char *peer_blas_size_unsupported(const peer_problem *p)
{
    if (p->op != PEER_MATMUL && p->op != PEER_MATVEC)
        return "it multiplies matrices and vectors only";
    if (p->m == 0 || p->n == 0 || (p->op == PEER_MATMUL && p->k == 0))
        return "an empty matrix has nothing to time";
    if (p->m > INT_MAX || p->n > INT_MAX || (p->op == PEER_MATMUL && p->k > INT_MAX))
        return "it takes dimensions up to 2^31 - 1";
    return NULL;
}

const char *peer_blas_unsupported(const peer_problem *p)
{
    const char *why = peer_blas_size_unsupported(p);

    if (why)
        return why;
    if (p->batch > 1)
        return "it multiplies one pair of matrices a call, or one matrix and vector";
    if (p->type == 0)
        return strcmp(p->precision, "f32") == 0 || strcmp(p->precision, "f32-strict") == 0
                   ? NULL
                   : "it multiplies float32 in FP32 only";
    if (p->type == 1)
        return strcmp(p->precision, "f64") == 0 ? NULL : "it multiplies float64 in FP64 only";
    return "it multiplies float32 and float64 only";
}

/* One scan, so that a key that would leave the order to chance is found before it is timed. */
#define PLAIN_FLOATS(name, type)                                                                   \
    static const char *name(const type *keys, size_t n)                                            \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            if (isnan(keys[i]))                                                                    \
                return "a key is NaN, for which it promises no place";                             \
            if (keys[i] == 0 && signbit(keys[i]))                                                  \
                return "a key is -0, which it takes for equal to +0";                              \
        }                                                                                          \
        return NULL;                                                                               \
    }

PLAIN_FLOATS(plain_floats, float)
PLAIN_FLOATS(plain_doubles, double)

const char *peer_sort_unsupported(const peer_problem *p)
{
    if (p->op != PEER_SORT)
        return "it sorts only";
    if (p->type < 0 || p->type >= PEER_TYPES)
        return "it sorts numbers of 32 and 64 bits only";
    if (p->n == 0)
        return "no keys: nothing to time";
    if (p->top)
        return "it sorts all keys, not the first ones alone";
    if (p->value_bytes)
        return "it sorts keys alone or with their positions, not with values";
    if (p->n > INT_MAX)
        return "it takes up to 2^31 - 1 keys";
    if (p->type == 0 && p->operand[0])
        return plain_floats((const float *)p->operand[0], p->n);
    if (p->type == 1 && p->operand[0])
        return plain_doubles((const double *)p->operand[0], p->n);
    return NULL;
}

const char *peer_sequence_unsupported(const peer_problem *p)
{
    const char *why = peer_sort_unsupported(p);

    if (!why && p->segments)
        return "it sorts one sequence a call, not rows or segments";
    return why;
}

size_t peer_sort_parts(const peer_problem *p)
{
    return p->segments ? p->segments : 1;
}

void peer_sort_part(const peer_problem *p, size_t i, size_t *begin, size_t *end)
{
    *begin = p->segments ? (size_t)p->segment_offsets[i] : 0;
    *end = p->segments ? (size_t)p->segment_offsets[i + 1] : p->n;
}

size_t peer_columns_a(const peer_problem *p)
{
    if (p->op == PEER_MATVEC)
        return p->n;
    return p->trans_a ? p->m : p->k;
}

size_t peer_columns_b(const peer_problem *p)
{
    return p->trans_b ? p->k : p->n;
}

int peer_with_positions(const peer_problem *p, peer_problem *out, int64_t **positions)
{
    *out = *p;
    *positions = NULL;
    out->operand[1] = NULL;
    out->bytes[1] = 0;
    out->bytes[2] = 0;
    if (!p->argsort)
        return 0;
    if (p->n > SIZE_MAX / sizeof(int64_t))
        return -1;
    *positions = (int64_t *)malloc(p->n * sizeof(int64_t));
    if (!*positions)
        return -1;
    for (size_t part = 0; part < peer_sort_parts(p); part++) {
        size_t begin, end;

        peer_sort_part(p, part, &begin, &end);
        for (size_t i = begin; i < end; i++)
            (*positions)[i] = (int64_t)(i - begin);
    }
    out->operand[1] = *positions;
    out->bytes[1] = p->n * sizeof(int64_t);
    return 0;
}

void peer_rotation_start(peer_rotation *r, size_t sets, int uses_up)
{
    r->sets = sets;
    r->next = 0;
    r->fresh = sets;
    r->uses_up = uses_up;
}

static double wall_clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int peer_time(peer_rotation *r, size_t calls, int (*call)(void *state, size_t set),
              int (*wait)(void *state), void *state, double *wall_ns)
{
    int rc = 0;
    int waited;

    if (r->uses_up && calls > r->fresh)
        return PEER_USED_UP;
    const double start = wall_clock_ns();
    for (size_t i = 0; i < calls && rc == 0; i++) {
        rc = call(state, r->next);
        r->next = (r->next + 1) % r->sets;
    }
    waited = wait ? wait(state) : 0;
    *wall_ns = wall_clock_ns() - start;
    if (r->uses_up)
        r->fresh -= calls;
    return rc ? rc : waited;
}

static int host_set_allocate(peer_host_sets *h, size_t index, size_t bytes)
{
    if (bytes > SIZE_MAX - ALIGNMENT)
        return -1;
    h->copy[index] = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    return h->copy[index] ? 0 : -1;
}

int peer_host_sets_open(peer_host_sets *h, const peer_problem *p, char *why, size_t why_size)
{
    h->problem = *p;
    h->copy = (void **)calloc(p->sets, PEER_OPERANDS * sizeof(void *));
    if (!h->copy) {
        peer_say(why, why_size, "no memory for %zu sets", p->sets);
        return -1;
    }
    for (size_t set = 0; set < p->sets; set++) {
        for (size_t i = 0; i < PEER_OPERANDS; i++) {
            if (p->bytes[i] == 0)
                continue;
            if (host_set_allocate(h, set * PEER_OPERANDS + i, p->bytes[i]) != 0) {
                peer_say(why, why_size, "no memory for operand %zu of set %zu, %zu bytes", i, set,
                         p->bytes[i]);
                peer_host_sets_close(h);
                return -1;
            }
            peer_host_set_refill(h, set, i);
        }
    }
    return 0;
}

void *peer_host_set(const peer_host_sets *h, size_t set, size_t operand)
{
    return h->copy[set * PEER_OPERANDS + operand];
}

void peer_host_set_refill(peer_host_sets *h, size_t set, size_t operand)
{
    void *copy = peer_host_set(h, set, operand);

    /* An output that nothing reads may come without an original; its pages are touched so that
     * the first call does not pay for them. */
    if (copy && h->problem.operand[operand])
        memcpy(copy, h->problem.operand[operand], h->problem.bytes[operand]);
    else if (copy)
        memset(copy, 0, h->problem.bytes[operand]);
}

void peer_host_sets_close(peer_host_sets *h)
{
    if (!h->copy)
        return;
    for (size_t i = 0; i < h->problem.sets * PEER_OPERANDS; i++)
        free(h->copy[i]);
    free(h->copy);
    h->copy = NULL;
}
