/* A limit that is measured again.  Needs an OpenCL device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/roofline.h"

#include "cpu_session.h"

/* A limit of a busy machine is measured again, and kept where it is better; never where worse.
 * What cannot be measured, as CPUs have no matrix instructions, stays, and says why. */
static void a_low_limit_is_measured_again(void **state)
{
    limits l = {0}, kept = {0};
    tsr_error err = {0};
    char folder[] = "/tmp/tessera-test-again-XXXXXX";
    cpu_session c = {0};
    char shell[64];

    (void)state;
    assert_non_null(mkdtemp(folder));
    setenv("TESSERA_CACHE_DIR", folder, 1);
    cpu_session_open(&c, NULL);
    l.of[LIMIT_LAUNCH_WAITED] = (limit_result){.value = 1e9};
    assert_int_equal(roofline_again(c.session, LIMIT_LAUNCH_WAITED, &l, &err), TSR_OK);
    assert_true(l.of[LIMIT_LAUNCH_WAITED].value > 0 && l.of[LIMIT_LAUNCH_WAITED].value < 1e9);
    assert_true(roofline_recall(c.session, &kept));
    assert_true(kept.of[LIMIT_LAUNCH_WAITED].value == l.of[LIMIT_LAUNCH_WAITED].value);
    l.of[LIMIT_LAUNCH_WAITED] = (limit_result){.value = 1e-9};
    assert_int_equal(roofline_again(c.session, LIMIT_LAUNCH_WAITED, &l, &err), TSR_OK);
    assert_true(l.of[LIMIT_LAUNCH_WAITED].value == 1e-9);
    assert_true(roofline_recall(c.session, &kept));
    assert_true(kept.of[LIMIT_LAUNCH_WAITED].value > 1e-9);
    assert_string_equal(l.of[LIMIT_LAUNCH_WAITED].why_now, "");
    l.of[LIMIT_TENSOR_TF32] = (limit_result){.value = 5};
    assert_int_equal(roofline_again(c.session, LIMIT_TENSOR_TF32, &l, &err), TSR_OK);
    assert_true(l.of[LIMIT_TENSOR_TF32].value == 5);
    assert_non_null(strstr(l.of[LIMIT_TENSOR_TF32].why_now, "the vendor is not NVIDIA"));
    cpu_session_close(&c);
    snprintf(shell, sizeof(shell), "rm -r %s", folder);
    assert_int_equal(system(shell), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_low_limit_is_measured_again)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
