/**
 * The plain product on one contiguous array.  This file is compiled several
 * times: without MATVEC_LEVEL under the library's own flags, and with
 * MATVEC_LEVEL 0, 1, 2 and 3 under -O0 to -O3, so that the effect of the
 * compiler's optimisation shows on the same source.
 */
#include "ops/matvec/matvec_host.h"

#define REAL        float
#define NAMED(name) name##_f32
#include "ops/matvec/matvec_level_body.h"
#undef REAL
#undef NAMED

#define REAL        double
#define NAMED(name) name##_f64
#include "ops/matvec/matvec_level_body.h"
#undef REAL
#undef NAMED

#ifndef MATVEC_LEVEL
#define CONTIGUOUS matvec_run_contiguous
#else
#define JOIN(name, level)          name##level
#define JOIN_EXPANDED(name, level) JOIN(name, level)
#define CONTIGUOUS                 JOIN_EXPANDED(matvec_run_contiguous_O, MATVEC_LEVEL)
#endif

tsr_status CONTIGUOUS(const problem *p, void *const operands[], tsr_error *err)
{
    static const matvec_loops loops = {contiguous_f32, contiguous_f64};

    return matvec_host_run(p, operands, &loops, err);
}
