/* What a call runs: the variant that is named, tuned or preferred, its plan, and the calls that are
 * kept. */
#include "core/dispatch.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "core/calls.h"
#include "core/registry.h"
#include "core/tuning_memo.h"
#include "session/source.h"

/* The plan of a variant that is perhaps supported, once what it needs was probed: NULL, or the
 * reason why it is not, which stands in *out or is static.  The caller frees it in either case. */
static const char *make_plan(tsr_session *s, const problem *normal, const selection *sel,
                             placement place, plan *out)
{
    const variant *v = sel->variant;
    const job j = {.problem = normal,
                   .device = session_facts(s),
                   .params = &sel->params,
                   .arriving = place == ARRIVING,
                   .c_reaches = place == IN_ARRAYS || place == IN_MAPPED};
    tsr_error err = {0};

    if (v->source && j.device->kind != DEVICE_HOST &&
        session_probe(s, v->needs | v->uses, &err) != TSR_OK) {
        *out = (plan){.params = sel->params};
        return plan_unsupported(out, "%s", err.message);
    }
    return plan_make(v, &j, out);
}

const char *dispatch_unsupported(tsr_session *s, const problem *p, const variant *v,
                                 const params *chosen, placement place, text *reason)
{
    plan made;
    const char *why = make_plan(s, p, &(selection){.variant = v, .params = *chosen}, place, &made);

    return plan_take_reason(&made, why, reason);
}

/* Parameters of v: its defaults with the caller's settings over them. */
static tsr_status set_params(const variant *v, const tsr_run *run, params *out, tsr_error *err)
{
    tsr_status st = TSR_OK;

    *out = params_default(v);
    for (size_t i = 0; run && i < run->set_count && st == TSR_OK; i++)
        st = params_set(v, out, run->set[i], err);
    return st;
}

/* The name of a file in a message that is short: without its folder. */
static const char *short_name(const char *where)
{
    const char *slash = strrchr(where, '/');

    return slash ? slash + 1 : where;
}

/* The caller's variant and parameters. */
static tsr_status find_named(const tsr_session *s, const problem *p, const tsr_run *run,
                             selection *out, tsr_error *err)
{
    const tsr_status st = variant_find(p->op, run->variant, &out->variant, err);
    const char *path;

    if (st)
        return st;
    path = out->variant->source ? source_replacement(text_get(&s->kernel_dir), out->variant->source)
                                : NULL;
    out->selected = SELECTED_BY_NAME;
    snprintf(out->chosen, sizeof(out->chosen), "named by the caller%s%s",
             path ? ", its source " : "", path ? short_name(path) : "");
    return set_params(out->variant, run, &out->params, err);
}

/* The C code that the operation prefers to kernels where operands lie in the host's memory; NULL:
 * none. */
static const char *c_code_name(tsr_session *s, const kept_call *c)
{
    const operation *op = c->posed.op;
    const device_facts *d = session_facts(s);

    if ((c->place != IN_ARRAYS && c->place != IN_MAPPED) || d->kind != DEVICE_CPU || !op->prefer_c)
        return NULL;
    return op->prefer_c(&c->normal, d);
}

/* Select the best tuned entry that runs here, of the user's or of those that are embedded, with its
 * plan; false where there is none, with why the first that does not was skipped in *skipped.
 * c_code: kernels that are not faster than it are skipped; may be NULL. */
static bool select_tuned(tsr_session *s, kept_call *c, bool embedded, const char *c_code,
                         text *skipped)
{
    const operation *op = c->posed.op;
    const tuning *list = NULL;
    const size_t n = tuning_recall(s, &c->normal, &list);
    text reason = {0};
    bool found = false;

    c->selection.selected = SELECTED_BY_TUNING;
    for (size_t i = 0; i < n && !found; i++) {
        const tuning *t = &list[i];
        const char *why;

        if (t->embedded != embedded)
            continue;
        why = tuning_stale(op, t, &reason);
        if (!why) {
            variant_find(op, t->variant, &c->selection.variant, NULL);
            /* C code goes before an entry whose search compared kernels with each other, on
             * buffers. */
            if (c_code && c->selection.variant->source && strcmp(t->faster_than, c_code) != 0) {
                if (!skipped->length)
                    text_format(skipped, "; tuned %s was not measured to be faster", t->variant);
                continue;
            }
            tuning_params(c->selection.variant, t->parameters, &c->selection.params, NULL);
            why = make_plan(s, &c->normal, &c->selection, c->place, &c->plan);
        }
        found = !why;
        if (found)
            snprintf(c->selection.chosen, sizeof(c->selection.chosen),
                     "tuned: %s entry of %.110s%s", t->level, short_name(t->where),
                     t->embedded ? ", embedded" : "");
        else if (!skipped->length)
            text_format(skipped, "; tuned entry of %s skipped: %s", short_name(t->where), why);
        if (!found)
            plan_free(&c->plan);
    }
    text_free(&reason);
    return found;
}

