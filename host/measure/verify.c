#include "measure/verify.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/sizes.h"
#include "core/registry.h"
#include "measure/programs_met.h"
#include "stream/host_memory.h"

tsr_status verify_result(const problem *p, const device_facts *d, const void *const before[],
                         const void *const after[], void **expected, verdict *out, tsr_error *err)
{
    tsr_status st = TSR_OK;

    if (expected && !*expected && p->op->expect)
        st = p->op->expect(p, before, expected, err);
    st = st ? st : p->op->verify(p, d, before, after, expected ? *expected : NULL, out, err);
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

static tsr_status arrays_make(const problem *p, uint64_t seed, distribution f, arrays *out,
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

/* A result that was judged right: another variant's of the same bits, of the same problem, is right
 * as well, and judging takes several times as long as most variants in C. */
typedef struct right_result {
    uint64_t hash; /* of the number of the problem and of all operands */
    verdict result;
} right_result;

static int compare_results(const void *x, const void *y)
{
    const uint64_t a = ((const right_result *)x)->hash, b = ((const right_result *)y)->hash;

    return (a > b) - (a < b);
}

static uint64_t result_hash(size_t i, const arrays *a)
{
    uint64_t hash = hash_bytes(HASH_START, &i, sizeof(i));

    for (size_t k = 0; k < a->count; k++)
        hash = hash_bytes(hash, a->after[k], a->operand[k].bytes);
    return hash;
}

/* What is not kept, for want of memory, is judged again. */
static void keep_result(void **results, uint64_t hash, const verdict *result)
{
    right_result *own = malloc(sizeof(*own));

    if (!own)
        return;
    *own = (right_result){hash, *result};
    if (!tsearch(own, results, compare_results))
        free(own);
}

static void free_results(void **results)
{
    while (*results) {
        right_result *first = *(right_result **)*results;

        tdelete(first, results, compare_results);
        free(first);
    }
}

/* The sweep of one variant in progress. */
typedef struct sweep {
    tsr_session *session;
    const operation *op;
    const variant *variant;
    const verify_options *options;
    size_t count;                    /* problems of the sweep */
    verify_row rows[TSR_TYPE_COUNT]; /* one for each element type that occurs */
    bool occurs[TSR_TYPE_COUNT];
    text build_log[TSR_TYPE_COUNT];             /* of rows[].build_log */
    text never_ran;                             /* of rows[].never_ran_values */
    bool ran[TUNABLES_MAX][TUNABLE_VALUES_MAX]; /* values that a problem ran with */
    size_t problems;                            /* that ran, of all types */
    bool worked; /* one of those with something to do gave a result */
    bool pairs;  /* as the options say, in the sweep with the defaults */
    programs_met *met;
    void **results; /* a tree of right_result, of all variants; NULL where there is one */
} sweep;

static tsr_type type_of(const problem *p)
{
    operand o[OPERANDS_MAX];

    p->op->operands(p, o);
    return o[0].type;
}

/* Whether a kernel has something to do: a single key is sorted already, and a product takes two
 * operations at least. */
static bool is_work(const problem *p)
{
    return p->op->work(p) > 1;
}

/* Whether a result shows that keys were compared: in order already, they stay where they are. */
static bool shows_work(const problem *p)
{
    return is_work(p) && p->inputs != DISTRIBUTION_ORDERED && p->inputs != DISTRIBUTION_CONSTANT;
}

/* Describe a failure.  `ran` are the tunables as they ran, "" where nothing ran: then those that
 * were asked for are named. */
static void note(verify_row *row, const problem *p, const params *chosen, const char *ran,
                 const char *what)
{
    text t = {0};

    if (row->detail[0])
        return;
    p->op->describe(p, &t);
    if (chosen->count)
        text_append(&t, " with ");
    if (*ran)
        text_append(&t, ran);
    else
        params_describe(chosen, &t);
    snprintf(row->detail, sizeof(row->detail), "%.150s: %.240s", text_get(&t), what);
    text_free(&t);
}

/* The session keeps the log of its last failure alone: a row keeps that of its first. */
static void note_build_log(sweep *s, verify_row *row)
{
    text *log = &s->build_log[row->type];

    if (row->build_log)
        return;
    text_append(log, tsr_session_build_log(s->session));
    row->build_log = text_get(log);
}

enum { SPECIAL_SURE = 4096 }; /* elements, of which some cannot be split */

/* Whether the count of strict tiles can be that of inputs of distribution f. */
static tsr_status judge_tiles(const tsr_report *r, distribution f, size_t elements, tsr_error *err)
{
    const bool special = f == DISTRIBUTION_SPECIAL;
    const size_t least = special && r->tiles && elements >= SPECIAL_SURE ? 1 : 0;
    const size_t most = special ? r->tiles : 0;

    if (r->strict_tiles >= least && r->strict_tiles <= most)
        return TSR_OK;
    return tsr_fail(err, TSR_EBOUND, 0,
                    "%zu of %zu tiles are said to hold what cannot be split, and %s do",
                    r->strict_tiles, r->tiles, special ? "one or more of them" : "none");
}

/* The distribution of inputs of problem i of the sweep. */
static distribution inputs_of(const sweep *s, size_t i, const problem *p)
{
    const size_t drawn = DISTRIBUTION_ORDERED - DISTRIBUTION_UNIFORM + 1;
    uint64_t state = s->options->seed + i;

    return p->inputs ? p->inputs
                     : (distribution)(DISTRIBUTION_UNIFORM + random_u64(&state) % drawn);
}

/* Judge what problem i made. */
static tsr_status judge_result(sweep *s, size_t i, const problem *p, const arrays *a, verdict *out,
                               tsr_error *err)
{
    const right_result wanted = {.hash = s->results ? result_hash(i, a) : 0};
    right_result *const *met =
        s->results ? (right_result *const *)tfind(&wanted, s->results, compare_results) : NULL;
    tsr_status st;

    if (met) {
        *out = (*met)->result;
        return TSR_OK;
    }
    st = verify_result(p, session_facts(s->session), (const void *const *)a->before,
                       (const void *const *)a->after, NULL, out, err);
    if (st == TSR_OK && s->results)
        keep_result(s->results, wanted.hash, out);
    return st;
}

/* Run and judge problem i of the sweep with these parameters. */
static tsr_status run_one(sweep *s, size_t i, const problem *p, const params *chosen,
                          verify_row *row, tsr_error *err)
{
    const distribution f = inputs_of(s, i, p);
    char settings[TUNABLES_MAX][64];
    const char *set[TUNABLES_MAX];
    const tsr_run run = {.variant = s->variant->name, .set = set, .set_count = chosen->count};
    tsr_error why = {0};
    tsr_report report = {0};
    verdict result = {0};
    arrays a = {0};
    tsr_status st;

    if (s->options->progress)
        s->options->progress(s->op, s->variant, s->problems, s->options->context);
    s->problems++;
    for (size_t t = 0; t < chosen->count; t++) {
        snprintf(settings[t], sizeof(settings[t]), "%s=%u", chosen->tunables[t].name,
                 chosen->value[t]);
        set[t] = settings[t];
    }
    st = arrays_make(p, s->options->seed, f, &a, err);
    if (st != TSR_OK)
        goto cleanup;
    st = host_memory_run(s->session, p, a.after, &run, &report, &why);
    if (st == TSR_EOVERFLOW) { /* the device does not hold it */
        row->unsupported++;
        if (row->problems == 0)
            note(row, p, chosen, report.parameters, why.message);
        st = TSR_OK;
        goto cleanup;
    }
    if (st == TSR_OK)
        st = judge_result(s, i, p, &a, &result, &why);
    if (st == TSR_OK)
        st = judge_tiles(&report, f, a.operand[0].bytes / tsr_type_size(a.operand[0].type), &why);
    if (st != TSR_OK && st != TSR_EBOUND && s->options->fails_at_once && !s->worked) {
        if (err)
            *err = why;
        goto cleanup;
    }
    s->worked |= (st == TSR_OK || st == TSR_EBOUND) && is_work(p);
    row->problems++;
    row->tiles += report.tiles;
    row->strict_tiles += report.strict_tiles;
    row->sampled += result.sampled;
    if (result.worst > row->worst)
        row->worst = result.worst;
    if (st == TSR_EBUILD)
        note_build_log(s, row);
    if (st != TSR_OK) {
        row->failed++;
        row->errors += st != TSR_EBOUND;
        note(row, p, chosen, report.parameters, why.message);
        st = TSR_OK;
    }
    if (is_work(p)) {
        for (size_t t = 0; t < chosen->count; t++)
            for (size_t n = 0; n < tunable_values(&chosen->tunables[t]); n++)
                s->ran[t][n] |= chosen->tunables[t].values[n] == chosen->value[t];
    }

cleanup:
    for (size_t k = 0; k < a.count; k++) {
        free(a.before[k]);
        free(a.after[k]);
    }
    a = (arrays){0};
    return st;
}

/* Whether problem p, which is supported, is one of those that options->pairs leaves in. */
static tsr_status shows_new(sweep *s, const problem *p, const params *chosen, bool *out,
                            tsr_error *err)
{
    const selection sel = {.variant = s->variant, .params = *chosen, .selected = SELECTED_BY_NAME};
    kept_call *call;

    *out = true;
    /* Where there is no call, run_one says so. */
    if (!s->pairs || dispatch_call_of(s->session, p, &sel, IN_ARRAYS, &call, NULL))
        return TSR_OK;
    return programs_met_shows(s->met, s->variant, session_facts(s->session), &call->plan,
                              s->options->singly, out, err);
}

/* Judge problem i of the sweep.  *why receives NULL, or why it is not suited, to be kept in
 * *reason. */
static tsr_status visit(sweep *s, size_t i, const problem *p, const params *chosen,
                        const char **why, text *reason, tsr_error *err)
{
    verify_row *row = &s->rows[type_of(p)];
    unsigned order[OPERANDS_MAX];
    const problem normal = problem_normal(p, order);
    bool shown;
    tsr_status st;

    *why = NULL;
    if (s->options->typed && row->type != s->options->type) {
        *why = "it is of another type";
        return TSR_OK;
    }
    s->occurs[row->type] = true;
    *why = dispatch_unsupported(s->session, &normal, s->variant, chosen, IN_ARRAYS, reason);
    if (*why)
        return TSR_OK;
    if (row->problems == 0)
        row->detail[0] = '\0'; /* of a refusal */
    st = shows_new(s, p, chosen, &shown, err);
    if (st != TSR_OK || !shown)
        return st;
    return run_one(s, i, p, chosen, row, err);
}

/* Whether the sweep ends here, at a failure. */
static bool is_over(const sweep *s)
{
    for (int t = 0; t < TSR_TYPE_COUNT; t++)
        if (s->options->stop && s->rows[t].failed)
            return true;
    return false;
}

/* Every problem of the sweep; refusals are counted. */
static tsr_status visit_all(sweep *s, const params *chosen, tsr_error *err)
{
    tsr_status st = TSR_OK;
    problem p;

    for (; st == TSR_OK && !is_over(s) && s->op->sweep(s->count, s->options->tiny, &p);
         s->count++) {
        verify_row *row = &s->rows[type_of(&p)];
        text reason = {0};
        const char *why;

        st = visit(s, s->count, &p, chosen, &why, &reason, err);
        row->unsupported += why != NULL;
        if (why && row->problems == 0 && !row->detail[0])
            snprintf(row->detail, sizeof(row->detail), "%.390s", why);
        text_free(&reason);
    }
    return st;
}

/* The first problem from `start` on, around the end of the sweep, that is supported and shows
 * something; there may be none. */
static tsr_status visit_next(sweep *s, size_t start, const params *chosen, tsr_error *err)
{
    const char *why = "";
    tsr_status st = TSR_OK;
    problem p;

    for (size_t k = 0; k < s->count && why && st == TSR_OK; k++) {
        const size_t i = (start + k) % s->count;
        text reason = {0};

        if (s->op->sweep(i, s->options->tiny, &p) && shows_work(&p))
            st = visit(s, i, &p, chosen, &why, &reason, err);
        text_free(&reason);
    }
    return st;
}

/* Whether the options fix a tunable. */
static bool is_fixed(const verify_options *o, const tunable *t)
{
    const size_t length = strlen(t->name);

    if (o->small && t->small)
        return true;
    for (size_t i = 0; i < o->set_count; i++)
        if (strncmp(o->set[i], t->name, length) == 0 && o->set[i][length] == '=')
            return true;
    return false;
}

/* Set *out to the first problem that shows something from `start` on, around the end of the sweep,
 * that the variant supports with these values; false where there is none. */
static bool find_supported(sweep *s, const params *chosen, size_t start, size_t *out)
{
    for (size_t k = 0; k < s->count; k++) {
        unsigned order[OPERANDS_MAX];
        text reason = {0};
        const char *why = "it is of another type";
        problem p, normal;

        *out = (start + k) % s->count;
        if (!s->op->sweep(*out, s->options->tiny, &p) || !shows_work(&p))
            continue;
        normal = problem_normal(&p, order);
        if (!s->options->typed || type_of(&p) == s->options->type)
            why = dispatch_unsupported(s->session, &normal, s->variant, chosen, IN_ARRAYS, &reason);
        text_free(&reason);
        if (!why)
            return true;
    }
    return false;
}

static bool is_on_cpu(const sweep *s)
{
    return session_facts(s->session)->kind == DEVICE_CPU;
}

/* Whether value n of a tunable is still to run. */
static bool is_due(const sweep *s, const tunable *t, size_t n)
{
    const size_t index = (size_t)(t - s->variant->tunables);

    return !s->ran[index][n] && !is_fixed(s->options, t) &&
           (!t->cpu_most || t->values[n] <= t->cpu_most || !is_on_cpu(s));
}

/* Add to *chosen a value of tunable t that never ran, where a problem of the sweep supports both.
 */
static void join_value(sweep *s, size_t t, params *chosen, size_t *i)
{
    const tunable *of = &s->variant->tunables[t];

    for (size_t n = 0; n < tunable_values(of); n++) {
        params joined = *chosen;

        joined.value[t] = of->values[n];
        if (is_due(s, of, n) && find_supported(s, &joined, *i, i)) {
            *chosen = joined;
            return;
        }
    }
}

/* A problem for every value that can run, with as many new values at once as go together: each set
 * of values builds a program of its own, which takes a CPU's compiler a second and more, and
 * Oclgrind's as well. */
static tsr_status visit_packed(sweep *s, const params *normal, tsr_error *err)
{
    const size_t half = size_max(s->count / 2, 1);
    tsr_status st = TSR_OK;
    size_t drawn = 0;

    for (size_t t = 0; t < s->variant->tunable_count; t++) {
        const tunable *varied = &s->variant->tunables[t];

        for (size_t n = 0; n < tunable_values(varied); n++) {
            params chosen = *normal;
            size_t i, start = half + drawn * 13 % half;

            chosen.value[t] = varied->values[n];
            if (st || is_over(s) || !is_due(s, varied, n) || !find_supported(s, &chosen, start, &i))
                continue;
            for (size_t k = 1; k < s->variant->tunable_count; k++)
                join_value(s, (t + k) % s->variant->tunable_count, &chosen, &i);
            st = visit_next(s, i, &chosen, err);
            drawn++;
        }
    }
    return st;
}

/* Problems of the sweep's larger half with every other value of a tunable: one of the tiny sweep.
 */
static tsr_status visit_values(sweep *s, size_t t, const params *normal, size_t *drawn,
                               tsr_error *err)
{
    const tunable *varied = &s->variant->tunables[t];
    const bool few = s->options->tiny;
    const size_t half = size_max(s->count / 2, 1), visits = few ? 1 : 3;
    tsr_status st = TSR_OK;

    for (size_t n = 0; n < tunable_values(varied); n++) {
        params chosen = *normal;

        if (varied->values[n] == normal->value[t] || (few && s->ran[t][n]))
            continue;
        chosen.value[t] = varied->values[n];
        for (size_t j = 0; j < visits && st == TSR_OK && !is_over(s); j++, ++*drawn) {
            if (j > 0 && !s->ran[t][n])
                break; /* no problem is suited */
            st = visit_next(s, half + (*drawn * 13 + j * (half / visits)) % half, &chosen, err);
        }
    }
    return st;
}

/* Count the values that never ran, in the first row that did. */
static void count_never_ran(sweep *s)
{
    verify_row *row = NULL;

    for (int t = TSR_TYPE_COUNT - 1; t >= 0; t--)
        if (s->rows[t].problems)
            row = &s->rows[t];
    if (!row)
        return;
    for (size_t t = 0; t < s->variant->tunable_count; t++) {
        const tunable *of = &s->variant->tunables[t];

        for (size_t n = 0; n < tunable_values(of); n++) {
            if (s->ran[t][n] || is_fixed(s->options, of))
                continue;
            text_format(&s->never_ran, "%s%s=%u", row->never_ran ? " " : "", of->name,
                        of->values[n]);
            row->never_ran++;
        }
    }
    if (row->never_ran)
        row->never_ran_values = text_get(&s->never_ran);
}

/* The problems of the sweep with one variant's defaults, then its other parameters. */
static tsr_status sweep_variant(sweep *s, tsr_error *err)
{
    params normal = params_default(s->variant);
    tsr_status st = TSR_OK;
    size_t drawn = 0;

    for (int t = 0; t < TSR_TYPE_COUNT; t++)
        s->rows[t] = (verify_row){.op = s->op, .variant = s->variant, .type = (tsr_type)t};
    for (size_t t = 0; t < normal.count && s->options->small; t++)
        if (s->variant->tunables[t].small)
            normal.value[t] = s->variant->tunables[t].small;
    for (size_t i = 0; i < s->options->set_count && st == TSR_OK; i++)
        st = params_set(s->variant, &normal, s->options->set[i], err);
    s->pairs = s->options->pairs;
    if (st == TSR_OK && s->options->values) {
        /* The problems of the sweep, of which none runs yet. */
        problem p;

        while (s->op->sweep(s->count, s->options->tiny, &p)) {
            s->occurs[type_of(&p)] |= !s->options->typed || type_of(&p) == s->options->type;
            s->count++;
        }
    } else if (st == TSR_OK)
        st = visit_all(s, &normal, err);
    s->pairs = false;
    if (st != TSR_OK || s->options->defaults)
        return st;
    if (is_on_cpu(s) || s->options->pairs) {
        st = visit_packed(s, &normal, err);
        if (st == TSR_OK)
            count_never_ran(s);
        return st;
    }
    for (size_t t = 0; t < s->variant->tunable_count && st == TSR_OK; t++)
        if (!is_fixed(s->options, &s->variant->tunables[t]))
            st = visit_values(s, t, &normal, &drawn, err);
    if (st == TSR_OK)
        count_never_ran(s);
    return st;
}

tsr_status verify_operation(tsr_session *session, const operation *op,
                            const verify_options *options,
                            bool (*row)(const verify_row *row, void *context), void *context,
                            tsr_error *err)
{
    tsr_status st = TSR_OK;
    bool more = true;
    void *results = NULL;

    for (size_t i = 0; i < op->variant_count && st == TSR_OK && more; i++) {
        const variant *v = op->variants[i];
        programs_met own = {0};
        sweep s = {.session = session,
                   .op = op,
                   .variant = v,
                   .options = options,
                   .met = options->met ? options->met : &own,
                   .results = options->variant ? NULL : &results};

        if (options->variant ? strcmp(options->variant, v->name) != 0
                             : !variant_is_for(v, session_facts(session)))
            continue;
        st = sweep_variant(&s, err);
        for (int t = 0; t < TSR_TYPE_COUNT && st == TSR_OK && more; t++)
            more = !s.occurs[t] || row(&s.rows[t], context);
        for (int t = 0; t < TSR_TYPE_COUNT; t++)
            text_free(&s.build_log[t]);
        text_free(&s.never_ran);
        programs_met_free(&own);
    }
    free_results(&results);
    return st;
}
