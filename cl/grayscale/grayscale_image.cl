/* Grayscale: the picture as an image.
 *
 * Idea: an image is memory in an order that the device picks, which its texture
 *     units read through a sampler: they compute the address of (x, y), have an
 *     answer for places outside (here the nearest pixel of the edge, so that no
 *     read needs a guard), and a cache in which neighbours above and below are as
 *     near as those beside.  A filter that reads each pixel many times gains by
 *     that.  This one reads it once, and the copy into the image moves the picture
 *     once more: what it costs is this step's lesson.
 * Work split: one pixel a work-item; those outside of the picture store nothing.
 * Parameters: COLUMNS, ROWS: sides of a work-group; CHANNELS, BYTES, weights
 *     (grayscale.clh).
 * Launch: the copy into an image of one channel, height x width * CHANNELS; then 2-D,
 *     work-groups of COLUMNS x ROWS.
 * Local memory: none.
 * Limits: pictures that the device has images for.
 */
#include "grayscale/grayscale.clh"

#if !defined(COLUMNS) || !defined(ROWS)
#error "COLUMNS, ROWS: work-items of a work-group along a row and across rows"
#endif

/* Elements as they are, by whole coordinates. */
__constant sampler_t as_they_are =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

#if BYTES
#define READ(at) read_imageui(colour, as_they_are, at).x
#else
#define READ(at) read_imagef(colour, as_they_are, at).x
#endif

__kernel __attribute__((reqd_work_group_size(COLUMNS, ROWS, 1))) void
grayscale_image(__read_only image2d_t colour, __global element *restrict grey,
                const grayscale_call call)
{
    const uint x = (uint)get_global_id(0), y = (uint)get_global_id(1);
    const int2 red = (int2)((int)(x * CHANNELS), (int)y);
    const element value =
        grey_of(READ(red), READ(red + (int2)(1, 0)), READ(red + (int2)(2, 0)));

    if (x < call.width && y < call.height)
        grey[call.to + y * call.width + x] = value;
}
