/**
 * The order of keys as the language sees it: comparators that ask whether a
 * number is NaN, which sign it has and which one is less.  The kernels map bits
 * to integers instead (cl/sort/sort_key.clh), so each side checks the other.
 *
 * Floats: -inf < ... < -0 < +0 < ... < +inf < NaN.  Of the NaNs those without a
 * sign come first, by rising payload, then those with a sign, by falling
 * payload: the order is total on bits.
 */
#ifndef OPS_SORT_ORDER_H
#define OPS_SORT_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/variant.h"
#include "tessera/sort.h"

extern const operation operation_sort;

/* The problem's structure, to read. */
static inline const tsr_sort_problem *sort_of(const problem *p)
{
    return (const tsr_sort_problem *)(const void *)p->bytes;
}

/* The same, to change. */
static inline tsr_sort_problem *sort_in(problem *p)
{
    return (tsr_sort_problem *)(void *)p->bytes;
}

static inline problem sort_problem(tsr_sort_problem p)
{
    return problem_from(&operation_sort, &p, sizeof(p));
}

/** Compares two keys for qsort: negative, 0 or positive; 0 for equal bits alone. */
typedef int (*key_comparator)(const void *, const void *);

/** Rows of a problem; 0 counts as 1. */
static inline size_t sort_rows(const tsr_sort_problem *s)
{
    return s->rows ? s->rows : 1;
}

/** The operands that are sorted, in order. */
enum { SORT_KEYS, SORT_INDEX, SORT_VALUES, SORT_OPERANDS };

/** Keys of all rows; the problem is checked, so this fits. */
static inline size_t sort_keys(const tsr_sort_problem *s)
{
    return s->n * sort_rows(s);
}

/** The independent sequences that keys fall into: rows, or segments. */
typedef struct sort_parts {
    const tsr_sort_problem *keys;
    size_t count;
    const uint64_t *offsets; /* where segments start, and last the number of keys; NULL: rows */
    size_t kept;             /* keys of each row that are wanted: keys->n, or fewer */
} sort_parts;

/** n keys from key `start` on. */
typedef struct sort_part {
    size_t start, n;
} sort_part;

static inline sort_parts sort_parts_of_rows(const tsr_sort_problem *s)
{
    return (sort_parts){.keys = s, .count = sort_rows(s), .kept = s->n};
}

/** Part i: of broken offsets what lies in the array. */
static inline sort_part sort_part_at(const sort_parts *p, size_t i)
{
    if (p->offsets) {
        const uint64_t start = p->offsets[i] < p->keys->n ? p->offsets[i] : p->keys->n;
        const uint64_t end = p->offsets[i + 1] < p->keys->n ? p->offsets[i + 1] : p->keys->n;

        return (sort_part){(size_t)start, end > start ? (size_t)(end - start) : 0};
    }
    return (sort_part){i * p->keys->n, p->keys->n};
}

/** The part of a key. */
size_t sort_part_of(const sort_parts *p, size_t key);

/** Whether keys of a type are sorted: all types but bfloat16. */
bool sort_takes(tsr_type type);

/** The ascending order of a key type that sort_takes. */
key_comparator sort_comparator(tsr_type type);

/** A key with the position it came from; the key, of whichever type, comes first. */
typedef struct sort_pair {
    uint64_t key;
    int64_t index;
} sort_pair;

/** The ascending order of sort_pair: by key, then by index. */
key_comparator sort_pair_comparator(tsr_type type);

/**
 * Stable merge sort, from the bottom up, of the n positions in perm by the keys
 * they stand for; scratch has room for n.  With descending equal keys keep
 * their order too.
 */
void sort_reference(tsr_type type, bool descending, const void *keys, size_t n, size_t *perm,
                    size_t *scratch);

#endif
