/* Experiment: independent work of one work-item against more work-items.
 *
 * Idea      a multiply-add takes some cycles until its result is there, but the unit can begin another
 *           each cycle.  One chain, in which each waits for the one before, leaves it idle: what fills it
 *           are more chains in an item (instruction-level parallelism) or more items (warps)
 * Work      an item goes `rounds` steps of CHAINS chains; with factor and term 1 each step adds 1, which
 *           is exact below 2^24
 * Params    CHAINS
 * Launch    1-D
 */
#ifndef CHAINS
#error "CHAINS: independent chains of a work-item"
#endif

__kernel void lab_chains(__global uint *out, uint rounds, float factor, float term)
{
    float value[CHAINS], sum = 0;

#pragma unroll
    for (uint c = 0; c < CHAINS; c++)
        value[c] = (float)(get_local_id(0) + c);
#pragma unroll 8
    for (uint i = 0; i < rounds; i++)
#pragma unroll
        for (uint c = 0; c < CHAINS; c++)
            value[c] = mad(value[c], factor, term);
#pragma unroll
    for (uint c = 0; c < CHAINS; c++)
        sum += value[c];
    out[get_global_id(0)] = (uint)sum;
}
