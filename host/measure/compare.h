/**
 * Result files side by side: which rows are about the same thing, and how much
 * faster or slower one column is than another.
 *
 * A column is what one file says about one device (name, number, driver and
 * version of Tessera).  A file that measured other jobs of the same device, or
 * nothing but its limits, on the same driver, adds them to that column: files of
 * several operations are one column.
 *
 * A group is one problem: operation, problem, element type, precision, cold or
 * warm, and timer agree.  The limits of devices are a group of their own.  A line is one variant,
 * peer or limit of a group; where a column holds it with several parameters, each of them is a
 * line.  Where a line was measured more than once in a column, its last row counts; one that a
 * budget left out counts where it is the only one.
 *
 * A column's base is what it is compared with: the first column of an earlier
 * file with the same device, number included; without one, of the same name;
 * else the first column.
 *
 * Everything borrows the rows, which must outlive the comparison.
 */
#ifndef MEASURE_COMPARE_H
#define MEASURE_COMPARE_H

#include "measure/result.h"

/** Rows of one file.  None of those that are compared is of RESULT_ERROR. */
typedef struct compare_file {
    const char *path;
    const result_row *rows;
    size_t count;
} compare_file;

/** What one file says about one device. */
typedef struct compare_source {
    size_t file;           /* index of the file */
    const result_row *who; /* its first row */
    size_t column;         /* that it is part of */
} compare_source;

typedef struct compare_column {
    size_t file;           /* index of its first file */
    const result_row *who; /* its first row: device, driver, version */
    size_t base;           /* index of the column it is compared with; its own for the first */
    size_t rows;
} compare_column;

typedef struct compare_line {
    const result_row *what; /* its first row: group and name */
    size_t group;           /* lines of one group stand together */
    bool by_parameters;     /* what->parameters is part of its name */
} compare_line;

typedef struct comparison {
    const compare_file *files;
    size_t file_count;
    compare_source *sources;
    size_t source_count;
    compare_column *columns;
    size_t column_count;
    compare_line *lines;
    size_t line_count;
    size_t group_count;
    const result_row **cells; /* line_count x column_count, NULL where missing */
} comparison;

/**
 * Put files side by side.
 *
 * @param files  At least one; borrowed until compare_close.
 * @param out    Receives the comparison, to be freed with compare_close.
 * @return TSR_OK; TSR_ENOMEM; TSR_EINVAL where a file has no row.
 */
tsr_status compare_build(const compare_file *files, size_t count, comparison *out, tsr_error *err);

/** Free what compare_build made, and zero it. */
void compare_close(comparison *c);

/** The row of a line in a column, NULL where it is missing. */
const result_row *compare_cell(const comparison *c, size_t line, size_t column);

/** Whether a row holds a rate: it ran, was verified (a limit needs no verification), took time. */
bool compare_has_rate(const result_row *row);

/** Name of a line: "tiled", "tiled [TILE=16]". */
void compare_name(const compare_line *line, text *out);

/** Name of a row's group: "OPERATION 1024x1024x1024 float32, f32, cold, device time". */
void compare_group_name(const result_row *row, text *out);

/** A rate or ratio as people read it, three figures at least: "0.812", "13.4", "5,042". */
void compare_number(double x, text *out);

/** The unit in which rates up to `largest` are read, "TFLOP/s" for 2,000 GFLOP/s; *scale is what a
 *  rate in `unit` is multiplied by.  Static, or `unit` itself. */
const char *compare_unit(const char *unit, double largest, double *scale);

/** A rate in the unit in which it is read: "1.310 TFLOP/s". */
void compare_rate(double rate, const char *unit, text *out);

/** The same in three digits: "1.31 TFLOP/s". */
void compare_short_rate(double rate, const char *unit, text *out);

/** The unit of a line's table, the same for the lines of a group; of a limit its own. */
const char *compare_line_unit(const comparison *c, size_t line, double *scale);

/** The files of a column: "a.json + b.json". */
void compare_paths(const comparison *c, size_t column, text *out);

/** How much a rate is of the limit that binds the row, "81.2% of memory read"; nothing where that
 * is not measured. */
void compare_roof(const result_row *row, double rate, text *out);

/** The fastest variant of a job in one column. */
typedef struct compare_best {
    const result_row *row; /* NULL where no variant has a rate */
    bool wall;             /* by wall time; else by the device's */
    double rate;           /* by that clock, in the row's unit */
    size_t base;           /* the column that it is compared with; its own where there is none */
    double ratio;          /* rate over the base's; 0 where there is none */
} compare_best;

/**
 * A job: a problem in a type and precision, cold or warm.
 *
 * Columns are compared by device time where each of those that have the job recorded it, else by
 * wall time: C code on the host has no other.  A column that has no wall time then keeps its device
 * time, without a ratio.
 */
typedef struct compare_job {
    const result_row *what; /* its first row */
    size_t columns;         /* that have a rate */
    compare_best *best;     /* of each column */
} compare_job;

/** The jobs for which a variant has a rate; free with compare_jobs_free.  TSR_ENOMEM. */
tsr_status compare_jobs(const comparison *c, compare_job **out, size_t *count, tsr_error *err);
void compare_jobs_free(compare_job *jobs);

/** "OPERATION 1024x1024x1024 float32, f32, cold". */
void compare_job_name(const compare_job *entry, text *out);

typedef enum compare_outcome {
    COMPARE_RATIO,       /* both have a rate */
    COMPARE_NO_BASE,     /* the base has none, or the column is its own base */
    COMPARE_MISSING,     /* the base has a rate and the column has no row; not said of limits, which
                            only `roofline` measures */
    COMPARE_UNSUPPORTED, /* the base has a rate and the column says why it has none */
    COMPARE_UNVERIFIED   /* the column's row was not verified or not timed */
} compare_outcome;

/** How a cell stands against its base. */
typedef struct compare_verdict {
    compare_outcome outcome;
    double ratio;      /* rate over the base's, from the medians; above 1 is faster */
    double favourable; /* the same with the column's faster quartile over the base's slower one:
                          the most that the noise of both rows allows */
    const result_row *row, *base;
} compare_verdict;

/**
 * Compare a cell with its base.
 *
 * A time (unit "us", as of launches, "ns" or "cycles") is the better the shorter: its ratio is
 * the base's over the column's, so that above 1 is faster there too.
 */
compare_verdict compare_judge(const comparison *c, size_t line, size_t column);

/**
 * Whether --fail-below judges a verdict: both have a rate, of a variant or a limit and not of a
 * peer, and of a variant enough samples, COMPARE_SAMPLES_MIN, for their quartiles to show noise.
 */
bool compare_judged(const compare_verdict *v);

enum { COMPARE_SAMPLES_MIN = 3 };

/** Whether a variant of ours that has a rate in the base is wrong or failed here. */
bool compare_broken(const compare_verdict *v);

/**
 * Whether a verdict is a loss at --fail-below `least`: it is broken, or both have a
 * rate and even the favourable ratio is below `least`.  A row that records no quartiles has
 * its median in their place.
 */
bool compare_lost(const compare_verdict *v, double least);

/** "ratio", "no base", "missing", "unsupported", "unverified".  Static. */
const char *compare_outcome_name(compare_outcome outcome);

#endif
