/* Grayscale: vectors of 16 bytes.
 *
 * Idea: 16 bytes are the longest load and store that a work-item has.  Sixteen
 *     pixels of bytes, or four of floats, are CHANNELS such vectors in colour and
 *     one in grey: fewer instructions for the same bytes, and more of them on
 *     their way at a time.
 * Work split: a vector of grey a work-item, in the order of memory, rows behind one
 *     another; the last work-item has the rest, pixel by pixel, and so has every one
 *     where the pictures do not begin at a multiple of 16 bytes.
 * Parameters: GROUP; CHANNELS, BYTES, weights (grayscale.clh).
 * Launch: 1-D, work-groups of GROUP.
 * Local memory: none.
 * Limits: little endian, as every device that has been seen.
 */
#include "grayscale/grayscale.clh"

#ifndef GROUP
#error "GROUP: work-items in a work-group"
#endif

#if BYTES
#define WORD uint
#define WORDS uint4
enum { PIXELS = 16 };

/* Element i of some words. */
#define ELEMENT_OF(words, i) ((words)[(i) / 4] >> 8 * ((i) % 4) & 255)
#else
#define WORD float
#define WORDS float4
enum { PIXELS = 4 };

#define ELEMENT_OF(words, i) ((words)[i])
#endif

static inline element grey_of_pixel(const WORD *words, uint p)
{
    return grey_of(ELEMENT_OF(words, p * CHANNELS), ELEMENT_OF(words, p * CHANNELS + 1),
                   ELEMENT_OF(words, p * CHANNELS + 2));
}

/* Word w of what becomes grey. */
static inline WORD grey_word(const WORD *words, uint w)
{
#if BYTES
    return (uint)grey_of_pixel(words, 4 * w) | (uint)grey_of_pixel(words, 4 * w + 1) << 8 |
           (uint)grey_of_pixel(words, 4 * w + 2) << 16 |
           (uint)grey_of_pixel(words, 4 * w + 3) << 24;
#else
    return grey_of_pixel(words, w);
#endif
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
grayscale_vectors(__global const element *restrict colour, __global element *restrict grey,
                  const grayscale_call call)
{
    const ulong first = get_global_id(0) * PIXELS, n = call.height * call.width;

    colour += call.from + first * CHANNELS;
    grey += call.to + first;
    if (first + PIXELS <= n && (((size_t)colour | (size_t)grey) & 15) == 0) {
        __global const WORDS *from = (__global const WORDS *)colour;
        __global WORDS *to = (__global WORDS *)grey;
        WORD words[4 * CHANNELS];

#pragma unroll
        for (uint v = 0; v < CHANNELS; v++) {
            const WORDS four = from[v];

            words[4 * v] = four.x;
            words[4 * v + 1] = four.y;
            words[4 * v + 2] = four.z;
            words[4 * v + 3] = four.w;
        }
        to[0] = (WORDS)(grey_word(words, 0), grey_word(words, 1), grey_word(words, 2),
                        grey_word(words, 3));
    } else {
        for (ulong p = 0; p < PIXELS && first + p < n; p++)
            grey[p] = grey_of(colour[p * CHANNELS], colour[p * CHANNELS + 1],
                              colour[p * CHANNELS + 2]);
    }
}
