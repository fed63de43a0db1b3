/* Experiment: how long a load takes.
 *
 * Idea      each word says where the next one is, so no load can begin before the one before it has
 *           ended, and no prefetcher guesses the way, which is random.  One work-item walks; nothing
 *           hides the time it waits.  What it walks through is small enough for one cache, or not
 * Work      one item goes `steps` steps from `start` and writes where it is; local memory is filled by
 *           the others of its group, too
 * Params    WORDS of the ring in local memory; IMAGE, pixels in a row of the one that holds the ring, where
 *           there is one; of the other kernels none
 * Launch    1-D, one item; for local memory one group
 * Local     WORDS words
 */
#ifndef WORDS
#error "WORDS: of the ring in local memory"
#endif

__kernel void lab_latency_global(__global const uint *next, __global uint *out, uint start,
                                 uint steps)
{
    uint at = start;

    for (uint i = 0; i < steps; i++)
        at = next[at];
    *out = at;
}

__kernel void lab_latency_constant(__constant uint *next, __global uint *out, uint start, uint steps)
{
    uint at = start;

    for (uint i = 0; i < steps; i++)
        at = next[at];
    *out = at;
}

#ifdef IMAGE
__kernel void lab_latency_image(__read_only image2d_t next, __global uint *out, uint start, uint steps)
{
    uint at = start;

    for (uint i = 0; i < steps; i++)
        at = read_imageui(next, (int2)(at % IMAGE, at / IMAGE)).x;
    *out = at;
}
#endif

__kernel void lab_latency_local(__global const uint *next, __global uint *out, uint start, uint steps)
{
    __local uint ring[WORDS];
    uint at = start;

    for (uint i = get_local_id(0); i < WORDS; i += get_local_size(0))
        ring[i] = next[i];
    /* Filled before read: all of the ring is walked below. */
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        for (uint i = 0; i < steps; i++)
            at = ring[at];
        *out = at;
    }
}
