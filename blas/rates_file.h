/**
 * The file blas-rates of the tuning folder: times of this machine, which `tessera tune blas`
 * (host/cli/tune_blas.c) writes, for one device and one BLAS of the CPU.
 *
 * The library decides by it (blas/rates.h), and `tessera blas` warns where it is not used.
 */
#ifndef BLAS_RATES_FILE_H
#define BLAS_RATES_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Sides that were timed, of each routine in all combinations of its sizes: three of gemm, which is
 * the first, and two of the others. */
enum { RATES_SIDES = 6, RATES_TIMES_MAX = RATES_SIDES * RATES_SIDES * RATES_SIDES };

/** Types s, d, c and z; routines, of which those but gemm have two forms each. */
enum { RATES_TYPES = 4, RATES_ROUTINES = 11 };

/** The place of a type, which is one of them, among the tables. */
size_t rates_index(char type);

/** Binary logarithms of seconds: by the first size, then the second, then the third. */
typedef struct rates_table {
    bool there;
    float times[RATES_TIMES_MAX];
} rates_table;

typedef struct rates_file {
    char path[PATH_MAX];
    char device[256];
    char platform[256];
    double copies_in;                                   /* bytes a second, to the device */
    float places[RATES_SIDES];                          /* rates_place() of the sides */
    rates_table tables[RATES_TYPES][RATES_ROUTINES][2]; /* on the CPU, and on the device */
} rates_file;

enum { RATES_REASON_SIZE = PATH_MAX + 1024 };

/**
 * Read it.
 *
 * @param reason  Receives why its times are not used: it is damaged, or of another BLAS of the CPU,
 *                or another number of processors; "" where they are.
 * @return False where there is none.
 */
bool rates_file_read(rates_file *out, char reason[RATES_REASON_SIZE]);

/** Whether the times are those of this device; else `reason` says of which they are. */
bool rates_file_is_of(const rates_file *file, const char *device, const char *platform,
                      char reason[RATES_REASON_SIZE]);

/**
 * About the binary logarithm: those of powers of 2 are exact, and what lies between is a line.  The
 * library does without libm, which few of the programs would have loaded otherwise.
 */
float rates_log2(double x);

/** rates_log2() of a size. */
static inline float rates_place(int64_t size)
{
    const int exponent = 63 - __builtin_clzll((unsigned long long)(size > 0 ? size : 1));

    return (float)exponent + (float)size / (float)((int64_t)1 << exponent) - 1;
}

#endif
