/*
 * The variant in C for the host and for CPUs.
 *
 * A long line is scanned in rounds of as many blocks as the caches of the cores hold: the cores
 * find the totals of the blocks, one of them what is before each block, and then each core scans
 * the blocks that it has read.  Memory is read once.  Blocks are of one size and combined in order,
 * so that results do not depend on the number of threads.
 */
#include "base/fail.h"
#include "base/isa.h"
#include "base/sizes.h"
#include "ops/scan/scan_loops.h"
#include "ops/scan/scan_problem.h"

#ifdef _OPENMP
#include <omp.h>
#define PRAGMA(x) _Pragma(#x)
#define OMP(x)    PRAGMA(omp x)
#define THREADS   (size_t) omp_get_max_threads()
#else
#define OMP(x)
#define THREADS 1
#endif

/* Elements of a block, and what is worth several threads. */
enum { BLOCK = 1 << 14, PARALLEL_MIN = 1 << 16 };

/* One call. */
typedef struct work {
    const tsr_scan_problem *p;
    const scan_loops *loops;
    const void *x;
    void *result;
} work;

/* Elements of a line of neighbours, counted in the order of the scan. */
typedef struct line {
    size_t first, n; /* in the arrays, without their offsets */
} line;

/* `n` elements behind the first `done` of a line: the least place in x. */
static size_t place_of(const work *w, const line *l, size_t done, size_t n)
{
    return w->p->offset_x + l->first + (w->p->reverse ? l->n - done - n : done);
}

/* Scan n elements of a line behind the first `done`, which come to `before`. */
static void run(const work *w, const line *l, size_t done, size_t n, scan_value before)
{
    const bool reverse = w->p->reverse;
    const size_t at = place_of(w, l, done, n) + (reverse ? n - 1 : 0);
    const size_t to = w->p->offset_result + (at - w->p->offset_x);
    const ptrdiff_t step = reverse ? -1 : 1;

    if (n == 0)
        return;
    if (w->p->exclusive) {
        w->loops->put(before, w->result, to);
        if (n > 1)
            w->loops->run(before, w->x, at, w->result, to + (size_t)step, step, n - 1);
    } else {
        w->loops->run(before, w->x, at, w->result, to, step, n);
    }
}

static size_t block_size(const line *l, size_t block)
{
    return size_min(BLOCK, l->n - block * BLOCK);
}

/* A line and its blocks. */
typedef struct long_line {
    const work *w;
    const line *l;
} long_line;

static scan_value long_total(void *with, size_t block)
{
    const long_line *x = with;
    const size_t n = block_size(x->l, block);

    return x->w->loops->total(x->w->x, place_of(x->w, x->l, block * BLOCK, n), n);
}

static scan_value long_combine(void *with, scan_value before, scan_value after)
{
    return ((const long_line *)with)->w->loops->combine(before, after);
}

static void long_finish(void *with, size_t block, scan_value before)
{
    const long_line *x = with;

    run(x->w, x->l, block * BLOCK, block_size(x->l, block), before);
}

static bool scan_long(const work *w, const line *l)
{
    long_line x = {w, l};
    const block_scan scan = {.blocks = size_div_up(l->n, BLOCK),
                             .none = w->loops->identity(),
                             .with = &x,
                             .total = long_total,
                             .combine = long_combine,
                             .finish = long_finish};

    return block_scan_run(&scan, true, NULL);
}

/* A line by one thread, with the results that scan_long has. */
static void scan_short(const work *w, const line *l)
{
    scan_value before = w->loops->identity();

    for (size_t done = 0; done < l->n; done += BLOCK) {
        const size_t n = size_min(BLOCK, l->n - done);

        run(w, l, done, n, before);
        if (done + n < l->n)
            before = w->loops->combine(before, w->loops->total(w->x, place_of(w, l, done, n), n));
    }
}

/* Row r, or segment r where there are offsets: of broken ones what lies in the array. */
static line line_at(const work *w, const uint64_t *offsets, size_t r)
{
    if (offsets) {
        const size_t start = (size_t)(offsets[r] < w->p->n ? offsets[r] : w->p->n);
        const size_t end = (size_t)(offsets[r + 1] < w->p->n ? offsets[r + 1] : w->p->n);

        return (line){start, end > start ? end - start : 0};
    }
    return (line){r * w->p->n, w->p->n};
}

/* Lines that are long enough for all cores one after another, and the others side by side. */
static bool scan_rows(const work *w, size_t rows, const uint64_t *offsets)
{
    bool memory = true;

    for (size_t r = 0; r < rows && w->p->n >= PARALLEL_MIN; r++) {
        const line l = line_at(w, offsets, r);

        if (l.n >= PARALLEL_MIN)
            memory &= scan_long(w, &l);
    }
    OMP(parallel for schedule(guided) if (scan_elements(w->p) >= PARALLEL_MIN))
    for (size_t r = 0; r < rows; r++) {
        const line l = line_at(w, offsets, r);

        if (l.n < PARALLEL_MIN)
            scan_short(w, &l);
    }
    return memory;
}

/* Stripes of columns side by side. */
static void scan_columns(const work *w)
{
    const tsr_scan_problem *p = w->p;
    const size_t outer = scan_outer(p), inner = scan_inner(p);
    const size_t wanted = size_max(size_div_up(inner, size_max(4 * THREADS / outer, 1)), 16);
    const size_t width =
        size_min(size_round_up(size_min(wanted, SCAN_COLUMNS_MAX), 16), SCAN_COLUMNS_MAX);
    const size_t stripes = size_div_up(inner, width);
    const ptrdiff_t pitch = p->reverse ? -(ptrdiff_t)inner : (ptrdiff_t)inner;

    OMP(parallel for schedule(static) if (scan_elements(p) >= PARALLEL_MIN))
    for (size_t i = 0; i < outer * stripes; i++) {
        const size_t o = i / stripes, column = i % stripes * width;
        const size_t at = (o * p->n + (p->reverse ? p->n - 1 : 0)) * inner + column;

        w->loops->columns(w->x, p->offset_x + at, w->result, p->offset_result + at, pitch, p->n,
                          size_min(width, inner - column), p->exclusive);
    }
}

static tsr_status run_simd(const problem *q, void *const operands[], tsr_error *err)
{
    static scan_loops_find *const find[] = {ISA_EACH(scan_loops_of)};
    const tsr_scan_problem *p = scan_of(q);
    const work w = {.p = p,
                    .loops = find[isa_best()](p->type, p->by, p->same_type),
                    .x = operands[SCAN_X],
                    .result = operands[SCAN_RESULT]};

    if (scan_elements(p) == 0)
        return TSR_OK;
    if (scan_inner(p) > 1)
        scan_columns(&w);
    else if (!(p->segments
                   ? scan_rows(&w, p->segments,
                               (const uint64_t *)operands[SCAN_SEGMENTS] + p->offset_segments)
                   : scan_rows(&w, scan_outer(p), NULL)))
        return tsr_fail(err, TSR_ENOMEM, 0, "scan: no memory for a total of each of %zu blocks",
                        size_div_up(p->n, BLOCK));
    return TSR_OK;
}

const variant scan_simd = {
    .name = "simd",
    .idea =
        "totals of blocks by vectors, then several results side by side; the cores share blocks",
    .plan = plan_in_c,
    .host = run_simd,
    .serves_cpus = true,
};
