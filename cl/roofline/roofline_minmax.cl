/* Limit of integer comparisons: a sorting network over registers.
 *
 * Idea      a compare-exchange is a minimum and a maximum.  CHAINS rounds of
 *           odd-even transposition sort CHAINS registers; neighbouring rounds
 *           pair differently, so no pair is seen to be in order already.
 *           Then the smallest is moved on, and the next trip has work again.
 *           That addition is not counted.  The host does the same and compares
 * Work      an item sorts WIDTH columns of CHAINS uints, `steps` times, and
 *           writes, lane by lane, the sum of key times position
 * Params    ELEMENT uint, WIDTH, CHAINS (even)
 * Launch    1-D
 */
#include "roofline/roofline_lanes.clh"

#ifndef CHAINS
#error "CHAINS: registers of a work-item"
#endif

static inline void exchange(VECTOR *a, VECTOR *b)
{
    const VECTOR low = min(*a, *b);

    *b = max(*a, *b);
    *a = low;
}

__kernel void roofline_minmax(__global VECTOR *out, uint steps, uint advance)
{
    const size_t item = get_global_id(0);
    VECTOR x[CHAINS], sum = 0;

    /* Odd multipliers scatter the starts over all 32 bits. */
#pragma unroll
    for (uint c = 0; c < CHAINS; c++)
        x[c] = ((VECTOR)((uint)(item & 3) * 64 + c * 256) + LANES) * 2654435761u;
#pragma unroll 1
    for (uint s = 0; s < steps; s++) {
        /* Two rounds a trip: loops of constant length unroll, and x[] stays in registers. */
#pragma unroll
        for (uint round = 0; round < CHAINS; round += 2) {
#pragma unroll
            for (uint pair = 0; pair < CHAINS / 2; pair++)
                exchange(&x[2 * pair], &x[2 * pair + 1]);
#pragma unroll
            for (uint pair = 0; pair < CHAINS / 2 - 1; pair++)
                exchange(&x[2 * pair + 1], &x[2 * pair + 2]);
        }
        x[0] += advance;
    }
#pragma unroll
    for (uint c = 0; c < CHAINS; c++)
        sum += x[c] * (c + 1);
    out[item] = sum;
}
