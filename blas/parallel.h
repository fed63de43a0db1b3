/** Copies of large matrices by several threads, which one alone would take longer for than the
 * device for its product. */
#ifndef BLAS_PARALLEL_H
#define BLAS_PARALLEL_H

#include <stdint.h>

/**
 * Do parts of 0 to count - 1, each once, in any order, on up to eight threads; on the caller's
 * alone where they have too few bytes for several, or there are no threads to be had.
 *
 * @param bytes  That all parts together read and write.
 * @param step   Parts begin at its multiples.
 * @param work   Does first to last - 1.
 */
void parallel_do(int64_t count, int64_t step, double bytes,
                 void (*work)(void *context, int64_t first, int64_t last), void *context);

/** How many threads there are at most. */
int parallel_threads(void);

#endif
