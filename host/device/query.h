/** clGetDeviceInfo without ceremony, and the queries that extensions add. */
#ifndef DEVICE_QUERY_H
#define DEVICE_QUERY_H

#include <stdbool.h>
#include <stddef.h>

#include "device/device.h"

/* cl_nv_device_attribute_query and cl_amd_device_attribute_query, from the Khronos registry. */
enum {
    QUERY_COMPUTE_CAPABILITY_MAJOR_NV = 0x4000,
    QUERY_COMPUTE_CAPABILITY_MINOR_NV = 0x4001,
    QUERY_WARP_SIZE_NV = 0x4003,
    QUERY_WAVEFRONT_WIDTH_AMD = 0x4043
};

/** Read a value of exactly `bytes` bytes; false (and *out untouched) where the device has it not.
 */
bool query(cl_device_id id, cl_device_info what, void *out, size_t bytes);

/** Read a string, cut to fit, without spaces around it; "" where the device has none. */
void query_string(cl_device_id id, cl_device_info what, char *out, size_t size);

/** Whether the device lists an extension. */
bool query_has_extension(cl_device_id id, const char *name);

#endif
