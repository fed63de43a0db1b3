/* What a session keeps of its calls: the same problem finds its own steps and choice again, another
 * one never does, and a tuning entry that is stored meanwhile is seen at once. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/dispatch.h"
#include "core/registry.h"
#include "core/tuning.h"
#include "core/tuning_class.h"
#include "core/tuning_file.h"
#include "core/tuning_memo.h"
#include "device/device.h"
#include "session/program.h"

#include "made_up_variants.h"

static problem numbers(size_t n)
{
    const made_up x = {.type = TSR_U32, .n = n};

    return problem_from(&made_up_operation, &x, sizeof(x));
}

static selection with(const variant *v)
{
    return (selection){.variant = v, .params = params_default(v)};
}

static tsr_session *open_host(tsr_device *host)
{
    tsr_session *s = NULL;

    device_read_host(host);
    assert_int_equal(tsr_session_open(host, NULL, &s, NULL), TSR_OK);
    return s;
}

/* A program that nobody built: it is looked at by its address alone. */
static program built;

static kept_call *keep(tsr_session *s, const problem *p, const selection *sel, uint64_t age,
                       placement place)
{
    device_facts cpu = {.kind = DEVICE_CPU, .max_work_group = 1024, .local_memory = 32768};
    kept_call made = {.posed = *p,
                      .normal = *p,
                      .selection = *sel,
                      .age = age,
                      .place = place,
                      .program = &built};
    kept_call *kept;

    cpu.max_work_item[0] = cpu.max_work_item[1] = cpu.max_work_item[2] = 1024;
    assert_null(plan_make(sel->variant, &(job){p, &cpu, &sel->params, false, false}, &made.plan));
    kept = calls_keep(s, &made);
    assert_null(made.plan.commands);
    return kept;
}

static void a_call_finds_its_own_plan(void **state)
{
    const selection plain = with(&made_up_plain), tiled = with(&made_up_tiled);
    tsr_device host;
    tsr_session *s = open_host(&host);
    const problem p = numbers(64);
    const problem longer = numbers(65);
    selection wider = tiled;
    kept_call *kept;

    (void)state;
    wider.params.value[0] /= 2;
    assert_null(calls_find(s, &p, &plain, IN_BUFFERS));
    kept = keep(s, &p, &plain, 0, IN_BUFFERS);
    assert_non_null(kept);
    assert_int_equal(kept->plan.count, 1);

    assert_ptr_equal(calls_find(s, &p, &plain, IN_BUFFERS), kept);
    assert_null(calls_find(s, &longer, &plain, IN_BUFFERS));
    assert_null(calls_find(s, &p, &tiled, IN_BUFFERS));
    assert_non_null(keep(s, &p, &tiled, 0, IN_BUFFERS));
    assert_null(calls_find(s, &p, &wider, IN_BUFFERS));
    tsr_session_close(s);
}

/* A caller that names a variant and sets nothing has the call of its defaults, which was named so
 * too. */
static void a_name_finds_the_call_without_settings(void **state)
{
    const problem p = numbers(64), longer = numbers(65);
    selection named = with(&made_up_tiled), set = named, tuned = named;
    tsr_device host;
    tsr_session *s = open_host(&host);
    kept_call *kept;

    (void)state;
    named.selected = set.selected = SELECTED_BY_NAME;
    tuned.selected = SELECTED_BY_TUNING;
    set.params.value[0] /= 2;
    assert_non_null(keep(s, &p, &tuned, 0, IN_BUFFERS));
    assert_non_null(keep(s, &p, &set, 0, IN_BUFFERS));
    assert_null(calls_named(s, &p, IN_BUFFERS, made_up_tiled.name));
    kept = keep(s, &p, &named, 0, IN_BUFFERS);
    assert_ptr_equal(calls_named(s, &p, IN_BUFFERS, made_up_tiled.name), kept);
    assert_null(calls_named(s, &p, IN_BUFFERS, made_up_plain.name));
    assert_null(calls_named(s, &longer, IN_BUFFERS, made_up_tiled.name));
    assert_null(calls_named(s, &p, ARRIVING, made_up_tiled.name));
    tsr_session_close(s);
}

