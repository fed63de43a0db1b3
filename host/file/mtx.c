#include "file/mtx.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "file/block.h"
#include "file/c_locale.h"
#include "file/excerpt.h"
#include "file/mtx_line.h"

typedef enum symmetry { GENERAL, SYMMETRIC, SKEW } symmetry;
typedef enum field { REAL, INTEGER, UNSIGNED, PATTERN } field;

/* What the banner and the size line say. */
typedef struct heading {
    bool coordinate;
    field field;
    symmetry symmetry;
    size_t rows, cols;
    size_t entries; /* lines to come */
    size_t bytes;   /* of the dense matrix */
} heading;

/* A message about one word of a line. */
static tsr_status bad_word(mtx_reader *r, const char *what, mtx_slice word, const char *expected)
{
    return tsr_fail(r->err, TSR_EFILE, 0, "%s: line %zu: %s: expected %s, found \"%s\"", r->name,
                    r->line, what, expected, excerpt_of(word.s, word.length).text);
}

static tsr_status bad_line(mtx_reader *r, const char *expected, const mtx_words *w)
{
    return tsr_fail(r->err, TSR_EFILE, 0, "%s: line %zu: expected %s, found \"%s\"", r->name,
                    r->line, expected, excerpt_of(w->line.s, w->line.length).text);
}

static tsr_status read_field(mtx_reader *r, mtx_slice word, heading *h)
{
    /* SciPy writes unsigned-integer, which the format's description lacks. */
    if (mtx_word_is(word, "real"))
        h->field = REAL;
    else if (mtx_word_is(word, "integer"))
        h->field = INTEGER;
    else if (mtx_word_is(word, "unsigned-integer"))
        h->field = UNSIGNED;
    else if (mtx_word_is(word, "pattern"))
        h->field = PATTERN;
    else if (mtx_word_is(word, "complex"))
        return tsr_fail(
            r->err, TSR_EFILE, 0,
            "%s: line 1: field: complex matrices are not read, only real, integer and pattern ones",
            r->name);
    else
        return bad_word(r, "field", word, "real, integer or pattern");
    return TSR_OK;
}

static tsr_status read_symmetry(mtx_reader *r, mtx_slice word, heading *h)
{
    if (mtx_word_is(word, "general"))
        h->symmetry = GENERAL;
    else if (mtx_word_is(word, "symmetric"))
        h->symmetry = SYMMETRIC;
    else if (mtx_word_is(word, "skew-symmetric"))
        h->symmetry = SKEW;
    else if (mtx_word_is(word, "hermitian"))
        return tsr_fail(r->err, TSR_EFILE, 0,
                        "%s: line 1: symmetry: hermitian matrices are not read, only general, "
                        "symmetric and skew-symmetric ones",
                        r->name);
    else
        return bad_word(r, "symmetry", word, "general, symmetric or skew-symmetric");
    return TSR_OK;
}

/* "%%MatrixMarket matrix coordinate real general" */
static tsr_status read_banner(mtx_reader *r, heading *h)
{
    mtx_words w;
    tsr_status status;

    if (!mtx_next_line(r, &w) || w.count == 0 || !mtx_word_is(w.word[0], "%%matrixmarket"))
        return tsr_fail(r->err, TSR_EFILE, 0, "%s: line 1: does not begin with %%%%MatrixMarket",
                        r->name);
    if (w.count != 5)
        return bad_line(r, "%%MatrixMarket OBJECT FORMAT FIELD SYMMETRY", &w);
    if (!mtx_word_is(w.word[1], "matrix"))
        return bad_word(r, "object", w.word[1], "matrix");
    h->coordinate = mtx_word_is(w.word[2], "coordinate");
    if (!h->coordinate && !mtx_word_is(w.word[2], "array"))
        return bad_word(r, "format", w.word[2], "array or coordinate");
    status = read_field(r, w.word[3], h);
    if (status)
        return status;
    status = read_symmetry(r, w.word[4], h);
    if (status)
        return status;
    if (h->field == PATTERN && !h->coordinate)
        return bad_word(r, "field", w.word[3], "real or integer in array format");
    if (h->field == PATTERN && h->symmetry == SKEW)
        return bad_word(r, "symmetry", w.word[4], "general or symmetric for a pattern");
    return TSR_OK;
}

/* Values that array format lists: all, or the lower triangle with or without the diagonal. */
static bool count_values(const heading *h, size_t *out)
{
    size_t n = h->rows, odd, even;

    if (h->symmetry == GENERAL)
        return size_mul(h->rows, h->cols, out);
    if (n == 0) {
        *out = 0;
        return true;
    }
    even = h->symmetry == SYMMETRIC ? n : n - 1;
    if (!size_add(even, 1, &odd))
        return false;
    return even % 2 ? size_mul(even, odd / 2, out) : size_mul(even / 2, odd, out);
}

