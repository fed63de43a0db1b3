/*
 * The variant in C for the host and for CPUs: keys that may be among the first are collected, and
 * the others passed over by vectors.
 *
 * Once k keys have been seen, a key that is not before the k-th of them is not wanted; of equal
 * keys the earlier one is.  What is collected is cut down to k whenever it fills its memory.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/isa.h"
#include "base/sizes.h"
#include "base/team.h"
#include "ops/sort/sort_commands.h"
#include "ops/sort/sort_host_loops.h"
#include "ops/sort/sort_host_words.h"
#include "ops/sort/sort_partition.h"
#include "ops/sort/sort_variants.h"
#include "ops/topk/topk_problem.h"

/* Keys that are looked at between two looks at the memory; and the least that is collected before
 * it is cut down. */
enum { BLOCK = 1024, COLLECTED_MIN = 256 };

/* Keys that are passed over in the time that one is sorted. */
enum { KEYS_PER_SORTED = 4 };

/* Shares of the rows that a thread takes, on average: one that begins late leaves some to others.
 */
enum { TURNS = 4 };

/* A share of more keys that are collected is sorted sooner: 1 in so many. */
enum { SORTED_SHARE = 4 };

typedef struct search {
    const sort_words *pairs;
    sort_take *take;
    sort_map map;
    size_t n, k;
    size_t capacity; /* of the memory for what is collected, BLOCK more than it is cut down from */
} search;

/* What is collected, and as much memory to sort it. */
typedef struct collection {
    word_pair *pair, *other;
    size_t count;
} collection;

/* In order, and no more than k. */
static void cut_down(const search *x, collection *c)
{
    void *const sorted =
        x->pairs->sort(c->pair, c->other, c->count, x->pairs->varies(c->pair, 0, 0, c->count));

    if (sorted == c->other) {
        c->other = c->pair;
        c->pair = sorted;
    }
    c->count = size_min(c->count, x->k);
}

/* Collect from keys `first` to before `end` of a row; false: too many for that to be the way. */
static bool collect(const search *x, const void *keys, size_t first, size_t end, collection *c)
{
    const size_t most = (end - first) / SORTED_SHARE + x->capacity;
    uint64_t limit = 0;
    bool all = true; /* fewer than k were seen, and there is no limit */
    size_t taken = 0;

    c->count = 0;
    for (size_t i = first; i < end; i += BLOCK) {
        const size_t n =
            x->take(&x->map, keys, i, size_min(BLOCK, end - i), all, limit, c->pair + c->count);

        c->count += n;
        taken += n;
        if (taken > most)
            return false;
        if (c->count + BLOCK <= x->capacity)
            continue;
        cut_down(x, c);
        all = c->count < x->k;
        limit = c->pair[c->count - 1].key;
    }
    cut_down(x, c);
    return true;
}

/* The chunks of a row, each with its collection. */
typedef struct shared_row {
    const search *x;
    const void *keys;
    size_t count;
    collection *c;
    atomic_bool too_many;
} shared_row;

static void collect_chunk(void *context, size_t i, size_t who)
{
    shared_row *r = context;
    const size_t each = r->x->n / r->count, end = i + 1 < r->count ? each * (i + 1) : r->x->n;

    (void)who;
    if (!collect(r->x, r->keys, each * i, end, &r->c[i]))
        r->too_many = true;
}

/* The first keys of a row into c[0], of whose chunks each thread takes one. */
static bool find_first(const search *x, const void *keys, size_t count, collection c[])
{
    shared_row r = {.x = x, .keys = keys, .count = count, .c = c};

    if (count == 1)
        return collect(x, keys, 0, x->n, c);
    team_run(count, count, collect_chunk, &r);
    if (r.too_many)
        return false;
    for (size_t i = 1; i < count; i++) {
        memcpy(c[0].pair + c[0].count, c[i].pair, c[i].count * sizeof(word_pair));
        c[0].count += c[i].count;
    }
    cut_down(x, &c[0]);
    return true;
}

/* Put what was found to the start of its row. */
static void put(const search *x, const collection *c, unsigned char *keys, int64_t *index,
                unsigned char *values, size_t value_bytes)
{
    unsigned char *const moved = (unsigned char *)c->other;

    x->pairs->unload(&x->map, c->pair, 0, c->count, keys, index);
    if (!values)
        return;
    for (size_t i = 0; i < c->count; i++)
        memcpy(moved + i * value_bytes, values + c->pair[i].index * value_bytes, value_bytes);
    memcpy(values, moved, c->count * value_bytes);
}

/* One row; `chunks` is the number of threads that share it.  The row is sorted where many of its
 * keys would be collected. */
