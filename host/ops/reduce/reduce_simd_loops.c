#include <math.h>

#include "ops/reduce/reduce_simd.h"

/* Results side by side, for vectors and to hide the latency of an addition; they are combined in
 * one order. */
enum { LANES = 32 };

double ISA_NAMED(reduce_sum)(const float *x, size_t n)
{
    double lane[LANES] = {0}, sum = 0;
    size_t i = 0;

    for (; i + LANES <= n; i += LANES)
        for (size_t l = 0; l < LANES; l++)
            lane[l] += (double)x[i + l];
    for (; i < n; i++)
        lane[i % LANES] += (double)x[i];
    for (size_t l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

/* A NaN takes the place of any number, and no comparison replaces it. */
#define EXTREME(name, BEYOND)                                                                      \
    float ISA_NAMED(name)(const float *x, size_t n)                                                \
    {                                                                                              \
        float lane[LANES], best;                                                                   \
        size_t i = 0;                                                                              \
                                                                                                   \
        for (size_t l = 0; l < LANES; l++)                                                         \
            lane[l] = x[l % n];                                                                    \
        for (; i + LANES <= n; i += LANES)                                                         \
            for (size_t l = 0; l < LANES; l++)                                                     \
                lane[l] =                                                                          \
                    ((x[i + l] BEYOND lane[l]) | (x[i + l] != x[i + l])) ? x[i + l] : lane[l];     \
        for (; i < n; i++)                                                                         \
            lane[0] = x[i] BEYOND lane[0] || isnan(x[i]) ? x[i] : lane[0];                         \
        best = lane[0];                                                                            \
        for (size_t l = 1; l < LANES; l++)                                                         \
            best = lane[l] BEYOND best || isnan(lane[l]) ? lane[l] : best;                         \
        return best;                                                                               \
    }

EXTREME(reduce_min, <)
EXTREME(reduce_max, >)
