/** Counting the strict tiles of one call that is waited for: see variant.tiles. */
#ifndef CORE_STRICT_TILES_H
#define CORE_STRICT_TILES_H

#include "core/dispatch.h"

/**
 * A buffer with a count of 0 for call_ends.strict_tiles, NULL where there are no tiles to count.
 *
 * @param out Receives it; the caller releases it after the call is finished.
 * @return TSR_OK; TSR_ECL, *out untouched.
 */
tsr_status strict_tiles_open(tsr_session *s, const kept_call *c, cl_mem *out, tsr_error *err);

/** The count so far, 0 where the buffer is NULL.  Blocks.  TSR_OK; TSR_ECL, *out untouched. */
tsr_status strict_tiles_read(tsr_session *s, cl_mem counter, size_t *out, tsr_error *err);

#endif
