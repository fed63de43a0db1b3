/**
 * Arrays in files: NumPy .npy, Matrix Market .mtx and pictures, recognised by content.
 */
#ifndef FILE_ARRAY_H
#define FILE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

#include "tessera/status.h"
#include "tessera/types.h"

enum { ARRAY_RANK_MAX = 64, ARRAY_DESCR_MAX = 20 }; /* a rank of 64: as NumPy 2 */

/** A dense array, row-major, in the host's byte order. */
typedef struct array {
    tsr_type type;
    bool boolean;                 /* NumPy's bool, of type TSR_U8: every element is 0 or 1 */
    unsigned rank;                /* 0 to ARRAY_RANK_MAX */
    size_t shape[ARRAY_RANK_MAX]; /* up to the rank */
    void *data;                   /* aligned to 64 bytes; NULL where the array holds no element */
    /* Elements of another type, which are moved alone: its name in a .npy file, with the byte order
     * that they have, and their bytes, which stand in place of `type`; "" and 0 elsewhere. */
    char descr[ARRAY_DESCR_MAX + 1];
    size_t opaque;
} array;

/** Bytes of an element. */
size_t array_element_size(const array *a);

/** NumPy's name of their type, as "float32" or "bool", or "<c16" of one that is moved alone.
 *  Borrowed. */
const char *array_type_name(const array *a);

/** Number of elements: the product of the shape, which array_read has checked. */
size_t array_count(const array *a);

/** Free an array's data and zero the struct.  NULL is allowed. */
void array_free(array *a);

/**
 * Read a whole file, "-" being standard input, and check it in full.
 *
 * .npy: format versions 1.0, 2.0 and 3.0; both orders (Fortran order is
 * transposed to row-major); byte order = | < >; any key order and alignment;
 * float16, float32, float64, complex64, complex128, int and uint of 8 to 64 bits
 * and bool.  NumPy has no bfloat16 and writes such arrays as 'V2', two bytes
 * without a meaning: they are read as TSR_BF16, and the caller asks whether that
 * is what is meant.
 * PNG, PGM, PPM: uint8 of height x width, or height x width x channels (file/image.h).
 * .mtx: array and coordinate; general, symmetric, skew-symmetric; real,
 * integer and pattern (as 1); duplicates are summed; read as dense float64.
 * Formats: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 * and https://math.nist.gov/MatrixMarket/formats.html.
 *
 * @param out  Receives the array; the caller frees it with array_free.
 * @return TSR_OK; TSR_EFILE with file, field (or line) and values; TSR_EOVERFLOW
 *         where the dense size exceeds physical memory; TSR_ENOMEM.
 */
tsr_status array_read(const char *path, array *out, tsr_error *err);

/** The same of elements that are moved and never looked at: of .npy files also complex numbers,
 *  dates, times, strings, and all else of a fixed size that is no structure. */
tsr_status array_read_any(const char *path, array *out, tsr_error *err);

/**
 * Convert real numbers in place to TSR_F32, TSR_F64, TSR_F16 or TSR_BF16, rounding to nearest even.
 *
 * @param overflowed  Receives how many finite elements became infinite.  May be NULL.
 * @return TSR_OK; TSR_EINVAL for other targets; TSR_EOVERFLOW; TSR_ENOMEM.
 */
tsr_status array_convert(array *a, tsr_type to, size_t *overflowed, tsr_error *err);

/**
 * Convert real numbers, integers and bool in place to a type of integers, exactly.
 *
 * @param name  What messages call the array.
 * @return TSR_OK; TSR_EINVAL with the first element that the type does not have, such as 2.5, or of
 *         complex numbers; TSR_EOVERFLOW; TSR_ENOMEM.
 */
tsr_status array_to_integers(const char *name, array *a, tsr_type to, tsr_error *err);

/**
 * Make integers of any type TSR_U64, in place.
 *
 * @param name  What messages call the array.
 * @return TSR_OK; TSR_EINVAL for another type, or with the first element below 0; TSR_ENOMEM.
 */
tsr_status array_to_u64(const char *name, array *a, tsr_error *err);

#endif
