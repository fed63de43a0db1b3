/** Input sets in plain cudaMalloc memory, and a stream of their own. */
#ifndef BENCH_PEER_CUDA_SETS_H
#define BENCH_PEER_CUDA_SETS_H

#include <cuda_runtime_api.h>

#include "peer_common.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct peer_cuda_sets {
    peer_problem problem; /* its operands are the originals */
    int device;
    cudaStream_t stream;
    void **memory;              /* operand i of set s at [s * PEER_OPERANDS + i]; NULL: has none */
    void *fresh[PEER_OPERANDS]; /* copies that sets are refilled from; NULL: from the originals */
} peer_cuda_sets;

/** NULL, or why there is no CUDA device to compare the problem's OpenCL device with. */
const char *peer_cuda_unsupported(const peer_problem *p);

/**
 * Copies on the CUDA device that is the problem's OpenCL device, or on the first
 * one where the problem names none.  Waits for the copies.  0 on success; else
 * nothing is held, and why says which call failed.
 */
int peer_cuda_sets_open(peer_cuda_sets *c, const peer_problem *p, char *why, size_t why_size);
void *peer_cuda_set(const peer_cuda_sets *c, size_t set, size_t operand);
/** Enqueue a copy of the original of one operand into one set. */
cudaError_t peer_cuda_set_refill(peer_cuda_sets *c, size_t set, size_t operand);
/** Read one operand of one set, and wait. */
cudaError_t peer_cuda_set_read(peer_cuda_sets *c, size_t set, size_t operand, void *out);
void peer_cuda_sets_close(peer_cuda_sets *c);

/** As peer_time, of calls on this stream that the device is held back from until all are enqueued.
 *  cudaErrorLaunchTimeout where that took a second: a stream takes about a thousand commands. */
int peer_cuda_time_held(const peer_cuda_sets *c, peer_rotation *r, size_t calls, peer_call *call,
                        void *state, double *device_ns);

#ifdef __cplusplus
}
#endif
#endif
