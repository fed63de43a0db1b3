/** What a bench prints: progress, rows in a table and in files, and the status that goes with them.
 */
#ifndef CLI_BENCH_PRINT_H
#define CLI_BENCH_PRINT_H

#include "cli/bench_state.h"
#include "measure/explain.h"

/** The exit status is the first one that is not EXIT_DONE. */
void bench_worsen(bench *b, int status);

/** A failure that ends no more than what `name`, NULL for the whole, is about. */
void bench_print_error(bench *b, const char *name, const tsr_error *err);

/** Begin an activity (activity.h): what is measured now, and about how long the rest takes. */
void bench_begin(const bench *b, const problem *p, const char *name);

/** A row of a variant. */
void bench_print_row(bench *b, result_row *row);

/** A line of the table alone, where there is one: of what a call does in another way. */
void bench_print_aside(bench *b, result_row *row);

/** What the variants cost beside their times, behind their rows. */
void bench_print_costs(bench *b);

/** The rows of the comparison, behind those. */
void bench_print_peers(bench *b);

/** A line of errors: one variant or peer. */
void bench_print_errors(bench *b, bench_errors_entry *e);

/**
 * bench_explain.c: the table of --explain behind the row that it explains, whose copies it takes
 * over: the commands of one call, and where its time goes.
 *
 * @param l  The device's limits; NULL where they are not measured.
 */
void explain_print(const explanation *x, const result_row *row, const limits *l);

/** bench_explain.c: the same as one JSON line of schema tessera-explain-1 (docs/results.md) on
 * standard output.  Returns an exit status, after a message where it failed. */
int explain_print_json(const explanation *x, const result_row *row, const limits *l);

#endif
