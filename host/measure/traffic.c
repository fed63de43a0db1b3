#include "measure/traffic.h"

#include <stdio.h>

#include "core/registry.h"
#include "core/view.h"

traffic traffic_sum(const plan *made)
{
    traffic t = {0};
    bool stated = made->count > 0;

    for (size_t i = 0; i < made->count; i++) {
        const command *c = &made->commands[i];
        const double requested = c->kind == COMMAND_FILL    ? (double)c->fill_bytes
                                 : c->kind == COMMAND_IMAGE ? c->bytes
                                                            : c->traffic.requested;

        stated = stated && requested > 0;
        t.requested += requested;
        t.local += c->traffic.local;
        t.flops += c->flops;
        t.barriers += c->traffic.barriers;
    }
    if (!stated)
        t.requested = t.local = t.barriers = 0;
    return t;
}

/* The first step that states what it asks for, and can run the problem. */
static void find_first(tsr_session *s, const problem *p, traffic *out)
{
    for (size_t i = 0; i < p->op->variant_count && !(out->first > 0); i++) {
        const variant *v = p->op->variants[i];
        const params values = params_default(v);
        const job j = {.problem = p, .device = session_facts(s), .params = &values};
        plan made;

        if (!v->source || session_probe(s, v->needs | v->uses, NULL))
            continue;
        if (!plan_make(v, &j, &made))
            out->first = traffic_sum(&made).requested;
        if (out->first > 0)
            snprintf(out->first_name, sizeof(out->first_name), "%s", v->name);
        plan_free(&made);
    }
}

void traffic_of(tsr_session *s, const problem *p, const plan *made, traffic *out)
{
    unsigned order[OPERANDS_MAX];
    const problem normal = problem_normal(p, order);
    operand operands[OPERANDS_MAX];

    *out = traffic_sum(made);
    out->compulsory = p->op->bytes(p);
    if (p->op->result < p->op->operands(p, operands))
        out->results = view_elements(&operands[p->op->result].view);
    if (p->op->unit == WORK_FLOPS && !(out->flops > 0))
        out->flops = p->op->work(p);
    find_first(s, &normal, out);
}

intensity intensity_of(const traffic *t, const limits *l, const char *precision)
{
    intensity x = {.limit = ""};

    if (t->flops > 0 && t->requested > 0)
        x.asked = t->flops / t->requested;
    if (t->flops > 0 && t->compulsory > 0)
        x.least = t->flops / t->compulsory;
    if (l && l->of[LIMIT_MEMORY_READ].value > 0 &&
        roofline_compute(l, *precision ? precision : "f32-strict", &x.limit, &x.compute)) {
        x.memory = l->of[LIMIT_MEMORY_READ].value;
        x.ridge = x.compute / x.memory;
    }
    return x;
}

const char *intensity_word(double flops_a_byte, double ridge)
{
    return flops_a_byte < ridge ? "memory-bound" : "compute-bound";
}
