/** CLBlast on the row's OpenCL device: GEMM in float32, float64, complex64 and complex128. */
#include <clblast_c.h>

#include "matmul_peer.h"
#include "peer_cl_sets.h"

static CLBlastTranspose transpose(int trans, int conjugate)
{
    return !trans      ? CLBlastTransposeNo
           : conjugate ? CLBlastTransposeConjugate
                       : CLBlastTransposeYes;
}

static int call(void *state, size_t set)
{
    peer_cl_sets *s = state;
    const tsr_matmul_problem *p = s->problem.problem;
    const cl_mem a = peer_cl_set(s, set, BLAS_LEFT), b = peer_cl_set(s, set, BLAS_RIGHT);
    const cl_mem c = peer_cl_set(s, set, BLAS_RESULT);
    const CLBlastTranspose op_a = transpose(p->trans_a, p->conj_a);
    const CLBlastTranspose op_b = transpose(p->trans_b, p->conj_b);

    if (p->type == TSR_F32)
        return CLBlastSgemm(CLBlastLayoutRowMajor, op_a, op_b, p->m, p->n, p->k, (float)p->alpha, a,
                            0, p->lda, b, 0, p->ldb, (float)p->beta, c, 0, p->ldc, &s->queue, NULL);
    if (p->type == TSR_F64)
        return CLBlastDgemm(CLBlastLayoutRowMajor, op_a, op_b, p->m, p->n, p->k, p->alpha, a, 0,
                            p->lda, b, 0, p->ldb, p->beta, c, 0, p->ldc, &s->queue, NULL);
    if (p->type == TSR_C64)
        return CLBlastCgemm(CLBlastLayoutRowMajor, op_a, op_b, p->m, p->n, p->k,
                            (cl_float2){{(cl_float)p->alpha, (cl_float)p->alpha_im}}, a, 0, p->lda,
                            b, 0, p->ldb, (cl_float2){{(cl_float)p->beta, (cl_float)p->beta_im}}, c,
                            0, p->ldc, &s->queue, NULL);
    return CLBlastZgemm(CLBlastLayoutRowMajor, op_a, op_b, p->m, p->n, p->k,
                        (cl_double2){{p->alpha, p->alpha_im}}, a, 0, p->lda, b, 0, p->ldb,
                        (cl_double2){{p->beta, p->beta_im}}, c, 0, p->ldc, &s->queue, NULL);
}

static void *open(const peer_problem *p, char *why, size_t why_size)
{
    return clblast_open(p, call, 0, why, why_size);
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
