/** NumPy's .npy files, as array.h says. */
#ifndef FILE_NPY_H
#define FILE_NPY_H

#include "file/array.h"
#include "file/input.h"

/**
 * Read a .npy file from an input of which nothing is taken yet.
 *
 * Data in the host's byte order and in C order goes straight from the file
 * into the array.
 *
 * @param any  As array_read_any reads it, not as array_read.
 * @param out  Receives the array; the caller frees it.
 * @return as array_read.
 */
tsr_status npy_read(input *s, bool any, array *out, tsr_error *err);

/** As array_read, from memory that holds the whole file. */
tsr_status npy_parse(const char *name, const unsigned char *bytes, size_t size, array *out,
                     tsr_error *err);

#endif
