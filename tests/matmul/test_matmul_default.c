/* Calls that name no session: the process's default one.  Each test is a process of its own, for it
 * chooses its device at the first call.  Needs an OpenCL device of the type CPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tessera/tessera.h"

/* Under a sanitizer: PoCL's compiler gives threads another stack for signals, and a process that
 * ends beside a thread leaves what that has. */
#ifdef __clang__ /* what the sanitizer asks has a name that C reserves */
#pragma clang diagnostic ignored "-Wreserved-identifier"
#endif
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "use_sigaltstack=0:detect_leaks=0";
}

static int released; /* queues */
static atomic_int contexts;

/* In the place of the loader's: count, and pass on. */
CL_API_ENTRY cl_int CL_API_CALL clReleaseCommandQueue(cl_command_queue queue)
{
    cl_int (*next)(cl_command_queue) = NULL;

    *(void **)&next = dlsym(RTLD_NEXT, "clReleaseCommandQueue");
    released++;
    return next(queue);
}

CL_API_ENTRY cl_context CL_API_CALL clCreateContext(
    const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
    void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *with, cl_int *rc)
{
    cl_context (*next)(const cl_context_properties *, cl_uint, const cl_device_id *,
                       void(CL_CALLBACK *)(const char *, const void *, size_t, void *), void *,
                       cl_int *) = NULL;

    *(void **)&next = dlsym(RTLD_NEXT, "clCreateContext");
    contexts++;
    return next(properties, count, devices, notify, with, rc);
}

/* Slowly, so that what does not wait for it is seen. */
CL_API_ENTRY cl_int CL_API_CALL clReleaseContext(cl_context context)
{
    cl_int (*next)(cl_context) = NULL;
    cl_int rc;

    *(void **)&next = dlsym(RTLD_NEXT, "clReleaseContext");
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    rc = next(context);
    contexts--;
    return rc;
}

enum { THREADS = 8, CALLS = 20, N = 48, LARGE = 600 };

/* C := A A with all of A x, of n rows and columns; false where a call fails or C is wrong. */
static bool multiply(size_t n, float x, const char *variant, tsr_report *report, tsr_error *err)
{
    tsr_matmul_problem p = TSR_MATMUL_PROBLEM_INIT;
    const tsr_run run = {.variant = variant};
    float *a = calloc(n * n, sizeof(*a)), *c = calloc(n * n, sizeof(*c));
    bool right = a && c;

    p.m = p.n = p.k = n;
    for (size_t i = 0; right && i < n * n; i++)
        a[i] = x;
    right = right && tsr_matmul(NULL, &p, a, a, c, &run, report, err) == TSR_OK;
    for (size_t i = 0; right && i < n * n; i++)
        right = c[i] == x * x * (float)n;
    free(a);
    free(c);
    return right;
}

static int without_a_device(void)
{
    tsr_report report;

    setenv("OCL_ICD_VENDORS", "/no/such/folder", 1);
    unsetenv("TESSERA_DEVICE");
    if (!multiply(N, 2, NULL, &report, NULL))
        return 1;
    return strstr(report.chosen, "; on host: no OpenCL device was found") ? 0 : 2;
}

/* What TESSERA_DEVICE asks for is not replaced, and a choice that fails is made again. */
static int on_a_device_that_is_not_there(void)
{
    tsr_report report;
    tsr_error err = {0};

    setenv("OCL_ICD_VENDORS", "/no/such/folder", 1);
    setenv("TESSERA_DEVICE", "gpu", 1);
    if (multiply(N, 2, NULL, NULL, &err) || err.status != TSR_ENODEVICE)
        return 1;
    setenv("TESSERA_DEVICE", "host", 1);
    if (!multiply(N, 2, NULL, &report, &err))
        return 2;
    return strstr(report.chosen, "on host") ? 3 : 0; /* it was named */
}

static int on_a_name_that_is_not_there(void)
{
    tsr_error err = {0};

    setenv("TESSERA_DEVICE", "no such device", 1);
    return !multiply(N, 2, NULL, NULL, &err) && err.status == TSR_ENAME ? 0 : 1;
}

/* The first calls of all threads come at once. */
static void *multiply_often(void *own)
{
    for (size_t i = 0; i < CALLS; i++)
        if (!multiply(N, *(float *)own, NULL, NULL, NULL))
            return own;
    return NULL;
}

