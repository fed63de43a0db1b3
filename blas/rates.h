/**
 * What the measured times of this machine (blas/rates_file.h) say of a call.
 */
#ifndef BLAS_RATES_H
#define BLAS_RATES_H

#include <stdbool.h>
#include <stdint.h>

#include "blas/level3.h"
#include "blas/rates_file.h"

/** Read the file, once.  Times of another BLAS of the CPU, or of another number of its threads, are
 * none. */
void rates_read(void);

/** Whether there are times of a type: 's', 'd', 'c' or 'z'. */
bool rates_have(char type);

/** Whether they are those of this device; where they are not, they are none from now on. */
bool rates_are_of(const char *device, const char *platform);

/** Whether rates_are_of() was asked. */
bool rates_are_checked(void);

/** Whether libtessera copies and multiplies at the same time, where A, B and C have so many bytes
 * of host memory. */
bool rates_are_streamed(double bytes);

/** What a call of column-major matrices is expected to take: binary logarithms of seconds. */
typedef struct rates_times {
    float cpu, device;
} rates_times;

/**
 * What a call is expected to take with matrices in host memory.
 *
 * @param kept     Of what its products read, so many bytes are on the device already.
 * @param reads_c  Bytes of C, where it is read and the times are of calls that do not; else 0.
 */
rates_times rates_expect(const blas_call *call, double kept, double reads_c);

/** Whether a call that is expected to take so long is faster on the device. */
bool rates_prefer_device(const rates_times *expected);

double rates_seconds(float log2_seconds);

#endif
