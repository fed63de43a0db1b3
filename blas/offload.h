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
 * Lock the device for the calling thread, and open it at the first call.  Waits while another
 * thread has it.
 *
 * @param f64     For products of float64, not of float32.
 * @param any     Take a CPU device without measured rates too, whose products are no faster than
 *                those of the CPU's BLAS.
 * @param reason  Receives why there is no device.
 * @return False: there is none, it is not locked, and offload_end() is not to be called.
 */
bool offload_begin(bool f64, bool any, const char **reason);
void offload_end(void);

/** Lock the device until offload_end(), open or not. */
void offload_lock(void);

/** Look up a function of `library`, or of libtessera where that is NULL, which is loaded then.
 * False: it has none. */
bool offload_function(void *library, const char *name, void *function);

/** In a child after fork(): there is no device where the parent used it, since drivers do not
 * survive fork().  Returns whether the parent did. */
bool offload_after_fork(void);

/** Whether products of complex matrices with real alpha and beta go to the device as they are, and
 * not as real products: on a CPU that shares the host's memory.  Also true while the device is not
 *  known. */
bool offload_takes_complex(bool f64);

/** C := alpha op(A) op(B) + beta C of column-major matrices of float32 or float64, or where complex
 * of numbers with two of them. */
typedef struct offload_product {
    bool f64, complex;
    bool trans_a, trans_b;
    bool conj_a, conj_b; /* of complex ones */
    size_t m, n, k;
    double alpha, beta;
    const void *a, *b;
    void *c;
    size_t lda, ldb, ldc;
} offload_product;

/**
 * Multiply on the device, which the caller has locked.
 *
 * @param bytes   Is increased by the bytes that were copied.
 * @param kept    Is increased by those that were not, since the device keeps them.
 * @param reason  Receives why it failed, valid until the next call.
 * @return False: it failed, and C may be half-written.
 */
bool offload_multiply(const offload_product *product, uint64_t *bytes, uint64_t *kept,
                      const char **reason);

/** After a failure: whether it was for want of device memory, and kept copies were released.  The
 *  call may then be repeated. */
bool offload_has_room(void);

#endif
