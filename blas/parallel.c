#include "blas/parallel.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    THREADS_MAX = 8, /* more do not copy faster */
    PARTS = 4        /* of a thread: those that have less to do take another */
};

/* To start a thread takes as long as to copy some hundred kilobytes. */
#define BYTES_A_THREAD (2.0 * 1024 * 1024)

/* Of a call, and of the threads that help: the last who leaves frees it.  A thread may come when
 * all is done, since none is waited for that has not begun a part: threads of the CPU's BLAS that
 * look for their next call may keep it from a core for milliseconds. */
typedef struct job {
    atomic_int users;
    atomic_llong next; /* where the next part begins */
    int64_t count, part;
    void (*work)(void *context, int64_t first, int64_t last);
    void *context; /* as long as parts are not done */
    pthread_mutex_t lock;
    pthread_cond_t finished;
    int64_t done; /* the lock's */
} job;

static void leave(job *j)
{
    if (atomic_fetch_sub(&j->users, 1) > 1)
        return;
    pthread_cond_destroy(&j->finished);
    pthread_mutex_destroy(&j->lock);
    free(j);
}

static void do_parts(job *j)
{
    int64_t first, done = 0;

    while ((first = atomic_fetch_add(&j->next, j->part)) < j->count) {
        const int64_t last = j->count - first < j->part ? j->count : first + j->part;

        j->work(j->context, first, last);
        done += last - first;
    }
    if (!done)
        return;
    pthread_mutex_lock(&j->lock);
    j->done += done;
    if (j->done == j->count)
        pthread_cond_signal(&j->finished);
    pthread_mutex_unlock(&j->lock);
}

/* Helpers of all calls that have not ended.  Where the cores are taken they come late, and those of
 * many calls would be there at once: beyond THREADS_MAX a call has fewer. */
static atomic_int helpers;

static void *help(void *argument)
{
    do_parts(argument);
    leave(argument);
    atomic_fetch_sub(&helpers, 1);
    return NULL;
}

/* A child has none of its parent's. */
static void forget_helpers(void)
{
    atomic_store(&helpers, 0);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_helpers);
}

/* The system's answer takes ten microseconds, which is as long as many a call. */
int parallel_threads(void)
{
    static atomic_int known;
    int threads = atomic_load_explicit(&known, memory_order_relaxed);

    if (!threads) {
        const long processors = sysconf(_SC_NPROCESSORS_ONLN);

        threads = processors < 1 ? 1 : processors < THREADS_MAX ? (int)processors : THREADS_MAX;
        atomic_store_explicit(&known, threads, memory_order_relaxed);
    }
    return threads;
}

/* Start threads that nobody waits for.  The program's signals are for its own ones. */
static void start_helpers(job *j, int wanted)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    sigset_t all, before;
    pthread_attr_t detached;
    pthread_t thread;

    pthread_once(&once, watch_forks);
    if (pthread_attr_init(&detached) != 0)
        return;
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (int i = 0; i < wanted; i++) {
        const bool room = atomic_fetch_add(&helpers, 1) < THREADS_MAX;

        atomic_fetch_add(&j->users, 1);
        if (!room || pthread_create(&thread, &detached, help, j) != 0) {
            atomic_fetch_sub(&j->users, 1);
            atomic_fetch_sub(&helpers, 1);
            break;
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&detached);
}

void parallel_do(int64_t count, int64_t step, double bytes,
                 void (*work)(void *context, int64_t first, int64_t last), void *context)
{
    const int64_t steps = (count + step - 1) / step;
    int wanted = parallel_threads();
    job *j = NULL;

    if (bytes / BYTES_A_THREAD < wanted)
        wanted = (int)(bytes / BYTES_A_THREAD);
    if (wanted >= 2)
        j = malloc(sizeof *j);
    if (!j) {
        work(context, 0, count);
        return;
    }
    *j = (job){.count = count,
               .part = (steps + wanted * PARTS - 1) / (wanted * PARTS) * step,
               .work = work,
               .context = context};
    atomic_init(&j->users, 1);
    atomic_init(&j->next, 0);
    pthread_mutex_init(&j->lock, NULL);
    pthread_cond_init(&j->finished, NULL);
    start_helpers(j, wanted - 1);
    do_parts(j);
    pthread_mutex_lock(&j->lock);
    while (j->done < j->count)
        pthread_cond_wait(&j->finished, &j->lock);
    pthread_mutex_unlock(&j->lock);
    leave(j);
}
