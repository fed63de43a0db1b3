/* Which programs a sweep takes that leaves out combinations (measure/programs_met.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/variant.h"
#include "measure/programs_met.h"

static const variant made_up = {.name = "made-up", .entries = {"one", "other"}};

/* Whether a plan with these -Ds, and launches of `entry` in groups of this size, shows something:
 * two of its values side by side, or one alone. */
static bool shows_of(programs_met *m, bool singly, const char *defines, size_t launches,
                     unsigned entry, size_t group)
{
    static const device_facts device;
    command commands[2] = {{.kind = COMMAND_LAUNCH, .entry = entry, .local = {group, 1, 1}},
                           {.kind = COMMAND_LAUNCH, .entry = entry, .local = {group, 1, 1}}};
    plan p = {.commands = commands, .count = launches};
    bool out = false;

    text_append(&p.defines, defines);
    assert_int_equal(programs_met_shows(m, &made_up, &device, &p, singly, &out, NULL), TSR_OK);
    text_free(&p.defines);
    return out;
}

static bool shows(programs_met *m, const char *defines, size_t launches, unsigned entry,
                  size_t group)
{
    return shows_of(m, false, defines, launches, entry, group);
}

static void test_each_pair_of_values_once(void **state)
{
    programs_met m = {0};

    (void)state;
    assert_true(shows(&m, " -DA=0 -DB=0 -DC=0", 1, 0, 8));
    assert_true(shows(&m, " -DA=0 -DB=1 -DC=1", 1, 0, 8));
    assert_true(shows(&m, " -DA=1 -DB=0 -DC=1", 1, 0, 8));
    assert_true(shows(&m, " -DA=1 -DB=1 -DC=0", 1, 0, 8));
    /* Each two of these have met, all three have not. */
    assert_false(shows(&m, " -DA=1 -DB=1 -DC=1", 1, 0, 8));
    assert_false(shows(&m, " -DA=1 -DB=1 -DC=1", 1, 0, 8)); /* as it was not compiled */
    assert_true(shows(&m, " -DA=1 -DB=1 -DC=2", 1, 0, 8));
    programs_met_free(&m);
}

static void test_each_value_once(void **state)
{
    programs_met m = {0};

    (void)state;
    assert_true(shows_of(&m, true, " -DA=0 -DB=0", 1, 0, 8));
    assert_true(shows_of(&m, true, " -DA=1 -DB=1", 1, 0, 8));
    assert_false(shows_of(&m, true, " -DA=0 -DB=1", 1, 0, 8));
    assert_false(shows_of(&m, true, " -DA=0 -DB=1", 1, 0, 8)); /* as it was not compiled */
    assert_true(shows_of(&m, true, " -DA=0 -DB=1", 1, 0, 16));
    assert_true(shows_of(&m, true, " -DA=0 -DB=2", 1, 0, 8));
    programs_met_free(&m);
}

/* Groups of another size and another entry are compiled, too; a second launch is not. */
static void test_what_is_compiled(void **state)
{
    programs_met m = {0};

    (void)state;
    assert_true(shows(&m, " -DA=0 -DB=0", 1, 0, 8));
    assert_true(shows(&m, " -DA=0 -DB=0", 1, 0, 16));
    assert_true(shows(&m, " -DA=0 -DB=1", 1, 0, 8));
    assert_true(shows(&m, " -DA=0 -DB=1", 1, 1, 8));
    assert_false(shows(&m, " -DB=1", 2, 1, 8)); /* a program of its own, and nothing new in it */
    programs_met_free(&m);
}

/* What needs no program more always runs; so does what has none. */
static void test_a_program_that_is_there(void **state)
{
    programs_met m = {0};

    (void)state;
    assert_true(shows(&m, " -DA=0 -DB=0", 1, 0, 8));
    assert_true(shows(&m, " -DA=0 -DB=0", 1, 0, 8));
    assert_true(shows(&m, " -DA=0 -DB=0", 2, 0, 8));
    assert_true(shows(&m, "", 0, 0, 8));
    assert_true(shows(&m, "", 0, 0, 8));
    programs_met_free(&m);
}

/* Of thousands each is remembered: what has fewer of its values brings nothing new. */
static void test_many(void **state)
{
    programs_met m = {0};

    (void)state;
    for (int part = 0; part < 2; part++) {
        for (int i = 0; i < 3000; i++) {
            text defines = {0};

            text_format(&defines, " -DA=%d", i);
            if (part == 0)
                text_format(&defines, " -DB=%d", i % 7);
            assert_int_equal(shows(&m, text_get(&defines), 1, 0, 8), part == 0);
            text_free(&defines);
        }
    }
    assert_true(shows(&m, " -DA=1 -DB=2", 1, 0, 8));
    programs_met_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_pair_of_values_once),
        cmocka_unit_test(test_each_value_once),
        cmocka_unit_test(test_what_is_compiled),
        cmocka_unit_test(test_a_program_that_is_there),
        cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
