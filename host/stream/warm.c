#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/sizes.h"
#include "core/enqueue_c.h"
#include "core/fields.h"
#include "core/registry.h"
#include "core/size_text.h"
#include "session/program.h"
#include "session/source.h"
#include "stream/budget.h"
#include "stream/host_memory.h"

/* PoCL compiles a kernel for the local size, and once more for global sizes above this. */
enum { GRID_SMALL = 65535 };

/* The most memory that the problem takes which stands for a program where it has to run. */
enum { RUN_BYTES_MAX = 1 << 30 };

/* A program that calls need, and the smallest problem found that needs it. */
typedef struct item {
    problem problem;
    placement place;
    const variant *variant;
    uint64_t id;
    size_t bytes;         /* of the problem's operands */
    size_t source_length; /* what compiling costs grows with it */
} item;

typedef struct warming {
    tsr_session *session;
    item *items;
    size_t count, capacity;
    text source; /* of the last variant, to measure it */
} warming;

/* ---- which programs -------------------------------------------------------------------------- */

/* How a launch is compiled for: its kernel, local size, and whether the global size is small and
 * global ids begin at 0. */
static uint64_t launch_identity(const command *c)
{
    uint64_t id = hash_bytes(HASH_START, &c->entry, sizeof(c->entry));
    const bool moved = c->start[1] || c->start[2];
    bool small = true;

    for (unsigned i = 0; i < c->dims; i++)
        small = small && c->global[i] <= GRID_SMALL;
    id = hash_bytes(id, &small, sizeof(small));
    id = hash_bytes(id, &moved, sizeof(moved));
    return hash_bytes(id, c->local, c->dims * sizeof(*c->local));
}

/* What decides what is compiled: source, options, kernels, and how they are launched, in whatever
 * order and however often. */
static uint64_t identity(const tsr_session *s, const kept_call *c)
{
    const variant *v = c->selection.variant;
    const size_t launches = session_facts(s)->compiles_late ? c->plan.count : 0;
    uint64_t id = hash_bytes(HASH_START, v->source, strlen(v->source));
    text options = {0};

    plan_options(v, session_facts(s), &c->plan, &options);
    plan_kernels(v, &c->plan, &options);
    id = hash_bytes(id, text_get(&options), options.length);
    text_free(&options);
    for (size_t i = 0; i < launches; i++) {
        const uint64_t one = launch_identity(&c->plan.commands[i]);
        bool again = c->plan.commands[i].kind != COMMAND_LAUNCH;

        for (size_t k = 0; k < i && !again; k++)
            again = c->plan.commands[k].kind == COMMAND_LAUNCH &&
                    launch_identity(&c->plan.commands[k]) == one;
        id += again ? 0 : one;
    }
    return id;
}

static tsr_status add_item(warming *w, const item *new_one, tsr_error *err)
{
    if (w->count == w->capacity) {
        const size_t capacity = w->capacity ? 2 * w->capacity : 64;
        item *more = realloc(w->items, capacity * sizeof(*more));

        if (!more)
            return tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu programs", capacity);
        w->items = more;
        w->capacity = capacity;
    }
    w->items[w->count++] = *new_one;
    return TSR_OK;
}

/* Note the program that a call of a problem needs, if there is such a call. */
static tsr_status note_program(warming *w, const problem *p, placement place, tsr_error *err)
{
    tsr_session *s = w->session;
    item x = {.problem = *p, .place = place, .bytes = stream_bytes(p)};
    kept_call *c;
    tsr_status st;

    if (p->op->check(p, NULL) || dispatch_call(s, p, NULL, place, &c, NULL) ||
        !c->selection.variant->source || c->plan.count == 0)
        return TSR_OK; /* nothing is built for it, or it does not fit the device */
    if (session_facts(s)->compiles_late && x.bytes > RUN_BYTES_MAX)
        return TSR_OK;
    x.variant = c->selection.variant;
    x.id = identity(s, c);
    for (size_t i = 0; i < w->count; i++)
        if (w->items[i].id == x.id) {
            if (x.bytes < w->items[i].bytes) {
                x.source_length = w->items[i].source_length;
                w->items[i] = x;
            }
            return TSR_OK;
        }
    text_clear(&w->source);
    st = source_read(text_get(&s->kernel_dir), x.variant->source, &w->source, err);
    x.source_length = w->source.length;
    return st ? st : add_item(w, &x, err);
}

