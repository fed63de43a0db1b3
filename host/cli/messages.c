#include "cli/messages.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/activity.h"
#include "session/state.h"

static int exit_status(tsr_status status)
{
    switch (status) {
    case TSR_OK:
        return EXIT_DONE;
    case TSR_ENAME:
        return EXIT_USAGE;
    case TSR_EBOUND:
        return EXIT_BOUND;
    case TSR_ENODEVICE:
        return EXIT_NODEVICE;
    default:
        return EXIT_FAILED;
    }
}

/* Whether a command runs on the host too, which needs no OpenCL. */
static bool takes_host(const char *command)
{
    static const char *const refuse[] = {"trace", "lab", "diagnose", "lesson", "roofline"};

    for (size_t i = 0; i < sizeof refuse / sizeof *refuse; i++)
        if (!strcmp(command, refuse[i]))
            return false;
    return true;
}

/* Drivers that a folder names for the OpenCL loader; 0 too where it cannot be read. */
static unsigned drivers_named(const char *folder)
{
    DIR *list = opendir(folder);
    const struct dirent *entry;
    unsigned count = 0;

    while (list && (entry = readdir(list))) {
        const char *end = strrchr(entry->d_name, '.');

        count += end && !strcmp(end, ".icd");
    }
    if (list)
        closedir(list);
    return count;
}

static void hint_install(const char *command, const char *message)
{
    const char *given = getenv("OCL_ICD_VENDORS");
    const char *folder = given ? given : "/etc/OpenCL/vendors";
    const char *host = takes_host(command) ? "; '--device host' needs no OpenCL" : "";
    const bool none = strstr(message, "no OpenCL device was found") != NULL;
    const unsigned named = none ? drivers_named(folder) : 0;

    hint("the OpenCL loader looked in %s%s", given ? "OCL_ICD_VENDORS=" : "", folder);
    if (named)
        hint(
            "%u driver%s named there, but none that has a device could be loaded: a library may be "
            "missing, or memory or open files limited (ulimit -a)%s",
            named, named == 1 ? " is" : "s are", host);
    else
        hint("on Debian, pocl-opencl-icd runs OpenCL on the CPU; for an NVIDIA GPU install the "
             "OpenCL library of its driver (nvidia-opencl-icd)%s",
             host);
}

/* The compiler's log, without its first line where the message has that. */
static void show_rest_of_log(const char *log, const char *message)
{
    const size_t length = strcspn(log, "\n");
    char first[sizeof((tsr_error *)0)->message];

    if (length > 0 && length < sizeof(first)) {
        memcpy(first, log, length);
        first[length] = '\0';
        if (strstr(message, first))
            log += length + (log[length] == '\n');
    }
    if (*log)
        show_build_log(log);
}

/* PoCL keeps what it builds in a folder of its own, and fails to build where that is impossible. */
static void hint_pocl_folder(const tsr_session *session)
{
    const char *own = getenv("POCL_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    text folder = {0};
    struct statvfs on;

    if (own && *own)
        text_append(&folder, own);
    else if (xdg && *xdg)
        text_format(&folder, "%s/pocl", xdg);
    else
        text_format(&folder, "%s/.cache/pocl", home ? home : "");
    if (!session->device.facts.compiles_late || statvfs(text_get(&folder), &on))
        ;
    else if (access(text_get(&folder), W_OK))
        hint("PoCL's cache folder '%s' cannot be written: %s; POCL_CACHE_DIR names another",
             text_get(&folder), strerror(errno));
    else if (on.f_bavail * on.f_frsize < 1 << 20)
        hint("PoCL's cache folder '%s' is on a file system with %lu KiB left; POCL_CACHE_DIR names "
             "another",
             text_get(&folder), (unsigned long)(on.f_bavail * on.f_frsize / 1024));
    text_free(&folder);
}

int print_error(const char *what, const tsr_error *err, const tsr_session *session)
{
    size_t length = strlen(what);
    bool named = !strncmp(err->message, what, length) && err->message[length] == ':';

    activity_end();
    /* Results and complaints may go to the same terminal. */
    fflush(stdout);
    if (named || err->status == TSR_EFILE)
        fprintf(stderr, "tessera: %s\n", err->message);
    else
        fprintf(stderr, "tessera: %s: %s\n", what, err->message);
    if (err->status == TSR_EBUILD && session)
        show_rest_of_log(tsr_session_build_log(session), err->message);
    if (err->status == TSR_EBUILD && session)
        hint_pocl_folder(session);
    if (err->status == TSR_ENODEVICE)
        hint_install(what, err->message);
    return exit_status(err->status);
}

static void say(const char *head, const char *format, va_list args)
{
    text line = {0};

    activity_end();
    text_vformat(&line, format, args);
    if (line.data)
        text_make_plain(line.data, "");
    fprintf(stderr, "%s%s\n", head, text_get(&line));
    text_free(&line);
}

int wrong_usage(const char *format, ...)
{
    va_list args;

    fflush(stdout);
    va_start(args, format);
    say("tessera: ", format, args);
    va_end(args);
    return EXIT_USAGE;
}

void print_plain(FILE *to, const char *format, ...)
{
    text plain = {0};
    va_list args;

    va_start(args, format);
    text_vformat(&plain, format, args);
    va_end(args);
    if (plain.data)
        text_make_plain(plain.data, "\n\t");
    fputs(text_get(&plain), to);
    text_free(&plain);
}

void show_build_log(const char *log)
{
    const size_t length = strlen(log);

    activity_end();
    print_plain(stderr, "%s%s", log, length && log[length - 1] != '\n' ? "\n" : "");
}

void warn(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say("tessera: warning: ", format, args);
    va_end(args);
}

tsr_status commit_and_warn(output *o, tsr_error *err)
{
    text lost = {0};
    const tsr_status st = output_commit(o, &lost, err);

    if (!st && lost.length)
        warn("%s", text_get(&lost));
    text_free(&lost);
    return st;
}

void hint(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say("hint: ", format, args);
    va_end(args);
}

int out_of_memory(void)
{
    fputs("tessera: out of memory\n", stderr);
    return EXIT_FAILED;
}

void warn_failures(const tsr_devices *list)
{
    const char *line;

    for (size_t i = 0; (line = tsr_devices_failure(list, i)); i++)
        warn("%s", line);
}
