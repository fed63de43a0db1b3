#include "base/team.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/clock.h"
#include "base/forks.h"
#include "base/sizes.h"

enum { HELPERS_MAX = 255 };

/* So long a helper looks for the next call before it sleeps, and a caller for the end of items that
 * others do: to wake a thread takes 5 to 50 us, and to wake those of many cores about so long. */
enum { LOOK_NS = 200000, LOOK_AWAKE_NS = 1000000 };

/* So many looks, 10 us at most, and others that want the core get it. */
enum { LOOKS_A_YIELD = 64 };

/* After so many yields, some 300 us where nobody else wants the core, a thread that waits for the
 * lock sleeps between its looks: a yield leaves the core to nobody whose real-time priority is
 * lower, and that may be whoever holds the lock. */
enum { YIELDS_MAX = 32, SLEEP_NS = 50000 };

/* A call of team_run, on its caller's stack.  All but `next` and `active` is the lock's. */
typedef struct job {
    void (*work)(void *context, size_t item, size_t who);
    void *context;
    size_t count;
    atomic_size_t next;   /* the first item that nobody has begun */
    size_t places;        /* helpers that may still join */
    size_t joined;        /* helpers that did */
    atomic_size_t active; /* helpers that have not left */
    struct job *behind;
} job;

typedef struct helper {
    pthread_t thread;
    sem_t wake;
    struct helper *below; /* of those that sleep */
} helper;

/* The process's: helpers serve whoever calls. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static unsigned forks_before; /* the first call */
static atomic_bool locked;    /* take_lock */
static job *jobs;             /* in the order in which they came */
static atomic_uint posts;
static helper helper_at[HELPERS_MAX];
static size_t helpers;
static helper *asleep;        /* the last to fall asleep first: its caches are the warmest */
static atomic_size_t looking; /* helpers that look for a post */
static bool ends;
static atomic_int awake; /* callers that want helpers to stay so */
static pthread_mutex_t end_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t left = PTHREAD_COND_INITIALIZER;
static atomic_uint waiting; /* callers that wait for `left` */

static void start(void)
{
    forks_before = forks_so_far();
}

/* A child has none of its parent's helpers, and perhaps a lock that one of them held. */
static bool is_child(void)
{
    pthread_once(&once, start);
    return forks_so_far() != forks_before;
}

