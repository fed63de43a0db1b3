/*
 * Quicksort by vectors of AVX-512, for one type of words: included by sort_host_loops.c once for
 * each, with WORD the type, LANES of them in a vector, V(name) the intrinsic of that name for it,
 * and NAMED(name) the name with the type at its end.
 *
 * A pass partitions the words of one array: each vector is compressed to those that are less than
 * the pivot and to the rest, which go behind the others of their kind, one kind in the array itself
 * and one in another.  Both grow upwards and none faster than words are read, so that whole vectors
 * are stored: what is behind the words of a kind is overwritten by those that come.
 *
 *     from   | rest | unread ...        to   | less | free ...
 */

typedef struct NAMED(part) {
    WORD *from, *to;
    size_t n;
    bool stays; /* the sorted words are to be in `from`, not in `to` */
    /* Pivots that samples give; those after them are the middle of the range. */
    unsigned samples_left;
} NAMED(part);

static inline MASK NAMED(first)(size_t n)
{
    return (MASK)(n >= LANES ? (MASK)-1 : ((MASK)1 << n) - 1);
}

/* The lanes of vector v that are among n words. */
static inline MASK NAMED(from_to)(size_t n, size_t v)
{
    return n > v * LANES ? NAMED(first)(n - v * LANES) : 0;
}

/* ---- a few words ----------------------------------------------------------------------------- */

/* The words of up to VECTORS_MAX vectors are columns: one for each lane, with a word of each
 * vector.  Sorting columns compares whole vectors; the columns are then merged two by two. */

static inline __attribute__((always_inline)) void NAMED(in_order)(__m512i *a, __m512i *b)
{
    const __m512i least = V_UNSIGNED(min)(*a, *b);

    *b = V_UNSIGNED(max)(*a, *b);
    *a = least;
}

/* Sort the columns of each `run` vectors, which are bitonic sequences. */
static inline __attribute__((always_inline)) void NAMED(halve)(__m512i word[], size_t vectors,
                                                               size_t run)
{
    UNROLL(16)
    for (size_t apart = run / 2; apart; apart /= 2) {
        UNROLL(16)
        for (size_t v = 0; v < vectors; v++)
            if (!(v & apart))
                NAMED(in_order)(&word[v], &word[v + apart]);
    }
}

/* Sort each column: two sorted runs, one of them mirrored, are a bitonic sequence. */
static inline __attribute__((always_inline)) void NAMED(sort_columns)(__m512i word[],
                                                                      size_t vectors)
{
    UNROLL(16)
    for (size_t run = 2; run <= vectors; run *= 2) {
        UNROLL(16)
        for (size_t v = 0; v < vectors; v++)
            if (!(v & run / 2))
                NAMED(in_order)(&word[v], &word[v ^ (run - 1)]);
        NAMED(halve)(word, vectors, run / 2);
    }
}

/* In lanes whose number lacks `bit` the lesser words of two vectors, in the others the greater. */
static inline __attribute__((always_inline)) __m512i NAMED(by_lane)(__m512i a, __m512i b,
                                                                    size_t bit)
{
    static const uint16_t with_bit[] = {[1] = 0xAAAA, [2] = 0xCCCC, [4] = 0xF0F0, [8] = 0xFF00};

    return V_UNSIGNED(mask_max)(V_UNSIGNED(min)(a, b), (MASK)with_bit[bit], a, b);
}

/* Merge runs of so many columns two by two.  A word of one is compared with the one as far from the
 * end of the other; what is then in each run is a bitonic sequence, of columns and along them. */
static inline __attribute__((always_inline)) void NAMED(merge_columns)(__m512i word[],
                                                                       size_t vectors, size_t run)
{
    const __m512i mirrored = _mm512_xor_si512(LANE_NUMBERS, V(set1)((SIGNED)(2 * run - 1)));

    UNROLL(16)
    for (size_t v = 0; v < (vectors + 1) / 2; v++) {
        const size_t u = vectors - 1 - v;
        const __m512i a = word[v], b = word[u];

        word[v] = NAMED(by_lane)(a, V(permutexvar)(mirrored, b), run);
        if (u != v)
            word[u] = NAMED(by_lane)(b, V(permutexvar)(mirrored, a), run);
    }
    UNROLL(16)
    for (size_t bit = run / 2; bit; bit /= 2) {
        const __m512i other = _mm512_xor_si512(LANE_NUMBERS, V(set1)((SIGNED)bit));

        UNROLL(16)
        for (size_t v = 0; v < vectors; v++)
            word[v] = NAMED(by_lane)(word[v], V(permutexvar)(other, word[v]), bit);
    }
    NAMED(halve)(word, vectors, vectors);
}

