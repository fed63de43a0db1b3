#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/text.h"
#include "cli/activity.h"
#include "cli/commands.h"
#include "cli/device_choice.h"
#include "cli/kernel_choice.h"
#include "cli/messages.h"
#include "cli/operands.h"
#include "cli/run_report.h"
#include "cli/tuning_list.h"
#include "core/dispatch.h"
#include "core/registry.h"
#include "file/encode.h"
#include "file/image.h"
#include "file/output.h"
#include "measure/verify.h"
#include "stream/host_memory.h"

/** Everything that one run of an operation holds. */
typedef struct work {
    const options *o;
    const operation *op;
    posing x;
    void *before[OPERANDS_MAX];   /* operands as they were; NULL where nothing needs that */
    void *pinned[OPERANDS_MAX];   /* where the device works on them, where --pinned says so */
    output *output[OPERANDS_MAX]; /* by operand */
    choice choice;
    tsr_session *session;
    run_report report;
} work;

/* The option that names an operand's output, with its dashes, and its value; NULL where it is not
 * given. */
typedef struct named_output {
    const char *name, *path;
} named_output;

static named_output output_of(const operation *op, const options *o, size_t operand_index)
{
    const operation_command *c = op->command;

    if (operand_index == op->result)
        return (named_output){"-o", o->value[OPTION_OUTPUT]};
    for (size_t i = 0; i < c->file_count; i++)
        if (c->files[i].output && c->files[i].operand == operand_index)
            return (named_output){c->files[i].option, operands_path(&c->files[i], i, o)};
    return (named_output){NULL, NULL};
}

static bool is_stream(const char *file)
{
    return file && !strcmp(file, "-");
}

static tsr_status check_streams(const options *o, const operation *op, tsr_error *err)
{
    const operation_command *c = op->command;
    size_t in = 0, out = is_stream(o->value[OPTION_OUTPUT]);
    char all[32];

    for (size_t i = 0; i < c->file_count; i++)
        *(c->files[i].output ? &out : &in) += is_stream(operands_path(&c->files[i], i, o));
    if (in > 1)
        return tsr_fail(err, TSR_ENAME, 0,
                        "'-' is given for %zu inputs, and there is one standard input", in);
    snprintf(all, sizeof all, out == 3 ? "all three" : "%zu", out);
    if (out > 1)
        return tsr_fail(err, TSR_ENAME, 0,
                        "'-' is given for %s outputs, and there is one standard output",
                        out == 2 ? "both" : all);
    if (out && o->given[OPTION_JSON])
        return tsr_fail(err, TSR_ENAME, 0,
                        "'-' as output and --json both write to standard output");
    return TSR_OK;
}

/* A suffix says what a file is to hold, so one that means neither format is a mistake.  What is no
 * regular file, or has no suffix, takes .npy. */
static tsr_status check_suffix(const char *path, tsr_error *err)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    struct stat s;

    if (!dot || dot == base || !dot[1] || !strcmp(dot, ".npy") || !strcmp(dot, ".mtx") ||
        image_suffix(dot))
        return TSR_OK;
    if (stat(path, &s) == 0 && !S_ISREG(s.st_mode))
        return TSR_OK;
    return tsr_fail(
        err, TSR_ENAME, 0,
        "output %s: unknown suffix %s: .npy and .mtx are written, pictures as .ppm, .pgm%s, "
        "and .npy where there is none",
        path, dot, image_suffix(".png") ? " and .png" : "");
}

static tsr_status check_outputs(const options *o, const operation *op, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (size_t i = 0; !st && i < OPERANDS_MAX; i++) {
        const char *path = output_of(op, o, i).path;

        if (is_stream(path) && isatty(STDOUT_FILENO))
            st = tsr_fail(err, TSR_ENAME, 0,
                          "'-' as output is a terminal here, and .npy is binary: send it to a file "
                          "or a pipe, or name a .mtx file");
        else if (path)
            st = check_suffix(path, err);
    }
    return st;
}

/* What can be wrong with the command line before any file is read. */
static tsr_status check_command_line(const options *o, const operation *op, tsr_error *err)
{
    const operation_command *c = op->command;
    tsr_status st;
    bool any = false;

    for (size_t i = 0; i < OPERANDS_MAX; i++)
        any = any || output_of(op, o, i).path;
    if (!any && !c->prints_result)
        return tsr_fail(err, TSR_ENAME, 0, "no output: %s", c->no_output);
    st = c->check_settings ? c->check_settings(&o->settings, err) : TSR_OK;
    st = st ? st : kernel_choice(op, o->value[OPTION_KERNEL], o, NULL, NULL, err);
    st = st ? st : check_streams(o, op, err);
    return st ? st : check_outputs(o, op, err);
}

