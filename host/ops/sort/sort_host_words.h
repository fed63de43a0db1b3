/**
 * Sorting on the host's cores: keys become words, which are unsigned integers that ascend as the
 * keys are to stand; words are sorted by their digits.
 */
#ifndef OPS_SORT_HOST_WORDS_H
#define OPS_SORT_HOST_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sizes.h"
#include "tessera/types.h"

enum { DIGIT_BITS_MAX = 11, BUCKETS = 256 };

/** Bits of words that they are sorted by in one pass: `bits` of them from bit `shift` on; or put
 *  into BUCKETS by, where `bucket` has one for each value of them, in the same order. */
typedef struct digit {
    unsigned shift, bits;
    const uint8_t *bucket; /* NULL: values are counted each alone */
} digit;

static inline size_t digit_counts(digit d)
{
    return d.bucket ? BUCKETS : (size_t)1 << d.bits;
}

/** word = ((bits ^ flip) - bias) ^ down, with the flip that the sign bit says. */
typedef struct sort_map {
    uint64_t flip_positive, flip_negative, bias, down;
} sort_map;

/* The flip of bits of type KEY, an unsigned integer, by the sign bit of `sign`: without a branch,
 * which keys of either sign would make a guess. */
#define SORT_FLIP(KEY, m, sign)                                                                    \
    (KEY)((KEY)(m).flip_positive ^ ((KEY)(0 - ((sign) >> (8 * sizeof(KEY) - 1))) &                 \
                                    (KEY)((m).flip_positive ^ (m).flip_negative)))

/* The word of a key. */
#define SORT_WORD(KEY, m, bits)                                                                    \
    (KEY)((KEY)(((bits) ^ SORT_FLIP(KEY, m, bits)) - (KEY)(m).bias) ^ (KEY)(m).down)

sort_map sort_map_of(tsr_type type, bool descending);

typedef struct word_pair {
    uint64_t key, index;
} word_pair;

/**
 * What a word is: a key alone; 64 bits with the key above its index, of keys of up to 32 bits and
 * up to 2^32 of them; or a key and its index of 64 bits each.
 */
typedef struct sort_words {
    size_t bytes;

    /**
     * Make words of keys[first] to keys[first + n - 1], with their positions as the index.
     *
     * @return the bits, of those that words are sorted by, in which any differs from keys[0].
     */
    uint64_t (*load)(const sort_map *m, const void *keys, size_t first, size_t n, void *words);

    /** The bits in which any of n words, from `first` on, differs from word `one`. */
    uint64_t (*varies)(const void *words, size_t one, size_t first, size_t n);

    /** Add how many of these words have each value of a digit. */
    void (*count)(const void *words, size_t first, size_t n, digit d, size_t counts[]);

    /** Put each word to where at[] says for its digit, and raise that by 1. */
    void (*scatter)(const void *words, size_t first, size_t n, digit d, size_t at[], void *out);

    /** Put the lesser half of n words, or about that, to the front of `other`, and the rest behind
     *  it, neither in the order that they had; returns how many the lesser are.  0: there is no
     *  fast way to do that here, or the words are mostly equal.  NULL: there is never. */
    size_t (*split)(const void *words, void *other, size_t n);

    /** Sort n words by the bits that vary, or by all; returns where they are then: `words` or
     *  `other`. */
    void *(*sort)(void *words, void *other, size_t n, uint64_t varies);

    /** The keys of words `first` to first + n - 1, at these positions, and their indices; `index`
     *  may be NULL, and words of keys alone may be where the keys go. */
    void (*unload)(const sort_map *m, const void *words, size_t first, size_t n, void *keys,
                   int64_t *index);
} sort_words;

/** Of keys of so many bytes, with an index or alone; n is the most keys of a sequence. */
const sort_words *sort_words_of(size_t key_bytes, bool with_index, size_t n);

/** Index of a word that has one. */
static inline size_t sort_word_index(const sort_words *kind, const void *words, size_t i)
{
    return kind->bytes == sizeof(word_pair) ? ((const word_pair *)words)[i].index
                                            : (uint32_t)((const uint64_t *)words)[i];
}

/** From counts of each of `chunks` chunks, one behind the other, to where it puts its words:
 * smaller digits before larger ones, and of one digit those of earlier chunks before those of later
 * ones. */
void sort_digit_starts(size_t counts[], size_t chunks, digit d);

/** Threads that are worth while to sort n keys: not more than there are processors. */
size_t sort_threads(size_t n);

#endif
