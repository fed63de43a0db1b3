#include "measure/lesson_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/elements.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "base/standard_error.h"
#include "core/registry.h"
#include "measure/json_text.h"
#include "measure/verify.h"
#include "session/source.h"

/* What the workspace holds where no kernel wrote. */
static const uint32_t unwritten = 0xA5A5A5A5u;

enum { RECORDS_MAX = 1 << 18, BUFFERS_MAX = OPERANDS_MAX + 1, ARRAYS_MAX = 24 };

/* An array that records may be about. */
typedef struct traced_array {
    char name[64];
    bool local;
    lesson_type type;
    size_t bytes, row, element; /* row: 0 of one dimension */
} traced_array;

/* Where an array begins: for a launch, or for a group of it. */
typedef struct place {
    size_t array;
    cl_ulong at;
    size_t group; /* of local memory */
} place;

typedef struct recording {
    tsr_session *session;
    const lesson_run_options *options;
    const kept_call *call;
    const variant *variant;
    const char *build; /* options of a kernel that belongs to no variant; NULL of others */
    json_t *begin; /* what memory held before the first launch whose records are kept; or NULL */
    recorded_source source;
    cl_program program;
    cl_mem memory[BUFFERS_MAX]; /* operands, in the order of the posed problem, and the workspace */
    void *before[OPERANDS_MAX], *after[OPERANDS_MAX];
    cl_mem records;
    cl_mem counters;
    uint32_t *record;
    size_t count;   /* of records, of the launch that ran last */
    bool overflows; /* it made more than there is room for */
    traced_array array[ARRAYS_MAX];
    size_t array_count;
    bool told[LESSON_FILES_MAX]; /* files that records are about */
    place *places;
    size_t place_count;
} recording;

/* ---- memory ---------------------------------------------------------------------------------- */

static tsr_status make_buffer(const recording *t, size_t bytes, cl_mem *out, tsr_error *err)
{
    cl_int rc;

    *out = clCreateBuffer(t->session->context, CL_MEM_READ_WRITE, bytes ? bytes : 4, NULL, &rc);
    return *out ? TSR_OK : tsr_fail(err, TSR_ECL, rc, "clCreateBuffer(%zu bytes)", bytes);
}

static tsr_status copy(const recording *t, cl_mem memory, size_t bytes, const void *from, void *to,
                       tsr_error *err)
{
    const cl_command_queue q = t->session->queue;
    const cl_int rc = from ? clEnqueueWriteBuffer(q, memory, CL_TRUE, 0, bytes, from, 0, NULL, NULL)
                           : clEnqueueReadBuffer(q, memory, CL_TRUE, 0, bytes, to, 0, NULL, NULL);

    return rc == CL_SUCCESS ? TSR_OK
                            : tsr_fail(err, TSR_ECL, rc, "copying %zu bytes %s the device", bytes,
                                       from ? "to" : "from");
}

/* Element e of operand i: small, and no two neighbours are equal.  5 and 37 are prime to 9 and to
 * what lessons ask for, so that all values come. */
static uint32_t input(const recording *t, size_t i, size_t e)
{
    const size_t below = t->options->below;

    return (uint32_t)(below ? (e * 37 + i * 5 + 11) % below : 1 + (e * 5 + i * 3) % 9);
}

static tsr_status fill_operand(recording *t, size_t i, tsr_error *err)
{
    const operand *o = &t->call->operand[i];
    const size_t size = tsr_type_size(o->type), elements = o->bytes / size;
    const json_t *values = json_object_get(t->options->values, o->name);

    if (o->bytes && o->type != TSR_F32 && type_is_real(o->type))
        return tsr_fail(err, TSR_EUNSUPPORTED, 0, "lessons have float32 and integers: %s is %s",
                        o->name, tsr_type_name(o->type));
    t->before[i] = calloc(elements + 1, size);
    t->after[i] = calloc(elements + 1, size);
    if (!t->before[i] || !t->after[i])
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu elements", elements);
    for (size_t e = 0; e < elements && o->access != ACCESS_WRITE; e++) {
        const json_t *given = json_array_get(values, e % size_max(1, json_array_size(values)));
        const double value = given ? json_number_value(given) : (double)input(t, i, e);

        if (o->type == TSR_F32)
            ((float *)t->before[i])[e] = (float)value;
        else
            bits_set(o->type, t->before[i], e, (uint64_t)(int64_t)value);
    }
    return TSR_OK;
}

