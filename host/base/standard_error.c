#define _GNU_SOURCE /* memfd_create */
#include "base/standard_error.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void (*on_abort)(int number);
static int kept = -1;  /* a copy of standard error */
static int aside = -1; /* a file in memory, which has what is written while it is hidden */
/* Read by a handler of signals too. */
static atomic_bool guarded, end_told;
static atomic_uint hidden;

bool standard_error_tell_end(void)
{
    static const char who[] = "tessera: the OpenCL driver ended the program\n";
    char part[4096];
    ssize_t n;

    if (!hidden || !guarded || lseek(aside, 0, SEEK_SET) != 0)
        return false;
    if (atomic_exchange(&end_told, true))
        return true;
    (void)!write(kept, who, sizeof(who) - 1);
    while ((n = read(aside, part, sizeof(part))) > 0 && write(kept, part, (size_t)n) == n)
        ;
    return true;
}

/* PoCL's compiler exits on a full disk. */
static void tell_at_exit(void)
{
    standard_error_tell_end();
}

void standard_error_guard(void (*aborted)(int number))
{
    on_abort = aborted;
    kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    aside = memfd_create("standard error", MFD_CLOEXEC);
    if (aside < 0)
        aside = open("/dev/null", O_RDWR | O_CLOEXEC);
    guarded = kept >= 0 && aside >= 0 && atexit(tell_at_exit) == 0;
}

void standard_error_hide(void)
{
    pthread_mutex_lock(&lock);
    /* Each time: compilers that drivers have loaded since set one of their own. */
    if (hidden == 0 && on_abort)
        signal(SIGABRT, on_abort);
    if (hidden++ == 0 && guarded) {
        (void)!ftruncate(aside, 0); /* of /dev/null it fails */
        lseek(aside, 0, SEEK_SET);
        dup2(aside, STDERR_FILENO);
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
