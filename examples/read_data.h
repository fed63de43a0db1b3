/**
 * Reads the files of data/ for the examples: the least that they need.
 *
 * The command `tessera` reads every .npy and .mtx; its reader is no part of the
 * library's interface.  All functions return TSR_OK, TSR_EFILE or TSR_ENOMEM;
 * after a failure the output is untouched.
 */
#ifndef READ_DATA_H
#define READ_DATA_H

#include <stddef.h>

#include "tessera/status.h"
#include "tessera/types.h"

/** A matrix, row-major; one column where the file holds a vector. */
typedef struct array {
    size_t rows, columns;
    void *values; /* owned: free() it */
} array;

/** Read folder/name: .npy version 1, C order, little-endian TSR_F32, TSR_I32 or TSR_U32. */
tsr_status read_npy(const char *folder, const char *name, tsr_type type, array *out,
                    tsr_error *err);

/** One entry of a pattern matrix, counted from 0. */
typedef struct entry {
    size_t row, column;
} entry;

typedef struct pattern {
    size_t rows, columns, count;
    entry *entries; /* owned: free() it */
} pattern;

/** Read folder/name: Matrix Market, "matrix coordinate pattern general". */
tsr_status read_pattern(const char *folder, const char *name, pattern *out, tsr_error *err);

/** The lines of a text file, without their ends. */
typedef struct lines {
    size_t count;
    char **line;
    char *text; /* what the lines point into */
} lines;

/** Read folder/name, a text of `expected` lines.  Free it with lines_free. */
tsr_status read_lines(const char *folder, const char *name, size_t expected, lines *out,
                      tsr_error *err);

/** Free what read_lines allocated.  A zero-initialised *l is allowed. */
void lines_free(lines *l);

#endif
