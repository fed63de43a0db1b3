/* Limit of multiply-adds: chains of x = factor x + term, or factor x + x, in registers.
 *
 * Idea      each chain waits for itself, so a work-item runs CHAINS of them,
 *           more than the latency of one takes.  factor and term are arguments:
 *           nothing can be computed ahead.  Chains differ in their start, so
 *           none stands for another.  The host runs the same chains and
 *           compares every bit
 * Work      an item runs CHAINS vectors of WIDTH lanes and writes, lane by
 *           lane, the sum of their bits, modulo 2^32 (2^64 for double)
 * Params    ELEMENT float or double, WIDTH, CHAINS; UNROLL steps between two
 *           looks at the counter; FUSED: 1 where fma() is an instruction, else
 *           0 for a product and a sum, each rounded; SELF: 1 to add x itself,
 *           where reading a third register costs time
 * Launch    1-D; steps a multiple of UNROLL
 */
#if DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#include "roofline/roofline_lanes.clh"

#ifndef DOUBLE
#error "DOUBLE: 1 where ELEMENT is double"
#endif
#ifndef CHAINS
#error "CHAINS: independent chains of a work-item"
#endif
#ifndef UNROLL
#error "UNROLL: steps of a loop trip"
#endif
#ifndef FUSED
#error "FUSED: 0 or 1"
#endif

#ifndef SELF
#error "SELF: 0 or 1"
#endif

#if DOUBLE
#define BITS_ELEMENT ulong
#else
#define BITS_ELEMENT uint
#endif
#if WIDTH == 1
#define BITS BITS_ELEMENT
#else
#define BITS LANES_OF(BITS_ELEMENT)
#endif
#define AS_JOIN(type)          as_##type
#define AS_JOIN_EXPANDED(type) AS_JOIN(type)
#define AS_BITS                AS_JOIN_EXPANDED(BITS)

#if FUSED
#define MULTIPLY_ADD(a, b, c) fma(a, b, c)
#else
#pragma OPENCL FP_CONTRACT OFF
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#endif

__kernel void roofline_fma(__global BITS *out, uint steps, ELEMENT factor, ELEMENT term)
{
    const size_t item = get_global_id(0);
    const VECTOR factors = (VECTOR)factor, terms = (VECTOR)term;
    VECTOR x[CHAINS];
    BITS sum = 0;

#pragma unroll
    for (uint c = 0; c < CHAINS; c++)
        x[c] = (VECTOR)(1 + (ELEMENT)(item & 3) / 4 + (ELEMENT)c / 64) + LANES / 1024;
    for (uint s = 0; s < steps; s += UNROLL) {
#pragma unroll
        for (uint u = 0; u < UNROLL; u++) {
#pragma unroll
            for (uint c = 0; c < CHAINS; c++)
                x[c] = MULTIPLY_ADD(x[c], factors, SELF ? x[c] : terms);
        }
    }
#pragma unroll
    for (uint c = 0; c < CHAINS; c++)
        sum += AS_BITS(x[c]);
    out[item] = sum;
}
