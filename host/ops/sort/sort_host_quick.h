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

/* Words in so many vectors: each goes to as far as there are words before it, of equal ones those
 * in front. */
static inline __attribute__((always_inline)) void NAMED(rank_in)(const WORD *from, size_t n,
                                                                 WORD *to, size_t vectors)
{
    const __m512i ones = V(set1)(-1);
    __m512i word[4], rank[4];
    WORD words[(4 * LANES)], ranks[(4 * LANES)];

    for (size_t v = 0; v < vectors; v++) {
        word[v] = V(maskz_loadu)(NAMED(first)(n - v * LANES), from + v * LANES);
        V(storeu)(words + v * LANES, word[v]);
        rank[v] = _mm512_setzero_si512();
    }
    for (size_t at = 0; at < vectors; at++) {
        const size_t end = n - at * LANES < LANES ? n - at * LANES : LANES;

        for (size_t i = 0; i < end; i++) {
            const __m512i one = V(set1)((SIGNED)words[at * LANES + i]);
            const MASK behind = (MASK)~NAMED(first)(i + 1);

            for (size_t v = 0; v < vectors; v++) {
                const MASK before = v < at   ? V_MASK(cmplt)(one, word[v])
                                    : v > at ? V_MASK(cmple)(one, word[v])
                                             : (MASK)(V_MASK(cmplt)(one, word[v]) |
                                                      V_MASK(mask_cmpeq)(behind, one, word[v]));

                rank[v] = V(mask_sub)(rank[v], before, rank[v], ones);
            }
        }
    }
    for (size_t v = 0; v < vectors; v++)
        V(storeu)(ranks + v * LANES, rank[v]);
    for (size_t i = 0; i < n; i++)
        to[ranks[i]] = words[i];
}

/* A few words: the compiler has a loop for each number of vectors, in registers. */
static void NAMED(rank)(const WORD *from, size_t n, WORD *to)
{
    switch ((n + LANES - 1) / LANES) {
    case 0:
        return;
    case 1:
        NAMED(rank_in)(from, n, to, 1);
        return;
    case 2:
        NAMED(rank_in)(from, n, to, 2);
        return;
    case 3:
        NAMED(rank_in)(from, n, to, 3);
        return;
    default:
        NAMED(rank_in)(from, n, to, 4);
        return;
    }
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
    NAMED(rank)(sample, samples, sorted);
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
    while (p.n > (4 * LANES)) {
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
    NAMED(rank)(p.from, p.n, p.stays ? p.from : p.to);
}

static void NAMED(quick)(WORD *from, WORD *to, size_t n)
{
    unsigned samples = 16;

    for (size_t half = n; half > 1; half /= 2)
        samples++;
    NAMED(sort)((NAMED(part)){from, to, n, false, samples});
}
