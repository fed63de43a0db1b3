/**
 * Output files that appear whole or not at all.
 *
 * A regular (or not yet existing) output is written to a temporary file beside its place, without a
 * name where the file system has such.  output_commit flushes it, then links it in its place where
 * nothing is there, or renames it over what is.  An output that exists and is no regular file (a
 * pipe, a device), and "-", standard output, are written in place by output_commit.
 */
#ifndef FILE_OUTPUT_H
#define FILE_OUTPUT_H

#include "base/text.h"
#include "file/array.h"
#include "tessera/status.h"

typedef struct output output;

/**
 * Open an output and check that it can be written, before any work is done.
 *
 * @param path  "-" is standard output.  A symbolic link is followed.
 * @param out   Receives the output; the caller ends it with output_commit or output_discard.
 * @return TSR_OK, TSR_ENOMEM or TSR_EFILE.
 */
tsr_status output_open(const char *path, output **out, tsr_error *err);

/** Nonzero where both would write the same file (by identity, not by spelling) or both standard
 * output. */
int output_same(const output *a, const output *b);

/** Nonzero where the output would write to the regular file at `path`, by whatever names; "-" is
 * standard input. */
int output_is(const output *o, const char *path);

/**
 * Write an array: .mtx (array format, %.17g) where the path ends in ".mtx", a picture where it
 * ends in ".png", ".pgm" or ".ppm", else .npy version 1.0 with data aligned to 64 bytes.  Nothing
 * is visible at the path until output_commit.
 */
tsr_status output_write(output *o, const array *a, tsr_error *err);

/**
 * Write bytes as they are, whatever the path ends in: a report, rows of results.
 * Further calls append.  In place of output_write, not beside it.  Nothing is
 * visible at the path until output_commit.
 */
tsr_status output_write_bytes(output *o, const void *bytes, size_t size, tsr_error *err);

/** Nonzero where output_commit writes to a pipe, a device or standard output and may fail halfway:
 * such outputs are committed before those that replace files. */
int output_is_stream(const output *o);

/**
 * Put what was written in its place.  Frees the output, also on failure.
 *
 * @param lost  Receives a sentence for each thing that the file that was replaced had and the new
 *              one has not, other names or an owner, "; " between them; "" for nothing.  May be
 *              NULL.
 */
tsr_status output_commit(output *o, text *lost, tsr_error *err);

/** Drop what was written and free the output.  NULL is allowed. */
void output_discard(output *o);

#endif
