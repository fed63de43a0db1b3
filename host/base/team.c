#include "base/team.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/forks.h"
#include "base/sizes.h"

enum { HELPERS_MAX = 255 };

/* So many times a thread looks whether what it waits for has come, some 20 us, before it sleeps:
 * waking it takes longer. */
enum { LOOKS = 500, LOOKS_AWAKE = 25000 };

/* So many looks, and others that want the core get it. */
enum { LOOKS_A_YIELD = 64 };

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

/* The process's: helpers serve whoever calls. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static unsigned forks_before; /* the first call */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t posted = PTHREAD_COND_INITIALIZER, left = PTHREAD_COND_INITIALIZER;
static job *jobs; /* in the order in which they came */
static atomic_uint posts;
static pthread_t helper[HELPERS_MAX];
static size_t helpers;
static bool ends;
static atomic_int awake; /* callers that want helpers to stay so */

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

static void do_items(job *j, size_t who)
{
    size_t i;

    while ((i = atomic_fetch_add_explicit(&j->next, 1, memory_order_relaxed)) < j->count)
        j->work(j->context, i, who);
}

/* Wait for a job, with the lock, which is given up meanwhile. */
static void wait_for_post(void)
{
    const unsigned seen = atomic_load(&posts);

    pthread_mutex_unlock(&lock);
    for (int i = 0; atomic_load_explicit(&posts, memory_order_relaxed) == seen; i++) {
        if (i >= (atomic_load_explicit(&awake, memory_order_relaxed) ? LOOKS_AWAKE : LOOKS))
            break;
        pause_core();
        if (i >= LOOKS && i % LOOKS_A_YIELD == 0)
            sched_yield();
    }
    pthread_mutex_lock(&lock);
    while (atomic_load(&posts) == seen)
        pthread_cond_wait(&posted, &lock);
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

static void *help(void *unused)
{
    (void)unused;
    unbind();
    pthread_mutex_lock(&lock);
    while (!ends) {
        job *j = jobs;
        size_t who;

        while (j && (!j->places || atomic_load(&j->next) >= j->count))
            j = j->behind;
        if (!j) {
            wait_for_post();
            continue;
        }
        j->places--;
        who = ++j->joined;
        atomic_fetch_add(&j->active, 1);
        pthread_mutex_unlock(&lock);
        do_items(j, who);
        pthread_mutex_lock(&lock);
        if (atomic_fetch_sub(&j->active, 1) == 1) /* and the caller may be gone */
            pthread_cond_broadcast(&left);
    }
    pthread_mutex_unlock(&lock);
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
    while (helpers < size_min(wanted, HELPERS_MAX) &&
           pthread_create(&helper[helpers], NULL, help, NULL) == 0)
        helpers++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void post(job *j)
{
    job **last = &jobs;

    pthread_mutex_lock(&lock);
    if (!ends)
        hire(j->places);
    while (*last)
        last = &(*last)->behind;
    *last = j;
    atomic_fetch_add(&posts, 1);
    pthread_cond_broadcast(&posted);
    pthread_mutex_unlock(&lock);
}

/* Wait for the helpers that have begun an item; none joins any more. */
static void finish(job *j)
{
    job **at = &jobs;

    pthread_mutex_lock(&lock);
    while (*at != j)
        at = &(*at)->behind;
    *at = j->behind;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < LOOKS && atomic_load(&j->active); i++)
        pause_core();
    if (!atomic_load(&j->active))
        return;
    pthread_mutex_lock(&lock);
    while (atomic_load(&j->active))
        pthread_cond_wait(&left, &lock);
    pthread_mutex_unlock(&lock);
}

/* A library that is unloaded leaves no thread in its code. */
__attribute__((destructor)) static void dismiss(void)
{
    if (is_child())
        return;
    pthread_mutex_lock(&lock);
    ends = true;
    atomic_fetch_add(&posts, 1);
    pthread_cond_broadcast(&posted);
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < helpers; i++)
        pthread_join(helper[i], NULL);
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
