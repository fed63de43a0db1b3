/* Grayscale: four pixels of bytes a work-item, in words of 32 bits.
 *
 * Idea: memory moves words as fast as bytes, four times as much.  Four pixels are
 *     three words of three channels, or four of four; their grey values are one
 *     word.  Where a pixel begins in a word is the same for every work-item, so
 *     that shifts take it apart.
 * Work split: four pixels a work-item, in the order of memory, rows behind one
 *     another; the last work-item has the rest, byte by byte, and so has every one
 *     where the pictures do not begin at a word.
 * Parameters: GROUP; CHANNELS, BYTES, weights (grayscale.clh).
 * Launch: 1-D, work-groups of GROUP.
 * Local memory: none.
 * Limits: bytes.  Little endian, as every device that has been seen.
 */
#include "grayscale/grayscale.clh"

#ifndef GROUP
#error "GROUP: work-items in a work-group"
#endif

/* Byte i of some words. */
#define BYTE_OF(words, i) ((words)[(i) / 4] >> 8 * ((i) % 4) & 255)

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
grayscale_packed(__global const uchar *restrict colour, __global uchar *restrict grey,
                 const grayscale_call call)
{
    const ulong first = get_global_id(0) * 4, n = call.height * call.width;

    colour += call.from + first * CHANNELS;
    grey += call.to + first;
    if (first + 4 <= n && (((size_t)colour | (size_t)grey) & 3) == 0) {
        __global const uint *from = (__global const uint *)colour;
        __global uint *to = (__global uint *)grey;
        uint words[CHANNELS], result = 0;

#pragma unroll
        for (uint w = 0; w < CHANNELS; w++)
            words[w] = from[w];
#pragma unroll
        for (uint p = 0; p < 4; p++)
            result |= grey_of(BYTE_OF(words, p * CHANNELS), BYTE_OF(words, p * CHANNELS + 1),
                              BYTE_OF(words, p * CHANNELS + 2))
                      << 8 * p;
        to[0] = result;
    } else {
        for (ulong p = 0; p < 4 && first + p < n; p++)
            grey[p] = grey_of(colour[p * CHANNELS], colour[p * CHANNELS + 1],
                              colour[p * CHANNELS + 2]);
    }
}
