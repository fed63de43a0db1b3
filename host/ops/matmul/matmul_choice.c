/* Which variants take a float32 product on an NVIDIA GPU: those whose model of its time says least.
 *
 * Every family has a model beside its plan, of what a call takes on the device's own clock:
 * matmul_variants.h.  Their constants are fitted to one set of measured rows, so that they may be
 * compared. */
#include <math.h>

#include "base/sizes.h"
#include "ops/matmul/matmul_plan.h"
#include "ops/matmul/matmul_variants.h"

/* Variants, and whether they multiply thrice in TF32, as f32 may and other precisions may not. */
typedef struct family {
    const char *name;
    double (*time)(const problem *q, const device_facts *d);
    bool thrice;
} family;

static const family families[] = {
    {"skinny-columns", matmul_skinny_columns_time, false},
    {"skinny-dots", matmul_skinny_dots_time, false},
    {"outer", matmul_outer_time, false},
    {"pipelined", matmul_pipelined_time, false},
    {"cp-async", matmul_cp_async_time, false},
    {"stream-k", matmul_stream_time, false},
    {"mma-3xtf32", matmul_mma_3xtf32_time, true},
};

size_t matmul_by_time(const problem *q, const device_facts *d, const char *out[PREFERENCES_MAX])
{
    const bool rounds = !real_is_plain(TSR_F32, matmul_of(q)->precision);
    double times[ARRAY_COUNT(families)] = {0};
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_COUNT(families); i++) {
        const double ns = families[i].thrice && rounds ? INFINITY : families[i].time(q, d);
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
