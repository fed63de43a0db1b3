#include "file/npy_header.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "file/byte_order.h"
#include "file/excerpt.h"

/* The dictionary while it is read. */
typedef struct reader {
    const char *name;
    const char *start, *at, *end;
    bool any; /* elements of types that are not read may come */
    tsr_error *err;
} reader;

typedef struct slice {
    const char *s;
    size_t length;
} slice;

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The next character that is no white space, or NUL at the end. */
static char peek(reader *r)
{
    while (r->at < r->end && is_space(*r->at))
        r->at++;
    return (char)(r->at < r->end ? *r->at : '\0');
}

static bool skip(reader *r, char c)
{
    if (peek(r) != c)
        return false;
    r->at++;
    return true;
}

static tsr_status malformed(reader *r, const char *expected)
{
    peek(r);
    if (r->at == r->end)
        return tsr_fail(r->err, TSR_EFILE, 0, "%s: header: expected %s, found its end", r->name,
                        expected);
    return tsr_fail(r->err, TSR_EFILE, 0, "%s: header: expected %s at byte %td, found \"%s\"",
                    r->name, expected, r->at - r->start,
                    excerpt_of(r->at, (size_t)(r->end - r->at)).text);
}

/* A string in either quote.  Escapes are refused: none of the strings we know needs one. */
static tsr_status read_string(reader *r, const char *expected, slice *out)
{
    char quote = peek(r);
    const char *s, *close;

    if (quote != '\'' && quote != '"')
        return malformed(r, expected);
    s = r->at + 1;
    close = memchr(s, quote, (size_t)(r->end - s));
    if (!close || memchr(s, '\\', (size_t)(close - s)) || memchr(s, '\n', (size_t)(close - s)))
        return malformed(r, expected);
    *out = (slice){s, (size_t)(close - s)};
    r->at = close + 1;
    return TSR_OK;
}

static bool skip_word(reader *r, const char *word)
{
    size_t length = strlen(word);

    peek(r);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

static tsr_status read_fortran(reader *r, npy_header *h)
{
    if (skip_word(r, "True"))
        h->fortran = true;
    else if (skip_word(r, "False"))
        h->fortran = false;
    else
        return malformed(r, "True or False for 'fortran_order'");
    return TSR_OK;
}

static tsr_status read_extent(reader *r, size_t *out)
{
    const char *start, *digits;
    size_t value = 0;
    bool fits = true;

    peek(r);
    start = digits = r->at;
    if (digits < r->end && *digits == '-')
        digits++;
    for (r->at = digits; r->at < r->end && is_digit(*r->at); r->at++)
        fits =
            fits && size_mul(value, 10, &value) && size_add(value, (size_t)(*r->at - '0'), &value);
    if (r->at == digits || (*digits == '0' && r->at - digits > 1)) {
        r->at = start;
        return malformed(r, "a number in 'shape'");
    }
    if (digits != start)
        return tsr_fail(r->err, TSR_EFILE, 0, "%s: shape: %s is negative", r->name,
                        excerpt_of(start, (size_t)(r->at - start)).text);
    if (!fits)
        return tsr_fail(r->err, TSR_EFILE, 0, "%s: shape: %s is beyond %zu", r->name,
                        excerpt_of(start, (size_t)(r->at - start)).text, (size_t)SIZE_MAX);
    if (r->at < r->end && *r->at == 'L') /* how Python 2 wrote a long */
        r->at++;
    *out = value;
    return TSR_OK;
}

/* A tuple: (), (3,), (3, 4) or (3, 4,).  (3) is a number to Python, and refused. */
static tsr_status read_shape(reader *r, npy_header *h)
{
    size_t rank = 0;
    bool comma = true;

    if (!skip(r, '('))
        return malformed(r, "a tuple for 'shape'");
    for (size_t i = 0; i < ARRAY_RANK_MAX; i++)
        h->shape[i] = 1;
    while (!skip(r, ')')) {
        size_t extent = 0;
        tsr_status status;

        if (!comma)
            return malformed(r, "',' or ')' in 'shape'");
        status = read_extent(r, &extent);
        if (status)
            return status;
        if (rank < ARRAY_RANK_MAX)
            h->shape[rank] = extent;
        rank++;
        comma = skip(r, ',');
        if (rank == 1 && !comma)
            return malformed(r, "',' after the number in 'shape'");
    }
    if (rank > ARRAY_RANK_MAX)
        return tsr_fail(r->err, TSR_EFILE, 0, "%s: shape: has %zu dimensions; at most %d are read",
                        r->name, rank, ARRAY_RANK_MAX);
    h->rank = (unsigned)rank;
    return TSR_OK;
}

/* What a kind that is not read is called, by the letter that NumPy gives it; NULL for no kind. */
static const char *refused_kind(char kind)
{
    static const struct {
        char kind;
        const char *what;
    } kinds[] = {
        {'b', "a boolean of a size"}, {'c', "a complex number of a size"},
        {'M', "a datetime64"},        {'m', "a timedelta64"},
        {'O', "a Python object"},     {'S', "a byte string"},
        {'a', "a byte string"},       {'U', "a Unicode string"},
        {'V', "a void record"},       {'f', "a float of a size"},
        {'i', "an int of a size"},    {'u', "a uint of a size"},
    };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (kinds[i].kind == kind)
            return kinds[i].what;
    }
    return NULL;
}

