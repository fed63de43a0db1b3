/** A device as the library holds it. */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>

#include "base/text.h"
#include "device/facts.h"
#include "tessera/device.h"

struct tsr_device {
    unsigned platform_index; /* as in PLATFORM:DEVICE */
    unsigned device_index;
    cl_platform_id platform; /* NULL on the host */
    cl_device_id id;         /* NULL on the host */
    device_facts facts;      /* probed features are FEATURE_UNKNOWN */
};

/** Read a device's facts.  TSR_ECL names the query that failed. */
tsr_status device_read(cl_platform_id platform, cl_device_id id, tsr_device *out, tsr_error *err);

/** What a feature is, for people: "arithmetic on half". */
const char *feature_meaning(feature f);

/** The device `host`. */
void device_read_host(tsr_device *out);

#endif
