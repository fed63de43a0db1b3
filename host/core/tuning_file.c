#include "core/tuning_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/files.h"
#include "base/hash.h"
#include "core/registry.h"
#include "file/output.h"
#include "session/embedded.h"

enum {
    FILE_MAX = 1 << 20 /* bytes; a tuning file has a few thousand */
};

void tuning_folder(text *out)
{
    const char *own = getenv("TESSERA_TUNING_DIR");
    const char *xdg, *home;

    if (own && *own)
        text_append(out, own);
    else if ((xdg = getenv("XDG_CONFIG_HOME")) && *xdg == '/')
        text_format(out, "%s/tessera/tuning", xdg);
    else if ((home = getenv("HOME")) && *home == '/')
        text_format(out, "%s/.config/tessera/tuning", home);
}

/* ---- names of files ---------------------------------------------------------------------- */

/* Letters, digits and '_' as they are, runs of anything else as one '-'. */
static void append_plain(const char *s, size_t most, text *out)
{
    const size_t start = out->length;

    for (; *s && out->length - start < most; s++) {
        bool plain = isalnum((unsigned char)*s) || *s == '_';

        if (plain)
            text_append_bytes(out, s, 1);
        else if (out->length > start && out->data[out->length - 1] != '-')
            text_append_bytes(out, "-", 1);
    }
}

/* "OPERATION.float32-nn-1024x1024x1024." */
static void class_prefix(const char *op, const char *problem_class, text *out)
{
    text_format(out, "%s.", op);
    append_plain(problem_class, 64, out);
    text_append(out, ".");
}

/* A hash of a text with its end, so that "ab" "c" and "a" "bc" differ. */
static uint64_t hash_text(uint64_t hash, const char *s)
{
    return hash_bytes(hash, s, strlen(s) + 1);
}

/* Whether a file of this name may hold entries of an operation and a class (NULL: any class).
 * "OP-ANYTHING.json" holds any class of OP; "OP.CLASS.DEVICE.HASH.json" is tuning_store's. */
static bool name_fits(const char *name, const char *op, const char *problem_class)
{
    const size_t length = strlen(name), op_length = strlen(op);
    text prefix = {0};
    bool fits;

    if (length < op_length + 6 || strcmp(name + length - 5, ".json") != 0 ||
        strncmp(name, op, op_length) != 0)
        return false;
    if (name[op_length] == '-')
        return true;
    if (name[op_length] != '.' || !problem_class || name[op_length + 1] == '.') /* of every class */
        return name[op_length] == '.';
    class_prefix(op, problem_class, &prefix);
    fits = strncmp(name, text_get(&prefix), prefix.length) == 0;
    text_free(&prefix);
    return fits;
}

static bool file_fits(const char *name, const operation *op, const char *problem_class)
{
    return name_fits(name, op->name, problem_class) ||
           (op->origin.op && name_fits(name, op->origin.op, problem_class));
}

/* ---- reading ----------------------------------------------------------------------------- */

/* A string field into `size` bytes; false, and why, where it is none or does not fit. */
static bool read_string(const json_t *entry, const char *key, char *out, size_t size, text *why)
{
    const json_t *value = json_object_get(entry, key);
    const char *s = json_string_value(value);

    if (!s) {
        text_format(why, "'%s' is %s", key, value ? "not a string" : "missing");
        return false;
    }
    if (strlen(s) != json_string_length(value) || strlen(s) >= size) {
        text_format(why, "'%s' is longer than %zu bytes", key, size - 1);
        return false;
    }
    for (const char *c = s; *c; c++) {
        if (iscntrl((unsigned char)*c)) {
            text_format(why, "'%s' has a control character", key);
            return false;
        }
    }
    strcpy(out, s);
    return true;
}

static bool read_entry(const json_t *entry, tuning *t, text *why)
{
    const struct {
        const char *key;
        char *field;
        size_t size;
    } fields[] = {{"op", t->op, sizeof(t->op)},
                  {"class", t->problem_class, sizeof(t->problem_class)},
                  {"variant", t->variant, sizeof(t->variant)},
                  {"parameters", t->parameters, sizeof(t->parameters)},
                  {"device", t->device, sizeof(t->device)},
                  {"driver", t->driver, sizeof(t->driver)},
                  {"family", t->family, sizeof(t->family)},
                  {"vendor", t->vendor, sizeof(t->vendor)},
                  {"kind", t->kind, sizeof(t->kind)},
                  {"problem", t->problem, sizeof(t->problem)}};
    const json_t *median = json_object_get(entry, "median_ns");

    if (!json_is_object(entry)) {
        text_append(why, "not an object");
        return false;
    }
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (!read_string(entry, fields[i].key, fields[i].field, fields[i].size, why))
            return false;
    t->median_ns = json_number_value(median);
    if (!json_is_number(median) || t->median_ns < 0) {
        text_append(why, "'median_ns' is not a time");
        return false;
    }
    return !json_object_get(entry, "faster_than") ||
           read_string(entry, "faster_than", t->faster_than, sizeof(t->faster_than), why);
}