/* Select this C code (NULL: none), with its plan; false where it does not run.  It comes before
 * embedded tuning, which compares kernels by the device's time: what a launch costs, and compiling
 * before the first one, is not in that. */
static bool select_c(tsr_session *s, kept_call *c, const char *name, const char *skipped)
{
    if (!name || variant_find(c->posed.op, name, &c->selection.variant, NULL))
        return false;
    c->selection.params = params_default(c->selection.variant);
    c->selection.selected = SELECTED_BY_PREFERENCE;
    snprintf(c->selection.chosen, sizeof(c->selection.chosen),
             "C code is at least as fast here, with no kernel to compile or launch%s", skipped);
    if (!make_plan(s, &c->normal, &c->selection, c->place, &c->plan))
        return true;
    plan_free(&c->plan);
    return false;
}

/* Device-kind name for messages. */
static const char *kind_name(const device_facts *d)
{
    static const char *const names[] = {[DEVICE_HOST] = "the host",
                                        [DEVICE_CPU] = "CPUs",
                                        [DEVICE_GPU] = "GPUs",
                                        [DEVICE_ACCELERATOR] = "accelerators"};

    return names[d->kind];
}

/* Select the first supported variant in the operation's order of preference, with its plan. */
static tsr_status select_preferred(tsr_session *s, kept_call *c, const char *skipped,
                                   tsr_error *err)
{
    const operation *op = c->posed.op;
    const char *names[PREFERENCES_MAX];
    selection *sel = &c->selection;
    const device_facts *d = session_facts(s);
    const size_t n = op->prefer(&c->normal, d, names);
    text first_reason = {0};
    bool found = false;

    assert(n <= PREFERENCES_MAX);
    sel->selected = SELECTED_BY_PREFERENCE;
    for (size_t i = 0; i < n && !found; i++) {
        const tsr_status st = variant_find(op, names[i], &sel->variant, err);
        const char *why;

        assert(st == TSR_OK && "prefer() names variants of its operation");
        (void)st;
        sel->params = params_default(sel->variant);
        why = make_plan(s, &c->normal, sel, c->place, &c->plan);
        found = !why;
        if (why && i == 0)
            text_format(&first_reason, "%s: %s", names[i], why);
        if (why)
            plan_free(&c->plan);
        else if (i == 0)
            snprintf(sel->chosen, sizeof(sel->chosen),
                     "first in the order of preference for this problem on %s%s", kind_name(d),
                     skipped);
        else
            snprintf(sel->chosen, sizeof(sel->chosen),
                     "number %zu in the order of preference for this problem on %s%s; %s", i + 1,
                     kind_name(d), skipped, text_get(&first_reason));
    }
    if (!found)
        tsr_fail(err, TSR_EUNSUPPORTED, 0, "no %s kernel runs this problem on %s (%s)", op->name,
                 d->name, text_get(&first_reason));
    text_free(&first_reason);
    return found ? TSR_OK : TSR_EUNSUPPORTED;
}

/* A new call: its problem checked and in the form that variants take. */
static tsr_status pose(const problem *p, placement place, kept_call *out, tsr_error *err)
{
    const tsr_status st = p->op->check(p, err);

    if (st)
        return st;
    *out = (kept_call){.posed = *p, .place = place};
    out->operand_count = p->op->operands(p, out->operand);
    out->normal = problem_normal(p, out->order);
    return TSR_OK;
}

static tsr_status keep(tsr_session *s, kept_call *made, kept_call **out, tsr_error *err)
{
    *out = calls_keep(s, made);
    return *out ? TSR_OK
                : tsr_fail(err, TSR_ENOMEM, 0, "no memory to keep a call of %s",
                           made->selection.variant->name);
}

