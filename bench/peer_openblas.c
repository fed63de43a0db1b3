/** OpenBLAS on every core: GEMM and GEMV in float32 and float64. */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer_common.h"

typedef struct openblas_state {
    peer_host_sets sets;
    peer_rotation rotation;
} openblas_state;

static CBLAS_TRANSPOSE transpose(int trans)
{
    return trans ? CblasTrans : CblasNoTrans;
}

static void matmul(const peer_problem *p, const void *a, const void *b, void *c)
{
    const blasint m = (blasint)p->m, n = (blasint)p->n, k = (blasint)p->k;
    const blasint lda = (blasint)peer_columns_a(p), ldb = (blasint)peer_columns_b(p);

    if (p->type == 0)
        cblas_sgemm(CblasRowMajor, transpose(p->trans_a), transpose(p->trans_b), m, n, k,
                    (float)p->alpha, a, lda, b, ldb, (float)p->beta, c, n);
    else
        cblas_dgemm(CblasRowMajor, transpose(p->trans_a), transpose(p->trans_b), m, n, k, p->alpha,
                    a, lda, b, ldb, p->beta, c, n);
}

static void matvec(const peer_problem *p, const void *a, const void *x, void *y)
{
    const blasint m = (blasint)p->m, n = (blasint)p->n;

    if (p->type == 0)
        cblas_sgemv(CblasRowMajor, transpose(p->trans_a), m, n, (float)p->alpha, a, n, x, 1,
                    (float)p->beta, y, 1);
    else
        cblas_dgemv(CblasRowMajor, transpose(p->trans_a), m, n, p->alpha, a, n, x, 1, p->beta, y,
                    1);
}

static int openblas_call(void *state, size_t set)
{
    openblas_state *o = state;
    const peer_problem *p = &o->sets.problem;

    (p->op == PEER_MATMUL ? matmul : matvec)(p, peer_host_set(&o->sets, set, 0),
                                             peer_host_set(&o->sets, set, 1),
                                             peer_host_set(&o->sets, set, 2));
    return 0;
}

static void openblas_close(void *state)
{
    openblas_state *o = state;

    if (!o)
        return;
    peer_host_sets_close(&o->sets);
    free(o);
}

static void *openblas_open(const peer_problem *p, char *why, size_t why_size)
{
    openblas_state *o = calloc(1, sizeof(*o));

    if (!o) {
        peer_say(why, why_size, "no memory");
        return NULL;
    }
    if (peer_host_sets_open(&o->sets, p, why, why_size) != 0) {
        free(o);
        return NULL;
    }
    openblas_set_num_threads(openblas_get_num_procs());
    peer_rotation_start(&o->rotation, p->sets, 0);
    return o;
}

static int openblas_run(void *state, size_t calls, double *wall_ns)
{
    openblas_state *o = state;

    return peer_time(&o->rotation, calls, openblas_call, NULL, o, wall_ns);
}

static int openblas_result(void *state, void *out, void *out2)
{
    openblas_state *o = state;

    (void)out2;
    memcpy(out, peer_host_set(&o->sets, 0, 2), o->sets.problem.bytes[2]);
    return 0;
}

static peer the_peer = {.name = "OpenBLAS",
                        .place = PEER_CPU,
                        .unsupported = peer_blas_unsupported,
                        .open = openblas_open,
                        .run = openblas_run,
                        .result = openblas_result,
                        .close = openblas_close};

PEER_EXPORT const peer_list *peer_module(void)
{
    static const peer_list list = {PEER_ABI, &the_peer, 1};
    static char version[64];
    char number[24] = "";

    /* "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..." */
    if (sscanf(openblas_get_config(), "OpenBLAS %23s", number) != 1)
        strcpy(number, "?");
    snprintf(version, sizeof(version), "%s, %.16s, %d threads", number, openblas_get_corename(),
             openblas_get_num_procs());
    the_peer.version = version;
    return &list;
}