static tsr_status refuse_descr(reader *r, slice descr, const char *what)
{
    return tsr_fail(
        r->err, TSR_EFILE, 0, "%s: descr: '%s' is %s%s; %s are", r->name,
        excerpt_of(descr.s, descr.length).text, what ? what : "no type that is read",
        what ? " that is not read" : "",
        r->any ? "elements of a fixed size"
               : "float of 16 to 64 bits, complex of 64 and 128, int and uint of 8 to 64 bits "
                 "and bool");
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "[25us]", the unit of a date or time. */
static bool is_unit(slice s)
{
    if (s.length < 3 || s.s[0] != '[' || s.s[s.length - 1] != ']')
        return false;
    for (size_t i = 1; i < s.length - 1; i++)
        if (!is_letter(s.s[i]) && !is_digit(s.s[i]) && s.s[i] != '/')
            return false;
    return true;
}

/* A letter, a size and, of a date or time, a unit, behind `prefix` characters: "<c16", "<M8[ns]".
 */
static bool read_opaque(slice descr, size_t prefix, npy_header *h)
{
    static const char kinds[] = {'b', 'f', 'i', 'u', 'c', 'S', 'a', 'U', 'V', 'M', 'm'};
    size_t size = 0, at = prefix + 1;
    char kind;

    if (descr.length <= prefix || descr.length > ARRAY_DESCR_MAX ||
        !memchr(kinds, descr.s[prefix], sizeof(kinds)))
        return false;
    kind = descr.s[prefix];
    for (; at < descr.length && is_digit(descr.s[at]); at++)
        size = size * 10 + (size_t)(descr.s[at] - '0'); /* too few digits to exceed it */
    if (size == 0 || !size_mul(size, kind == 'U' ? 4 : 1, &size))
        return false;
    if (at < descr.length &&
        ((kind != 'M' && kind != 'm') || !is_unit((slice){descr.s + at, descr.length - at})))
        return false;
    h->opaque = size;
    memcpy(h->descr, descr.s, descr.length);
    h->descr[descr.length] = '\0';
    h->swapped = false;
    return true;
}

static tsr_status read_descr(reader *r, npy_header *h)
{
    static const struct {
        char text[4];
        tsr_type type;
        bool moved; /* where elements are moved alone, as they are */
    } types[] = {
        {"f2", TSR_F16},       {"f4", TSR_F32},         {"f8", TSR_F64},          {"i1", TSR_I8},
        {"i2", TSR_I16},       {"i4", TSR_I32},         {"i8", TSR_I64},          {"u1", TSR_U8},
        {"u2", TSR_U16},       {"u4", TSR_U32},         {"u8", TSR_U64},          {"V2", TSR_BF16},
        {"c8", TSR_C64, true}, {"c16", TSR_C128, true}, {"V1", TSR_F8E4M3, true},
    };
    slice descr = {NULL, 0};
    size_t prefix;
    tsr_status status;

    if (peek(r) == '[' || peek(r) == '(')
        return tsr_fail(r->err, TSR_EFILE, 0,
                        "%s: descr: a structured type is not read; save one field as an array",
                        r->name);
    status = read_string(r, "a string for 'descr'", &descr);
    if (status)
        return status;
    prefix = descr.length && descr.s[0] && strchr("<>=|", descr.s[0]) ? 1 : 0;
    h->swapped = prefix && ((descr.s[0] == '<' && !host_is_little()) ||
                            (descr.s[0] == '>' && host_is_little()));
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        const size_t length = strlen(types[i].text);

        if (descr.length == prefix + length && !(r->any && types[i].moved) &&
            memcmp(descr.s + prefix, types[i].text, length) == 0) {
            h->type = types[i].type;
            return TSR_OK;
        }
    }
    if ((descr.length == prefix + 2 && memcmp(descr.s + prefix, "b1", 2) == 0) ||
        (descr.length == prefix + 1 && descr.s[prefix] == '?')) {
        h->type = TSR_U8;
        h->boolean = true;
        return TSR_OK;
    }
    if (r->any && read_opaque(descr, prefix, h))
        return TSR_OK;
    return refuse_descr(r, descr, descr.length > prefix ? refused_kind(descr.s[prefix]) : NULL);
}

typedef tsr_status value_reader(reader *r, npy_header *h);

static const struct {
    const char *key;
    value_reader *read;
} keys[] = {{"descr", read_descr}, {"fortran_order", read_fortran}, {"shape", read_shape}};

enum { KEYS = sizeof(keys) / sizeof(keys[0]) };