/* "No such file or directory" of an output that is to be made explains nothing. */
static tsr_status check_folder(const char *path, tsr_error *err)
{
    const char *slash = strrchr(path, '/');
    text folder = {0};
    struct stat s;
    tsr_status st = TSR_OK;

    if (!slash || slash == path)
        return TSR_OK;
    text_append_bytes(&folder, path, (size_t)(slash - path));
    if (stat(text_get(&folder), &s) != 0 && errno == ENOENT)
        st = tsr_fail(err, TSR_EFILE, 0, "%s: cannot create: there is no folder '%s'", path,
                      text_get(&folder));
    text_free(&folder);
    return st;
}

static tsr_status open_outputs(work *w, tsr_error *err)
{
    for (size_t i = 0; i < OPERANDS_MAX; i++) {
        const char *path = output_of(w->op, w->o, i).path;
        tsr_status st = path ? check_folder(path, err) : TSR_OK;

        if (path && !st)
            st = output_open(path, &w->output[i], err);
        if (st)
            return st;
    }
    for (size_t i = 1; i < OPERANDS_MAX; i++) {
        for (size_t k = 0; k < i; k++) {
            const named_output a = output_of(w->op, w->o, k), b = output_of(w->op, w->o, i);

            if (w->output[k] && w->output[i] && output_same(w->output[k], w->output[i]))
                return tsr_fail(err, TSR_ENAME, 0, "%s%s %s and %s%s %s are the same file",
                                *a.name == '-' ? "" : "--", a.name, a.path,
                                *b.name == '-' ? "" : "--", b.name, b.path);
        }
    }
    return TSR_OK;
}

/* Keep what verification compares with, and what a further run starts from. */
static tsr_status keep_operands(work *w, tsr_error *err)
{
    for (size_t i = 0; i < w->x.count; i++) {
        const operand *x = &w->x.operand[i];
        bool again = w->o->repeat > 1 && (x->access & ACCESS_WRITE);

        if (!x->bytes || (!w->o->given[OPTION_VERIFY] && !again))
            continue;
        w->before[i] = malloc(x->bytes);
        if (!w->before[i])
            return tsr_fail(err, TSR_ENOMEM, 0, "out of memory: a copy of %s needs %zu bytes",
                            x->name, x->bytes);
        memcpy(w->before[i], w->x.array[i].data, x->bytes);
    }
    return TSR_OK;
}

/* Operands in pinned memory, which the session frees. */
static tsr_status pin_operands(work *w, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < w->x.count && w->o->pinned && !st; i++) {
        const size_t bytes = w->x.operand[i].bytes;

        if (bytes)
            st = tsr_pinned_alloc(w->session, bytes, &w->pinned[i], err);
        if (bytes && !st)
            memcpy(w->pinned[i], w->x.array[i].data, bytes);
    }
    return st;
}

/* Where a run works on an operand. */
static void *operand_data(const work *w, size_t i)
{
    return w->pinned[i] ? w->pinned[i] : w->x.array[i].data;
}

static void restore_operands(work *w)
{
    for (size_t i = 0; i < w->x.count; i++) {
        if (w->before[i] && (w->x.operand[i].access & ACCESS_WRITE))
            memcpy(operand_data(w, i), w->before[i], w->x.operand[i].bytes);
    }
}

