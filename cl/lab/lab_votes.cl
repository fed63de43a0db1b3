/* Experiment: how many work-items of a warp say yes, and which sum their values make.
 *
 * Idea      a warp can ask all of its work-items at once: a vote gives their answers as bits, and a
 *           reduction their sum, in one instruction and without memory.  Through local memory the
 *           same takes an atomic operation of each, and barriers
 * Work      an item says yes where bits 0 and 7 of its value differ; each of `rounds` times it
 *           makes 5 x + yeses of its 32 neighbours + 1 of it, so that a wrong count is noticed
 * Params    KIND: 0 local memory, 1 vote and population count, 2 one instruction that adds, 3
 *           shuffles; GROUP
 * Launch    1-D, groups of GROUP, a multiple of 32
 * Local     2 * GROUP / 32 words, of KIND 0
 */
#ifndef KIND
#error "KIND: 0 local memory, 1 vote, 2 reduction, 3 shuffles"
#endif
#ifndef GROUP
#error "GROUP: work-items of a group"
#endif

#if KIND
#include "common/warp.clh"
#endif

__kernel void lab_votes(__global uint *out, uint rounds)
{
#if KIND == 0
    __local uint counts[2][GROUP / 32];
    const uint warp = get_local_id(0) / 32;
#endif
    uint value = get_local_id(0) % 32;

#if KIND == 0
    if (get_local_id(0) % 32 == 0)
        counts[0][warp] = counts[1][warp] = 0;
    /* Zeroed before anyone adds. */
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (uint i = 0; i < rounds; i++) {
        const uint yes = (value ^ value >> 7) & 1;
        uint count;

#if KIND == 0
        if (yes)
            atomic_inc(&counts[i % 2][warp]);
        /* Everyone has added before the count is read. */
        barrier(CLK_LOCAL_MEM_FENCE);
        count = counts[i % 2][warp];
        /* That of the next round was read before the last barrier. */
        if (get_local_id(0) % 32 == 0)
            counts[(i + 1) % 2][warp] = 0;
        /* Zeroed before anyone adds. */
        barrier(CLK_LOCAL_MEM_FENCE);
#elif KIND == 1
        count = popcount(warp_ballot(yes));
#elif KIND == 2
        count = warp_sum(yes);
#else
        count = yes;
#pragma unroll
        for (uint mask = 1; mask < 32; mask *= 2)
            count += warp_exchange(count, mask);
#endif
        value = value * 5 + count + 1;
    }
    out[get_global_id(0)] = value;
}
