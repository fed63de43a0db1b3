#include "session/source.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/files.h"
#include "session/embedded.h"

enum { INCLUDES_MAX = 16, NAME_SIZE = 64, SOURCE_MAX = 1 << 24 /* bytes */ };

/* The files that one expansion has taken in so far. */
typedef struct expansion {
    const char *folder;
    char done[INCLUDES_MAX][NAME_SIZE];
    size_t done_count;
} expansion;

static tsr_status read_embedded(const char *file, text *out, tsr_error *err)
{
    for (size_t i = 0; i < embedded_file_count; i++) {
        if (strcmp(embedded_files[i].name, file) == 0) {
            text_append(out, embedded_files[i].text);
            return TSR_OK;
        }
    }
    return tsr_fail(err, TSR_EFILE, 0, "kernel source '%s' is not in the library", file);
}

/* The path in a "SOURCE=PATH" that replaces this source; NULL where the text is none, or of another
 * source. */
static const char *replaced(const char *folder, const char *file)
{
    const size_t length = strlen(file);

    return source_is_replaced(folder) && !strncmp(folder, file, length) && folder[length] == '='
               ? folder + length + 1
               : NULL;
}

bool source_is_replaced(const char *folder)
{
    return folder && strstr(folder, ".cl=") != NULL;
}

static tsr_status read_path(const char *path, text *out, tsr_error *err)
{
    text why = {0};
    tsr_status st = TSR_OK;
    char *bytes;
    size_t size;

    if (file_read(path, SOURCE_MAX, FILE_OF_ANYBODY, &bytes, &size, &why)) {
        text_append_bytes(out, bytes, size);
        free(bytes);
    } else {
        st = tsr_fail(err, TSR_EFILE, 0, "kernel source '%s': %s", path, text_get(&why));
    }
    text_free(&why);
    return st;
}

static tsr_status read_from_folder(const char *folder, const char *file, text *out, tsr_error *err)
{
    text path = {0};
    tsr_status st;

    text_format(&path, "%s/%s", folder, file);
    st = read_path(text_get(&path), out, err);
    text_free(&path);
    return st;
}

static tsr_status read_source(const char *folder, const char *file, text *out, tsr_error *err)
{
    const char *path = replaced(folder, file);

    if (path)
        return read_path(path, out, err);
    return folder && *folder && !source_is_replaced(folder)
               ? read_from_folder(folder, file, out, err)
               : read_embedded(file, out, err);
}

/* The file named by a line `#include "NAME"`, into name; false where the line is none. */
static bool include_name(const char *line, size_t length, char name[NAME_SIZE])
{
    const char prefix[] = "#include \"";
    const char *start, *end;

    if (length < sizeof(prefix) || strncmp(line, prefix, sizeof(prefix) - 1) != 0)
        return false;
    start = line + sizeof(prefix) - 1;
    end = memchr(start, '"', length - (size_t)(start - line));
    if (!end || end - start >= NAME_SIZE)
        return false;
    memcpy(name, start, (size_t)(end - start));
    name[end - start] = '\0';
    return true;
}

/* Whether the file is new to this expansion; it is then counted in. */
static bool first_time(expansion *x, const char *file)
{
    for (size_t i = 0; i < x->done_count; i++)
        if (strcmp(x->done[i], file) == 0)
            return false;
    if (x->done_count < INCLUDES_MAX) {
        snprintf(x->done[x->done_count], NAME_SIZE, "%s", file);
        x->done_count++;
    }
    return true;
}

static tsr_status expand(expansion *x, const char *file, unsigned depth, text *out, tsr_error *err)
{
    text content = {0};
    char name[NAME_SIZE];
    unsigned line_number = 1;
    tsr_status st;

    if (!first_time(x, file))
        return TSR_OK;
    if (depth > INCLUDES_MAX)
        return tsr_fail(err, TSR_EFILE, 0, "kernel source '%s': includes go too deep", file);
    st = read_source(x->folder, file, &content, err);
    text_format(out, "#line 1 \"%s\"\n", file);
    for (const char *line = text_get(&content); *line && st == TSR_OK; line_number++) {
        const char *end = strchr(line, '\n');
        size_t length = end ? (size_t)(end - line) + 1 : strlen(line);

        if (include_name(line, length, name)) {
            st = expand(x, name, depth + 1, out, err);
            text_format(out, "#line %u \"%s\"\n", line_number + 1, file);
        } else {
            text_append_bytes(out, line, length);
        }
        line += length;
    }
    if (st == TSR_OK && (content.failed || out->failed))
        st = tsr_fail(err, TSR_ENOMEM, 0, "no memory for kernel source '%s'", file);
    text_free(&content);
    return st;
}

tsr_status source_read(const char *folder, const char *file, text *out, tsr_error *err)
{
    expansion x = {.folder = folder};

    return expand(&x, file, 0, out, err);
}

/* Whether the text has a word, which is `length` long and goes on with a bracket: a function. */
static bool has_function(const char *from, const char *end, const char *word, size_t length)
{
    for (const char *at = from + 1; at + length < end; at++)
        if (memcmp(at, word, length) == 0 && at[length] == '(' && strchr(" \n*", at[-1]))
            return true;
    return false;
}

/* Whether one of the names, each after a space, is a function of the text. */
static bool has_any(const char *from, const char *end, const char *names)
{
    for (const char *name = names + strspn(names, " "); *name; name += strspn(name, " ")) {
        const size_t length = strcspn(name, " ");

        if (has_function(from, end, name, length))
            return true;
        name += length;
    }
    return false;
}

/* Whether each #if of the lines ends among them, and no #else is that of one before. */
static bool is_closed(const char *from, const char *end)
{
    unsigned depth = 0;

    for (const char *line = from; line < end; line += strcspn(line, "\n") + 1) {
        if (strncmp(line, "#if", 3) == 0)
            depth++;
        else if (strncmp(line, "#e", 2) == 0 && depth == 0) /* #else, #elif, #endif, #error */
            return false;
        else if (strncmp(line, "#endif", 6) == 0)
            depth--;
    }
    return depth == 0;
}

/* What comes after a kernel whose first line this is; NULL where the line is none, or it has no
 * end. */
static const char *kernel_end(const char *line)
{
    const char *brace = strncmp(line, "__kernel", 8) == 0 ? strchr(line, '{') : NULL;
    const char *end = brace ? strstr(brace, "\n}\n") : NULL;

    return end ? end + 3 : NULL;
}

tsr_status source_keep(text *source, const char *runs, tsr_error *err)
{
    text kept = {0};

    if (!*runs)
        return TSR_OK;
    for (const char *line = text_get(source); *line;) {
        const char *end = kernel_end(line);

        if (end && !has_any(line, strchr(line, '{'), runs) && is_closed(line, end)) {
            for (; line < end; line++)
                if (*line == '\n')
                    text_append(&kept, "\n");
            continue;
        }
        if (!end)
            end = line + strcspn(line, "\n") + (strchr(line, '\n') != NULL);
        text_append_bytes(&kept, line, (size_t)(end - line));
        line = end;
    }
    if (source->failed || kept.failed) {
        text_free(&kept);
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for a kernel source");
    }
    text_free(source);
    *source = kept;
    return TSR_OK;
}
