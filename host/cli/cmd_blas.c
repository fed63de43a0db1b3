#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/text.h"
#include "blas/cpu.h"
#include "blas/rates_file.h"
#include "cli/commands.h"
#include "cli/device_choice.h"
#include "cli/messages.h"

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
                    " is neither beside the command nor in %s: the package "
                    "libtessera-blas has it, and in a build folder 'cmake --build .' makes it",
                    "../" TESSERA_LIBDIR);
}

/* Whether times decide where a call goes, or without some what kind the device is. */
static bool is_automatic(const options *o)
{
    const char *offload =
        o->value[OPTION_OFFLOAD] ? o->value[OPTION_OFFLOAD] : getenv("TESSERA_BLAS");

    return !offload || !*offload || !strcmp(offload, "auto");
}

/* Calls go by times of the device itself alone, and of the CPU's BLAS as it is now: where there are
 * none that the library uses, what it does without. */
static void warn_of_times(const tsr_device *device)
{
    const char *name = tsr_device_name(device);
    const tsr_kind kind = tsr_device_kind(device);
    const bool takes_large = kind == TSR_KIND_GPU || kind == TSR_KIND_ACCELERATOR;
    static rates_file file; /* large for a stack */
    char reason[RATES_REASON_SIZE];

    if (!rates_file_read(&file, reason)) {
        if (!takes_large)
            warn("%s is not a GPU and takes no call, all go to the CPU's BLAS: '--offload always' "
                 "sends it products, and after 'tessera tune blas' it takes those that it is "
                 "faster at",
                 name);
        return;
    }
    if (!*reason && rates_file_is_of(&file, name, tsr_device_platform(device), reason))
        return;
    warn("rates of %s are ignored: %s; %s %s", file.path, reason, name,
         takes_large
             ? "takes large calls until 'tessera tune blas' has timed it"
             : "takes no call, all go to the CPU's BLAS: '--offload always' sends it products, "
               "and once 'tessera tune blas' has timed it, it takes those that it is faster at");
}

/* A device that is not there is an error here, where the library would be silent; a warning says
 * where no call will go to the device, or not by the times that there are. */
static tsr_status check_device(const options *o, tsr_error *err)
{
    const bool asked = o->value[OPTION_DEVICE] != NULL;
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
    warn_of_times(found.device[0]);

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

/* A library without a BLAS is an error too: libtessera-blas would warn and take the system's. */
static tsr_status check_cpu_blas(const options *o, const char *library, tsr_error *err)
{
    const char *path = o->value[OPTION_CPU_BLAS];
    void *handle, *symbol;
    char real[PATH_MAX] = "";
    Dl_info info;
    tsr_status st = TSR_OK;

    if (!path)
        return TSR_OK;
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return tsr_fail(err, TSR_EFILE, 0, "--cpu-blas: %s", dlerror());
    symbol = dlsym(handle, "dgemm_");
    if (!symbol)
        st = tsr_fail(err, TSR_EFILE, 0, "--cpu-blas: '%s' has no BLAS: dgemm_ is not in it", path);
    else if (dladdr(symbol, &info) && realpath(info.dli_fname, real) && !strcmp(real, library))
        st = tsr_fail(err, TSR_EFILE, 0, "--cpu-blas: '%s' is libtessera-blas itself", path);
    else if (!blas_cpu_has_integers(handle, false))
        st = tsr_fail(
            err, TSR_EFILE, 0,
            "--cpu-blas: '%s' has integers of 64 bits: TESSERA_BLAS_CPU64 names such a one", path);
    dlclose(handle);
    return st;
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

/* A name without a folder is one that the loader looks for. */
static void set_cpu_blas(const options *o)
{
    const char *path = o->value[OPTION_CPU_BLAS];

    if (path && strchr(path, '/'))
        set_absolute("TESSERA_BLAS_CPU", path);
    else if (path)
        setenv("TESSERA_BLAS_CPU", path, 1);
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
    if (o->value[OPTION_BLAS_PRECISION])
        setenv("TESSERA_BLAS_PRECISION", o->value[OPTION_BLAS_PRECISION], 1);
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
    st = st ? st : check_cpu_blas(o, library, &err);
    if (!st) {
        set_cpu_blas(o); /* the times in the file are of one */
        st = check_device(o, &err);
    }
    if (!st) {
        set_environment(o, library);
        for (size_t i = 0; i < o->operand_count; i++)
            arguments[i] = (char *)o->operand[i];
        execvp(arguments[0], arguments);
        st = tsr_fail(&err, TSR_EFILE, 0, "cannot run '%s': %s", arguments[0], strerror(errno));
    }
    free(arguments);
    return print_error("blas", &err, NULL);
}
