/* A session on the CPU's OpenCL device, which stands in for a GPU and has no cache. */
#ifndef UNIT_STAND_IN_GPU_H
#define UNIT_STAND_IN_GPU_H

#include <stdlib.h>

#include "cpu_session.h"
#include "device/device.h"
#include "session/state.h"

static inline void stand_in_gpu_open(cpu_session *c)
{
    const tsr_session_options options = {.no_cache = true};
    tsr_device gpu;
    tsr_error err = {0};

    cpu_session_open(c, NULL);
    tsr_session_close(c->session);
    gpu = *c->device;
    gpu.facts.kind = DEVICE_GPU;
    gpu.facts.compiles_late = false;
    gpu.facts.unified_memory = false;
    if (tsr_session_open(&gpu, &options, &c->session, &err))
        fail_msg("%s", err.message);
}

/** Whether nothing was compiled to find out what holds between work-groups. */
static inline bool stand_in_gpu_is_unprobed(const cpu_session *c)
{
    return c->session->device.facts.feature[FEATURE_DEVICE_SCOPE] == FEATURE_UNKNOWN;
}

#endif