/* What is kept is of one problem, whatever differs; and of one variant with its values. */
static void whatever_differs_is_another_call(void **state)
{
    const selection tiled = with(&made_up_tiled);
    tsr_device host;
    tsr_session *s = open_host(&host);
    problem p = numbers(64);
    selection sel = tiled;

    (void)state;
    assert_non_null(keep(s, &p, &tiled, 1, IN_BUFFERS));
    for (size_t i = 0; i < sizeof(p.bytes); i++) {
        p.bytes[i] ^= 1;
        assert_null(calls_find(s, &p, &tiled, IN_BUFFERS));
        assert_null(calls_chosen(s, &p, IN_BUFFERS, 1));
        p.bytes[i] ^= 1;
    }
    p.op = operation_at(0);
    assert_null(calls_find(s, &p, &tiled, IN_BUFFERS));
    p.op = &made_up_operation;
    p.inputs = DISTRIBUTION_FEW;
    assert_null(calls_find(s, &p, &tiled, IN_BUFFERS));
    p.inputs = DISTRIBUTION_PLAIN;
    for (size_t i = 0; i < TUNABLES_MAX; i++) {
        sel.params.value[i]++;
        assert_null(calls_find(s, &p, &sel, IN_BUFFERS));
        sel.params.value[i]--;
    }
    sel.selected = SELECTED_BY_TUNING;
    assert_null(calls_find(s, &p, &sel, IN_BUFFERS));
    assert_null(calls_chosen(s, &p, IN_BUFFERS, 2));
    assert_null(calls_chosen(s, &p, IN_BUFFERS, 0));
    assert_non_null(calls_find(s, &p, &tiled, IN_BUFFERS));
    assert_non_null(calls_chosen(s, &p, IN_BUFFERS, 1));
    tsr_session_close(s);
}

/* So many calls in turn are kept; another one takes the place of the one used least recently. */
static void the_oldest_call_goes(void **state)
{
    const selection plain = with(&made_up_plain);
    tsr_device host;
    tsr_session *s = open_host(&host);
    problem p[CALLS_KEPT + 1];

    (void)state;
    for (size_t i = 0; i < CALLS_KEPT + 1; i++)
        p[i] = numbers(16 + i);
    for (size_t i = 0; i < CALLS_KEPT; i++)
        assert_non_null(keep(s, &p[i], &plain, 0, IN_BUFFERS));
    assert_non_null(calls_find(s, &p[0], &plain, IN_BUFFERS));
    assert_non_null(keep(s, &p[CALLS_KEPT], &plain, 0, IN_BUFFERS));
    assert_null(calls_find(s, &p[1], &plain, IN_BUFFERS));
    for (size_t i = 0; i < CALLS_KEPT + 1; i++)
        if (i != 1)
            assert_non_null(calls_find(s, &p[i], &plain, IN_BUFFERS));
    tsr_session_close(s);
}

/* A plan for inputs that arrive is another one. */
static void who_brings_inputs_is_another_call(void **state)
{
    const selection plain = with(&made_up_plain);
    tsr_device host;
    tsr_session *s = open_host(&host);
    const problem p = numbers(16);
    kept_call *arriving;

    (void)state;
    assert_non_null(keep(s, &p, &plain, 0, IN_BUFFERS));
    assert_null(calls_find(s, &p, &plain, ARRIVING));
    arriving = keep(s, &p, &plain, 0, ARRIVING);
    assert_ptr_equal(calls_find(s, &p, &plain, ARRIVING), arriving);
    assert_ptr_not_equal(calls_find(s, &p, &plain, IN_BUFFERS), arriving);
    tsr_session_close(s);
}

/* What changed this long ago is not asked for each time. */
static void change_long_ago(const char *folder, time_t seconds)
{
    const struct timespec then = {.tv_sec = time(NULL) - seconds};
    const struct timespec both[] = {then, then};

    assert_int_equal(utimensat(AT_FDCWD, folder, both, 0), 0);
}

/* Until the folder is looked at again: tuning_memo.h. */
static void let_the_stamp_go(void)
{
    const struct timespec pause = {.tv_nsec = 40 * 1000 * 1000};

    nanosleep(&pause, NULL);
}

