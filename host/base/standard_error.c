#include "base/standard_error.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool guarded;
static int kept = -1; /* a copy of standard error */
static unsigned hidden;

/* Under a limit of memory (ulimit -v) a compiler may abort, and what it writes is the only message:
 * nothing is hidden. */
static bool memory_is_limited(void)
{
    struct rlimit most;

    return !getrlimit(RLIMIT_AS, &most) && most.rlim_cur != RLIM_INFINITY;
}

void standard_error_guard(void)
{
    if (memory_is_limited())
        return;
    kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    guarded = kept >= 0;
}

void standard_error_hide(void)
{
    int nowhere;

    pthread_mutex_lock(&lock);
    if (hidden++ == 0 && guarded) {
        nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (nowhere >= 0) {
            dup2(nowhere, STDERR_FILENO);
            close(nowhere);
        }
    }
    pthread_mutex_unlock(&lock);
}

void standard_error_show(void)
{
    pthread_mutex_lock(&lock);
    if (--hidden == 0 && guarded)
        dup2(kept, STDERR_FILENO);
    pthread_mutex_unlock(&lock);
}

void standard_error_release(void)
{
    pthread_mutex_lock(&lock);
    if (guarded)
        dup2(kept, STDERR_FILENO);
    guarded = false;
    pthread_mutex_unlock(&lock);
}

int standard_error_fd(void)
{
    return kept >= 0 ? kept : STDERR_FILENO;
}
