/** Lines that fit a terminal: its width, text broken at blanks, and the line that shows progress.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/** Columns of a line where nothing says how wide the terminal is. */
enum { WIDTH_USUAL = 80 };

/** Columns of the terminal behind a file descriptor, at least 1; where it is none, what COLUMNS
 *  says, else WIDTH_USUAL. */
size_t terminal_columns(int fd);

/** The same, but at least 40: for text that is wrapped or cut to it. */
size_t terminal_width(int fd);

/** Characters as they stand in a column: bytes that do not continue one of UTF-8. */
size_t text_width(const char *s);

/**
 * Append text that begins at column `at`, broken at blanks so that lines end before `width`.
 *
 * Line ends of the text stay.  Lines but the first begin with `indent` blanks; a word that is
 * longer than a line stands on one of its own.  No line end behind the last.
 */
void text_wrap(text *out, const char *s, size_t at, size_t indent, size_t width);

/** Print a line on standard output that begins `indent` blanks in.  Where somebody reads it, it is
 *  broken and goes on four further; for a program it stays one line. */
void print_line(size_t indent, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Print a paragraph on standard output, after two blanks and a head, as wide as the terminal. */
void print_paragraph(const char *head, const char *s);

/** Append the beginning of a text, of so many columns at most. */
void text_append_cut(text *out, const char *s, size_t columns);

/** Replace the line of standard error, cut to the terminal; only where that is one. */
void progress_show(const char *line);

/** Empty that line. */
void progress_clear(void);

/** The same, where there is one, from a handler of signals. */
void progress_abandon(void);

#endif
