/** The bytes of an array's file, handed on piece by piece. */
#ifndef FILE_ENCODE_H
#define FILE_ENCODE_H

#include "file/array.h"

/** Takes the next bytes of the file; a failure ends the encoding. */
typedef tsr_status encode_put(void *to, const void *bytes, size_t size, tsr_error *err);

/**
 * .npy version 1.0, the data aligned to 64 bytes in the host's byte order.
 *
 * @param put  Called with `to` for each piece.
 * @return TSR_OK or what put returned.
 */
tsr_status encode_npy(const array *a, encode_put *put, void *to, tsr_error *err);

/**
 * .mtx in array format, integer or real by type, so that every value comes back
 * as it is: %.17g, or %.9g of float32 and narrower.  A vector is a matrix of one column.
 *
 * @return TSR_OK, what put returned, TSR_EINVAL beyond rank 2 and of elements that are
 *         moved alone, or TSR_ENOMEM.
 */
tsr_status encode_mtx(const array *a, encode_put *put, void *to, tsr_error *err);

/** The values alone, in the order of memory, one a line, as they stand in .mtx. */
tsr_status encode_values(const array *a, encode_put *put, void *to, tsr_error *err);

#endif
