/** What the variants for CPUs take from the device's registers where a tunable is 0. */
#ifndef OPS_MATVEC_VECTORS_H
#define OPS_MATVEC_VECTORS_H

#include <string.h>

#include "ops/matvec/matvec_shape.h"
#include "ops/matvec/matvec_steps.h"

enum {
    MATVEC_BITS_MIN = 128,
    MATVEC_BITS_USUAL = 256,
    MATVEC_BITS_MAX = 512,
    /* Rows of A at once.  Registers twice as wide come with twice as many of them, and more rows
       are more streams to fetch ahead of. */
    MATVEC_LINES = 4,
    MATVEC_LINES_WIDE = 8
};

/* Bits of a vector: BITS, or those of the device's registers. */
static inline size_t matvec_vector_bits(const job *j)
{
    const size_t bits = param(j->params, "BITS"), native = j->device->vector_bits;

    if (bits)
        return bits;
    return native ? size_min(size_max(native, MATVEC_BITS_MIN), MATVEC_BITS_MAX)
                  : MATVEC_BITS_USUAL;
}

/* Elements of a vector of sums. */
static inline size_t matvec_vec(const job *j)
{
    return matvec_vector_bits(j) / (8 * matvec_real_size(matvec_of(j->problem)));
}

/* The most rows of A that a work-item takes at once. */
static inline size_t matvec_lines_most(const job *j)
{
    return j->device->vector_bits >= MATVEC_BITS_MAX ? MATVEC_LINES_WIDE : MATVEC_LINES;
}

/* PREFETCH of long rows where its tunable is 0: memory is asked for ahead of its use on Intel's
 * cores alone, whose own prefetching ends with a page.  AMD's lose by it. */
static inline void matvec_defines_prefetch(const job *j, text *out)
{
    if (!param(j->params, "PREFETCH"))
        text_format(out, " -DPREFETCH=%d", strcmp(j->device->vendor, "GenuineIntel") == 0 ? 2 : 1);
}

#endif
