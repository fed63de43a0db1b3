/**
 * The plain product on one contiguous array.  This file is compiled several
 * times: without MATVEC_LEVEL under the library's own flags, and with
 * MATVEC_LEVEL 0, 1, 2 and 3 under -O0 to -O3, so that the effect of the
 * compiler's optimisation shows on the same source.
 */
#include "ops/matvec/matvec_host.h"

#if defined MATVEC_LEVEL && MATVEC_LEVEL == 0
#define FIRST_LOOPS
#include <stdlib.h>

/* So many rows further on, about 0.62 of all, and every row comes once: neighbours in time lie far
 * apart in memory, as rows do that were allocated one by one. */
static size_t far_step(size_t rows)
{
    size_t step = (size_t)(0.618 * (double)rows);

    for (;; step++) {
        size_t a = rows, b = step % rows;

        while (b) {
            const size_t rest = a % b;

            a = b;
            b = rest;
        }
        if (a == 1)
            return step;
    }
}
#endif

#define REAL        float
#define NAMED(name) name##_f32
#include "ops/matvec/matvec_level_body.h"
#ifdef FIRST_LOOPS
#include "ops/matvec/matvec_first_body.h"
#endif
#undef REAL
#undef NAMED

#define REAL        double
#define NAMED(name) name##_f64
#include "ops/matvec/matvec_level_body.h"
#ifdef FIRST_LOOPS
#include "ops/matvec/matvec_first_body.h"
#endif
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

#ifdef FIRST_LOOPS
tsr_status matvec_run_pointers_O0(const problem *p, void *const operands[], tsr_error *err)
{
    static const matvec_loops loops = {pointers_in_order_f32, pointers_in_order_f64};

    return matvec_host_run(p, operands, &loops, err);
}

tsr_status matvec_run_scattered_O0(const problem *p, void *const operands[], tsr_error *err)
{
    static const matvec_loops loops = {scattered_f32, scattered_f64};

    return matvec_host_run(p, operands, &loops, err);
}

tsr_status matvec_run_unroll_2_O0(const problem *p, void *const operands[], tsr_error *err)
{
    static const matvec_loops loops = {unrolled_2_f32, unrolled_2_f64};

    return matvec_host_run(p, operands, &loops, err);
}

tsr_status matvec_run_unroll_4_O0(const problem *p, void *const operands[], tsr_error *err)
{
    static const matvec_loops loops = {unrolled_4_f32, unrolled_4_f64};

    return matvec_host_run(p, operands, &loops, err);
}
#endif
