/** cuBLAS: what its peers share. */
#ifndef BENCH_PEER_CUBLAS_H
#define BENCH_PEER_CUBLAS_H

#include <cublas_v2.h>
#include <tessera/types.h>

#include "peer_cuda_sets.h"

typedef struct cublas_state cublas_state;

/** Enqueue a product of these factors. */
typedef cublasStatus_t cublas_product(cublas_state *s, const void *left, const void *right,
                                      void *result);

struct cublas_state {
    peer_cuda_sets sets;
    peer_rotation rotation;
    cublasHandle_t handle;
    cublasComputeType_t compute;
    cublas_product *product;
    size_t result; /* the operand that it writes */
    void *more;    /* the product's own, which whoever opened it releases */
};

cublasOperation_t cublas_transpose(int trans);

/** CUDA's number of a tsr_type. */
cudaDataType_t cublas_type(int type);

/** NULL, or why cuBLAS cannot do it: as peer_blas_unsupported, but batches and operands of 16 bits
 *  it takes. */
const char *cublas_unsupported(const peer_problem *p, const size_t *sizes, size_t count,
                               size_t batch);

/** As the members of peer, for a product that sums in `compute`. */
void *cublas_open(cublas_product *product, cublasComputeType_t compute, const peer_problem *p,
                  char *why, size_t why_size);
/** The same where the result is another operand than that of a product. */
void *cublas_open_to(size_t result, cublas_product *product, cublasComputeType_t compute,
                     const peer_problem *p, char *why, size_t why_size);
int cublas_run(void *state, size_t calls, double *wall_ns);
int cublas_run_held(void *state, size_t calls, double *device_ns);
int cublas_result(void *state, void *const out[]);
void cublas_close(void *state);
const char *cublas_version(void);

#endif
