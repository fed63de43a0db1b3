/* Experiment: more values in registers than there is room for.
 *
 * Idea      what a work-item has under way lies in registers, which a compute unit gives out to all
 *           of its work-items.  More values each leave room for fewer work-items, and beyond what
 *           one can have they spill: into memory, where the caches take them
 * Work      an item goes `rounds` steps of VALUES chains of integers, which nothing can shorten
 * Params    VALUES, chains of a work-item
 * Launch    1-D
 */
#ifndef VALUES
#error "VALUES: what a work-item has in registers"
#endif

__kernel void lab_registers(__global uint *out, uint rounds, uint mul, uint add)
{
    uint value[VALUES], sum = 0;

#pragma unroll
    for (uint v = 0; v < VALUES; v++)
        value[v] = get_global_id(0) + v;
#pragma unroll 1
    for (uint i = 0; i < rounds; i++) /* rolled up, so that values take turns in each round */
#pragma unroll
        for (uint v = 0; v < VALUES; v++)
            value[v] = value[v] * mul + add;
#pragma unroll
    for (uint v = 0; v < VALUES; v++)
        sum += value[v];
    out[get_global_id(0)] = sum;
}