/* "ROWS COLUMNS" or "ROWS COLUMNS ENTRIES" */
static tsr_status read_size(mtx_reader *r, size_t memory, heading *h)
{
    const char *expected = h->coordinate ? "ROWS COLUMNS ENTRIES" : "ROWS COLUMNS";
    mtx_words w;
    size_t cells;

    if (!mtx_next_content(r, &w))
        return tsr_fail(r->err, TSR_EFILE, 0, "%s: ends at line %zu, without its size line %s",
                        r->name, r->line, expected);
    if (w.count != (h->coordinate ? 3u : 2u) || !mtx_count(w.word[0], &h->rows) ||
        !mtx_count(w.word[1], &h->cols) || (h->coordinate && !mtx_count(w.word[2], &h->entries)))
        return bad_line(r, expected, &w);
    if (h->symmetry != GENERAL && h->rows != h->cols)
        return tsr_fail(r->err, TSR_EFILE, 0,
                        "%s: line %zu: a symmetric matrix is square, this one is %zu x %zu",
                        r->name, r->line, h->rows, h->cols);
    if (!size_mul(h->rows, h->cols, &cells) || !size_mul(cells, sizeof(double), &h->bytes) ||
        h->bytes > memory)
        return tsr_fail(r->err, TSR_EOVERFLOW, 0,
                        "%s: line %zu: %zu x %zu as a dense float64 matrix is more than the memory "
                        "of %zu bytes",
                        r->name, r->line, h->rows, h->cols, memory);
    if (!h->coordinate && !count_values(h, &h->entries))
        return bad_line(r, expected, &w);
    return TSR_OK;
}

/* A number of entries that the rest of the file cannot hold is refused before memory is allocated.
 */
static tsr_status check_rest(mtx_reader *r, const heading *h)
{
    size_t rest = (size_t)(r->end - r->at);
    size_t least = !h->coordinate ? 2 : h->field == PATTERN ? 4 : 6; /* "1\n", "1 1\n", "1 1 1\n" */
    size_t most = rest / least + (rest % least == least - 1); /* the last line may lack its end */

    if (h->entries <= most)
        return TSR_OK;
    return tsr_fail(r->err, TSR_EFILE, 0,
                    "%s: line %zu: too few entries: expected %zu, the remaining %zu bytes hold at "
                    "most %zu",
                    r->name, r->line, h->entries, rest, most);
}

static tsr_status read_value(mtx_reader *r, const heading *h, mtx_slice word, double *out)
{
    if (h->field == UNSIGNED && word.s[0] == '-')
        return bad_word(r, "value", word, "an integer of at least 0");
    if ((h->field == INTEGER || h->field == UNSIGNED) && !mtx_integer(word, out))
        return bad_word(r, "value", word, "an integer that float64 holds exactly");
    if (h->field == REAL && !mtx_real(word, out))
        return bad_word(r, "value", word, "a number within the range of float64");
    return TSR_OK;
}

/* The next line of the body, of which `done` are read; fails where there is none. */
static tsr_status next_entry(mtx_reader *r, const heading *h, size_t done, mtx_words *w)
{
    size_t words = !h->coordinate ? 1 : h->field == PATTERN ? 2 : 3;
    static const char *const forms[] = {NULL, "one VALUE", "ROW COLUMN", "ROW COLUMN VALUE"};

    if (!mtx_next_content(r, w))
        return tsr_fail(r->err, TSR_EFILE, 0,
                        "%s: too few entries: expected %zu, found %zu by its end at line %zu",
                        r->name, h->entries, done, r->line);
    if (w->count != words)
        return bad_line(r, forms[words], w);
    return TSR_OK;
}

static tsr_status read_index(mtx_reader *r, const char *what, mtx_slice word, size_t most,
                             size_t *out)
{
    size_t index;

    if (!mtx_count(word, &index))
        return bad_word(r, what, word, "an index");
    if (index < 1 || index > most)
        return tsr_fail(r->err, TSR_EFILE, 0, "%s: line %zu: %s %zu is not within 1 to %zu",
                        r->name, r->line, what, index, most);
    *out = index - 1;
    return TSR_OK;
}

/* A symmetric file lists its lower triangle alone. */
static tsr_status check_triangle(mtx_reader *r, const heading *h, size_t i, size_t j)
{
    if (h->symmetry != GENERAL && i < j)
        return tsr_fail(r->err, TSR_EFILE, 0,
                        "%s: line %zu: entry (%zu, %zu) is above the diagonal; a symmetric matrix "
                        "lists the lower triangle",
                        r->name, r->line, i + 1, j + 1);
    if (h->symmetry == SKEW && i == j)
        return tsr_fail(r->err, TSR_EFILE, 0,
                        "%s: line %zu: entry (%zu, %zu) is on the diagonal, which is zero in a "
                        "skew-symmetric matrix",
                        r->name, r->line, i + 1, j + 1);
    return TSR_OK;
}

