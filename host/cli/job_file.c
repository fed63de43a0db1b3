#include "cli/job_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/files.h"
#include "base/text.h"

enum { JOB_FILE_MAX = 16 << 20 };

static const char blanks[] = " \t\r";

static tsr_status read_bytes(const char *path, char **out, size_t *size, tsr_error *err)
{
    text why = {0};
    tsr_status st = TSR_OK;

    if (!file_read(path, JOB_FILE_MAX, FILE_OF_ANYBODY, out, size, &why))
        st = tsr_fail(err, TSR_EFILE, 0, "%s: %s", path, text_get(&why));
    text_free(&why);
    return st;
}

/* A string would end there, and the lines behind it would not run. */
static tsr_status check_text(const char *path, const char *bytes, size_t size, tsr_error *err)
{
    const char *zero = memchr(bytes, '\0', size);
    size_t line = 1;

    if (!zero)
        return TSR_OK;
    for (const char *c = bytes; c < zero; c++)
        line += *c == '\n';
    return tsr_fail(err, TSR_EFILE, 0, "%s: line %zu is not text: it has a zero byte", path, line);
}

/* Lines, and words at most, that `size` bytes hold. */
static void count(const char *bytes, size_t size, size_t *lines, size_t *words)
{
    *lines = 1;
    *words = 1;
    for (size_t i = 0; i < size; i++) {
        *lines += bytes[i] == '\n';
        *words += strchr(" \t\r\n", bytes[i]) != NULL;
    }
}

/* Take a word out of *from, without its quotes, which keep blanks and '#'; it ends with a zero byte
 * in its place, and *from is behind it.  False where a quote is not closed. */
static bool take_word(char **from)
{
    char *to = *from, *c = *from;
    char quote = '\0';

    for (; *c && (quote || !strchr(blanks, *c)); c++) {
        if (quote ? *c == quote : *c == '"' || *c == '\'')
            quote = quote ? '\0' : *c;
        else
            *to++ = *c;
    }
    *from = c + strspn(c, blanks);
    *to = '\0';
    return !quote;
}

/* Split a line, which is changed, into words at *at; NULL goes behind the last.  False where a
 * quote is not closed. */
static bool split(char *line, job_line *job, char ***at)
{
    bool closed = true;

    job->argv = *at;
    for (char *next = line + strspn(line, blanks); closed && *next && *next != '#';) {
        *(*at)++ = next;
        job->argc++;
        closed = take_word(&next);
    }
    *(*at)++ = NULL;
    return closed;
}

tsr_status job_file_read(const char *path, job_file *out, tsr_error *err)
{
    char *bytes = NULL, *line, **at;
    size_t size = 0, lines, words, number = 0;
    tsr_status st;

    *out = (job_file){0};
    st = read_bytes(path, &bytes, &size, err);
    st = st ? st : check_text(path, bytes, size, err);
    if (st) {
        free(bytes);
        return st;
    }
    count(bytes, size, &lines, &words);
    out->jobs = calloc(lines, sizeof *out->jobs);
    out->words = at = calloc(words + 2 * lines, sizeof *out->words);
    /* Twice: lines as they stand, and cut into words. */
    out->bytes = malloc(2 * size + 2);
    if (!out->jobs || !out->words || !out->bytes) {
        free(bytes);
        return tsr_fail(err, TSR_ENOMEM, 0, "%s: no memory for %zu lines", path, lines);
    }
    memcpy(out->bytes, bytes, size + 1);
    memcpy(out->bytes + size + 1, bytes, size + 1);
    free(bytes);
    for (line = out->bytes; line; number++) {
        char *end = strchr(line, '\n');
        job_line job = {.number = number + 1, .line = line + strspn(line, blanks)};
        char *copy = line + size + 1;

        if (end) {
            *end = '\0';
            copy[end - line] = '\0';
        }
        if (!split(copy, &job, &at))
            return tsr_fail(err, TSR_EFILE, 0, "%s: line %zu: a quote is not closed: %s", path,
                            job.number, job.line);
        line = end ? end + 1 : NULL;
        if (!job.argc)
            continue;
        if (strcmp(job.argv[0], "bench") != 0)
            return tsr_fail(err, TSR_EFILE, 0, "%s: line %zu: '%s' is not a job of bench", path,
                            job.number, job.line);
        out->jobs[out->count++] = job;
    }
    return out->count ? TSR_OK : tsr_fail(err, TSR_EFILE, 0, "%s: it has no job", path);
}

void job_file_free(job_file *f)
{
    free(f->jobs);
    free(f->words);
    free(f->bytes);
    *f = (job_file){0};
}
