/* Arguments of a kernel: values that change, and each buffer once a call.  Needs an OpenCL device
 * of the type CPU, such as PoCL's. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/program.h"

static unsigned set; /* times that the driver was asked to set an argument */
static cl_int refusal;

/* In the place of the loader's. */
CL_API_ENTRY cl_int CL_API_CALL clSetKernelArg(cl_kernel kernel, cl_uint i, size_t bytes,
                                               const void *value)
{
    cl_int (*next)(cl_kernel, cl_uint, size_t, const void *);
    void *found = dlsym(RTLD_NEXT, "clSetKernelArg");

    memcpy(&next, &found, sizeof(next));
    set++;
    return refusal ? refusal : next(kernel, i, bytes, value);
}

static const char source[] = "kernel void probe(global uint *a, ulong n, uint m, local uint *t)\n"
                             "{\n    t[0] = m;\n    if (a)\n        a[0] = (uint)n + t[0];\n}\n";

enum { BUFFER, LONG, INT, LOCAL };

typedef struct fixture {
    char folder[32], path[64];
    tsr_devices *list;
    tsr_session *session;
    const program_entry *entry;
    cl_mem buffer[2];
} fixture;

static int make_fixture(void **state)
{
    fixture *f = calloc(1, sizeof(*f));
    const tsr_device *device = NULL;
    program *built = NULL;
    tsr_error err = {0};
    FILE *file;
    size_t n = 0;

    assert_non_null(f);
    *state = f;
    strcpy(f->folder, "/tmp/tessera-arguments-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof(f->path), "%s/probe.cl", f->folder);
    file = fopen(f->path, "w");
    assert_non_null(file);
    fputs(source, file);
    fclose(file);
    if (tsr_devices_find(&f->list, &err) ||
        tsr_devices_select(f->list, "cpu", &device, 1, &n, &err) ||
        tsr_session_open(device, &(tsr_session_options){.kernel_dir = f->folder}, &f->session,
                         &err) ||
        program_get(f->session, "probe.cl", "", " probe", &built, &err) ||
        program_kernel(built, "probe", &f->entry, &err))
        fail_msg("%s", err.message);
    for (size_t i = 0; i < 2; i++) {
        f->buffer[i] = clCreateBuffer(f->session->context, CL_MEM_READ_WRITE, 64, NULL, NULL);
        assert_non_null(f->buffer[i]);
    }
    set = 0;
    refusal = CL_SUCCESS;
    return 0;
}

static int drop_fixture(void **state)
{
    fixture *f = *state;

    for (size_t i = 0; i < 2; i++)
        clReleaseMemObject(f->buffer[i]);
    tsr_session_close(f->session);
    tsr_devices_close(f->list);
    remove(f->path);
    rmdir(f->folder);
    free(f);
    return 0;
}

static void set_long(const fixture *f, uint64_t value, unsigned wanted)
{
    assert_int_equal(program_set_value(f->entry, LONG, sizeof(value), &value), CL_SUCCESS);
    assert_int_equal(set, wanted);
}

static void set_buffer(const fixture *f, cl_mem buffer, uint64_t call, unsigned wanted)
{
    assert_int_equal(program_set_buffer(f->entry, BUFFER, buffer, call), CL_SUCCESS);
    assert_int_equal(set, wanted);
}

static void values_are_told_once(void **state)
{
    const fixture *f = *state;
    const uint32_t zero = 0;

    set_long(f, 0, 1);
    set_long(f, 0, 1);
    set_long(f, (uint64_t)1 << 63, 2);
    set_long(f, 0, 3);
    assert_int_equal(program_set_value(f->entry, INT, sizeof(zero), &zero), CL_SUCCESS);
    assert_int_equal(set, 4);
    set_long(f, 0, 4);
    assert_int_equal(program_set_value(f->entry, LOCAL, 64, NULL), CL_SUCCESS);
    assert_int_equal(program_set_value(f->entry, LOCAL, 64, NULL), CL_SUCCESS);
    assert_int_equal(set, 5);
    assert_int_equal(program_set_value(f->entry, LOCAL, 128, NULL), CL_SUCCESS);
    assert_int_equal(set, 6);
}

/* The same handle in the next call may be another buffer. */
static void buffers_are_told_each_call(void **state)
{
    const fixture *f = *state;

    set_buffer(f, f->buffer[0], 1, 1);
    set_buffer(f, f->buffer[0], 1, 1);
    set_buffer(f, f->buffer[1], 1, 2);
    set_buffer(f, f->buffer[0], 1, 3);
    set_buffer(f, f->buffer[0], 2, 4);
    set_buffer(f, NULL, 3, 5);
    set_buffer(f, NULL, 4, 5);
    set_buffer(f, f->buffer[0], 4, 6);
}

/* What the driver refused is not what it has. */
static void what_failed_is_told_again(void **state)
{
    const fixture *f = *state;
    const uint64_t one = 1;

    set_long(f, 1, 1);
    refusal = CL_OUT_OF_RESOURCES;
    assert_int_equal(program_set_buffer(f->entry, BUFFER, f->buffer[0], 1), refusal);
    assert_int_equal(program_set_value(f->entry, LONG, sizeof(one), &(uint64_t){2}), refusal);
    refusal = CL_SUCCESS;
    set_long(f, 1, 4);
    set_buffer(f, f->buffer[0], 1, 5);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_fixture, drop_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(values_are_told_once),
        TEST(buffers_are_told_each_call),
        TEST(what_failed_is_told_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
