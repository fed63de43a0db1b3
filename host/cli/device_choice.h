/** The devices that a command runs on, and a session on one of them. */
#ifndef CLI_DEVICE_CHOICE_H
#define CLI_DEVICE_CHOICE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/options.h"
#include "measure/roofline.h"
#include "tessera/device.h"
#include "tessera/session.h"

typedef struct choice {
    tsr_devices *list;
    const tsr_device **device; /* count of them, borrowed from the list */
    size_t count;
} choice;

/** What --device, else TESSERA_DEVICE, asks for; NULL where neither is given. */
const char *choice_wanted(const options *o);

/**
 * Find the devices that choice_wanted names, the default one where it is NULL.
 *
 * "all" is every OpenCL device and then `host`.  What --kernel-file names is checked first.
 *
 * @param out  Receives the devices, to be freed with choice_close, also on failure.
 * @return as tsr_devices_select.
 */
tsr_status choice_find(const options *o, choice *out, tsr_error *err);

/**
 * Every device, `host` included, whatever is asked for.
 *
 * @return TSR_OK; TSR_ENODEVICE where `host` is the only one, which out then holds; TSR_ENOMEM.
 */
tsr_status choice_all(choice *out, tsr_error *err);

/** As choice_find, for a command that runs on one device; TSR_ENAME where "all" is asked for. */
tsr_status choice_find_one(const options *o, choice *out, tsr_error *err);

void choice_close(choice *c);

/** --kernel-file without its folder; NULL where it is not given. */
const char *kernel_file_name(const options *o);

/** Open a session that records device times, with the kernel folder of the options. */
tsr_status choice_open(const tsr_device *device, const options *o, tsr_session **out,
                       tsr_error *err);

/**
 * The limits of a session's device: kept ones, else measured now, each for `seconds` of sampling as
 * roofline_measure has it.  One that a kernel reached with a wrong result counts as unknown, as one
 * that cannot be measured, and a warning says so.
 */
tsr_status choice_limits(tsr_session *s, double seconds, limits *out, tsr_error *err);

enum { DEVICE_ID_SIZE = 32 };

/** PLATFORM:DEVICE as two numbers, or "host". */
void device_id_text(const tsr_device *device, char id[DEVICE_ID_SIZE]);

/** {"id", "name", "platform", "driver"} */
json_t *device_identity(const tsr_device *device);

#endif
