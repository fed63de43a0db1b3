/* A vector of VECTOR_BYTES for loops that are compiled once for each element type: of REALs, with
 * NAMED(name) that has the type's suffix. */

#include "base/unrolled.h"

typedef REAL NAMED(vector) __attribute__((vector_size(VECTOR_BYTES)));

enum { NAMED(LANES) = VECTOR_BYTES / sizeof(REAL) };

/* The sum of a vector's elements: halves are added until one is left. */
static inline REAL NAMED(total)(NAMED(vector) v)
{
    REAL lane[NAMED(LANES)];

    memcpy(lane, &v, sizeof(v));
    UNROLLED
    for (size_t half = NAMED(LANES) / 2; half > 0; half /= 2)
        for (size_t l = 0; l < half; l++)
            lane[l] += lane[l + half];
    return lane[0];
}
