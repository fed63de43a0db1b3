#include "core/calls.h"

#include <stdlib.h>
#include <string.h>

/* Calls that a session keeps. */
enum { CALLS_KEPT = 16 };

typedef struct kept_call {
    uint64_t used; /* the higher, the later; 0: this place is free */
    uint64_t age;  /* tuning_age when the selection was chosen; 0: the caller named it */
    problem problem;
    selection selection;
    bool arriving;
    prepared prepared; /* program NULL: only the choice is kept */
} kept_call;

typedef struct kept_calls {
    kept_call call[CALLS_KEPT];
    uint64_t uses;
} kept_calls;

static void release(void *data)
{
    kept_calls *k = data;

    for (size_t i = 0; i < CALLS_KEPT; i++)
        plan_free(&k->call[i].prepared.plan);
    free(k);
}

/* The session's; NULL where memory runs out. */
static kept_calls *calls_of(tsr_session *s)
{
    if (!s->calls_kept.data) {
        s->calls_kept.data = calloc(1, sizeof(kept_calls));
        s->calls_kept.release = release;
    }
    return s->calls_kept.data;
}

/* Padding may differ between equal structures: that costs a look-up alone. */
static bool is_problem(const kept_call *c, const problem *p)
{
    return c->used && c->problem.op == p->op && c->problem.inputs == p->inputs &&
           memcmp(c->problem.bytes, p->bytes, sizeof(p->bytes)) == 0;
}

static bool is_selection(const kept_call *c, const selection *sel)
{
    return c->selection.variant == sel->variant &&
           memcmp(c->selection.params.value, sel->params.value, sizeof(sel->params.value)) == 0;
}

/* The place used least recently, emptied. */
static kept_call *oldest(kept_calls *k)
{
    kept_call *at = &k->call[0];

    for (size_t i = 1; i < CALLS_KEPT; i++)
        if (k->call[i].used < at->used)
            at = &k->call[i];
    plan_free(&at->prepared.plan);
    *at = (kept_call){.used = ++k->uses};
    return at;
}

const selection *calls_choice(tsr_session *s, const problem *p, uint64_t age)
{
    kept_calls *k = calls_of(s);

    for (size_t i = 0; k && age && i < CALLS_KEPT; i++) {
        kept_call *c = &k->call[i];

        if (c->age != age || !is_problem(c, p))
            continue;
        c->used = ++k->uses;
        return &c->selection;
    }
    return NULL;
}

void calls_choose(tsr_session *s, const problem *p, uint64_t age, const selection *chosen)
{
    kept_calls *k = calls_of(s);
    kept_call *c;

    if (!k || !age)
        return;
    c = oldest(k);
    c->age = age;
    c->selection = *chosen;
    memcpy(&c->problem, p, sizeof(*p));
}

const prepared *calls_recall(tsr_session *s, const problem *p, const selection *sel, bool arriving)
{
    kept_calls *k = calls_of(s);

    for (size_t i = 0; k && i < CALLS_KEPT; i++) {
        kept_call *c = &k->call[i];

        if (!c->prepared.program || c->arriving != arriving || !is_problem(c, p) ||
            !is_selection(c, sel))
            continue;
        c->used = ++k->uses;
        return &c->prepared;
    }
    return NULL;
}

const prepared *calls_keep(tsr_session *s, const problem *p, const selection *sel, bool arriving,
                           prepared *made)
{
    kept_calls *k = calls_of(s);
    kept_call *c = NULL;

    if (!k) {
        plan_free(&made->plan);
        *made = (prepared){0};
        return NULL;
    }
    /* A choice that is kept for this call takes its plan. */
    for (size_t i = 0; i < CALLS_KEPT && !c && !arriving; i++)
        if (!k->call[i].prepared.program && is_problem(&k->call[i], p) &&
            is_selection(&k->call[i], sel))
            c = &k->call[i];
    if (!c) {
        c = oldest(k);
        c->selection = *sel;
        memcpy(&c->problem, p, sizeof(*p));
    }
    c->used = ++k->uses;
    c->arriving = arriving;
    c->prepared = *made;
    *made = (prepared){0};
    return &c->prepared;
}
