/* tessera lesson: pages that show kernels at work, from traces of them. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "cli/activity.h"
#include "cli/bench_problem.h"
#include "cli/commands.h"
#include "cli/device_choice.h"
#include "cli/json_print.h"
#include "cli/messages.h"
#include "cli/terminal.h"
#include "core/registry.h"
#include "file/output.h"
#include "measure/lesson_run.h"
#include "measure/overlap.h"
#include "session/embedded.h"

/* data/lessons/: each lesson as JSON, and the page. */
extern const embedded_file embedded_lessons[];
extern const size_t embedded_lesson_count;

static const char page_name[] = "lesson.html";

/* ---- the list -------------------------------------------------------------------------------- */

/* Lesson i in the order of the course, or NULL; the caller releases it. */
static json_t *lesson_at(size_t i)
{
    json_t *next = NULL;
    json_int_t after = 0;

    for (size_t n = 0; n <= i; n++) {
        json_decref(next);
        next = NULL;
        for (size_t k = 0; k < embedded_lesson_count; k++) {
            json_t *lesson = strcmp(embedded_lessons[k].name, page_name) != 0
                                 ? json_loads(embedded_lessons[k].text, 0, NULL)
                                 : NULL;
            const json_int_t place = json_integer_value(json_object_get(lesson, "number"));

            if (lesson && place > after &&
                (!next || place < json_integer_value(json_object_get(next, "number")))) {
                json_decref(next);
                next = json_incref(lesson);
            }
            json_decref(lesson);
        }
        if (!next)
            return NULL;
        after = json_integer_value(json_object_get(next, "number"));
    }
    return next;
}

static const char *member(const json_t *object, const char *name)
{
    const char *value = json_string_value(json_object_get(object, name));

    return value ? value : "";
}

static size_t number(const json_t *object, const char *name)
{
    return (size_t)json_integer_value(json_object_get(object, name));
}

/* Names and titles of all, in the order of the course. */
static json_t *names_json(void)
{
    json_t *names = json_array(), *lesson;

    for (size_t i = 0; (lesson = lesson_at(i)); i++) {
        json_array_append_new(names,
                              json_pack("{s:O, s:O}", "name", json_object_get(lesson, "name"),
                                        "title", json_object_get(lesson, "title")));
        json_decref(lesson);
    }
    return names;
}

/* Without a name, options that are about making a page would do nothing. */
static int list(const options *o)
{
    const size_t width = terminal_width(STDOUT_FILENO);
    json_t *names;

    for (option_id id = 0; id < OPTION_COUNT; id++)
        if (o->given[id] && id != OPTION_JSON && id != OPTION_QUIET)
            return wrong_usage("lesson: --%s needs the name of a lesson, or all", option_name(id));
    names = names_json();
    if (o->given[OPTION_JSON])
        return json_print(json_pack("{s:s, s:o}", "schema", "tessera-lessons-1", "lessons", names));
    for (size_t i = 0; i < json_array_size(names); i++) {
        const json_t *lesson = json_array_get(names, i);
        text line = {0};

        text_format(&line, "  %-12s  ", member(lesson, "name"));
        text_wrap(&line, member(lesson, "title"), 16, 16, width);
        puts(text_get(&line));
        text_free(&line);
    }
    json_decref(names);
    puts("\n'tessera lesson NAME -o FILE.html' writes the page of one, 'tessera lesson all -o "
         "FOLDER' of each.");
    return EXIT_DONE;
}

void lesson_names(text *out)
{
    json_t *lesson = lesson_at(0);

    for (size_t i = 1; lesson; i++) {
        json_t *next = lesson_at(i);

        text_format(out, "%s%s", next ? ", " : " or ", member(lesson, "name"));
        json_decref(lesson);
        lesson = next;
    }
}

