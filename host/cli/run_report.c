#include "cli/run_report.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/device_choice.h"
#include "cli/json_print.h"
#include "core/fields.h"
#include "device/device.h"
#include "file/encode.h"
#include "measure/compare.h"

/* Work per second of the fastest run, in the operation's unit; 0 where no time was measured. */
static double rate(const run_report *r)
{
    const operation *op = r->posed->problem.op;

    return work_rate(op->unit, op->work(&r->posed->problem), op->bytes(&r->posed->problem),
                     (double)r->fastest.device_ns);
}

/* The first run after compiling says little of the device: caches are cold, and a CPU was busy. */
static bool has_rate(const run_report *r)
{
    return r->fastest.device_ns && (r->first.build != TSR_BUILD_COMPILED || r->count > 1);
}

/* "3.10 ms" */
static void append_time(text *out, uint64_t ns)
{
    if (ns < 999500) /* above, three digits of us are 1e+03 */
        text_format(out, "%.3g us", (double)ns / 1e3);
    else if (ns < 1000000000)
        text_format(out, "%.2f ms", (double)ns / 1e6);
    else
        text_format(out, "%.3f s", (double)ns / 1e9);
}

enum { NOTICED_NS = 100000000 }; /* what takes less is not worth a word */

static void append_verdict(text *out, const run_report *r)
{
    if (!r->verified)
        return;
    text_append(out, !r->verdict.ok       ? ", WRONG"
                     : r->verdict.sampled ? ", verified by samples"
                                          : ", verified");
    if (r->verdict.ok && r->verdict.worst > 0)
        text_format(out, " %.2g of bound", r->verdict.worst);
    if (r->verify_ns >= NOTICED_NS) {
        text_append(out, " (");
        append_time(out, r->verify_ns);
        text_append(out, ")");
    }
}

/* Copies, which are no part of the device's time; of a stream they run beside it. */
static void append_copies(text *out, const run_report *r)
{
    const tsr_report *x = &r->fastest;

    if (x->shared && r->device->facts.kind != DEVICE_HOST)
        text_append(out, ", nothing copied");
    if (x->chunks)
        text_format(out, ", streamed in %zu piece%s", x->chunks, x->chunks > 1 ? "s" : "");
    if (!x->shared && x->to_device_ns + x->from_device_ns > 0) {
        text_append(out, ", copied in ");
        append_time(out, x->to_device_ns);
        text_append(out, " and out ");
        append_time(out, x->from_device_ns);
    }
}

static void append_wait(text *out, const char *what, uint64_t ns)
{
    if (ns < NOTICED_NS)
        return;
    text_format(out, ", %s in ", what);
    append_time(out, ns);
}

/* What a command waits for beside its work, where anybody would notice. */
static void append_waits(text *out, const run_report *r)
{
    append_wait(out, "opened the device", r->open_ns);
    append_wait(out, "probed the device", r->first.probe_ns);
    append_wait(out, r->first.build == TSR_BUILD_COMPILED ? "compiled" : "loaded",
                r->first.build_ns);
    append_wait(out, "read", r->read_ns);
    append_wait(out, "written", r->write_ns);
}

/* Elements that are bool are uint8 to the problem. */
void run_report_describe(const posing *x, text *out)
{
    static const char stored[] = "uint8";
    const operation *op = x->problem.op;
    text described = {0};
    const char *all, *at;

    if (op->command->describe_asked)
        op->command->describe_asked(x, &described);
    else
        op->describe(&x->problem, &described);
    all = text_get(&described);
    at = x->array[0].boolean ? strstr(all, stored) : NULL;
    if (at)
        text_format(out, "%.*sbool%s", (int)(at - all), all, at + strlen(stored));
    else
        text_append(out, all);
    text_free(&described);
}

/* What the number of the result's elements is called; NULL where that is no news, or wrong. */
static const char *counted(const run_report *r)
{
    return r->verified && !r->verdict.ok ? NULL : r->posed->problem.op->command->counted;
}

static size_t count_of(const run_report *r)
{
    return array_count(&r->posed->array[r->posed->problem.op->result]);
}

void run_report_summary(const run_report *r)
{
    text line = {0};

    text_format(&line, "%s ", r->command);
    run_report_describe(r->posed, &line);
    text_format(&line, " on %s: %s", tsr_device_name(r->device), r->fastest.variant);
    if (r->file)
        text_format(&line, " from %s", r->file);
    if (*r->fastest.parameters)
        text_format(&line, " (%s)", r->fastest.parameters);
    if (r->fastest.device_ns) {
        text_append(&line, ", device ");
        append_time(&line, r->fastest.device_ns);
        if (r->count > 1) {
            text_format(&line, " at best of %zu, median ", r->count);
            append_time(&line, r->median_ns);
        }
        if (has_rate(r)) {
            text_append(&line, ", ");
            compare_short_rate(rate(r), work_unit_name(problem_unit(&r->posed->problem)), &line);
        }
    }
    if (counted(r))
        text_format(&line, ", %zu %s", count_of(r), counted(r));
    append_copies(&line, r);
    text_append(&line, ", wall ");
    append_time(&line, r->fastest.wall_ns);
    append_waits(&line, r);
    append_verdict(&line, r);
    if (r->fastest.strict_tiles)
        text_format(&line, "\n%zu of %zu tiles held what cannot be split, and ran in FP32",
                    r->fastest.strict_tiles, r->fastest.tiles);
    fprintf(stderr, "%s\n", text_get(&line));
    text_free(&line);
}

