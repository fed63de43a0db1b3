#include "cli/activity.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/standard_error.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"

static const uint64_t tick_ns = 100000000;
static const uint64_t silence_ns = 350000000; /* and a tick or two: half a second at most */
static const uint64_t grace_ns = 300000000;   /* to end by itself after a signal */

/* Something that goes on, since a time of clock_ns(). */
typedef struct doing {
    char what[256]; /* "": nothing */
    uint64_t since;
} doing;

/* What the thread that draws shares with the one that works. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t drawer;
    bool running, waiting, shown; /* the thread is there; it has begun to wait for work */
    doing activity, building;
    uint64_t silent_since; /* no line was there, whatever was begun and ended */
    text drawn;            /* "": nothing */
    bool ending;           /* the thread ends the command: nobody else does anything any more */
} line = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void take(void)
{
    pthread_mutex_lock(&line.lock);
    while (line.ending && !pthread_equal(pthread_self(), line.drawer)) {
        pthread_mutex_unlock(&line.lock);
        pause();
        pthread_mutex_lock(&line.lock);
    }
}

static bool is_busy(void)
{
    return line.activity.what[0] || line.building.what[0];
}

/* Characters of an activity that still say which. */
enum { ACTIVITY_MIN = 8 };

/* "activity: what is built, 3 s": the activity is cut where the terminal is narrow, and left out
 * where little of it would be left; the time is never cut. */
static void draw(uint64_t now)
{
    const bool builds = line.building.what[0] &&
                        (!line.activity.what[0] || now - line.building.since >= silence_ns);
    const doing *last = builds ? &line.building : &line.activity;
    const size_t columns = terminal_columns(standard_error_fd()) - 1;
    const char *what = builds ? line.building.what : line.activity.what;
    text shown = {0}, tail = {0};
    size_t room;

    text_format(&tail, ", %.0f s", (double)(now - last->since) / 1e9);
    room = columns > tail.length ? columns - tail.length : 0;
    if (builds && line.activity.what[0] && text_width(what) + 2 + ACTIVITY_MIN <= room) {
        const char *device = strstr(line.activity.what, " on ");

        text_append_cut(&shown, line.activity.what, room - text_width(what) - 2);
        /* The name of a device is left out rather than cut. */
        if (device && shown.length < strlen(line.activity.what) &&
            shown.length >= (size_t)(device - line.activity.what))
            shown.data[shown.length = (size_t)(device - line.activity.what)] = '\0';
        while (shown.length && shown.data[shown.length - 1] == ' ')
            shown.data[--shown.length] = '\0';
        text_append(&shown, ": ");
        text_append(&shown, what);
    } else {
        text_append_cut(&shown, what, room);
    }
    text_append(&shown, text_get(&tail));
    if (strcmp(text_get(&shown), text_get(&line.drawn)) != 0) {
        progress_show(text_get(&shown));
        text_clear(&line.drawn);
        text_append(&line.drawn, text_get(&shown));
    }
    text_free(&shown);
    text_free(&tail);
}

static void wait_a_tick(void)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)tick_ns;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&line.changed, &line.lock, &until);
}

/* The thread. */
static void *keep_drawing(void *context)
{
    uint64_t signalled = 0; /* when the signal was seen; 0 before */

    (void)context;
    pthread_mutex_lock(&line.lock);
    line.waiting = true;
    pthread_cond_signal(&line.changed);
    for (;;) {
        uint64_t now;

        if (!is_busy()) {
            pthread_cond_wait(&line.changed, &line.lock);
            continue;
        }
        wait_a_tick();
        now = clock_ns();
        if (!signalled && interrupt_came())
            signalled = now;
        if (signalled && line.activity.what[0] && now - signalled >= grace_ns) {
            line.ending = true;
            pthread_mutex_unlock(&line.lock);
            activity_end();
            interrupt_finish();
        }
        if (line.shown && is_busy() && now - line.silent_since >= silence_ns)
            draw(now);
    }
    return NULL;
}

void activity_start(bool shown)
{
    if (!line.running && pthread_create(&line.drawer, NULL, keep_drawing, NULL) == 0) {
        pthread_detach(line.drawer);
        line.running = true;
        /* It allocates nothing any more while it waits: a command that forks then does not leave
         * the child an allocator that is locked for ever. */
        pthread_mutex_lock(&line.lock);
        while (!line.waiting)
            pthread_cond_wait(&line.changed, &line.lock);
        pthread_mutex_unlock(&line.lock);
    }
    line.shown = shown;
    line.silent_since = clock_ns();
}

/* Under the lock. */
static void set(doing *d, const char *what, bool anew)
{
    const uint64_t now = clock_ns();

    if (!is_busy())
        pthread_cond_signal(&line.changed);
    if (anew || !d->what[0])
        d->since = now;
    snprintf(d->what, sizeof d->what, "%s", what);
}

static void set_activity(bool anew, const char *format, va_list args)
{
    text what = {0};

    if (!line.running)
        return;
    text_vformat(&what, format, args);
    take();
    set(&line.activity, text_get(&what), anew);
    pthread_mutex_unlock(&line.lock);
    text_free(&what);
}

void activity_begin(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    set_activity(true, format, args);
    va_end(args);
}

void activity_update(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    set_activity(false, format, args);
    va_end(args);
}

/* Under the lock. */
static void clear(void)
{
    if (line.drawn.length) {
        progress_clear();
        line.silent_since = clock_ns();
    }
    text_clear(&line.drawn);
}

void activity_end(void)
{
    if (!line.running)
        return;
    take();
    line.activity.what[0] = '\0';
    clear();
    pthread_mutex_unlock(&line.lock);
}

static void build_begins(void *context, const char *what)
{
    (void)context;
    take();
    set(&line.building, what, true);
    pthread_mutex_unlock(&line.lock);
}

/* Where an activity goes on, its line stays. */
static void build_ends(void *context)
{
    (void)context;
    take();
    line.building.what[0] = '\0';
    if (!line.activity.what[0])
        clear();
    pthread_mutex_unlock(&line.lock);
}

void activity_watch(tsr_session *s)
{
    static const build_watch watch = {build_begins, build_ends, NULL};

    if (line.running && line.shown)
        s->watch = &watch;
}