static void add_array(recording *t, const char *name, bool local, lesson_type type, size_t bytes,
                      size_t element)
{
    traced_array *a = &t->array[t->array_count];

    if (t->array_count == ARRAYS_MAX)
        return;
    *a = (traced_array){.local = local, .type = type, .bytes = bytes, .element = element};
    snprintf(a->name, sizeof(a->name), "%s", name);
    t->array_count++;
}

static tsr_status fill_memory(recording *t, tsr_error *err)
{
    const kept_call *c = t->call;
    cl_int rc;
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < c->operand_count && !st; i++) {
        st = fill_operand(t, i, err);
        st = st ? st : make_buffer(t, c->operand[i].bytes, &t->memory[i], err);
        if (!st && c->operand[i].bytes)
            st = copy(t, t->memory[i], c->operand[i].bytes, t->before[i], NULL, err);
        add_array(t, c->operand[i].name, false,
                  c->operand[i].type == TSR_F32   ? LESSON_FLOAT
                  : c->operand[i].type == TSR_I32 ? LESSON_SIGNED
                                                  : LESSON_UNSIGNED,
                  c->operand[i].bytes, tsr_type_size(c->operand[i].type));
    }
    if (!st && c->plan.workspace) {
        st = make_buffer(t, c->plan.workspace, &t->memory[c->operand_count], err);
        rc = st ? CL_SUCCESS
                : clEnqueueFillBuffer(t->session->queue, t->memory[c->operand_count], &unwritten,
                                      sizeof(unwritten), 0, c->plan.workspace / 4 * 4, 0, NULL,
                                      NULL);
        if (rc != CL_SUCCESS)
            st = tsr_fail(err, TSR_ECL, rc, "clEnqueueFillBuffer");
        add_array(t, "workspace", false, LESSON_UNSIGNED, c->plan.workspace, 4);
    }
    st = st ? st
            : make_buffer(t, (LESSON_HEAD + LESSON_WORDS * (size_t)RECORDS_MAX) * 4, &t->records,
                          err);
    st = st ? st : make_buffer(t, GROUP_COUNTERS_MAX * 4, &t->counters, err);
    t->record = malloc((LESSON_HEAD + LESSON_WORDS * (size_t)RECORDS_MAX) * 4);
    if (!st && !t->record)
        st = tsr_fail(err, TSR_ENOMEM, 0, "no memory for %d records", RECORDS_MAX);
    return st;
}

/* ---- building and running -------------------------------------------------------------------- */

/* What the compiler says goes into a log: it has no business on standard error. */
static cl_int build_program(const recording *t, const char *lines, const char *options,
                            cl_program *made)
{
    cl_int rc;

    *made = clCreateProgramWithSource(t->session->context, 1, &lines, NULL, &rc);
    if (!*made)
        return rc;
    standard_error_hide();
    rc = clBuildProgram(*made, 1, &t->session->device.id, options, NULL, NULL);
    standard_error_show();
    return rc;
}

static void keep_log(recording *t, cl_program built)
{
    const cl_device_id device = t->session->device.id;
    size_t length = 0;
    char *log = NULL;

    text_clear(&t->session->build_log);
    if (built &&
        clGetProgramBuildInfo(built, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &length) == CL_SUCCESS)
        log = calloc(length + 1, 1);
    if (log)
        clGetProgramBuildInfo(built, device, CL_PROGRAM_BUILD_LOG, length, log, NULL);
    text_append(&t->session->build_log, log ? log : "");
    free(log);
}