tsr_status dispatch_call_of(tsr_session *s, const problem *p, const selection *sel, placement place,
                            kept_call **out, tsr_error *err)
{
    kept_call made;
    const char *why;
    tsr_status st;

    *out = calls_find(s, p, sel, place);
    if (*out)
        return TSR_OK;
    st = pose(p, place, &made, err);
    if (st)
        return st;
    made.selection = *sel;
    why = make_plan(s, &made.normal, sel, place, &made.plan);
    if (!why)
        return keep(s, &made, out, err);
    st = made.plan.failed || made.plan.defines.failed ? TSR_ENOMEM : TSR_EUNSUPPORTED;
    tsr_fail(err, st, 0, "%s/%s on %s: %s", p->op->name, sel->variant->name, session_facts(s)->name,
             why);
    plan_free(&made.plan);
    return st;
}

const variant *dispatch_c_code(tsr_session *s, const problem *p)
{
    const variant *found = NULL;
    kept_call c;

    if (pose(p, IN_ARRAYS, &c, NULL) || !select_c(s, &c, c_code_name(s, &c), ""))
        return NULL;
    found = c.selection.variant;
    plan_free(&c.plan);
    return found;
}

/* Select for a new call, with its plan. */
static tsr_status select_any(tsr_session *s, kept_call *c, tsr_error *err)
{
    const char *c_code = c_code_name(s, c);
    text skipped = {0};
    tsr_status st = TSR_OK;

    if (!select_tuned(s, c, false, c_code, &skipped) &&
        !select_c(s, c, c_code, text_get(&skipped)) &&
        !(c_code && select_tuned(s, c, false, NULL, &skipped)) &&
        !select_tuned(s, c, true, NULL, &skipped))
        st = select_preferred(s, c, text_get(&skipped), err);
    text_free(&skipped);
    return st;
}

/* The call that the library chooses for. */
static tsr_status choose(tsr_session *s, const problem *p, placement place, kept_call **out,
                         tsr_error *err)
{
    const uint64_t age = tuning_age(s);
    kept_call *known = calls_chosen(s, p, place, age), made;
    tsr_status st;

    *out = known;
    if (known)
        return TSR_OK;
    st = pose(p, place, &made, err);
    if (st)
        return st;
    made.age = age;
    st = select_any(s, &made, err);
    if (st)
        return st;
    if (s->known_only && s->unprobed) {
        plan_free(&made.plan);
        return tsr_fail(err, TSR_EUNSUPPORTED, 0, "the device's features were not probed yet");
    }
    known = calls_find(s, p, &made.selection, place);
    if (!known)
        return keep(s, &made, out, err);
    plan_free(&made.plan); /* chosen again, from other files perhaps */
    known->selection = made.selection;
    known->age = age;
    *out = known;
    return TSR_OK;
}

tsr_status dispatch_call(tsr_session *s, const problem *p, const tsr_run *run, placement place,
                         kept_call **out, tsr_error *err)
{
    selection sel;
    tsr_status st;

    if (run && run->set_count && !run->variant)
        return tsr_fail(err, TSR_ENAME, 0,
                        "%s: '%s' sets a tunable, and needs the kernel to be named", p->op->name,
                        run->set[0]);
    if (run && run->variant) {
        *out = run->set_count ? NULL : calls_named(s, p, place, run->variant);
        if (*out)
            return TSR_OK;
        st = find_named(s, p, run, &sel, err);
    } else {
        st = choose(s, p, place == ARRIVING ? IN_BUFFERS : place, out, err);
        if (st || place != ARRIVING)
            return st;
        sel = (*out)->selection;
    }
    return st ? st : dispatch_call_of(s, p, &sel, place, out, err);
}

tsr_status dispatch_select(tsr_session *s, const problem *p, const tsr_run *run, placement place,
                           selection *out, tsr_error *err)
{
    kept_call *c;
    tsr_status st;

    *out = (selection){0};
    if (run && run->variant) {
        st = find_named(s, p, run, out, err);
        return st ? st : dispatch_call_of(s, p, out, place, &c, err);
    }
    st = dispatch_call(s, p, run, place, &c, err);
    if (!st)
        *out = c->selection;
    return st;
}
