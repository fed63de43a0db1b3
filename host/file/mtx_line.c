#include "file/mtx_line.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sizes.h"

/* Longest number that is read: float64 needs at most 767 significant digits. */
enum { NUMBER_MAX = 1023 };

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

bool mtx_next_line(mtx_reader *r, mtx_words *w)
{
    const char *stop, *at;

    if (r->at == r->end)
        return false;
    stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
    if (!stop)
        stop = r->end;
    w->count = 0;
    w->line = (mtx_slice){r->at, (size_t)(stop - r->at)};
    for (at = r->at; at < stop;) {
        const char *start;

        while (at < stop && is_blank(*at))
            at++;
        start = at;
        while (at < stop && !is_blank(*at))
            at++;
        if (at > start && w->count++ < sizeof(w->word) / sizeof(w->word[0]))
            w->word[w->count - 1] = (mtx_slice){start, (size_t)(at - start)};
    }
    r->at = stop < r->end ? stop + 1 : stop;
    r->line++;
    return true;
}

bool mtx_next_content(mtx_reader *r, mtx_words *w)
{
    while (mtx_next_line(r, w)) {
        if (w->count && w->word[0].s[0] != '%')
            return true;
    }
    return false;
}

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

bool mtx_word_is(mtx_slice word, const char *text)
{
    if (strlen(text) != word.length)
        return false;
    for (size_t i = 0; i < word.length; i++) {
        if (lower(word.s[i]) != text[i])
            return false;
    }
    return true;
}

bool mtx_count(mtx_slice word, size_t *out)
{
    size_t value = 0;

    for (size_t i = 0; i < word.length; i++) {
        if (word.s[i] < '0' || word.s[i] > '9' || !size_mul(value, 10, &value) ||
            !size_add(value, (size_t)(word.s[i] - '0'), &value))
            return false;
    }
    *out = value;
    return word.length > 0;
}

/* strtod over a word that holds nothing but characters of a decimal number:
 * its own words, hexadecimal and leading white space never reach it. */
static bool decimal(mtx_slice word, const char *characters, double *out)
{
    char copy[NUMBER_MAX + 1];
    char *stop;
    double value;

    if (word.length > NUMBER_MAX)
        return false;
    memcpy(copy, word.s, word.length);
    copy[word.length] = '\0';
    if (strspn(copy, characters) != word.length)
        return false;
    value = strtod(copy, &stop);
    if (stop == copy || *stop != '\0' || isinf(value))
        return false;
    *out = value;
    return true;
}

bool mtx_integer(mtx_slice word, double *out)
{
    const bool sign = word.length && (word.s[0] == '+' || word.s[0] == '-');
    char digits[NUMBER_MAX + 1];
    size_t at = sign;

    if (!decimal(word, "+-0123456789", out))
        return false;
    while (at + 1 < word.length && word.s[at] == '0')
        at++;
    snprintf(digits, sizeof(digits), "%.0f", fabs(*out));
    return strlen(digits) == word.length - at && !memcmp(digits, word.s + at, word.length - at);
}

bool mtx_real(mtx_slice word, double *out)
{
    bool minus = word.length && word.s[0] == '-';
    mtx_slice bare = word;

    if (decimal(word, "+-.0123456789eE", out))
        return true;
    if (minus || (word.length && word.s[0] == '+'))
        bare = (mtx_slice){word.s + 1, word.length - 1};
    if (mtx_word_is(bare, "nan"))
        *out = (double)NAN;
    else if (mtx_word_is(bare, "inf") || mtx_word_is(bare, "infinity"))
        *out = minus ? -(double)INFINITY : (double)INFINITY;
    else
        return false;
    return true;
}
