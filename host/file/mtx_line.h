/** The text of a .mtx file, line by line and word by word, and the numbers in it. */
#ifndef FILE_MTX_LINE_H
#define FILE_MTX_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "tessera/status.h"

/** Where the reader is.  Zero `line` to start. */
typedef struct mtx_reader {
    const char *name; /* the file's, for messages */
    const char *at, *end;
    size_t line; /* number of the line last read, from 1 */
    tsr_error *err;
} mtx_reader;

/** A part of the text; not NUL-terminated. */
typedef struct mtx_slice {
    const char *s;
    size_t length;
} mtx_slice;

/** Words of one line: no line of the format has more than five. */
typedef struct mtx_words {
    mtx_slice word[5];
    size_t count; /* of all words; those beyond five are not kept */
    mtx_slice line;
} mtx_words;

/** The next line, whatever it holds; false at the end of the file. */
bool mtx_next_line(mtx_reader *r, mtx_words *w);

/** The next line that is neither blank nor a comment; false at the end of the file. */
bool mtx_next_content(mtx_reader *r, mtx_words *w);

/** Whether a word is `text`, which is lower case, in any case. */
bool mtx_word_is(mtx_slice word, const char *text);

/** Decimal digits alone, up to SIZE_MAX; false for anything else. */
bool mtx_count(mtx_slice word, size_t *out);

/** Decimal digits with an optional sign; false for anything else, and for what float64 would round.
 */
bool mtx_integer(mtx_slice word, double *out);

/**
 * A decimal number, "nan" or "inf"; false for anything else and where it is
 * too large for float64.  The thread is in the C locale.
 */
bool mtx_real(mtx_slice word, double *out);

#endif
