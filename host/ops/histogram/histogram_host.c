/* The variants in C: a plain loop, and tables of each thread's own. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "core/real.h"
#include "ops/histogram/histogram_loops.h"
#include "ops/histogram/histogram_problem.h"

#ifdef _OPENMP
#include <omp.h>
#endif

static const char *plan_in_c(const job *j, plan *out)
{
    (void)j, (void)out;
    return NULL;
}

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

/* Elements that are worth a thread, and that each count of its table is worth. */
enum { THREAD_ELEMENTS = 1 << 15, ELEMENTS_PER_COUNT = 4 };

static size_t threads_for(const tsr_histogram_problem *p)
{
#ifdef _OPENMP
    const size_t worth = p->n / size_max(THREAD_ELEMENTS, ELEMENTS_PER_COUNT * p->bins);

    return size_max(size_min(worth, (size_t)omp_get_max_threads()), 1);
#else
    (void)p;
    return 1;
#endif
}

static tsr_status run_tables(const problem *q, void *const operands[], tsr_error *err)
{
    const tsr_histogram_problem *p = histogram_of(q);
    const view edges = histogram_edges(p);
    const histogram_bins b = {.type = p->type,
                              .bins = p->bins,
                              .edges = (const char *)operands[HISTOGRAM_EDGES] +
                                       p->offset_edges * tsr_type_size(edges.type),
                              .uneven = p->uneven};
    const size_t threads = threads_for(p), size = tsr_type_size(p->type);
    histogram_loop_of *const count = loops[isa_best()];
    int64_t *counts;
    size_t *tables;

    if (p->bins >= SIZE_MAX / sizeof(*tables) / threads ||
        !(tables = calloc(threads * (p->bins + 1), sizeof(*tables))))
        return tsr_fail(err, TSR_ENOMEM, 0, "histogram: no memory for %zu tables of %zu counts",
                        threads, p->bins);
    counts = counts_of(p, operands);
#ifdef _OPENMP
#pragma omp parallel for num_threads((int)threads) schedule(static, 1) if (threads > 1)
#endif
    for (size_t t = 0; t < threads; t++) {
        const size_t first = p->n / threads * t;
        const size_t end = t + 1 < threads ? first + p->n / threads : p->n;

        if (end > first)
            count(&b, (const char *)operands[HISTOGRAM_X] + (p->offset_x + first) * size,
                  end - first, tables + t * (p->bins + 1));
    }
    for (size_t t = 0; t < threads; t++)
        for (size_t i = 0; i < p->bins; i++)
            counts[i] += (int64_t)tables[t * (p->bins + 1) + i];
    free(tables);
    return TSR_OK;
}

const variant histogram_tables = {
    .name = "tables",
    .idea = "a table for each thread; vectors guess the bins, and the edges decide",
    .plan = plan_in_c,
    .host = run_tables,
    .serves_cpus = true};
