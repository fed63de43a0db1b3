/** Counting the strict tiles of one call that is waited for: see variant.tiles. */
#ifndef OPS_STRICT_TILES_H
#define OPS_STRICT_TILES_H

#include "ops/dispatch.h"

/**
 * Have a selection count into a buffer of its own, where there are tiles to count.  Ends with
 * strict_tiles_close, before which every call that counts there is finished.
 */
tsr_status strict_tiles_open(tsr_session *s, const problem *p, selection *sel, tsr_error *err);

/** The count so far, 0 where there are no tiles.  Blocks. */
tsr_status strict_tiles_read(tsr_session *s, const selection *sel, size_t *out, tsr_error *err);

/** Count no more. */
void strict_tiles_close(selection *sel);

#endif
