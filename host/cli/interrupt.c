#include "cli/interrupt.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "cli/complain.h"
#include "file/output.h"

/* A handler reaches nothing else. */
static volatile sig_atomic_t interrupted;

static void end(int number)
{
    (void)number;
    output_remove_temporaries();
    _exit(EXIT_INTERRUPTED);
}

static void note(int number)
{
    if (interrupted)
        end(number);
    interrupted = 1;
}

static void handle(void (*handler)(int number), int flags)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action, old;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (!sigaction(ends[i], NULL, &old) && old.sa_handler != SIG_IGN)
            sigaction(ends[i], &action, NULL);
}

void interrupt_ends(void)
{
    handle(end, 0);
}

const volatile sig_atomic_t *interrupt_watch(void)
{
    handle(note, SA_RESTART);
    return &interrupted;
}
