/* The variants in C: a plain loop, and tables of each thread's own. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "base/team.h"
#include "core/real.h"
#include "ops/histogram/histogram_loops.h"
#include "ops/histogram/histogram_problem.h"

static int64_t *counts_of(const tsr_histogram_problem *p, void *const operands[])
{
    int64_t *counts = (int64_t *)operands[HISTOGRAM_COUNTS] + p->offset_counts;

    if (!p->add)
        memset(counts, 0, p->bins * sizeof(*counts));
    return counts;
}

static tsr_status run_loop(const problem *q, void *const operands[], tsr_error *err)
{
    const tsr_histogram_problem *p = histogram_of(q);
    const tsr_type type = tsr_histogram_edge_type(p->type);
    const void *edges = operands[HISTOGRAM_EDGES];
    int64_t *counts = counts_of(p, operands);

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
        counts[low]++;
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

static tsr_status run_tables(const problem *q, void *const operands[], tsr_error *err)
{
    const tsr_histogram_problem *p = histogram_of(q);
    const view edges = histogram_edges(p);
    const size_t threads = threads_for(p), size = tsr_type_size(p->type);
    counting c = {.n = p->n,
                  .element_bytes = size,
                  .piece = size_max(size_div_up(p->n, threads == 1 ? 1 : threads * TURNS), 1),
                  .bins = {.type = p->type,
                           .bins = p->bins,
                           .edges = (const char *)operands[HISTOGRAM_EDGES] +
                                    p->offset_edges * tsr_type_size(edges.type),
                           .uneven = p->uneven}};
    int64_t *counts;

    if (p->bins >= SIZE_MAX / sizeof(*c.tables) / threads ||
        !(c.tables = calloc(threads * (p->bins + 1), sizeof(*c.tables))))
        return tsr_fail(err, TSR_ENOMEM, 0, "histogram: no memory for %zu tables of %zu counts",
                        threads, p->bins);
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

const variant histogram_tables = {
    .name = "tables",
    .idea = "a table for each thread; vectors guess the bins, and the edges decide",
    .plan = plan_in_c,
    .host = run_tables,
    .serves_cpus = true};