/* What does not build with records made is built as it was written: the places that the compiler
 * names then are those of its author. */
static tsr_status say_why(recording *t, const char *lines, const char *options, cl_int rc,
                          tsr_error *err)
{
    cl_program plain = NULL;
    const bool wrong = build_program(t, lines, options, &plain) != CL_SUCCESS;

    keep_log(t, wrong ? plain : t->program);
    if (plain)
        clReleaseProgram(plain);
    return tsr_fail(err, TSR_EBUILD, rc,
                    wrong ? "%s does not build"
                          : "%s builds, but not with records made at its accesses",
                    t->source.file[0]);
}

static tsr_status build(recording *t, tsr_error *err)
{
    text options = {0}, source = {0};
    cl_int rc;
    tsr_status st =
        source_read(text_get(&t->session->kernel_dir), t->variant->source, &source, err);

    st = st ? st : lesson_source(text_get(&source), &t->options->wanted, &t->source, err);
    if (!st) {
        if (t->build)
            text_append(&options, t->build);
        else
            plan_options(t->variant, session_facts(t->session), &t->call->plan, &options);
        session_building(t->session, "compiling", t->variant->source);
        rc = build_program(t, text_get(&t->source.text), text_get(&options), &t->program);
        if (rc != CL_SUCCESS)
            st = say_why(t, text_get(&source), text_get(&options), rc, err);
    }
    text_free(&options);
    text_free(&source);
    return st;
}

static cl_int set_argument(const recording *t, cl_kernel kernel, cl_uint i, const command *c)
{
    const command_arg *a = &c->arg[i];
    static const cl_mem none;

    switch (a->kind) {
    case ARG_OPERAND:
        return clSetKernelArg(kernel, i, sizeof(cl_mem), &t->memory[t->call->order[a->index]]);
    case ARG_WORKSPACE:
        return clSetKernelArg(kernel, i, sizeof(cl_mem), &t->memory[t->call->operand_count]);
    case ARG_GROUP_COUNTERS:
        return clSetKernelArg(kernel, i, sizeof(cl_mem), &t->counters);
    case ARG_SCALAR:
        return clSetKernelArg(kernel, i, a->bytes, a->scalar);
    case ARG_BLOCK:
        return clSetKernelArg(kernel, i, a->bytes, c->block);
    case ARG_LOCAL:
        return clSetKernelArg(kernel, i, a->bytes, NULL);
    case ARG_NO_BUFFER:
    case ARG_STRICT_COUNTER:
    case ARG_IMAGE:
        break;
    }
    return clSetKernelArg(kernel, i, sizeof(cl_mem), &none);
}

/* Of a file in the place of a kernel's own. */
static tsr_status no_kernel(const recording *t, const char *name, tsr_error *err)
{
    if (t->build) /* it belongs to no variant */
        return tsr_fail(err, TSR_ECL, CL_INVALID_KERNEL_NAME,
                        "%s has no kernel '%s', as %s has, which this lesson launches",
                        t->source.file[0], name, t->variant->source);
    return tsr_fail(err, TSR_ECL, CL_INVALID_KERNEL_NAME,
                    "%s has no kernel '%s', which this lesson launches: begin with what `tessera "
                    "kernels %s %s --source` prints",
                    t->source.file[0], name, t->call->posed.op->name, t->variant->name);
}

