/* Experiment: how many work-items it takes to hide the latency of memory.
 *
 * Idea      a load takes hundreds of cycles, and its work-item waits for it before it goes on to the next
 *           LOADS.  Meanwhile the unit runs other warps, if it has any: so the rate is the number of
 *           loads under way over the latency, until memory can bring no more.  More under way can come
 *           from more work-items, or from more loads of each
 * Work      item i adds up the words i, i + items, i + 2 items, ..., `rounds` times LOADS of them
 * Params    LOADS: of an item under way at once
 * Launch    1-D
 */
#ifndef LOADS
#error "LOADS: of a work-item under way at once"
#endif

__kernel void lab_warps(__global const uint *in, __global uint *out, uint rounds)
{
    const uint items = get_global_size(0);
    uint at = get_global_id(0), sum = 0;

    /* Not unrolled: the loads of the next round wait for those of this one. */
#pragma unroll 1
    for (uint i = 0; i < rounds; i++) {
        uint word[LOADS];

#pragma unroll
        for (uint k = 0; k < LOADS; k++)
            word[k] = in[at + k * items];
#pragma unroll
        for (uint k = 0; k < LOADS; k++)
            sum += word[k];
        at += LOADS * items;
    }
    out[get_global_id(0)] = sum;
}