/* Of calls on buffers: see dispatch_call. */
static tsr_status note_in_buffers(warming *w, const problem *p, tsr_error *err)
{
    const bool mapped = c_reaches_buffers(session_facts(w->session));

    return note_program(w, p, mapped ? IN_MAPPED : IN_BUFFERS, err);
}

/* Of a call on host memory. */
static tsr_status note_on_arrays(warming *w, const problem *p, tsr_error *err)
{
    const bool shared = session_facts(w->session)->unified_memory && !w->session->copies;
    tsr_status st = shared ? note_program(w, p, IN_ARRAYS, err) : note_in_buffers(w, p, err);

    return st || shared ? st : note_program(w, p, ARRIVING, err);
}

/* The same problem with an option of its operation, in each of the ways that there are. */
static tsr_status note_option(warming *w, const problem *p, const field *f, tsr_error *err)
{
    const bool flag = f->kind == FIELD_FLAG || f->kind == FIELD_WIDE;
    const bool named = f->choices && (flag || f->kind == FIELD_COUNT || f->kind == FIELD_CHOICE);
    tsr_status st = TSR_OK;

    for (size_t i = 0; f->option && !st && (named ? f->choices[i].name != NULL : flag && i == 0);
         i++) {
        problem with = *p;

        if (field_read(f, named ? f->choices[i].name : NULL, &with))
            st = note_on_arrays(w, &with, err);
    }
    return st;
}

/* A size with each of its numbers times `factor` / 64 of 2^shift; false where none is above 1. */
static bool scale(const size_t *n, size_t count, unsigned factor, int shift, text *out)
{
    bool more = false;

    text_clear(out);
    for (size_t i = 0; i < count; i++) {
        const double scaled = ldexp((double)n[i] * factor / 64, -shift);

        more = more || scaled > 1;
        text_format(out, "%s%.0f", i ? "x" : "", fmax(scaled, 1));
    }
    return more;
}

/* Problems of a type around a usual size: from four times each of its numbers down to nothing, in
 * steps that leave out no power of 2, nor what divides by none. */
static tsr_status note_sizes(warming *w, const operation *op, const char *usual, tsr_type type,
                             tsr_error *err)
{
    static const unsigned factors[] = {64, 57, 48};
    const operation_command *c = op->command;
    size_t n[SIZE_NUMBERS_MAX], count = 0;
    tsr_status st = TSR_OK;
    text size = {0};
    problem p;

    if (size_read(usual, n, &count) != SIZE_READ)
        return TSR_OK;
    for (size_t f = 0; f < sizeof(factors) / sizeof(*factors); f++)
        for (int shift = -2; !st && scale(n, count, factors[f], shift, &size); shift++) {
            if (problem_of_size(op, text_get(&size), type, &p, NULL))
                continue; /* beyond what the type or the operation has */
            st = note_on_arrays(w, &p, err);
            for (size_t i = 0; i < c->field_count && !st && type == op->default_type; i++)
                st = note_option(w, &p, &c->fields[i], err);
        }
    text_free(&size);
    /* On buffers a program may be of a few sizes alone: all of them are too many. */
    if (!st && !problem_of_size(op, usual, type, &p, NULL))
        st = note_in_buffers(w, &p, err);
    return st;
}

