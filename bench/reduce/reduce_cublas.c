/**
 * cuBLAS in float32 and float64: NRM2 of whole arrays, and sums of rows or columns as GEMV has
 * them, products of the matrix and a vector of ones.  cuBLAS is column-major: our row-major matrix
 * is the transpose of what it takes.
 */
#include <stdlib.h>
#include <tessera/reduce.h>

#include "peer_blas.h"
#include "peer_cublas.h"

/* Beside the operands of the problem: the ones. */
enum { X, RESULT, ONES };

static const tsr_reduce_problem *reduce_of(const peer_problem *p)
{
    return (const tsr_reduce_problem *)p->problem;
}

static cublasStatus_t norm(cublas_state *s, const void *x, const void *result, void *unused)
{
    const tsr_reduce_problem *p = reduce_of(&s->sets.problem);
    void *to = (void *)result; /* the second operand is the one that is written */
    /* Else it would wait, to return the norm. */
    const cublasStatus_t status = cublasSetPointerMode(s->handle, CUBLAS_POINTER_MODE_DEVICE);

    (void)unused;
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    return p->type == TSR_F32 ? cublasSnrm2(s->handle, (int)p->n, x, 1, to)
                              : cublasDnrm2(s->handle, (int)p->n, x, 1, to);
}

static cublasStatus_t sums(cublas_state *s, const void *x, const void *result, void *ones)
{
    const tsr_reduce_problem *p = reduce_of(&s->sets.problem);
    void *to = (void *)result; /* as above */
    const int rows = (int)(p->outer > 1 ? p->outer : p->n);
    const int columns = (int)(p->outer > 1 ? p->n : p->inner);
    const cublasOperation_t op = cublas_transpose(p->outer > 1);
    const float one = 1, zero = 0;
    const double wide_one = 1, wide_zero = 0;

    return p->type == TSR_F32
               ? cublasSgemv(s->handle, op, columns, rows, &one, x, columns, ones, 1, &zero, to, 1)
               : cublasDgemv(s->handle, op, columns, rows, &wide_one, x, columns, ones, 1,
                             &wide_zero, to, 1);
}

static void *open(const peer_problem *p, char *why, size_t why_size)
{
    const tsr_reduce_problem *r = reduce_of(p);
    const cublasComputeType_t compute =
        r->type == TSR_F64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
    const size_t size = r->type == TSR_F64 ? sizeof(double) : sizeof(float);
    peer_problem wanted = *p;
    void *ones, *state;

    if (r->by == TSR_REDUCE_NORM2)
        return cublas_open_to(RESULT, norm, compute, p, why, why_size);
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
    state = cublas_open_to(RESULT, sums, compute, &wanted, why, why_size);
    free(ones); /* the device has them */
    return state;
}

static const char *unsupported(const peer_problem *p)
{
    const tsr_reduce_problem *r = reduce_of(p);
    const size_t outer = r->outer ? r->outer : 1, inner = r->inner ? r->inner : 1;
    const char *why;

    if (r->type != TSR_F32 && r->type != TSR_F64)
        return "it takes float32 and float64 only";
    if (r->by != TSR_REDUCE_NORM2 && r->by != TSR_REDUCE_SUM)
        return "it has norms, and sums as products with ones";
    if (r->by == TSR_REDUCE_NORM2 && (outer > 1 || inner > 1))
        return "it has the norm of a whole array";
    if (r->by == TSR_REDUCE_SUM && (outer > 1) == (inner > 1))
        return "it has the sums of a matrix's rows or columns";
    why = peer_blas_sizes_unsupported((const size_t[]){r->n, outer, inner}, 3);
    return why ? why : peer_cuda_unsupported(p);
}

static peer the_peer = {.name = "cuBLAS",
                        .place = PEER_CUDA,
                        .unsupported = unsupported,
                        .open = open,
                        .run = cublas_run,
                        .run_held = cublas_run_held,
                        .result = cublas_result,
                        .close = cublas_close};

PEER_EXPORT const peer_list *peer_module(void)
{
    static const peer_list list = {PEER_ABI, "reduce", sizeof(tsr_reduce_problem), &the_peer, 1,
                                   NULL,     NULL};

    the_peer.version = cublas_version();
    return &list;
}