static void pause_core(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Whoever holds it does so for less time than it takes to sleep and be woken, but for the first
 * call, which makes the helpers. */
static void take_lock(void)
{
    for (int yields = 0;;) {
        for (int i = 0; i < LOOKS_A_YIELD; i++) {
            if (!atomic_load_explicit(&locked, memory_order_relaxed) &&
                !atomic_exchange_explicit(&locked, true, memory_order_acquire))
                return;
            pause_core();
        }
        if (yields == YIELDS_MAX) {
            nanosleep(&(struct timespec){.tv_nsec = SLEEP_NS}, NULL);
            continue;
        }
        sched_yield();
        yields++;
    }
}

static void release_lock(void)
{
    atomic_store_explicit(&locked, false, memory_order_release);
}

static void do_items(job *j, size_t who)
{
    size_t i;

    while ((i = atomic_fetch_add_explicit(&j->next, 1, memory_order_relaxed)) < j->count)
        j->work(j->context, i, who);
}

/* With the lock: take helpers from those that sleep, as many as there are places but for those that
 * look for one. */
static helper *pick_asleep(size_t places)
{
    helper *const first = asleep, **end = &asleep;
    size_t n = atomic_load_explicit(&looking, memory_order_relaxed);

    for (; *end && n < places; n++)
        end = &(*end)->below;
    if (end == &asleep)
        return NULL;
    asleep = *end;
    *end = NULL;
    return first;
}

static void wake(helper *first)
{
    for (helper *next; first; first = next) {
        next = first->below; /* before it falls asleep again */
        sem_post(&first->wake);
    }
}

/* Whether there was a post after `seen` of them within a while. */
static bool look_for_post(unsigned seen)
{
    const uint64_t begun = clock_ns();

    do {
        for (int i = 0; i < LOOKS_A_YIELD; i++) {
            if (atomic_load_explicit(&posts, memory_order_relaxed) != seen)
                return true;
            pause_core();
        }
        sched_yield();
    } while (clock_ns() - begun <
             (atomic_load_explicit(&awake, memory_order_relaxed) ? LOOK_AWAKE_NS : LOOK_NS));
    return false;
}

static void wait_for_post(helper *self, unsigned seen)
{
    bool found;

    atomic_fetch_add(&looking, 1);
    found = look_for_post(seen);
    atomic_fetch_sub(&looking, 1);
    if (found)
        return;
    take_lock();
    if (atomic_load(&posts) != seen) {
        release_lock();
        return;
    }
    self->below = asleep;
    asleep = self;
    release_lock();
    while (sem_wait(&self->wake) != 0)
        continue;
}

/* Let this thread run wherever the process may: it has inherited the processors of the thread that
 * first needed it, which may be bound to a few, or to one by OMP_PROC_BIND. */
static void unbind(void)
{
#ifdef CPU_SETSIZE
    cpu_set_t all, mains;

    if (sched_getaffinity(0, sizeof(all), &all) != 0)
        return;
    if (sched_getaffinity(getpid(), sizeof(mains), &mains) == 0)
        CPU_OR(&all, &all, &mains);
#if defined(_OPENMP) && _OPENMP >= 201511
    for (int place = 0; place < omp_get_num_places(); place++) {
        const int count = omp_get_place_num_procs(place);
        int *ids = calloc((size_t)count + 1, sizeof(*ids));

        if (ids)
            omp_get_place_proc_ids(place, ids);
        for (int i = 0; ids && i < count; i++)
            CPU_SET((size_t)ids[i], &all);
        free(ids);
    }
#endif
    (void)sched_setaffinity(0, sizeof(all), &all);
#endif
}

/* After this the job, whose caller may return, is not there any more. */
static void leave(job *j)
{
    if (atomic_fetch_sub(&j->active, 1) != 1 || !atomic_load(&waiting))
        return;
    pthread_mutex_lock(&end_lock);
    pthread_cond_broadcast(&left);
    pthread_mutex_unlock(&end_lock);
}

/* The first job from `j` on that a helper may join. */
static job *open_from(job *j)
{
    while (j && !(j->places && atomic_load_explicit(&j->next, memory_order_relaxed) < j->count))
        j = j->behind;
    return j;
}

static void *help(void *self)
{
    unbind();
    take_lock();
    while (!ends) {
        const unsigned seen = atomic_load(&posts);
        job *const j = open_from(jobs);
        bool more = false;

        if (j) {
            const size_t who = ++j->joined;

            j->places--;
            atomic_fetch_add(&j->active, 1);
            more = open_from(j) != NULL;
            release_lock();
            do_items(j, who);
            leave(j);
        } else {
            release_lock();
        }
        if (!more)
            wait_for_post(self, seen);
        take_lock();
    }
    release_lock();
    return NULL;
}

/* Have so many helpers, or as many as there can be.  Signals are for the program's own threads. */
static void hire(size_t wanted)
{
    sigset_t all, before;

    if (helpers >= size_min(wanted, HELPERS_MAX))
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (helpers < size_min(wanted, HELPERS_MAX)) {
        helper *h = &helper_at[helpers];

        if (sem_init(&h->wake, 0, 0) != 0)
            break;
        if (pthread_create(&h->thread, NULL, help, h) != 0) {
            sem_destroy(&h->wake);
            break;
        }
        helpers++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void post(job *j)
{
    job **last = &jobs;
    helper *sleeping;

    take_lock();
    if (!ends)
        hire(j->places);
    while (*last)
        last = &(*last)->behind;
    *last = j;
    atomic_fetch_add(&posts, 1);
    sleeping = pick_asleep(j->places);
    release_lock();
    wake(sleeping);
}

/* Wait for the helpers that have begun an item; none joins any more. */
static void finish(job *j)
{
    const uint64_t begun = clock_ns();
    job **at = &jobs;

    take_lock();
    while (*at != j)
        at = &(*at)->behind;
    *at = j->behind;
    release_lock();
    do {
        for (int i = 0; i < LOOKS_A_YIELD; i++) {
            if (!atomic_load(&j->active))
                return;
            pause_core();
        }
        sched_yield();
    } while (clock_ns() - begun < LOOK_NS);
    pthread_mutex_lock(&end_lock);
    atomic_fetch_add(&waiting, 1);
    while (atomic_load(&j->active))
        pthread_cond_wait(&left, &end_lock);
    atomic_fetch_sub(&waiting, 1);
    pthread_mutex_unlock(&end_lock);
}

/* A library that is unloaded leaves no thread in its code. */
__attribute__((destructor)) static void dismiss(void)
{
    if (is_child())
        return;
    take_lock();
    ends = true;
    atomic_fetch_add(&posts, 1);
    wake(pick_asleep(SIZE_MAX));
    release_lock();
    for (size_t i = 0; i < helpers; i++) {
        pthread_join(helper_at[i].thread, NULL);
        sem_destroy(&helper_at[i].wake);
    }
}

void team_spin_longer(void)
{
    atomic_fetch_add(&awake, 1);
}

void team_spin_briefly(void)
{
    atomic_fetch_sub(&awake, 1);
}

size_t team_threads(void)
{
#ifdef _OPENMP
    const int most = omp_get_max_threads(), processors = omp_get_num_procs();

    if (omp_in_parallel() || is_child())
        return 1;
    return size_max(1, (size_t)(most < processors ? most : processors));
#else
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef CPU_SETSIZE
    cpu_set_t own;

    if (sched_getaffinity(0, sizeof(own), &own) == 0)
        processors = CPU_COUNT(&own);
#endif
    return is_child() || processors < 1 ? 1 : (size_t)processors;
#endif
}

void team_run(size_t threads, size_t count, void (*work)(void *context, size_t item, size_t who),
              void *context)
{
    job j = {.work = work, .context = context, .count = count};
    const size_t most = size_min(threads, count);

    if (most < 2 || is_child()) {
        do_items(&j, 0);
        return;
    }
    j.places = most - 1;
    post(&j);
    do_items(&j, 0);
    finish(&j);
}
