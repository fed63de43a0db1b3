/*
 * A square of SIDE x SIDE elements of type ELEMENT, into vectors as TURNED, and to memory as NAMED:
 * SIDE is how many a vector has, LOW and HIGH the places that interleave the first and the second
 * halves of two vectors.  All are undefined at the end.
 */
static inline __attribute__((always_inline)) void TURNED(const char *from, size_t pitch,
                                                         void *vectors)
{
    typedef ELEMENT vector __attribute__((vector_size(SIDE * sizeof(ELEMENT))));
    vector *row = vectors, next[SIDE];

    UNROLLED
    for (int i = 0; i < SIDE; i++)
        memcpy(&row[i], from + (size_t)i * pitch, sizeof(row[i]));
    UNROLLED
    for (int times = 1; times < SIDE; times *= 2) {
        UNROLLED
        for (int i = 0; i < SIDE / 2; i++) {
            next[2 * i] = __builtin_shufflevector(row[i], row[i + SIDE / 2], LOW);
            next[2 * i + 1] = __builtin_shufflevector(row[i], row[i + SIDE / 2], HIGH);
        }
        memcpy(row, next, sizeof(next));
    }
}

static inline void NAMED(const char *from, size_t pitch, char *to, size_t to_pitch)
{
    typedef ELEMENT vector __attribute__((vector_size(SIDE * sizeof(ELEMENT))));
    vector row[SIDE];

    TURNED(from, pitch, row);
    UNROLLED
    for (int i = 0; i < SIDE; i++)
        memcpy(to + (size_t)i * to_pitch, &row[i], sizeof(row[i]));
}

#undef ELEMENT
#undef SIDE
#undef LOW
#undef HIGH
#undef TURNED
#undef NAMED
