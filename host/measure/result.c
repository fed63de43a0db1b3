#include "measure/result.h"

#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "core/fields.h"
#include "core/real.h"
#include "core/registry.h"
#include "device/device.h"

/* ---- filling in -------------------------------------------------------------------------- */

void result_now(char out[RESULT_WHEN_SIZE])
{
    const time_t now = time(NULL);
    struct tm utc;

    *out = '\0';
    if (gmtime_r(&now, &utc))
        strftime(out, RESULT_WHEN_SIZE, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

bool result_same_device(const result_row *a, const result_row *b)
{
    return !strcmp(a->device, b->device) && !strcmp(a->device_id, b->device_id);
}

/* ":0" of "1:0": a platform's number changes with what other drivers are installed. */
static const char *within_platform(const char *id)
{
    const char *colon = strchr(id, ':');

    return colon ? colon : id;
}

bool result_same_driver(const result_row *a, const result_row *b)
{
    return !strcmp(a->device, b->device) && !strcmp(a->platform, b->platform) &&
           !strcmp(a->driver, b->driver) &&
           !strcmp(within_platform(a->device_id), within_platform(b->device_id));
}

void result_start(result_row *row, const tsr_device *device)
{
    const device_facts *d = &device->facts;

    *row = (result_row){0};
    snprintf(row->device, sizeof(row->device), "%s", d->name);
    snprintf(row->platform, sizeof(row->platform), "%s", d->platform);
    snprintf(row->vendor, sizeof(row->vendor), "%s", d->vendor);
    snprintf(row->driver, sizeof(row->driver), "%s", d->driver);
    row->place = d->kind == DEVICE_HOST ? RESULT_ON_HOST : RESULT_ON_DEVICE;
    if (d->kind == DEVICE_HOST)
        snprintf(row->device_id, sizeof(row->device_id), "host");
    else
        snprintf(row->device_id, sizeof(row->device_id), "%u:%u", device->platform_index,
                 device->device_index);
    snprintf(row->version, sizeof(row->version), "%s", tsr_version());
    result_now(row->when);
}

void result_problem(result_row *row, const problem *p)
{
    const char *precision = "";
    text what = {0}, size = {0};
    operand x[OPERANDS_MAX];

    p->op->operands(p, x);
    p->op->describe(p, &what);
    snprintf(row->op, sizeof(row->op), "%s", p->op->name);
    snprintf(row->problem, sizeof(row->problem), "%s", text_get(&what));
    snprintf(row->type, sizeof(row->type), "%s", tsr_type_name(x[0].type));
    snprintf(row->unit, sizeof(row->unit), "%s", work_unit_name(problem_unit(p)));
    problem_size(p, &size);
    snprintf(row->size, sizeof(row->size), "%s", text_get(&size));
    if (field_of_kind(p->op, FIELD_PRECISION))
        precision = tsr_precision_name(real_precision(x[0].type, problem_precision(p)));
    if (p->op->inputs_name)
        snprintf(row->order, sizeof(row->order), "%s", p->op->inputs_name(p->inputs));
    snprintf(row->precision, sizeof(row->precision), "%s", precision);
    row->work = p->op->work(p);
    row->bytes = p->op->bytes(p);
    text_free(&what);
    text_free(&size);
}

void result_refuse(result_row *row, result_outcome outcome, const char *why)
{
    row->outcome = outcome;
    row->time = (timing){0};
    row->rate = 0;
    snprintf(row->unsupported, sizeof(row->unsupported), "%.*s", (int)sizeof(row->unsupported) - 1,
             why);
}

void result_rate(result_row *row)
{
    row->rate = work_rate(work_unit_of(row->unit), row->work, row->bytes, row->time.median_ns);
}

/* ---- the one list of columns -------------------------------------------------------------- */

typedef enum column_kind {
    COLUMN_TEXT,   /* a char array of `size` bytes */
    COLUMN_NUMBER, /* a double; null stands for infinity, which JSON cannot say */
    COLUMN_COUNT,  /* a size_t */
    COLUMN_SEED,   /* a uint64_t, as text: readers keep numbers exactly below 2^53 only */
    COLUMN_FLAG,   /* a bool */
    COLUMN_NAME,   /* an enum, by the names of its values */
    COLUMN_BARS    /* the timeline: bars of result_row, bar_count of them */
} column_kind;

typedef struct column {
    const char *name;
    column_kind kind;
    size_t offset, size;
    const char *const *names; /* of COLUMN_NAME, NULL behind the last */
} column;

#define COLUMN(name, kind, member)                                                                 \
    {                                                                                              \
        name, kind, offsetof(result_row, member), sizeof(((result_row *)0)->member), NULL          \
    }
#define NAMED(name, member, names)                                                                 \
    {                                                                                              \
        name, COLUMN_NAME, offsetof(result_row, member), sizeof(((result_row *)0)->member), names  \
    }

static const char *const kind_names[] = {"kernel",  "peer", "limit", "error",
                                         "overlap", "lab",  NULL};
static const char *const subject_names[] = {"kernel", "peer", NULL};
static const char *const outcome_names[] = {"timed",  "unsupported", "wrong",
                                            "failed", "late",        NULL};
static const char *const place_names[] = {"device", "cuda", "host", NULL};
static const char *const selected_names[] = {"", "named", "tuned", "preferred", NULL};
static const char *const timer_names[] = {"events", "wall", "held", NULL};
static const char *const bar_names[] = {"copy in", "kernel", "copy out", NULL};

static const column columns[] = {
    NAMED("kind", kind, kind_names),
    NAMED("outcome", outcome, outcome_names),
    COLUMN("op", COLUMN_TEXT, op),
    COLUMN("problem", COLUMN_TEXT, problem),
    COLUMN("size", COLUMN_TEXT, size),
    COLUMN("type", COLUMN_TEXT, type),
    COLUMN("precision", COLUMN_TEXT, precision),
    COLUMN("name", COLUMN_TEXT, name),
    COLUMN("peer_version", COLUMN_TEXT, peer_version),
    COLUMN("parameters", COLUMN_TEXT, parameters),
    COLUMN("options", COLUMN_TEXT, options),
    NAMED("selected", selected, selected_names),
    COLUMN("chosen", COLUMN_TEXT, chosen),
    NAMED("place", place, place_names),
    COLUMN("unsupported", COLUMN_TEXT, unsupported),
    COLUMN("device", COLUMN_TEXT, device),
    COLUMN("platform", COLUMN_TEXT, platform),
    COLUMN("vendor", COLUMN_TEXT, vendor),
    COLUMN("driver", COLUMN_TEXT, driver),
    COLUMN("device_id", COLUMN_TEXT, device_id),
    COLUMN("version", COLUMN_TEXT, version),
    COLUMN("when", COLUMN_TEXT, when),
    COLUMN("cold", COLUMN_FLAG, cold),
    NAMED("timer", timer, timer_names),
    COLUMN("samples", COLUMN_COUNT, time.count),
    COLUMN("calls", COLUMN_COUNT, time.calls),
    COLUMN("min_ns", COLUMN_NUMBER, time.min_ns),
    COLUMN("low_ns", COLUMN_NUMBER, time.low_ns),
    COLUMN("median_ns", COLUMN_NUMBER, time.median_ns),
    COLUMN("high_ns", COLUMN_NUMBER, time.high_ns),
    COLUMN("max_ns", COLUMN_NUMBER, time.max_ns),
    COLUMN("work", COLUMN_NUMBER, work),
    COLUMN("bytes", COLUMN_NUMBER, bytes),
    COLUMN("rate", COLUMN_NUMBER, rate),
    COLUMN("unit", COLUMN_TEXT, unit),
    COLUMN("bound_by", COLUMN_TEXT, bound_by),
    COLUMN("share", COLUMN_NUMBER, share),
    COLUMN("limit_rate", COLUMN_NUMBER, limit_rate),
    COLUMN("verified", COLUMN_FLAG, verified),
    COLUMN("worst", COLUMN_NUMBER, worst),
    COLUMN("sampled", COLUMN_FLAG, sampled),
    COLUMN("build_cold_ns", COLUMN_NUMBER, build_cold_ns),
    COLUMN("build_cached_ns", COLUMN_NUMBER, build_cached_ns),
    COLUMN("enqueue_ns", COLUMN_NUMBER, enqueue_ns),
    COLUMN("to_device_ns", COLUMN_NUMBER, to_device_ns),
    COLUMN("from_device_ns", COLUMN_NUMBER, from_device_ns),
    COLUMN("to_device_bytes", COLUMN_NUMBER, to_device_bytes),
    COLUMN("from_device_bytes", COLUMN_NUMBER, from_device_bytes),
    COLUMN("commands", COLUMN_COUNT, commands),
    COLUMN("workspace_bytes", COLUMN_COUNT, workspace_bytes),
    COLUMN("seed", COLUMN_SEED, seed),
    /* Only of operations that name it, where it is known: */
    COLUMN("order", COLUMN_TEXT, order),
    /* Where it was measured beside the time of the device: */
    COLUMN("wall_ns", COLUMN_NUMBER, wall_ns),
    /* Of variants that state them alone, which the first of these two decides: */
    COLUMN("requested_bytes", COLUMN_NUMBER, requested_bytes),
    COLUMN("local_traffic_bytes", COLUMN_NUMBER, local_traffic_bytes),
    /* Of rows with tiles alone, which the first of these two decides: */
    COLUMN("tiles", COLUMN_COUNT, tiles),
    COLUMN("strict_tiles", COLUMN_COUNT, strict_tiles),
    /* Of rows of errors alone: */
    NAMED("subject", subject, subject_names),
    COLUMN("family", COLUMN_TEXT, distribution),
    COLUMN("error_max", COLUMN_NUMBER, error_max),
    COLUMN("error_rms", COLUMN_NUMBER, error_rms),
    COLUMN("roundoff", COLUMN_NUMBER, roundoff),
    COLUMN("elements", COLUMN_COUNT, elements),
    COLUMN("class_errors", COLUMN_COUNT, class_errors),
    /* Of rows of overlap alone: */
    COLUMN("memory", COLUMN_TEXT, memory),
    COLUMN("queues", COLUMN_COUNT, queues),
    COLUMN("chunks", COLUMN_COUNT, chunks),
    COLUMN("queue_ns", COLUMN_NUMBER, queue_ns),
    COLUMN("timeline", COLUMN_BARS, bars),
    /* Of rows of experiments alone: */
    COLUMN("experiment", COLUMN_TEXT, experiment),
    COLUMN("knob", COLUMN_TEXT, knob),
    COLUMN("x", COLUMN_TEXT, x),
    COLUMN("ratio", COLUMN_NUMBER, ratio),
    COLUMN("claim", COLUMN_NUMBER, claim),
    /* Of one alone: */
    COLUMN("base", COLUMN_FLAG, base),
};

enum {
    COLUMNS_OF_LAB = 6,
    COLUMNS_OF_OVERLAP = 5,
    COLUMNS_OF_ERRORS = 7,
    COLUMNS_OF_TILES = 2,
    COLUMNS_MAX = sizeof(columns) / sizeof(columns[0]),
    COLUMN_LAB = COLUMNS_MAX - COLUMNS_OF_LAB,
    COLUMN_BASE = COLUMNS_MAX - 1,
    COLUMNS_ELSE = COLUMN_LAB - COLUMNS_OF_OVERLAP, /* but of overlap and experiments */
    COLUMN_TILES = COLUMNS_ELSE - COLUMNS_OF_TILES - COLUMNS_OF_ERRORS,
    COLUMNS_OF_TRAFFIC = 2,
    COLUMN_TRAFFIC = COLUMN_TILES - COLUMNS_OF_TRAFFIC,
    COLUMN_WALL = COLUMN_TRAFFIC - 1,
    COLUMN_ORDER = COLUMN_WALL - 1,
    COLUMNS = COLUMN_ORDER /* that every row has */
};

static bool has_column(const result_row *row, size_t i)
{
    if (i < COLUMNS)
        return true;
    if (i == COLUMN_BASE)
        return row->kind == RESULT_LAB && row->base;
    if (i >= COLUMN_LAB)
        return row->kind == RESULT_LAB;
    if (i >= COLUMNS_ELSE)
        return row->kind == RESULT_OVERLAP;
    if (i == COLUMN_ORDER)
        return row->order[0] != '\0';
    if (i == COLUMN_WALL)
        return row->wall_ns > 0;
    if (i < COLUMN_TILES)
        return row->requested_bytes > 0;
    return i < COLUMN_TILES + COLUMNS_OF_TILES ? row->tiles > 0 : row->kind == RESULT_ERROR;
}

static void *at(result_row *row, const column *f)
{
    return (char *)row + f->offset;
}

static const void *in(const result_row *row, const column *f)
{
    return (const char *)row + f->offset;
}

/* C leaves the type of an enum to the compiler, and gives all of these one. */
static const char *name_of(const result_row *row, const column *f)
{
    unsigned value;

    assert(f->size == sizeof(value));
    memcpy(&value, in(row, f), sizeof(value));
    return f->names[value];
}

bool result_unit_is_cost(const char *unit)
{
    return !strcmp(unit, "us") || !strcmp(unit, "ns") || !strcmp(unit, "cycles");
}

const char *result_kind_name(result_kind kind)
{
    return kind_names[kind];
}

const char *result_shown_name(const result_row *row)
{
    return *row->name ? row->name : "(none)";
}

const char *result_outcome_name(result_outcome outcome)
{
    return outcome_names[outcome];
}

const char *result_timer_name(result_timer timer)
{
    return timer_names[timer];
}

/* ---- JSON --------------------------------------------------------------------------------- */

/* A string; bytes that are no UTF-8, as a driver may give them, become '?'. */
static json_t *json_of_text(const char *s)
{
    json_t *value = json_string(s);
    char *copy;

    if (value)
        return value;
    copy = strdup(s);
    for (char *c = copy; c && *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    value = copy ? json_string(copy) : NULL;
    free(copy);
    return value;
}

/* [[queue, what, start, end], ...] */
static json_t *json_of_bars(const result_row *row)
{
    json_t *list = json_array();

    for (size_t i = 0; i < row->bar_count; i++) {
        const result_bar *b = &row->bars[i];

        json_array_append_new(list, json_pack("[I, s, f, f]", (json_int_t)b->queue,
                                              bar_names[b->what], b->start_ns, b->end_ns));
    }
    return list;
}

static json_t *to_json(const result_row *row, const column *f)
{
    char digits[24];
    double x;

    switch (f->kind) {
    case COLUMN_TEXT:
        return json_of_text(in(row, f));
    case COLUMN_NUMBER:
        x = *(const double *)in(row, f);
        return isfinite(x) ? json_real(x) : json_null();
    case COLUMN_COUNT:
        return json_integer((json_int_t) * (const size_t *)in(row, f));
    case COLUMN_SEED:
        snprintf(digits, sizeof(digits), "%llu", (unsigned long long)*(const uint64_t *)in(row, f));
        return json_string(digits);
    case COLUMN_FLAG:
        return json_boolean(*(const bool *)in(row, f));
    case COLUMN_NAME:
        return json_string(name_of(row, f));
    case COLUMN_BARS:
        return json_of_bars(row);
    }
    return NULL;
}

void result_to_json(const result_row *row, text *out)
{
    json_t *o = json_object();
    char *line;

    json_object_set_new(o, "schema", json_string(RESULT_SCHEMA));
    for (size_t i = 0; i < COLUMNS_MAX; i++)
        if (has_column(row, i) &&
            json_object_set_new(o, columns[i].name, to_json(row, &columns[i])))
            out->failed = true;
    line = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (line) {
        text_append_json(out, line);
        text_append(out, "\n");
    } else {
        out->failed = true;
    }
    free(line);
    json_decref(o);
}

static bool name_from_json(const char *name, const column *f, result_row *row)
{
    for (unsigned i = 0; name && f->names[i]; i++) {
        if (!strcmp(name, f->names[i])) {
            memcpy(at(row, f), &i, sizeof(i));
            return true;
        }
    }
    return false;
}

/* "\"events\" or \"wall\"". */
static const char *list_names(const char *const *names, text *out)
{
    for (size_t i = 0; names[i]; i++)
        text_format(out, "%s\"%s\"", !i ? "" : names[i + 1] ? ", " : " or ", names[i]);
    return text_get(out);
}

static bool seed_from_text(const char *s, uint64_t *out)
{
    uint64_t n = 0;

    if (!s || !*s)
        return false;
    for (; *s; s++) {
        if (*s < '0' || *s > '9' || n > (UINT64_MAX - (uint64_t)(*s - '0')) / 10)
            return false;
        n = n * 10 + (uint64_t)(*s - '0');
    }
    *out = n;
    return true;
}

static bool bar_from_json(json_t *value, const result_row *row, result_bar *out)
{
    json_int_t queue;
    const char *what;

    if (json_unpack(value, "[I, s, F, F!]", &queue, &what, &out->start_ns, &out->end_ns))
        return false;
    out->queue = (size_t)queue;
    for (unsigned i = 0; bar_names[i]; i++) {
        out->what = (bar_what)i;
        if (!strcmp(bar_names[i], what))
            return queue >= 0 && out->queue < row->queues && out->start_ns >= 0 &&
                   out->start_ns <= out->end_ns;
    }
    return false;
}

static bool bars_from_json(const json_t *value, result_row *row)
{
    if (!json_is_array(value) || json_array_size(value) > RESULT_BARS_MAX)
        return false;
    row->bar_count = json_array_size(value);
    for (size_t i = 0; i < row->bar_count; i++)
        if (!bar_from_json(json_array_get(value, i), row, &row->bars[i]))
            return false;
    return true;
}

/* NULL, or what the field should have been; *names holds what has to be composed. */
static const char *field_from_json(const column *f, const json_t *value, result_row *row,
                                   text *names)
{
    const char *s = json_string_value(value);

    switch (f->kind) {
    case COLUMN_TEXT:
        if (!s || strlen(s) >= f->size)
            return "a text of its length";
        memcpy(at(row, f), s, strlen(s) + 1);
        return NULL;
    case COLUMN_NUMBER:
        if (!json_is_null(value) && (!json_is_number(value) || json_number_value(value) < 0))
            return "a number from 0, or null";
        *(double *)at(row, f) = json_is_null(value) ? INFINITY : json_number_value(value);
        return NULL;
    case COLUMN_COUNT:
        if (!json_is_integer(value) || json_integer_value(value) < 0)
            return "a whole number";
        *(size_t *)at(row, f) = (size_t)json_integer_value(value);
        return NULL;
    case COLUMN_SEED:
        return seed_from_text(s, at(row, f)) ? NULL : "digits in quotes";
    case COLUMN_FLAG:
        if (!json_is_boolean(value))
            return "true or false";
        *(bool *)at(row, f) = json_is_true(value);
        return NULL;
    case COLUMN_NAME:
        return name_from_json(s, f, row) ? NULL : list_names(f->names, names);
    case COLUMN_BARS:
        return bars_from_json(value, row)
                   ? NULL
                   : "a list of at most 192 bars: a queue, \"copy in\", \"kernel\" or "
                     "\"copy out\", start and end";
    }
    return NULL;
}

static tsr_status check_schema(const json_t *o, tsr_error *err)
{
    const char *schema = json_string_value(json_object_get(o, "schema"));

    if (!schema)
        return tsr_fail(err, TSR_EFILE, 0, "no row of results: it has no \"schema\"");
    if (strcmp(schema, RESULT_SCHEMA) != 0)
        return tsr_fail(err, TSR_EFILE, 0, "schema is '%.60s', and this reads '%s'", schema,
                        RESULT_SCHEMA);
    return TSR_OK;
}

/* Every member is one of the fields: with all fields read, the numbers decide. */
static tsr_status check_members(json_t *o, const result_row *row, tsr_error *err)
{
    const char *name;
    size_t count = 0;
    json_t *value;

    for (size_t i = 0; i < COLUMNS_MAX; i++)
        count += has_column(row, i);
    if (json_object_size(o) == count + 1)
        return TSR_OK;
    json_object_foreach(o, name, value)
    {
        bool known = !strcmp(name, "schema");

        for (size_t i = 0; i < COLUMNS_MAX && !known; i++)
            known = has_column(row, i) && !strcmp(name, columns[i].name);
        if (!known)
            return tsr_fail(err, TSR_EFILE, 0, "'%.60s' is no field of " RESULT_SCHEMA, name);
    }
    return TSR_OK;
}

/* What no row of times can be. */
static tsr_status check_row(const result_row *r, tsr_error *err)
{
    const timing *t = &r->time;

    if (t->min_ns > t->low_ns || t->low_ns > t->median_ns || t->median_ns > t->high_ns ||
        t->high_ns > t->max_ns || !isfinite(t->max_ns))
        return tsr_fail(
            err, TSR_EFILE, 0,
            "min_ns %g, low_ns %g, median_ns %g, high_ns %g and max_ns %g do not ascend", t->min_ns,
            t->low_ns, t->median_ns, t->high_ns, t->max_ns);
    if (t->count && (t->min_ns <= 0 || t->calls == 0))
        return tsr_fail(err, TSR_EFILE, 0, "%zu samples of no time or no calls", t->count);
    if (t->count && r->unsupported[0])
        return tsr_fail(err, TSR_EFILE, 0, "%zu samples of an unsupported variant", t->count);
    if (r->strict_tiles > r->tiles)
        return tsr_fail(err, TSR_EFILE, 0, "strict_tiles is %zu, and tiles is %zu", r->strict_tiles,
                        r->tiles);
    if ((r->outcome == RESULT_TIMED) != !r->unsupported[0])
        return tsr_fail(err, TSR_EFILE, 0, "outcome is '%s', and unsupported says '%.60s'",
                        result_outcome_name(r->outcome), r->unsupported);
    return TSR_OK;
}

static const char *text_member(const json_t *o, const char *name)
{
    const char *value = json_string_value(json_object_get(o, name));

    return value ? value : "";
}

/* What the variant of a row is called now; NULL where no variant has or had that name. */
static const char *name_now(const json_t *o, const operation *op)
{
    const char *name = text_member(o, "name"), *type = tsr_type_name(op->default_type);
    const variant *v = NULL;
    char plain[192];

    snprintf(plain, sizeof(plain), "%s %s", text_member(o, "size"), type);
    for (size_t i = 0; i < op->renaming_count; i++)
        if (!strcmp(op->renamings[i].name, name) &&
            strstr(text_member(o, "options"), op->renamings[i].built))
            return strcmp(text_member(o, "problem"), plain) ? op->renamings[i].other
                                                            : op->renamings[i].plain;
    return *name && variant_find(op, name, &v, NULL) == TSR_OK ? v->name : NULL;
}

/* Rows may have words, names of operations, variants and tunables from before these were renamed.
 */
static void rename_old(json_t *o)
{
    json_t *why = json_object_get(o, "unsuited");
    const char *operation_name = text_member(o, "op");
    const operation *op = operation_of_file(operation_name, text_member(o, "problem"), NULL);
    const char *name = op ? name_now(o, op) : NULL;
    const json_t *parameters = json_object_get(o, "parameters");
    const variant *v = NULL;
    text now = {0};

    if (why) {
        json_object_set(o, "unsupported", why);
        json_object_del(o, "unsuited");
    }
    if (!strcmp(text_member(o, "outcome"), "unsuited"))
        json_object_set_new(o, "outcome", json_string("unsupported"));
    if (op && strcmp(op->name, operation_name) != 0)
        json_object_set_new(o, "op", json_string(op->name));
    if (name)
        json_object_set_new(o, "name", json_string(name));
    if (name && variant_find(op, name, &v, NULL) == TSR_OK && json_is_string(parameters)) {
        params_rename(v, json_string_value(parameters), &now);
        json_object_set_new(o, "parameters", json_string(text_get(&now)));
        text_free(&now);
    }
}

tsr_status result_from_json(const char *line, result_row *out, tsr_error *err)
{
    json_error_t why;
    json_t *o = json_loads(line, JSON_REJECT_DUPLICATES, &why);
    result_row row = {0};
    text names = {0};
    tsr_status st;

    if (!json_is_object(o)) {
        st = o ? tsr_fail(err, TSR_EFILE, 0, "no row of results: not a JSON object")
               : tsr_fail(err, TSR_EFILE, 0, "no JSON: %s", why.text);
        json_decref(o);
        return st;
    }
    st = check_schema(o, err);
    if (!st)
        rename_old(o);
    /* What says that a row has further fields comes before them; the order, the wall time, the
     * traffic, the tiles and the base may be there or not. */
    for (size_t i = 0; i < COLUMNS_MAX && !st; i++) {
        const json_t *value = json_object_get(o, columns[i].name);
        const operation *of = operation_named(row.op);
        const bool optional = i == COLUMN_TILES || i == COLUMN_WALL || i == COLUMN_TRAFFIC ||
                              i == COLUMN_BASE || (i == COLUMN_ORDER && (of && of->inputs_name));
        const bool wants = optional ? value != NULL : has_column(&row, i);
        const char *wanted =
            wants && value ? field_from_json(&columns[i], value, &row, &names) : NULL;

        if (wants && !value)
            st = tsr_fail(err, TSR_EFILE, 0, "field '%s' is missing", columns[i].name);
        else if (wanted)
            st = tsr_fail(err, TSR_EFILE, 0, "field '%s' is not %s", columns[i].name, wanted);
    }
    st = st ? st : check_members(o, &row, err);
    st = st ? st : check_row(&row, err);
    text_free(&names);
    json_decref(o);
    if (!st)
        *out = row;
    return st;
}

/* ---- files -------------------------------------------------------------------------------- */

static tsr_status grow(result_row **rows, size_t count, size_t *capacity, tsr_error *err)
{
    result_row *more;

    if (count < *capacity)
        return TSR_OK;
    more = realloc(*rows, (2 * *capacity + 8) * sizeof(**rows));
    if (!more)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu rows", 2 * *capacity + 8);
    *rows = more;
    *capacity = 2 * *capacity + 8;
    return TSR_OK;
}

tsr_status result_read_file(const char *path, result_row **out, size_t *count, tsr_error *err)
{
    FILE *file = fopen(path, "r");
    size_t capacity = 0, n = 0, number = 0, size = 0;
    result_row *rows = NULL;
    tsr_status st = TSR_OK;
    tsr_error why = {0};
    char *line = NULL;
    ssize_t length;

    if (!file)
        return tsr_fail(err, TSR_EFILE, 0, "%s: cannot open: %s", path, strerror(errno));
    while (!st && (length = getline(&line, &size, file)) >= 0) {
        number++;
        if (strlen(line) != (size_t)length) {
            st = tsr_fail(err, TSR_EFILE, 0,
                          "%s: line %zu: it holds a zero byte, and is no file of results", path,
                          number);
        } else if (line[strspn(line, " \t\r\n")] != '\0') {
            st = grow(&rows, n, &capacity, err);
            if (!st && result_from_json(line, &rows[n], &why))
                st = tsr_fail(err, why.status, 0, "%s: line %zu: %s", path, number, why.message);
            n++;
        }
    }
    if (!st && ferror(file))
        st = tsr_fail(err, TSR_EFILE, 0, "%s: cannot read: %s", path, strerror(errno));
    if (!st && n == 0)
        st = tsr_fail(err, TSR_EFILE, 0, "%s: no rows", path);
    free(line);
    fclose(file);
    if (st) {
        free(rows);
        return st;
    }
    *out = rows;
    *count = n;
    return TSR_OK;
}

/* ---- CSV ---------------------------------------------------------------------------------- */

void result_csv_header(text *out)
{
    for (size_t i = 0; i < COLUMNS; i++)
        text_format(out, "%s%s", i ? "," : "", columns[i].name);
    text_append(out, "\r\n");
}

static void csv_field(const result_row *row, const column *f, text *out)
{
    switch (f->kind) {
    case COLUMN_TEXT:
        text_append_csv(out, in(row, f));
        break;
    case COLUMN_NUMBER:
        text_format(out, "%.17g", *(const double *)in(row, f));
        break;
    case COLUMN_COUNT:
        text_format(out, "%zu", *(const size_t *)in(row, f));
        break;
    case COLUMN_SEED:
        text_format(out, "%llu", (unsigned long long)*(const uint64_t *)in(row, f));
        break;
    case COLUMN_FLAG:
        text_append(out, *(const bool *)in(row, f) ? "true" : "false");
        break;
    case COLUMN_NAME:
        text_append(out, name_of(row, f));
        break;
    case COLUMN_BARS: /* no column */
        break;
    }
}

void result_to_csv(const result_row *row, text *out)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        if (i)
            text_append(out, ",");
        csv_field(row, &columns[i], out);
    }
    text_append(out, "\r\n");
}
