/*
 * A square of SIDE x SIDE elements of type ELEMENT, as NAMED: SIDE is how many a vector
 * has, LOW and HIGH the places that interleave the first and the second halves of two vectors.  All
 * are undefined at the end.
 */
static inline void NAMED(const char *from, size_t pitch, char *to, size_t to_pitch,
                         bool past_caches)
{
    typedef ELEMENT vector __attribute__((vector_size(SIDE * sizeof(ELEMENT))));
    vector row[SIDE], next[SIDE];

    UNROLLED
    for (int i = 0; i < SIDE; i++)
        memcpy(&row[i], from + (size_t)i * pitch, sizeof(vector));
    UNROLLED
    for (int times = 1; times < SIDE; times *= 2) {
        UNROLLED
        for (int i = 0; i < SIDE / 2; i++) {
            next[2 * i] = __builtin_shufflevector(row[i], row[i + SIDE / 2], LOW);
            next[2 * i + 1] = __builtin_shufflevector(row[i], row[i + SIDE / 2], HIGH);
        }
        memcpy(row, next, sizeof(row));
    }
    UNROLLED
    for (int i = 0; i < SIDE; i++)
        if (past_caches)
            past_caches_store(to + (size_t)i * to_pitch, &row[i], sizeof(vector));
        else
            memcpy(to + (size_t)i * to_pitch, &row[i], sizeof(vector));
}

#undef ELEMENT
#undef SIDE
#undef LOW
#undef HIGH
#undef NAMED
