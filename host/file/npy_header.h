/** The header of a .npy file: what it says about the bytes that follow it. */
#ifndef FILE_NPY_HEADER_H
#define FILE_NPY_HEADER_H

#include <stdbool.h>
#include <stddef.h>

#include "file/array.h"

/** Longest header that is read, in bytes: what versions 1.0 can express. */
enum { NPY_HEADER_MAX = 65535 };

typedef struct npy_header {
    tsr_type type;
    char descr[ARRAY_DESCR_MAX + 1]; /* as in an array, as is `opaque` */
    size_t opaque;
    bool boolean; /* as in an array */
    bool swapped; /* the byte order is not the host's, and elements are looked at */
    bool fortran; /* columns lie together */
    unsigned rank;
    size_t shape[ARRAY_RANK_MAX]; /* 1 where beyond the rank */
    size_t offset;                /* of the data in the file, in bytes */
    size_t bytes;                 /* of the data */
} npy_header;

/**
 * Parse the magic, the version and the dictionary at the start of a file.
 *
 * The dictionary is a Python literal with the keys 'descr', 'fortran_order'
 * and 'shape', in any order, each once.
 *
 * @param name   The file's, for messages.
 * @param bytes  The first `size` bytes of the file: all of it, or at least
 *               NPY_HEADER_MAX + 12.
 * @param any    Whether elements of types that are not read may come, to be moved alone.
 * @return TSR_OK; TSR_EFILE with the field and its value; then *h is untouched.
 */
tsr_status npy_header_parse(const char *name, const unsigned char *bytes, size_t size, bool any,
                            npy_header *h, tsr_error *err);

#endif