/* The array of entries of a document, or NULL and why it has none. */
static const json_t *entries_of(const json_t *document, text *why)
{
    const json_t *schema = json_object_get(document, "schema");
    const json_t *entries = json_object_get(document, "entries");
    const char *name = json_string_value(schema);

    if (!name)
        text_append(why, "not a tuning file: it has no 'schema'");
    else if (strcmp(name, TUNING_SCHEMA) != 0)
        text_format(why, "its schema is '%.60s' and not '%s'", name, TUNING_SCHEMA);
    else if (!json_is_array(entries))
        text_append(why, "it has no array 'entries'");
    else
        return entries;
    return NULL;
}

/* Tells what is ignored.  False to stop. */
static bool ignore(const char *where, tuning_visit *visit, void *context, const text *why)
{
    return visit(NULL, where, text_get(why), context);
}

/* Whether files with entries of an operation have this name of one in them. */
static bool is_or_was(const operation *op, const char *name)
{
    return !strcmp(op->name, name) || (op->origin.op && !strcmp(op->origin.op, name));
}

/* Entries of a name that two operations share are those of the one whose class they have. */
static bool read_text(const operation *op, const char *source, size_t size, const char *where,
                      bool embedded, tuning_visit *visit, void *context)
{
    json_error_t error;
    json_t *document = json_loadb(source, size, JSON_REJECT_DUPLICATES, &error);
    const json_t *entries = NULL;
    text why = {0};
    bool more = true;

    if (!document)
        text_format(&why, "not JSON: line %d: %s", error.line, error.text);
    else
        entries = entries_of(document, &why);
    if (!entries)
        more = ignore(where, visit, context, &why);
    for (size_t i = 0; more && i < json_array_size(entries); i++) {
        tuning t = {.embedded = embedded};

        text_clear(&why);
        text_format(&why, "entry %zu: ", i);
        snprintf(t.where, sizeof(t.where), "%s", where);
        if (!read_entry(json_array_get(entries, i), &t, &why)) {
            more = ignore(where, visit, context, &why);
        } else if (operation_of_file(t.op, NULL, t.problem_class) == op) {
            snprintf(t.op, sizeof(t.op), "%s", op->name);
            more = visit(&t, where, NULL, context);
        } else if (!is_or_was(op, t.op)) {
            text_format(&why, "of the operation '%s'", t.op);
            more = ignore(where, visit, context, &why);
        }
    }
    json_decref(document);
    text_free(&why);
    return more;
}

void tuning_read_text(const operation *op, const char *source, size_t size, const char *where,
                      bool embedded, tuning_visit *visit, void *context)
{
    read_text(op, source, size, where, embedded, visit, context);
}