static tsr_status launch(recording *t, const command *c, tsr_error *err)
{
    const char *name = t->variant->entries[c->entry];
    const uint32_t head[LESSON_HEAD] = {0, RECORDS_MAX};
    cl_int rc;
    cl_kernel kernel = clCreateKernel(t->program, name, &rc);
    tsr_status st = copy(t, t->records, sizeof(head), head, NULL, err);

    if (rc == CL_INVALID_KERNEL_NAME && !st)
        st = no_kernel(t, name, err);
    for (cl_uint i = 0; i < c->n_args && rc == CL_SUCCESS; i++)
        rc = set_argument(t, kernel, i, c);
    if (rc == CL_SUCCESS)
        rc = clSetKernelArg(kernel, c->n_args, sizeof(cl_mem), &t->records);
    if (session_facts(t->session)->compiles_late)
        session_building(t->session, "compiling", t->variant->source);
    if (rc == CL_SUCCESS && !st)
        rc = clEnqueueNDRangeKernel(t->session->queue, kernel, c->dims,
                                    c->start[1] || c->start[2] ? c->start : NULL, c->global,
                                    c->local, 0, NULL, NULL);
    if (rc != CL_SUCCESS && !st)
        st = tsr_fail(err, TSR_ECL, rc, "launching %s, traced", name);
    st = st ? st : copy(t, t->records, 4, NULL, t->record, err);
    session_built(t->session);
    t->overflows = !st && t->record[0] > RECORDS_MAX;
    if (t->overflows)
        st = tsr_fail(err, TSR_EUNSUPPORTED, 0,
                      "%s makes %u records, and a lesson has %d at most: take a smaller size", name,
                      t->record[0], RECORDS_MAX);
    t->count = st ? 0 : t->record[0];
    st =
        st ? st
           : copy(t, t->records, (LESSON_HEAD + LESSON_WORDS * t->count) * 4, NULL, t->record, err);
    if (kernel)
        clReleaseKernel(kernel);
    return st;
}

static tsr_status fill(const recording *t, const command *c, tsr_error *err)
{
    const size_t i = c->fill_target.kind == ARG_WORKSPACE ? t->call->operand_count
                                                          : t->call->order[c->fill_target.index];
    const cl_int rc =
        clEnqueueFillBuffer(t->session->queue, t->memory[i], &c->fill_pattern,
                            sizeof(c->fill_pattern), c->fill_offset, c->fill_bytes, 0, NULL, NULL);

    return rc == CL_SUCCESS ? TSR_OK : tsr_fail(err, TSR_ECL, rc, "clEnqueueFillBuffer");
}

/* ---- records --------------------------------------------------------------------------------- */

static size_t group_of(const command *c, size_t item)
{
    size_t group = 0, size = 1;

    for (unsigned k = 0; k < c->dims; k++) {
        group += item % c->global[k] / c->local[k] * size;
        size *= c->global[k] / c->local[k];
        item /= c->global[k];
    }
    return group;
}

/* The array of a declaration in local memory; those of helpers of one name are one. */
static size_t local_array(recording *t, const command *c, const uint32_t *r)
{
    const uint32_t number = r[4] & ~(uint32_t)LESSON_LOCAL_ARGUMENT;
    const size_t bytes = !(r[4] & LESSON_LOCAL_ARGUMENT) ? r[4]
                         : number < c->n_args            ? c->arg[number].bytes
                                                         : 0;
    const lesson_array *declared = NULL;
    size_t k = 0;

    for (size_t i = 0; i < t->source.local_count; i++)
        if (t->source.locals[i].file == LESSON_CODE_FILE(r[1]) &&
            t->source.locals[i].line == LESSON_CODE_LINE(r[1]))
            declared = &t->source.locals[i];
    if (!declared)
        return ARRAYS_MAX;
    while (k < t->array_count &&
           (!t->array[k].local || strcmp(t->array[k].name, declared->name) != 0))
        k++;
    if (k == t->array_count)
        add_array(t, declared->name, true, declared->type, bytes, 4);
    if (k < t->array_count) {
        const size_t row = r[5] & 0xFFFF, element = r[5] >> 16;

        t->array[k].element = element ? element : 4;
        t->array[k].row = row > element ? row : 0;
    }
    return k;
}

