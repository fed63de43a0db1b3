/* Grayscale: a pixel a work-item, in two dimensions.
 *
 * Idea: a picture has two dimensions, and so has the launch: work-item (x, y)
 *     has pixel (x, y).  Neighbours along a row read neighbouring pixels.  Of
 *     bytes each loads three elements of one byte and stores one, as many
 *     instructions as for words of four times the size.
 * Work split: one pixel a work-item; those outside of the picture do nothing.
 * Parameters: COLUMNS, ROWS: sides of a work-group; CHANNELS, BYTES, weights
 *     (grayscale.clh).
 * Launch: 2-D, work-groups of COLUMNS x ROWS.
 * Local memory: none.
 */
#include "grayscale/grayscale.clh"

#if !defined(COLUMNS) || !defined(ROWS)
#error "COLUMNS, ROWS: work-items of a work-group along a row and across rows"
#endif

__kernel __attribute__((reqd_work_group_size(COLUMNS, ROWS, 1))) void
grayscale_naive(__global const element *restrict colour, __global element *restrict grey,
                const grayscale_call call)
{
    const ulong x = get_global_id(0), y = get_global_id(1);

    if (x < call.width && y < call.height) {
        const ulong i = y * call.width + x;
        __global const element *pixel = colour + call.from + i * CHANNELS;

        grey[call.to + i] = grey_of(pixel[0], pixel[1], pixel[2]);
    }
}
