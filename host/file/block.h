/** Memory for array data: aligned to 64 bytes and never beyond what the machine has. */
#ifndef FILE_BLOCK_H
#define FILE_BLOCK_H

#include <stddef.h>

#include "tessera/status.h"

/** Bytes of physical memory; SIZE_MAX where the system does not say. */
size_t block_memory(void);

/**
 * Allocate bytes > 0, aligned to 64.
 *
 * @param name  What the memory is for, in messages: a file's name.
 * @param out   Receives the memory; the caller frees it with free().
 * @return TSR_OK; TSR_EOVERFLOW beyond physical memory; TSR_ENOMEM.
 */
tsr_status block_allocate(const char *name, size_t bytes, void **out, tsr_error *err);

#endif
