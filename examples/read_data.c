#include "read_data.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "example.h"

/* All bytes that are left in `stream`, with a 0 behind them that is not counted. */
static tsr_status read_stream(FILE *stream, const char *name, char **bytes, size_t *size,
                              tsr_error *err)
{
    size_t capacity = 0, used = 0;
    char *buffer = NULL;

    while (!feof(stream)) {
        size_t wanted = capacity ? 2 * capacity : 65536;
        char *larger = realloc(buffer, wanted);

        if (!larger) {
            free(buffer);
            return example_fail(err, TSR_ENOMEM, "%s: no memory for %zu bytes", name, wanted);
        }
        buffer = larger;
        capacity = wanted;
        used += fread(buffer + used, 1, capacity - 1 - used, stream);
        if (ferror(stream)) {
            free(buffer);
            return example_fail(err, TSR_EFILE, "%s: %s", name, strerror(errno));
        }
    }
    buffer[used] = '\0';
    *bytes = buffer;
    *size = used;
    return TSR_OK;
}

static tsr_status read_file(const char *folder, const char *name, char **bytes, size_t *size,
                            tsr_error *err)
{
    size_t length = strlen(folder) + strlen(name) + 2;
    char *path = malloc(length);
    FILE *stream;
    tsr_status st;

    if (!path)
        return example_fail(err, TSR_ENOMEM, "%s: no memory for its path", name);
    snprintf(path, length, "%s/%s", folder, name);
    stream = fopen(path, "rb");
    if (stream)
        st = read_stream(stream, path, bytes, size, err);
    else
        st = example_fail(err, TSR_EFILE, "%s: %s", path, strerror(errno));
    if (stream)
        fclose(stream);
    free(path);
    return st;
}

/* NumPy's little-endian name of a type. */
static const char *npy_descr(tsr_type type)
{
    switch (type) {
    case TSR_F32:
        return "'descr': '<f4'";
    case TSR_I32:
        return "'descr': '<i4'";
    default:
        return "'descr': '<u4'";
    }
}

/*
 * The file is 6 bytes of magic, 2 of version, 2 with the length of the header,
 * and the header: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }
 * The elements follow to the end of the file.
 */
tsr_status read_npy(const char *folder, const char *name, tsr_type type, array *out, tsr_error *err)
{
    static const char shape_key[] = "'shape': (";
    size_t size, start, rows, columns = 1, count;
    char *bytes = NULL, *header, *shape, *end;
    tsr_status st = read_file(folder, name, &bytes, &size, err);

    if (st != TSR_OK)
        return st;
    if (size < 10 || memcmp(bytes, "\x93NUMPY\x01", 7) != 0)
        goto malformed;
    start = 10 + (size_t)(unsigned char)bytes[8] + 256 * (size_t)(unsigned char)bytes[9];
    if (start > size)
        goto malformed;
    header = bytes + 10;
    bytes[start - 1] = '\0'; /* was the header's newline */
    shape = strstr(header, shape_key);
    if (!shape || !strstr(header, npy_descr(type)) || !strstr(header, "'fortran_order': False"))
        goto malformed;
    rows = strtoul(shape + strlen(shape_key), &end, 10);
    if (*end == ',' && end[1] != ')')
        columns = strtoul(end + 1, NULL, 10);
    count = (size - start) / tsr_type_size(type);
    if ((size - start) % tsr_type_size(type) || columns == 0 || count % columns ||
        count / columns != rows)
        goto malformed;

    /* To the start, where malloc's alignment and free() apply. */
    memmove(bytes, bytes + start, size - start);
    *out = (array){.rows = rows, .columns = columns, .values = bytes};
    return TSR_OK;

malformed:
    free(bytes);
    return example_fail(err, TSR_EFILE, "%s/%s: not a .npy file of %s in C order, or damaged",
                        folder, name, tsr_type_name(type));
}

/* The next whole number of a text; *at moves behind it.  0 where there is none. */
static size_t next_number(char **at)
{
    return strtoul(*at, at, 10);
}

tsr_status read_pattern(const char *folder, const char *name, pattern *out, tsr_error *err)
{
    static const char banner[] = "%%MatrixMarket matrix coordinate pattern general\n";
    pattern p = {0};
    char *text = NULL, *at;
    size_t size;
    tsr_status st = read_file(folder, name, &text, &size, err);

    if (st != TSR_OK)
        return st;
    if (strncmp(text, banner, strlen(banner)) != 0)
        goto malformed;
    for (at = text; *at == '%'; at++) { /* comments; they start with the banner */
        at = strchr(at, '\n');
        if (!at)
            goto malformed;
    }
    p.rows = next_number(&at);
    p.columns = next_number(&at);
    p.count = next_number(&at);
    if (p.count > size) /* each takes at least a byte: a damaged count allocates nothing absurd */
        goto malformed;
    p.entries = calloc(p.count + 1, sizeof(*p.entries));
    if (!p.entries) {
        free(text);
        return example_fail(err, TSR_ENOMEM, "%s/%s: no memory for %zu entries", folder, name,
                            p.count);
    }
    for (size_t i = 0; i < p.count; i++) {
        size_t row = next_number(&at), column = next_number(&at);

        if (row < 1 || row > p.rows || column < 1 || column > p.columns)
            goto malformed;
        p.entries[i] = (entry){row - 1, column - 1};
    }
    free(text);
    *out = p;
    return TSR_OK;

malformed:
    free(p.entries);
    free(text);
    return example_fail(err, TSR_EFILE, "%s/%s: not a Matrix Market pattern, or damaged", folder,
                        name);
}

tsr_status read_lines(const char *folder, const char *name, size_t expected, lines *out,
                      tsr_error *err)
{
    lines l = {0};
    size_t size, count = 0;
    tsr_status st = read_file(folder, name, &l.text, &size, err);

    if (st != TSR_OK)
        return st;
    for (const char *at = l.text; (at = strchr(at, '\n')) != NULL; at++)
        l.count++;
    if (l.count != expected) {
        st = example_fail(err, TSR_EFILE, "%s/%s: has %zu lines and should have %zu", folder, name,
                          l.count, expected);
        goto cleanup;
    }
    l.line = calloc(expected + 1, sizeof(*l.line));
    if (!l.line) {
        st =
            example_fail(err, TSR_ENOMEM, "%s/%s: no memory for %zu lines", folder, name, expected);
        goto cleanup;
    }
    for (char *at = l.text; count < expected; count++) {
        l.line[count] = at;
        at = strchr(at, '\n');
        *at++ = '\0';
    }
    *out = l;
    l = (lines){0}; /* moved to the caller */

cleanup:
    lines_free(&l);
    return st;
}

void lines_free(lines *l)
{
    free(l->line);
    free(l->text);
    *l = (lines){0};
}
