/*
 * The variant in C for the host and for CPUs: keys become words, which
 * host/ops/sort/sort_host_words.h sorts.
 *
 * Short sequences are shared out to threads.  A long one is loaded by all of them, a chunk each,
 * and then split into parts, or put into buckets, which threads sort.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/fail.h"
#include "base/scratch.h"
#include "base/sizes.h"
#include "base/team.h"
#include "ops/sort/sort_commands.h"
#include "ops/sort/sort_host_words.h"
#include "ops/sort/sort_variants.h"

/* The arrays of a problem from the first key on, and how its keys are sorted. */
typedef struct sorting {
    const sort_words *kind;
    sort_map map;
    size_t key_bytes, value_bytes;
    unsigned char *keys;
    int64_t *index;        /* NULL: nobody asks for it */
    unsigned char *values; /* NULL: there are none */
} sorting;

/* So many keys and more are put into buckets by their first bits, on all threads, which then sort
 * buckets: one fits a cache, and all that are written side by side fit a table of pages.  Fewer
 * are, too, but BUCKETS_FROM_FEW, where there are threads that would have no sequence. */
enum {
    BUCKETS_FROM = 1 << 16,
    BUCKETS_FROM_FEW = 1 << 14,
    BUCKET_KEYS = 1 << 15,
    BUCKET_BITS_MIN = 5,
    BUCKET_BITS_MAX = 8
};

/* Of so many keys a sample decides what is a bucket.  Where one value of the first BUCKET_BITS_MAX
 * bits has more than an EVEN_SHARE, as with floats, which lie close together, values of more bits
 * make buckets of about one size: EVEN_BITS of them, fewer of short words, whose floats have fewer
 * bits of exponent.  Of FEW keys there are fewer samples and bits, as the other threads wait
 * meanwhile, and none for less than four threads, which splits keep busy. */
enum {
    EVEN_FEW = 1 << 18,
    EVEN_SAMPLES_LOG2 = 11,
    EVEN_SAMPLES_LOG2_FEW = 9,
    EVEN_SHARE = 40,
    EVEN_BITS = 16,
    EVEN_BITS_SHORT = 14,
    EVEN_BITS_FEW = 12,
    EVEN_THREADS_FEW = 4
};

static unsigned even_bits(const sort_words *kind, size_t n)
{
    if (n < EVEN_FEW)
        return EVEN_BITS_FEW;
    return kind->bytes > sizeof(uint32_t) ? EVEN_BITS : EVEN_BITS_SHORT;
}

static unsigned even_samples_log2(size_t n)
{
    return n < EVEN_FEW ? EVEN_SAMPLES_LOG2_FEW : EVEN_SAMPLES_LOG2;
}

/* A bucket of a larger share, and that many keys, is put into buckets again, so that no thread has
 * it alone. */
enum { LARGE_SHARE = 32 };

