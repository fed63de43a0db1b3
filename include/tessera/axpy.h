/** axpy, the scaled sum of two arrays: z := alpha x + y. */
#ifndef TESSERA_AXPY_H
#define TESSERA_AXPY_H

#include <stdbool.h>
#include <stddef.h>

#include "tessera/run.h"
#include "tessera/session.h"
#include "tessera/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * z[i] := alpha x[i] + y[i] for i < n, of one type; in place z[i] := alpha x[i] + z[i], which is
 * BLAS's axpy.  With alpha 1 it is the sum of two arrays.
 *
 * Element i of x sits at offset_x + i * incx, counted in elements, 0 standing for an inc of 1, and
 * those of y and z alike; what lies between elements of z is not written.
 *
 * Floats: alpha is rounded to the type of the arithmetic, which is float64 for float64 and else
 * float32.  Product and sum are rounded once or twice, and a result of 16 bits once more as it is
 * stored, to nearest even:
 *
 *     |got - exact| <= gamma_3 (|alpha x| + |y|),  gamma_3 = 3 u / (1 - 3 u)
 *
 * with u = 2^-24, or 2^-53 of float64, then the rounding of the store; a device that flushes
 * denormals may lose those.  With alpha 1 or -1, where nothing is flushed, the result is the one
 * of IEEE 754, and NumPy's, of float16 and bfloat16 too.  NaN and infinities go as in the formula:
 * alpha 0 times an infinity is NaN.
 *
 * Integers: alpha is a whole number from -2^63 to 2^63, one that a double holds: beyond 2^53 not
 * all are.  Results are taken modulo 2^bits, as NumPy has them.
 */
typedef struct tsr_axpy_problem {
    tsr_type type; /* of x, y and z: any */
    size_t n;      /* elements */
    double alpha;
    bool in_place; /* z is read in place of y, of which there is none */
    size_t incx, incy, incz;
    size_t offset_x, offset_y, offset_z;
} tsr_axpy_problem;

/** A problem of no element, float32, alpha 1, all else 0, in C and C++: n follows. */
#define TSR_AXPY_PROBLEM_INIT                                                                      \
    {                                                                                              \
        TSR_F32, 0, 1.0, false, 0, 0, 0, 0, 0, 0                                                   \
    }

/**
 * Compute in host memory, synchronous.  Operands of 64 MiB and more in all, or of more than the
 * session's device_memory, are copied in pieces, each computed while the next is on its way: they
 * need not fit the device.
 *
 * @param x       Read.
 * @param y       Read; NULL in place.  It may have elements of x.
 * @param z       Written; none of its elements may be one of x or y.
 * @param run     What to run; NULL for the best.
 * @param report  Receives what ran.  May be NULL.
 * @return TSR_OK; on failure z is unspecified, and
 *         TSR_EINVAL       a rule above is broken
 *         TSR_EOVERFLOW    a byte count exceeds size_t or the device's limit
 *         TSR_EUNSUPPORTED the named variant cannot run this here; err says why
 *         TSR_EBUILD, TSR_ECL, TSR_ENOMEM
 */
TSR_API tsr_status tsr_axpy(tsr_session *session, const tsr_axpy_problem *problem, const void *x,
                            const void *y, void *z, const tsr_run *run, tsr_report *report,
                            tsr_error *err);

/**
 * The same on buffers of the session's context, enqueued; run->wait, run->done.
 *
 * @param x  Read.
 * @param y  Read; NULL in place.
 * @param z  Written.
 */
TSR_API tsr_status tsr_axpy_enqueue(tsr_session *session, const tsr_axpy_problem *problem, cl_mem x,
                                    cl_mem y, cl_mem z, const tsr_run *run, tsr_report *report,
                                    tsr_error *err);

#ifdef __cplusplus
}
#endif
#endif
