/* Limits of global memory: write, copy and read long runs of vectors.
 *
 * Idea      memory is busy when many wide accesses are under way at once: an
 *           item has AHEAD loads in flight.  What is written is the word's own
 *           number plus a seed, so the sum of all words, which the read gives,
 *           is known: it proves the write, the copy and the read
 * Work      an item touches `count` vectors.  TILED: a work-group owns a run of
 *           neighbouring vectors, its items side by side in it (one item alone
 *           walks on its own, as a core does).  Else the whole launch walks
 *           through memory side by side.  RUNS cuts an item's vectors into AHEAD
 *           runs, one load of each under way: as many streams for a core to fetch
 *           ahead of
 * Params    ELEMENT uint, WIDTH, AHEAD, TILED; RUNS, where TILED and items are alone;
 *           STREAM: 1 for stores that pass the cache by, where the compiler knows them
 * Launch    1-D; count a multiple of AHEAD; global size times count vectors
 * Limits    fewer than 2^32 vectors
 */
#include "roofline/roofline_lanes.clh"

#ifndef AHEAD
#error "AHEAD: loads in flight"
#endif
#ifndef TILED
#error "TILED: 0 or 1"
#endif
#ifndef RUNS
#error "RUNS: 0 or 1"
#endif
#ifndef STREAM
#error "STREAM: 0 or 1"
#endif

#if STREAM
#define STORE(value, place) __builtin_nontemporal_store(value, place)
#else
#define STORE(value, place) (*(place) = (value))
#endif

/* Between the loads under way of an item, from them to its next ones, and its first vector. */
#if RUNS
#define STRIDE        (count / AHEAD)
#define STEP          1
#define FIRST(count)  ((uint)get_global_id(0) * (count))
#elif TILED
#define STRIDE        ((uint)get_local_size(0))
#define STEP          (AHEAD * STRIDE)
#define FIRST(count)  ((uint)get_group_id(0) * STRIDE * (count) + (uint)get_local_id(0))
#else
#define STRIDE        ((uint)get_global_size(0))
#define STEP          (AHEAD * STRIDE)
#define FIRST(count)  ((uint)get_global_id(0))
#endif

__kernel void roofline_write(__global VECTOR *out, uint count, uint seed)
{
    const uint stride = STRIDE;
    uint at = FIRST(count);

    for (uint i = 0; i < count; i += AHEAD) {
#pragma unroll
        for (uint a = 0; a < AHEAD; a++) {
            const VECTOR words = (VECTOR)(seed + (at + a * stride) * WIDTH) + LANES;

            STORE(words, &out[at + a * stride]);
        }
        at += STEP;
    }
}

__kernel void roofline_copy(__global const VECTOR *restrict in, __global VECTOR *restrict out,
                            uint count)
{
    const uint stride = STRIDE;
    uint at = FIRST(count);

    for (uint i = 0; i < count; i += AHEAD) {
        VECTOR words[AHEAD];

#pragma unroll
        for (uint a = 0; a < AHEAD; a++)
            words[a] = in[at + a * stride];
#pragma unroll
        for (uint a = 0; a < AHEAD; a++)
            STORE(words[a], &out[at + a * stride]);
        at += STEP;
    }
}

/* Item by item the sum of the words modulo 2^32. */
__kernel void roofline_read(__global const VECTOR *in, __global uint *sums, uint count)
{
    const uint stride = STRIDE;
    uint at = FIRST(count);
    VECTOR sum[AHEAD];

#pragma unroll
    for (uint a = 0; a < AHEAD; a++)
        sum[a] = 0;
    for (uint i = 0; i < count; i += AHEAD) {
#pragma unroll
        for (uint a = 0; a < AHEAD; a++)
            sum[a] += in[at + a * stride];
        at += STEP;
    }
#pragma unroll
    for (uint a = 1; a < AHEAD; a++)
        sum[0] += sum[a];
    sums[get_global_id(0)] = LANES_SUM(sum[0]);
}