/* Lesson by name; NULL and a message where there is none. */
static json_t *lesson_named(const char *name, tsr_error *err)
{
    const char *names[64];
    json_t *lessons[64], *found = NULL;
    const char *closest;
    text known = {0};
    size_t count = 0;

    for (; count < 64 && (lessons[count] = lesson_at(count)); count++) {
        names[count] = member(lessons[count], "name");
        text_format(&known, ", %s", names[count]);
        if (!strcmp(names[count], name))
            found = json_incref(lessons[count]);
    }
    closest = text_closest(name, names, count);
    if (!found)
        tsr_fail(err, TSR_ENAME, 0, "no lesson '%s'%s%s%s (lesson takes all%s)", name,
                 closest ? ": did you mean '" : "", closest ? closest : "", closest ? "'?" : "",
                 text_get(&known));
    for (size_t i = 0; i < count; i++)
        json_decref(lessons[i]);
    text_free(&known);
    return found;
}

/* ---- running --------------------------------------------------------------------------------- */

enum { OPTIONS_MAX = 8 };

/* Those of a run's problem, as `bench` takes them, without their dashes; `given` keeps them. */
static tsr_status read_options(json_t *list, given_option given[OPTIONS_MAX], options *out,
                               tsr_error *err)
{
    const char *name;
    json_t *value;

    out->settings.list = given;
    json_object_foreach(list, name, value)
    {
        const char *given_value = json_string_value(value);
        int type = 0;

        if (!given_value || out->settings.count == OPTIONS_MAX)
            return tsr_fail(err, TSR_EINVAL, 0,
                            "the lesson's option %s is no text, or one too many", name);
        if (strcmp(name, "type") != 0) {
            given[out->settings.count++] = (given_option){name, given_value};
            continue;
        }
        while (type < TSR_TYPE_COUNT && strcmp(given_value, tsr_type_name((tsr_type)type)) != 0)
            type++;
        if (type == TSR_TYPE_COUNT)
            return tsr_fail(err, TSR_EINVAL, 0, "the lesson's type '%s' is none", given_value);
        out->type = (tsr_type)type;
        out->given[OPTION_TYPE] = true;
    }
    return TSR_OK;
}

/* What the lesson says of a run, as the library takes it. */
static tsr_status read_run(const json_t *run, const options *o, problem *p, selection *sel,
                           lesson_run_options *how, tsr_error *err)
{
    const operation *op = operation_named(member(run, "op"));
    given_option given[OPTIONS_MAX];
    options plain = {.command = o->command, .takes = o->takes};
    const char *name;
    json_t *value;
    tsr_status st;

    *sel = (selection){.selected = SELECTED_BY_NAME};
    *how = (lesson_run_options){
        .below = number(run, "below"),
        .values = json_object_get(run, "values"),
        .first = number(run, "first"),
        .launches = number(run, "kept"),
        .as_they_ran = json_is_true(json_object_get(run, "as_they_ran")),
        .wanted = {.without_barrier = number(run, "without_barrier"),
                   .of_barriers = number(run, "of_barriers")},
    };
    if (!op)
        return tsr_fail(err, TSR_ENAME, 0, "no operation '%s'", member(run, "op"));
    st = read_options(json_object_get(run, "options"), given, &plain, err);
    if (st)
        return st;
    st = bench_problem(op, member(run, "size"), &plain, p, err);
    st = st ? st : variant_find(op, member(run, "kernel"), &sel->variant, err);
    if (st)
        return st;
    sel->params = params_default(sel->variant);
    /* Past the list of legal values: what fits a page is too small to be any good. */
    for (size_t i = 0; i < sel->params.count; i++) {
        value = json_object_get(json_object_get(run, "set"), sel->params.tunables[i].name);
        if (value)
            sel->params.value[i] = (uint32_t)json_integer_value(value);
    }
    json_object_foreach(json_object_get(run, "watch"), name, value)
    {
        if (how->wanted.watched_count < LESSON_WATCHED_MAX)
            how->wanted.watched[how->wanted.watched_count++] =
                (lesson_watched){name, json_string_value(value)};
    }
    return TSR_OK;
}

static tsr_status run_variant(tsr_session *s, const options *o, const json_t *run, json_t **out,
                              tsr_error *err)
{
    lesson_run_options how;
    selection sel;
    problem p;
    tsr_status st = read_run(run, o, &p, &sel, &how, err);

    return st ? st : lesson_run(s, &p, &sel, &how, out, err);
}

