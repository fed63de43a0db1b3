#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/device_choice.h"
#include "cli/messages.h"
#include "core/tuning_file.h"

/* Where `make install` puts libraries, relative to its prefix. */
#ifndef TESSERA_LIBDIR
#define TESSERA_LIBDIR "lib"
#endif
/* Its name for the loader: the one without a version comes with the headers. */
#ifndef TESSERA_BLAS_LIBRARY
#define TESSERA_BLAS_LIBRARY "libtessera-blas.so"
#endif

tsr_status blas_library_find(char out[PATH_MAX], tsr_error *err)
{
    static const char *const beside[] = {"", "../" TESSERA_LIBDIR "/", "../lib/"};
    char self[PATH_MAX] = "", path[2 * PATH_MAX];
    char *slash;

    if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
        self[0] = '\0';
    slash = strrchr(self, '/');
    if (slash)
        slash[1] = '\0';
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        snprintf(path, sizeof path, "%s%s" TESSERA_BLAS_LIBRARY, self, beside[i]);
        if (access(path, R_OK) == 0 && realpath(path, out)) {
            if (!strpbrk(out, " :"))
                return TSR_OK;
            return tsr_fail(err, TSR_EFILE, 0,
                            "the loader takes no path with a space or colon: '%s'", out);
        }
    }
    return tsr_fail(err, TSR_EFILE, 0,
                    TESSERA_BLAS_LIBRARY
                    " is neither beside the command nor in %s: the Debian "
                    "package libtessera-blas has it (apt install libtessera-blas)",
                    "../" TESSERA_LIBDIR);
}

/* What `tune blas` has left times of: "" where there are none.  Calls go by those of the device
 * itself alone. */
typedef struct timed_device {
    char name[256], platform[256];
} timed_device;

static timed_device read_timed(void)
{
    timed_device out = {"", ""};
    char line[512];
    text path = {0};
    FILE *file;

    tuning_folder(&path);
    text_append(&path, "/blas-rates");
    file = fopen(text_get(&path), "re");
    text_free(&path);
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (!strncmp(line, "device ", 7))
            snprintf(out.name, sizeof out.name, "%.255s", line + 7);
        else if (!strncmp(line, "platform ", 9))
            snprintf(out.platform, sizeof out.platform, "%.255s", line + 9);
    }
    if (file)
        fclose(file);
    return out;
}

/* Whether times decide where a call goes, or without some what kind the device is. */
static bool is_automatic(const options *o)
{
    const char *offload =
        o->value[OPTION_OFFLOAD] ? o->value[OPTION_OFFLOAD] : getenv("TESSERA_BLAS");

    return !offload || !*offload || !strcmp(offload, "auto");
}

/* A device whose times there are not: what is done without. */
static void warn_of_device(const tsr_device *device, const timed_device *timed)
{
    const char *name = tsr_device_name(device);
    const tsr_kind kind = tsr_device_kind(device);
    const bool takes_large = kind == TSR_KIND_GPU || kind == TSR_KIND_ACCELERATOR;

    if (!strcmp(timed->name, name) && !strcmp(timed->platform, tsr_device_platform(device)))
        return;
    if (takes_large && *timed->name)
        warn("the times of 'tessera tune blas' are of '%s' of '%s': %s takes large calls, "
             "as without times, until they are measured on it",
             timed->name, timed->platform, name);
    else if (!takes_large && *timed->name)
        warn(
            "the times of 'tessera tune blas' are of '%s' of '%s', and %s takes no call, all go to "
            "the CPU's BLAS: '--offload always' sends it products, and once it is timed it takes "
            "those that it is faster at",
            timed->name, timed->platform, name);
    else if (!takes_large)
        warn("%s is not a GPU and takes no call, all go to the CPU's BLAS: '--offload always' "
             "sends it products, and after 'tessera tune blas' it takes those that it is faster at",
             name);
}

/* A device that is not there is an error here, where the library would be silent; a warning says
 * where no call will go to the device, or not by the times that there are. */
static tsr_status check_device(const options *o, tsr_error *err)
{
    const bool asked = o->value[OPTION_DEVICE] != NULL;
    timed_device timed;
    choice found = {0};
    tsr_status st = TSR_OK;

    if (asked)
        st = choice_find_one(o, &found, err);
    if (st || !is_automatic(o))
        goto cleanup;
    if (!asked && choice_find_one(o, &found, NULL)) {
        warn("no device takes a call, all go to the CPU's BLAS: see 'tessera devices'");
        goto cleanup;
    }
    timed = read_timed();
    warn_of_device(found.device[0], &timed);

cleanup:
    choice_close(&found);
    return st;
}

/* A log that cannot be written is an error before the program runs. */
static tsr_status check_log(const options *o, tsr_error *err)
{
    const char *log = o->value[OPTION_LOG];
    FILE *file;

    if (!log)
        return TSR_OK;
    if (!strcmp(log, "-"))
        return tsr_fail(err, TSR_ENAME, 0,
                        "--log takes a file: standard output belongs to the program");
    file = fopen(log, "a");
    if (!file)
        return tsr_fail(err, TSR_EFILE, 0, "log '%s': %s", log, strerror(errno));
    fclose(file);
    return TSR_OK;
}

/* The program may change its folder. */
static void set_absolute(const char *variable, const char *path)
{
    char folder[PATH_MAX];
    text absolute = {0};

    if (*path != '/' && getcwd(folder, sizeof folder))
        text_format(&absolute, "%s/", folder);
    text_append(&absolute, path);
    setenv(variable, text_get(&absolute), 1);
    text_free(&absolute);
}

static void set_environment(const options *o, const char *library)
{
    const char *preloaded = getenv("LD_PRELOAD");
    text preload = {0};

    text_append(&preload, library);
    if (preloaded && *preloaded)
        text_format(&preload, ":%s", preloaded);
    setenv("LD_PRELOAD", text_get(&preload), 1);
    text_free(&preload);
    if (o->value[OPTION_DEVICE])
        setenv("TESSERA_DEVICE", o->value[OPTION_DEVICE], 1);
    if (o->value[OPTION_OFFLOAD])
        setenv("TESSERA_BLAS", o->value[OPTION_OFFLOAD], 1);
    if (o->value[OPTION_LOG])
        set_absolute("TESSERA_BLAS_LOG", o->value[OPTION_LOG]);
    if (o->value[OPTION_KERNEL_DIR])
        set_absolute("TESSERA_KERNEL_DIR", o->value[OPTION_KERNEL_DIR]);
}

int cmd_blas(const options *o)
{
    char **arguments = calloc(o->operand_count + 1, sizeof *arguments);
    char library[PATH_MAX];
    tsr_error err = {0};
    tsr_status st;

    if (!arguments)
        return out_of_memory();
    st = blas_library_find(library, &err);
    st = st ? st : check_log(o, &err);
    st = st ? st : check_device(o, &err);
    if (!st) {
        for (size_t i = 0; i < o->operand_count; i++)
            arguments[i] = (char *)o->operand[i];
        set_environment(o, library);
        execvp(arguments[0], arguments);
        st = tsr_fail(&err, TSR_EFILE, 0, "cannot run '%s': %s", arguments[0], strerror(errno));
    }
    free(arguments);
    return print_error("blas", &err, NULL);
}
