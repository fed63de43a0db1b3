#include "session/default.h"

#include <pthread.h>
#include <stdlib.h>

/* The process's: whoever has `turn` uses the session, or opens it. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static tsr_session *opened;
static tsr_session *parents; /* of the process that this one was forked from: never used */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* In the child of a fork: the thread that had the turn is not there. */
static void begin_anew(void)
{
    parents = opened ? opened : parents;
    opened = NULL;
    turn = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

/* Where another thread's call goes on, the process ends with the session as it is. */
static void close_at_exit(void)
{
    if (pthread_mutex_trylock(&turn))
        return;
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

    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&turn);
    if (!opened)
        st = tsr_session_open(NULL, NULL, &opened, err);
    if (st) {
        pthread_mutex_unlock(&turn);
        return st;
    }
    closes = closes || atexit(close_at_exit) == 0;
    *out = opened;
    return TSR_OK;
}

void default_session_give_back(void)
{
    pthread_mutex_unlock(&turn);
}
