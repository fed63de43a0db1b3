/** What `tessera tune` says of a search. */
#ifndef CLI_TUNE_REPORT_H
#define CLI_TUNE_REPORT_H

#include <jansson.h>

#include "measure/tune.h"

typedef struct tune_report {
    const problem *problems; /* count of them, of one class */
    size_t count;
    const tune_result *found;
    const char *where;     /* the file that the best is kept in, "" where it is not */
    const char *on_arrays; /* C code that calls on arrays run after it; "" where they do not */
} tune_report;

/** A table of the finalists, and what became of the others. */
void tune_report_print(const tune_report *r);

/** The same with every candidate. */
json_t *tune_report_json(const tune_report *r);

/** "cpu-block ROWS=4 VECTORS=3", without tunables that the call chooses. */
void tune_candidate_text(const tune_candidate *c, text *out);

/** Say on standard error that a result is wrong. */
void tune_print_error(const operation *op, const tune_candidate *c);

#endif
