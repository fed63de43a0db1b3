/** What --explain adds to a bench: the commands of one call, and where its time goes. */
#ifndef CLI_BENCH_EXPLAIN_H
#define CLI_BENCH_EXPLAIN_H

#include "measure/explain.h"
#include "measure/roofline.h"

/**
 * Print the table behind the row that it explains, whose copies it takes over.
 *
 * @param l  The device's limits; NULL where they are not measured.
 */
void explain_print(const explanation *x, const result_row *row, const limits *l);

/** The same as one JSON line of schema tessera-explain-1 (docs/results.md) on standard output.
 *  Returns an exit status, after a message where it failed. */
int explain_print_json(const explanation *x, const result_row *row, const limits *l);

#endif
