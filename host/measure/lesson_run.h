/** A call of a variant whose kernels write down what they do (measure/lesson_source.h). */
#ifndef MEASURE_LESSON_RUN_H
#define MEASURE_LESSON_RUN_H

#include <jansson.h>

#include "core/dispatch.h"
#include "measure/lesson_source.h"

typedef struct lesson_run_options {
    lesson_wanted wanted;
    size_t below;         /* inputs are whole numbers from 0 to below - 1; 0: from 1 to 9 */
    const json_t *values; /* lists by the names of operands, which are filled with them, again and
                             again; or NULL */
    size_t first;         /* records of so many launches are left out; "begin" then has what memory
                             holds behind them */
    size_t launches;      /* only records of the first so many launches are kept; 0: of all */
    bool as_they_ran;     /* records of all work-groups in one order, that in which they were made;
                             else group after group.  Where groups wait for one another: such a run
                             is repeated, three times at most, while its records overflow */
} lesson_run_options;

/**
 * Run a variant on small inputs and give what its kernels did.
 *
 * The members of *out: "kernel", "problem", "parameters"; "operands", each with its elements before
 * and after; "files", the sources with their lines; "launches", each with its sizes, its arrays and
 * the records as [item, kind, file, line, array, index, value]; "right", what verify says of the
 * result; "removed", the line of the barrier that was left out.  docs/course/lessons.md
 * describes them.
 *
 * @param sel  Its parameters may be values that are not in the variant's table: a tree of eight
 *             work-items fits a page, and no device runs it fast.
 * @param out  Receives a JSON object, which the caller releases.
 */
tsr_status lesson_run(tsr_session *s, const problem *p, const selection *sel,
                      const lesson_run_options *o, json_t **out, tsr_error *err);

/** A kernel that belongs to no variant, on buffers of 4-byte words. */
typedef struct lesson_kernel {
    const char *source, *entry, *options;
    size_t global, local;
    size_t buffers; /* the kernel's arguments, in its order */
    const char *name[OPERANDS_MAX];
    size_t words[OPERANDS_MAX];
    bool input[OPERANDS_MAX]; /* filled as inputs are; else the kernel writes it */
} lesson_kernel;

/** The same of such a kernel; nobody says whether its result is right. */
tsr_status lesson_run_kernel(tsr_session *s, const lesson_kernel *k, const lesson_run_options *o,
                             json_t **out, tsr_error *err);

#endif
