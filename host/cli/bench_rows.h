/** Where result rows go: a table for people on standard output, lines for programs in a file. */
#ifndef CLI_BENCH_ROWS_H
#define CLI_BENCH_ROWS_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

#include "cli/options.h"
#include "measure/result.h"

/**
 * Rows as JSON lines or CSV.
 *
 * A regular file is replaced as a whole after each row, so that at any moment
 * it holds every row so far, or still its old content.  A pipe or a device gets
 * each row as it comes; so does standard output.
 */
typedef struct row_file {
    const char *path;
    bool csv;
    text rows;    /* so far; of a stream: what is not yet written */
    FILE *stream; /* in place, else NULL */
    size_t count;
} row_file;

/**
 * The files that a command's rows go to: -o takes them; without it, or with "-", --json and --csv
 * have standard output.
 *
 * @param files  Receives `*count` of them, two at most.  End each with row_file_close.
 * @param table  Receives whether a table is printed.
 */
tsr_status row_files_open(const options *o, row_file files[2], size_t *count, bool *table,
                          tsr_error *err);
tsr_status row_file_add(row_file *f, const result_row *row, tsr_error *err);
/** Flush and free.  A file that got no row keeps what it held. */
tsr_status row_file_close(row_file *f, tsr_error *err);

/** A command that measures row by row, until Ctrl-C. */
typedef struct row_run {
    const options *o;
    row_file files[2]; /* -o and standard output, where wanted */
    size_t file_count;
    bool table;                        /* on standard output */
    const volatile sig_atomic_t *stop; /* set by the command: interrupt_watch() */
    size_t done;
    bool unkept; /* a row could not be written: what cannot be kept is not worth measuring */
    int status;  /* of the first failure */
} row_run;

/** Open the files of o.  Ends with row_run_close. */
tsr_status row_run_open(const options *o, row_run *out, tsr_error *err);
/** Keep the status of a failure, unless there was one before. */
void row_run_fail(row_run *r, int status);
/** Write a row into the files, and count it. */
void row_run_add(row_run *r, const result_row *row);
/** Whether no further row is worth measuring. */
bool row_run_ended(const row_run *r);
/** Close the files, and say how many `rows` ("rows", "points") are done where it was interrupted.
 *  Returns the exit status. */
int row_run_close(row_run *r, const char *rows);

/** A figure in three digits, as tables of experiments have it. */
void row_figure(double x, char out[16]);

/** The head of a table of one problem on one device; with peers, the last column is a ratio. */
void row_table_head(const result_row *row, bool peers);

/**
 * One line of it.
 *
 * @param first  Median of the ladder's first step, 0 where there is none.
 * @param ratio  With peers: our rate over this one's, 0 where it was not timed.
 * @param precision  Of the table: a row of another one says which.
 */
void row_table_line(const result_row *row, bool peers, double first_ns, double ratio,
                    const char *precision);

/**
 * The head of a table of errors, of a row of RESULT_ERROR of each of `distributions` distributions.
 *
 * @param elements  Compared of each distribution.
 */
void row_errors_head(const result_row rows[], const size_t elements[], size_t distributions,
                     bool peers);

/** One variant or peer: its rows, one for each distribution. */
void row_errors_line(const result_row rows[], size_t distributions, bool peers,
                     const char *precision);

/** The head of a table of overlap on one device. */
void row_overlap_head(const result_row *row);

/** One line of it.  one_queue: the median of the same chunks on one queue, 0 where there is none.
 */
void row_overlap_line(const result_row *row, double one_queue_ns);

/** What the variants of one problem cost beside their times. */
void row_costs_head(void);
void row_costs_line(const result_row *row);

#endif
