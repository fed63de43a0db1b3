/*
 * The variant in C for the host and for CPUs.
 *
 * The threads take the blocks of a long line in turn: each finds the total of its block, adds up
 * those before it and scans the block while a cache holds it (core/block_scan.h).  Short lines and
 * stripes of columns go side by side.  Blocks are of one size and combined in order, so that
 * results do not depend on the number of threads.
 */
#include "base/fail.h"
#include "base/isa.h"
#include "base/past_caches.h"
#include "base/sizes.h"
#include "base/team.h"
#include "ops/scan/scan_loops.h"
#include "ops/scan/scan_problem.h"

/* Elements of a block, and what is worth several threads; turns that a thread has, on average: one
 * that begins late leaves some to others. */
enum { BLOCK = 1 << 14, PARALLEL_MIN = 1 << 16, TURNS = 16 };

static size_t threads_for(const tsr_scan_problem *p)
{
    return scan_elements(p) >= PARALLEL_MIN ? team_threads() : 1;
}

/* One call. */
typedef struct work {
    const tsr_scan_problem *p;
    const scan_loops *loops;
    const void *x;
    void *result;
    bool past_caches;
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

/* The stretch that follows for a thread: n elements of its line behind the first `first`, and where
 * their total goes, NULL where it is not wanted. */
typedef struct ahead {
    size_t first, n;
    scan_value *total;
} ahead;

/* Scan n elements of a line behind the first `done`, which come to `before`; meanwhile fetch what
 * is ahead.  Returns whether its total has been stored. */
static bool run(const work *w, const line *l, size_t done, size_t n, scan_value before, ahead next)
{
    const bool reverse = w->p->reverse;
    scan_stretch s = {.x = w->x,
                      .at = place_of(w, l, done, n) + (reverse ? n - 1 : 0),
                      .result = w->result,
                      .step = reverse ? -1 : 1,
                      .n = n,
                      .ahead = (ptrdiff_t)(next.first - done) * (reverse ? -1 : 1),
                      .n_ahead = next.n,
                      .past_caches = w->past_caches};

    if (n == 0)
        return false;
    if (w->loops->finds_ahead && w->past_caches && !reverse && next.n >= n)
        s.total_ahead = next.total;
    s.to = w->p->offset_result + (s.at - w->p->offset_x);
    if (w->p->exclusive) {
        w->loops->put(before, w->result, s.to);
        s.to += (size_t)s.step;
        s.n--;
    }
    w->loops->run(before, &s);
    return s.total_ahead != NULL;
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

static bool long_finish(void *with, size_t block, size_t next, scan_value before, scan_value own,
                        scan_value *of_next)
{
    const long_line *x = with;

    (void)own;
    return run(x->w, x->l, block * BLOCK, block_size(x->l, block), before,
               (ahead){next * BLOCK, block_size(x->l, next), of_next});
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

    return block_scan_run(&scan, team_threads(), NULL);
}

/* A line by one thread, with the results that scan_long has. */
static void scan_short(const work *w, const line *l)
{
    scan_value before = w->loops->identity();

    for (size_t done = 0; done < l->n; done += BLOCK) {
        const size_t n = size_min(BLOCK, l->n - done);

        run(w, l, done, n, before, (ahead){.first = done});
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

/* Rows or segments, some of which a thread takes at once. */
typedef struct short_lines {
    const work *w;
    const uint64_t *offsets;
    size_t rows, at_once;
} short_lines;

static void scan_some(void *context, size_t item, size_t who)
{
    const short_lines *s = context;
    const size_t end = size_min((item + 1) * s->at_once, s->rows);

    (void)who;
    for (size_t r = item * s->at_once; r < end; r++) {
        const line l = line_at(s->w, s->offsets, r);

        if (l.n < PARALLEL_MIN)
            scan_short(s->w, &l);
    }
}

/* Lines that are long enough for all cores one after another, and the others side by side. */
static bool scan_rows(const work *w, size_t rows, const uint64_t *offsets)
{
    const size_t threads = threads_for(w->p);
    short_lines s = {w, offsets, rows, size_max(rows / (threads * TURNS), 1)};
    bool memory = true;

    for (size_t r = 0; r < rows && w->p->n >= PARALLEL_MIN; r++) {
        const line l = line_at(w, offsets, r);

        if (l.n >= PARALLEL_MIN)
            memory &= scan_long(w, &l);
    }
    team_run(threads, size_div_up(rows, s.at_once), scan_some, &s);
    return memory;
}

/* Stripes of so many columns. */
typedef struct striped {
    const work *w;
    size_t width, stripes;
} striped;

static void scan_stripe(void *context, size_t item, size_t who)
{
    const striped *s = context;
    const work *w = s->w;
    const tsr_scan_problem *p = w->p;
    const size_t inner = scan_inner(p), o = item / s->stripes,
                 column = item % s->stripes * s->width;
    const size_t at = (o * p->n + (p->reverse ? p->n - 1 : 0)) * inner + column;
    const ptrdiff_t pitch = p->reverse ? -(ptrdiff_t)inner : (ptrdiff_t)inner;

    (void)who;
    w->loops->columns(w->x, p->offset_x + at, w->result, p->offset_result + at, pitch, p->n,
                      size_min(s->width, inner - column), p->exclusive);
}

/* Stripes of columns side by side. */
static void scan_columns(const work *w)
{
    const size_t outer = scan_outer(w->p), inner = scan_inner(w->p), threads = team_threads();
    const size_t wanted = size_max(size_div_up(inner, size_max(4 * threads / outer, 1)), 16);
    striped s = {.w = w};

    s.width = size_min(size_round_up(size_min(wanted, SCAN_COLUMNS_MAX), 16), SCAN_COLUMNS_MAX);
    s.stripes = size_div_up(inner, s.width);
    team_run(threads_for(w->p), outer * s.stripes, scan_stripe, &s);
}

static tsr_status run_simd(const problem *q, void *const operands[], tsr_error *err)
{
    static scan_loops_find *const find[] = {ISA_EACH(scan_loops_of)};
    const tsr_scan_problem *p = scan_of(q);
    const size_t bytes = tsr_type_size(p->type) + tsr_type_size(tsr_scan_result_type(p));
    const work w = {.p = p,
                    .loops = find[isa_best()](p->type, p->by, p->same_type),
                    .x = operands[SCAN_X],
                    .result = operands[SCAN_RESULT],
                    .past_caches = scan_elements(p) >= PAST_CACHES_MIN / bytes};

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
    .idea = "totals of blocks, then their results, both by vectors; the cores share blocks",
    .plan = plan_in_c,
    .host = run_simd,
    .serves_cpus = true,
};