/* Columns one behind the other become rows.  A perfect shuffle of the two halves of the vectors
 * moves the topmost bit of each word's position to its end: in the end the vector's number is
 * behind the lane's. */
static inline __attribute__((always_inline)) void NAMED(columns_to_rows)(__m512i word[],
                                                                         size_t vectors)
{
    const __m512i half = V(set1)(LANES / 2);
    const __m512i odd = V(slli)(_mm512_and_si512(LANE_NUMBERS, V(set1)(1)), LANES == 16 ? 4 : 3);
    const __m512i low = _mm512_or_si512(V(srli)(LANE_NUMBERS, 1), odd);
    const __m512i high = V(add)(low, half);
    __m512i before[VECTORS_MAX];

    UNROLL(16)
    for (size_t bit = 1; bit < vectors; bit *= 2) {
        UNROLL(16)
        for (size_t v = 0; v < vectors; v++)
            before[v] = word[v];
        UNROLL(16)
        for (size_t v = 0; v < vectors / 2; v++) {
            word[2 * v] = V(permutex2var)(before[v], low, before[v + vectors / 2]);
            word[2 * v + 1] = V(permutex2var)(before[v], high, before[v + vectors / 2]);
        }
    }
}

static inline __attribute__((always_inline)) void NAMED(sort_vectors)(__m512i word[],
                                                                      size_t vectors)
{
    NAMED(sort_columns)(word, vectors);
    UNROLL(16)
    for (size_t run = 1; run < LANES; run *= 2)
        NAMED(merge_columns)(word, vectors, run);
    NAMED(columns_to_rows)(word, vectors);
}

/* Sort the words of so many vectors at most: behind them are the greatest there are. */
static inline __attribute__((always_inline)) void NAMED(sort_in)(const WORD *from, size_t n,
                                                                 WORD *to, size_t vectors)
{
    __m512i word[VECTORS_MAX];

    UNROLL(16)
    for (size_t v = 0; v < vectors; v++)
        word[v] = V(mask_loadu)(V(set1)(-1), NAMED(from_to)(n, v), from + v * LANES);
    NAMED(sort_vectors)(word, vectors);
    UNROLL(16)
    for (size_t v = 0; v < vectors; v++)
        V(mask_storeu)(to + v * LANES, NAMED(from_to)(n, v), word[v]);
}

/* A few words: the compiler has a network for each number of vectors, in registers. */
static void NAMED(sort_few)(const WORD *from, size_t n, WORD *to)
{
    if (n <= LANES)
        NAMED(sort_in)(from, n, to, 1);
    else if (n <= 2 * LANES)
        NAMED(sort_in)(from, n, to, 2);
    else if (n <= 4 * LANES)
        NAMED(sort_in)(from, n, to, 4);
    else if (n <= 8 * LANES)
        NAMED(sort_in)(from, n, to, 8);
    else
        NAMED(sort_in)(from, n, to, 16);
}

/* ---- many words ------------------------------------------------------------------------------ */

/* Words less than the pivot to the front of `low`, others to the front of `high`; returns how many
 * are less.  One of these may be `from`. */
static size_t NAMED(partition)(const WORD *from, WORD *low, WORD *high, size_t n, WORD pivot)
{
    enum { AT_ONCE = 4 }; /* so that no vector waits for the count of another */
    const __m512i p = V(set1)((SIGNED)pivot);
    size_t lows = 0, i = 0;

    for (; i + AT_ONCE * LANES <= n; i += AT_ONCE * LANES) {
        __m512i v[AT_ONCE];
        MASK less[AT_ONCE];
        size_t at[AT_ONCE + 1];

        at[0] = lows;
        UNROLL(16)
        for (size_t k = 0; k < AT_ONCE; k++) {
            v[k] = V(loadu)(from + i + k * LANES);
            less[k] = V_MASK(cmplt)(v[k], p);
            at[k + 1] = at[k] + (size_t)__builtin_popcount(less[k]);
        }
        UNROLL(16)
        for (size_t k = 0; k < AT_ONCE; k++) {
            V(storeu)(low + at[k], V(maskz_compress)(less[k], v[k]));
            V(storeu)(high + (i + k * LANES - at[k]), V(maskz_compress)((MASK)~less[k], v[k]));
        }
        lows = at[AT_ONCE];
    }
    for (; i < n; i += LANES) {
        const MASK all = NAMED(first)(n - i);
        const __m512i v = V(maskz_loadu)(all, from + i);
        const MASK less = V_MASK(cmplt)(v, p) & all, rest = (MASK)~less & all;
        const MASK lesser = NAMED(first)((size_t)__builtin_popcount(less));
        const MASK others = NAMED(first)((size_t)__builtin_popcount(rest));

        V(mask_storeu)(low + lows, lesser, V(maskz_compress)(less, v));
        V(mask_storeu)(high + (i - lows), others, V(maskz_compress)(rest, v));
        lows += (size_t)__builtin_popcount(less);
    }
    return lows;
}

