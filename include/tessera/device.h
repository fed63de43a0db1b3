/**
 * The OpenCL devices of this machine, and the device `host`, which runs the
 * C variants and needs no OpenCL.
 */
#ifndef TESSERA_DEVICE_H
#define TESSERA_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "tessera/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_devices tsr_devices; /* a list, with what failed on the way */
typedef struct tsr_device tsr_device;   /* one device, borrowed from its list */

/**
 * List every device of every platform, in the loader's order, then `host`.
 *
 * A platform or device that fails is recorded (tsr_devices_failure) and does
 * not hide the others.  Finding no OpenCL device is no error: the list then
 * holds `host` alone.  Any thread may call it: threads that do so at once wait
 * for each other.
 *
 * @param out  Receives the list; the caller frees it with tsr_devices_close.
 * @return TSR_OK, or TSR_ENOMEM; TSR_EINVAL where out is NULL.
 */
TSR_API tsr_status tsr_devices_find(tsr_devices **out, tsr_error *err);

/**
 * List `host` alone, without loading an OpenCL driver: one that hangs, crashes
 * or ends the process does no harm.  Otherwise as tsr_devices_find.
 *
 * @param out  Receives the list, likewise.
 */
TSR_API tsr_status tsr_devices_find_host(tsr_devices **out, tsr_error *err);

/** Free a list and its devices.  NULL is allowed.  Sessions on its devices must be closed before.
 */
TSR_API void tsr_devices_close(tsr_devices *list);

/** Number of devices, `host` included; 0 of NULL. */
TSR_API size_t tsr_devices_count(const tsr_devices *list);

/**
 * One device of a list; `host` is the last.
 *
 * @param i  Its number, below tsr_devices_count(list).
 */
TSR_API const tsr_device *tsr_devices_get(const tsr_devices *list, size_t i);

/**
 * What failed while the list was made: one line, or NULL beyond the last.
 *
 * @param i  Its number, from 0 on.
 */
TSR_API const char *tsr_devices_failure(const tsr_devices *list, size_t i);

/**
 * Pick devices by name.
 *
 * @param which  "all" (every OpenCL device), "cpu", "gpu", "accelerator",
 *               "host", PLATFORM:DEVICE as two numbers, or any part of the
 *               name of a platform, vendor or device, or of the version of a
 *               platform or driver, case-insensitive.
 *               NULL: the environment variable TESSERA_DEVICE, else the first
 *               GPU, else accelerator, else CPU.
 * @param out    Receives up to max devices, borrowed from the list.
 * @param max    How many `out` has room for.
 * @param count  Receives how many were written, 1 to max.
 * @return TSR_OK; TSR_EINVAL where max is 0 or a pointer but `which` is NULL;
 *         TSR_ENODEVICE where no OpenCL device is usable at all, or none is of
 *         the type that "cpu", "gpu" or "accelerator" asks for, each of which
 *         names the first of its type;
 *         TSR_EUNSUPPORTED where the list is of a child of a process that used
 *         OpenCL, and so has `host` alone;
 *         TSR_ENAME where another name is of none, or (unless it is "all") of
 *         several.  The message lists what there is.
 */
TSR_API tsr_status tsr_devices_select(const tsr_devices *list, const char *which,
                                      const tsr_device **out, size_t max, size_t *count,
                                      tsr_error *err);

/* What follows is what a program asks of a device before it uses it.  NULL is allowed and has no
 * name, no kind, no units and no memory. */

typedef enum tsr_kind {
    TSR_KIND_NONE = 0, /* of NULL */
    TSR_KIND_HOST,     /* the device `host` */
    TSR_KIND_CPU,
    TSR_KIND_GPU,
    TSR_KIND_ACCELERATOR /* and what is none of the others */
} tsr_kind;

/** Device name as its driver gives it; "host" for the host. */
TSR_API const char *tsr_device_name(const tsr_device *device);

/** Name of the device's platform; "host" for the host. */
TSR_API const char *tsr_device_platform(const tsr_device *device);

/** Nonzero for the device `host`. */
TSR_API int tsr_device_is_host(const tsr_device *device);

/** Kind of a device, by the type that its driver reports. */
TSR_API tsr_kind tsr_device_kind(const tsr_device *device);

/** Compute units: cores of a CPU and of the host, multiprocessors of a GPU. */
TSR_API size_t tsr_device_compute_units(const tsr_device *device);

/** Bytes of global memory, as the driver reports it; of the host, its physical memory, or 0 where
 *  that is unknown. */
TSR_API uint64_t tsr_device_global_memory(const tsr_device *device);

/** Nonzero where device and host share physical memory: calls on host memory then need no copies.
 */
TSR_API int tsr_device_unified_memory(const tsr_device *device);

#ifdef __cplusplus
}
#endif
#endif