static tsr_status note_operation(warming *w, const operation *op, tsr_error *err)
{
    const typical_sizes *sizes = &op->command->sizes;
    const char *const *usual =
        session_facts(w->session)->kind == DEVICE_GPU ? sizes->tune : sizes->tune_cpu;
    tsr_status st = TSR_OK;

    for (unsigned t = 0; t < TSR_TYPE_COUNT; t++)
        for (size_t i = 0; op->types >> t & 1 && usual[i] && !st; i++)
            st = note_sizes(w, op, usual[i], (tsr_type)t, err);
    return st;
}

/* What is quick to compile comes first. */
static int by_source(const void *a, const void *b)
{
    const item *x = a, *y = b;

    if (x->source_length != y->source_length)
        return x->source_length < y->source_length ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* ---- building them --------------------------------------------------------------------------- */

/* Run a problem on inputs of its own, where the driver compiles at the first launch. */
static tsr_status run_once(tsr_session *s, const problem *p, tsr_error *err)
{
    void *array[OPERANDS_MAX] = {NULL};
    operand operands[OPERANDS_MAX];
    const size_t count = p->op->operands(p, operands);
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < count && !st; i++) {
        array[i] = operands[i].bytes ? calloc(1, operands[i].bytes) : NULL;
        if (operands[i].bytes && !array[i])
            st = tsr_fail(err, TSR_ENOMEM, 0, "no memory for %s of %zu bytes", operands[i].name,
                          operands[i].bytes);
    }
    if (!st) {
        p->op->fill(p, 1, p->inputs, array);
        st = host_memory_run(s, p, array, NULL, NULL, err);
    }
    for (size_t i = 0; i < count; i++)
        free(array[i]);
    return st;
}

static tsr_status build_item(tsr_session *s, const item *x, tsr_error *err)
{
    const bool copies = s->copies, same_kernels = s->same_kernels;
    kept_call *c;
    tsr_status st;

    if (session_facts(s)->compiles_late) {
        s->copies = x->place != IN_ARRAYS;
        s->same_kernels = true; /* what is in no cache is what is wanted */
        st = run_once(s, &x->problem, err);
        s->copies = copies;
        s->same_kernels = same_kernels;
        return st;
    }
    st = dispatch_call(s, &x->problem, NULL, x->place, &c, err);
    return st ? st : dispatch_build(s, c, NULL, err);
}

static tsr_status build_all(warming *w, tsr_warm_progress progress, void *context, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < w->count && !st; i++) {
        const item *x = &w->items[i];
        text described = {0};

        text_format(&described, "%s ", x->problem.op->name);
        x->problem.op->describe(&x->problem, &described);
        text_format(&described, ": %s", x->variant->name);
        if (progress)
            progress(context, text_get(&described), i, w->count);
        st = build_item(w->session, x, err);
        text_free(&described);
        st = st == TSR_EUNSUPPORTED || st == TSR_EOVERFLOW ? TSR_OK : st;
    }
    return st;
}

tsr_status tsr_session_warm(tsr_session *s, const char *name, tsr_warm_progress progress,
                            void *context, tsr_error *err)
{
    warming w = {.session = s};
    tsr_error why = {0};
    tsr_status st;

    if (!s)
        return tsr_fail(err, TSR_EINVAL, 0, "tsr_session_warm: the session is NULL");
    if (name && !operation_named(name))
        return tsr_fail(err, TSR_ENAME, 0, "tsr_session_warm: there is no operation '%s'", name);
    if (session_facts(s)->kind == DEVICE_HOST)
        return TSR_OK;
    st = session_check(s, err);
    if (st)
        return st;
    for (size_t o = 0; o < operation_count && !st; o++)
        if (!name || strcmp(operations[o]->name, name) == 0)
            st = note_operation(&w, operations[o], &why);
    if (w.count)
        qsort(w.items, w.count, sizeof(*w.items), by_source);
    st = st ? st : build_all(&w, progress, context, &why);
    if (st && err)
        *err = why;
    programs_save(s);
    free(w.items);
    text_free(&w.source);
    return st;
}