static bool read_file(const operation *op, const char *path, tuning_visit *visit, void *context)
{
    text why = {0};
    char *bytes = NULL;
    size_t size;
    bool more = file_read(path, FILE_MAX, FILE_OF_ANYBODY, &bytes, &size, &why)
                    ? read_text(op, bytes, size, path, false, visit, context)
                    : ignore(path, visit, context, &why);

    free(bytes);
    text_free(&why);
    return more;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of a folder that fit, sorted, so that what is found does not depend on the file system;
 * freed by the caller, each and all. */
static size_t list_names(const char *folder, const operation *op, const char *problem_class,
                         char ***out)
{
    DIR *dir = opendir(folder);
    char **names = NULL;
    struct dirent *e;
    size_t n = 0;

    while (dir && (e = readdir(dir))) {
        char **bigger;

        if (!file_fits(e->d_name, op, problem_class))
            continue;
        bigger = realloc(names, (n + 1) * sizeof(*names));
        if (!bigger || !(bigger[n] = strdup(e->d_name))) {
            names = bigger ? bigger : names;
            break;
        }
        names = bigger;
        n++;
    }
    if (dir)
        closedir(dir);
    if (n)
        qsort(names, n, sizeof(*names), by_name);
    *out = names;
    return n;
}

void tuning_read(const operation *op, const char *problem_class, tuning_visit *visit, void *context)
{
    text folder = {0}, path = {0};
    char **names = NULL;
    bool more = true;
    size_t n;

    tuning_folder(&folder);
    n = folder.length ? list_names(text_get(&folder), op, problem_class, &names) : 0;
    for (size_t i = 0; i < n; i++) {
        text_clear(&path);
        text_format(&path, "%s/%s", text_get(&folder), names[i]);
        more = more && read_file(op, text_get(&path), visit, context);
        free(names[i]);
    }
    free(names);
    for (size_t i = 0; more && i < embedded_tuning_count; i++) {
        const embedded_file *f = &embedded_tunings[i];

        if (file_fits(f->name, op, NULL))
            more = read_text(op, f->text, strlen(f->text), f->name, true, visit, context);
    }
    text_free(&folder);
    text_free(&path);
}

/* ---- writing ----------------------------------------------------------------------------- */

tsr_status tuning_write_text(const tuning *entries, size_t count, text *out, tsr_error *err)
{
    json_t *list = json_array(), *document;
    char *dump;

    for (size_t i = 0; i < count; i++) {
        const tuning *t = &entries[i];
        json_t *entry;

        /* Times are whole nanoseconds: more digits say nothing. */
        entry = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I}", "op", t->op,
                          "class", t->problem_class, "variant", t->variant, "parameters",
                          t->parameters, "problem", t->problem, "device", t->device, "driver",
                          t->driver, "family", t->family, "vendor", t->vendor, "kind", t->kind,
                          "median_ns", (json_int_t)llround(t->median_ns));
        if (*t->faster_than)
            json_object_set_new(entry, "faster_than", json_string(t->faster_than));
        json_array_append_new(list, entry);
    }
    document = json_pack("{s:s, s:o}", "schema", TUNING_SCHEMA, "entries", list);
    dump = document && json_array_size(json_object_get(document, "entries")) == count
               ? json_dumps(document, JSON_INDENT(2))
               : NULL;
    json_decref(document);
    if (!dump)
        return tsr_fail(err, TSR_ENOMEM, 0,
                        "the tuning entry cannot be written: a name in it is not UTF-8, or there "
                        "is no memory for it");
    text_format(out, "%s\n", dump);
    free(dump);
    return TSR_OK;
}

static tsr_status make_folders(const char *path, tsr_error *err)
{
    return folders_make(path)
               ? TSR_OK
               : tsr_fail(err, TSR_EFILE, 0, "tuning folder '%s': %s", path, strerror(errno));
}

/* The user's folder, which must have a name. */
static tsr_status find_folder(text *out, tsr_error *err)
{
    tuning_folder(out);
    if (out->failed)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for the name of the tuning folder");
    if (!out->length)
        return tsr_fail(err, TSR_EFILE, 0,
                        "no tuning folder: none of TESSERA_TUNING_DIR, XDG_CONFIG_HOME and HOME "
                        "names one");
    return TSR_OK;
}

tsr_status tuning_check_folder(tsr_error *err)
{
    text path = {0};
    tsr_status st = find_folder(&path, err);
    char *there, *slash;

    if (st)
        goto cleanup;
    /* The nearest folder that is there: in it the others would be made. */
    there = path.data;
    while (access(there, F_OK) != 0 && errno == ENOENT) {
        slash = strrchr(there, '/');
        if (!slash || slash == there) {
            strcpy(there, slash ? "/" : ".");
            break;
        }
        *slash = '\0';
    }
    if (access(there, W_OK | X_OK) != 0) {
        const int code = errno;

        text_clear(&path);
        tuning_folder(&path);
        st = tsr_fail(err, TSR_EFILE, 0, "tuning folder '%s': %s", text_get(&path), strerror(code));
    }

cleanup:
    text_free(&path);
    return st;
}

/* Of the process, since any session may store what another one remembers. */
static atomic_uint stored;

unsigned tuning_stored(void)
{
    return atomic_load(&stored);
}

tsr_status tuning_store(const tuning *t, text *where, tsr_error *err)
{
    text path = {0}, content = {0};
    output *file = NULL;
    tsr_status st = find_folder(&path, err);

    st = st ? st : tuning_write_text(t, 1, &content, err);
    if (st == TSR_OK)
        st = make_folders(text_get(&path), err);
    if (st != TSR_OK)
        goto cleanup;
    text_append(&path, "/");
    /* The hash distinguishes what the plain names leave out. */
    class_prefix(t->op, t->problem_class, &path);
    append_plain(t->device, 48, &path);
    text_format(&path, ".%016llx.json",
                (unsigned long long)hash_text(
                    hash_text(hash_text(HASH_START, t->problem_class), t->device), t->driver));
    st = output_open(text_get(&path), &file, err);
    if (st == TSR_OK)
        st = output_write_bytes(file, text_get(&content), content.length, err);
    if (st != TSR_OK)
        goto cleanup;
    st = output_commit(file, NULL, err);
    file = NULL; /* freed by it */
    if (st == TSR_OK)
        atomic_fetch_add(&stored, 1);
    if (st == TSR_OK && where)
        text_append(where, text_get(&path));

cleanup:
    output_discard(file);
    text_free(&path);
    text_free(&content);
    return st;
}
