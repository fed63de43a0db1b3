/**
 * The one table of device properties: what `tessera devices` prints, as text
 * and as JSON.
 */
#ifndef DEVICE_PROPERTIES_H
#define DEVICE_PROPERTIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/device.h"

typedef enum property_kind { PROPERTY_TEXT, PROPERTY_NUMBER, PROPERTY_BOOL } property_kind;

typedef struct property {
    const char *key;   /* in JSON: "local_memory_bytes" */
    const char *label; /* for people: "local memory" */
    property_kind kind;
} property;

/** A value; `shown` is how people read it: "48 KiB", "1980 MHz". */
typedef struct property_value {
    uint64_t number; /* PROPERTY_NUMBER; 0 or 1 for PROPERTY_BOOL */
    text shown;      /* free with text_free */
} property_value;

/** Property i, or NULL beyond the last. */
const property *property_at(size_t i);

/** Read property i of a device.  False where the device does not have it; out is then empty. */
bool property_read(size_t i, const tsr_device *device, property_value *out);

#endif
