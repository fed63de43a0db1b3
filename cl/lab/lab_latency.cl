/* Experiment: how long a load takes.
 *
 * Idea      each word says where the next one is, so no load can begin before the one before it has
 *           ended, and no prefetcher guesses the way, which is random.  One work-item walks; nothing
 *           hides the time it waits.  What it walks through is small enough for one cache, or not.
 *           In registers a step is one multiply-add, which waits for the one before it.
 *           Of constant memory a warp gets one word at a time: lanes that want different ones take turns
 * Work      one item goes `steps` steps from `start` and writes where it is; local memory is filled by
 *           the others of its group, too.  In lab_latency_constant_lanes each item of a group walks by
 *           itself, from a place APART words behind its neighbour's
 * Params    WORDS of the ring in local memory; IMAGE, pixels in a row of the one that holds
 *           the ring, where there is one; APART of the lanes, and TABLE, the words that they walk
 *           through, 256; of the other kernels none
 * Launch    1-D, one item; for local memory and lanes one group
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

/* `mul` and `add` are not known to the compiler, which else could make one step of several. */
__kernel void lab_latency_registers(__global uint *out, uint start, uint mul, uint add, uint steps)
{
    uint at = start;

    for (uint i = 0; i < steps; i++)
        at = at * mul + add;
    *out = at;
}

#ifdef APART
#if TABLE != 256
#error "TABLE: 256, the words of the table"
#endif

/* A table of the program: on NVIDIA's driver that is constant memory, and a __constant argument is
 * not.  i -> 5 i + 1 modulo its size comes to every place before it comes back. */
#define NEXT(i)  ((i) * 5 + 1) % TABLE
#define NEXT4(i) NEXT(i), NEXT((i) + 1), NEXT((i) + 2), NEXT((i) + 3)
#define NEXT16(i) NEXT4(i), NEXT4((i) + 4), NEXT4((i) + 8), NEXT4((i) + 12)
#define NEXT64(i) NEXT16(i), NEXT16((i) + 16), NEXT16((i) + 32), NEXT16((i) + 48)
__constant uint table[TABLE] = {NEXT64(0), NEXT64(64), NEXT64(128), NEXT64(192)};

__kernel void lab_latency_constant_lanes(__global uint *out, uint steps)
{
    uint at = get_local_id(0) * APART % TABLE;

    for (uint i = 0; i < steps; i++)
        at = table[at];
    out[get_local_id(0)] = at;
}
#endif

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
