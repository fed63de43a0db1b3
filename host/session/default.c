#include "session/default.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/fail.h"

/* The process's: whoever has `turn` uses the session, or opens it. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static tsr_session *opened;
static tsr_session *parents; /* of the process that this one was forked from: never used */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool ended; /* the process is about to */
static _Thread_local bool has_turn;

/* In the child of a fork: the thread that had the turn is not there. */
static void begin_anew(void)
{
    parents = opened ? opened : parents;
    opened = NULL;
    turn = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    has_turn = false;
}

/* Waits for the call of another thread: it would not survive that drivers are unloaded.  Where this
 * thread's own has not returned, a driver ends the process. */
static void close_at_exit(void)
{
    if (has_turn)
        return;
    pthread_mutex_lock(&turn);
    ended = true;
    if (opened)
        opened->ends_process = true;
    tsr_session_close(opened);
    opened = NULL;
    pthread_mutex_unlock(&turn);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, begin_anew);
}

tsr_status default_session_take(tsr_session **out, tsr_error *err)
{
    static bool closes; /* at exit; once drivers are loaded, so that theirs come after it */
    tsr_status st = TSR_OK;

    if (has_turn) /* the driver calls back, which waiting would never end */
        return tsr_fail(err, TSR_EINVAL, 0, "the default session is in a call of this thread");
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&turn);
    if (ended)
        st = tsr_fail(err, TSR_EUNSUPPORTED, 0,
                      "the process is ending: its default session is closed");
    else if (!opened)
        st = tsr_session_open(NULL, NULL, &opened, err);
    if (st) {
        pthread_mutex_unlock(&turn);
        return st;
    }
    closes = closes || atexit(close_at_exit) == 0;
    has_turn = true;
    *out = opened;
    return TSR_OK;
}

void default_session_give_back(void)
{
    has_turn = false;
    pthread_mutex_unlock(&turn);
}
