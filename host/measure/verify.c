#include "measure/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/random.h"
#include "ops/registry.h"
#include "stream/host_memory.h"

tsr_status verify_result(const problem *p, const device_facts *d, const void *const before[],
                         const void *const after[], verdict *out, tsr_error *err)
{
    tsr_status st = p->op->verify(p, d, before, after, out, err);

    if (st != TSR_OK || out->ok)
        return st;
    return tsr_fail(err, TSR_EBOUND, 0, "%s", out->detail);
}

/* The host copies of one problem's operands: as they were, and as they are. */
typedef struct arrays {
    operand operand[OPERANDS_MAX];
    size_t count;
    void *before[OPERANDS_MAX];
    void *after[OPERANDS_MAX];
} arrays;

static void arrays_free(arrays *a)
{
    for (size_t i = 0; i < a->count; i++) {
        free(a->before[i]);
        free(a->after[i]);
    }
    *a = (arrays){0};
}

static tsr_status arrays_make(const problem *p, uint64_t seed, family f, arrays *out,
                              tsr_error *err)
{
    out->count = p->op->operands(p, out->operand);
    for (size_t i = 0; i < out->count; i++) {
        /* One byte at least, so that NULL means no memory. */
        out->before[i] = malloc(out->operand[i].bytes + 1);
        out->after[i] = malloc(out->operand[i].bytes + 1);
        if (!out->before[i] || !out->after[i])
            return tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu bytes of test input",
                            out->operand[i].bytes);
    }
    p->op->fill(p, seed, f, out->before);
    for (size_t i = 0; i < out->count; i++)
        memcpy(out->after[i], out->before[i], out->operand[i].bytes);
    return TSR_OK;
}

/* The sweep of one variant in progress. */
typedef struct sweep {
    tsr_session *session;
    const verify_options *options;
    verify_row rows[TSR_TYPE_COUNT]; /* one for each element type that occurs */
    bool occurs[TSR_TYPE_COUNT];
} sweep;

static tsr_type type_of(const problem *p)
{
    operand o[OPERANDS_MAX];

    p->op->operands(p, o);
    return o[0].type;
}

static void note(verify_row *row, const problem *p, const params *chosen, const char *what)
{
    text t = {0};

    if (row->detail[0])
        return;
    p->op->describe(p, &t);
    if (chosen->count)
        text_append(&t, " with ");
    params_describe(chosen, &t);
    snprintf(row->detail, sizeof(row->detail), "%.150s: %.240s", text_get(&t), what);
    text_free(&t);
}

/* Run and judge one problem with one variant and these parameters. */
static tsr_status run_one(sweep *s, const variant *v, const problem *p, const params *chosen,
                          family f, verify_row *row, tsr_error *err)
{
    char settings[TUNABLES_MAX][64];
    const char *set[TUNABLES_MAX];
    const tsr_run run = {.variant = v->name, .set = set, .set_count = chosen->count};
    tsr_error why = {0};
    verdict result = {0};
    arrays a = {0};
    tsr_status st;

    for (size_t i = 0; i < chosen->count; i++) {
        snprintf(settings[i], sizeof(settings[i]), "%s=%u", chosen->tunables[i].name,
                 chosen->value[i]);
        set[i] = settings[i];
    }
    st = arrays_make(p, s->options->seed, f, &a, err);
    if (st != TSR_OK)
        goto cleanup;
    st = host_memory_run(s->session, p, a.after, &run, NULL, &why);
    if (st == TSR_OK)
        st = verify_result(p, session_facts(s->session), (const void *const *)a.before,
                           (const void *const *)a.after, &result, &why);
    row->problems++;
    if (result.worst > row->worst)
        row->worst = result.worst;
    if (st != TSR_OK) {
        row->failed++;
        note(row, p, chosen, why.message);
        st = TSR_OK;
    }

cleanup:
    arrays_free(&a);
    return st;
}

static tsr_status params_from_options(const variant *v, const verify_options *o, params *out,
                                      tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < o->set_count && st == TSR_OK; i++)
        st = params_set(v, out, o->set[i], err);
    return st;
}

/* Judge problem i of the sweep, or note why it is not suited. */
static tsr_status visit(sweep *s, const operation *op, const variant *v, size_t i, params chosen,
                        tsr_error *err)
{
    uint64_t state = s->options->seed + i;
    const family f = (family)(random_u64(&state) % FAMILY_COUNT);
    text reason = {0};
    const char *why;
    verify_row *row;
    tsr_status st;
    problem p;

    if (!op->sweep(i, s->options->tiny, &p))
        return TSR_OK;
    row = &s->rows[type_of(&p)];
    s->occurs[type_of(&p)] = true;
    st = params_from_options(v, s->options, &chosen, err);
    if (st != TSR_OK)
        return st;
    why = dispatch_unsuited(s->session, &p, v, &chosen, &reason);
    if (why) {
        row->unsuited++;
        if (row->problems == 0 && !row->detail[0])
            snprintf(row->detail, sizeof(row->detail), "%.390s", why);
    } else {
        if (row->problems == 0)
            row->detail[0] = '\0'; /* of a refusal */
        st = run_one(s, v, &p, &chosen, f, row, err);
    }
    text_free(&reason);
    return st;
}

/* Some problems of the sweep's larger half with every value that no default is. */
static tsr_status visit_tunables(sweep *s, const operation *op, const variant *v, size_t count,
                                 tsr_error *err)
{
    const size_t half = count / 2, visits = s->options->tiny ? 1 : 3;
    tsr_status st = TSR_OK;
    size_t k = 0;

    for (size_t t = 0; t < v->tunable_count; t++) {
        for (size_t n = 0; n < TUNABLE_VALUES_MAX && v->tunables[t].values[n]; n++) {
            params chosen = params_default(v);

            if (v->tunables[t].values[n] == v->tunables[t].normal)
                continue;
            chosen.value[t] = v->tunables[t].values[n];
            for (size_t j = 0; j < visits && half && st == TSR_OK; j++, k++)
                st = visit(s, op, v, half + (k * 13 + j * (half / visits)) % half, chosen, err);
        }
    }
    return st;
}

/* Every problem of the sweep with one variant's defaults, then its other parameters. */
static tsr_status sweep_variant(sweep *s, const operation *op, const variant *v, tsr_error *err)
{
    tsr_status st = TSR_OK;
    size_t count = 0;
    problem p;

    for (; st == TSR_OK && op->sweep(count, s->options->tiny, &p); count++)
        st = visit(s, op, v, count, params_default(v), err);
    return st == TSR_OK ? visit_tunables(s, op, v, count, err) : st;
}

tsr_status verify_operation(tsr_session *session, const operation *op,
                            const verify_options *options,
                            bool (*row)(const verify_row *row, void *context), void *context,
                            tsr_error *err)
{
    const bool on_host = session_facts(session)->kind == DEVICE_HOST;
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < op->variant_count && st == TSR_OK; i++) {
        const variant *v = &op->variants[i];
        sweep s = {.session = session, .options = options};

        if (options->variant ? strcmp(options->variant, v->name) != 0 : on_host != !v->source)
            continue;
        for (int t = 0; t < TSR_TYPE_COUNT; t++)
            s.rows[t] = (verify_row){.op = op, .variant = v, .type = (tsr_type)t};
        st = sweep_variant(&s, op, v, err);
        for (int t = 0; t < TSR_TYPE_COUNT && st == TSR_OK; t++)
            if (s.occurs[t] && !row(&s.rows[t], context))
                return TSR_OK;
    }
    return st;
}