static void a_choice_follows_the_tuning(void **state)
{
    char folder[] = "/tmp/tessera-prepared-XXXXXX", shell[64];
    unsigned order[OPERANDS_MAX];
    problem swept, p;
    tsr_device host;
    tsr_session *s;
    selection sel;
    tuning t = {0};
    text name = {0};
    uint64_t age;

    (void)state;
    assert_true(operation_at(0)->sweep(0, true, &swept));
    p = problem_normal(&swept, order);
    assert_non_null(mkdtemp(folder));
    setenv("TESSERA_TUNING_DIR", folder, 1);
    change_long_ago(folder, 1000);
    s = open_host(&host);
    assert_int_equal(dispatch_select(s, &p, NULL, IN_BUFFERS, &sel, NULL), TSR_OK);
    assert_int_equal(sel.selected, SELECTED_BY_PREFERENCE);
    assert_non_null(calls_chosen(s, &p, IN_BUFFERS, tuning_age(s)));
    assert_ptr_equal(calls_chosen(s, &p, IN_BUFFERS, tuning_age(s))->selection.variant,
                     sel.variant);

    tuning_owner(session_facts(s), &t);
    strcpy(t.op, p.op->name);
    tuning_class(&p, &name);
    strcpy(t.problem_class, text_get(&name));
    text_free(&name);
    snprintf(t.variant, sizeof(t.variant), "%s", sel.variant->name);
    t.median_ns = 5;
    assert_int_equal(tuning_store(&t, NULL, NULL), TSR_OK);
    /* What this process stored counts at once. */
    assert_null(calls_chosen(s, &p, IN_BUFFERS, tuning_age(s)));
    assert_int_equal(dispatch_select(s, &p, NULL, IN_BUFFERS, &sel, NULL), TSR_OK);
    assert_int_equal(sel.selected, SELECTED_BY_TUNING);
    age = tuning_age(s);
    assert_int_equal(tuning_age(s), age);
    /* Files may change again in the same tick of their system: they are read anew after a while. */
    nanosleep(&(struct timespec){0, 30000000}, NULL);
    assert_int_not_equal(tuning_age(s), age);
    change_long_ago(folder, 500);
    nanosleep(&(struct timespec){0, 30000000}, NULL);
    assert_null(calls_chosen(s, &p, IN_BUFFERS, tuning_age(s)));
    assert_int_equal(dispatch_select(s, &p, NULL, IN_BUFFERS, &sel, NULL), TSR_OK);
    assert_non_null(calls_chosen(s, &p, IN_BUFFERS, tuning_age(s)));
    assert_int_equal(calls_chosen(s, &p, IN_BUFFERS, tuning_age(s))->selection.selected,
                     SELECTED_BY_TUNING);
    tsr_session_close(s);
    unsetenv("TESSERA_TUNING_DIR");
    snprintf(shell, sizeof(shell), "rm -r %s", folder);
    assert_int_equal(system(shell), 0);
}

/* Two folders that changed at the same moment are still two. */
static void a_choice_follows_the_folder(void **state)
{
    char folders[2][32] = {"/tmp/tessera-prepared-XXXXXX", "/tmp/tessera-prepared-XXXXXX"};
    const struct timespec then = {.tv_sec = time(NULL) - 1000};
    const struct timespec both[] = {then, then};
    tsr_device host;
    tsr_session *s = open_host(&host);
    uint64_t age[3];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_non_null(mkdtemp(folders[i]));
        assert_int_equal(utimensat(AT_FDCWD, folders[i], both, 0), 0);
    }
    for (size_t i = 0; i < 3; i++) {
        setenv("TESSERA_TUNING_DIR", folders[i % 2], 1);
        let_the_stamp_go();
        age[i] = tuning_age(s);
        assert_true(age[i] > 0);
        assert_int_equal(tuning_age(s), age[i]);
    }
    assert_true(age[0] != age[1] && age[1] != age[2] && age[0] != age[2]);
    tsr_session_close(s);
    unsetenv("TESSERA_TUNING_DIR");
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(rmdir(folders[i]), 0);
}

/* What borrows a program goes with it. */
static void released_programs_take_their_calls(void **state)
{
    const selection plain = with(&made_up_plain);
    tsr_device host;
    tsr_session *s = open_host(&host);
    const problem p = numbers(64);

    (void)state;
    assert_non_null(keep(s, &p, &plain, 0, IN_BUFFERS));
    programs_release(s);
    assert_null(calls_find(s, &p, &plain, IN_BUFFERS));
    tsr_session_close(s);
}

/* A feature that was not looked for is one that is not there. */
static void needed_features_are_there(void **state)
{
    variant needy = made_up_plain;
    device_facts cpu = {.kind = DEVICE_CPU, .max_work_group = 1024, .local_memory = 32768};
    const problem p = numbers(16);
    const params none = {0};
    const job j = {.problem = &p, .device = &cpu, .params = &none};

    (void)state;
    for (unsigned f = 0; f < FEATURE_COUNT; f++) {
        plan made = {0};
        const char *why;

        needy.needs = 1u << f;
        why = plan_make(&needy, &j, &made);
        assert_non_null(why);
        assert_non_null(strstr(why, "not probed on this device"));
        plan_free(&made);
        cpu.feature[f] = FEATURE_NO;
        assert_non_null(plan_make(&needy, &j, &made));
        plan_free(&made);
        cpu.feature[f] = FEATURE_YES;
        assert_null(plan_make(&needy, &j, &made));
        plan_free(&made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_finds_its_own_plan),
        cmocka_unit_test(a_name_finds_the_call_without_settings),
        cmocka_unit_test(needed_features_are_there),
        cmocka_unit_test(whatever_differs_is_another_call),
        cmocka_unit_test(the_oldest_call_goes),
        cmocka_unit_test(who_brings_inputs_is_another_call),
        cmocka_unit_test(a_choice_follows_the_tuning),
        cmocka_unit_test(a_choice_follows_the_folder),
        cmocka_unit_test(released_programs_take_their_calls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
