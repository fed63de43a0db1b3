/** What the peers of products, of matrices and of matrix and vector, share: the libraries' limits,
 *  and states. */
#ifndef BENCH_PEER_BLAS_H
#define BENCH_PEER_BLAS_H

#include "peer_common.h"

/** The operands of a product, in order: two factors, and what it is added to. */
enum { BLAS_LEFT, BLAS_RIGHT, BLAS_RESULT };

/** NULL, or why a BLAS with 32-bit sizes cannot take these, of which none may be 0. */
const char *peer_blas_sizes_unsupported(const size_t *sizes, size_t count);

/** The same, and where it is not float32 or float64, multiplied in the type itself ("f32", "f64"),
 *  one product a call. */
const char *peer_blas_unsupported(const peer_problem *p, const size_t *sizes, size_t count,
                                  size_t batch);

/** OpenBLAS (peer_openblas.c), on every core: peer_host_open() of a product, and the version with
 *  the processor and the number of threads. */
void *openblas_open(const peer_problem *p, peer_call *call, char *why, size_t why_size);
const char *openblas_version(void);

/** "OPENBLAS_CORETYPE=SkylakeX" where OpenBLAS takes the processor for less than it is, as older
 * ones do with newer processors, and *why; NULL where it does not.  Where the variable has it do
 * so, NULL, and *why says it. */
const char *openblas_setting(const char **why);

/** CLBlast (peer_clblast.c): a product whose call enqueues it on its queue.  beta_zero: what it is
 *  added to is not read. */
void *clblast_open(const peer_problem *p, peer_call *call, int beta_zero, char *why,
                   size_t why_size);
int clblast_run(void *state, size_t calls, double *wall_ns);
int clblast_result(void *state, void *const out[]);
void clblast_close(void *state);
const char *clblast_version(void);

#endif
