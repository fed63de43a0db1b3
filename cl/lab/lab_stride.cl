/* Experiment: how far apart the words are that neighbouring work-items touch.
 *
 * Idea      memory moves in lines (a CPU: 64 bytes; NVIDIA: sectors of 32 bytes, 4 to a line of 128).
 *           STRIDE 1: the 32 work-items of a warp want 32 words that lie side by side, which are one
 *           line.  STRIDE 32: each wants a word of a line of its own; 32 lines move, and of each
 *           124 of 128 bytes are thrown away
 * Work      the launch touches each STRIDE-th word of the array once, READS of them an item.  An
 *           item's words are far apart; what counts are its neighbours' at the same moment
 * Params    STRIDE, in words; READS, words of an item
 * Launch    1-D, words / STRIDE / READS work-items
 * Limits    the array has fewer than 2^32 words
 */
#ifndef STRIDE
#error "STRIDE: words from one work-item's to its neighbour's"
#endif
#ifndef READS
#error "READS: words of a work-item"
#endif

__kernel void lab_stride_read(__global const uint *in, __global uint *out)
{
    const uint item = get_global_id(0), items = get_global_size(0);
    uint sum = 0;

#pragma unroll
    for (uint r = 0; r < READS; r++)
        sum += in[(r * items + item) * STRIDE];
    out[item] = sum;
}

__kernel void lab_stride_write(__global uint *out)
{
    const uint item = get_global_id(0), items = get_global_size(0);

#pragma unroll
    for (uint r = 0; r < READS; r++)
        out[(r * items + item) * STRIDE] = r * items + item;
}
