#include "cli/build_line.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/terminal.h"

enum { PATIENCE_NS = 500000000, TICK_NS = 250000000 };

/* What the thread that draws and the one that builds share. */
typedef struct build_line {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    char what[160]; /* "": nothing is built */
    uint64_t since; /* clock_ns */
    bool drawn;
} build_line;

static void draw(build_line *l)
{
    char line[sizeof(l->what) + 32];

    snprintf(line, sizeof(line), "%s, %.0f s", l->what, (double)(clock_ns() - l->since) / 1e9);
    progress_show(line);
    l->drawn = true;
}

static void *keep_drawing(void *context)
{
    build_line *l = context;

    pthread_mutex_lock(&l->lock);
    for (;;) {
        struct timespec until;

        if (!l->what[0]) {
            pthread_cond_wait(&l->changed, &l->lock);
            continue;
        }
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += TICK_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&l->changed, &l->lock, &until);
        if (l->what[0] && clock_ns() - l->since >= PATIENCE_NS)
            draw(l);
    }
    return NULL;
}

static void begin(void *context, const char *what)
{
    build_line *l = context;

    pthread_mutex_lock(&l->lock);
    snprintf(l->what, sizeof(l->what), "%s", what);
    l->since = clock_ns();
    pthread_cond_signal(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

/* The line is gone before the caller prints anything else. */
static void end(void *context)
{
    build_line *l = context;

    pthread_mutex_lock(&l->lock);
    l->what[0] = '\0';
    if (l->drawn)
        progress_clear();
    l->drawn = false;
    pthread_mutex_unlock(&l->lock);
}

void build_line_show(tsr_session *s)
{
    static build_line line = {.lock = PTHREAD_MUTEX_INITIALIZER,
                              .changed = PTHREAD_COND_INITIALIZER};
    static const build_watch watch = {begin, end, &line};
    static bool draws;
    pthread_t thread;

    if (!draws && isatty(STDERR_FILENO) &&
        pthread_create(&thread, NULL, keep_drawing, &line) == 0) {
        pthread_detach(thread);
        draws = true;
    }
    if (draws)
        s->watch = &watch;
}
