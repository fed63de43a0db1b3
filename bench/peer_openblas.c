#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "peer_blas.h"

void *openblas_open(const peer_problem *p, peer_call *call, char *why, size_t why_size)
{
    openblas_set_num_threads(openblas_get_num_procs());
    return peer_host_open(p, call, BLAS_RESULT, why, why_size);
}

#define CORETYPE "OPENBLAS_CORETYPE"

/* Cores that OpenBLAS has kernels for, and the widest vectors of each: 0 SSE, 1 AVX, 2 AVX2, 3
 * AVX-512.  What is not listed has none that count. */
static const struct {
    const char *core;
    int vectors;
} cores[] = {{"Sandybridge", 1}, {"Bulldozer", 1},      {"Piledriver", 1}, {"Steamroller", 1},
             {"Excavator", 2},   {"Haswell", 2},        {"Zen", 2},        {"SkylakeX", 3},
             {"Cooperlake", 3},  {"SapphireRapids", 3}, {"Prescott", 0},   {"Nehalem", 0},
             {"Core2", 0},       {"Penryn", 0},         {"Dunnington", 0}, {"Barcelona", 0},
             {"Atom", 0},        {"Bobcat", 0},         {"Katmai", 0},     {"Opteron", 0}};

/* The same of the processor; -1 where this is not known. */
static int processor_vectors(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
        return 3;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return 2;
    return __builtin_cpu_supports("avx") ? 1 : 0;
#else
    return -1;
#endif
}

const char *openblas_setting(const char **why)
{
    static const char *const settings[] = {NULL, CORETYPE "=Sandybridge", CORETYPE "=Haswell",
                                           CORETYPE "=SkylakeX"};
    static char reason[160];
    const char *core = openblas_get_corename(), *set = getenv(CORETYPE);
    const int vectors = processor_vectors();

    for (size_t i = 0; i < sizeof(cores) / sizeof(cores[0]); i++) {
        const char *better;

        if (strcasecmp(core, cores[i].core) != 0 || cores[i].vectors >= vectors)
            continue;
        better = strchr(settings[vectors], '=') + 1;
        *why = reason;
        if (set) {
            if (strcasecmp(set, core) == 0)
                snprintf(reason, sizeof(reason),
                         "OpenBLAS runs as %.20s, as " CORETYPE " says, which is below what this "
                         "processor can do (%s)",
                         core, better);
            else
                snprintf(reason, sizeof(reason),
                         "OpenBLAS has no core %.20s, which " CORETYPE " names, and runs as %.20s, "
                         "below what this processor can do (%s)",
                         set, core, better);
            return NULL;
        }
        snprintf(reason, sizeof(reason),
                 "OpenBLAS takes this processor for %.20s, which is below what it can do: it is "
                 "compared as %s",
                 core, better);
        return settings[vectors];
    }
    return NULL;
}

const char *openblas_version(void)
{
    static char version[64];
    const char *core = openblas_get_corename(), *set = getenv(CORETYPE);
    char number[24] = "";

    /* "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..." */
    if (sscanf(openblas_get_config(), "OpenBLAS %23s", number) != 1)
        strcpy(number, "?");
    /* It does without a core that it does not have. */
    snprintf(version, sizeof(version), "%.12s, %.16s%s, %d threads", number, core,
             set && strcasecmp(set, core) == 0 ? " as set" : "", openblas_get_num_procs());
    return version;
}
