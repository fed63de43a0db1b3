/** Sorting words by vectors, compiled for each instruction set (base/isa.h). */
#ifndef OPS_SORT_HOST_LOOPS_H
#define OPS_SORT_HOST_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ops/sort/sort_host_words.h"

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

/**
 * Put the words that are less than one from about the middle of their order to the front of `to`,
 * and the others behind them.  Returns how many are less; 0 also where sort_quick is not available.
 */
typedef size_t sort_split_32(const uint32_t *from, uint32_t *to, size_t n);
typedef size_t sort_split_64(const uint64_t *from, uint64_t *to, size_t n);

sort_split_32 sort_split_32_0, sort_split_32_1, sort_split_32_2;
sort_split_64 sort_split_64_0, sort_split_64_1, sort_split_64_2;

/**
 * Append keys `first` to first + n - 1 to out[], with their positions: all of them, or those whose
 * word is less than `limit`.  Returns how many; out[] has room for n.
 */
typedef size_t sort_take(const sort_map *m, const void *keys, size_t first, size_t n, bool all,
                         uint64_t limit, word_pair *out);

sort_take sort_take_8_0, sort_take_8_1, sort_take_8_2;
sort_take sort_take_16_0, sort_take_16_1, sort_take_16_2;
sort_take sort_take_32_0, sort_take_32_1, sort_take_32_2;
sort_take sort_take_64_0, sort_take_64_1, sort_take_64_2;

#endif
