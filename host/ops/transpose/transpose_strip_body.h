/*
 * A strip of SIDE rows of type ELEMENT as NAMED, by the squares that TURNED gives: SIZE is epi32 or
 * epi64, the element in names of AVX-512, and MASK the type of a bit for each.  All are undefined
 * at the end.
 */
#define PERMUTED_(size)     _mm512_permutex2var_##size
#define PERMUTED(size)      PERMUTED_(size)
#define STORE_MASKED_(size) _mm512_mask_storeu_##size
#define STORE_MASKED(size)  STORE_MASKED_(size)

static void NAMED(const transpose_strip *s, __m512i *carry)
{
    typedef ELEMENT vector __attribute__((vector_size(CACHE_LINE)));
    enum { BYTES = sizeof(ELEMENT) };
    ELEMENT place[2 * SIDE];
    const bool at_lines = ((uintptr_t)s->to | s->to_pitch) % CACHE_LINE == 0;
    const size_t left = s->left, right = left + (s->columns - left) / SIDE * SIDE;

    for (size_t i = 0; i < 2 * SIDE; i++)
        place[i] = (ELEMENT)i;
    for (size_t j = left; j < right; j += SIDE) {
        const char *from = (const char *)s->from + j * BYTES;
        char *to = (char *)s->to + j * s->to_pitch;
        __m512i *above = carry + (j - left);
        vector row[SIDE];

        for (size_t i = 0; i < SIDE && s->next; i++)
            fetch_ahead(s->next, (ptrdiff_t)(i * s->pitch + j * BYTES), CACHE_LINE);
        if (!at_lines && !s->first && !s->follows) {
            TURNED(from - SIDE * s->pitch, s->pitch, row);
            memcpy(above, row, sizeof(row));
        }
        TURNED(from, s->pitch, row);
        if (at_lines) {
            UNROLLED
            for (size_t i = 0; i < SIDE; i++)
                _mm512_stream_si512((__m512i *)(void *)(to + i * s->to_pitch), (__m512i)row[i]);
            continue;
        }
        UNROLLED
        for (size_t i = 0; i < SIDE; i++) {
            char *at = to + i * s->to_pitch;
            const size_t head = past_caches_head(at, BYTES, SIDE);
            const unsigned before = (1u << head) - 1; /* elements that end the line before */

            if (s->first)
                STORE_MASKED(SIZE)(at, (MASK)before, (__m512i)row[i]);
            else
                _mm512_stream_si512(
                    (__m512i *)(void *)(at + head * BYTES - CACHE_LINE),
                    PERMUTED(SIZE)(above[i], _mm512_loadu_si512(place + head), (__m512i)row[i]));
            above[i] = (__m512i)row[i];
            if (s->last)
                STORE_MASKED(SIZE)(at, (MASK)~before, (__m512i)row[i]);
        }
    }
    move_edge(s, BYTES, 0, SIDE, 0, left);
    move_edge(s, BYTES, 0, SIDE, right, s->columns);
    move_edge(s, BYTES, -(ptrdiff_t)s->above, 0, 0, s->columns);
    move_edge(s, BYTES, SIDE, SIDE + (ptrdiff_t)s->below, 0, s->columns);
}

#undef PERMUTED_
#undef PERMUTED
#undef STORE_MASKED_
#undef STORE_MASKED
#undef ELEMENT
#undef SIDE
#undef TURNED
#undef NAMED
#undef SIZE
#undef MASK
