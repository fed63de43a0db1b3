/**
 * Rates of this machine, which `tessera tune blas` measures, and what they say of a call.
 *
 * They are in the file blas-rates of the tuning folder, for one device and one BLAS of the CPU:
 * lines of text, of which host/cli/tune_blas.c is the writer.
 */
#ifndef BLAS_RATES_H
#define BLAS_RATES_H

#include <stdbool.h>
#include <stdint.h>

/** Small products are slower for their work than large ones: square ones of four sides are timed.
 */
enum { RATES_SIDES = 4, RATES_THIN = 2 };

/** Of one type of real numbers, in seconds, and bytes and operations a second. */
typedef struct blas_rates {
    double latency;               /* of a product on the device that is next to nothing */
    double in, out;               /* copies to the device, and back */
    double device[RATES_SIDES];   /* its products of sides 64, 256, 704 and 2048 */
    double cpu[RATES_SIDES];      /* those of the CPU's BLAS */
    double cpu_bytes[RATES_THIN]; /* of the CPU's of 256x256x8 and 2048x2048x8, which are thin:
                                     bytes of the matrices, in its caches and beyond them */
    double cpu_symmetric;         /* latency of its symm, for which some BLAS wake their threads
                                     whatever the size */
} blas_rates;

/** Read the file, once.  Rates of another BLAS of the CPU, or of another number of its threads, are
 * none. */
void rates_read(void);

/** The rates of float64 or float32; NULL where there are none. */
const blas_rates *rates_of(bool f64);

/** Whether they are those of this device; where they are not, they are none from now on. */
bool rates_are_of(const char *device, const char *platform);

/** Whether rates_are_of() was asked. */
bool rates_are_checked(void);

/** Whether libtessera copies and multiplies at the same time, where A, B and C have so many bytes
 * of host memory. */
bool rates_are_streamed(double bytes);

/** Seconds of a product on the device, which is called with matrices in host memory; of A and B so
 *  many bytes are on the device already. */
double rates_device_product(const blas_rates *rates, bool f64, double m, double n, double k,
                            bool reads_c, double kept);

/** Seconds in the CPU's BLAS, of so many operations and bytes. */
double rates_cpu(const blas_rates *rates, bool f64, double operations, double bytes);

/** Seconds of a copy in host memory. */
double rates_copy(double bytes);

#endif
