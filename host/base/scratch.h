/**
 * Memory that a call of C code works in, kept by its thread for the next one.
 *
 * malloc() gives large blocks back to the system, which then clears every page again: for brief
 * calls that takes longer than their work.
 */
#ifndef BASE_SCRATCH_H
#define BASE_SCRATCH_H

#include <stddef.h>

/** Most bytes that a thread keeps for itself. */
enum { SCRATCH_KEPT_MAX = 32 << 20 };

/** Most bytes that it keeps in all: the system may take the pages of more than SCRATCH_KEPT_MAX
 *  while they are not in use. */
enum { SCRATCH_LENT_MAX = 256 << 20 };

/** At least so many bytes, aligned to 64, with any content; NULL where there is no memory. */
void *scratch_take(size_t bytes);

/** What scratch_take gave this thread is done with.  NULL is allowed. */
void scratch_give(void *memory);

#endif
