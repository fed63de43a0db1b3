/* The variants in C: a plain loop, and tables of each thread's own. */
#include <stdlib.h>
#include <string.h>

#include "base/elements.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "base/team.h"
#include "core/real.h"
#include "ops/histogram/histogram_loops.h"
#include "ops/histogram/histogram_problem.h"

/* The counts, or sums of weights, which are 0 unless they are added to. */
static void *counts_of(const tsr_histogram_problem *p, void *const operands[])
{
    const size_t size = tsr_type_size(histogram_sum_type(p));
    char *counts = (char *)operands[HISTOGRAM_COUNTS] + p->offset_counts * size;

    if (!p->add)
        memset(counts, 0, p->bins * size);
    return counts;
}

/* Add the weight of element i, or 1, to the count of a bin. */
static void add_to_count(const tsr_histogram_problem *p, void *counts, size_t bin,
                         const void *weights, size_t i)
{
    const tsr_type type = histogram_sum_type(p);
    uint64_t *whole = counts;

    if (p->weights && type_is_real(type))
        real_set(type, counts, bin,
                 real_get(type, counts, bin) + real_get(type, weights, p->offset_weights + i));
    else
        whole[bin] += p->weights ? ((const uint64_t *)weights)[p->offset_weights + i] : 1;
}

static tsr_status run_loop(const problem *q, void *const operands[], tsr_error *err)
{
    const tsr_histogram_problem *p = histogram_of(q);
    const tsr_type type = tsr_histogram_edge_type(p->type);
    const void *edges = operands[HISTOGRAM_EDGES];
    const void *weights = p->weights ? operands[HISTOGRAM_WEIGHTS] : NULL;
    void *counts = counts_of(p, operands);

    (void)err;
    for (size_t i = 0; i < p->n; i++) {
        const double v = histogram_value(p->type, operands[HISTOGRAM_X], p->offset_x + i);
        size_t low = 0, high = p->bins; /* it is in a bin from `low` to before `high`, or in none */

        if (!(v >= real_get(type, edges, p->offset_edges) &&
              v <= real_get(type, edges, p->offset_edges + p->bins)))
            continue;
        while (high - low > 1) {
            const size_t middle = low + (high - low) / 2;

            if (v >= real_get(type, edges, p->offset_edges + middle))
                low = middle;
            else
                high = middle;
        }
        add_to_count(p, counts, low, weights, i);
    }
    return TSR_OK;
}

const variant histogram_loop = {.name = "loop",
                                .idea = "the plain loop: a binary search for each element",
                                .plan = plan_in_c,
                                .host = run_loop};

/* ---- tables --------------------------------------------------------------------------------- */

static histogram_loop_of *const loops[] = {ISA_EACH(histogram_count)};

/* Elements that are worth a thread, and that each count of its table is worth; pieces that a thread
 * takes, one after the other. */
enum { THREAD_ELEMENTS = 1 << 15, ELEMENTS_PER_COUNT = 4, TURNS = 8 };

static size_t threads_for(const tsr_histogram_problem *p)
{
    const size_t worth = p->n / size_max(THREAD_ELEMENTS, ELEMENTS_PER_COUNT * p->bins);

    return size_max(size_min(worth, team_threads()), 1);
}

/* What the threads share. */
typedef struct counting {
    const char *x; /* the first element */
    size_t n, element_bytes, piece;
    histogram_bins bins;
    size_t *tables; /* a thread's has a place more than there are bins */
} counting;

static void count_piece(void *context, size_t piece, size_t who)
{
    const counting *c = context;
    const size_t first = piece * c->piece;

    loops[isa_best()](&c->bins, c->x + first * c->element_bytes, size_min(c->piece, c->n - first),
                      c->tables + who * (c->bins.bins + 1));
}

static histogram_bins bins_of(const tsr_histogram_problem *p, void *const operands[])
{
    const view edges = histogram_edges(p);

    return (histogram_bins){.type = p->type,
                            .bins = p->bins,
                            .edges = (const char *)operands[HISTOGRAM_EDGES] +
                                     p->offset_edges * tsr_type_size(edges.type),
                            .uneven = p->uneven};
}

static tsr_status no_memory(const tsr_histogram_problem *p, size_t tables, tsr_error *err)
{
    return tsr_fail(err, TSR_ENOMEM, 0, "histogram: no memory for %zu tables of %zu counts", tables,
                    p->bins);
}

