#include "measure/tune_problems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "core/dispatch.h"
#include "measure/verify.h"
#include "session/events.h"

tsr_status tune_problems_open(tsr_session *s, const problem *problems, size_t count, uint64_t seed,
                              bool warm, tune_problems *out, tsr_error *err)
{
    tsr_status st = TSR_OK;

    *out = (tune_problems){.session = s, .problems = problems};
    out->sets = calloc(count, sizeof(*out->sets));
    out->after = calloc(count, sizeof(*out->after));
    out->proven = calloc(count, sizeof(*out->proven));
    if (!out->sets || !out->after || !out->proven)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu problems", count);
    out->count = count;
    for (size_t i = 0; i < count && st == TSR_OK; i++) {
        st = input_sets_open(s, &problems[i], seed, warm, session_facts(s)->kind == DEVICE_HOST,
                             &out->sets[i], err);
        if (st == TSR_OK)
            st = input_sets_copy(&out->sets[i], out->after[i], err);
    }
    return st;
}

void tune_problems_close(tune_problems *t)
{
    for (size_t i = 0; i < t->count; i++) {
        input_sets_close(&t->sets[i]);
        for (size_t k = 0; k < OPERANDS_MAX; k++) {
            free(t->after[i][k]);
            free(t->proven[i][k]);
        }
    }
    free(t->sets);
    free(t->after);
    free(t->proven);
    *t = (tune_problems){0};
}

/* ---- running ----------------------------------------------------------------------------- */

/* Enqueue a call on a set, or on the host do it. */
static tsr_status call(tune_problems *t, size_t i, size_t set, const selection *sel,
                       cl_event *first, cl_event *last, tsr_error *err)
{
    const input_sets *x = &t->sets[i];
    first_launches launches = {0};
    tsr_status st;

    if (x->memory)
        return sel->variant->host(&t->problems[i], x->memory[set], err);
    st = dispatch_enqueue(t->session, &t->problems[i], sel, x->buffer[set],
                          &(call_ends){.first = first,
                                       .last = last,
                                       .launches = dispatch_late(t->session, &launches)},
                          err);
    dispatch_compiled(t->session, &launches);
    return st;
}

static tsr_status wait(const tune_problems *t, const selection *sel, cl_event last, tsr_error *err)
{
    cl_int rc = t->session->queue ? clFinish(t->session->queue) : CL_SUCCESS;

    if (rc == CL_SUCCESS && last)
        rc = events_outcome(last);
    return dispatch_ended(t->session, &t->problems[0], sel->variant, rc, err);
}

/* One call of one problem on its next set. */
static tsr_status sample(tune_problems *t, size_t i, const selection *sel, double *ns,
                         tsr_error *err)
{
    input_sets *x = &t->sets[i];
    cl_event first = NULL, last = NULL;
    tsr_status st = TSR_OK;
    uint64_t start;

    if (x->next >= x->count)
        st = input_sets_restore(x, err);
    if (st != TSR_OK)
        return st;
    x->next %= x->count;
    start = clock_ns();
    st = call(t, i, x->next++, sel, &first, &last, err);
    if (st == TSR_OK)
        st = wait(t, sel, last, err);
    if (st == TSR_OK) {
        *ns = (double)(clock_ns() - start);
        /* C code has no commands, and some queues record no times. */
        if (first && t->session->profiling)
            st = events_span(first, last, ns, err);
        *ns = fmax(*ns, 1);
    }
    if (first)
        clReleaseEvent(first);
    if (last)
        clReleaseEvent(last);
    return st;
}

tsr_status tune_problems_sample(tune_problems *t, const selection *sel, double *ns, tsr_error *err)
{
    tsr_status st = TSR_OK;
    double log_sum = 0, one = 1;

    for (size_t i = 0; i < t->count && st == TSR_OK; i++) {
        st = sample(t, i, sel, &one, err);
        log_sum += log(one);
    }
    if (st == TSR_OK)
        *ns = exp(log_sum / (double)t->count);
    return st;
}

