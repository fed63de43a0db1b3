#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "core/enqueue_c.h"
#include "core/registry.h"
#include "core/size_text.h"
#include "session/program.h"
#include "stream/host_memory.h"

/* Usual size i of an operation, one for each class of problems that it is tuned for; NULL behind
 * the last. */
static const char *usual_size(const operation *op, const device_facts *d, size_t i)
{
    const typical_sizes *sizes = &op->command->sizes;

    return (d->kind == DEVICE_GPU ? sizes->tune : sizes->tune_cpu)[i];
}

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

/* Run a problem where a call on operands in that place would take a kernel. */
static tsr_status run_kernel(tsr_session *s, const problem *p, placement place, tsr_error *err)
{
    const bool copies = s->copies;
    kept_call *c;
    tsr_status st = dispatch_call(s, p, NULL, place, &c, err);

    if (st || !c->selection.variant->source)
        return st;
    s->copies = place != IN_ARRAYS;
    st = run_once(s, p, err);
    s->copies = copies;
    return st;
}

/* Calls on buffers and calls on arrays that the device works on where they are may choose
 * differently. */
static tsr_status run_both(tsr_session *s, const problem *p, tsr_error *err)
{
    const placement buffers = c_reaches_buffers(session_facts(s)) ? IN_MAPPED : IN_BUFFERS;
    const tsr_status st = run_kernel(s, p, buffers, err);

    return st || s->copies ? st : run_kernel(s, p, IN_ARRAYS, err);
}

static tsr_status build_for(tsr_session *s, const problem *p, tsr_error *err)
{
    kept_call *c;
    tsr_status st;

    if (session_facts(s)->compiles_late)
        return run_both(s, p, err);
    st = dispatch_call(s, p, NULL, IN_BUFFERS, &c, err);
    return st ? st : dispatch_build(s, c, NULL, err);
}

static bool is_wanted(const operation *op, const char *name)
{
    return !name || strcmp(op->name, name) == 0;
}

/* Problem `index` of those that are built for, counted over all operations that are wanted; false
 * beyond the last. */
static bool problem_at(const tsr_session *s, const char *name, size_t index, problem *out,
                       tsr_status *st, tsr_error *err)
{
    for (size_t o = 0; o < operation_count; o++) {
        const operation *op = operations[o];
        const char *size;

        for (unsigned t = 0; t < 32 && is_wanted(op, name); t++)
            for (size_t i = 0; op->types >> t & 1 && (size = usual_size(op, session_facts(s), i));
                 i++)
                if (index-- == 0) {
                    *st = problem_of_size(op, size, (tsr_type)t, out, err);
                    return true;
                }
    }
    return false;
}

tsr_status tsr_session_warm(tsr_session *s, const char *name, tsr_warm_progress progress,
                            void *context, tsr_error *err)
{
    tsr_error why = {0};
    size_t all = 0;
    tsr_status st;
    problem p;

    if (!s)
        return tsr_fail(err, TSR_EINVAL, 0, "tsr_session_warm: the session is NULL");
    if (name && !operation_named(name))
        return tsr_fail(err, TSR_ENAME, 0, "tsr_session_warm: there is no operation '%s'", name);
    if (session_facts(s)->kind == DEVICE_HOST)
        return TSR_OK;
    st = session_check(s, err);
    if (st)
        return st;
    while (problem_at(s, name, all, &p, &(tsr_status){TSR_OK}, NULL))
        all++;
    for (size_t i = 0; i < all && !st; i++) {
        text described = {0};

        problem_at(s, name, i, &p, &st, &why);
        if (!st) {
            text_format(&described, "%s ", p.op->name);
            p.op->describe(&p, &described);
            if (progress)
                progress(context, text_get(&described), i, all);
            st = build_for(s, &p, &why);
        }
        text_free(&described);
        st = st == TSR_EUNSUPPORTED || st == TSR_EOVERFLOW ? TSR_OK : st;
    }
    if (st && err)
        *err = why;
    programs_save(s);
    return st;
}
