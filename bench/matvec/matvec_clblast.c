/** CLBlast on the row's OpenCL device: GEMV in float32 and float64. */
#include <clblast_c.h>

#include "matvec_peer.h"
#include "peer_cl_sets.h"

static int call(void *state, size_t set)
{
    peer_cl_sets *s = state;
    const tsr_matvec_problem *p = s->problem.problem;
    const CLBlastTranspose trans = p->trans ? CLBlastTransposeYes : CLBlastTransposeNo;
    const cl_mem a = peer_cl_set(s, set, BLAS_LEFT), x = peer_cl_set(s, set, BLAS_RIGHT);
    const cl_mem y = peer_cl_set(s, set, BLAS_RESULT);

    if (p->type == TSR_F32)
        return CLBlastSgemv(CLBlastLayoutRowMajor, trans, p->rows, p->columns, (float)p->alpha, a,
                            0, p->columns, x, 0, 1, (float)p->beta, y, 0, 1, &s->queue, NULL);
    return CLBlastDgemv(CLBlastLayoutRowMajor, trans, p->rows, p->columns, p->alpha, a, 0,
                        p->columns, x, 0, 1, p->beta, y, 0, 1, &s->queue, NULL);
}

static void *open(const peer_problem *p, char *why, size_t why_size)
{
    return clblast_open(p, call, ((const tsr_matvec_problem *)p->problem)->beta == 0, why,
                        why_size);
}

static peer the_peer = {.name = "CLBlast",
                        .place = PEER_OPENCL,
                        .unsupported = matvec_unsupported,
                        .open = open,
                        .run = clblast_run,
                        .result = clblast_result,
                        .close = clblast_close};

PEER_EXPORT const peer_list *peer_module(void)
{
    static const peer_list list = MATVEC_PEERS(&the_peer, 1);

    the_peer.version = clblast_version();
    return &list;
}