static tsr_status run_counts(const tsr_histogram_problem *p, void *const operands[], tsr_error *err)
{
    const size_t threads = threads_for(p), size = tsr_type_size(p->type);
    counting c = {.n = p->n,
                  .element_bytes = size,
                  .piece = size_max(size_div_up(p->n, threads == 1 ? 1 : threads * TURNS), 1),
                  .bins = bins_of(p, operands)};
    int64_t *counts;

    if (p->bins >= SIZE_MAX / sizeof(*c.tables) / threads ||
        !(c.tables = calloc(threads * (p->bins + 1), sizeof(*c.tables))))
        return no_memory(p, threads, err);
    counts = counts_of(p, operands);
    if (p->n)
        c.x = (const char *)operands[HISTOGRAM_X] + p->offset_x * size;
    team_run(threads, size_div_up(p->n, c.piece), count_piece, &c);
    for (size_t t = 0; t < threads; t++)
        for (size_t i = 0; i < p->bins; i++)
            counts[i] += (int64_t)c.tables[t * (p->bins + 1) + i];
    free(c.tables);
    return TSR_OK;
}

/* ---- sums of weights ------------------------------------------------------------------------ */

static histogram_weigh_of *const weigh_loops[] = {ISA_EACH(histogram_weigh)};

/* Tables of a weighted histogram, at most.  The problem alone says how many there are, so that sums
 * have the same bits with any number of threads. */
enum { WEIGHT_TABLES_MAX = 64 };

/* What the threads share. */
typedef struct weighing {
    const char *x, *weights; /* the first element, and its weight */
    size_t n, element_bytes, piece;
    tsr_type type; /* of the weights */
    histogram_bins bins;
    histogram_sum *tables; /* a piece's has a place more than there are bins */
} weighing;

static void weigh_piece(void *context, size_t piece, size_t who)
{
    const weighing *w = context;
    const size_t first = piece * w->piece;

    (void)who;
    weigh_loops[isa_best()](
        &w->bins, w->x + first * w->element_bytes, size_min(w->piece, w->n - first), w->type,
        w->weights + first * tsr_type_size(w->type), w->tables + piece * (w->bins.bins + 1));
}

static tsr_status run_weights(const tsr_histogram_problem *p, void *const operands[],
                              tsr_error *err)
{
    const size_t worth = p->n / size_max(THREAD_ELEMENTS, ELEMENTS_PER_COUNT * p->bins);
    const size_t size = tsr_type_size(p->type),
                 piece = size_max(
                     size_div_up(p->n, size_max(size_min(worth, WEIGHT_TABLES_MAX), 1)), 1);
    const size_t tables = size_max(size_div_up(p->n, piece), 1);
    weighing w = {.n = p->n,
                  .element_bytes = size,
                  .piece = piece,
                  .type = histogram_sum_type(p),
                  .bins = bins_of(p, operands)};
    void *sums;

    if (p->bins >= SIZE_MAX / sizeof(*w.tables) / tables ||
        !(w.tables = calloc(tables * (p->bins + 1), sizeof(*w.tables))))
        return no_memory(p, tables, err);
    sums = counts_of(p, operands);
    if (p->n) {
        w.x = (const char *)operands[HISTOGRAM_X] + p->offset_x * size;
        w.weights =
            (const char *)operands[HISTOGRAM_WEIGHTS] + p->offset_weights * tsr_type_size(w.type);
        team_run(size_min(tables, team_threads()), tables, weigh_piece, &w);
    }
    for (size_t i = 0; i < p->bins; i++) {
        histogram_sum sum = {0};

        for (size_t t = 0; t < tables; t++)
            if (type_is_real(w.type))
                sum.real += w.tables[t * (p->bins + 1) + i].real;
            else
                sum.whole += w.tables[t * (p->bins + 1) + i].whole;
        if (type_is_real(w.type))
            real_set(w.type, sums, i, real_get(w.type, sums, i) + sum.real);
        else
            ((uint64_t *)sums)[i] += sum.whole;
    }
    free(w.tables);
    return TSR_OK;
}

static tsr_status run_tables(const problem *q, void *const operands[], tsr_error *err)
{
    const tsr_histogram_problem *p = histogram_of(q);

    return p->weights ? run_weights(p, operands, err) : run_counts(p, operands, err);
}

const variant histogram_tables = {
    .name = "tables",
    .idea = "a table for each thread; vectors guess the bins, and the edges decide",
    .plan = plan_in_c,
    .host = run_tables,
    .serves_cpus = true};
