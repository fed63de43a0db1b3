/* The sweep's rows: what they count, on an operation that is made up and runs on the host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "device/device.h"
#include "measure/verify.h"
#include "session/state.h"

#include "made_up_operation.h"

/* Numbers that a variant increments. */
static void fill(const problem *p, uint64_t seed, distribution f, void *const arrays[])
{
    (void)f;
    for (size_t i = 0; i < made_up_of(p)->n; i++)
        ((uint32_t *)arrays[0])[i] = (uint32_t)(seed + i);
}

/* Sizes 1 to 8; the last two of another type. */
static const operation increment;

static bool sweep(size_t i, bool tiny, problem *out)
{
    const made_up numbers = {.n = i + 1, .type = i < 6 ? TSR_U32 : TSR_I32};

    *out = problem_from(&increment, &numbers, sizeof(numbers));
    return i < (tiny ? 2 : 8);
}

static size_t judged; /* results */

/* Off by how much, in tenths; from 4 elements on it is said to be sampled. */
static tsr_status judge(const problem *p, const device_facts *d, const void *const before[],
                        const void *const after[], const void *expected, verdict *out,
                        tsr_error *err)
{
    const uint32_t *x = before[0], *y = after[0];

    (void)d;
    (void)expected;
    (void)err;
    judged++;
    *out = (verdict){.ok = true, .sampled = made_up_of(p)->n >= 4};
    for (size_t i = 0; i < made_up_of(p)->n; i++) {
        const uint32_t off = y[i] - x[i] - 1;

        out->worst = off * 0.1 > out->worst ? off * 0.1 : out->worst;
        if (off > 10 && out->ok) {
            out->ok = false;
            strcpy(out->detail, "off by more than 10");
        }
    }
    return TSR_OK;
}

static tsr_status run_right(const problem *p, void *const x[], tsr_error *err)
{
    (void)err;
    for (size_t i = 0; i < made_up_of(p)->n; i++)
        ((uint32_t *)x[0])[i] += i == 2 ? 6 : 1;
    return TSR_OK;
}

static tsr_status run_wrong(const problem *p, void *const x[], tsr_error *err)
{
    (void)err;
    ((uint32_t *)x[0])[0] += 100;
    return made_up_of(p)->n > 100 ? TSR_EINVAL : TSR_OK;
}

static tsr_status run_unbuilt(const problem *p, void *const x[], tsr_error *err)
{
    (void)p;
    (void)x;
    return tsr_fail(err, TSR_EBUILD, 0, "it does not build");
}

static tsr_status run_wrong_from_7(const problem *p, void *const x[], tsr_error *err)
{
    return made_up_of(p)->n < 7 ? run_right(p, x, err) : run_wrong(p, x, err);
}

/* SIDE=1 takes up to 6 numbers, SIDE=2 more. */
static const char *plan_by_side(const job *j, plan *out)
{
    (void)out;
    return (param(j->params, "SIDE") == 1) == (made_up_of(j->problem)->n < 7) ? NULL
                                                                              : "not this SIDE";
}

/* STEP=4 suits nobody; SIDE=2 problems from 7 elements on, which the larger half has. */
static const char *plan_by_step(const job *j, plan *out)
{
    (void)out;
    if (param(j->params, "STEP") == 4)
        return "STEP=4 is never suited";
    if (param(j->params, "SIDE") == 2 && made_up_of(j->problem)->n < 7)
        return "SIDE=2 needs 7 numbers";
    return made_up_of(j->problem)->n == 1 ? "one number is too few" : NULL;
}

static const char *plan_always(const job *j, plan *out)
{
    (void)j, (void)out;
    return NULL;
}

static const tunable tunables[] = {
    {.name = "STEP", .meaning = "none", .values = {1, 2, 4}, .normal = 1},
    {.name = "SIDE", .meaning = "none", .values = {1, 2}, .normal = 1}};

static const variant *const variants[] = {
    &(const variant){.name = "right", .idea = "", .plan = plan_always, .host = run_right},
    &(const variant){.name = "wrong", .idea = "", .plan = plan_always, .host = run_wrong},
    &(const variant){.name = "unbuilt", .idea = "", .plan = plan_always, .host = run_unbuilt},
    &(const variant){.name = "tunable",
                     .idea = "",
                     .tunables = tunables,
                     .tunable_count = 2,
                     .plan = plan_by_step,
                     .host = run_right},
    &(const variant){.name = "wrong with SIDE=2",
                     .idea = "",
                     .tunables = &tunables[1],
                     .tunable_count = 1,
                     .plan = plan_by_side,
                     .host = run_wrong_from_7}};