size_t tune_problems_calls(const tune_problems *t)
{
    size_t most = 0;

    for (size_t i = 0; i < t->count; i++)
        if (t->sets[i].in_place)
            most = most ? size_min(most, t->sets[i].count) : t->sets[i].count;
    return most;
}

tsr_status tune_problems_batch(tune_problems *t, const selection *sel, size_t calls, double *ns,
                               tsr_error *err)
{
    tsr_status st = TSR_OK;
    double log_sum = 0;

    for (size_t i = 0; i < t->count && st == TSR_OK; i++) {
        input_sets *x = &t->sets[i];
        uint64_t start;

        st = x->in_place ? input_sets_restore(x, err) : TSR_OK;
        start = clock_ns();
        for (size_t k = 0; k < calls && st == TSR_OK; k++)
            st = call(t, i, x->next++ % x->count, sel, NULL, NULL, err);
        if (st == TSR_OK)
            st = wait(t, sel, NULL, err);
        log_sum += log(fmax((double)(clock_ns() - start), 1));
    }
    if (st == TSR_OK)
        *ns = exp(log_sum / (double)t->count);
    return st;
}

/* ---- verifying --------------------------------------------------------------------------- */

/* Put operands that are written back to what they were: nothing of an earlier result is left. */
static tsr_status freshen(tune_problems *t, size_t i, tsr_error *err)
{
    input_sets *x = &t->sets[i];
    tsr_status st = x->in_place ? input_sets_restore(x, err) : TSR_OK;

    x->next = 0;
    for (size_t k = 0; k < x->operand_count && st == TSR_OK; k++) {
        const operand *o = &x->operand[k];
        cl_int rc = CL_SUCCESS;

        if (o->access != ACCESS_WRITE || !o->bytes)
            continue;
        if (x->memory)
            memcpy(x->memory[0][k], x->before[k], o->bytes);
        else
            rc = clEnqueueWriteBuffer(t->session->queue, x->buffer[0][k], CL_TRUE, 0, o->bytes,
                                      x->before[k], 0, NULL, NULL);
        if (rc != CL_SUCCESS)
            st = tsr_fail(err, TSR_ECL, rc, "copying %s to the device (%zu bytes)", o->name,
                          o->bytes);
    }
    return st;
}

/* Whether a result is the proven one, bit by bit. */
static bool is_proven(const tune_problems *t, size_t i)
{
    const input_sets *x = &t->sets[i];

    for (size_t k = 0; k < x->operand_count; k++)
        if (x->operand[k].access & ACCESS_WRITE &&
            (!t->proven[i][k] || memcmp(t->proven[i][k], t->after[i][k], x->operand[k].bytes) != 0))
            return false;
    return true;
}

static void remember(tune_problems *t, size_t i)
{
    const input_sets *x = &t->sets[i];

    for (size_t k = 0; k < x->operand_count; k++) {
        if (!(x->operand[k].access & ACCESS_WRITE))
            continue;
        if (!t->proven[i][k])
            t->proven[i][k] = malloc(x->operand[k].bytes + 1);
        if (t->proven[i][k]) /* without memory every result is judged */
            memcpy(t->proven[i][k], t->after[i][k], x->operand[k].bytes);
    }
}

tsr_status tune_problems_verify(tune_problems *t, const selection *sel, double *worst,
                                tsr_error *err)
{
    tsr_status st = TSR_OK;

    *worst = 0;
    for (size_t i = 0; i < t->count && st == TSR_OK; i++) {
        verdict v = {0};
        double ns;

        st = freshen(t, i, err);
        st = st ? st : sample(t, i, sel, &ns, err);
        st = st ? st : input_sets_read(&t->sets[i], t->after[i], err);
        if (st != TSR_OK || is_proven(t, i))
            continue;
        st = verify_result(&t->problems[i], session_facts(t->session),
                           (const void *const *)t->sets[i].before, (const void *const *)t->after[i],
                           NULL, &v, err);
        *worst = fmax(*worst, v.worst);
        if (st == TSR_OK)
            remember(t, i);
    }
    return st;
}
