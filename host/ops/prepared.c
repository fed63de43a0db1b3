#include "ops/prepared.h"

#include <stdlib.h>
#include <string.h>

/* Calls that a session keeps, and commands of one call. */
enum { CALLS_KEPT = 8, STEPS_KEPT = 64 };

typedef struct kept_call {
    problem problem;
    const variant *variant;
    uint32_t value[TUNABLES_MAX];
    uint64_t used; /* the higher, the later; 0: this place is free */
    prepared prepared;
} kept_call;

typedef struct kept_choice {
    problem problem;
    uint64_t age; /* tuning_age then; 0: this place is free */
    uint64_t used;
    selection selection;
} kept_choice;

typedef struct kept_calls {
    kept_call call[CALLS_KEPT];
    kept_choice choice[CALLS_KEPT];
    uint64_t used;
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
        kept_call *c = &k->call[i];

        if (!is_of(c, p, sel))
            continue;
        c->used = ++k->used;
        return &c->prepared;
    }
    return NULL;
}

const selection *prepared_choice(tsr_session *s, const problem *p, uint64_t age)
{
    kept_calls *k = calls_of(s);

    for (size_t i = 0; k && age && i < CALLS_KEPT; i++) {
        kept_choice *c = &k->choice[i];

        if (c->age != age || !same(&c->problem, p, sizeof(*p)))
            continue;
        c->used = ++k->used;
        return &c->selection;
    }
    return NULL;
}

void prepared_choose(tsr_session *s, const problem *p, uint64_t age, const selection *chosen)
{
    kept_calls *k = calls_of(s);
    kept_choice *oldest;

    if (!k || !age)
        return;
    oldest = &k->choice[0];
    for (size_t i = 1; i < CALLS_KEPT; i++)
        if (k->choice[i].used < oldest->used)
            oldest = &k->choice[i];
    *oldest = (kept_choice){.age = age, .used = ++k->used, .selection = *chosen};
    memcpy(&oldest->problem, p, sizeof(*p));
}

/* The steps of a job, malloced; NULL where there are none or too many, or memory is short. */
static step *steps_of(const variant *v, const job *j, size_t *count)
{
    step next, *steps;

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
    kept_call *oldest;

    if (!k)
        return NULL;
    fresh.steps = steps_of(v, &j, &fresh.count);
    if (!fresh.steps)
        return NULL;
    oldest = &k->call[0];
    for (size_t i = 1; i < CALLS_KEPT; i++)
        if (k->call[i].used < oldest->used)
            oldest = &k->call[i];
    free(oldest->prepared.steps);
    *oldest = (kept_call){.variant = v, .used = ++k->used, .prepared = fresh};
    memcpy(oldest->value, sel->params.value, sizeof(oldest->value));
    memcpy(&oldest->problem, p, sizeof(*p));
    return &oldest->prepared;
}