/* Add up entries of one place; integers exactly.  The rest of a sum by Knuth's TwoSum. */
static tsr_status add_entry(mtx_reader *r, const heading *h, size_t i, size_t j, double value,
                            double *sum)
{
    const double before = *sum, after = before + value, added = after - before;

    if (h->field != REAL && (before - (after - added)) + (value - added) != 0)
        return tsr_fail(
            r->err, TSR_EFILE, 0,
            "%s: line %zu: entries at (%zu, %zu) up to here add up to an integer that float64 "
            "does not hold exactly",
            r->name, r->line, i + 1, j + 1);
    *sum = after;
    return TSR_OK;
}

static tsr_status read_coordinate(mtx_reader *r, const heading *h, double *dense)
{
    for (size_t e = 0; e < h->entries; e++) {
        mtx_words w;
        size_t i = 0, j = 0;
        double value = 1; /* a pattern's */
        tsr_status status = next_entry(r, h, e, &w);

        if (status)
            return status;
        status = read_index(r, "row", w.word[0], h->rows, &i);
        if (status)
            return status;
        status = read_index(r, "column", w.word[1], h->cols, &j);
        if (status)
            return status;
        status = check_triangle(r, h, i, j);
        if (status)
            return status;
        status = read_value(r, h, w.word[2], &value);
        if (status)
            return status;
        /* An entry, and its mirror image where the matrix has one. */
        status = add_entry(r, h, i, j, value, &dense[i * h->cols + j]);
        if (status)
            return status;
        if (h->symmetry != GENERAL && i != j)
            dense[j * h->cols + i] += h->symmetry == SKEW ? -value : value;
    }
    return TSR_OK;
}

/* Column after column; of a symmetric matrix, each from its diagonal down. */
static tsr_status read_values(mtx_reader *r, const heading *h, double *dense)
{
    size_t done = 0;

    /* A matrix without rows may have any number of columns to walk through. */
    for (size_t j = 0; j < h->cols && done < h->entries; j++) {
        for (size_t i = h->symmetry == GENERAL ? 0 : j + (h->symmetry == SKEW); i < h->rows; i++) {
            mtx_words w;
            double value;
            tsr_status status = next_entry(r, h, done++, &w);

            if (status)
                return status;
            status = read_value(r, h, w.word[0], &value);
            if (status)
                return status;
            dense[i * h->cols + j] = value;
            if (h->symmetry != GENERAL)
                dense[j * h->cols + i] = h->symmetry == SKEW ? -value : value;
        }
    }
    return TSR_OK;
}

static tsr_status read_body(mtx_reader *r, const heading *h, double *dense)
{
    mtx_words w;
    tsr_status status = h->coordinate ? read_coordinate(r, h, dense) : read_values(r, h, dense);

    if (status)
        return status;
    if (mtx_next_content(r, &w))
        return tsr_fail(r->err, TSR_EFILE, 0,
                        "%s: line %zu: too many entries: expected %zu, then found \"%s\"", r->name,
                        r->line, h->entries, excerpt_of(w.line.s, w.line.length).text);
    return TSR_OK;
}

static tsr_status read_matrix(mtx_reader *r, size_t memory, array *out)
{
    heading h = {0};
    void *dense = NULL;
    tsr_status status = read_banner(r, &h);

    if (status)
        return status;
    status = read_size(r, memory, &h);
    if (status)
        return status;
    status = check_rest(r, &h);
    if (status)
        return status;
    if (h.bytes) {
        status = block_allocate(r->name, h.bytes, &dense, r->err);
        if (status)
            return status;
        memset(dense, 0, h.bytes);
    }
    status = read_body(r, &h, dense);
    if (status)
        goto cleanup;
    *out = (array){.type = TSR_F64, .rank = 2, .shape = {h.rows, h.cols}, .data = dense};
    dense = NULL; /* moved to the caller */

cleanup:
    free(dense);
    return status;
}

tsr_status mtx_parse(const char *name, const unsigned char *bytes, size_t size, size_t memory,
                     array *out, tsr_error *err)
{
    mtx_reader r = {.name = name, .at = (const char *)bytes, .err = err};
    c_locale locale;
    tsr_status status;

    r.end = size ? r.at + size : r.at;
    if (!c_locale_enter(&locale))
        return tsr_fail(err, TSR_ENOMEM, 0, "%s: no memory for a locale", name);
    status = read_matrix(&r, memory, out);
    c_locale_leave(&locale);
    return status;
}

tsr_status mtx_read(input *s, array *out, tsr_error *err)
{
    void *bytes = NULL;
    size_t size;
    tsr_status status = input_take_block(s, SIZE_MAX, &bytes, &size, err);

    if (status)
        return status;
    status = mtx_parse(s->name, bytes, size, block_memory(), out, err);
    free(bytes);
    return status;
}