/* Chunk c of n keys in `chunks` about equal ones. */
static sort_part chunk_of(size_t n, size_t chunks, size_t c)
{
    const size_t start = n / chunks * c + size_min(c, n % chunks);

    return (sort_part){start, n / chunks + (c < n % chunks)};
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* For a sequence, one allocation. */
typedef struct scratch {
    size_t *counts;                      /* of each chunk */
    size_t *cells;                       /* counts of values of even_bits(), and a byte for each */
    unsigned char *words, *other, *copy; /* `copy` of values */
} scratch;

/* The scratch of n keys, with so many counts, in `memory`, or where that would be; `bytes` becomes
 * its size.  Words of keys alone have the place of the keys beside their own.  False: too large. */
static bool scratch_in(const sorting *x, unsigned char *memory, size_t n, size_t counts,
                       scratch *out, size_t *bytes)
{
    enum { ALIGN = 64 };
    const size_t words = x->index || x->values ? 2 : 1;
    const size_t cells = counts ? (sizeof(size_t) + 1) << even_bits(x->kind, n) : 0;
    size_t each, all = counts * sizeof(size_t) + cells;

    if (n > SIZE_MAX - ALIGN || !size_mul(size_round_up(n, ALIGN), x->kind->bytes, &each) ||
        !size_mul(each, words, bytes) || !size_add(*bytes, all, bytes) ||
        !size_add(*bytes, size_round_up(n * x->value_bytes, ALIGN), bytes))
        return false;
    if (!memory)
        return true;
    out->counts = (size_t *)(void *)memory;
    out->cells = out->counts + counts;
    out->words = memory + all;
    out->other = words == 2 ? out->words + each : NULL;
    out->copy = out->words + words * each;
    return true;
}

static tsr_status no_memory(const problem *p, size_t n, tsr_error *err)
{
    return tsr_fail(err, TSR_ENOMEM, 0, "%s: no memory to sort %zu keys", p->op->name, n);
}

/* ---- one sequence ---------------------------------------------------------------------------- */

/* A sequence of keys, and the memory to sort it. */
typedef struct sequence {
    const sorting *x;
    unsigned char *keys, *values;
    int64_t *index;
    unsigned char *words, *other, *copy;
    size_t *counts, *cells;
} sequence;

static sequence sequence_at(const sorting *x, size_t start, const scratch *memory)
{
    unsigned char *keys = x->keys + start * x->key_bytes;

    return (sequence){.x = x,
                      .keys = keys,
                      .index = x->index ? x->index + start : NULL,
                      .values = x->values ? x->values + start * x->value_bytes : NULL,
                      .words = memory->words,
                      .other = memory->other ? memory->other : keys,
                      .copy = memory->copy,
                      .counts = memory->counts,
                      .cells = memory->cells};
}

/* Make words of a part of the keys; returns the bits in which any differs from the first of all. */
static uint64_t load(const sequence *q, sort_part part)
{
    const size_t bytes = q->x->value_bytes;

    if (q->values)
        memcpy(q->copy + part.start * bytes, q->values + part.start * bytes, part.n * bytes);
    return q->x->kind->load(&q->x->map, q->keys, part.start, part.n, q->words);
}

/* Put a part of the result from its words. */
static void unload(const sequence *q, const void *words, sort_part part)
{
    const sort_words *kind = q->x->kind;

    kind->unload(&q->x->map, words, part.start, part.n, q->keys, q->index);
    if (!q->values)
        return;

#define MOVE(bytes)                                                                                \
    case bytes:                                                                                    \
        for (size_t i = part.start; i < part.start + part.n; i++)                                  \
            memcpy(q->values + i * (bytes), q->copy + sort_word_index(kind, words, i) * (bytes),   \
                   bytes);                                                                         \
        break

    switch (q->x->value_bytes) {
        MOVE(1);
        MOVE(2);
        MOVE(4);
        MOVE(8);
        MOVE(16);
    default:
        break;
    }
#undef MOVE
}

static void sort_short(const sequence *q, size_t n)
{
    const uint64_t varies = load(q, (sort_part){0, n});

    unload(q, q->x->kind->sort(q->words, q->other, n, varies), (sort_part){0, n});
}

/* So many of the topmost bits that vary, or all of them. */
static digit topmost(uint64_t varies, unsigned bits)
{
    const unsigned top = 64 - (unsigned)__builtin_clzll(varies);

    return top > bits ? (digit){.shift = top - bits, .bits = bits} : (digit){.bits = top};
}

/* The topmost bits that vary: so many that a bucket of evenly spread keys is small. */
static digit bucket_digit(uint64_t varies, size_t n)
{
    const unsigned wanted = size_log2_up(size_div_up(n, BUCKET_KEYS));

    return topmost(varies, wanted < BUCKET_BITS_MIN   ? BUCKET_BITS_MIN
                           : wanted > BUCKET_BITS_MAX ? BUCKET_BITS_MAX
                                                      : wanted);
}

/* Count the values that a digit has in a sample of the words, in q->cells. */
static void count_sample(const sequence *q, sort_part part, digit d)
{
    const size_t samples = (size_t)1 << even_samples_log2(part.n), apart = part.n / samples;

    memset(q->cells, 0, digit_counts(d) * sizeof(*q->cells));
    for (size_t i = 0; i < samples; i++)
        q->x->kind->count(q->words, part.start + apart * i + apart / 2, 1, d, q->cells);
}

/* The topmost bits that vary, each value of which is a bucket, if none of a sample has more than an
 * EVEN_SHARE; else more bits, with buckets for their values that have about as many words each, in
 * the sequence's memory.  *even: no bucket of the sample has more than a LARGE_SHARE. */
static digit even_digit(const sequence *q, sort_part part, uint64_t varies, bool *even)
{
    const unsigned bits = even_bits(q->x->kind, part.n);
    const unsigned samples_log2 = even_samples_log2(part.n);
    const size_t samples = (size_t)1 << samples_log2;
    uint8_t *bucket = (uint8_t *)(q->cells + ((size_t)1 << bits));
    digit d = topmost(varies, part.n < EVEN_FEW ? BUCKET_BITS_MAX - 1 : BUCKET_BITS_MAX);
    size_t before = 0, start = 0; /* of the value, and of its bucket */

    count_sample(q, part, d);
    *even = true;
    for (size_t v = 0; v < digit_counts(d); v++)
        *even = *even && q->cells[v] <= samples / EVEN_SHARE;
    if (*even)
        return d;

    d = topmost(varies, bits);
    count_sample(q, part, d);
    *even = true;
    for (size_t v = 0; v < digit_counts(d); v++) {
        bucket[v] = (uint8_t)size_min(before * BUCKETS >> samples_log2, BUCKETS - 1);
        if (v && bucket[v] != bucket[v - 1])
            start = before;
        before += q->cells[v];
        *even = *even && before - start <= samples / LARGE_SHARE;
    }
    d.bucket = bucket;
    return d;
}

/* Sort a part of the words, in `words`, by the bits that vary, and put them. */
static void sort_and_put(const sequence *q, unsigned char *words, unsigned char *other, sort_part b,
                         uint64_t varies)
{
    const size_t start = b.start * q->x->kind->bytes;
    const void *const sorted = q->x->kind->sort(words + start, other + start, b.n, varies);

    unload(q, sorted == words + start ? words : other, b);
}

/* Words that are put into buckets, from `words` to `other`: a part of a sequence. */
typedef struct buckets {
    const sequence *q;
    unsigned char *words, *other;
    sort_part part;
    digit digit;
    size_t chunks, *counts; /* of each chunk; later where the buckets end */
    size_t large;           /* larger ones are left */
} buckets;

static void count_chunk(void *context, size_t c, size_t who)
{
    const buckets *x = context;
    const sort_words *kind = x->q->x->kind;
    const sort_part chunk = chunk_of(x->part.n, x->chunks, c);
    const size_t digits = digit_counts(x->digit);
    size_t *counts = x->counts + c * digits;

    (void)who;
    memset(counts, 0, digits * sizeof(*counts));
    kind->count(x->words + x->part.start * kind->bytes, chunk.start, chunk.n, x->digit, counts);
}

static void scatter_chunk(void *context, size_t c, size_t who)
{
    const buckets *x = context;
    const sort_words *kind = x->q->x->kind;
    const size_t start = x->part.start * kind->bytes;
    const sort_part chunk = chunk_of(x->part.n, x->chunks, c);

    (void)who;
    kind->scatter(x->words + start, chunk.start, chunk.n, x->digit,
                  x->counts + c * digit_counts(x->digit), x->other + start);
}

/* Words of which it is asked what bits vary, a chunk an item. */
typedef struct varying {
    const sort_words *kind;
    const unsigned char *words;
    sort_part part;
    size_t chunks;
    atomic_uint_least64_t varies;
} varying;

static void compare_chunk(void *context, size_t c, size_t who)
{
    varying *x = context;
    const sort_part chunk = chunk_of(x->part.n, x->chunks, c);
    const size_t first = x->part.start + chunk.start;

    (void)who;
    if (chunk.n)
        atomic_fetch_or(&x->varies, x->kind->varies(x->words, x->part.start, first, chunk.n));
}

/* The bits in which any word of a part differs from the first of them. */
static uint64_t varies_in(const sort_words *kind, const unsigned char *words, sort_part part,
                          size_t threads)
{
    varying x = {.kind = kind, .words = words, .part = part, .chunks = threads};

    team_run(threads, threads, compare_chunk, &x);
    return x.varies;
}

static sort_part bucket_at(const buckets *x, size_t i)
{
    const size_t start = i ? x->counts[i - 1] : 0;

    return (sort_part){x->part.start + start, x->counts[i] - start};
}

static void sort_bucket(void *context, size_t i, size_t who)
{
    const buckets *x = context;
    const sort_words *kind = x->q->x->kind;
    const sort_part b = bucket_at(x, i);

    (void)who;
    /* Words that may be split are sorted by vectors, which need no bits. */
    if (b.n && b.n <= x->large)
        sort_and_put(x->q, x->other, x->words, b,
                     kind->split ? UINT64_MAX : kind->varies(x->other, b.start, b.start, b.n));
}

/* Put words from `words` into buckets in `other` by a digit, which threads then sort.  A large
 * bucket, which by even_digit() may have all words, is put into buckets by the topmost bits that
 * vary in it, which two have. */
static void sort_by_buckets(const sequence *q, unsigned char *words, unsigned char *other,
                            sort_part part, digit by, size_t threads)
{
    buckets x = {.q = q,
                 .words = words,
                 .other = other,
                 .part = part,
                 .digit = by,
                 .chunks = threads,
                 .counts = q->counts,
                 .large = size_max(BUCKETS_FROM, part.n / LARGE_SHARE)};
    const size_t digits = digit_counts(x.digit);
    sort_part again[LARGE_SHARE];
    size_t n_again = 0;

    team_run(threads, threads, count_chunk, &x);
    sort_digit_starts(x.counts, threads, x.digit);
    team_run(threads, threads, scatter_chunk, &x);
    /* The last chunk's words of a digit end where those of the next digit begin. */
    x.counts += (threads - 1) * digits;
    for (size_t i = 0; i < digits; i++)
        if (bucket_at(&x, i).n > x.large)
            again[n_again++] = bucket_at(&x, i);
    team_run(threads, digits, sort_bucket, &x);
    for (size_t i = 0; i < n_again; i++) {
        const uint64_t left = varies_in(q->x->kind, other, again[i], threads);

        if (left)
            sort_by_buckets(q, other, words, again[i], bucket_digit(left, again[i].n), threads);
        else
            unload(q, other, again[i]);
    }
}

/* Parts that are smaller are sorted by one thread, and parts of so many splits, most of which were
 * then far from halves. */
enum { SPLIT_FROM = 1 << 15, SPLITS_MAX = 64 };

/* Bytes of words for each of two threads: more fit no cache, and are put into buckets, in two
 * passes through memory where splits take one each; so are they for more threads, which have to
 * wait until the first splits are done. */
enum { SPLIT_BYTES_MAX = 1 << 25 };

/* A part of the words that is split in two, the lesser ones in front. */
typedef struct halves {
    const sequence *q;
    unsigned char *words, *other;
    sort_part part;
    size_t low;      /* of the first half */
    unsigned splits; /* that came before, this one among them */
} halves;

static void sort_half(void *context, size_t i, size_t who);

/* Split words in two and these in two again, from `words` to `other` and back, each half for
 * whatever thread is free.  `splits` have come before. */
static void sort_by_splitting(const sequence *q, unsigned char *words, unsigned char *other,
                              sort_part part, unsigned splits)
{
    const sort_words *kind = q->x->kind;
    const size_t start = part.start * kind->bytes;
    halves h = {q, other, words, part, 0, splits + 1};

    if (part.n >= SPLIT_FROM && splits < SPLITS_MAX)
        h.low = kind->split(words + start, other + start, part.n);
    if (h.low)
        team_run(2, 2, sort_half, &h);
    else /* By all bits: a split is not stable, and equal keys are to be sorted by their index. */
        sort_and_put(q, words, other, part, UINT64_MAX);
}

static void sort_half(void *context, size_t i, size_t who)
{
    const halves *h = context;
    const sort_part part = i ? (sort_part){h->part.start + h->low, h->part.n - h->low}
                             : (sort_part){h->part.start, h->low};

    (void)who;
    sort_by_splitting(h->q, h->words, h->other, part, h->splits);
}

/* The keys of a sequence that become words, a chunk an item. */
typedef struct loading {
    const sequence *q;
    size_t n, chunks;
    atomic_uint_least64_t varies;
} loading;

static void load_chunk(void *context, size_t c, size_t who)
{
    loading *x = context;

    (void)who;
    atomic_fetch_or(&x->varies, load(x->q, chunk_of(x->n, x->chunks, c)));
}

static void sort_long(const sequence *q, size_t n, size_t threads)
{
    const sort_words *kind = q->x->kind;
    const sort_part all = {0, n};
    const bool splits = kind->split && n * kind->bytes <= 2 * SPLIT_BYTES_MAX / threads;
    loading loaded = {.q = q, .n = n, .chunks = threads};
    halves h = {q, q->other, q->words, all, 0, 1};
    /* Short words are split first: 300000 uint32 take 0.96 ms so, and 1.41 by even buckets. */
    const bool first = splits && kind->bytes == sizeof(uint32_t) && threads < EVEN_THREADS_FEW;
    digit by = {0};

    team_run(threads, threads, load_chunk, &loaded);
    if (!loaded.varies) {
        unload(q, q->words, all);
        return;
    }
    h.low = first ? kind->split(q->words, q->other, n) : 0;
    if (!h.low) {
        bool even = n >= EVEN_FEW || threads >= EVEN_THREADS_FEW;

        by = even ? even_digit(q, all, loaded.varies, &even) : bucket_digit(loaded.varies, n);
        /* Even buckets of long words take up to a seventh less time than splits, and others far
         * more. */
        if (splits && !first && !even)
            h.low = kind->split(q->words, q->other, n);
    }
    if (h.low)
        team_run(2, 2, sort_half, &h);
    else
        sort_by_buckets(q, q->words, q->other, all, by, threads);
}

/* ---- all sequences --------------------------------------------------------------------------- */

/* Those of `from` keys and more, each on all threads; *longest becomes the most keys of the others.
 */
static tsr_status sort_long_parts(const problem *p, const sorting *x, const sort_parts *parts,
                                  size_t from, size_t *longest, tsr_error *err)
{
    size_t bytes, n = 0;
    unsigned char *memory;
    size_t counts;
    scratch s;

    *longest = 0;
    for (size_t i = 0; i < parts->count; i++) {
        const size_t keys = sort_part_at(parts, i).n;

        n = size_max(n, keys);
        *longest = keys < from ? size_max(*longest, keys) : *longest;
    }
    if (n < from)
        return TSR_OK;
    counts = sort_threads(n) << BUCKET_BITS_MAX;
    memory = scratch_in(x, NULL, n, counts, &s, &bytes) ? scratch_take(bytes) : NULL;
    if (!memory)
        return no_memory(p, n, err);
    scratch_in(x, memory, n, counts, &s, &bytes);
    for (size_t i = 0; i < parts->count; i++) {
        const sort_part part = sort_part_at(parts, i);
        const sequence q = sequence_at(x, part.start, &s);

        if (part.n >= from)
            sort_long(&q, part.n, sort_threads(part.n));
    }
    scratch_give(memory);
    return TSR_OK;
}

/* Sequences that are shared out to threads, some at a time, and memory for one of each thread. */
typedef struct short_parts {
    const sorting *x;
    const sort_parts *parts;
    size_t n, bytes, at_once; /* n: of the longest */
    unsigned char *memory;
} short_parts;

static void sort_some(void *context, size_t item, size_t who)
{
    const short_parts *y = context;
    const size_t first = item * y->at_once;
    const size_t end = size_min(first + y->at_once, y->parts->count);
    size_t own = y->bytes;
    scratch s;

    scratch_in(y->x, y->memory + who * y->bytes, y->n, 0, &s, &own);
    for (size_t i = first; i < end; i++) {
        const sort_part part = sort_part_at(y->parts, i);
        const sequence q = sequence_at(y->x, part.start, &s);

        if (part.n && part.n <= y->n)
            sort_short(&q, part.n);
    }
}

/* The others, of up to n keys, shared out to threads. */
static tsr_status sort_short_parts(const problem *p, const sorting *x, const sort_parts *parts,
                                   size_t n, tsr_error *err)
{
    enum { PARTS_AT_ONCE = 64, TURNS = 16 };
    const size_t threads = size_min(sort_threads(sort_keys(sort_of(p))), parts->count);
    short_parts y = {.x = x, .parts = parts, .n = n};
    scratch first;
    size_t all;

    if (n == 0)
        return TSR_OK;
    if (scratch_in(x, NULL, n, 0, &first, &y.bytes) && size_mul(y.bytes, threads, &all))
        y.memory = scratch_take(all);
    if (!y.memory)
        return no_memory(p, n, err);
    y.at_once = size_min(PARTS_AT_ONCE, size_div_up(parts->count, threads * TURNS));
    team_run(threads, size_div_up(parts->count, y.at_once), sort_some, &y);
    scratch_give(y.memory);
    return TSR_OK;
}

tsr_status sort_host_parts(const problem *p, const sort_parts *parts, void *const operands[],
                           tsr_error *err)
{
    const tsr_sort_problem *s = parts->keys;
    const size_t bytes = tsr_type_size(s->type);
    sorting x = {.map = sort_map_of(s->type, s->descending),
                 .key_bytes = bytes,
                 .value_bytes = s->value_bytes};
    const bool few = parts->count < sort_threads(sort_keys(s));
    size_t longest;
    tsr_status st;

    if (sort_is_done(s))
        return TSR_OK;
    x.kind = sort_words_of(bytes, sort_with_index(s), s->n);
    x.keys = (unsigned char *)operands[0] + s->offset_keys * bytes;
    if (s->argsort)
        x.index = (int64_t *)operands[1] + s->offset_index;
    if (s->value_bytes)
        x.values = (unsigned char *)operands[2] + s->offset_values * s->value_bytes;
    st = sort_long_parts(p, &x, parts, few ? BUCKETS_FROM_FEW : BUCKETS_FROM, &longest, err);
    return st ? st : sort_short_parts(p, &x, parts, longest, err);
}

static tsr_status run_host_radix(const problem *p, void *const operands[], tsr_error *err)
{
    const sort_parts rows = sort_parts_of_rows(sort_of(p));

    return sort_host_parts(p, &rows, operands, err);
}

const variant sort_host_radix = {
    .name = "host-radix",
    .idea = "in C on every core: a quicksort of vectors where there is AVX-512, else by digits",
    .plan = plan_in_c,
    .host = run_host_radix,
    .serves_cpus = true,
};