static tsr_status add_place(recording *t, place p, tsr_error *err)
{
    place *grown = realloc(t->places, (t->place_count + 1) * sizeof(*grown));

    if (!grown)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu places", t->place_count);
    t->places = grown;
    t->places[t->place_count++] = p;
    return TSR_OK;
}

/* What is where in the launch that ran last. */
static tsr_status find_places(recording *t, const command *c, tsr_error *err)
{
    tsr_status st = TSR_OK;

    t->place_count = 0;
    for (size_t i = 0; i < t->count && !st; i++) {
        const uint32_t *r = t->record + LESSON_HEAD + LESSON_WORDS * i;
        const unsigned kind = LESSON_CODE_KIND(r[1]);
        place p = {.at = r[2] | (cl_ulong)r[3] << 32, .array = ARRAYS_MAX};

        if (kind == LESSON_ARGUMENT && r[4] < c->n_args) {
            const command_arg *a = &c->arg[r[4]];

            if (a->kind == ARG_OPERAND)
                p.array = t->call->order[a->index];
            else if (a->kind == ARG_WORKSPACE)
                p.array = t->call->operand_count;
        } else if (kind == LESSON_LOCAL) {
            p.array = local_array(t, c, r);
            p.group = group_of(c, r[0]);
        }
        if (p.array < t->array_count)
            st = add_place(t, p, err);
    }
    return st;
}

/* The array and the element that a record is about. */
static bool find_element(const recording *t, const uint32_t *r, size_t group, size_t *array,
                         size_t *index)
{
    const cl_ulong at = r[2] | (cl_ulong)r[3] << 32;
    const bool local = LESSON_CODE_LOCAL(r[1]) != 0;

    for (size_t i = 0; i < t->place_count; i++) {
        const place *p = &t->places[i];
        const traced_array *a = &t->array[p->array];

        if (a->local != local || at < p->at || at - p->at >= a->bytes ||
            (local && p->group != group))
            continue;
        *array = p->array;
        *index = (size_t)(at - p->at) / a->element;
        return true;
    }
    return false;
}

/* Records in the order in which they are given: of a group those that it made, one after another.
 */
typedef struct ordered {
    size_t group, number;
} ordered;

