/** The routines of level 3, made of products of blocks on the device. */
#ifndef BLAS_BLOCKED_H
#define BLAS_BLOCKED_H

#include <stdbool.h>
#include <stddef.h>

#include "blas/level3.h"

/** Read TESSERA_BLAS_BLOCK, once, before the other functions are called. */
void blocked_set_up(void);

/**
 * Do a call, of column-major matrices and legal, on the device that was taken.
 *
 * @return False: it failed, C is as it was, and call->reason says why.
 */
bool blocked_run(blas_call *call);

/** Why a call is left to the CPU's BLAS whatever the device is; NULL where it is not. */
const char *blocked_reason_against(const blas_call *call);

/** Bytes of C, from its first element to its last, of a call of column-major matrices. */
size_t blocked_c_bytes(const blas_call *call);

/** Bytes of A and B that the products of a call would read from what is kept on the device, and so
 *  not copy. */
double blocked_kept(const blas_call *call);

#endif