/* "'key': value" */
static tsr_status read_entry(reader *r, bool seen[KEYS], npy_header *h)
{
    slice key = {NULL, 0};
    size_t i = 0;
    tsr_status status = read_string(r, "a key in quotes", &key);

    if (status)
        return status;
    while (i < KEYS &&
           (strlen(keys[i].key) != key.length || memcmp(keys[i].key, key.s, key.length) != 0))
        i++;
    if (i == KEYS)
        return tsr_fail(r->err, TSR_EFILE, 0, "%s: header: unknown key '%s'", r->name,
                        excerpt_of(key.s, key.length).text);
    if (seen[i])
        return tsr_fail(r->err, TSR_EFILE, 0, "%s: header: key '%s' stands twice", r->name,
                        keys[i].key);
    seen[i] = true;
    if (!skip(r, ':'))
        return malformed(r, "':' after a key");
    return keys[i].read(r, h);
}

static tsr_status read_dictionary(reader *r, npy_header *h)
{
    bool seen[KEYS] = {false};
    bool comma = true;

    if (!skip(r, '{'))
        return malformed(r, "'{'");
    while (!skip(r, '}')) {
        tsr_status status;

        if (!comma)
            return malformed(r, "',' or '}'");
        status = read_entry(r, seen, h);
        if (status)
            return status;
        comma = skip(r, ',');
    }
    peek(r);
    if (r->at != r->end)
        return malformed(r, "nothing after '}'");
    for (size_t i = 0; i < KEYS; i++) {
        if (!seen[i])
            return tsr_fail(r->err, TSR_EFILE, 0, "%s: header: key '%s' is missing", r->name,
                            keys[i].key);
    }
    return TSR_OK;
}

/* Magic, version and length: where the dictionary starts and how long it is. */
static tsr_status read_preamble(const char *name, const unsigned char *bytes, size_t size,
                                size_t *start, size_t *length, tsr_error *err)
{
    static const unsigned char magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
    size_t wide;

    if (memcmp(bytes, magic, size_min(size, sizeof(magic))) != 0)
        return tsr_fail(err, TSR_EFILE, 0, "%s: magic: \"%s\" is not \"\\x93NUMPY\"", name,
                        excerpt_of((const char *)bytes, size_min(size, sizeof(magic))).text);
    if (size < 8)
        return tsr_fail(err, TSR_EFILE, 0, "%s: header: truncated at byte %zu", name, size);
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
        return tsr_fail(err, TSR_EFILE, 0, "%s: version: %u.%u is none of 1.0, 2.0 and 3.0", name,
                        (unsigned)bytes[6], (unsigned)bytes[7]);
    wide = bytes[6] == 1 ? 2 : 4;
    if (size < 8 + wide)
        return tsr_fail(err, TSR_EFILE, 0, "%s: header: truncated at byte %zu", name, size);
    *start = 8 + wide;
    *length = 0;
    for (size_t i = wide; i-- > 0;)
        *length = *length << 8 | bytes[8 + i];
    if (*length > NPY_HEADER_MAX)
        return tsr_fail(err, TSR_EFILE, 0, "%s: header: its length, %zu bytes, is beyond %d", name,
                        *length, NPY_HEADER_MAX);
    if (*length > size - *start)
        return tsr_fail(err, TSR_EFILE, 0, "%s: header: truncated, expected %zu bytes, found %zu",
                        name, *length, size - *start);
    return TSR_OK;
}

/* Of as many of its extents as fit. */
static tsr_status refuse_shape(const reader *r, const npy_header *h)
{
    char shape[100] = "";
    size_t length = 0;

    for (unsigned i = 0; i < h->rank && length < sizeof(shape); i++)
        length += (size_t)snprintf(shape + length, sizeof(shape) - length, "%s%zu", i ? ", " : "",
                                   h->shape[i]);
    return tsr_fail(r->err, TSR_EFILE, 0, "%s: shape: (%s%s) of %s is beyond %zu bytes", r->name,
                    shape, length < sizeof(shape) ? "" : "...",
                    h->opaque ? h->descr : tsr_type_name(h->type), (size_t)SIZE_MAX);
}

tsr_status npy_header_parse(const char *name, const unsigned char *bytes, size_t size, bool any,
                            npy_header *h, tsr_error *err)
{
    npy_header new = {.rank = 0};
    size_t start = 0, length = 0, count = 1;
    bool fits = true;
    reader r = {.name = name, .any = any, .err = err};
    tsr_status status = read_preamble(name, bytes, size, &start, &length, err);

    if (status)
        return status;
    r.start = r.at = (const char *)bytes + start;
    r.end = r.start + length;
    status = read_dictionary(&r, &new);
    if (status)
        return status;
    new.offset = start + length;
    for (unsigned i = 0; i < new.rank; i++)
        fits = fits && size_mul(count, new.shape[i], &count);
    if (!fits || !size_mul(count, new.opaque ? new.opaque : tsr_type_size(new.type), &new.bytes))
        return refuse_shape(&r, &new);
    *h = new;
    return TSR_OK;
}