static int of_many_threads(void)
{
    pthread_t thread[THREADS];
    float x[THREADS];
    void *failed;
    int wrong = 0;

    setenv("TESSERA_DEVICE", "cpu", 1);
    for (size_t t = 0; t < THREADS; t++) {
        x[t] = (float)t + 1;
        if (pthread_create(&thread[t], NULL, multiply_often, &x[t]))
            return 100;
    }
    for (size_t t = 0; t < THREADS; t++) {
        pthread_join(thread[t], &failed);
        wrong += failed != NULL;
    }
    return wrong;
}

static void *multiply_for_ever(void *own)
{
    while (multiply(LARGE, 1, NULL, NULL, NULL))
        ;
    return own;
}

/* The status of a child of this process, -1 where a signal ended it. */
static int status_of(int (*work)(void))
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        alarm(60);
        _exit(work());
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : -1;
}

static int in_a_child(void)
{
    tsr_report report;

    if (!multiply(N, 3, NULL, &report, NULL))
        return 1;
    return strstr(report.chosen, "; on host: OpenCL was in use before this process was forked") ? 0
                                                                                                : 2;
}

/* Children of a process that uses a device, now and then while a thread of it is in a call. */
static int before_and_after_forks(void)
{
    pthread_t thread;

    unsetenv("TESSERA_DEVICE");
    if (!multiply(N, 2, NULL, NULL, NULL) || status_of(in_a_child))
        return 1;
    if (pthread_create(&thread, NULL, multiply_for_ever, NULL))
        return 2;
    for (int i = 0; i < 10; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        if (status_of(in_a_child))
            return 3;
    }
    return multiply(N, 2, NULL, NULL, NULL) ? 0 : 4;
}

/* Runs after what the library does at the end, for it is registered before. */
static void want_it_closed(void)
{
    if (!released)
        _exit(2);
}

/* exit() closes the session. */
static int until_the_end(void)
{
    atexit(want_it_closed);
    setenv("TESSERA_DEVICE", "cpu", 1);
    exit(multiply(N, 2, "tiled", NULL, NULL) ? 0 : 1);
}

static void want_no_context(void)
{
    if (contexts)
        _exit(2);
}

/* Contexts that are destroyed on threads are gone, though another one was destroyed before. */
static int until_contexts_are_destroyed(void)
{
    tsr_matmul_problem p = TSR_MATMUL_PROBLEM_INIT;
    const tsr_run run = {.variant = "tiled"};
    const float x = 2;
    float c = 0;
    tsr_session *other = NULL;

    atexit(want_no_context);
    setenv("TESSERA_DEVICE", "cpu", 1);
    p.m = p.n = p.k = 1;
    if (!multiply(N, 2, "tiled", NULL, NULL) || tsr_session_open(NULL, NULL, &other, NULL) ||
        tsr_matmul(other, &p, &x, &x, &c, &run, NULL, NULL))
        return 1;
    tsr_session_close(other);
    exit(c == 4 ? 0 : 3);
}

/* After the call of another thread; those that follow fail. */
static int until_the_end_of_a_call(void)
{
    pthread_t thread;

    setenv("TESSERA_DEVICE", "host", 1);
    if (!multiply(N, 2, NULL, NULL, NULL) || pthread_create(&thread, NULL, multiply_for_ever, NULL))
        return 1;
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    exit(0);
}

static int that_enqueue(void)
{
    tsr_matmul_problem p = TSR_MATMUL_PROBLEM_INIT;
    tsr_error err = {0};

    p.m = p.n = p.k = N;
    if (tsr_matmul_enqueue(NULL, &p, NULL, NULL, NULL, NULL, NULL, &err) != TSR_EINVAL)
        return 1;
    return strcmp(err.message,
                  "matmul: the session is NULL, and buffers belong to the context of one")
               ? 2
               : 0;
}

static void is_well(void **state)
{
    int (*const *work)(void) = *state;

    assert_int_equal(status_of(*work), 0);
}

int main(void)
{
#define OF_CALLS(what)                                                                             \
    {                                                                                              \
        .name = #what, .test_func = is_well, .initial_state = (int (*[])(void))                    \
        {                                                                                          \
            what                                                                                   \
        }                                                                                          \
    }
    const struct CMUnitTest tests[] = {
        OF_CALLS(without_a_device),
        OF_CALLS(on_a_device_that_is_not_there),
        OF_CALLS(on_a_name_that_is_not_there),
        OF_CALLS(of_many_threads),
        OF_CALLS(before_and_after_forks),
        OF_CALLS(until_the_end),
        OF_CALLS(until_contexts_are_destroyed),
        OF_CALLS(until_the_end_of_a_call),
        OF_CALLS(that_enqueue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
