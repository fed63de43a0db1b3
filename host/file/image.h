/**
 * Pictures as arrays of uint8: height x width, of grey values, or height x width x channels, red,
 * green, blue and, as a fourth, opacity.
 *
 * PNG (through libpng, where the library is built with it) and binary PGM and PPM, of 8 bits a
 * channel.  A palette becomes the colours that it stands for, with their opacity; fewer bits are
 * spread over 8.  More bits are refused, as they would be rounded.
 * Formats: https://www.w3.org/TR/png/, https://netpbm.sourceforge.net/doc/.
 */
#ifndef FILE_IMAGE_H
#define FILE_IMAGE_H

#include "file/array.h"
#include "file/encode.h"
#include "file/input.h"

/** Whether an input, of which nothing is taken yet, begins as a picture does. */
bool image_begins(const input *s);

/** Read one; returns as array_read. */
tsr_status image_read(input *s, array *out, tsr_error *err);

/** Whether a file with this suffix, with its dot, holds a picture that can be written: ".png",
 *  ".pgm", ".ppm". */
bool image_suffix(const char *suffix);

/**
 * Write one in the format of a suffix.
 *
 * @return TSR_OK, what put returned, TSR_EINVAL where the array is no picture that the format has,
 *         TSR_EOVERFLOW or TSR_ENOMEM.
 */
tsr_status image_encode(const char *suffix, const array *a, encode_put *put, void *to,
                        tsr_error *err);

#endif
