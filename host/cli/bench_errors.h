/** What --errors adds to a bench: how exact the variants and peers of a problem are. */
#ifndef CLI_BENCH_ERRORS_H
#define CLI_BENCH_ERRORS_H

#include "measure/errors.h"
#include "measure/peers.h"
#include "measure/result.h"

/** One variant or peer: a row of RESULT_ERROR for each distribution of inputs. */
typedef struct bench_errors_entry {
    result_row row[ERRORS_DISTRIBUTIONS];
} bench_errors_entry;

/** Those of one problem on one device.  Zero-initialise to start. */
typedef struct bench_errors {
    bench_errors_entry *entries;
    size_t count, capacity;
} bench_errors;

/**
 * Add what a row of times is about, once: a later row of the same variant with
 * the same parameters takes the place of the earlier one.  Rows of what did not
 * run are passed over; those whose result is out of its bound are not.
 */
tsr_status bench_errors_note(bench_errors *e, const result_row *row, tsr_error *err);

/**
 * Measure them all, distribution by distribution.  What fails says so in its rows.
 *
 * @param compared  Session, problem, peers (NULL for none), and of the options the seed and `stop`.
 */
tsr_status bench_errors_measure(bench_errors *e, const peers_comparison *compared, tsr_error *err);

/** How many elements of each distribution were compared, which is the same for all that did not
 * fail. */
void bench_errors_elements(const bench_errors *e, size_t elements[ERRORS_DISTRIBUTIONS]);

void bench_errors_free(bench_errors *e);

#endif
