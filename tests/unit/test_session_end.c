/* What a session that is closed last leaves to the end of the process.
 * Needs an OpenCL device: a CPU stands in for NVIDIA's, whose contexts are slow to destroy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "device/device.h"
#include "session/state.h"
#include "shared_cpu.h"

/* Whether a session's context, that is retained meanwhile, is left when it is closed. */
static bool leaves_context(bool nvidia, bool ends_process)
{
    tsr_device device = *cpu.device;
    tsr_session *s = NULL;
    cl_context context;
    cl_uint users = 0;

    device.facts.nvidia = nvidia;
    device.facts.compiles_late = false;
    assert_int_equal(tsr_session_open(&device, NULL, &s, NULL), TSR_OK);
    context = s->context;
    assert_int_equal(clRetainContext(context), CL_SUCCESS);
    s->ends_process = ends_process;
    tsr_session_close(s);
    /* A thread of its own may destroy it: within 2 s, and sooner by far. */
    for (int i = 0; i < (nvidia && ends_process ? 20 : 200); i++) {
        assert_int_equal(
            clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof(users), &users, NULL),
            CL_SUCCESS);
        if (users == 1)
            break;
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    for (cl_uint i = 0; i < users; i++)
        clReleaseContext(context);
    return users > 1;
}

static void the_last_session_leaves_its_context(void **state)
{
    (void)state;
    assert_true(leaves_context(true, true));
}

static void others_destroy_it(void **state)
{
    (void)state;
    assert_false(leaves_context(true, false));
    assert_false(leaves_context(false, true));
    assert_false(leaves_context(false, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_session_leaves_its_context),
        cmocka_unit_test(others_destroy_it),
    };

    return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