/* Words less than the pivot to the front of `to`, others behind them; returns how many are less. */
static size_t NAMED(split)(const WORD *from, WORD *to, size_t n, WORD pivot)
{
    const __m512i p = V(set1)((SIGNED)pivot);
    size_t low = 0, high = n, i = 0;

    for (; i + LANES <= n; i += LANES) {
        const __m512i v = V(loadu)(from + i);
        const MASK less = V_MASK(cmplt)(v, p);
        const size_t count = (size_t)__builtin_popcount(less);

        /* As many are left to come as there is space between the two, a whole vector at least. */
        V(storeu)(to + low, V(maskz_compress)(less, v));
        low += count;
        high -= LANES - count;
        V(mask_storeu)(to + high, NAMED(first)(LANES - count), V(maskz_compress)((MASK)~less, v));
    }
    if (i < n) {
        const MASK all = NAMED(first)(n - i);
        const __m512i v = V(maskz_loadu)(all, from + i);
        const MASK less = V_MASK(cmplt)(v, p) & all, rest = (MASK)~less & all;
        const size_t count = (size_t)__builtin_popcount(less);

        V(mask_storeu)(to + low, NAMED(first)(count), V(maskz_compress)(less, v));
        V(mask_storeu)(to + low + count, NAMED(first)(n - i - count), V(maskz_compress)(rest, v));
        low += count;
    }
    return low;
}

/* The median of three words in each lane. */
static inline __m512i NAMED(middle_of)(__m512i a, __m512i b, __m512i c)
{
    NAMED(in_order)(&a, &b);
    return V_UNSIGNED(max)(a, V_UNSIGNED(min)(b, c));
}

/* About the median of n words, three vectors at least: that of the medians of each lane of three
 * vectors, or of nine. */
static WORD NAMED(median)(const WORD *from, size_t n)
{
    const size_t samples = n < MANY ? 3 : 9, apart = n / samples;
    const WORD *first = from + (apart - LANES) / 2;
    __m512i middle[3];

    for (size_t i = 0; i < samples / 3; i++, first += 3 * apart)
        middle[i] =
            NAMED(middle_of)(V(loadu)(first), V(loadu)(first + apart), V(loadu)(first + 2 * apart));
    if (samples == 9)
        middle[0] = NAMED(middle_of)(middle[0], middle[1], middle[2]);
    NAMED(sort_vectors)(middle, 1);
    return (WORD)V_FIRST(V(permutexvar)(V(set1)(LANES / 2), middle[0]));
}

/* The middle of the range of the words: half as long a range is on either side. */
static WORD NAMED(middle)(const WORD *from, size_t n)
{
    WORD least = from[0], most = from[0];

    for (size_t i = 1; i < n; i++) {
        least = from[i] < least ? from[i] : least;
        most = from[i] > most ? from[i] : most;
    }
    return least + (most - least) / 2 + (most > least);
}

static void NAMED(sort)(NAMED(part) p)
{
    while (p.n > VECTORS_MAX * LANES) {
        WORD *const result = p.stays ? p.from : p.to, *const rest = p.stays ? p.to : p.from;
        WORD pivot;
        size_t low, high;

        if (p.samples_left) {
            pivot = NAMED(median)(p.from, p.n);
            p.samples_left--;
        } else {
            pivot = NAMED(middle)(p.from, p.n);
        }
        low = NAMED(partition)(p.from, result, rest, p.n, pivot);
        high = p.n - low;
        if (low) /* the space behind the rest is as large */
            NAMED(sort)((NAMED(part)){result, rest + high, low, true, p.samples_left});
        else if (pivot != (WORD)-1) /* it is the least: those that are equal to it are in order */
            low = NAMED(partition)(rest, result, rest, p.n, (WORD)(pivot + 1));
        else { /* and the greatest there is */
            memcpy(result, rest, p.n * sizeof(WORD));
            return;
        }
        p = (NAMED(part)){rest, result + low, p.n - low, false, p.samples_left};
    }
    NAMED(sort_few)(p.from, p.n, p.stays ? p.from : p.to);
}

static void NAMED(quick)(WORD *from, WORD *to, size_t n)
{
    unsigned samples = 16;

    for (size_t half = n; half > 1; half /= 2)
        samples++;
    NAMED(sort)((NAMED(part)){from, to, n, false, samples});
}
