#include "cli/interrupt.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/standard_error.h"
#include "cli/messages.h"
#include "cli/terminal.h"
#include "file/temporaries.h"

/* For the handlers below. */
static volatile sig_atomic_t interrupted;

/* Of the command that watches. */
static int (*finish_command)(void *context);
static void *finish_context;

static void end(int number)
{
    progress_abandon();
    temporaries_remove();
    _exit(number == SIGPIPE ? EXIT_UNREAD : EXIT_INTERRUPTED);
}

/* A driver's compiler aborts where memory is limited or a path is too long for it, and where Ctrl-C
 * has ended the programs that it runs, PoCL's linker: then the command is ending already, and its
 * thread gets the time for that. */
void interrupt_aborted(int number)
{
    static const struct timespec time_to_end = {.tv_sec = 2};
    static const char who[] = "tessera: the program was aborted, perhaps by the OpenCL driver\n";

    if (interrupted) {
        nanosleep(&time_to_end, NULL);
        end(number);
    }
    progress_abandon();
    if (!standard_error_tell_end())
        (void)!write(STDERR_FILENO, who, sizeof(who) - 1);
    temporaries_remove();
    _exit(EXIT_FAILED);
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

/* From here on, for compilers that PoCL has loaded since have set a handler of their own. */
static void note(int number)
{
    if (interrupted)
        end(number);
    interrupted = 1;
    handle(SIGABRT, interrupt_aborted, 0);
}

static void handle_interrupts(void (*handler)(int number), int flags)
{
    static const int interrupts[] = {SIGINT, SIGTERM, SIGHUP};

    for (size_t i = 0; i < sizeof interrupts / sizeof *interrupts; i++)
        handle(interrupts[i], handler, flags);
}

void interrupt_ends(void)
{
    atexit(temporaries_remove); /* also where a library that we call exits */
    signal(SIGXFSZ, SIG_IGN);   /* the write fails and says why */
    handle_interrupts(end, 0);
    handle(SIGPIPE, end, 0);
    handle(SIGABRT, interrupt_aborted, 0);
}

const volatile sig_atomic_t *interrupt_watch(int (*finish)(void *context), void *context)
{
    finish_command = finish;
    finish_context = context;
    handle_interrupts(note, SA_RESTART);
    return &interrupted;
}

bool interrupt_came(void)
{
    return interrupted != 0;
}

/* The other threads work on, in a driver perhaps: nothing that they use is freed. */
void interrupt_finish(void)
{
    int status;

    standard_error_release(); /* a compiler may be at work */
    status = finish_command(finish_context);

    fflush(stdout);
    temporaries_remove();
    _exit(status);
}
