/* Probe: static local memory beyond the limit that the driver reports, NVIDIA.
 *
 * Idea: write at both ends of the array, read what the opposite work-item wrote.
 * Work split: work-item i writes out[i].
 * Parameters: LOCAL_WORDS, the size of the array.
 * Launch: 1-D, one work-group of 64.
 * Local memory: LOCAL_WORDS * 4 bytes.
 */
#ifndef LOCAL_WORDS
#error "LOCAL_WORDS: uints of local memory"
#endif

__kernel void probe(__global uint *out)
{
    __local uint words[LOCAL_WORDS];
    const uint i = get_local_id(0);
    const uint opposite = get_local_size(0) - 1 - i;

    words[i] = 2 * i;
    words[LOCAL_WORDS - 1 - i] = 3 * i + 11;
    /* Filled before read: below, each reads what the opposite item wrote. */
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = words[opposite] + words[LOCAL_WORDS - 1 - opposite];
}
