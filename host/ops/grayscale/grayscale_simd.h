/** Pixels to grey, compiled for each instruction set (base/isa.h). */
#ifndef OPS_GRAYSCALE_SIMD_H
#define OPS_GRAYSCALE_SIMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/isa.h"

/** n pixels of `channels` elements, 3 or 4; whole weights of red and blue are below 32768, and of
 *  green below 65535.  `past_caches`: grey may be stored past the caches. */
typedef void grayscale_bytes_loop(const uint8_t *colour, size_t n, size_t channels,
                                  const uint32_t weights[3], uint8_t *grey, bool past_caches);
typedef void grayscale_reals_loop(const float *colour, size_t n, size_t channels,
                                  const float weights[3], float *grey);

grayscale_bytes_loop ISA_EACH(grayscale_bytes);
grayscale_reals_loop ISA_EACH(grayscale_reals);

#endif
