/* Which variants take a float32 product on an NVIDIA GPU: those whose model of its time says least.
 *
 * Every family has a model beside its plan, of what a call takes on the device's own clock:
 * matmul_variants.h.  Their constants are fitted to one set of measured rows, so that they may be
 * compared. */
#include <math.h>

#include "base/sizes.h"
#include "ops/matmul/matmul_plan.h"
#include "ops/matmul/matmul_variants.h"

/* The candidates and their models.  How they multiply: once in FP32; thrice in TF32, by a warp's
 * instructions; or thrice by a warp group's, which add up more products before FP32 does and so are
 * less exact. */
typedef struct family {
    const char *name;
    double (*time)(const problem *q, const device_facts *d);
    enum { ONCE, THRICE, THRICE_IN_GROUPS } how;
} family;

static const family families[] = {
    {"skinny-columns", matmul_skinny_columns_time, ONCE},
    {"skinny-dots", matmul_skinny_dots_time, ONCE},
    {"outer", matmul_outer_time, ONCE},
    {"pipelined", matmul_pipelined_time, ONCE},
    {"cp-async", matmul_cp_async_time, ONCE},
    {"stream-k", matmul_stream_time, ONCE},
    {"mma-3xtf32", matmul_mma_3xtf32_time, THRICE},
    {"wgmma-3xtf32-fused", matmul_wgmma_3xtf32_fused_time, THRICE_IN_GROUPS},
    {"wgmma-3xtf32", matmul_wgmma_3xtf32_time, THRICE_IN_GROUPS},
};

bool matmul_group_is_exact(const tsr_matmul_problem *p)
{
    const double outputs = (double)p->m * (double)p->n;

    return outputs >= 0x1p20 || (matmul_batch(p) == 1 && p->k >= 1000 && outputs >= 0x1p17 &&
                                 outputs * (double)p->k >= 0x1.8p28);
}

/* Whether the precision, k and C allow that. */
static bool is_exact_enough(const family *f, const tsr_matmul_problem *p)
{
    return f->how == ONCE || (p->k >= MATMUL_THRICE_K_MIN && real_is_plain(TSR_F32, p->precision) &&
                              (f->how == THRICE || matmul_group_is_exact(p)));
}

size_t matmul_by_time(const problem *q, const device_facts *d, const char *out[PREFERENCES_MAX])
{
    double times[ARRAY_COUNT(families)] = {0};
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_COUNT(families); i++) {
        const double ns =
            is_exact_enough(&families[i], matmul_of(q)) ? families[i].time(q, d) : INFINITY;
        size_t at = count;

        if (isinf(ns))
            continue;
        for (; at && times[at - 1] > ns; at--) {
            times[at] = times[at - 1];
            out[at] = out[at - 1];
        }
        times[at] = ns;
        out[at] = families[i].name;
        count++;
    }
    return count;
}
