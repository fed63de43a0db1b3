/** How much memory of its own a work-item may have. */
#ifndef CORE_PRIVATE_MEMORY_H
#define CORE_PRIVATE_MEMORY_H

#include "base/text.h"
#include "device/facts.h"

/* The stack of a CPU's thread takes it; elsewhere it is memory for each work-item that runs. */
enum { PRIVATE_CPU = 2 << 20, PRIVATE_OTHER = 32 << 10 };

/** NULL, or that so many bytes are more than a work-item should have there. */
static inline const char *private_unsupported(const device_facts *d, size_t bytes, text *reason)
{
    const size_t limit = d->kind == DEVICE_CPU ? PRIVATE_CPU : PRIVATE_OTHER;

    if (bytes <= limit)
        return NULL;
    text_format(reason, "it needs %zu bytes of private memory, and %zu are allowed", bytes, limit);
    return text_get(reason);
}

#endif
