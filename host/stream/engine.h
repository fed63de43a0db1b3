/** Runs the pieces of a partition: copies in, commands and copies out go on side by side. */
#ifndef STREAM_ENGINE_H
#define STREAM_ENGINE_H

#include "stream/partition.h"

/**
 * Run a call that is cut.
 *
 * Of every operand there are as many slots on the device as the partition says.  For each piece in
 * order: what it reads and its slots do not hold is sent; it is enqueued behind the piece before;
 * and then the results that the pieces before it have left are fetched, while it runs.  A slot is
 * filled again once the work on it and the copies from it are done.  Whether each shape of piece
 * can be run is known before anything is written.
 *
 * Synchronous: TSR_OK when the results are in the host's arrays, else as pieces_enqueue or
 * copies_in, and then what the arrays hold is unspecified; nothing works on them any more either
 * way.  Adds to the report of the call.
 */
tsr_status engine_run(const stream_call *call, const partition *p, tsr_error *err);

#endif
