#include "blas/cpu.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where the CPU's BLAS may be, the system's choice first.  That choice may be this library, where
 * it was made an alternative of libblas.so.3: then one of the others. */
static const char debian_reference[] = "/usr/lib/" BLAS_ARCHITECTURE "/blas/libblas.so.3";
static const char *const candidates_32[] = {"libblas.so.3", "libopenblas.so.0", "libopenblas.so",
                                            "libblis.so.4", debian_reference};
static const char *const candidates_64[] = {
    "libopenblas64_.so.0",
    "libopenblas64_.so",
    "libopenblas64.so.0",
    "libblas64.so.3",
};

typedef struct cpu_blas {
    const char *variable;          /* of the environment, that names it */
    const char *const *candidates; /* else */
    size_t count;
    void *handle;
    char path[PATH_MAX];
} cpu_blas;

static cpu_blas cpu_32 = {"TESSERA_BLAS_CPU", candidates_32,
                          sizeof candidates_32 / sizeof *candidates_32};
static cpu_blas cpu_64 = {"TESSERA_BLAS_CPU64", candidates_64,
                          sizeof candidates_64 / sizeof *candidates_64};
static char description[PATH_MAX + 192]; /* of the one with integers of 32 bits */
static pthread_once_t once_32 = PTHREAD_ONCE_INIT;
static pthread_once_t once_64 = PTHREAD_ONCE_INIT;

/* The first of two names that the library has, where that is not libtessera-blas. */
static void *symbol_of(void *handle, const char *name, const char *other)
{
    void *symbol = handle ? dlsym(handle, name) : NULL;

    if (handle && !symbol && other)
        symbol = dlsym(handle, other);
    return symbol && !dlsym(handle, "tsr_blas_keep") ? symbol : NULL;
}

bool blas_cpu_has_integers(void *handle, bool wide)
{
    /* As an integer of 32 bits it is 1, where the first element is the largest; one of 64 is
     * negative, where there is none. */
    const int64_t n = INT64_MIN + 1, one = 1;
    const double x = 1;
    void *symbol = symbol_of(handle, wide ? "idamax_64_" : "idamax_", wide ? "idamax_" : NULL);
    int (*largest)(const int64_t *, const double *, const int64_t *);

    if (!symbol || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
        return true;
    memcpy(&largest, &symbol, sizeof largest);
    return (largest(&n, &x, &one) == 0) == wide;
}

/* Open a library that has a BLAS of this kind. */
static bool open_library(cpu_blas *blas, const char *file, bool wide)
{
    /* Libraries of 64-bit integers may call their own functions by names that this library has for
     * 32-bit ones. */
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL | (wide ? RTLD_DEEPBIND : 0));
    void *symbol;
    Dl_info info;

    if (!handle)
        return false;
    symbol = symbol_of(handle, wide ? "dgemm_64_" : "dgemm_", wide ? "dgemm_" : NULL);
    if (!symbol || !blas_cpu_has_integers(handle, wide)) {
        dlclose(handle);
        return false;
    }
    blas->handle = handle;
    /* A link such as Debian's libblas.so.3 may lead to another library tomorrow. */
    if (dladdr(symbol, &info) && info.dli_fname && !realpath(info.dli_fname, blas->path))
        snprintf(blas->path, sizeof blas->path, "%s", info.dli_fname);
    return true;
}

static void open_blas(cpu_blas *blas, bool wide)
{
    const char *named = getenv(blas->variable);

    if (named && *named) {
        if (open_library(blas, named, wide))
            return;
        fprintf(
            stderr,
            "libtessera-blas: %s: %s cannot be opened as a BLAS with integers of %d bits; using "
            "the system's\n",
            blas->variable, named, wide ? 64 : 32);
    }
    for (size_t i = 0; i < blas->count; i++) {
        if (open_library(blas, blas->candidates[i], wide))
            return;
    }
}

/* Processors that the process may use: a BLAS starts no more threads. */
static int processors(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

static void describe(const char *path)
{
    static const char *const variables[] = {"OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS",
                                            "MKL_NUM_THREADS", "OMP_NUM_THREADS"};
    size_t at = (size_t)snprintf(description, sizeof description, "%s, on %d processors", path,
                                 processors());

    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);

        if (value && *value)
            at += (size_t)snprintf(description + at, sizeof description - at, ", %s=%.15s",
                                   variables[i], value);
    }
}

static void open_32(void)
{
    open_blas(&cpu_32, false);
    if (cpu_32.handle)
        describe(cpu_32.path);
}

static void open_64(void)
{
    open_blas(&cpu_64, true);
}

void *blas_cpu_symbol(const char *name)
{
    pthread_once(&once_32, open_32);
    return symbol_of(cpu_32.handle, name, NULL);
}

/* A library of 64-bit integers may have its functions by their plain names, without 64_. */
static void *find_64(const char *name)
{
    char plain[32];

    pthread_once(&once_64, open_64);
    snprintf(plain, sizeof plain, "%.*s", (int)(strlen(name) - strlen("64_")), name);
    return symbol_of(cpu_64.handle, name, plain);
}

void blas_cpu_resolve(blas_target *target, const char *name, size_t integer)
{
    const bool wide = integer == 8;
    const cpu_blas *blas = wide ? &cpu_64 : &cpu_32;
    void *symbol = wide ? find_64(name) : blas_cpu_symbol(name);
    blas_function f = NULL;

    if (!symbol && strstr(name, "cabs1")) {
        /* OpenBLAS has not C's scabs1 and dcabs1, which are Fortran's by another name. */
        char fortran[16];

        snprintf(fortran, sizeof fortran, "%.6s_%s", name + strlen("cblas_"), wide ? "64_" : "");
        symbol = wide ? find_64(fortran) : blas_cpu_symbol(fortran);
    }
    if (!symbol && !blas->handle) {
        fprintf(stderr,
                "libtessera-blas: no BLAS of the CPU with integers of %d bits: install one "
                "(libopenblas0), or name it in %s\n",
                wide ? 64 : 32, blas->variable);
        _Exit(127);
    }
    if (!symbol) {
        fprintf(stderr, "libtessera-blas: %s has no %s\n", blas->path, name);
        _Exit(127);
    }
    memcpy(&f, &symbol, sizeof f);
    atomic_store_explicit(target, f, memory_order_release);
}

const char *blas_cpu_description(void)
{
    pthread_once(&once_32, open_32);
    return cpu_32.handle ? description : "none";
}