static tsr_status run_row(const search *x, const problem *p, size_t row, void *const operands[],
                          size_t chunks, collection c[], tsr_error *err)
{
    tsr_sort_problem s = *sort_of(p);
    const size_t bytes = tsr_type_size(s.type);
    unsigned char *keys, *values = NULL;
    int64_t *index = NULL;
    problem one;

    s.offset_keys += row * s.n;
    keys = (unsigned char *)operands[SORT_KEYS] + s.offset_keys * bytes;
    if (s.argsort) {
        s.offset_index += row * s.n;
        index = (int64_t *)operands[SORT_INDEX] + s.offset_index;
    }
    if (s.value_bytes) {
        s.offset_values += row * s.n;
        values = (unsigned char *)operands[SORT_VALUES] + s.offset_values * s.value_bytes;
    }
    if (find_first(x, keys, chunks, c)) {
        put(x, &c[0], keys, index, values, s.value_bytes);
        return TSR_OK;
    }
    s.rows = 1;
    one = sort_problem(s);
    return sort_host_radix.host(&one, operands, err);
}

/* Memory of `count` collections of so many words, one allocation; NULL: there is none. */
static word_pair *open_collections(size_t count, size_t words, collection **out)
{
    size_t all;
    word_pair *memory;

    *out = calloc(count, sizeof(**out));
    memory = *out && size_mul(2 * count, words, &all) && size_mul(all, sizeof(*memory), &all)
                 ? malloc(all)
                 : NULL;
    for (size_t i = 0; i < count && memory; i++)
        (*out)[i] =
            (collection){.pair = memory + 2 * i * words, .other = memory + (2 * i + 1) * words};
    return memory;
}

/* Rows that are shared out to threads, some at a time, each with a collection. */
typedef struct shared_rows {
    const search *x;
    const problem *p;
    void *const *operands;
    collection *c;
    size_t rows, at_once;
    atomic_bool failed;
} shared_rows;

static void run_rows(void *context, size_t item, size_t who)
{
    shared_rows *y = context;
    const size_t first = item * y->at_once, end = size_min(first + y->at_once, y->rows);

    for (size_t r = first; r < end; r++)
        if (run_row(y->x, y->p, r, y->operands, 1, &y->c[who], NULL) != TSR_OK)
            y->failed = true;
}

static tsr_status run_host_top(const problem *p, void *const operands[], tsr_error *err)
{
    static sort_take *const takes[][ISA_COUNT] = {{ISA_EACH(sort_take_8)},
                                                  {ISA_EACH(sort_take_16)},
                                                  {ISA_EACH(sort_take_32)},
                                                  {ISA_EACH(sort_take_64)}};
    const tsr_sort_problem *s = sort_of(p);
    const size_t bytes = tsr_type_size(s->type), rows = sort_rows(s);
    const size_t threads = sort_threads(sort_keys(s) / KEYS_PER_SORTED);
    const size_t chunks = rows < threads ? sort_threads(s->n / KEYS_PER_SORTED) : 1;
    search x = {.pairs = sort_words_of(bytes, true, SIZE_MAX),
                .take = takes[size_log2_up(bytes)][isa_best()],
                .map = sort_map_of(s->type, s->descending),
                .n = s->n,
                .k = topk_kept(topk_of(p))};
    shared_rows y = {.x = &x, .p = p, .operands = operands, .rows = rows};
    word_pair *memory;

    if (s->n == 0)
        return TSR_OK;
    x.capacity = size_max(x.k, COLLECTED_MIN) + x.k + BLOCK;
    memory = open_collections(threads, size_max(x.capacity, chunks * x.k), &y.c);
    if (!memory) {
        free(y.c);
        return tsr_fail(err, TSR_ENOMEM, 0, "topk: no memory for %zu keys of %zu threads", x.k,
                        threads);
    }
    if (chunks > 1) {
        for (size_t r = 0; r < rows; r++)
            if (run_row(&x, p, r, operands, chunks, y.c, NULL) != TSR_OK)
                y.failed = true;
    } else {
        y.at_once = size_div_up(rows, threads * TURNS);
        team_run(threads, size_div_up(rows, y.at_once), run_rows, &y);
    }
    free(memory);
    free(y.c);
    return y.failed
               ? tsr_fail(err, TSR_ENOMEM, 0, "topk: no memory to sort a row of %zu keys", s->n)
               : TSR_OK;
}

const variant topk_host_top = {
    .name = "host-top",
    .idea = "in C, each core passes over keys by vectors and collects those that may be among the "
            "first",
    .plan = plan_in_c,
    .host = run_host_top,
    .serves_cpus = true,
};