static int by_group(const void *x, const void *y)
{
    const ordered *a = x, *b = y;

    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* JSON has no NaN and no infinity. */
static json_t *value_json(uint32_t bits, lesson_type type)
{
    float value;

    if (type != LESSON_FLOAT)
        return json_integer(type == LESSON_SIGNED ? (int32_t)bits : (json_int_t)bits);
    memcpy(&value, &bits, 4);
    if (isnan(value))
        return json_string("NaN");
    if (isinf(value))
        return json_string(value > 0 ? "inf" : "-inf");
    if (value == truncf(value) && fabsf(value) < 1e9f)
        return json_integer((json_int_t)value);
    return json_real(value);
}

/* Element e of what an array holds: of an integer of 64 bits the lower half, as in records. */
static json_t *element_json(const traced_array *a, const void *data, size_t e)
{
    uint32_t bits = 0;

    memcpy(&bits, (const char *)data + e * a->element, size_min(a->element, 4));
    return value_json(bits, a->type);
}

/* A record as a list; NULL where it is about nothing that is shown.  One of a word in an array of
 * bytes is a record for each byte, of which this one is number `part`; NULL behind the last. */
static json_t *record_json(recording *t, const uint32_t *r, size_t group, size_t part)
{
    static const char *const kinds[] = {"", "load", "store", "barrier", "set"};
    const unsigned kind = LESSON_CODE_KIND(r[1]);
    const lesson_type type = (lesson_type)LESSON_CODE_TYPE(r[1]);
    const size_t bytes = r[5] & ~(uint32_t)LESSON_JOINED;
    size_t array = 0, index = 0, parts = 1;
    uint32_t value = r[4];
    lesson_type shown = type;

    if (kind < LESSON_LOAD || kind > LESSON_VALUE)
        return NULL;
    if (kind == LESSON_VALUE) {
        array = r[2];
        index = r[3];
    } else if (kind != LESSON_BARRIER) {
        if (!find_element(t, r, group, &array, &index))
            return NULL;
        shown = t->array[array].type == LESSON_FLOAT ? LESSON_FLOAT : type;
        if (t->array[array].element == 1 && bytes > 1) {
            parts = size_min(bytes, 4); /* that the record has */
            index += part;
            value = value >> 8 * part & 255;
        }
    }
    if (part >= parts)
        return NULL;
    t->told[LESSON_CODE_FILE(r[1]) % LESSON_FILES_MAX] = true;
    json_t *one = json_pack("[i,s,i,i,i,i,o]", (int)r[0], kinds[kind], (int)LESSON_CODE_FILE(r[1]),
                            (int)LESSON_CODE_LINE(r[1]), (int)array, (int)index,
                            kind == LESSON_BARRIER ? json_null() : value_json(value, shown));
    if (part > 0 || (kind != LESSON_VALUE && kind != LESSON_BARRIER && r[5] & LESSON_JOINED))
        json_array_append_new(one, json_integer(1));
    return one;
}

static json_t *sizes_json(const size_t *sizes, unsigned dims)
{
    json_t *list = json_array();

    for (unsigned k = 0; k < 3; k++)
        json_array_append_new(list, json_integer(k < dims ? (json_int_t)sizes[k] : 1));
    return list;
}

static tsr_status launch_json(recording *t, const command *c, json_t *launches, tsr_error *err)
{
    ordered *order = calloc(t->count + 1, sizeof(*order));
    json_t *records = json_array();
    tsr_status st = order ? find_places(t, c, err)
                          : tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu records", t->count);

    for (size_t i = 0; !st && i < t->count; i++)
        order[i] = (ordered){
            t->options->as_they_ran ? 0 : group_of(c, t->record[LESSON_HEAD + LESSON_WORDS * i]),
            i};
    if (!st)
        qsort(order, t->count, sizeof(*order), by_group);
    for (size_t i = 0; !st && i < t->count; i++) {
        const uint32_t *r = t->record + LESSON_HEAD + LESSON_WORDS * order[i].number;
        json_t *one;

        for (size_t part = 0; (one = record_json(t, r, group_of(c, r[0]), part)); part++)
            json_array_append_new(records, one);
    }
    free(order);
    json_array_append_new(launches,
                          json_pack("{s:s, s:o, s:o, s:o}", "kernel", t->variant->entries[c->entry],
                                    "global", sizes_json(c->global, c->dims), "local",
                                    sizes_json(c->local, c->dims), "records", records));
    return st;
}

/* What every buffer holds now. */
static tsr_status take_begin(recording *t, tsr_error *err)
{
    const size_t buffers = t->call->operand_count + (t->call->plan.workspace > 0);
    tsr_status st = TSR_OK;

    t->begin = json_array();
    for (size_t i = 0; i < buffers && !st; i++) {
        uint32_t *held = calloc(t->array[i].bytes / 4 + 1, 4);
        json_t *list = json_array();

        if (!held)
            st = tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu bytes", t->array[i].bytes);
        else if (t->array[i].bytes)
            st = copy(t, t->memory[i], t->array[i].bytes, NULL, held, err);
        for (size_t e = 0; !st && e < t->array[i].bytes / t->array[i].element; e++)
            json_array_append_new(list, i == t->call->operand_count && held[e] == unwritten
                                            ? json_null()
                                            : element_json(&t->array[i], held, e));
        json_array_append_new(t->begin, list);
        free(held);
    }
    return st;
}

static tsr_status run_commands(recording *t, json_t *launches, tsr_error *err)
{
    const plan *p = &t->call->plan;
    const size_t most = t->options->launches ? t->options->launches : SIZE_MAX;
    size_t launched = 0;
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < p->count && !st; i++) {
        const command *c = &p->commands[i];

        if (c->kind == COMMAND_IMAGE)
            return tsr_fail(err, TSR_EUNSUPPORTED, 0, "%s reads an image: it has no trace",
                            t->variant->name);
        if (c->kind == COMMAND_LAUNCH && t->options->first && launched == t->options->first)
            st = take_begin(t, err);
        if (!st)
            st = c->kind == COMMAND_FILL ? fill(t, c, err) : launch(t, c, err);
        if (c->kind == COMMAND_LAUNCH && ++launched > t->options->first && !st &&
            json_array_size(launches) < most)
            st = launch_json(t, c, launches, err);
    }
    return st;
}

