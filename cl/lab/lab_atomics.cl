/* Experiment: atomic additions that meet at one address.
 *
 * Idea      additions to one word are done one after another, wherever they come from.  With more
 *           words fewer meet; in local memory only those of one group meet, and its sums are added
 *           to global memory once; who adds up in a register first has one addition a group left
 *           What has no instruction is made of compare-and-swap: read, compute, write if nobody was
 *           faster, else again.  Many that meet then begin again and again
 * Work      an item adds 1 ADDS times, to one of COUNTERS words in turn; or subtracts 1, or takes the
 *           minimum; or adds 1 by compare-and-swap, as an integer or a float16
 * Params    COUNTERS, a power of 2; ADDS; GROUP, work-items of a group; WARPS: 1 for NVIDIA's warps
 * Launch    1-D, work-items a multiple of COUNTERS
 * Local     COUNTERS words
 */
#ifndef COUNTERS
#error "COUNTERS: words that are added to"
#endif
#ifndef ADDS
#error "ADDS: of a work-item"
#endif
#ifndef GROUP
#error "GROUP: work-items of a group"
#endif
#ifndef WARPS
#error "WARPS: 1 for NVIDIA's warps, else 0"
#endif

#if WARPS
#include "common/warp.clh"

/* One counter, and one addition a warp: its items add up by shuffles, without local memory. */
__kernel void lab_atomics_warp(__global uint *counts)
{
    uint mine = 0;

    for (uint i = 0; i < ADDS; i++)
        mine++;
#pragma unroll
    for (uint mask = 1; mask < 32; mask *= 2)
        mine += warp_exchange(mine, mask);
    if (get_local_id(0) % 32 == 0)
        atomic_add(counts, mine);
}
#endif

__kernel void lab_atomics_global(__global uint *counts)
{
    for (uint i = 0; i < ADDS; i++)
        atomic_inc(&counts[(get_global_id(0) + i) % COUNTERS]);
}

__kernel void lab_atomics_subtract(__global uint *counts)
{
    for (uint i = 0; i < ADDS; i++)
        atomic_dec(&counts[(get_global_id(0) + i) % COUNTERS]);
}

/* Of 5, which each word gets, and larger ones. */
__kernel void lab_atomics_minimum(__global uint *counts)
{
    for (uint i = 0; i < ADDS; i++) {
        const uint place = get_global_id(0) + i;

        atomic_min(&counts[place % COUNTERS], 5 + place / COUNTERS);
    }
}

__kernel void lab_atomics_swap(__global uint *counts)
{
    for (uint i = 0; i < ADDS; i++) {
        __global uint *to = &counts[(get_global_id(0) + i) % COUNTERS];
        uint seen = *to, before;

        while ((before = atomic_cmpxchg(to, seen, seen + 1)) != seen)
            seen = before;
    }
}

/* The word's lower half holds the bits of a float16, each of them turned: the counters begin with
 * ones in all bits, which is 0 here. */
__kernel void lab_atomics_half(__global uint *counts)
{
    for (uint i = 0; i < ADDS; i++) {
        __global uint *to = &counts[(get_global_id(0) + i) % COUNTERS];
        uint seen = *to;

        for (;;) {
            ushort bits = (ushort)~seen;
            uint before;

            vstore_half(vload_half(0, (const half *)&bits) + 1, 0, (half *)&bits);
            before = atomic_cmpxchg(to, seen, (seen & 0xFFFF0000u) | (ushort)~bits);
            if (before == seen)
                break;
            seen = before;
        }
    }
}

__kernel void lab_atomics_local(__global uint *counts)
{
    __local uint own[COUNTERS];

    for (uint first = 0; first < COUNTERS; first += GROUP)
        if (first + get_local_id(0) < COUNTERS)
            own[first + get_local_id(0)] = 0;
    /* Zeroed before anyone adds. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < ADDS; i++)
        atomic_inc(&own[(get_global_id(0) + i) % COUNTERS]);
    /* Everyone has added before the sums are read. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint first = 0; first < COUNTERS; first += GROUP)
        if (first + get_local_id(0) < COUNTERS)
            atomic_add(&counts[first + get_local_id(0)], own[first + get_local_id(0)]);
}

/* One counter: an item's additions in a register, the group's in local memory, and one beyond. */
__kernel void lab_atomics_group(__global uint *counts)
{
    __local uint own;
    uint mine = 0;

    if (get_local_id(0) == 0)
        own = 0;
    for (uint i = 0; i < ADDS; i++)
        mine++;
    /* Zeroed before anyone adds. */
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&own, mine);
    /* Everyone has added before the sum is read. */
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        atomic_add(counts, own);
}
