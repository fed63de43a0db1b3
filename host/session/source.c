#include "session/source.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

/* The library's text of a file, whose name ends at `length`; NULL where it has none. */
static const char *embedded(const char *file, size_t length)
{
    for (size_t i = 0; i < embedded_file_count; i++)
        if (strncmp(embedded_files[i].name, file, length) == 0 && !embedded_files[i].name[length])
            return embedded_files[i].text;
    return NULL;
}

static bool is_folder(const char *path)
{
    struct stat there;

    return stat(path, &there) == 0 && S_ISDIR(there.st_mode);
}

/* The bytes of SOURCE in "SOURCE=PATH"; 0 where the text is none: folders may be called so. */
static size_t replaced_length(const char *folder)
{
    const char *end = folder ? strstr(folder, ".cl=") : NULL;

    return end && !is_folder(folder) ? (size_t)(end - folder) + strlen(".cl") : 0;
}

const char *source_replacement(const char *folder, const char *file)
{
    const size_t length = replaced_length(folder);

    return length && strlen(file) == length && !strncmp(folder, file, length) ? folder + length + 1
                                                                              : NULL;
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

tsr_status source_check(const char *folder, tsr_error *err)
{
    const size_t length = replaced_length(folder);
    text content = {0};
    tsr_status st;

    if (!folder || !*folder || is_folder(folder))
        return TSR_OK;
    if (!length)
        return tsr_fail(err, TSR_EFILE, 0, "kernel folder '%s' is no folder that can be read",
                        folder);
    if (!embedded(folder, length))
        return tsr_fail(err, TSR_EFILE, 0,
                        "kernel folder '%s' is no folder, and '%.*s' no source that a file can "
                        "replace",
                        folder, (int)(length < 100 ? length : 100), folder);
    st = read_path(folder + length + 1, &content, err);
    text_free(&content);
    return st;
}

static tsr_status read_source(const char *folder, const char *file, text *out, tsr_error *err)
{
    const char *path = source_replacement(folder, file);
    text in_folder = {0};
    const char *own;
    tsr_status st;

    if (path)
        return read_path(path, out, err);
    if (folder && *folder && !replaced_length(folder)) {
        text_format(&in_folder, "%s/%s", folder, file);
        st = read_path(text_get(&in_folder), out, err);
        text_free(&in_folder);
        return st;
    }
    own = embedded(file, strlen(file));
    if (!own)
        return tsr_fail(err, TSR_EFILE, 0, "kernel source '%s' is not in the library", file);
    text_append(out, own);
    return TSR_OK;
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

/* Whether a line of a replacement is `#line NUMBER "FILE"` of the file that it replaces: what
 * `tessera kernels --source` prints has them. */
static bool names_file(const char *line, size_t length, const char *file)
{
    const char *name = memchr(line, '"', length);
    const size_t name_length = strlen(file);

    return length > 6 && strncmp(line, "#line ", 6) == 0 && name &&
           (size_t)(line + length - name) > name_length + 1 &&
           strncmp(name + 1, file, name_length) == 0 && name[name_length + 1] == '"';
}

static tsr_status expand(expansion *x, const char *file, unsigned depth, text *out, tsr_error *err)
{
    text content = {0};
    char name[NAME_SIZE];
    const char *said = source_replacement(x->folder, file);
    unsigned line_number = 1;
    tsr_status st;

    if (!first_time(x, file))
        return TSR_OK;
    if (depth > INCLUDES_MAX)
        return tsr_fail(err, TSR_EFILE, 0, "kernel source '%s': includes go too deep", file);
    if (!said || strpbrk(said, "\"\\\n")) /* which #line cannot hold */
        said = file;
    st = read_source(x->folder, file, &content, err);
    text_format(out, "#line 1 \"%s\"\n", said);
    for (const char *line = text_get(&content); *line && st == TSR_OK; line_number++) {
        const char *end = strchr(line, '\n');
        size_t length = end ? (size_t)(end - line) + 1 : strlen(line);

        if (include_name(line, length, name)) {
            st = expand(x, name, depth + 1, out, err);
            text_format(out, "#line %u \"%s\"\n", line_number + 1, said);
        } else if (said != file && names_file(line, length, file)) {
            /* Lines are those of the replacement, whose beginning has been named. */
            if (strtoul(line + 6, NULL, 10) == 1)
                text_append(out, "\n");
            else
                text_format(out, "#line %u \"%s\"\n", line_number + 1, said);
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
