/* The variant table is complete and sound, whatever operations and variants it comes to hold: what
 * the command, the tuner and the sweep rely on without asking. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/registry.h"
#include "core/tuning_class.h"
#include "session/embedded.h"
#include "session/source.h"
#include "tessera/run.h"

#include "made_up_variants.h"

/* Facts of no real device, enough for prefer() and unsupported(). */
static device_facts facts(device_kind kind)
{
    device_facts d = {.kind = kind,
                      .name = "made up",
                      .cl_version = 300,
                      .clc_version = 300,
                      .compute_units = 8,
                      .max_work_group = kind == DEVICE_HOST ? 1 : 1024,
                      .max_work_item = {1024, 1024, 64},
                      .local_memory = kind == DEVICE_HOST ? 0 : 49152,
                      .global_memory = (uint64_t)8 << 30,
                      .max_allocation = (uint64_t)2 << 30,
                      .fp64 = true,
                      .warp_size = kind == DEVICE_GPU ? 32 : 1};

    for (int f = 0; f < FEATURE_COUNT; f++)
        d.feature[f] = FEATURE_NO;
    return d;
}

/* ---- names ------------------------------------------------------------------------------- */

static void names_are_unique(void **state)
{
    const operation *a, *b;

    (void)state;
    for (size_t i = 0; (a = operation_at(i)); i++) {
        for (size_t k = 0; k < i; k++) {
            b = operation_at(k);
            assert_string_not_equal(a->name, b->name);
        }
        for (size_t v = 0; v < a->variant_count; v++)
            for (size_t w = 0; w < v; w++)
                assert_string_not_equal(a->variants[v]->name, a->variants[w]->name);
    }
    assert_true(operation_at(0) != NULL);
    assert_null(operation_at(1000));
}

static void operations_are_whole(void **state)
{
    const operation *op;

    (void)state;
    for (size_t i = 0; (op = operation_at(i)); i++) {
        assert_true(op->name && *op->name && op->idea && *op->idea && op->command);
        assert_true(op->variants && op->variant_count);
        assert_true(op->check && op->operands && op->work && op->bytes && op->describe);
        assert_true(op->prefer && op->fill && op->sweep && op->verify);
    }
}

/* ---- variants ---------------------------------------------------------------------------- */

static bool is_embedded(const char *file)
{
    for (size_t i = 0; i < embedded_file_count; i++)
        if (strcmp(embedded_files[i].name, file) == 0)
            return true;
    return false;
}

static void each_variant(void (*check)(const operation *op, const variant *v))
{
    const operation *op;

    for (size_t i = 0; (op = operation_at(i)); i++)
        for (size_t v = 0; v < op->variant_count; v++)
            check(op, op->variants[v]);
}

static void variant_is_whole(const operation *op, const variant *v)
{
    assert_true(v->name && *v->name);
    assert_true(v->idea && *v->idea);
    assert_null(strchr(v->idea, '\n'));
    /* tsr_report.variant holds the name. */
    assert_true(strlen(v->name) < sizeof(((tsr_report *)NULL)->variant));
    assert_non_null(v->plan);
    if (v->host) {
        assert_true(!v->source && !v->entries[0] && !v->tunable_count);
        return;
    }
    if (!v->source || !v->entries[0] || !v->plan)
        fail_msg("%s/%s is neither a kernel nor a function of the host", op->name, v->name);
    if (!is_embedded(v->source))
        fail_msg("%s/%s: '%s' is not among the embedded files", op->name, v->name, v->source);
    assert_true(v->needs < 1u << FEATURE_COUNT);
}

static void variants_are_whole(void **state)
{
    (void)state;
    each_variant(variant_is_whole);
}

/* Whether `source` has `word` as a whole identifier followed by '('. */
static bool declares(const char *source, const char *word)
{
    const size_t length = strlen(word);

    for (const char *at = strstr(source, word); at; at = strstr(at + 1, word)) {
        bool starts = at == source || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');

        if (starts && at[length] == '(')
            return true;
    }
    return false;
}

