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

/* What a step asks for, with its default values; 0: it does not state it, or cannot run here. */
static double asked_by(tsr_session *s, const problem *p, const variant *v)
{
    const params values = params_default(v);
    const job j = {.problem = p, .device = session_facts(s), .params = &values};
    double asked = 0;
    plan made;

    if (!v->source || session_probe(s, v->needs | v->uses, NULL))
        return 0;
    if (!plan_make(v, &j, &made))
        asked = traffic_sum(&made).requested;
    plan_free(&made);
    return asked;
}

/* "naive", which pages compare with; else the first step that states what it asks for. */
static void find_first(tsr_session *s, const problem *p, traffic *out)
{
    const variant *naive = NULL;

    if (!variant_find(p->op, "naive", &naive, NULL))
        out->first = asked_by(s, p, naive);
    if (out->first > 0)
        snprintf(out->first_name, sizeof(out->first_name), "%s", naive->name);
    for (size_t i = 0; i < p->op->variant_count && !(out->first > 0); i++) {
        out->first = asked_by(s, p, p->op->variants[i]);
        if (out->first > 0)
            snprintf(out->first_name, sizeof(out->first_name), "%s", p->op->variants[i]->name);
    }
}

/* Bytes of an element, where all operands have the same; else 0. */
static size_t element_bytes(const operand *operands, size_t count)
{
    const size_t bytes = count ? tsr_type_size(operands[0].view.type) : 0;

    for (size_t i = 1; i < count; i++)
        if (tsr_type_size(operands[i].view.type) != bytes)
            return 0;
    return bytes;
}

product_loads traffic_loads(const problem *p, double requested, size_t commands)
{
    operand operands[OPERANDS_MAX];
    const size_t count = p->op->operands(p, operands);
    const double bytes = (double)element_bytes(operands, count);
    double results, inputs;
    product_loads l = {0};

    if (!p->op->products || commands != 1 || !(bytes > 0) || !(requested > 0))
        return l;
    results = view_elements(&operands[p->op->result].view);
    inputs = p->op->bytes(p) / bytes - results;
    l.all = requested / bytes - results;
    l.for_result = results > 0 ? l.all / results : 0;
    l.of_input = inputs > 0 ? l.all / inputs : 0;
    return l;
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
    out->loads = traffic_loads(p, out->requested, made->count).for_result;
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
