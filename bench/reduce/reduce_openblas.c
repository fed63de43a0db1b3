/** OpenBLAS in float32 and float64: NRM2 of whole arrays, and sums of rows or columns as GEMV has
 * them, products of the matrix and a vector of ones. */
#include <cblas.h>
#include <stdlib.h>

#include <tessera/reduce.h>

#include "peer_blas.h"

/* Beside the operands of the problem: the ones. */
enum { X, RESULT, ONES };

static const tsr_reduce_problem *reduce_of(const peer_problem *p)
{
    return (const tsr_reduce_problem *)p->problem;
}

static const char *unsupported(const peer_problem *p)
{
    const tsr_reduce_problem *r = reduce_of(p);
    const size_t outer = r->outer ? r->outer : 1, inner = r->inner ? r->inner : 1;

    if (r->type != TSR_F32 && r->type != TSR_F64)
        return "it takes float32 and float64 only";
    if (r->by != TSR_REDUCE_NORM2 && r->by != TSR_REDUCE_SUM)
        return "it has norms, and sums as products with ones";
    if (r->by == TSR_REDUCE_NORM2 && (outer > 1 || inner > 1))
        return "it has the norm of a whole array";
    if (r->by == TSR_REDUCE_SUM && (outer > 1) == (inner > 1))
        return "it has the sums of a matrix's rows or columns";
    return peer_blas_sizes_unsupported((const size_t[]){r->n, outer, inner}, 3);
}

static int norm(void *state, size_t set)
{
    const peer_host *h = state;
    const tsr_reduce_problem *r = reduce_of(&h->sets.problem);
    const void *x = peer_host_set(&h->sets, set, X);
    void *result = peer_host_set(&h->sets, set, RESULT);

    if (r->type == TSR_F32)
        *(float *)result = cblas_snrm2((blasint)r->n, x, 1);
    else
        *(double *)result = cblas_dnrm2((blasint)r->n, x, 1);
    return 0;
}

static int sums(void *state, size_t set)
{
    const peer_host *h = state;
    const tsr_reduce_problem *r = reduce_of(&h->sets.problem);
    const void *x = peer_host_set(&h->sets, set, X), *ones = peer_host_set(&h->sets, set, ONES);
    void *result = peer_host_set(&h->sets, set, RESULT);
    const blasint rows = (blasint)(r->outer > 1 ? r->outer : r->n);
    const blasint columns = (blasint)(r->outer > 1 ? r->n : r->inner);
    const CBLAS_TRANSPOSE op = r->outer > 1 ? CblasNoTrans : CblasTrans;

    if (r->type == TSR_F32)
        cblas_sgemv(CblasRowMajor, op, rows, columns, 1, x, columns, ones, 1, 0, result, 1);
    else
        cblas_dgemv(CblasRowMajor, op, rows, columns, 1, x, columns, ones, 1, 0, result, 1);
    return 0;
}

static void *open(const peer_problem *p, char *why, size_t why_size)
{
    const tsr_reduce_problem *r = reduce_of(p);
    const size_t size = r->type == TSR_F64 ? sizeof(double) : sizeof(float);
    peer_problem wanted = *p;
    void *ones, *state;

    openblas_set_num_threads(openblas_get_num_procs());
    if (r->by == TSR_REDUCE_NORM2)
        return peer_host_open(p, norm, RESULT, why, why_size);
    ones = malloc(r->n * size);
    if (!ones) {
        peer_say(why, why_size, "no memory for %zu ones", r->n);
        return NULL;
    }
    for (size_t i = 0; i < r->n; i++) {
        if (r->type == TSR_F64)
            ((double *)ones)[i] = 1;
        else
            ((float *)ones)[i] = 1;
    }
    wanted.operand[ONES] = ones;
    wanted.bytes[ONES] = r->n * size;
    state = peer_host_open(&wanted, sums, RESULT, why, why_size);
    free(ones); /* each set has them */
    return state;
}

static peer the_peer = {.name = "OpenBLAS",
                        .place = PEER_CPU,
                        .unsupported = unsupported,
                        .open = open,
                        .run = peer_host_run,
                        .result = peer_host_result,
                        .close = peer_host_close};

PEER_EXPORT const peer_list *peer_module(void)
{
    static peer_list list = {PEER_ABI, "reduce", sizeof(tsr_reduce_problem), &the_peer, 1,
                             NULL,     NULL};

    the_peer.version = openblas_version();
    list.setting = openblas_setting(&list.setting_why);
    return &list;
}