static void entries_are_in_the_source(const operation *op, const variant *v)
{
    tsr_error err = {0};
    text t = {0};

    if (!v->source)
        return;
    assert_int_equal(source_read(NULL, v->source, &t, &err), TSR_OK);
    for (size_t i = 0; i < ENTRIES_MAX && v->entries[i]; i++)
        if (!declares(text_get(&t), v->entries[i]))
            fail_msg("%s/%s: %s has no kernel '%s'", op->name, v->name, v->source, v->entries[i]);
    text_free(&t);
}

static void entries_exist(void **state)
{
    (void)state;
    each_variant(entries_are_in_the_source);
}

static void tunable_is_sound(const tunable *t)
{
    size_t n = 0;
    bool normal = false;

    assert_true(t->name && isupper((unsigned char)t->name[0]));
    for (const char *c = t->name; *c; c++)
        assert_true(isupper((unsigned char)*c) || isdigit((unsigned char)*c) || *c == '_');
    assert_true(t->meaning && *t->meaning && !strchr(t->meaning, '\n'));
    for (; n < tunable_values(t); n++) {
        assert_true(n == 0 || t->values[n - 1] < t->values[n]);
        normal = normal || t->values[n] == t->normal;
    }
    assert_true(n > 0);
    if (t->any) /* no program for each count */
        assert_true(t->host_only && t->values[0] == 0 && t->values[n - 1] <= TUNABLE_ANY_MAX);
    if (!normal)
        fail_msg("the default %u of %s is no legal value", t->normal, t->name);
}

static void tunables_are_sound(const operation *op, const variant *v)
{
    (void)op;
    assert_true(v->tunable_count <= TUNABLES_MAX);
    for (size_t i = 0; i < v->tunable_count; i++) {
        tunable_is_sound(&v->tunables[i]);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(v->tunables[i].name, v->tunables[k].name);
    }
}

static void tunables_have_values(void **state)
{
    (void)state;
    each_variant(tunables_are_sound);
}

/* A tunable that the source never reads would be tuned in vain.  GROUP, PER_UNIT and SPAN may
 * decide the launch alone; then the file's head says so, and names them. */
static void tunables_are_in_the_source(const operation *op, const variant *v)
{
    tsr_error err = {0};
    text t = {0};

    if (!v->source)
        return;
    assert_int_equal(source_read(NULL, v->source, &t, &err), TSR_OK);
    for (size_t i = 0; i < v->tunable_count; i++)
        if (!strstr(text_get(&t), v->tunables[i].name))
            fail_msg("%s/%s: %s says nothing of %s", op->name, v->name, v->source,
                     v->tunables[i].name);
    text_free(&t);
}

static void tunables_are_read(void **state)
{
    (void)state;
    each_variant(tunables_are_in_the_source);
}

/* ---- looking up -------------------------------------------------------------------------- */

static void operations_are_found(void **state)
{
    const operation *op = NULL;
    char wrong[32], says[96];
    tsr_error err = {0};

    (void)state;
    for (size_t i = 0; operation_at(i); i++) {
        assert_int_equal(operation_find(operation_at(i)->name, "tune", NULL, &op, &err), TSR_OK);
        assert_ptr_equal(op, operation_at(i));
    }
    op = NULL;
    snprintf(wrong, sizeof(wrong), "%sx", operation_at(0)->name);
    snprintf(says, sizeof(says), "'%s': did you mean '%s'?", wrong, operation_at(0)->name);
    assert_int_equal(operation_find(wrong, "tune", NULL, &op, &err), TSR_ENAME);
    assert_null(op);
    if (!strstr(err.message, says))
        fail_msg("'%s' does not say '%s'", err.message, says);
    assert_int_equal(operation_find("xyzzy", "bench", "else", &op, &err), TSR_ENAME);
    assert_null(strstr(err.message, "did you mean"));
    assert_non_null(strstr(err.message, "(bench takes "));
    assert_non_null(strstr(err.message, ", else)"));
    for (size_t i = 0; operation_at(i); i++)
        assert_non_null(strstr(err.message, operation_at(i)->name));
}