/* ---- the whole run --------------------------------------------------------------------------- */

static json_t *elements_json(const recording *t, size_t i, const void *data)
{
    json_t *list = json_array();

    for (size_t e = 0; e < t->array[i].bytes / t->array[i].element; e++)
        json_array_append_new(list, element_json(&t->array[i], data, e));
    return list;
}

static json_t *operands_json(const recording *t)
{
    json_t *list = json_array();

    for (size_t i = 0; i < t->call->operand_count; i++) {
        const operand *o = &t->call->operand[i];

        json_array_append_new(
            list,
            json_pack("{s:s, s:s, s:o, s:o}", "name", o->name, "access",
                      o->access == ACCESS_READ    ? "read"
                      : o->access == ACCESS_WRITE ? "write"
                                                  : "read and write",
                      "before",
                      o->access == ACCESS_WRITE ? json_null() : elements_json(t, i, t->before[i]),
                      "after", elements_json(t, i, t->after[i])));
    }
    return list;
}

static json_t *arrays_json(const recording *t)
{
    json_t *list = json_array();

    for (size_t i = 0; i < t->array_count; i++) {
        const traced_array *a = &t->array[i];

        json_array_append_new(
            list, json_pack("{s:s, s:s, s:i, s:i, s:i}", "name", a->name, "space",
                            a->local ? "local" : "global", "elements", (int)(a->bytes / a->element),
                            "columns", (int)(a->row / a->element), "element", (int)a->element));
    }
    return list;
}

static json_t *files_json(const recording *t)
{
    json_t *list = json_array();

    for (size_t i = 0; i < t->source.file_count; i++) {
        json_t *file =
            json_pack("{s:o, s:o}", "name", json_text(t->source.file[i]), "text",
                      json_text(t->told[i] || i == 0 ? text_get(&t->source.lines[i]) : ""));

        if (i == 0 && strcmp(t->source.file[0], t->variant->source) != 0)
            json_object_set_new(file, "replaces", json_text(t->variant->source));
        json_array_append_new(list, file);
    }
    return list;
}

static json_t *watched_json(const recording *t)
{
    json_t *list = json_array();

    for (size_t i = 0; i < t->options->wanted.watched_count; i++)
        json_array_append_new(list, json_string(t->options->wanted.watched[i].name));
    return list;
}

static tsr_status judge(recording *t, json_t *run, tsr_error *err)
{
    const problem *p = &t->call->posed;
    verdict v = {0};
    void *expected = NULL;
    tsr_status st = verify_result(p, session_facts(t->session), (const void *const *)t->before,
                                  (const void *const *)t->after, &expected, &v, err);

    free(expected);
    if (st && st != TSR_EBOUND)
        return st;
    json_object_set_new(run, "right", json_boolean(!st));
    json_object_set_new(run, "detail", json_string(st ? v.detail : ""));
    return TSR_OK;
}

