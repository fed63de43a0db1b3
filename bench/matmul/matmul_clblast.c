/** CLBlast on the row's OpenCL device: GEMM in float32 and float64. */
#include <clblast_c.h>

#include "matmul_peer.h"
#include "peer_cl_sets.h"

static CLBlastTranspose transpose(int trans)
{
    return trans ? CLBlastTransposeYes : CLBlastTransposeNo;
}

static int call(void *state, size_t set)
{
    peer_cl_sets *s = state;
    const tsr_matmul_problem *p = s->problem.problem;
    const cl_mem a = peer_cl_set(s, set, BLAS_LEFT), b = peer_cl_set(s, set, BLAS_RIGHT);
    const cl_mem c = peer_cl_set(s, set, BLAS_RESULT);

    if (p->type == TSR_F32)
        return CLBlastSgemm(CLBlastLayoutRowMajor, transpose(p->trans_a), transpose(p->trans_b),
                            p->m, p->n, p->k, (float)p->alpha, a, 0, p->lda, b, 0, p->ldb,
                            (float)p->beta, c, 0, p->ldc, &s->queue, NULL);
    return CLBlastDgemm(CLBlastLayoutRowMajor, transpose(p->trans_a), transpose(p->trans_b), p->m,
                        p->n, p->k, p->alpha, a, 0, p->lda, b, 0, p->ldb, p->beta, c, 0, p->ldc,
                        &s->queue, NULL);
}

static void *open(const peer_problem *p, char *why, size_t why_size)
{
    return clblast_open(p, call, ((const tsr_matmul_problem *)p->problem)->beta == 0, why,
                        why_size);
}

static peer the_peer = {.name = "CLBlast",
                        .place = PEER_OPENCL,
                        .unsupported = matmul_unsupported,
                        .open = open,
                        .run = clblast_run,
                        .result = clblast_result,
                        .close = clblast_close};

PEER_EXPORT const peer_list *peer_module(void)
{
    static const peer_list list = MATMUL_PEERS(&the_peer, 1);

    the_peer.version = clblast_version();
    return &list;
}
