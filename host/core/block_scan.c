#include "core/block_scan.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/team.h"

/* Looks at a total that another thread is finding, before it is computed again. */
enum { LOOKS = 2000 };

/* A value for each block, once `known`. */
typedef struct shared {
    const block_scan *scan;
    block_value *total;
    atomic_uchar *known;
    atomic_size_t next;
} shared;

static block_value total_of(shared *x, size_t block)
{
    for (int i = 0; i < LOOKS; i++)
        if (atomic_load_explicit(&x->known[block], memory_order_acquire))
            return x->total[block];
    return x->scan->total(x->scan->with, block);
}

/* What all blocks before `end` come to, where those before `*done` come to `value`. */
static block_value advance(shared *x, size_t *done, size_t end, block_value value)
{
    for (; *done < end; ++*done)
        value = x->scan->combine(x->scan->with, value, total_of(x, *done));
    return value;
}

static size_t take_next(shared *x)
{
    return atomic_fetch_add_explicit(&x->next, 1, memory_order_relaxed);
}

/* What one thread does: item is one of as many as there are threads. */
static void take_blocks(void *context, size_t item, size_t who)
{
    shared *x = context;
    const block_scan *s = x->scan;
    block_value before = s->none;
    size_t done = 0;
    bool found = false; /* whether finishing the block before stored the total of this one */
    bool last;

    (void)item, (void)who;
    for (size_t block = take_next(x), next; block < s->blocks; block = next) {
        if (!found) {
            x->total[block] = s->total(s->with, block);
            atomic_store_explicit(&x->known[block], 1, memory_order_release);
        }
        before = advance(x, &done, block, before);
        next = take_next(x);
        last = next >= s->blocks;
        found = s->finish(s->with, block, last ? block : next, before, x->total[block],
                          last ? NULL : &x->total[next]);
        if (found)
            atomic_store_explicit(&x->known[next], 1, memory_order_release);
    }
}

bool block_scan_run(const block_scan *s, size_t threads, block_value *all)
{
    shared x = {.scan = s,
                .total = malloc((s->blocks + 1) * sizeof(*x.total)),
                .known = calloc(s->blocks + 1, sizeof(*x.known))};
    const bool memory = x.total && x.known;
    size_t done = 0;

    if (memory) {
        team_run(threads, threads, take_blocks, &x);
        if (all)
            *all = advance(&x, &done, s->blocks, s->none);
    }
    free(x.total);
    free((void *)x.known);
    return memory;
}