static tsr_status give(recording *t, json_t *launches, json_t **out, tsr_error *err)
{
    const operation *op = t->call->posed.op;
    text parameters = {0}, posed = {0};
    json_t *run;
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < t->call->operand_count && !st; i++)
        if (t->call->operand[i].bytes)
            st = copy(t, t->memory[i], t->call->operand[i].bytes, NULL, t->after[i], err);
    if (st)
        return st;
    params_describe(&t->call->plan.params, &parameters);
    if (op)
        op->describe(&t->call->posed, &posed);
    run = json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:O, s:i}", "op",
                    op ? op->name : "", "kernel", t->variant->name, "source", t->variant->source,
                    "problem", text_get(&posed), "parameters", text_get(&parameters), "operands",
                    operands_json(t), "arrays", arrays_json(t), "files", files_json(t), "watched",
                    watched_json(t), "launches", launches, "removed", (int)t->source.removed);
    text_free(&parameters);
    text_free(&posed);
    if (!run)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for a trace");
    if (t->begin)
        json_object_set(run, "begin", t->begin);
    st = op ? judge(t, run, err) : TSR_OK;
    if (st)
        json_decref(run);
    else
        *out = run;
    return st;
}

static void close_recording(recording *t)
{
    for (size_t i = 0; i < BUFFERS_MAX; i++)
        if (t->memory[i])
            clReleaseMemObject(t->memory[i]);
    for (size_t i = 0; i < OPERANDS_MAX; i++) {
        free(t->before[i]);
        free(t->after[i]);
    }
    if (t->records)
        clReleaseMemObject(t->records);
    if (t->counters)
        clReleaseMemObject(t->counters);
    if (t->program)
        clReleaseProgram(t->program);
    json_decref(t->begin);
    recorded_source_free(&t->source);
    free(t->record);
    free(t->places);
}

/* Build, run and give what came of it. */
static tsr_status run(recording *t, json_t **out, tsr_error *err)
{
    json_t *launches = json_array();
    tsr_status st = build(t, err);

    session_built(t->session);
    st = st ? st : fill_memory(t, err);
    st = st ? st : run_commands(t, launches, err);
    st = st ? st : give(t, launches, out, err);
    json_decref(launches);
    close_recording(t);
    return st;
}

tsr_status lesson_run(tsr_session *s, const problem *p, const selection *sel,
                      const lesson_run_options *o, json_t **out, tsr_error *err)
{
    enum { TRIES = 4 };
    kept_call *call = NULL;
    tsr_status st = TSR_OK;

    if (!sel->variant->source)
        st = tsr_fail(err, TSR_EUNSUPPORTED, 0, "%s is C: only kernels are traced",
                      sel->variant->name);
    st = st ? st : session_probe(s, sel->variant->needs | sel->variant->uses, err);
    st = st ? st : dispatch_call_of(s, p, sel, IN_BUFFERS, &call, err);
    if (st)
        return st;
    /* A work-group that spins on another one records every read: too many where the other one was
     * descheduled, which is rarely so again. */
    for (int tries = 0; tries < TRIES; tries++) {
        recording t = {.session = s, .options = o, .variant = sel->variant, .call = call};

        st = run(&t, out, err);
        if (!t.overflows || !o->as_they_ran)
            break;
    }
    return st;
}

tsr_status lesson_run_kernel(tsr_session *s, const lesson_kernel *k, const lesson_run_options *o,
                             json_t **out, tsr_error *err)
{
    const variant v = {.name = k->entry, .source = k->source, .entries = {k->entry}};
    recording t = {.session = s, .options = o, .variant = &v, .build = k->options};
    kept_call call = {.operand_count = k->buffers};
    command *c = plan_launch_1d(&call.plan, 0, k->global, k->local);
    tsr_status st;

    for (unsigned i = 0; i < k->buffers; i++) {
        call.order[i] = i;
        call.operand[i] = (operand){.name = k->name[i],
                                    .type = TSR_U32,
                                    .access = k->input[i] ? ACCESS_READ : ACCESS_WRITE,
                                    .bytes = 4 * k->words[i]};
        command_operand(c, i);
    }
    t.call = &call;
    st = run(&t, out, err);
    plan_free(&call.plan);
    return st;
}
