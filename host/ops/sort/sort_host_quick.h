/*
 * Quicksort by vectors of AVX-512, for one type of words: included by sort_host_loops.c once for
 * each, with WORD the type, LANES of them in a vector, V(name) the intrinsic of that name for it,
 * and NAMED(name) the name with the type at its end.
 *
 * A pass partitions words from one array into the other: each vector is compressed to those that
 * are less than the pivot, which are put behind the others of that kind, and the rest, which are
 * put before the rest that is there already.
 */

typedef struct NAMED(part) {
    WORD *from, *to;
    size_t n;
    bool stays; /* the sorted words are to be in `from`, not in `to` */
    unsigned
        samples_left; /* pivots that are taken from samples; then the middle of the range is one */
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

/* Compare each lane with the one whose number differs in the bits of `other`: the lesser word goes
 * to the lane whose number lacks `bit`, the highest of them. */
static inline __attribute__((always_inline)) void NAMED(exchange)(__m512i word[], size_t vectors,
                                                                  size_t other, size_t bit)
{
    static const uint16_t with_bit[] = {[1] = 0xAAAA, [2] = 0xCCCC, [4] = 0xF0F0, [8] = 0xFF00};
    const __m512i lanes = _mm512_xor_si512(LANE_NUMBERS, V(set1)((SIGNED)other));

    for (size_t v = 0; v < vectors; v++) {
        const __m512i there = V(permutexvar)(lanes, word[v]);

        word[v] = V_UNSIGNED(mask_max)(V_UNSIGNED(min)(word[v], there), (MASK)with_bit[bit],
                                       word[v], there);
    }
}

/* Merge each run of so many vectors, whose halves are in order.  The second half is read backwards,
 * and so becomes the greater words of a bitonic sequence backwards, which is one as well. */
static inline __attribute__((always_inline)) void NAMED(merge)(__m512i word[], size_t vectors,
                                                               size_t run)
{
    const __m512i backwards = _mm512_xor_si512(LANE_NUMBERS, V(set1)(LANES - 1));
    __m512i before[VECTORS_MAX];

    for (size_t v = 0; v < vectors; v++)
        before[v] = word[v];
    for (size_t first = 0; first < vectors; first += run)
        for (size_t v = first; v < first + run / 2; v++) {
            const size_t mirrored = 2 * first + run - 1 - v;
            const __m512i there = V(permutexvar)(backwards, before[mirrored]);

            word[v] = V_UNSIGNED(min)(before[v], there);
            word[v + run / 2] = V_UNSIGNED(max)(before[v], there);
        }
    for (size_t apart = run / 4; apart; apart /= 2)
        for (size_t first = 0; first < vectors; first += 2 * apart)
            for (size_t v = first; v < first + apart; v++) {
                const __m512i here = word[v], there = word[v + apart];

                word[v] = V_UNSIGNED(min)(here, there);
                word[v + apart] = V_UNSIGNED(max)(here, there);
            }
    for (size_t bit = LANES / 2; bit; bit /= 2)
        NAMED(exchange)(word, vectors, bit, bit);
}

/* Sort up to so many vectors of words by a bitonic network: behind the words the greatest there is.
 */
static inline __attribute__((always_inline)) void NAMED(sort_in)(const WORD *from, size_t n,
                                                                 WORD *to, size_t vectors)
{
    __m512i word[VECTORS_MAX];

    for (size_t v = 0; v < vectors; v++)
        word[v] = V(mask_loadu)(V(set1)(-1), NAMED(from_to)(n, v), from + v * LANES);
    for (size_t run = 2; run <= LANES; run *= 2) {
        NAMED(exchange)(word, vectors, run - 1, run / 2);
        for (size_t bit = run / 4; bit; bit /= 2)
            NAMED(exchange)(word, vectors, bit, bit);
    }
    for (size_t run = 2; run <= vectors; run *= 2)
        NAMED(merge)(word, vectors, run);
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
    else
        NAMED(sort_in)(from, n, to, 8);
}

/* Words less than the pivot to the front of `to`, others behind them; returns how many are less. */
static size_t NAMED(partition)(const WORD *from, WORD *to, size_t n, WORD pivot)
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

/* The median of words that lie evenly apart. */
static WORD NAMED(median)(const WORD *from, size_t n)
{
    const size_t samples = n < MANY ? SAMPLES / 2 : SAMPLES, apart = n / samples;
    WORD sample[SAMPLES], sorted[SAMPLES];

    for (size_t i = 0; i < samples; i++)
        sample[i] = from[apart * i + apart / 2];
    NAMED(sort_few)(sample, samples, sorted);
    return sorted[samples / 2];
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
        WORD pivot;
        size_t low;

        if (p.samples_left) {
            pivot = NAMED(median)(p.from, p.n);
            p.samples_left--;
        } else {
            pivot = NAMED(middle)(p.from, p.n);
        }
        low = NAMED(partition)(p.from, p.to, p.n, pivot);
        if (low == 0) {
            /* It is the least of them: those that are equal to it are in order. */
            low = pivot == (WORD)-1 ? p.n : NAMED(partition)(p.from, p.to, p.n, (WORD)(pivot + 1));
            if (p.stays)
                memcpy(p.from, p.to, low * sizeof(WORD));
        } else {
            NAMED(sort)((NAMED(part)){p.to, p.from, low, !p.stays, p.samples_left});
        }
        p = (NAMED(part)){p.to + low, p.from + low, p.n - low, !p.stays, p.samples_left};
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
