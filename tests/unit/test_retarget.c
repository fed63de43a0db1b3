/* PTX for another target: marks off, target raised, everything else as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "session/retarget.h"

static const char ptx[] = ".version 9.0\n"
                          ".target sm_90, texmode_independent\n"
                          "// .globl probe //@sm_90a stays: no line starts with it\n"
                          ".reqntid 128, 1, 1\n"
                          "{\n"
                          "\t// begin inline asm\n"
                          "\t//@sm_90a wgmma.fence.sync.aligned;\n"
                          "\tmov.u32 %r1, 1;\n"
                          "\t//@sm_90a wgmma.wait_group.sync.aligned 0;\n"
                          "}";

static const char raised[] = ".version 9.0\n"
                             ".target sm_90a, texmode_independent\n"
                             "// .globl probe //@sm_90a stays: no line starts with it\n"
                             ".reqntid 128, 1, 1\n.minnctapersm 1\n"
                             "{\n"
                             "\t// begin inline asm\n"
                             "\twgmma.fence.sync.aligned;\n"
                             "\tmov.u32 %r1, 1;\n"
                             "\twgmma.wait_group.sync.aligned 0;\n"
                             "}";

static void test_every_mark_goes(void **state)
{
    text out = {0};
    tsr_error err = {0};

    (void)state;
    assert_int_equal(retarget_ptx(ptx, "sm_90a", &out, &err), TSR_OK);
    assert_string_equal(text_get(&out), raised);
    text_free(&out);
}

/* A comment says for how many work-groups a unit is to have registers. */
static void test_groups_of_a_unit(void **state)
{
    static const struct {
        const char *says, *wanted;
    } cases[] = {{"//@groups 2", "\n.minnctapersm 2\n"},
                 {"//@groups 0", "\n.minnctapersm 1\n"},
                 {"//@groups ", "\n.minnctapersm 1\n"},
                 {"", "\n.minnctapersm 1\n"}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        text in = {0}, out = {0};
        tsr_error err = {0};

        text_format(&in, "%s\n\t%s\n", ptx, cases[i].says);
        assert_int_equal(retarget_ptx(text_get(&in), "sm_90a", &out, &err), TSR_OK);
        assert_non_null(strstr(text_get(&out), cases[i].wanted));
        text_free(&in);
        text_free(&out);
    }
}

static void test_what_cannot_be_retargeted(void **state)
{
    static const struct {
        const char *ptx, *why;
    } cases[] = {
        {"", "no PTX"},
        {"\177ELF", "no PTX"},
        {".target sm_80, x\n\t//@sm_90a wgmma.fence.sync.aligned;\n", "no PTX that sm_90a extends"},
        {".target sm_90, x\n\tret;\n", "lost the lines for sm_90a"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        text out = {0};
        tsr_error err = {0};

        assert_int_equal(retarget_ptx(cases[i].ptx, "sm_90a", &out, &err), TSR_EUNSUPPORTED);
        assert_non_null(strstr(err.message, cases[i].why));
        text_free(&out);
    }
}

static void test_which_sources_want_it(void **state)
{
    char target[RETARGET_NAME] = "";

    (void)state;
    assert_false(retarget_wanted("__kernel void f() { asm(\"// @sm_90a\"); }", target));
    assert_true(retarget_wanted("asm(\"//@sm_90a wgmma\");", target));
    assert_string_equal(target, "sm_90a");
    /* Not overlooked: the lines would stay comments, and the kernel compute without them. */
    assert_true(retarget_wanted("asm(\"//@sm_90aaaaaaaaaaaaaaaaaaaa wgmma\");", target));
    assert_int_equal(strlen(target), RETARGET_NAME - 1);
    assert_true(retarget_wanted("#define WGMMA \"//@sm_100a\"", target));
    assert_string_equal(target, "sm_100a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_mark_goes),
        cmocka_unit_test(test_groups_of_a_unit),
        cmocka_unit_test(test_what_cannot_be_retargeted),
        cmocka_unit_test(test_which_sources_want_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
