#include "sort_peer.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

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

/* Of float16, by its bits. */
static const char *plain_halves(const uint16_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if ((keys[i] & 0x7fff) > 0x7c00)
            return "a key is NaN, for which it promises no place";
        if (keys[i] == 0x8000)
            return "a key is -0, which it takes for equal to +0";
    }
    return NULL;
}

size_t peer_sort_keys(const peer_problem *p)
{
    const tsr_sort_problem *s = sort_of(p);

    return s->rows > 1 ? s->rows * s->n : s->n;
}

const char *peer_keys_unsupported(const peer_problem *p, int types)
{
    const size_t keys = peer_sort_keys(p);

    if (p->type < 0 || (int)p->type >= types)
        return types == SORT_TYPES ? "it does not sort keys of this type"
                                   : "it sorts numbers of 32 and 64 bits only";
    if (keys == 0)
        return "no keys: nothing to time";
    if (keys > INT_MAX)
        return "it takes up to 2^31 - 1 keys";
    if (p->type == TSR_F32 && p->operand[SORT_KEYS])
        return plain_floats((const float *)p->operand[SORT_KEYS], keys);
    if (p->type == TSR_F64 && p->operand[SORT_KEYS])
        return plain_doubles((const double *)p->operand[SORT_KEYS], keys);
    if (p->type == TSR_F16 && p->operand[SORT_KEYS])
        return plain_halves((const uint16_t *)p->operand[SORT_KEYS], keys);
    return NULL;
}

const char *peer_sort_unsupported(const peer_problem *p, int types)
{
    return sort_of(p)->value_bytes ? "it sorts keys alone or with their positions, not with values"
                                   : peer_keys_unsupported(p, types);
}

const char *peer_sequence_unsupported(const peer_problem *p, int types)
{
    const char *why = peer_sort_unsupported(p, types);

    if (!why && peer_sort_parts(p) > 1)
        return "it sorts one sequence a call, not rows or segments";
    return why;
}

int peer_with_positions(const peer_problem *p, peer_problem *out, int64_t **positions)
{
    const size_t keys = peer_sort_keys(p);

    *out = *p;
    *positions = NULL;
    for (size_t i = SORT_INDEX; i <= SORT_SEGMENTS; i++) {
        out->operand[i] = NULL;
        out->bytes[i] = 0;
    }
    if (!sort_of(p)->argsort)
        return 0;
    if (keys > SIZE_MAX / sizeof(int64_t))
        return -1;
    *positions = (int64_t *)malloc(keys * sizeof(int64_t));
    if (!*positions)
        return -1;
    for (size_t part = 0; part < peer_sort_parts(p); part++) {
        size_t begin, end;

        peer_sort_part(p, part, &begin, &end);
        for (size_t i = begin; i < end; i++)
            (*positions)[i] = (int64_t)(i - begin);
    }
    out->operand[SORT_INDEX] = *positions;
    out->bytes[SORT_INDEX] = keys * sizeof(int64_t);
    return 0;
}
