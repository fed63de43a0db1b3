/**
 * Memory that the caller keeps on the device (tessera/blas.h), and products that read it there.
 *
 * Libtessera's calls on host memory copy all their matrices.  A product that reads what is kept is
 * one on buffers instead: of the copy that the device has, and of whatever else it reads or writes.
 */
#ifndef BLAS_KEPT_H
#define BLAS_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "blas/offload.h"
#include "tessera/tessera.h"

/** Whether anything is kept that products may use. */
bool kept_any(void);

/** Bytes of A and B that need no copy, as far as is known before; 0 where a product on host memory
 * is better, or the others do not fit into a buffer of the device. */
double kept_bytes(const offload_product *product);

/** A call writes this memory from now on: the device's copy of it is not used until the end, and
 *  then it is copied anew.  Returns whether there is a copy, and kept_write_end() to be called. */
bool kept_write_begin(const void *memory, size_t bytes);
void kept_write_end(const void *memory, size_t bytes);

typedef enum kept_outcome {
    KEPT_NOTHING, /* nothing is kept of what it reads, and nothing was done */
    KEPT_DONE,
    KEPT_FAILED /* C may be half-written */
} kept_outcome;

/**
 * Multiply with what is kept.  The caller has locked the device.
 *
 * @param problem  The product as libtessera takes it, of matrices in host memory.
 * @param copied   Is increased by the bytes that were copied, `kept` by those that were not.
 */
kept_outcome kept_multiply(tsr_session *session, const tsr_device *device,
                           const offload_product *product, const tsr_matmul_problem *problem,
                           uint64_t *copied, uint64_t *kept, tsr_error *err);

/** Release all copies, and make none of that memory until it is kept again: a product needs the
 *  device's memory.  False: there was nothing to release.  The caller has locked the device. */
bool kept_give_way(void);

/** Around fork(): a child has the table whole, or an empty one where the process used the device.
 */
void kept_before_fork(void);
void kept_after_fork(void);
void kept_after_fork_in_child(bool used);

#endif
