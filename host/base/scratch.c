#include "base/scratch.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/sizes.h"

enum { ALIGNMENT = 64, HUGE_PAGE = 1 << 21, HUGE_FROM = 2 * HUGE_PAGE };

/* What a thread keeps is freed when it ends, and the main thread's when the library is unloaded. */
static pthread_once_t made = PTHREAD_ONCE_INIT;
static pthread_key_t kept;
static bool keeps;

/* In front of the memory. */
typedef union head {
    struct {
        size_t bytes; /* behind it */
        size_t taken; /* that the last call asked for: those behind these are lent already */
    };
    char space[ALIGNMENT];
} head;

static void make_key(void)
{
    keeps = pthread_key_create(&kept, free) == 0;
}

/* By its number after those without one: the threads of team.c have ended, which keep memory. */
__attribute__((destructor(101))) static void drop_key(void)
{
    if (!keeps)
        return;
    free(pthread_getspecific(kept));
    pthread_key_delete(kept);
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
    head *h;
    size_t whole;

    pthread_once(&made, make_key);
    h = keeps ? pthread_getspecific(kept) : NULL;
    if (h && h->bytes >= bytes && pthread_setspecific(kept, NULL) == 0) {
        h->taken = bytes;
        return h + 1;
    }
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
    head *h = memory ? (head *)memory - 1 : NULL, *before;

    if (!h)
        return;
    before = keeps ? pthread_getspecific(kept) : NULL;
    if (!keeps || (before && before->bytes >= h->bytes) ||
        (h->taken > SCRATCH_KEPT_MAX && !lend(h)) || pthread_setspecific(kept, h) != 0)
        free(h);
    else
        free(before);
}