/* By the name, and by those that it had before. */
static void variants_are_found(void **state)
{
    static const char *const names[] = {"tiled", "covered", "paved"};
    const variant *v = NULL;
    tsr_error err = {0};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        v = NULL;
        assert_int_equal(variant_find(&made_up_operation, names[i], &v, &err), TSR_OK);
        assert_ptr_equal(v, &made_up_tiled);
    }
    v = NULL;
    assert_int_equal(variant_find(&made_up_operation, "tield", &v, &err), TSR_ENAME);
    assert_null(v);
    assert_int_equal(variant_find(&made_up_operation, "tile", &v, &err), TSR_ENAME);
    assert_non_null(strstr(err.message, "did you mean 'tiled'?"));
    assert_int_equal(variant_find(&made_up_operation, "covered paved", &v, &err), TSR_ENAME);
    assert_int_equal(variant_find(&made_up_operation, "cover", &v, &err), TSR_ENAME);
    assert_int_equal(variant_find(&made_up_operation, "xyzzy", &v, &err), TSR_ENAME);
    for (size_t i = 0; i < made_up_operation.variant_count; i++)
        assert_non_null(strstr(err.message, made_up_variants[i]->name));
}

static void settings_are_applied(void **state)
{
    static const char *const deeper[] = {"DEPTH=32", "THICK=32", "DEEP=32"};
    const variant *v = &made_up_tiled;
    tsr_error err = {0};
    text t = {0};
    params p;

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        p = params_default(v);
        for (size_t i = 0; i < p.count; i++)
            assert_int_equal(p.value[i], v->tunables[i].normal);
        assert_int_equal(params_set(v, &p, deeper[k], &err), TSR_OK);
        assert_int_equal(param(&p, "DEPTH"), 32);
        text_clear(&t);
        params_describe(&p, &t);
        assert_string_equal(text_get(&t), "SIDE=16 BLOCK=4 DEPTH=32");
    }
    text_clear(&t);
    params_rename(v, "SIDE=8 DEEP=16  GONE=1", &t);
    assert_string_equal(text_get(&t), "SIDE=8 DEPTH=16 GONE=1");
    text_clear(&t);
    params_append_fixed("GROUP=0 SIDE=10 DEPTH=0 BLOCK=1", &t);
    assert_string_equal(text_get(&t), " SIDE=10 BLOCK=1");
    text_free(&t);
}

/* Counts that plan() chooses need not be among those that are tried. */
static void any_count_may_be_set(void **state)
{
    const variant *v = &made_up_shared;
    params p = params_default(v);
    tsr_error err = {0};

    (void)state;
    assert_int_equal(params_set(v, &p, "PARTS=7", &err), TSR_OK);
    assert_int_equal(param(&p, "PARTS"), 7);
    assert_int_equal(params_set(v, &p, "PARTS=4096", &err), TSR_OK);
    assert_int_equal(params_set(v, &p, "PARTS=0", &err), TSR_OK);
    assert_int_equal(param(&p, "PARTS"), 0);
    assert_int_equal(params_set(v, &p, "PARTS=4097", &err), TSR_ENAME);
    assert_non_null(strstr(err.message, "'4097' (it takes 0, 1, 2, 4 and others up to 4096)"));
    assert_int_equal(params_set(v, &p, "PARTS=-1", &err), TSR_ENAME);
    assert_int_equal(params_set(v, &p, "PARTS=", &err), TSR_ENAME);
}

