/*
 * What is selected of elements of type ELEMENT, compared with the value by COMPARED, as
 * NAMED(count), NAMED(put), NAMED(put_past_caches) and NAMED(direct): vectors of type VECTOR, with
 * a bit for each of LANES lanes in a MASK, from SET, LOAD and COMPRESS, and stored by STORE and
 * STORE_SOME.  A vector is compared, and what is selected of it stored at once: the lanes behind
 * are overwritten by the next one.  GREATER to NOT_NAN name the conditions to COMPARED.  All but
 * these are undefined at the end.
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

/* Store what is selected of n elements from `to` on; returns its end. */
static inline __attribute__((always_inline)) ELEMENT *NAMED(pack)(const tsr_select_problem *p,
                                                                  const ELEMENT *x, size_t n,
                                                                  ptrdiff_t ahead, ELEMENT *to,
                                                                  const ELEMENT *end)
{
    const VECTOR value = SET(p->where < TSR_IS_NAN ? (ELEMENT)p->value.MEMBER : 0);
    size_t i = 0;

    EACH_CONDITION(fetch_ahead(x + i, ahead, sizeof(e)); to = NAMED(store)(to, end, held, e))
    return to;
}

static void NAMED(put)(const tsr_select_problem *p, const void *x, size_t at, size_t n,
                       ptrdiff_t ahead, void *to, const void *end)
{
    NAMED(pack)(p, (const ELEMENT *)x + at, n, ahead, to, end);
}

/* What is selected of a stretch is put together in `lines`, as far behind the start of a cache line
 * as it is in the result; the lines that it fills are stored, and the rest is kept for the next. */
static void NAMED(put_past_caches)(const tsr_select_problem *p, const void *x, size_t at, size_t n,
                                   ptrdiff_t ahead, void *out, const void *end)
{
    enum { OF_LINE = CACHE_LINE / sizeof(ELEMENT), ROOM = OF_LINE + SELECT_STRETCH };
    _Alignas(CACHE_LINE) ELEMENT lines[ROOM];
    size_t first = (uintptr_t)out % CACHE_LINE / sizeof(ELEMENT); /* of `lines` to be stored */
    size_t held = first;
    ELEMENT *to = out;

    (void)end;
    for (size_t i = 0; i < n; i += SELECT_STRETCH) {
        const size_t some = n - i < SELECT_STRETCH ? n - i : SELECT_STRETCH;
        const ELEMENT *packed =
            NAMED(pack)(p, (const ELEMENT *)x + at + i, some, ahead, lines + held, lines + ROOM);
        size_t whole;

        held = (size_t)(packed - lines);
        whole = held - held % OF_LINE;
        if (whole == 0)
            continue;
        if (first) { /* what lies before it in its line is another block's */
            memcpy(to, lines + first, (OF_LINE - first) * sizeof(ELEMENT));
            to += OF_LINE - first;
            first = OF_LINE;
        }
        past_caches_store(to, lines + first, (whole - first) * sizeof(ELEMENT));
        to += whole - first;
        first = 0;
        held -= whole;
        memcpy(lines, lines + whole, held * sizeof(ELEMENT));
    }
    memcpy(to, lines + first, (held - first) * sizeof(ELEMENT));
    past_caches_end();
}

static const select_direct NAMED(direct) = {NAMED(count), NAMED(put), NAMED(put_past_caches)};

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
