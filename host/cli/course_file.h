/**
 * A course: the tables of a document that teaches, and what of ours shows each line of them.
 *
 * Courses are files of data/course/, which the command has built in; anybody's own are read the
 * same way.  A line is a keyword and a text, which goes on in the lines behind it that begin with a
 * blank; a line that begins with # is a comment, and one of blanks alone nothing.
 *
 *     course 003 TITLE        first of all
 *     about TEXT              what the document is
 *     table NAME TITLE        begins a table
 *     lines 45-74             of the document
 *     knob TEXT               heading of the rows' names
 *     figure FIGURE           what counts of the rows behind it: course_figure; rate where none is
 *     claims values           claims are values in the figure's unit, not times the base
 *     says, why, wrong TEXT   what the document says, why a machine shows what it shows, and where
 *                             the document errs
 *     cpu TEXT                why a CPU shows what it shows; `why` is of GPUs then
 *     see COMMAND             that shows more
 *     series NAME             of the rows behind it: a curve of their own
 *     base X | SAYS | CLAIM | COMMAND    a row that those behind it are compared with
 *     row  X | SAYS | CLAIM | COMMAND    SAYS is the document's figure as it has it, CLAIM what is
 *                                        to be seen by it: a number, >NUMBER for at least that
 *                                        much, or - for none
 *
 * COMMAND is one of
 *
 *     bench OP [OPTION]...          one variant on one problem
 *     lab EXPERIMENT [SIZE] / SERIES / X    a point of an experiment
 *     limit NAME                    a limit of the device that `tessera roofline` measures
 *     overlap MEMORY QUEUES         chunks copied in, computed and copied out, as `bench overlap`
 *     occupancy GROUP REGISTERS LOCAL CAPABILITY    in warps
 *
 * where, and in X, CLAIM and series, {A|B|C} stands for A of little work, as tests do, B on a CPU
 * and C on other devices, and {A|B} for A of little work and B else.
 */
#ifndef CLI_COURSE_FILE_H
#define CLI_COURSE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "tessera/status.h"

/** What a row's texts fit in, with what scales have in place of {A|B|C}. */
enum {
    COURSE_SERIES_SIZE = 48,
    COURSE_X_SIZE = 24,
    COURSE_CLAIM_SIZE = 16,
    COURSE_COMMAND_SIZE = 160,
    COURSE_WORDS_MAX = 32 /* of a command */
};

/** What of a row counts. */
typedef enum course_figure {
    FIGURE_RATE,      /* rate: in the operation's unit, or the experiment's */
    FIGURE_FLOPS,     /* flops: GFLOP/s, where the operation's unit is another */
    FIGURE_TIME,      /* time: us */
    FIGURE_COPIES,    /* copies: us to bring inputs to the device and results back */
    FIGURE_LAUNCHES,  /* launches: commands of a call */
    FIGURE_INTENSITY, /* intensity: operations for a byte that work-items ask of global memory */
    FIGURE_LOADS,     /* loads: of each element of the operands, of a product of one type */
    FIGURE_A_LOAD, /* flops-a-load: operations for an element that is loaded, of such a product */
    FIGURE_LOCAL,  /* local-intensity: the same of local memory */
    FIGURE_OCCUPANCY, /* occupancy: %, of the command that takes longest, by its registers */
    FIGURE_ACHIEVED,  /* achieved: %, the occupancy of the whole call as traced */
    FIGURE_MOVED,     /* moved: GB/s of what the commands move by their design */
    FIGURE_OF_COPY,   /* of-copy: that in % of what a copy reaches */
    FIGURE_SHARE      /* share: % of the device's limit */
} course_figure;

typedef struct course_row {
    size_t table; /* its number */
    course_figure figure;
    bool base;
    const char *series; /* "" of a table with one */
    const char *x, *says;
    const char *claim; /* "-": none; of ">900" 900 is the least */
    const char *command;
} course_row;

typedef struct course_table {
    /* "" where not given. */
    const char *name, *title, *lines, *knob, *says, *why, *cpu, *wrong, *see;
    bool claims_values;
} course_table;

typedef struct course {
    const char *name, *title, *about;
    course_table *tables;
    course_row *rows; /* in the order of the tables */
    size_t table_count, row_count;
    char *text; /* what they point to */
} course;

/** The name of course i of those built in, "003"; NULL behind the last. */
const char *course_at(size_t i, char name[32]);

/** Read a course: one that is built in by its name, or a file by its path, which has a '/' or ends
 *  with ".course".
 *
 * @param out  Receives it, to be freed with course_free, also on failure.
 * @return TSR_OK; TSR_ENAME where there is none of that name; TSR_EFILE, with the line, where it is
 *         not as above; TSR_ENOMEM.
 */
tsr_status course_read(const char *name, course *out, tsr_error *err);
void course_free(course *c);

const char *course_figure_name(course_figure f);

/** A row's text with what a scale has in place of {A|B|C}: 0 little work, 1 of a CPU, 2 of other
 *  devices. */
void course_expand(const char *from, unsigned scale, char *out, size_t size);

#endif
