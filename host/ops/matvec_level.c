/**
 * The plain product on one contiguous array.  This file is compiled several
 * times: without MATVEC_LEVEL under the library's own flags, and with
 * MATVEC_LEVEL 0, 1, 2 and 3 under -O0 to -O3, so that the effect of the
 * compiler's optimisation shows on the same source.
 */
#include "ops/matvec_host.h"

#define REAL        float
#define NAMED(name) name##_f32
#include "ops/matvec_level_body.h"
#undef REAL
#undef NAMED

#define REAL        double
#define NAMED(name) name##_f64
#include "ops/matvec_level_body.h"
#undef REAL
#undef NAMED

#ifndef MATVEC_LEVEL
#define CONTIGUOUS matvec_contiguous
#else
#define JOIN(name, level)          name##level
#define JOIN_EXPANDED(name, level) JOIN(name, level)
#define CONTIGUOUS                 JOIN_EXPANDED(matvec_contiguous_O, MATVEC_LEVEL)
#endif

tsr_status CONTIGUOUS(const problem *p, void *const operands[], tsr_error *err)
{
    const tsr_matvec_problem *m = &p->matvec;
    const matvec_view v = matvec_view_of(m);
    const bool read = v.columns != 0; /* else A and x may be NULL */

    (void)err;
    if (v.rows == 0)
        return TSR_OK;
    if (m->type == TSR_F64)
        contiguous_f64(&v, read ? (const double *)operands[0] + m->offset_a : NULL,
                       read ? (const double *)operands[1] + m->offset_x : NULL,
                       (double *)operands[2] + m->offset_y);
    else
        contiguous_f32(&v, read ? (const float *)operands[0] + m->offset_a : NULL,
                       read ? (const float *)operands[1] + m->offset_x : NULL,
                       (float *)operands[2] + m->offset_y);
    return TSR_OK;
}
