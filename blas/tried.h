/**
 * Calls near break-even: those of one shape that come again go where they took less time.
 *
 * The times of `tessera tune blas` are of other shapes, and of a machine that does nothing else.
 * What they say of a call is off by up to a factor of 2 in either place, since kernels, and those
 * of the CPU's BLAS, change with the sizes by steps.
 */
#ifndef BLAS_TRIED_H
#define BLAS_TRIED_H

#include <stdbool.h>
#include <stdint.h>

#include "blas/level3.h"
#include "blas/rates.h"

/**
 * Whether the next call of a shape is to run on the device: where calls of it were faster, or are
 * expected to be; now and then in the other place, to learn what they take there.
 *
 * @param call      Its `tried` is set where the caller is to end with tried_done() or
 *                  tried_failed().
 * @param expected  By the times of `tessera tune blas`; receives what is known since.
 */
bool tried_prefer_device(blas_call *call, rates_times *expected);

/** A call whose `tried` is set took so long. */
void tried_done(const blas_call *call, bool on_device, uint64_t ns);

/** The device was to do a call whose `tried` is set, and did not; in place of tried_done(). */
void tried_failed(const blas_call *call);

/** In a child after fork(). */
void tried_after_fork(void);

#endif
