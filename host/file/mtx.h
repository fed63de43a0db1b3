/** Matrix Market .mtx files, as array.h says. */
#ifndef FILE_MTX_H
#define FILE_MTX_H

#include "file/array.h"
#include "file/input.h"

/** Read a .mtx file from an input of which nothing is taken yet; returns as array_read. */
tsr_status mtx_read(input *s, array *out, tsr_error *err);

/**
 * The same from memory that holds the whole file.
 *
 * @param memory  Most bytes that the dense matrix may take; beyond it TSR_EOVERFLOW.
 */
tsr_status mtx_parse(const char *name, const unsigned char *bytes, size_t size, size_t memory,
                     array *out, tsr_error *err);

#endif
