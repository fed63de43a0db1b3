/** A file of jobs: command lines of `tessera bench`, one a line. */
#ifndef CLI_JOB_FILE_H
#define CLI_JOB_FILE_H

#include <stddef.h>

#include "tessera/status.h"

/** One job: `bench` and its arguments, as main() gets them. */
typedef struct job_line {
    size_t number; /* of the line, from 1 */
    char *line;    /* as it stands in the file */
    int argc;
    char **argv; /* argc words, argv[0] is "bench"; NULL behind the last */
} job_line;

typedef struct job_file {
    job_line *jobs; /* count of them */
    size_t count;
    char *bytes; /* what they point to */
    char **words;
} job_file;

/**
 * Read a file of jobs.  Blanks part words, but for those between two '"' or two '\'', which are
 * left out; a word that begins with '#' begins a comment; lines without a word are passed over.
 *
 * @param out  Receives the jobs, to be freed with job_file_free, also on failure.
 * @return TSR_OK; TSR_EFILE where the file cannot be read, has no job, a byte of 0, a quote that is
 *         not closed, or a job whose first word is not "bench"; TSR_ENOMEM.
 */
tsr_status job_file_read(const char *path, job_file *out, tsr_error *err);
void job_file_free(job_file *f);

#endif
