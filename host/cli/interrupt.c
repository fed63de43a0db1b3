#include "cli/interrupt.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/messages.h"
#include "file/output.h"

/* A handler reaches nothing else. */
static volatile sig_atomic_t interrupted, on_terminal;

static void end(int number)
{
    output_remove_temporaries();
    _exit(number == SIGPIPE ? EXIT_UNREAD : EXIT_INTERRUPTED);
}

/* What runs now, and a compiler above all, is not to be cut short where results are kept. */
static void note(int number)
{
    static const char line[] =
        "\ntessera: ends when what runs now is done; once more ends at once\n";

    if (interrupted)
        end(number);
    interrupted = 1;
    if (on_terminal && write(STDERR_FILENO, line, sizeof line - 1) < 0)
        interrupted = 1; /* nobody reads it */
}

static void handle(int number, void (*handler)(int number), int flags)
{
    struct sigaction action, old;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    if (!sigaction(number, NULL, &old) && old.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

static void handle_interrupts(void (*handler)(int number), int flags)
{
    static const int interrupts[] = {SIGINT, SIGTERM, SIGHUP};

    for (size_t i = 0; i < sizeof interrupts / sizeof *interrupts; i++)
        handle(interrupts[i], handler, flags);
}

void interrupt_ends(void)
{
    atexit(output_remove_temporaries); /* also where a library that we call exits */
    signal(SIGXFSZ, SIG_IGN);          /* the write fails and says why */
    handle_interrupts(end, 0);
    handle(SIGPIPE, end, 0);
}

const volatile sig_atomic_t *interrupt_watch(void)
{
    on_terminal = isatty(STDERR_FILENO);
    handle_interrupts(note, SA_RESTART);
    return &interrupted;
}