static void wrong_settings_are_refused(void **state)
{
    static const struct {
        const char *assignment, *says;
    } wrong[] = {{"DEPTH=31", "DEPTH cannot be '31' (it takes 8, 16, 32)"},
                 {"DEPTH=", "DEPTH cannot be ''"},
                 {"DEPTH=16x", "DEPTH cannot be '16x'"},
                 {"DEPTH=-16", "DEPTH cannot be '-16'"},
                 {"DEPTH=4294967312", "DEPTH cannot be '4294967312'"}, /* 16 + 2^32 */
                 {"DEPHT=16", "no tunable 'DEPHT'"},
                 {"DEPT=16", "did you mean 'DEPTH'?"},
                 {"depth=16", "no tunable 'depth'"},
                 {"DEPTH", "'DEPTH' is not NAME=VALUE"},
                 {"=16", "'=16' is not NAME=VALUE"},
                 {"", "'' is not NAME=VALUE"}};
    const variant *v = &made_up_tiled, *plain = &made_up_plain;
    tsr_error err = {0};
    params p, before;

    (void)state;
    before = p = params_default(v);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(params_set(v, &p, wrong[i].assignment, &err), TSR_ENAME);
        if (!strstr(err.message, wrong[i].says))
            fail_msg("'%s': '%s' does not say '%s'", wrong[i].assignment, err.message,
                     wrong[i].says);
        assert_memory_equal(p.value, before.value, sizeof(p.value));
    }
    p = params_default(plain);
    assert_int_equal(params_set(plain, &p, "TILE=16", &err), TSR_ENAME);
    assert_non_null(strstr(err.message, "kernel plain has no tunables"));
}

static void each_has_its_side(const operation *op, const variant *v)
{
    const device_facts gpu = facts(DEVICE_GPU), host = facts(DEVICE_HOST);
    const params none = params_default(v);
    text reason = {0};
    problem p;
    job j = {&p, v->host ? &gpu : &host, &none, false, false};
    const char *why;

    assert_true(op->sweep(0, true, &p));
    why = variant_unsupported(v, &j, &reason);
    if (!why || !strstr(why, v->host ? "host" : "OpenCL"))
        fail_msg("%s/%s on the other side: %s", op->name, v->name, why ? why : "it runs");
    text_free(&reason);
}

/* What else they are unsupported for is no matter of sides: preferences_exist has all kinds. */
static void sides_do_not_mix(void **state)
{
    (void)state;
    each_variant(each_has_its_side);
}

/* A variant that needs a feature is unsupported where the probe said no, for the probe's reason. */
static void features_are_needed(void **state)
{
    device_facts d = facts(DEVICE_GPU);
    problem p;
    size_t seen = 0;
    const operation *op;
    text reason = {0};

    (void)state;
    for (int f = 0; f < FEATURE_COUNT; f++)
        snprintf(d.feature_why[f], sizeof(d.feature_why[f]), "the probe said no to %d", f);
    for (size_t i = 0; (op = operation_at(i)); i++) {
        assert_true(op->sweep(0, true, &p));
        for (size_t v = 0; v < op->variant_count; v++) {
            const params chosen = params_default(op->variants[v]);
            const job j = {&p, &d, &chosen, false};
            const char *why;

            if (!op->variants[v]->needs)
                continue;
            seen++;
            why = variant_unsupported(op->variants[v], &j, &reason);
            assert_non_null(why);
            assert_non_null(strstr(why, "the probe said no to"));
        }
    }
    assert_true(seen > 0);
    text_free(&reason);
}

/* Each tunable, and the highest OpenCL C of the device where a variant asks for it. */
static void options_hold_every_define(void **state)
{
    const device_facts d = facts(DEVICE_GPU);
    const made_up numbers = {.type = TSR_U32, .n = 4};
    const problem p = problem_from(&made_up_operation, &numbers, sizeof(numbers));
    const params chosen = params_default(&made_up_tiled);
    const job j = {&p, &d, &chosen, false, false};
    variant newest = made_up_plain;
    text t = {0};

    (void)state;
    variant_options(&made_up_tiled, &j, &t);
    assert_non_null(strstr(text_get(&t), " -DSIDE=16"));
    assert_non_null(strstr(text_get(&t), " -DDEPTH=16"));
    text_clear(&t);
    newest.build = "-cl-std=%CLC% -w";
    variant_options(&newest, &(job){&p, &d, &(params){0}, false, false}, &t);
    assert_non_null(strstr(text_get(&t), "-cl-std=CL3.0 -w"));
    text_free(&t);
}

