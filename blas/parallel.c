#include "blas/parallel.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

enum {
    THREADS_MAX = 8, /* more do not copy faster */
    PARTS = 4        /* of a thread: those that have less to do take another */
};

/* To start a thread takes as long as to copy some hundred kilobytes. */
#define BYTES_A_THREAD (2.0 * 1024 * 1024)

typedef struct job {
    atomic_llong next; /* where the next part begins */
    int64_t count, part;
    void (*work)(void *context, int64_t first, int64_t last);
    void *context;
} job;

static void *do_parts(void *argument)
{
    job *j = argument;
    int64_t first;

    while ((first = atomic_fetch_add(&j->next, j->part)) < j->count)
        j->work(j->context, first, j->count - first < j->part ? j->count : first + j->part);
    return NULL;
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

void parallel_do(int64_t count, int64_t step, double bytes,
                 void (*work)(void *context, int64_t first, int64_t last), void *context)
{
    job j = {.count = count, .work = work, .context = context};
    pthread_t threads[THREADS_MAX];
    int wanted = parallel_threads(), started = 0;
    sigset_t all, before;
    int64_t steps;

    if (bytes / BYTES_A_THREAD < wanted)
        wanted = (int)(bytes / BYTES_A_THREAD);
    if (wanted < 2) {
        work(context, 0, count);
        return;
    }
    steps = (count + step - 1) / step;
    j.part = (steps + wanted * PARTS - 1) / (wanted * PARTS) * step;
    /* The program's signals are for its own threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (started < wanted - 1 && pthread_create(&threads[started], NULL, do_parts, &j) == 0)
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    do_parts(&j);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}