/* What a field says, as JSON. */
static json_t *field_json(const field *f, const problem *p)
{
    switch (f->kind) {
    case FIELD_TYPE:
        return json_string(tsr_type_name(problem_type(p)));
    case FIELD_WIDE:
        return json_string(tsr_type_name(field_result(f, p)));
    case FIELD_COUNT:
        return f->zero == ZERO_IS_ALL && !field_is_set(f, p) ? json_null()
                                                             : json_count(field_count(f, p));
    case FIELD_CHOICE:
        return json_string(field_choice_name(f, p));
    case FIELD_FLAG:
        return json_boolean(field_flag(f, p));
    case FIELD_REAL:
        return json_number(field_real(f, p));
    case FIELD_PRECISION:
        return json_string(tsr_precision_name(problem_precision(p)));
    case FIELD_ASKED:
        return f->zero == ZERO_IS_ALL ? json_null() : json_count(0);
    case FIELD_INTERVAL:
    case FIELD_INPUTS:
        break;
    }
    return json_null();
}

static json_t *problem_json(const posing *x)
{
    const problem *p = &x->problem;
    const operation_command *c = p->op->command;
    json_t *object = json_object();
    text described = {0};

    for (size_t i = 0; i < c->field_count; i++)
        if (c->fields[i].name)
            json_object_set_new(object, c->fields[i].name, field_json(&c->fields[i], p));

    run_report_describe(x, &described);
    json_object_set_new(object, "description", json_text(text_get(&described)));
    text_free(&described);
    return object;
}

static json_t *times_json(const run_report *r)
{
    const tsr_report *t = &r->fastest;

    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "read_ns",
        json_count(r->read_ns), "open_ns", json_count(r->open_ns), "verify_ns",
        json_count(r->verify_ns), "write_ns", json_count(r->write_ns), "probe_ns",
        json_count(r->first.probe_ns), "build_ns", json_count(r->first.build_ns), "first_wall_ns",
        json_count(r->first.wall_ns), "to_device_ns", json_count(t->to_device_ns), "device_ns",
        json_count(t->device_ns), "from_device_ns", json_count(t->from_device_ns), "wall_ns",
        json_count(t->wall_ns), "median_device_ns", json_count(r->median_ns), "median_wall_ns",
        json_count(r->median_wall_ns), "runs", json_count(r->count));
}

static json_t *bytes_json(const run_report *r)
{
    const tsr_report *t = &r->fastest;

    return json_pack("{s:b, s:o, s:o, s:o, s:o, s:o}", "shared", t->shared, "chunks",
                     json_count(t->chunks), "to_device", json_count(t->to_device_bytes),
                     "from_device", json_count(t->from_device_bytes), "workspace",
                     json_count(t->workspace_bytes), "compulsory",
                     json_number(r->posed->problem.op->bytes(&r->posed->problem)));
}

static json_t *tiles_json(const run_report *r)
{
    if (!r->fastest.tiles)
        return json_null();
    return json_pack("{s:o, s:o}", "all", json_count(r->fastest.tiles), "strict",
                     json_count(r->fastest.strict_tiles));
}

static json_t *verdict_json(const run_report *r)
{
    if (!r->verified)
        return json_null();
    return json_pack("{s:b, s:b, s:o, s:o}", "ok", r->verdict.ok, "sampled", r->verdict.sampled,
                     "worst", json_number(r->verdict.worst), "detail",
                     r->verdict.ok ? json_null() : json_text(r->verdict.detail));
}

static tsr_status append_bytes(void *to, const void *bytes, size_t size, tsr_error *err)
{
    (void)err;
    text_append_bytes(to, bytes, size);
    return TSR_OK;
}

/* Numbers, one after another; what JSON has none for, such as NaN, in quotes. */
static json_t *values_json(const array *a)
{
    json_t *list = json_array();
    text lines = {0};
    const char *at;

    if (encode_values(a, append_bytes, &lines, NULL) || lines.failed) {
        text_free(&lines);
        json_decref(list);
        return NULL;
    }
    at = text_get(&lines);
    for (const char *end; (end = strchr(at, '\n')); at = end + 1) {
        json_t *number = json_loadb(at, (size_t)(end - at), JSON_DECODE_ANY, NULL);

        json_array_append_new(list, number ? number : json_stringn(at, (size_t)(end - at)));
    }
    text_free(&lines);
    return list;
}

int run_report_json(const run_report *r)
{
    static const char *const builds[] = {[TSR_BUILD_NONE] = "none",
                                         [TSR_BUILD_CACHED] = "cached",
                                         [TSR_BUILD_COMPILED] = "compiled"};
    const tsr_report *t = &r->fastest;
    json_t *object = json_object();

    json_object_set_new(object, "schema", json_string("tessera-run-1"));
    json_object_set_new(object, "op", json_string(r->command));
    json_object_set_new(object, "problem", problem_json(r->posed));
    json_object_set_new(object, "variant", json_text(t->variant));
    if (r->file)
        json_object_set_new(object, "kernel_file", json_text(r->file));
    json_object_set_new(object, "parameters", json_text(t->parameters));
    json_object_set_new(object, "chosen", json_text(t->chosen));
    json_object_set_new(object, "device", device_identity(r->device));
    json_object_set_new(object, "build", json_string(builds[r->first.build]));
    json_object_set_new(object, "commands", json_count(t->commands));
    json_object_set_new(object, "times", times_json(r));
    json_object_set_new(object, "rate", has_rate(r) ? json_number(rate(r)) : json_null());
    json_object_set_new(object, "rate_unit",
                        json_string(work_unit_name(problem_unit(&r->posed->problem))));
    json_object_set_new(object, "bytes", bytes_json(r));
    json_object_set_new(object, "tiles", tiles_json(r));
    json_object_set_new(object, "verify", verdict_json(r));
    if (counted(r))
        json_object_set_new(object, counted(r), json_count(count_of(r)));
    if (r->printed)
        json_object_set_new(object, "result", values_json(r->printed));
    return json_print(object);
}
