/**
 * The device: libtessera, opened at the first call that may run there, and products by it.
 *
 * Nothing of OpenCL is loaded before, since this library is preloaded into every shell, and every
 * Python that imports NumPy calls a function of level 1.  One thread uses the device at a time.
 */
#ifndef BLAS_OFFLOAD_H
#define BLAS_OFFLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Have the device for the calling thread; waits for another thread's call.  Opens it if need be.
 *
 * @param f64     Products of float64 are to be done, not of float32.
 * @param any     Also a CPU device of which no rates are known: a product takes about as long there
 * as in the CPU's BLAS.
 * @param reason  Receives why there is none.
 * @return False: there is none, and offload_end() is not to be called.
 */
bool offload_begin(bool f64, bool any, const char **reason);
void offload_end(void);

/** Wait until no other thread has the device, and keep others from it until offload_end(): it may
 *  not be open. */
void offload_wait(void);

/** Look a function of libtessera up, which is loaded, or of another library.  False: it has none.
 */
bool offload_function(void *library, const char *name, void *function);

/** In a child of a process that used it there is no device: drivers do not survive fork().  Returns
 *  whether the process did. */
bool offload_after_fork(void);

/** C := alpha op(A) op(B) + beta C of column-major matrices of float32 or float64. */
typedef struct offload_product {
    bool f64;
    bool trans_a, trans_b;
    size_t m, n, k;
    double alpha, beta;
    const void *a, *b;
    void *c;
    size_t lda, ldb, ldc;
} offload_product;

/**
 * Multiply on the device that was taken.
 *
 * @param bytes   Is increased by the bytes that were copied.
 * @param kept    By those that were not, since they are kept on the device.
 * @param reason  Receives why it failed, valid until the next call.
 * @return False: it failed, and C may be half-written.
 */
bool offload_multiply(const offload_product *product, uint64_t *bytes, uint64_t *kept,
                      const char **reason);

/** The last product failed for want of memory, and what was kept gave way: it may be tried again.
 */
bool offload_has_room(void);

#endif
