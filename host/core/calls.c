#include "core/calls.h"

#include <stdlib.h>
#include <string.h>

#include "core/registry.h"

typedef struct kept_calls {
    kept_call call[CALLS_KEPT];
    size_t last; /* the one used last */
    uint64_t uses;
} kept_calls;

static void release(void *data)
{
    kept_calls *k = data;

    for (size_t i = 0; i < CALLS_KEPT; i++)
        plan_free(&k->call[i].plan);
    free(k);
}

/* Padding may differ between equal problems: that costs a miss, never a wrong hit. */
static bool is_problem(const kept_call *c, const problem *p)
{
    return c->used && c->posed.op == p->op && c->posed.inputs == p->inputs &&
           memcmp(c->posed.bytes, p->bytes, sizeof(p->bytes)) == 0;
}

static bool is_selection(const selection *x, const selection *y)
{
    return x->variant == y->variant && x->selected == y->selected &&
           memcmp(x->params.value, y->params.value, sizeof(x->params.value)) == 0;
}

static bool is_named(const selection *x, const char *name)
{
    params defaults;

    if (x->selected != SELECTED_BY_NAME || strcmp(x->variant->name, name) != 0)
        return false;
    defaults = params_default(x->variant);
    return memcmp(x->params.value, defaults.value, sizeof(defaults.value)) == 0;
}

/* What a call's selection is known by: one of the three. */
typedef struct selection_key {
    uint64_t age; /* of the tuning */
    const char *name;
    const selection *whole;
} selection_key;

static kept_call *find(tsr_session *s, const problem *p, placement place, const selection_key *key)
{
    kept_calls *k = s->calls_kept.data;

    for (size_t i = 0; k && i < CALLS_KEPT; i++) {
        const size_t at = (k->last + i) % CALLS_KEPT;
        kept_call *c = &k->call[at];

        if (!is_problem(c, p) || c->place != place ||
            !(key->whole  ? is_selection(&c->selection, key->whole)
              : key->name ? is_named(&c->selection, key->name)
                          : c->age == key->age))
            continue;
        c->used = ++k->uses;
        k->last = at;
        return c;
    }
    return NULL;
}

kept_call *calls_chosen(tsr_session *s, const problem *p, placement place, uint64_t age)
{
    return age ? find(s, p, place, &(selection_key){.age = age}) : NULL;
}

kept_call *calls_named(tsr_session *s, const problem *p, placement place, const char *name)
{
    return find(s, p, place, &(selection_key){.name = name});
}

kept_call *calls_find(tsr_session *s, const problem *p, const selection *sel, placement place)
{
    return find(s, p, place, &(selection_key){.whole = sel});
}

kept_call *calls_keep(tsr_session *s, kept_call *made)
{
    kept_calls *k = s->calls_kept.data;
    size_t at = 0;

    if (!k) {
        k = calloc(1, sizeof(*k));
        s->calls_kept = (session_kept){k, release};
    }
    if (!k) {
        plan_free(&made->plan);
        return NULL;
    }
    for (size_t i = 1; i < CALLS_KEPT; i++)
        if (k->call[i].used < k->call[at].used)
            at = i;
    plan_free(&k->call[at].plan);
    k->call[at] = *made;
    /* Once, not for the report of each call: it takes as long as a small kernel's launch. */
    params_describe_in(&k->call[at].plan.params, k->call[at].parameters,
                       sizeof(k->call[at].parameters));
    k->call[at].used = ++k->uses;
    k->last = at;
    made->plan = (plan){0}; /* moved */
    return &k->call[at];
}
