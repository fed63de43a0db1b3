/** Comparisons of blocks of elements, and what is selected by them, in C, compiled for each
 *  instruction set (base/isa.h). */
#ifndef OPS_SELECT_LOOPS_H
#define OPS_SELECT_LOOPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/isa.h"
#include "tessera/select.h"

/** Most elements of one call. */
enum { SELECT_STRETCH = 1024 };

/** holds[i] := 1 where it holds for x[at + i], else 0, for n elements; returns how many do. */
typedef size_t select_compare(const tsr_select_problem *p, const void *x, size_t at, size_t n,
                              unsigned char *holds);

/** Put the elements of x[at ...] that `holds` names side by side, to `out`, which has room for n;
 *  returns their number. */
typedef size_t select_gather(const void *x, size_t at, size_t n, const unsigned char *holds,
                             void *out);

/** How many of n elements are selected: comparing and counting at once, without `holds`. */
typedef size_t select_direct_count(const tsr_select_problem *p, const void *x, size_t at, size_t n);

/** Store the selected ones of n elements side by side from `to` on; nothing is written at or after
 *  `end`.  Elements `ahead` bytes further on in x are fetched meanwhile. */
typedef void select_direct_put(const tsr_select_problem *p, const void *x, size_t at, size_t n,
                               ptrdiff_t ahead, void *to, const void *end);

typedef struct select_direct {
    select_direct_count *count;
    select_direct_put *put;
    /* The same, stored past the caches; `to` is aligned to elements. */
    select_direct_put *put_past_caches;
} select_direct;

typedef select_compare *select_compare_find(tsr_type type);
typedef select_gather *select_gather_find(size_t bytes);

/** NULL where a type has no such loops. */
typedef const select_direct *select_direct_find(tsr_type type);

select_compare_find ISA_EACH(select_compare_of);
select_direct_find ISA_EACH(select_direct_of);
select_gather_find ISA_EACH(select_gather_of);

#endif