static const operation increment = {.name = "increment",
                                    .variants = variants,
                                    .variant_count = 5,
                                    .check = made_up_check,
                                    .operands = made_up_operands,
                                    .work = made_up_work,
                                    .describe = made_up_describe,
                                    .fill = fill,
                                    .sweep = sweep,
                                    .verify = judge};

/* ---- rows -------------------------------------------------------------------------------- */

enum { ROWS = 10 }; /* five variants of two types */

/* Rows with copies of the texts that they only lend. */
typedef struct kept {
    verify_row row[ROWS];
    char never_ran[200], build_log[200];
    size_t count, most;
} kept;

static bool keep(const verify_row *row, void *context)
{
    kept *k = context;

    assert_true(k->count < ROWS);
    k->row[k->count++] = *row;
    if (row->never_ran_values)
        strcpy(k->never_ran, row->never_ran_values);
    if (row->build_log)
        strcpy(k->build_log, row->build_log);
    return k->count < k->most;
}

static kept rows_with(const verify_options *options)
{
    const tsr_session_options closed = {.no_cache = 1};
    kept k = {.most = ROWS};
    tsr_session *s = NULL;
    tsr_error err = {0};
    tsr_device host;

    device_read_host(&host);
    assert_int_equal(tsr_session_open(&host, &closed, &s, &err), TSR_OK);
    text_append(&s->build_log, "line 1: what the compiler said");
    assert_int_equal(verify_operation(s, &increment, options, keep, &k, &err), TSR_OK);
    tsr_session_close(s);
    return k;
}

static kept rows_of(const char *name, bool tiny, const char *const *set, size_t set_count)
{
    const verify_options options = {
        .variant = name, .tiny = tiny, .set = set, .set_count = set_count, .seed = 1};

    return rows_with(&options);
}

static void a_row_is_a_variant_and_a_type(void **state)
{
    const kept k = rows_of("right", false, NULL, 0), tiny = rows_of("right", true, NULL, 0);

    (void)state;
    assert_int_equal(k.count, 2);
    assert_int_equal(k.row[0].type, TSR_I32);
    assert_int_equal(k.row[0].problems, 2);
    assert_int_equal(k.row[1].type, TSR_U32);
    assert_int_equal(k.row[1].problems, 6);
    assert_string_equal(k.row[1].variant->name, "right");
    assert_int_equal(k.row[1].failed + k.row[1].unsupported + k.row[1].never_ran, 0);
    assert_string_equal(k.row[1].detail, "");
    assert_null(k.row[1].build_log);
    assert_null(k.row[1].never_ran_values);
    assert_int_equal(tiny.count, 1);
    assert_int_equal(tiny.row[0].problems, 2);
}

static void samples_and_the_worst_are_of_all_problems(void **state)
{
    const kept k = rows_of("right", false, NULL, 0);

    (void)state;
    assert_int_equal(k.row[1].sampled, 3); /* of 4, 5 and 6 elements */
    assert_int_equal(k.row[0].sampled, 2);
    assert_true(k.row[1].worst > 0.49 && k.row[1].worst < 0.51); /* element 2 of 3 and more */
}

static void the_first_failure_is_told(void **state)
{
    const kept k = rows_of("wrong", false, NULL, 0);

    (void)state;
    assert_int_equal(k.row[1].failed, 6);
    assert_string_equal(k.row[1].detail, "1 numbers: off by more than 10");
    assert_null(k.row[1].build_log); /* it did build */
}

/* Where all variants run, one with the bits of a right result is right, and one with others is
 * judged. */
static void results_of_the_same_bits_are_judged_once(void **state)
{
    static const size_t failed[] = {0, 8, 8, 0, 3};
    size_t of_variant[ARRAY_COUNT(failed)] = {0};
    kept k;

    (void)state;
    judged = 0;
    k = rows_with(&(verify_options){.seed = 1});
    for (size_t i = 0; i < k.count; i++)
        for (size_t v = 0; v < ARRAY_COUNT(failed); v++)
            of_variant[v] += k.row[i].variant == variants[v] ? k.row[i].failed : 0;
    for (size_t v = 0; v < ARRAY_COUNT(failed); v++)
        if (of_variant[v] != failed[v])
            fail_msg("%s: %zu results failed, not %zu", variants[v]->name, of_variant[v],
                     failed[v]);
    assert_int_equal(judged, 8 + 8 + 3); /* the last three as wrong as some of "wrong" */
}

static void a_build_that_fails_lends_its_log(void **state)
{
    const kept k = rows_of("unbuilt", false, NULL, 0);

    (void)state;
    assert_int_equal(k.row[1].failed, 6);
    assert_int_equal(k.row[1].problems, 6);
    assert_string_equal(k.build_log, "line 1: what the compiler said");
    assert_string_equal(k.row[1].detail, "1 numbers: it does not build");
}

