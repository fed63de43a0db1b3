#include "base/scratch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/sizes.h"

enum { ALIGNMENT = 64, HUGE_PAGE = 1 << 21, HUGE_FROM = 2 * HUGE_PAGE };

/* In front of the memory. */
typedef union head {
    struct {
        size_t bytes; /* behind it */
        size_t taken; /* that the last call asked for: those behind these are lent already */
    };
    char space[ALIGNMENT];
} head;

/* Where a thread keeps memory.  Threads beyond those that have a place keep none. */
typedef struct place {
    atomic_bool taken;
    _Atomic(head *) memory;
    char space[ALIGNMENT - sizeof(atomic_bool) - sizeof(void *)]; /* a cache line each, about */
} place;

enum { PLACES = 256 };

static place places[PLACES];
static pthread_once_t made = PTHREAD_ONCE_INIT;
static pthread_key_t own_place;
static bool keeps;

static void leave_place(void *own)
{
    place *p = own;

    free(atomic_exchange(&p->memory, NULL));
    atomic_store(&p->taken, false);
}

static void make_key(void)
{
    keeps = pthread_key_create(&own_place, leave_place) == 0;
}

/* When the library is unloaded or the process ends: what threads keep that have not ended.  They
 * may still call the library where the process ends, and then keep nothing new.  By its number
 * after destructors without one: the threads of team.c have ended, which keep memory. */
__attribute__((destructor(101))) static void empty_places(void)
{
    if (keeps)
        pthread_key_delete(own_place);
    for (size_t i = 0; i < PLACES; i++)
        free(atomic_exchange(&places[i].memory, NULL));
}

/* This thread's place; NULL: it keeps no memory. */
static place *place_of_thread(void)
{
    place *p;

    pthread_once(&made, make_key);
    p = keeps ? pthread_getspecific(own_place) : NULL;
    for (size_t i = 0; keeps && !p && i < PLACES; i++) {
        bool taken = false;

        if (atomic_compare_exchange_strong(&places[i].taken, &taken, true))
            p = &places[i];
        if (p && pthread_setspecific(own_place, p) != 0) {
            atomic_store(&p->taken, false);
            return NULL;
        }
    }
    return p;
}

/* In huge pages, where the system has some: it clears fewer of them faster. */
static void *alloc_huge(size_t bytes)
{
    const size_t whole = bytes > SIZE_MAX - HUGE_PAGE ? 0 : size_round_up(bytes, HUGE_PAGE);
    void *memory = whole ? aligned_alloc(HUGE_PAGE, whole) : NULL;

#ifdef MADV_HUGEPAGE
    if (memory)
        (void)madvise(memory, whole, MADV_HUGEPAGE);
#endif
    return memory;
}

/* Let the system have the pages that were taken, all but the first, where the head is: while nobody
 * uses the memory it may drop them.  False: it cannot. */
static bool lend(const head *h)
{
#ifdef MADV_FREE
    if (h->bytes <= SCRATCH_LENT_MAX) {
        const size_t whole = size_round_up(h->taken + sizeof(*h), HUGE_PAGE);

        return madvise((char *)h + HUGE_PAGE, whole - HUGE_PAGE, MADV_FREE) == 0;
    }
#else
    (void)h;
#endif
    return false;
}

void *scratch_take(size_t bytes)
{
    place *p = place_of_thread();
    head *h = p ? atomic_exchange(&p->memory, NULL) : NULL;
    size_t whole;

    if (h && h->bytes >= bytes) {
        h->taken = bytes;
        return h + 1;
    }
    if (h)
        free(atomic_exchange(&p->memory, h)); /* too small: stays for other calls */
    if (!size_add(bytes, 2 * ALIGNMENT - 1, &whole))
        return NULL;
    whole = whole / ALIGNMENT * ALIGNMENT;
    h = whole < HUGE_FROM ? aligned_alloc(ALIGNMENT, whole) : alloc_huge(whole);
    if (!h)
        return NULL;
    h->bytes = whole - sizeof(*h);
    h->taken = bytes;
    return h + 1;
}

void scratch_give(void *memory)
{
    head *h = memory ? (head *)memory - 1 : NULL;
    place *p = h ? place_of_thread() : NULL;
    head *kept;

    if (!p || (h->taken > SCRATCH_KEPT_MAX && !lend(h))) {
        free(h);
        return;
    }
    kept = atomic_exchange(&p->memory, h);
    if (kept && kept->bytes >= h->bytes) /* the larger one stays */
        kept = atomic_exchange(&p->memory, kept);
    free(kept);
}
