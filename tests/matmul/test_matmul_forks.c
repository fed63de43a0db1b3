/* A child of a process that used OpenCL: refused at once what would hang there, and given the host.
 * Needs an OpenCL device of the type CPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu_session.h"

enum { N = 256 };

static float a[N * N], c[N * N];

/* C := A A on a session.  Large enough for the host's threads. */
static tsr_status multiply(tsr_session *s, const char *variant, tsr_report *report, tsr_error *err)
{
    tsr_matmul_problem p = TSR_MATMUL_PROBLEM_INIT;
    const tsr_run run = {.variant = variant};

    p.m = p.n = p.k = N;
    return tsr_matmul(s, &p, a, a, c, &run, report, err);
}

static bool is_refused(tsr_status st, const tsr_error *err)
{
    return st == TSR_EUNSUPPORTED && strstr(err->message, "before this process was forked") != NULL;
}

/* What is wrong in the child; NULL: nothing. */
static const char *in_the_child(const cpu_session *cpu, tsr_session *host)
{
    const tsr_device *device = NULL;
    tsr_devices *list = NULL;
    tsr_session *s = NULL;
    tsr_error err = {0};
    tsr_report report = {0};
    void *pinned = NULL;
    size_t n = 0;

    if (!is_refused(multiply(cpu->session, NULL, NULL, &err), &err))
        return "a product by the session of before the fork is not refused";
    if (!is_refused(tsr_session_open(cpu->device, NULL, &s, &err), &err))
        return "a new session on a device is not refused";
    if (!is_refused(tsr_pinned_alloc(cpu->session, 100, &pinned, &err), &err))
        return "pinned memory is not refused";
    if (!is_refused(tsr_session_warm(cpu->session, NULL, NULL, NULL, &err), &err))
        return "to warm the session of before the fork is not refused";
    if (tsr_devices_find(&list, &err) || tsr_devices_count(list) != 1 ||
        !strstr(tsr_devices_failure(list, 0), "before this process was forked"))
        return "the list has more than the host, or does not say why";
    memset(c, 0, sizeof(c));
    if (multiply(host, "openmp", NULL, &err) || c[0] != N)
        return "the host's session of before the fork does not multiply";
    if (tsr_devices_select(list, "host", &device, 1, &n, &err) ||
        tsr_session_open(device, NULL, &s, &err) || multiply(s, NULL, NULL, &err))
        return "a new session on the host does not multiply";
    tsr_session_close(s);
    if (!is_refused(tsr_devices_select(list, "cpu", &device, 1, &n, &err), &err))
        return "a choice of the CPU does not say why it is not there";
    setenv("TESSERA_DEVICE", "cpu", 1);
    if (!is_refused(multiply(NULL, NULL, NULL, &err), &err) ||
        !is_refused(tsr_session_open(NULL, NULL, &s, &err), &err))
        return "a session on the device of the environment is not refused";
    unsetenv("TESSERA_DEVICE");
    if (multiply(NULL, NULL, &report, &err) || !strstr(report.chosen, "use device host"))
        return "the default session is not on the host, or its report lacks a part of the reason";
    tsr_session_close(cpu->session);
    tsr_devices_close(list);
    return NULL;
}

static void a_child_is_refused_opencl_and_has_the_host(void **state)
{
    const tsr_device *device = NULL;
    tsr_session *host = NULL;
    tsr_error err = {0};
    int status = 0;
    cpu_session cpu;
    pid_t child;
    size_t n = 0;

    (void)state;
    for (size_t i = 0; i < N * N; i++)
        a[i] = 1;
    cpu_session_open(&cpu, NULL);
    assert_int_equal(tsr_devices_select(cpu.list, "host", &device, 1, &n, &err), TSR_OK);
    assert_int_equal(tsr_session_open(device, NULL, &host, &err), TSR_OK);
    if (multiply(cpu.session, NULL, NULL, &err) || multiply(host, "openmp", NULL, &err))
        fail_msg("%s", err.message);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const char *wrong;

        alarm(30);
        wrong = in_the_child(&cpu, host);
        if (wrong)
            fprintf(stderr, "in the child %s\n", wrong);
        _exit(wrong != NULL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status)); /* and not by the alarm */
    assert_int_equal(WEXITSTATUS(status), 0);
    /* The parent goes on as before. */
    if (multiply(cpu.session, NULL, NULL, &err) || multiply(host, "openmp", NULL, &err))
        fail_msg("%s", err.message);
    tsr_session_close(host);
    cpu_session_close(&cpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_is_refused_opencl_and_has_the_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