/* Values that no problem ran with are counted once, in the first row that has problems. */
static void values_that_never_ran_are_named(void **state)
{
    const char *const fixed[] = {"STEP=2"};
    kept k = rows_of("tunable", false, NULL, 0);

    (void)state;
    assert_int_equal(k.count, 2);
    assert_int_equal(k.row[0].never_ran + k.row[1].never_ran, 1);
    assert_int_equal(k.row[0].never_ran, 1);
    assert_string_equal(k.never_ran, "STEP=4");
    assert_int_equal(k.row[1].unsupported, 1); /* one number; other values are no refusals */
    assert_true(k.row[0].problems > 2);        /* those with SIDE=2 and STEP=2 too */
    /* What the caller fixes was not to run. */
    k = rows_of("tunable", false, fixed, 1);
    assert_int_equal(k.row[0].never_ran + k.row[1].never_ran, 0);
    /* In the tiny sweep no problem has 7 elements. */
    k = rows_of("tunable", true, NULL, 0);
    assert_int_equal(k.count, 1);
    assert_int_equal(k.row[0].never_ran, 2);
    assert_string_equal(k.never_ran, "STEP=4 SIDE=2");
}

/* The whole sweep, and nothing else: SIDE=2 with its problem of 7 and more numbers does not run,
 * and no value is missed. */
static void defaults_are_all_that_runs(void **state)
{
    const kept all = rows_of("tunable", false, NULL, 0),
               k = rows_with(&(verify_options){.variant = "tunable", .defaults = true, .seed = 1});

    (void)state;
    assert_int_equal(k.count, 2);
    assert_int_equal(k.row[0].problems, 2);
    assert_int_equal(k.row[1].problems, 5);
    assert_true(all.row[0].problems + all.row[1].problems > 7);
    assert_int_equal(k.row[0].never_ran + k.row[1].never_ran, 0);
    assert_null(k.row[0].never_ran_values);
}

/* With `pairs`, plans without kernels all run, and new values come together: SIDE=2 with STEP=2.
 * With `values` there is no sweep before theirs. */
static void what_is_left_out_of_the_whole_sweep(void **state)
{
    const kept all = rows_of("tunable", false, NULL, 0),
               pairs = rows_with(&(verify_options){.variant = "tunable", .pairs = true, .seed = 1}),
               values =
                   rows_with(&(verify_options){.variant = "tunable", .values = true, .seed = 1}),
               none = rows_with(&(verify_options){
                   .variant = "tunable", .values = true, .defaults = true, .seed = 1});

    (void)state;
    assert_int_equal(pairs.row[0].problems + pairs.row[1].problems, 7 + 1);
    assert_string_equal(pairs.never_ran, "STEP=4");
    assert_int_equal(values.count, 2);
    assert_int_equal(values.row[0].problems + values.row[1].problems,
                     all.row[0].problems + all.row[1].problems - 7);
    assert_int_equal(none.row[0].problems + none.row[1].problems, 0);
}

static void a_failure_ends_the_sweep_if_told_so(void **state)
{
    verify_options options = {.variant = "wrong", .stop = true, .seed = 1};
    kept k = rows_with(&options);

    (void)state;
    assert_int_equal(k.count, 1);
    assert_int_equal(k.row[0].problems, 1);
    /* Also one with another value of a tunable. */
    options.variant = "wrong with SIDE=2";
    k = rows_with(&options);
    assert_int_equal(k.row[0].problems, 1);
    assert_int_equal(k.row[1].problems, 6);
    options.stop = false;
    assert_true(rows_with(&options).row[0].failed > 1);
}

/* A variant that no problem suits has its reason, and no values to miss. */
static void what_is_never_suited_has_its_reason(void **state)
{
    const char *const fixed[] = {"STEP=4"};
    const kept k = rows_of("tunable", false, fixed, 1);

    (void)state;
    assert_int_equal(k.row[1].problems, 0);
    assert_int_equal(k.row[1].unsupported, 6);
    assert_int_equal(k.row[0].never_ran + k.row[1].never_ran, 0);
    assert_string_equal(k.row[1].detail, "STEP=4 is never suited");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_is_a_variant_and_a_type),
        cmocka_unit_test(samples_and_the_worst_are_of_all_problems),
        cmocka_unit_test(the_first_failure_is_told),
        cmocka_unit_test(results_of_the_same_bits_are_judged_once),
        cmocka_unit_test(a_build_that_fails_lends_its_log),
        cmocka_unit_test(values_that_never_ran_are_named),
        cmocka_unit_test(defaults_are_all_that_runs),
        cmocka_unit_test(what_is_left_out_of_the_whole_sweep),
        cmocka_unit_test(a_failure_ends_the_sweep_if_told_so),
        cmocka_unit_test(what_is_never_suited_has_its_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
