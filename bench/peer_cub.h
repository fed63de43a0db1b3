/** CUB: what its peers share that leave their inputs as they are. */
#ifndef BENCH_PEER_CUB_H
#define BENCH_PEER_CUB_H

#include "peer_cuda_sets.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What an algorithm of CUB is called with. */
typedef struct cub_arguments {
    const peer_problem *problem;
    void *const *operand; /* of one set, on the device; NULL where the problem has none */
    void *temporary;      /* NULL: only set *temporary_bytes */
    size_t *temporary_bytes;
    cudaStream_t stream;
} cub_arguments;

typedef cudaError_t cub_algorithm(const cub_arguments *a);

/** As peer.open, with temporary memory that all sets share; `results` has bit i for operand i where
 *  it is written. */
void *cub_open(cub_algorithm *algorithm, unsigned results, const peer_problem *p, char *why,
               size_t why_size);
int cub_run(void *state, size_t calls, double *wall_ns);
int cub_run_held(void *state, size_t calls, double *device_ns);
int cub_result(void *state, void *const out[]);
void cub_close(void *state);
/** The problem that it was opened with. */
const peer_problem *cub_problem(const void *state);

/** "3.0.1" of CUB_VERSION, 300001, of the headers that a module is compiled with. */
const char *cub_version(int number);

#ifdef __cplusplus
}
#endif
#endif
