/*
 * Sorting words of one type: included by sort_host_words.c once for each, with WORD the type and
 * ORDER(w) the unsigned integer, an ORDER_TYPE, that it is sorted by.  NAMED(name) is the name with
 * the type at its end.  All ways are stable.
 */

/* A few words: each goes to as far as there are words before it.  Nothing branches on a key. */
static void NAMED(rank)(const WORD *w, size_t n, WORD *out)
{
    ORDER_TYPE key[RANKED_MAX], rank[RANKED_MAX];

    for (size_t i = 0; i < n; i++) {
        ORDER_TYPE greater = 0;

        key[i] = ORDER(w[i]);
        for (size_t j = 0; j < i; j++) {
            const ORDER_TYPE is = key[j] > key[i];

            rank[j] += is;
            greater += is;
        }
        rank[i] = (ORDER_TYPE)(i - greater);
    }
    for (size_t i = 0; i < n; i++)
        out[rank[i]] = w[i];
}

static uint64_t NAMED(varies)(const void *words, size_t one, size_t first, size_t n)
{
    const WORD *w = (const WORD *)words + first;
    const ORDER_TYPE order = ORDER(((const WORD *)words)[one]);
    ORDER_TYPE varies = 0;

    OMP(simd reduction(| : varies))
    for (size_t i = 0; i < n; i++)
        varies |= ORDER(w[i]) ^ order;
    return varies;
}

static inline size_t NAMED(value)(WORD w, digit d)
{
    return ORDER(w) >> d.shift & (((size_t)1 << d.bits) - 1);
}

static void NAMED(count)(const void *words, size_t first, size_t n, digit d, size_t counts[])
{
    const WORD *w = (const WORD *)words + first;

    if (d.bucket)
        for (size_t i = 0; i < n; i++)
            counts[d.bucket[NAMED(value)(w[i], d)]]++;
    else
        for (size_t i = 0; i < n; i++)
            counts[NAMED(value)(w[i], d)]++;
}

static void NAMED(scatter)(const void *words, size_t first, size_t n, digit d, size_t at[],
                           void *out)
{
    const WORD *w = (const WORD *)words + first;
    WORD *to = out;

    if (d.bucket)
        for (size_t i = 0; i < n; i++)
            to[at[d.bucket[NAMED(value)(w[i], d)]]++] = w[i];
    else
        for (size_t i = 0; i < n; i++)
            to[at[NAMED(value)(w[i], d)]++] = w[i];
}

static void *NAMED(sort)(void *words, void *other, size_t n, uint64_t varies)
{
    void *from = words, *to = other, *swap;
    size_t at[1 << DIGIT_BITS_MAX];

    if (varies && n <= RANKED_MAX) {
        NAMED(rank)(from, n, to);
        return to;
    }
    while (varies) {
        const digit d = next_digit(&varies, n);

        memset(at, 0, digit_counts(d) * sizeof(*at));
        NAMED(count)(from, 0, n, d, at);
        sort_digit_starts(at, 1, d);
        NAMED(scatter)(from, 0, n, d, at, to);
        swap = from;
        from = to;
        to = swap;
    }
    return from;
}
