/** The lesser or larger of two floats, or NaN, by one instruction: cl/common/nan_extremes.clh. */
#ifndef CORE_EXTREMES_H
#define CORE_EXTREMES_H

#include "core/plan.h"
#include "device/facts.h"

/** -DNAN_EXTREMES=1 where the device has it, for a variant that has FEATURE_PTX among what it needs
 *  or uses. */
static inline void extremes_define(const device_facts *d, plan *out)
{
    if (d->feature[FEATURE_PTX] == FEATURE_YES && d->nv_capability >= 80)
        plan_define(out, "NAN_EXTREMES=1");
}

#endif
