/** Input sets in buffers of an OpenCL context, for peers that work on it. */
#ifndef BENCH_PEER_CL_SETS_H
#define BENCH_PEER_CL_SETS_H

#include <CL/cl.h>

#include "peer_common.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct peer_cl_sets {
    peer_problem problem; /* its operands are the originals */
    cl_command_queue queue;
    cl_mem *buffer; /* operand i of set s at [s * PEER_OPERANDS + i]; NULL: has none */
} peer_cl_sets;

/** 0 on success; else nothing is held, and why says which call failed.  Waits for the copies. */
int peer_cl_sets_open(peer_cl_sets *c, const peer_problem *p, char *why, size_t why_size);
cl_mem peer_cl_set(const peer_cl_sets *c, size_t set, size_t operand);
/** Enqueue a copy of the original of one operand into one set. */
cl_int peer_cl_set_refill(peer_cl_sets *c, size_t set, size_t operand);
/** Read one operand of one set, and wait. */
cl_int peer_cl_set_read(peer_cl_sets *c, size_t set, size_t operand, void *out);
void peer_cl_sets_close(peer_cl_sets *c);

#ifdef __cplusplus
}
#endif
#endif
