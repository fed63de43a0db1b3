#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for `more` further characters and the NUL. */
static bool reserve(text *t, size_t more)
{
    size_t need = t->length + more + 1;
    size_t capacity = t->capacity ? t->capacity : 64;
    char *data;

    if (t->failed || need < more)
        return false;
    if (need <= t->capacity)
        return true;
    while (capacity < need)
        capacity *= 2;
    data = realloc(t->data, capacity);
    if (!data) {
        t->failed = true;
        return false;
    }
    t->data = data;
    t->capacity = capacity;
    return true;
}

void text_append_bytes(text *t, const char *s, size_t length)
{
    if (!reserve(t, length))
        return;
    memcpy(t->data + t->length, s, length);
    t->length += length;
    t->data[t->length] = '\0';
}

void text_append(text *t, const char *s)
{
    text_append_bytes(t, s, strlen(s));
}

void text_format(text *t, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    text_vformat(t, format, args);
    va_end(args);
}

void text_vformat(text *t, const char *format, va_list args)
{
    va_list again;
    int length;

    va_copy(again, args);
    length = vsnprintf(NULL, 0, format, args);
    if (length >= 0 && reserve(t, (size_t)length)) {
        vsnprintf(t->data + t->length, (size_t)length + 1, format, again);
        t->length += (size_t)length;
    }
    va_end(again);
}

void text_append_csv(text *t, const char *field)
{
    const size_t start = t->length;

    if (!strpbrk(field, ",\"\r\n")) {
        text_append(t, field);
    } else {
        text_append(t, "\"");
        for (; *field; field++)
            text_append_bytes(t, *field == '"' ? "\"\"" : field, *field == '"' ? 2 : 1);
        text_append(t, "\"");
    }
    if (!t->failed)
        text_make_plain(t->data + start, "\r\n");
}

/* Whether two bytes are a character between U+0080 and U+009F. */
static bool is_c1(const char *s)
{
    return (unsigned char)s[0] == 0xC2 && ((unsigned char)s[1] & 0xE0) == 0x80;
}

void text_append_json(text *t, const char *document)
{
    for (const char *s = document; *s; s++) {
        if (*s == 0x7F) {
            text_append(t, "\\u007f");
        } else if (is_c1(s)) {
            s++;
            text_format(t, "\\u00%02x", (unsigned char)*s);
        } else {
            text_append_bytes(t, s, 1);
        }
    }
}

/* Whether s begins one of Unicode's controls of direction (U+202A to U+202E, U+2066 to U+2069),
 * which reorder the text behind them. */
static bool is_direction_control(const char *s)
{
    const unsigned char *c = (const unsigned char *)s;

    return c[0] == 0xE2 && ((c[1] == 0x80 && c[2] >= 0xAA && c[2] <= 0xAE) ||
                            (c[1] == 0x81 && c[2] >= 0xA6 && c[2] <= 0xA9));
}

/* Bytes of the UTF-8 character at s, by its first byte and that the others follow; 0 where it is
 * none. */
static size_t utf8_length(const char *s)
{
    const unsigned char c = (unsigned char)*s;
    const size_t length = c < 0x80                 ? 1
                          : c >= 0xC2 && c <= 0xDF ? 2
                          : c >= 0xE0 && c <= 0xEF ? 3
                          : c >= 0xF0 && c <= 0xF4 ? 4
                                                   : 0;

    for (size_t i = 1; i < length; i++)
        if (((unsigned char)s[i] & 0xC0) != 0x80)
            return 0;
    return length;
}

void text_make_plain(char *s, const char *kept)
{
    while (*s) {
        const unsigned char c = (unsigned char)*s;
        const size_t length = utf8_length(s);

        if (length == 0 || ((c < ' ' || c == 0x7F) && !strchr(kept, c)))
            *s = '?';
        else if (is_c1(s))
            s[0] = s[1] = '?';
        else if (is_direction_control(s))
            s[0] = s[1] = s[2] = '?';
        s += length ? length : 1;
    }
}

void text_clear(text *t)
{
    t->length = 0;
    if (t->data)
        t->data[0] = '\0';
}

void text_free(text *t)
{
    free(t->data);
    *t = (text){0};
}

const char *text_get(const text *t)
{
    return t->data ? t->data : "";
}

enum { WORD_MAX = 64 };

/* Levenshtein distance of two words shorter than WORD_MAX (Wagner and Fischer, 1974); two
 * neighbours that changed places are one step (Damerau, 1964). */
static size_t distance(const char *a, const char *b)
{
    size_t row[WORD_MAX], above[WORD_MAX] = {0}; /* above: the row before the last */
    size_t nb = strlen(b);

    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0], before = 0; /* before: above[j - 2] */

        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);

            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before + 1 < best)
                best = before + 1;
            before = above[j - 1];
            above[j - 1] = diagonal;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[nb];
}

const char *text_closest(const char *word, const char *const *candidates, size_t count)
{
    const char *closest = NULL;
    size_t length = strlen(word);
    size_t limit = length / 3 ? length / 3 : 1;

    if (length >= WORD_MAX)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t d;

        if (strlen(candidates[i]) >= WORD_MAX)
            continue;
        d = distance(word, candidates[i]);
        if (d <= limit) {
            closest = candidates[i];
            limit = d - (d > 0);
        }
        if (d == 0)
            break;
    }
    return closest;
}