static int compare_times(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Run once and keep the times: those of the first run, and of the fastest, which is another one
 * where there are several and the first had to compile. */
static tsr_status run_once(work *w, size_t i, uint64_t *device_ns, uint64_t *wall_ns,
                           tsr_error *err)
{
    const tsr_run wanted = {
        .variant = w->o->value[OPTION_KERNEL], .set = w->o->set, .set_count = w->o->set_count};
    tsr_report *fastest = &w->report.fastest, now = {0};
    void *data[OPERANDS_MAX] = {0};
    tsr_status st;

    for (size_t k = 0; k < w->x.count; k++)
        data[k] = operand_data(w, k);
    st = host_memory_run(w->session, &w->x.problem, data, &wanted, &now, err);
    if (st)
        return st;
    *device_ns = now.device_ns;
    *wall_ns = now.wall_ns;
    if (i == 0)
        w->report.first = now;
    if (i == 0 || (i == 1 && w->report.first.build == TSR_BUILD_COMPILED) ||
        now.device_ns < fastest->device_ns)
        *fastest = now;
    return TSR_OK;
}

static uint64_t median_of(uint64_t *ns, size_t count)
{
    qsort(ns, count, sizeof *ns, compare_times);
    return ns[count / 2];
}

static tsr_status run_all(work *w, tsr_error *err)
{
    const size_t count = w->o->repeat;
    uint64_t *times = calloc(count, 2 * sizeof *times);
    uint64_t *device_ns = times, *wall_ns;
    tsr_status st = TSR_OK;
    text what = {0};

    if (!times)
        return tsr_fail(err, TSR_ENOMEM, 0, "out of memory");
    wall_ns = times + count;
    run_report_describe(&w->x, &what);
    for (size_t i = 0; !st && i < count; i++) {
        activity_update("%s %s", w->o->command, text_get(&what));
        if (i)
            restore_operands(w);
        st = run_once(w, i, &device_ns[i], &wall_ns[i], err);
    }
    if (!st) {
        w->report.median_ns = median_of(device_ns, count);
        w->report.median_wall_ns = median_of(wall_ns, count);
        w->report.count = count;
    }
    activity_end();
    text_free(&what);
    free(times);
    return st;
}

/* Nothing is streamed where the device works on the arrays themselves. */
static void warn_unlimited(const work *w)
{
    const bool on_host = tsr_device_is_host(w->choice.device[0]);

    if (w->o->given[OPTION_DEVICE_MEMORY] && w->report.fastest.shared)
        warn("--device-memory %s limits nothing: %s works on the operands where they are%s",
             w->o->value[OPTION_DEVICE_MEMORY], tsr_device_name(w->choice.device[0]),
             on_host ? "" : "; with --copy they are copied");
}

static tsr_status verify(work *w, tsr_error *err)
{
    const void *before[OPERANDS_MAX] = {0}, *after[OPERANDS_MAX] = {0};
    const uint64_t start = clock_ns();
    tsr_status st;

    for (size_t i = 0; i < w->x.count; i++) {
        before[i] = w->before[i];
        after[i] = w->x.array[i].data;
    }
    activity_begin("verifying the result");
    st = verify_result(&w->x.problem, session_facts(w->session), before, after, NULL,
                       &w->report.verdict, err);
    activity_end();
    w->report.verify_ns = clock_ns() - start;
    w->report.verified = !st || st == TSR_EBOUND;
    return st;
}

static tsr_status write_outputs(work *w, tsr_error *err)
{
    tsr_status st = TSR_OK;

    activity_begin("writing");
    for (size_t i = 0; !st && i < OPERANDS_MAX; i++) {
        if (w->output[i])
            st = output_write(w->output[i], &w->x.array[i], err);
    }
    /* Every output is whole, and every stream written, before the first file takes its place. */
    for (int streams = 1; streams >= 0; streams--) {
        for (size_t i = 0; !st && i < OPERANDS_MAX; i++) {
            if (!w->output[i] || output_is_stream(w->output[i]) != streams)
                continue;
            st = commit_and_warn(w->output[i], err);
            w->output[i] = NULL; /* freed by the commit */
        }
    }
    activity_end();
    return st;
}

/* Whether the result goes to standard output as text, because no file is named for it. */
static bool is_printed(const work *w)
{
    bool named = false;

    for (size_t i = 0; i < OPERANDS_MAX; i++)
        named = named || w->output[i];
    return w->op->command->prints_result && !named;
}

static tsr_status put_text(void *to, const void *bytes, size_t size, tsr_error *err)
{
    if (fwrite(bytes, 1, size, to) == size)
        return TSR_OK;
    return tsr_fail(err, TSR_EFILE, 0, "standard output: cannot write: %s", strerror(errno));
}

/* A small problem has nothing to overlap, and to open an H200 and to leave it NVIDIA's driver takes
 * 0.09 to 0.15 s less with one channel to it than with eight.  Before the driver is loaded, which
 * reads this. */
static void ask_for_one_channel(const work *w)
{
    const double most = 0x1p26; /* bytes */

    if (w->op->bytes(&w->x.problem) < most && !w->o->value[OPTION_REPEAT])
        setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 0);
}

