#include "core/first_calls.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/background.h"
#include "core/dispatch.h"
#include "core/registry.h"
#include "core/tuning_memo.h"
#include "session/program.h"

/* Calls of a session before what is best is compiled.  On a GPU each loses a millisecond or less; a
 * process that ends after a few would wait for a compiler that it has no use for.  On a CPU each
 * loses a fifth to a half of its time, and PoCL compiles within the next one. */
enum { FIRST_CALLS = 20, FIRST_CALLS_ON_CPU = 100 };

/* What is compiled on a thread of its own, in a session of its own: the cache hands it over. */
typedef struct background_build {
    atomic_int users; /* the session and the thread, the last of which frees it */
    atomic_bool done;
    bool lost; /* it is done, and yet not in the cache; known to the session's thread alone */
    tsr_device device;
    text kernel_dir;
    problem problem;
    placement place;
} background_build;

static void leave(void *data)
{
    background_build *b = data;

    if (atomic_fetch_sub(&b->users, 1) > 1)
        return;
    text_free(&b->kernel_dir);
    free(b);
}

/* Probes, too, are kept in the cache. */
static void compile(void *data)
{
    background_build *b = data;
    const tsr_session_options options = {
        .kernel_dir = b->kernel_dir.length ? text_get(&b->kernel_dir) : NULL, .same_kernels = 1};
    tsr_session *s = NULL;
    kept_call *c;

    if (!tsr_session_open(&b->device, &options, &s, NULL) &&
        !dispatch_call(s, &b->problem, NULL, b->place, &c, NULL))
        dispatch_build(s, c, NULL, NULL);
    tsr_session_close(s);
    atomic_store(&b->done, true);
    leave(b);
}

static bool start(tsr_session *s, const problem *p, placement place)
{
    background_build *b = calloc(1, sizeof(*b));

    if (!b)
        return false;
    atomic_init(&b->users, 2);
    atomic_init(&b->done, false);
    b->device = s->device;
    text_append(&b->kernel_dir, text_get(&s->kernel_dir));
    b->problem = *p;
    b->place = place;
    if (b->kernel_dir.failed || !background_start(compile, b)) {
        atomic_store(&b->users, 1);
        leave(b);
        return false;
    }
    s->background_kept = (session_kept){b, leave};
    return true;
}

/* Whether what dispatch_call gives can run without compiling or probing, or fails for another
 * reason; else its name, as far as it is known. */
static bool best_is_there(tsr_session *s, const problem *p, placement place, const char **name)
{
    kept_call *c = NULL;
    text options = {0}, runs = {0};
    bool there;
    tsr_status st;

    *name = "what runs fastest";
    s->known_only = true;
    s->unprobed = false;
    st = dispatch_call(s, p, NULL, place, &c, NULL);
    s->known_only = false;
    if (st)
        return !s->unprobed;
    if (c->program || !c->selection.variant->source || c->plan.count == 0)
        return true;
    *name = c->selection.variant->name;
    plan_options(c->selection.variant, session_facts(s), &c->plan, &options);
    plan_kernels(c->selection.variant, &c->plan, &runs);
    there = program_at_hand(s, c->selection.variant->source, text_get(&options), text_get(&runs));
    text_free(&options);
    text_free(&runs);
    return there;
}

/* Whether something is compiled beside the calls from now on, or still: one thing at a time.  Not
 * once it left nothing, as where the disk is full: that would go on for ever. */
static bool compiles_beside(tsr_session *s, const problem *p, placement place)
{
    background_build *b = s->background_kept.data;
    const char *name;

    if (b && !atomic_load(&b->done))
        return true;
    if (s->cache.why_off[0] || s->cache.why_read_only[0] || session_facts(s)->compiles_late)
        return false;
    if (b && !b->lost)
        b->lost = !best_is_there(s, &b->problem, b->place, &name);
    if (b && b->lost)
        return false;
    if (s->background_kept.data)
        leave(s->background_kept.data);
    s->background_kept = (session_kept){0};
    return start(s, p, place);
}

/* The variant that is quick to compile, or in C, where calls may run it; NULL: none. */
static const variant *first_variant(tsr_session *s, const problem *p, placement place)
{
    const operation *op = p->op;
    const device_facts *d = session_facts(s);
    const bool in_c = d->kind == DEVICE_CPU && (place == IN_ARRAYS || place == IN_MAPPED);
    unsigned order[OPERANDS_MAX];
    const variant *found = NULL;
    const char *name;
    problem normal;

    if ((d->kind != DEVICE_GPU && !in_c) || s->same_kernels || !op->prefer_first ||
        op->check(p, NULL))
        return NULL;
    /* What limits memory is streamed by the best kernels; it limits nothing of the arrays
     * themselves. */
    if (s->host_calls_memory && place != IN_ARRAYS)
        return NULL;
    normal = problem_normal(p, order);
    name = op->prefer_first(&normal, d);
    if (name)
        variant_find(op, name, &found, NULL);
    return found;
}

static unsigned calls_most(const tsr_session *s)
{
    return session_facts(s)->kind == DEVICE_CPU ? FIRST_CALLS_ON_CPU : FIRST_CALLS;
}

tsr_status first_call(tsr_session *s, const problem *p, const tsr_run *run, placement place,
                      kept_call **out, tsr_report *report, tsr_error *err)
{
    const bool named = run && (run->variant || run->set_count);
    const kept_call *known = named ? NULL : calls_chosen(s, p, place, tuning_age(s));
    selection sel = {.selected = SELECTED_FIRST_CALL};
    const char *best;

    if (named || (known && known->program))
        return dispatch_call(s, p, run, place, out, err);
    sel.variant = first_variant(s, p, place);
    if (!sel.variant || best_is_there(s, p, place, &best) || strcmp(best, sel.variant->name) == 0 ||
        (s->first_calls >= calls_most(s) && !compiles_beside(s, p, place)))
        return dispatch_call(s, p, run, place, out, err);
    sel.params = params_default(sel.variant);
    snprintf(sel.chosen, sizeof(sel.chosen), "%s, unlike %s, which is in no cache yet",
             sel.variant->source ? "quick to compile" : "compiled already", best);
    if (dispatch_call_of(s, p, &sel, place, out, NULL) || dispatch_build(s, *out, report, NULL))
        return dispatch_call(s, p, run, place, out, err);
    s->first_calls++;
    return TSR_OK;
}
