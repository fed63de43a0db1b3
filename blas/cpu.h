/**
 * The CPU's BLAS, to which everything goes that the device does not take.
 *
 * It is opened at the first call: the library that TESSERA_BLAS_CPU names, else the system's.  It
 * is opened by path, since programs such as Python load theirs where RTLD_NEXT does not look, and
 * without RTLD_DEEPBIND, so that it still calls the program's own xerbla_.
 */
#ifndef BLAS_CPU_H
#define BLAS_CPU_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef void (*blas_function)(void);
typedef _Atomic(blas_function) blas_target;

/**
 * Look a function up, and keep it in *target.  The process ends with a message where there is no
 * BLAS, or none that has it: nothing could take its place.
 *
 * @param name     As this library exports it: "dgemm_", "cblas_dgemm64_".
 * @param integer  Bytes of an integer: 4 or 8, for which there are different libraries.
 */
void blas_cpu_resolve(blas_target *target, const char *name, size_t integer);

/** Whether a library's integers have 64 bits, where `wide`, or else 32. */
bool blas_cpu_has_integers(void *handle, bool wide);

/** A function of the library whose integers have 4 bytes; NULL where it has none of the name. */
void *blas_cpu_symbol(const char *name);

/**
 * The library whose integers have 4 bytes, as the log and measured rates name it: its path, the
 * processors that it may use, and the variables of the environment that say how many threads it
 * starts; "none".
 */
const char *blas_cpu_description(void);

#endif
