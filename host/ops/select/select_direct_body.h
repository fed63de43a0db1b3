/*
 * What is selected of elements of type ELEMENT, compared with the value by COMPARED, as
 * NAMED(count), NAMED(put) and NAMED(direct): vectors of type VECTOR, with a bit for each of LANES
 * lanes in a MASK, from SET, LOAD and COMPRESS, and stored by STORE and STORE_SOME.  A vector is
 * compared, and what is selected of it stored at once: the lanes behind are overwritten by the next
 * one.  GREATER to NOT_NAN name the conditions to COMPARED.  All but these are undefined at the
 * end.
 */
#define EACH_VECTOR(CONDITION, STEP)                                                               \
    for (; i + LANES <= n; i += LANES) {                                                           \
        const VECTOR e = LOAD((MASK)-1, x + i);                                                    \
        const MASK held = COMPARED((MASK)-1, e, value, CONDITION);                                 \
                                                                                                   \
        STEP;                                                                                      \
    }                                                                                              \
    if (i < n) {                                                                                   \
        const MASK there = (MASK)((1u << (n - i)) - 1);                                            \
        const VECTOR e = LOAD(there, x + i);                                                       \
        const MASK held = COMPARED(there, e, value, CONDITION);                                    \
                                                                                                   \
        STEP;                                                                                      \
    }                                                                                              \
    break

#define EACH_CONDITION(STEP)                                                                       \
    switch (p->where) {                                                                            \
    case TSR_GREATER:                                                                              \
        EACH_VECTOR(GREATER, STEP);                                                                \
    case TSR_GREATER_EQUAL:                                                                        \
        EACH_VECTOR(GREATER_EQUAL, STEP);                                                          \
    case TSR_LESS:                                                                                 \
        EACH_VECTOR(LESS, STEP);                                                                   \
    case TSR_LESS_EQUAL:                                                                           \
        EACH_VECTOR(LESS_EQUAL, STEP);                                                             \
    case TSR_EQUAL:                                                                                \
        EACH_VECTOR(EQUAL, STEP);                                                                  \
    case TSR_NOT_EQUAL:                                                                            \
        EACH_VECTOR(NOT_EQUAL, STEP);                                                              \
    case TSR_IS_NAN:                                                                               \
        EACH_VECTOR(NAN_ALONE, STEP);                                                              \
    default:                                                                                       \
        EACH_VECTOR(NOT_NAN, STEP);                                                                \
    }

static size_t NAMED(count)(const tsr_select_problem *p, const void *array, size_t at, size_t n)
{
    const ELEMENT *x = (const ELEMENT *)array + at;
    const VECTOR value = SET(p->where < TSR_IS_NAN ? (ELEMENT)p->value.MEMBER : 0);
    size_t i = 0, count = 0;

    EACH_CONDITION(count += (unsigned)__builtin_popcount(held))
    return count;
}

/* Whole vectors are stored as long as they end before what is another block's. */
static inline __attribute__((always_inline)) ELEMENT *NAMED(store)(ELEMENT *to, const ELEMENT *end,
                                                                   MASK held, VECTOR e)
{
    const unsigned count = (unsigned)__builtin_popcount(held);

    if (end - to >= LANES)
        STORE(to, COMPRESS(held, e));
    else
        STORE_SOME(to, (MASK)((1u << count) - 1), COMPRESS(held, e));
    return to + count;
}

static void NAMED(put)(const tsr_select_problem *p, const void *array, size_t at, size_t n,
                       ptrdiff_t ahead, void *out, const void *end)
{
    const ELEMENT *x = (const ELEMENT *)array + at;
    const VECTOR value = SET(p->where < TSR_IS_NAN ? (ELEMENT)p->value.MEMBER : 0);
    ELEMENT *to = out;
    size_t i = 0;

    EACH_CONDITION(fetch_ahead(x + i, ahead, sizeof(e)); to = NAMED(store)(to, end, held, e))
}

static const select_direct NAMED(direct) = {NAMED(count), NAMED(put)};

#undef EACH_VECTOR
#undef EACH_CONDITION
#undef NAMED
#undef ELEMENT
#undef MEMBER
#undef VECTOR
#undef MASK
#undef LANES
#undef SET
#undef LOAD
#undef COMPARED
#undef COMPRESS
#undef STORE
#undef STORE_SOME
