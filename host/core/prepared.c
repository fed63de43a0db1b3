#include "core/prepared.h"

#include <stdlib.h>
#include <string.h>

/* Calls that a session keeps, and commands of one call. */
enum { CALLS_KEPT = 8, STEPS_KEPT = 512 };

typedef struct kept_call {
    problem problem;
    const variant *variant;
    uint32_t value[TUNABLES_MAX];
    prepared prepared;
} kept_call;

typedef struct kept_choice {
    problem problem;
    uint64_t age; /* tuning_age then; 0: this place is free */
    selection selection;
} kept_choice;

/* When each was used last: the higher, the later; 0: that place is free. */
typedef struct kept_calls {
    kept_call call[CALLS_KEPT];
    kept_choice choice[CALLS_KEPT];
    uint64_t call_used[CALLS_KEPT], choice_used[CALLS_KEPT];
    uint64_t uses;
} kept_calls;

static void release(void *data)
{
    kept_calls *k = data;

    for (size_t i = 0; i < CALLS_KEPT; i++)
        free(k->call[i].prepared.steps);
    free(k);
}

/* The session's; NULL where memory runs out. */
static kept_calls *calls_of(tsr_session *s)
{
    if (!s->prepared.data) {
        s->prepared.data = calloc(1, sizeof(kept_calls));
        s->prepared.release = release;
    }
    return s->prepared.data;
}

/* The place used least recently. */
static size_t oldest(const uint64_t used[CALLS_KEPT])
{
    size_t at = 0;

    for (size_t i = 1; i < CALLS_KEPT; i++)
        if (used[i] < used[at])
            at = i;
    return at;
}

/* Bytes that differ between equal problems, as padding may, cost a look-up alone. */
static bool same(const void *a, const void *b, size_t bytes)
{
    return memcmp(a, b, bytes) == 0;
}

static bool is_of(const kept_call *c, const problem *p, const selection *sel)
{
    return c->variant == sel->variant && same(&c->problem, p, sizeof(*p)) &&
           same(c->value, sel->params.value, sizeof(c->value));
}

const prepared *prepared_recall(tsr_session *s, const problem *p, const selection *sel)
{
    kept_calls *k = calls_of(s);

    for (size_t i = 0; k && i < CALLS_KEPT; i++) {
        if (!is_of(&k->call[i], p, sel))
            continue;
        k->call_used[i] = ++k->uses;
        return &k->call[i].prepared;
    }
    return NULL;
}

const selection *prepared_choice(tsr_session *s, const problem *p, uint64_t age)
{
    kept_calls *k = calls_of(s);

    for (size_t i = 0; k && age && i < CALLS_KEPT; i++) {
        const kept_choice *c = &k->choice[i];

        if (c->age != age || !same(&c->problem, p, sizeof(*p)))
            continue;
        k->choice_used[i] = ++k->uses;
        return &c->selection;
    }
    return NULL;
}

void prepared_choose(tsr_session *s, const problem *p, uint64_t age, const selection *chosen)
{
    kept_calls *k = calls_of(s);
    size_t at;

    if (!k || !age)
        return;
    at = oldest(k->choice_used);
    k->choice_used[at] = ++k->uses;
    k->choice[at] = (kept_choice){.age = age, .selection = *chosen};
    memcpy(&k->choice[at].problem, p, sizeof(*p));
}

/* The steps of a job, malloced; NULL where there are none or too many, or memory is short. */
static command *steps_of(const variant *v, const job *j, size_t *count)
{
    command next, *steps;

    for (*count = 0; *count <= STEPS_KEPT && v->step(j, *count, &next);)
        ++*count;
    if (*count == 0 || *count > STEPS_KEPT)
        return NULL;
    steps = malloc(*count * sizeof(*steps));
    for (size_t i = 0; steps && i < *count; i++)
        v->step(j, i, &steps[i]);
    return steps;
}

const prepared *prepared_keep(tsr_session *s, const problem *p, const selection *sel,
                              program *built)
{
    const job j = {.problem = p, .device = session_facts(s), .params = &sel->params};
    const variant *v = sel->variant;
    kept_calls *k = calls_of(s);
    prepared fresh = {.program = built, .workspace_bytes = v->workspace ? v->workspace(&j) : 0};
    kept_call *c;
    size_t at;

    if (!k)
        return NULL;
    fresh.steps = steps_of(v, &j, &fresh.count);
    if (!fresh.steps)
        return NULL;
    at = oldest(k->call_used);
    k->call_used[at] = ++k->uses;
    c = &k->call[at];
    free(c->prepared.steps);
    *c = (kept_call){.variant = v, .prepared = fresh};
    memcpy(c->value, sel->params.value, sizeof(c->value));
    memcpy(&c->problem, p, sizeof(*p));
    return &c->prepared;
}
