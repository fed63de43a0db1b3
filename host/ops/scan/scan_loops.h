/** Scans of stretches of elements in C, compiled for each instruction set (base/isa.h). */
#ifndef OPS_SCAN_LOOPS_H
#define OPS_SCAN_LOOPS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/isa.h"
#include "core/block_scan.h"
#include "tessera/scan.h"

/** What is carried from one stretch to the next: of sums a double or 64 bits of a whole number, of
 *  minima and maxima the element, of integers 32 bits at least; a float of floats of 16 bits. */
typedef block_value scan_value;

/** result[to], result[to + step]... from x[at], x[at + step]..., n of them, step 1 or -1. */
typedef struct scan_stretch {
    const void *x;
    size_t at;
    void *result;
    size_t to;
    ptrdiff_t step;
    size_t n;
    ptrdiff_t ahead; /* from x to elements that are fetched meanwhile, in elements; 0: none are */
    size_t n_ahead;  /* their number, n at least, where total_ahead is not NULL */
    block_value *total_ahead; /* receives what they come to; NULL unless finds_ahead, forwards and
                                 past the caches */
    bool past_caches;         /* store the result past the caches */
} scan_stretch;

/** Loops of one type of elements and one way to combine them.  Places count elements. */
typedef struct scan_loops {
    /** What no elements come to. */
    scan_value (*identity)(void);

    scan_value (*combine)(scan_value before, scan_value after);

    /** What n elements from x[at] on come to. */
    scan_value (*total)(const void *x, size_t at, size_t n);

    /** Inclusive; returns what the last one holds. */
    scan_value (*run)(scan_value before, const scan_stretch *s);

    /** Store a value as an element. */
    void (*put)(scan_value value, void *result, size_t to);

    /** `width` columns side by side, `pitch` elements from one row to the next. */
    void (*columns)(const void *x, size_t at, void *result, size_t to, ptrdiff_t pitch, size_t n,
                    size_t width, bool exclusive);

    bool finds_ahead; /* run can fill total_ahead */
} scan_loops;

/** Most columns that one call takes. */
enum { SCAN_COLUMNS_MAX = 256 };

/** Those of elements of a type; `same`: whether sums keep it. */
typedef const scan_loops *scan_loops_find(tsr_type type, size_t by, bool same);

scan_loops_find ISA_EACH(scan_loops_of);

#endif
