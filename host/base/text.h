/** A growing string. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/** Zero-initialise to start; free with text_free.  `failed` stays set once memory ran out. */
typedef struct text {
    char *data; /* NUL-terminated, or NULL while empty: read it through text_get */
    size_t length;
    size_t capacity;
    bool failed;
} text;

void text_append(text *t, const char *s);
void text_append_bytes(text *t, const char *s, size_t length);
void text_format(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vformat(text *t, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/** A field of CSV (RFC 4180): in quotes where it has to be, with quotes inside doubled, plain
 * but for line ends. */
void text_append_csv(text *t, const char *field);

/** A JSON document whose strings may hold control characters that JSON lets stand, DEL and those of
 *  Unicode between U+0080 and U+009F: escaped. */
void text_append_json(text *t, const char *document);

/**
 * Put '?' for each character that a terminal may take for a command: the control characters of
 * ASCII but those of `kept`, those of Unicode between U+0080 and U+009F and those that turn the
 * direction of text, and bytes that are no UTF-8.
 */
void text_make_plain(char *s, const char *kept);

/** Empty the text, keeping its memory. */
void text_clear(text *t);
void text_free(text *t);

/** The string, "" while empty.  Valid until the next call on t. */
const char *text_get(const text *t);

/**
 * Of `count` candidates, the one closest to `word` (edit distance of at most a
 * third of its length, at least 1), or NULL: for "did you mean".
 */
const char *text_closest(const char *word, const char *const *candidates, size_t count);

#endif