/* Everything up to the result: bad files and names are found before the device works. */
static tsr_status prepare(work *w, tsr_error *err)
{
    tsr_status st = operation_asked(w->o, w->o->command, NULL, &w->op, err);
    text warned = {0};
    uint64_t start;

    st = st ? st : check_command_line(w->o, w->op, err);
    start = clock_ns();
    st = st ? st : operands_load(w->op, w->o, &w->x, err);
    w->report.read_ns = clock_ns() - start;
    if (!st)
        ask_for_one_channel(w);
    start = clock_ns();
    st = st ? st : choice_find_one(w->o, &w->choice, err);
    w->report.open_ns = clock_ns() - start;
    st = st ? st : open_outputs(w, err);
    st = st ? st : keep_operands(w, err);
    start = clock_ns();
    st = st ? st : choice_open(w->choice.device[0], w->o, &w->session, err);
    w->report.open_ns += clock_ns() - start;
    st = st ? st : pin_operands(w, err);
    if (!st)
        tuning_warn(w->session, &w->x.problem, w->o, &warned);
    text_free(&warned);
    activity_end();
    return st;
}

static void work_free(work *w)
{
    for (size_t i = 0; i < OPERANDS_MAX; i++)
        output_discard(w->output[i]);
    for (size_t i = 0; i < OPERANDS_MAX; i++)
        free(w->before[i]);
    operands_free(&w->x);
    if (w->session)
        w->session->ends_process = true;
    tsr_session_close(w->session);
    choice_close(&w->choice);
}

static bool begins_with_name(const char *message, const char *file)
{
    size_t length = file ? strlen(file) : 0;

    return length && !strncmp(message, file, length) && message[length] == ':';
}

/* What a message is about: the input that it begins with, else the operation. */
static const char *subject(const options *o, const tsr_error *err)
{
    const operation *op = operation_named(o->command);

    for (size_t i = 0; i < op->command->file_count; i++) {
        const file_use *use = &op->command->files[i];
        const char *name = use->output ? NULL : input_name(operands_path(use, i, o));

        if (begins_with_name(err->message, name))
            return name;
    }
    return o->command;
}

/* The name of an operation that the command handed over to gives way to the command's own. */
static void name_by_command(const work *w, tsr_error *err)
{
    char *rest = err->message;

    if (!w->op || !strcmp(w->op->name, w->o->command) || !begins_with_name(rest, w->op->name))
        return;
    rest += strlen(w->op->name) + 1;
    rest += strspn(rest, " ");
    memmove(err->message, rest, strlen(rest) + 1);
}

/* The message of a refused problem names one kernel: say so where the others refuse it too. */
static void hint_unsupported(const work *w)
{
    size_t count = 0;

    for (size_t i = 0; i < w->op->variant_count; i++) {
        const variant *v = w->op->variants[i];
        const params normal = params_default(v);
        text reason = {0};
        bool takes =
            !dispatch_unsupported(w->session, &w->x.problem, v, &normal, IN_ARRAYS, &reason);

        text_free(&reason);
        if (takes)
            return;
        count += variant_is_for(v, session_facts(w->session));
    }
    hint("none of the %zu kernels of %s here takes this problem", count, w->op->name);
}

int cmd_run(const options *o)
{
    work w = {.o = o};
    tsr_error err = {0};
    tsr_status st = prepare(&w, &err);
    int status = EXIT_DONE;
    uint64_t start;
    bool printed;

    st = st ? st : run_all(&w, &err);
    if (!st) {
        warn_unlimited(&w);
        /* Results go back to the arrays that files are made of. */
        for (size_t i = 0; i < w.x.count; i++)
            if (w.pinned[i])
                memcpy(w.x.array[i].data, w.pinned[i], w.x.operand[i].bytes);
    }
    if (!st && o->given[OPTION_VERIFY])
        st = verify(&w, &err);
    if (!st && w.op->command->cut)
        w.op->command->cut(&w.x);
    if (*w.x.note && !o->given[OPTION_QUIET])
        hint("%s", w.x.note);
    printed = !st && is_printed(&w);
    start = clock_ns();
    if (printed && !o->given[OPTION_JSON])
        st = encode_values(&w.x.array[w.op->result], put_text, stdout, &err);
    st = st ? st : write_outputs(&w, &err);
    w.report.write_ns = clock_ns() - start;
    /* A wrong result is reported, but not written. */
    if (!st || st == TSR_EBOUND) {
        w.report.command = o->command;
        w.report.file = kernel_file_name(o);
        w.report.posed = &w.x;
        w.report.device = w.choice.device[0];
        w.report.printed = printed ? &w.x.array[w.op->result] : NULL;
        if (!o->given[OPTION_QUIET])
            run_report_summary(&w.report);
        if (o->given[OPTION_JSON])
            status = run_report_json(&w.report);
    }
    if (st) {
        name_by_command(&w, &err);
        status = print_error(subject(o, &err), &err, w.session);
    }
    if (st == TSR_EUNSUPPORTED && w.session && !o->given[OPTION_KERNEL])
        hint_unsupported(&w);
    work_free(&w);
    return status;
}