/* A kernel that belongs to no variant. */
static tsr_status run_kernel(tsr_session *s, const json_t *run, json_t **out, tsr_error *err)
{
    const json_t *buffers = json_object_get(run, "buffers");
    const lesson_run_options how = {.below = number(run, "below")};
    lesson_kernel k = {.source = member(run, "file"),
                       .entry = member(run, "entry"),
                       .options = member(run, "options"),
                       .global = number(run, "global"),
                       .local = number(run, "local")};

    for (; k.buffers < json_array_size(buffers) && k.buffers < OPERANDS_MAX; k.buffers++) {
        const json_t *one = json_array_get(buffers, k.buffers);

        k.name[k.buffers] = member(one, "name");
        k.words[k.buffers] = number(one, "words");
        k.input[k.buffers] = json_is_true(json_object_get(one, "input"));
    }
    return lesson_run_kernel(s, &k, &how, out, err);
}

/* The steps of a timeline: its commands, in the order in which they began. */
static json_t *timeline_json(const result_row *row)
{
    static const char *const kinds[] = {"in", "kernel", "out"};
    static const char *const names[] = {"copy in", "kernel", "copy out"};
    json_t *bars = json_array(), *steps = json_array();
    bool done[RESULT_BARS_MAX] = {false};

    for (size_t n = 0; n < row->bar_count; n++) {
        const result_bar *next = NULL;
        json_t *said;

        for (size_t i = 0; i < row->bar_count; i++)
            if (!done[i] && (!next || row->bars[i].start_ns < next->start_ns))
                next = &row->bars[i];
        if (!next)
            break;
        done[next - row->bars] = true;
        json_array_append_new(bars,
                              json_pack("{s:i, s:s, s:s, s:f, s:f}", "queue", (int)next->queue,
                                        "kind", kinds[next->what], "name", names[next->what],
                                        "begin", next->start_ns, "end", next->end_ns));
        said = json_sprintf("Queue %d: `%s` begins at %.0f us and takes %.0f us.",
                            (int)next->queue + 1, names[next->what], next->start_ns * 1e-3,
                            (next->end_ns - next->start_ns) * 1e-3);
        json_array_append_new(steps, json_pack("{s:o}", "text", said));
    }
    return json_pack("{s:o, s:o, s:f}", "timeline", bars, "steps", steps, "wall_ns",
                     row->time.median_ns);
}

/* A call in chunks over several queues. */
static tsr_status run_overlap(tsr_session *s, const json_t *run, json_t **out, tsr_error *err)
{
    const overlap_options how = {.words = number(run, "words"), .samples = 5, .seed = 1};
    const overlap_job chunks = {.memory = OVERLAP_PINNED,
                                .way = OVERLAP_PIPELINE,
                                .queues = number(run, "queues"),
                                .chunks = number(run, "chunks")};
    result_row *row = calloc(1, sizeof(*row));
    overlap *o = NULL;
    tsr_status st =
        row ? overlap_open(s, &how, &o, err) : tsr_fail(err, TSR_ENOMEM, 0, "out of memory");

    st = st ? st : overlap_measure(o, &chunks, row, err);
    if (!st)
        *out = timeline_json(row);
    overlap_close(o);
    free(row);
    return st;
}

static tsr_status run_one(tsr_session *s, const options *o, json_t *run, tsr_error *err)
{
    json_t *trace = NULL;
    tsr_status st = json_object_get(run, "queues") ? run_overlap(s, run, &trace, err)
                    : json_object_get(run, "file") ? run_kernel(s, run, &trace, err)
                                                   : run_variant(s, o, run, &trace, err);

    if (trace)
        json_object_update_missing(run, trace);
    json_decref(trace);
    return st;
}

/* Whether a store into an array, by its number, is among the records of a launch. */
static bool has_store(const json_t *launch, size_t which)
{
    const json_t *records = json_object_get(launch, "records");

    for (size_t i = 0; i < json_array_size(records); i++) {
        const json_t *record = json_array_get(records, i);
        const char *kind = json_string_value(json_array_get(record, 1));

        if (kind && !strcmp(kind, "store") &&
            (size_t)json_integer_value(json_array_get(record, 4)) == which)
            return true;
    }
    return false;
}

