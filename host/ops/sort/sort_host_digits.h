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

/* Where a word is counted: `even` is whether the digit has buckets, a constant for the compiler. */
static inline __attribute__((always_inline)) size_t NAMED(value)(WORD w, digit d, bool even)
{
    const size_t value = ORDER(w) >> d.shift & (((size_t)1 << d.bits) - 1);

    return even ? d.bucket[value] : value;
}

/* Of four words each is read before a count is written, which might be a word for all that the
 * compiler knows. */
static inline __attribute__((always_inline)) void NAMED(count_by)(const WORD *w, size_t n, digit d,
                                                                  bool even, size_t counts[])
{
    size_t i = 0;

    for (; i + 4 <= n; i += 4) {
        const size_t value[] = {NAMED(value)(w[i], d, even), NAMED(value)(w[i + 1], d, even),
                                NAMED(value)(w[i + 2], d, even), NAMED(value)(w[i + 3], d, even)};

        counts[value[0]]++;
        counts[value[1]]++;
        counts[value[2]]++;
        counts[value[3]]++;
    }
    for (; i < n; i++)
        counts[NAMED(value)(w[i], d, even)]++;
}

static void NAMED(count)(const void *words, size_t first, size_t n, digit d, size_t counts[])
{
    if (d.bucket)
        NAMED(count_by)((const WORD *)words + first, n, d, true, counts);
    else
        NAMED(count_by)((const WORD *)words + first, n, d, false, counts);
}

static inline __attribute__((always_inline)) void
NAMED(scatter_by)(const WORD *w, size_t n, digit d, bool even, size_t at[], WORD *to)
{
    size_t i = 0;

    for (; i + 4 <= n; i += 4) {
        const WORD word[] = {w[i], w[i + 1], w[i + 2], w[i + 3]};
        const size_t value[] = {NAMED(value)(word[0], d, even), NAMED(value)(word[1], d, even),
                                NAMED(value)(word[2], d, even), NAMED(value)(word[3], d, even)};

        to[at[value[0]]++] = word[0];
        to[at[value[1]]++] = word[1];
        to[at[value[2]]++] = word[2];
        to[at[value[3]]++] = word[3];
    }
    for (; i < n; i++)
        to[at[NAMED(value)(w[i], d, even)]++] = w[i];
}

/* The same of up to BUCKETS values, a cache line at a time.  The words that come next for a value
 * are kept in a line, which is stored when it is full; that value's next line is fetched meanwhile.
 * A word by itself would wait for a line that no cache has, and for its page. */
static inline __attribute__((always_inline)) void
NAMED(scatter_lines_by)(const WORD *w, size_t n, digit d, bool even, size_t at[], WORD *to)
{
    enum { PER_LINE = sizeof(cache_line) / sizeof(WORD) };
    const size_t digits = digit_counts(d), into = (uintptr_t)to % sizeof(cache_line) / sizeof(WORD);
    _Alignas(64) cache_line kept[BUCKETS];
    size_t start[BUCKETS] = {0};

    /* Positions count from the begin of a line, `into` words before `to`. */
    for (size_t v = 0; v < digits; v++)
        start[v] = at[v] += into;
    for (size_t i = 0; i < n; i++) {
        const WORD word = w[i];
        const size_t v = NAMED(value)(word, d, even), position = at[v]++;
        const size_t in_line = position % PER_LINE, line = position - in_line;
        WORD *const own = (WORD *)(void *)&kept[v];

        own[in_line] = word;
        if (in_line < PER_LINE - 1)
            continue;
        if (line >= start[v]) {
            *(cache_line *)(void *)(to + (line - into)) = kept[v];
            __builtin_prefetch(to + (line - into) + PER_LINE, 1);
        } else { /* its first words are those of another value, or of another thread */
            memcpy(to + (start[v] - into), own + (start[v] - line),
                   (position + 1 - start[v]) * sizeof(WORD));
        }
    }
    for (size_t v = 0; v < digits; v++) {
        const size_t line = at[v] / PER_LINE * PER_LINE;
        const size_t first = line > start[v] ? line : start[v];

        memcpy(to + (first - into), (WORD *)(void *)&kept[v] + (first - line),
               (at[v] - first) * sizeof(WORD));
        at[v] -= into;
    }
}

static void NAMED(scatter)(const void *words, size_t first, size_t n, digit d, size_t at[],
                           void *out)
{
    const size_t digits = digit_counts(d);
    const bool lines = digits >= LINES_VALUES_MIN && digits <= BUCKETS &&
                       (at[digits - 1] - at[0]) * sizeof(WORD) >= LINES_BYTES_MIN;
    const WORD *const w = (const WORD *)words + first;

    if (lines && d.bucket)
        NAMED(scatter_lines_by)(w, n, d, true, at, out);
    else if (lines)
        NAMED(scatter_lines_by)(w, n, d, false, at, out);
    else if (d.bucket)
        NAMED(scatter_by)(w, n, d, true, at, out);
    else
        NAMED(scatter_by)(w, n, d, false, at, out);
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
