#include "base/background.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/forks.h"

/* A thread's work, after which it waits for the thread before it. */
typedef struct task {
    void (*work)(void *with);
    void *with;
    pthread_t before;
    bool has_before;
} task;

/* The process's: the last thread that was started, which nobody has waited for. */
static pthread_mutex_t threads = PTHREAD_MUTEX_INITIALIZER;
static pthread_t last;
static bool has_last;
static bool waits; /* wait_for_all() runs when the process ends */
static unsigned forks_before_last;

static void *run(void *own)
{
    task *t = own;

    t->work(t->with);
    if (t->has_before)
        pthread_join(t->before, NULL);
    free(t);
    return NULL;
}

/* Joined without the lock: work may start more of it.  What starts later, by a handler that was
 * registered earlier, registers this again. */
static void wait_for_all(void)
{
    pthread_t thread;
    bool has_thread;

    if (forks_so_far() != forks_before_last)
        return;
    do {
        pthread_mutex_lock(&threads);
        thread = last;
        has_thread = has_last;
        has_last = false;
        waits = has_thread;
        pthread_mutex_unlock(&threads);
        if (has_thread)
            pthread_join(thread, NULL);
    } while (has_thread);
}

/* By atexit, for destructors of a driver's own C++ objects run before those of this library. */
bool background_start(void (*work)(void *with), void *with)
{
    task *t = calloc(1, sizeof(*t));
    pthread_t thread;
    sigset_t all, before;
    bool started = false;

    pthread_mutex_lock(&threads);
    waits = waits || atexit(wait_for_all) == 0;
    if (t && waits) {
        if (forks_so_far() != forks_before_last)
            has_last = false; /* a thread of the parent */
        *t = (task){.work = work, .with = with, .before = last, .has_before = has_last};
        forks_before_last = forks_so_far();
        sigfillset(&all); /* they are for the program's own threads */
        pthread_sigmask(SIG_SETMASK, &all, &before);
        started = pthread_create(&thread, NULL, run, t) == 0;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    if (started) {
        last = thread;
        has_last = true;
    }
    pthread_mutex_unlock(&threads);
    if (!started)
        free(t);
    return started;
}