/* ---- preferences and the sweep ----------------------------------------------------------- */

static void preferences_exist(void **state)
{
    static const device_kind kinds[] = {DEVICE_HOST, DEVICE_CPU, DEVICE_GPU, DEVICE_ACCELERATOR};
    const operation *op;
    problem swept, p;
    unsigned order[OPERANDS_MAX];

    (void)state;
    for (size_t i = 0; (op = operation_at(i)); i++)
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
            for (size_t s = 0; op->sweep(s, false, &swept); s++) {
                p = problem_normal(&swept, order);
                const device_facts d = facts(kinds[k]);
                const char *names[PREFERENCES_MAX];
                const size_t n = op->prefer(&p, &d, names);
                bool runs = false;
                text reason = {0};

                assert_in_range(n, 1, PREFERENCES_MAX);
                for (size_t c = 0; c < n; c++) {
                    const variant *v = NULL;
                    params chosen;
                    tsr_error err = {0};

                    if (variant_find(op, names[c], &v, &err))
                        fail_msg("%s prefers: %s", op->name, err.message);
                    chosen = params_default(v);
                    runs = runs || !variant_unsupported(v, &(job){&p, &d, &chosen, false}, &reason);
                }
                text_free(&reason);
                if (!runs)
                    fail_msg("%s: nothing preferred on kind %d runs problem %zu of the sweep",
                             op->name, kinds[k], s);
            }
}

static void sweep_passes_its_check(const operation *op, bool tiny)
{
    problem p, again;
    size_t n = 0;

    for (; op->sweep(n, tiny, &p); n++) {
        operand o[OPERANDS_MAX] = {{0}};
        tsr_error err = {0};
        text t = {0};

        assert_ptr_equal(p.op, op);
        if (op->check(&p, &err))
            fail_msg("problem %zu of the sweep of %s: %s", n, op->name, err.message);
        assert_in_range(op->operands(&p, o), 1, OPERANDS_MAX);
        assert_true(op->work(&p) >= 0 && op->bytes(&p) >= 0);
        op->describe(&p, &t);
        assert_true(t.length > 0);
        text_clear(&t);
        tuning_class(&p, &t);
        assert_true(t.length > 0);
        text_free(&t);
        /* The order is fixed, so that a failure can be named by its number. */
        assert_true(op->sweep(n, tiny, &again));
        assert_int_equal(op->work(&p) == op->work(&again), true);
    }
    assert_true(n > 3);
}

static void sweeps_pass_their_checks(void **state)
{
    const operation *op;

    (void)state;
    for (size_t i = 0; (op = operation_at(i)); i++) {
        sweep_passes_its_check(op, false);
        sweep_passes_its_check(op, true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_unique),           cmocka_unit_test(operations_are_whole),
        cmocka_unit_test(variants_are_whole),         cmocka_unit_test(entries_exist),
        cmocka_unit_test(tunables_have_values),       cmocka_unit_test(tunables_are_read),
        cmocka_unit_test(operations_are_found),       cmocka_unit_test(variants_are_found),
        cmocka_unit_test(settings_are_applied),       cmocka_unit_test(any_count_may_be_set),
        cmocka_unit_test(wrong_settings_are_refused), cmocka_unit_test(sides_do_not_mix),
        cmocka_unit_test(features_are_needed),        cmocka_unit_test(options_hold_every_define),
        cmocka_unit_test(preferences_exist),          cmocka_unit_test(sweeps_pass_their_checks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
