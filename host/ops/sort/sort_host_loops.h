/** Sorting words by vectors, compiled for each instruction set (base/isa.h). */
#ifndef OPS_SORT_HOST_LOOPS_H
#define OPS_SORT_HOST_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Sort n words, which are in `from`, into `to`; both change.  Words that are equal are the same, so
 * that it does not matter which is which.
 *
 * @return false, with nothing done, where the instruction set cannot compress a vector: digits are
 *         faster then.
 */
typedef bool sort_quick_32(uint32_t *from, uint32_t *to, size_t n);
typedef bool sort_quick_64(uint64_t *from, uint64_t *to, size_t n);

sort_quick_32 sort_quick_32_0, sort_quick_32_1, sort_quick_32_2;
sort_quick_64 sort_quick_64_0, sort_quick_64_1, sort_quick_64_2;

#endif