/* Accesses that are not written as subscripts leave no record: a result nobody wrote says so. */
static void hint_at_unseen(const json_t *lesson, const json_t *run)
{
    const json_t *launches = json_object_get(run, "launches");
    const json_t *operands = json_object_get(run, "operands");

    if (json_object_get(run, "kept") || !launches)
        return;
    for (size_t i = 0; i < json_array_size(operands); i++) {
        const json_t *one = json_array_get(operands, i);
        const char *name = member(one, "name");
        bool seen = !strcmp(member(one, "access"), "read") ||
                    !json_array_size(json_object_get(one, "after"));

        for (size_t k = 0; k < json_array_size(launches); k++)
            seen = seen || has_store(json_array_get(launches, k), i);
        if (!seen)
            hint("lesson %s, run %s: no store into %s is recorded: only stores written as %s[i] = "
                 "x are, not *(%s + i) = x, nor what a macro with arguments expands to",
                 member(lesson, "name"), member(run, "id"), name, name, name);
    }
}

/* A run without a barrier that the user's own file has not: the page says so, and shows the others.
 */
static void leave_out(json_t *lesson, const json_t *run, const char *why)
{
    json_t *said = json_object_get(lesson, "left_out");

    if (!said) {
        said = json_array();
        json_object_set_new(lesson, "left_out", said);
    }
    json_array_append_new(said,
                          json_sprintf("%s is not among the runs: %s.", member(run, "label"), why));
    hint("lesson %s: the run '%s' is left out: %s", member(lesson, "name"), member(run, "label"),
         why);
}

static tsr_status run_lesson(tsr_session *s, const tsr_device *device, const options *o,
                             json_t *lesson, tsr_error *err)
{
    json_t *runs = json_object_get(lesson, "runs");
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < json_array_size(runs) && !st;) {
        json_t *run = json_array_get(runs, i);

        st = run_one(s, o, run, err);
        if (st == TSR_ENAME && number(run, "without_barrier")) {
            leave_out(lesson, run, err->message);
            json_array_remove(runs, i);
            st = TSR_OK;
        } else if (!st) {
            hint_at_unseen(lesson, run);
            i++;
        }
    }
    json_object_set_new(lesson, "schema", json_string("tessera-lesson-1"));
    json_object_set_new(lesson, "version", json_string(tsr_version()));
    json_object_set_new(lesson, "device", device_identity(device));
    return st;
}

/* ---- the page -------------------------------------------------------------------------------- */

static const char *page_text(void)
{
    for (size_t k = 0; k < embedded_lesson_count; k++)
        if (!strcmp(embedded_lessons[k].name, page_name))
            return embedded_lessons[k].text;
    return "";
}

/* JSON inside <script> must not end it. */
static void script_json(const char *json, text *out)
{
    for (; *json; json++) {
        if (*json == '<' || *json == '>' || *json == '&')
            text_format(out, "\\u%04x", (unsigned)*json);
        else
            text_append_bytes(out, json, 1);
    }
}

