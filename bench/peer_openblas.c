#include <cblas.h>
#include <stdio.h>
#include <string.h>

#include "peer_blas.h"

void *openblas_open(const peer_problem *p, peer_call *call, char *why, size_t why_size)
{
    openblas_set_num_threads(openblas_get_num_procs());
    return peer_host_open(p, call, BLAS_RESULT, why, why_size);
}

const char *openblas_version(void)
{
    static char version[64];
    char number[24] = "";

    /* "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..." */
    if (sscanf(openblas_get_config(), "OpenBLAS %23s", number) != 1)
        strcpy(number, "?");
    snprintf(version, sizeof(version), "%s, %.16s, %d threads", number, openblas_get_corename(),
             openblas_get_num_procs());
    return version;
}
