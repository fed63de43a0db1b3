#include "cli/interrupt.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "cli/complain.h"
#include "file/output.h"

/* A handler reaches nothing else. */
static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    if (interrupted) {
        output_remove_temporaries();
        _exit(EXIT_INTERRUPTED);
    }
    interrupted = 1;
}

const volatile sig_atomic_t *interrupt_watch(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action, old;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (!sigaction(ends[i], NULL, &old) && old.sa_handler != SIG_IGN)
            sigaction(ends[i], &action, NULL);
    return &interrupted;
}