static tsr_status write_page(const json_t *lesson, const char *path, tsr_error *err)
{
    char *json = json_dumps(lesson, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_t *names = names_json();
    char *others = json_dumps(names, JSON_COMPACT);
    const char *page = page_text(), *mark;
    text whole = {0};
    output *out = NULL;
    tsr_status st;

    for (; json && others && (mark = strstr(page, "{{")); page = strstr(mark, "}}") + 2) {
        text_append_bytes(&whole, page, (size_t)(mark - page));
        if (!strncmp(mark, "{{title}}", 9))
            text_append(&whole, member(lesson, "title"));
        else
            script_json(!strncmp(mark, "{{lessons}}", 11) ? others : json, &whole);
    }
    text_append(&whole, page);
    if (!json || !others || whole.failed)
        st = tsr_fail(err, TSR_ENOMEM, 0, "out of memory");
    else
        st = output_open(path, &out, err);
    st = st ? st : output_write_bytes(out, text_get(&whole), whole.length, err);
    if (st)
        output_discard(out);
    else
        st = commit_and_warn(out, err);
    free(json);
    free(others);
    json_decref(names);
    text_free(&whole);
    return st;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Where the page of a lesson goes: into a folder, or to a file. */
static void page_path(const options *o, const char *name, text *out)
{
    const char *path = o->value[OPTION_OUTPUT];
    struct stat found;

    text_append(out, path);
    if (stat(path, &found) == 0 && S_ISDIR(found.st_mode))
        text_format(out, "/%s.html", name);
}

/* Of several lessons those are left out that the device lacks something for. */
static int make(const options *o, tsr_session *s, const tsr_device *device, json_t *lesson,
                bool several)
{
    const char *name = member(lesson, "name");
    tsr_error err = {0};
    text path = {0};
    tsr_status st;
    int status = EXIT_DONE;

    activity_begin("lesson %s", name);
    st = run_lesson(s, device, o, lesson, &err);
    activity_end();
    if (!st && o->given[OPTION_JSON])
        return json_print(json_incref(lesson));
    if (!st) {
        page_path(o, name, &path);
        st = write_page(lesson, text_get(&path), &err);
    }
    if (st == TSR_EUNSUPPORTED && several)
        hint("lesson %s is left out: %s", name, err.message);
    else if (st)
        status = print_error(name, &err, s);
    else if (!o->given[OPTION_QUIET] && strcmp(text_get(&path), "-") != 0)
        print_plain(stderr, "%s: %s\n", name, text_get(&path));
    if (st == TSR_EUNSUPPORTED)
        hint("docs/course/%s.html in the sources shows it as it ran on a device that can run it",
             name);
    text_free(&path);
    return status;
}

/* The folder of several pages: made where there is nothing of that name, which is not a page's. */
static tsr_status find_folder(const char *path, tsr_error *err)
{
    static const char page[] = ".html";
    const size_t length = strlen(path), tail = sizeof page - 1;
    struct stat found;

    if (length >= tail && strcmp(path + length - tail, page) == 0)
        return tsr_fail(err, TSR_ENAME, 0,
                        "several lessons need -o FOLDER, and '%s' is the name of a page", path);
    if (mkdir(path, 0777) == 0 || (stat(path, &found) == 0 && S_ISDIR(found.st_mode)))
        return TSR_OK;
    return tsr_fail(err, TSR_ENAME, 0,
                    "several lessons need -o FOLDER, and '%s' is not a folder and cannot be made "
                    "one",
                    path);
}

static tsr_status check(const options *o, const json_t *lessons, tsr_error *err)
{
    if (o->given[OPTION_JSON] && json_array_size(lessons) > 1)
        return tsr_fail(err, TSR_ENAME, 0, "--json takes one lesson");
    if (o->given[OPTION_JSON] == o->given[OPTION_OUTPUT])
        return tsr_fail(err, TSR_ENAME, 0,
                        "a lesson needs one output: either -o FILE.html or --json");
    return json_array_size(lessons) > 1 ? find_folder(o->value[OPTION_OUTPUT], err) : TSR_OK;
}

/* The lessons that the operands name. */
static tsr_status choose(const options *o, json_t *lessons, tsr_error *err)
{
    for (size_t i = 0; i < o->operand_count; i++) {
        json_t *lesson;

        if (!strcmp(o->operand[i], "all")) {
            for (size_t k = 0; (lesson = lesson_at(k)); k++)
                json_array_append_new(lessons, lesson);
            continue;
        }
        lesson = lesson_named(o->operand[i], err);
        if (!lesson)
            return TSR_ENAME;
        json_array_append_new(lessons, lesson);
    }
    return check(o, lessons, err);
}

/* `file` for each "mine.cl" of a text, and without a command that would print the step's kernel
 * over it. */
static json_t *with_file(const char *from, const char *file)
{
    static const char print[] = "$ tessera kernels ", mine[] = "mine.cl";
    const char *line = strchr(from, '\n'), *at;
    text out = {0};
    json_t *made;

    if (!strncmp(from, print, strlen(print)) && line) {
        text_append(&out, "$ ");
        from = line + 1;
    }
    for (; (at = strstr(from, mine)) != NULL; from = at + strlen(mine))
        text_format(&out, "%.*s%s", (int)(at - from), from, file);
    text_append(&out, from);
    made = json_text(text_get(&out));
    text_free(&out);
    return made;
}

/* What to try on a page that is of a file of one's own. */
static void try_file(json_t *lesson, const char *file)
{
    const json_t *tasks = json_object_get(lesson, "exercise");
    const char *first = json_string_value(json_array_get(tasks, 1));
    json_t *own;
    text said = {0};

    if (!first || !strstr(first, "mine.cl"))
        return;
    own = json_array();
    text_format(
        &said,
        "This page is of `%s`, in the place of the step's own kernel. Change a line of it, and "
        "make the page again:",
        file);
    json_array_append_new(own, json_text(text_get(&said)));
    text_free(&said);
    for (size_t i = 1; i < json_array_size(tasks); i++)
        json_array_append_new(own, with_file(json_string_value(json_array_get(tasks, i)), file));
    json_object_set_new(lesson, "exercise", own);
}

/* "SOURCE=FILE": what --kernel-file puts in the place of the kernel of a lesson's first run. */
static tsr_status replace_source(const options *o, const json_t *lessons, text *out, tsr_error *err)
{
    const json_t *lesson = json_array_get(lessons, 0);
    const json_t *run = json_array_get(json_object_get(lesson, "runs"), 0);
    const operation *op = operation_named(member(run, "op"));
    const char *source = member(run, "file");
    const variant *v = NULL;
    tsr_status st;

    if (o->given[OPTION_KERNEL_DIR])
        return tsr_fail(err, TSR_ENAME, 0, "--kernel-dir and --kernel-file exclude each other");
    if (json_array_size(lessons) > 1)
        return tsr_fail(err, TSR_ENAME, 0, "--kernel-file takes one lesson");
    st = op ? variant_find(op, member(run, "kernel"), &v, err) : TSR_OK;
    if (st)
        return st;
    source = v && v->source ? v->source : source;
    if (!*source)
        return tsr_fail(err, TSR_ENAME, 0, "--kernel-file: lesson %s shows no kernel",
                        member(lesson, "name"));
    text_format(out, "%s=%s", source, o->value[OPTION_KERNEL_FILE]);
    try_file(json_array_get(lessons, 0), o->value[OPTION_KERNEL_FILE]);
    return out->failed ? tsr_fail(err, TSR_ENOMEM, 0, "out of memory") : TSR_OK;
}

int cmd_lesson(const options *o)
{
    options sources = *o; /* with --kernel-file as a --kernel-dir, which the session takes */
    text replaced = {0};
    json_t *lessons = json_array();
    choice devices = {0};
    tsr_session *s = NULL;
    tsr_error err = {0};
    tsr_status st;
    int status = EXIT_DONE;

    if (!o->operand_count) {
        json_decref(lessons);
        return list(o);
    }
    st = choose(o, lessons, &err);
    if (!st && o->given[OPTION_KERNEL_FILE]) {
        st = replace_source(o, lessons, &replaced, &err);
        sources.given[OPTION_KERNEL_FILE] = false;
        sources.value[OPTION_KERNEL_DIR] = text_get(&replaced);
    }
    st = st ? st : choice_find_one(&sources, &devices, &err);
    if (!st && tsr_device_is_host(devices.device[0]))
        st = tsr_fail(&err, TSR_EUNSUPPORTED, 0, "the host has no kernels to trace");
    st = st ? st : choice_open(devices.device[0], &sources, &s, &err);
    if (st)
        status = print_error(o->command, &err, s);
    for (size_t i = 0; !st && i < json_array_size(lessons); i++) {
        const int one =
            make(o, s, devices.device[0], json_array_get(lessons, i), json_array_size(lessons) > 1);

        status = status ? status : one;
    }
    tsr_session_close(s);
    choice_close(&devices);
    json_decref(lessons);
    text_free(&replaced);
    return status;
}
