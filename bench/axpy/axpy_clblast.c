/** CLBlast on the row's OpenCL device: AXPY in float32 and float64. */
#include <clblast_c.h>

#include "axpy_peer.h"
#include "peer_cl_sets.h"

static int call(void *state, size_t set)
{
    peer_cl_sets *s = state;
    const tsr_axpy_problem *p = axpy_of(&s->problem);
    const cl_mem x = peer_cl_set(s, set, BLAS_LEFT), z = peer_cl_set(s, set, BLAS_RESULT);

    if (p->type == TSR_F32)
        return CLBlastSaxpy(p->n, (float)p->alpha, x, 0, 1, z, 0, 1, &s->queue, NULL);
    return CLBlastDaxpy(p->n, p->alpha, x, 0, 1, z, 0, 1, &s->queue, NULL);
}

static void *open(const peer_problem *p, char *why, size_t why_size)
{
    return clblast_open(p, call, 0, why, why_size);
}

static peer the_peer = {.name = "CLBlast",
                        .place = PEER_OPENCL,
                        .unsupported = axpy_unsupported,
                        .open = open,
                        .run = clblast_run,
                        .result = clblast_result,
                        .close = clblast_close};

PEER_EXPORT const peer_list *peer_module(void)
{
    static const peer_list list = AXPY_PEERS(&the_peer, 1);

    the_peer.version = clblast_version();
    return &list;
}
