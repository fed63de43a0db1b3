/*
 * A libtessera whose device fails: what libtessera-blas calls of it.  It says that it is a GPU; the
 * product of the number FAILING_PRODUCT, from 1, and all that follow, overwrite C and fail.
 * They fail with an error of OpenCL, or as FAILING_STATUS has it: "build", or "unsupported", and
 * then products of float32 do not fail.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tessera/tessera.h"

tsr_status tsr_devices_find(tsr_devices **out, tsr_error *err)
{
    (void)err;
    *out = NULL;
    return TSR_OK;
}

tsr_status tsr_devices_select(const tsr_devices *list, const char *which, const tsr_device **out,
                              size_t max, size_t *count, tsr_error *err)
{
    (void)list;
    (void)which;
    (void)max;
    (void)err;
    *out = NULL;
    *count = 1;
    return TSR_OK;
}

tsr_kind tsr_device_kind(const tsr_device *device)
{
    (void)device;
    return TSR_KIND_GPU;
}

const char *tsr_device_name(const tsr_device *device)
{
    (void)device;
    return "Failing GPU";
}

const char *tsr_device_platform(const tsr_device *device)
{
    (void)device;
    return "Test";
}

int tsr_device_unified_memory(const tsr_device *device)
{
    (void)device;
    return 0;
}

const char *tsr_precision_name(tsr_precision precision)
{
    static const char *const names[] = {"default", "f32", "f32-strict", "tf32", "bf16", "f16"};

    return names[precision];
}

tsr_status tsr_session_open(const tsr_device *device, const tsr_session_options *options,
                            tsr_session **out, tsr_error *err)
{
    static int session;

    (void)device;
    (void)options;
    (void)err;
    *out = (tsr_session *)(void *)&session;
    return TSR_OK;
}

static double get(tsr_type type, const void *array, size_t i)
{
    return type == TSR_F64 ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

static void set(tsr_type type, void *array, size_t i, double value)
{
    if (type == TSR_F64)
        ((double *)array)[i] = value;
    else
        ((float *)array)[i] = (float)value;
}

tsr_status tsr_matmul(tsr_session *session, const tsr_matmul_problem *p, const void *a,
                      const void *b, void *c, const tsr_run *run, tsr_report *report,
                      tsr_error *err)
{
    static int products;
    const char *failing = getenv("FAILING_PRODUCT");
    const char *wish = getenv("FAILING_STATUS");
    const tsr_status status = !wish                        ? TSR_ECL
                              : strcmp(wish, "build") == 0 ? TSR_EBUILD
                                                           : TSR_EUNSUPPORTED;
    const int fails = failing && ++products >= atoi(failing) &&
                      (status != TSR_EUNSUPPORTED || p->type == TSR_F64);

    (void)session;
    (void)run;
    *report = (tsr_report){.to_device_bytes = 100, .from_device_bytes = 10};
    for (size_t j = 0; j < p->n; j++) {
        for (size_t i = 0; i < p->m; i++) {
            const size_t at = i + j * p->ldc;
            double sum = 0;

            for (size_t l = 0; l < p->k; l++) {
                sum += get(p->type, a, p->trans_a ? l + i * p->lda : i + l * p->lda) *
                       get(p->type, b, p->trans_b ? j + l * p->ldb : l + j * p->ldb);
            }
            sum = p->alpha * sum + (p->beta != 0 ? p->beta * get(p->type, c, at) : 0);
            set(p->type, c, at, fails ? NAN : sum);
        }
    }
    if (!fails)
        return TSR_OK;
    err->status = status;
    err->cl = status == TSR_ECL ? -9999 : 0;
    snprintf(err->message, sizeof err->message, "the device failed on purpose in product %d",
             products);
    return status;
}
