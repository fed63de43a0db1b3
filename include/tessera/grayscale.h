/** Grayscale: the brightness of each pixel of a picture in colour. */
#ifndef TESSERA_GRAYSCALE_H
#define TESSERA_GRAYSCALE_H

#include <stddef.h>

#include "tessera/run.h"
#include "tessera/session.h"
#include "tessera/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How much of red, green and blue there is in the brightness. */
typedef enum tsr_luma {
    TSR_LUMA_BT601 = 0, /* 0.299, 0.587, 0.114: Recommendation ITU-R BT.601 */
    TSR_LUMA_BT709,     /* 0.2126, 0.7152, 0.0722: Recommendation ITU-R BT.709 */
    TSR_LUMA_OPENCV     /* BT.601 with the bits of OpenCV's cvtColor */
} tsr_luma;

/**
 * grey[y][x] := wr red + wg green + wb blue of pixel (x, y).
 *
 * Pixels lie row by row, 3 or 4 elements each: red, green, blue, and a fourth that is not looked
 * at, as opacity.  The values are taken as they are: no gamma is undone.
 *
 * Of uint8 the result is rounded to the nearest, with weights in 65536ths that add up to 65536, by
 * whole numbers: (WR red + WG green + WB blue + 32768) / 65536, where
 *
 *     BT.601   19595, 38470, 7471        BT.709   13933, 46871, 4732
 *     OpenCV   19596, 38470, 7470
 *
 * Of float32 it is fma(wb, blue, fma(wg, green, wr red)), each step rounded once, with weights
 * rounded to float32.  So the result is the same to the bit for every variant and device, but that
 * one that flushes denormals may take those for 0.
 */
typedef struct tsr_grayscale_problem {
    tsr_type type;        /* of both pictures: TSR_U8 or TSR_F32 */
    size_t height, width; /* in pixels */
    size_t channels;      /* elements of a pixel in colour: 3 or 4 */
    size_t luma;          /* a tsr_luma */
    size_t offset_in;     /* elements before the first of the picture in colour */
    size_t offset_out;    /* elements before the first of the grey one */
} tsr_grayscale_problem;

/** No pixels, uint8, three channels, BT.601, in C and C++. */
#define TSR_GRAYSCALE_PROBLEM_INIT                                                                 \
    {                                                                                              \
        TSR_U8, 0, 0, 3, TSR_LUMA_BT601, 0, 0                                                      \
    }

/**
 * Convert a picture in host memory.  Synchronous.
 *
 * @param colour  offset_in + height * width * channels elements.
 * @param grey    offset_out + height * width elements, of which those behind the offset are
 * written; not among those of colour.
 * @param run     What to run; NULL for the best.
 * @param report  Receives what ran.  May be NULL.
 * @return TSR_OK; on failure grey is unspecified, and
 *         TSR_EINVAL       a rule above is broken
 *         TSR_EOVERFLOW    a byte count exceeds size_t or the device's limit
 *         TSR_EUNSUPPORTED the named variant cannot run this here; err says why
 *         TSR_EBUILD, TSR_ECL, TSR_ENOMEM
 */
TSR_API tsr_status tsr_grayscale(tsr_session *session, const tsr_grayscale_problem *problem,
                                 const void *colour, void *grey, const tsr_run *run,
                                 tsr_report *report, tsr_error *err);

/**
 * The same on buffers of the session's context, enqueued; run->wait, run->done.
 *
 * @param colour  Read.
 * @param grey    Written.
 */
TSR_API tsr_status tsr_grayscale_enqueue(tsr_session *session, const tsr_grayscale_problem *problem,
                                         cl_mem colour, cl_mem grey, const tsr_run *run,
                                         tsr_report *report, tsr_error *err);

#ifdef __cplusplus
}
#endif
#endif
