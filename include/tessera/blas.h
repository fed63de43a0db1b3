/**
 * Matrices that libtessera-blas keeps on the device.
 *
 * These are functions of libtessera-blas, the BLAS for programs that exist (docs/blas.md), and not
 * of libtessera: link with -ltessera-blas, or look them up by dlsym() in a program that was started
 * under it.
 */
#ifndef TESSERA_BLAS_H
#define TESSERA_BLAS_H

#include <stddef.h>

#include "tessera/api.h"
#include "tessera/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Keep memory on the device: the caller's word that it stays as it is.
 *
 * The first product that runs on the device and reads A or B from within this memory copies all of
 * it there; later ones are spared the copy.  Every byte of it is to be readable until
 * tsr_blas_drop: drop it before it is freed, or what is later in its place is taken for what was.
 *
 * Where it changes, call this again with the same memory, after the change and before the next
 * product; a routine of level 3 that writes there does as much by itself.
 *
 * It is a hint: where there is no device, where device and host share memory, or where the device
 * has no memory left, products are what they are without it.  What is kept takes at most half of
 * the device's memory.  A product that runs out of memory has all copies released, and is repeated;
 * no memory whose copy was released is copied again until this is called for it once more.  A child
 * of a process that used the device keeps nothing.
 *
 * Any thread may call it; it waits for the product that another one has on the device.
 *
 * @param memory  Where it begins.
 * @param bytes   How much it is.
 * @return TSR_OK; TSR_EINVAL for no bytes, and for memory that overlaps what is kept already but is
 *         not the same; TSR_ENOMEM.
 */
TSR_API tsr_status tsr_blas_keep(const void *memory, size_t bytes);

/**
 * Keep it no longer: the caller may change and free it.
 *
 * @param memory  Where it begins.  Where nothing kept begins there, nothing happens.
 */
TSR_API void tsr_blas_drop(const void *memory);

#ifdef __cplusplus
}
#endif
#endif
