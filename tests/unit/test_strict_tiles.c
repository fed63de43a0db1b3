/* The count of strict tiles, on a made-up operation: who gets it, and that nobody else pays for it.
 * Needs an OpenCL device of the type CPU, such as PoCL's. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/strict_tiles.h"
#include "device/device.h"
#include "measure/verify.h"
#include "session/program.h"
#include "session/state.h"
#include "stream/host_memory.h"

#include "made_up_operation.h"

/* Tiles of four numbers are negated; those that hold a number over 100 are counted. */
static const char source[] =
    "__kernel void negate(__global float *x, uint n, uint step, __global uint *strict_tiles)\n"
    "{\n"
    "    const uint first = get_group_id(0) * 4;\n"
    "    bool beyond = false;\n"
    "    for (uint i = first; i < first + 4 && i < n; i++) {\n"
    "        beyond = beyond || x[i] > 100;\n"
    "        x[i] = -x[i];\n"
    "    }\n"
    "    if (beyond && strict_tiles)\n"
    "        atomic_add(strict_tiles, step);\n"
    "}\n"
    "__kernel void report_null(__global float *x, uint n, uint step, __global uint *strict_tiles)\n"
    "{\n"
    "    if (get_group_id(0) == 0)\n"
    "        x[0] = strict_tiles ? 1 : 2;\n"
    "}\n";

enum { TILE = 4 };

/* Special ones: every number of the first tile, and one of the last. */
static void fill(const problem *p, uint64_t seed, distribution f, void *const arrays[])
{
    (void)seed;
    for (size_t i = 0; i < made_up_of(p)->n; i++)
        ((float *)arrays[0])[i] =
            f == DISTRIBUTION_SPECIAL && (i < TILE || i + 1 == made_up_of(p)->n) ? 1e30f : 1;
}

static const operation negation;

static problem numbers(made_up p)
{
    return problem_from(&negation, &p, sizeof(p));
}

/* So many that sweeps draw each distribution, and that special ones are sure to be found. */
static bool sweep(size_t i, bool tiny, problem *out)
{
    (void)tiny;
    *out = numbers((made_up){.n = 5000 + i, .type = TSR_F32});
    return i < 16;
}

static tsr_status judge(const problem *p, const device_facts *d, const void *const before[],
                        const void *const after[], const void *expected, verdict *out,
                        tsr_error *err)
{
    (void)d;
    (void)expected;
    (void)err;
    *out = (verdict){.ok = true};
    for (size_t i = 0; i < made_up_of(p)->n; i++)
        out->ok = out->ok && ((const float *)after[0])[i] == -((const float *)before[0])[i];
    return TSR_OK;
}

static size_t plans_made;

/* Tiles are counted by so many at a time where the variant says how many there are. */
static const char *plan_tiles(const job *j, uint32_t count_by, bool says, plan *out)
{
    const size_t tiles = (made_up_of(j->problem)->n + TILE - 1) / TILE;
    command *c = plan_launch_1d(out, 0, tiles, 1);

    plans_made++;
    command_operand(c, 0);
    command_u32(c, (uint32_t)made_up_of(j->problem)->n);
    command_u32(c, count_by);
    command_strict_counter(c);
    out->tiles = says ? tiles : 0;
    return NULL;
}

static const char *plan_right(const job *j, plan *out)
{
    return plan_tiles(j, 1, true, out);
}

static const char *plan_none(const job *j, plan *out)
{
    return plan_tiles(j, 0, true, out);
}

static const char *plan_many(const job *j, plan *out)
{
    return plan_tiles(j, 1000000, true, out);
}

static const char *plan_untold(const job *j, plan *out)
{
    return plan_tiles(j, 1, false, out);
}

#define NEGATE(name_, entry, plan_)                                                                \
    &(const variant)                                                                               \
    {                                                                                              \
        .name = (name_), .idea = "", .source = "negate.cl", .entries = {entry}, .plan = (plan_)    \
    }

static const variant *const variants[] = {
    NEGATE("right", "negate", plan_right),
    NEGATE("counts-none", "negate", plan_none),
    NEGATE("counts-many", "negate", plan_many),
    NEGATE("untold", "negate", plan_untold),
    NEGATE("reports-null", "report_null", plan_right),
};

static const operation negation = {.name = "negation",
                                   .variants = variants,
                                   .variant_count = 5,
                                   .check = made_up_check,
                                   .operands = made_up_operands,
                                   .work = made_up_work,
                                   .describe = made_up_describe,
                                   .fill = fill,
                                   .sweep = sweep,
                                   .verify = judge};

/* ---- a session with the kernel's folder ---------------------------------------------------- */

typedef struct fixture {
    char folder[64], file[80];
    tsr_devices *list;
    cl_context context;
    tsr_session *in_order, *out_of_order;
} fixture;

static tsr_session *open_session(const fixture *f, cl_device_id device,
                                 cl_command_queue_properties properties)
{
    const tsr_session_options options = {.kernel_dir = f->folder, .no_cache = 1};
    cl_command_queue queue = clCreateCommandQueue(f->context, device, properties, NULL);
    tsr_session *s = NULL;
    tsr_error err = {0};

    assert_non_null(queue);
    if (tsr_session_adopt(queue, &options, &s, &err))
        fail_msg("%s", err.message);
    clReleaseCommandQueue(queue); /* the session holds it */
    return s;
}

static int make_fixture(void **state)
{
    fixture *f = calloc(1, sizeof(*f));
    const tsr_device *device = NULL;
    tsr_error err = {0};
    size_t n = 0;
    FILE *file;

    assert_non_null(f);
    *state = f;
    strcpy(f->folder, "/tmp/tessera-test-tiles-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->file, sizeof(f->file), "%s/negate.cl", f->folder);
    file = fopen(f->file, "w");
    assert_non_null(file);
    fputs(source, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(tsr_devices_find(&f->list, &err), TSR_OK);
    if (tsr_devices_select(f->list, "cpu", &device, 1, &n, &err))
        fail_msg("%s", err.message);
    f->context = clCreateContext(NULL, 1, &device->id, NULL, NULL, NULL);
    assert_non_null(f->context);
    f->in_order = open_session(f, device->id, 0);
    f->out_of_order = open_session(f, device->id, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    return 0;
}

static int drop_fixture(void **state)
{
    fixture *f = *state;

    tsr_session_close(f->in_order);
    tsr_session_close(f->out_of_order);
    clReleaseContext(f->context);
    tsr_devices_close(f->list);
    unlink(f->file);
    rmdir(f->folder);
    free(f);
    return 0;
}

/* ---- host memory ----------------------------------------------------------------------------- */

/* Run 10 numbers, in three tiles, of which the one before last and the last are beyond. */
static tsr_report report_of(tsr_session *s, const char *name)
{
    const problem p = numbers((made_up){.n = 10, .type = TSR_F32});
    float x[10] = {1, 1, 1, 1, 1, 1, 200, 300, 1, 101};
    void *const arrays[] = {x};
    const tsr_run run = {.variant = name};
    tsr_report report = {.strict_tiles = 77};
    tsr_error err = {0};

    if (host_memory_run(s, &p, arrays, &run, &report, &err))
        fail_msg("%s", err.message);
    assert_true(x[0] == -1 && x[9] == -101);
    return report;
}

static void test_a_report_has_the_count(void **state)
{
    const fixture *f = *state;
    tsr_session *const sessions[] = {f->in_order, f->out_of_order};

    for (size_t i = 0; i < 2; i++) {
        tsr_report r = report_of(sessions[i], "right");

        assert_int_equal(r.tiles, 3);
        assert_int_equal(r.strict_tiles, 2);
        /* Counting adds no command and no workspace. */
        assert_int_equal(r.commands, 1);
        assert_int_equal(r.workspace_bytes, 0);
        /* Each call starts anew. */
        r = report_of(sessions[i], "right");
        assert_int_equal(r.strict_tiles, 2);
        r = report_of(sessions[i], "untold");
        assert_int_equal(r.tiles, 0);
        assert_int_equal(r.strict_tiles, 0);
    }
}

/* Whether anybody asks or not. */
static void test_a_call_is_planned_once(void **state)
{
    const fixture *f = *state;
    tsr_session *const sessions[] = {f->in_order, f->out_of_order};

    for (size_t i = 0; i < 2; i++) {
        programs_release(sessions[i]);
        plans_made = 0;
        for (size_t call = 0; call < 3; call++) {
            report_of(sessions[i], "right");
            assert_int_equal(plans_made, 1);
        }
        report_of(sessions[i], "counts-none");
        assert_int_equal(plans_made, 2);
    }
}

/* Then the kernel's counter is NULL. */
static void test_nobody_asks(void **state)
{
    const fixture *f = *state;
    const problem p = numbers((made_up){.n = 2, .type = TSR_F32});
    const tsr_run run = {.variant = "reports-null"};
    float x[2] = {0};
    void *const arrays[] = {x};
    tsr_report report;
    tsr_error err = {0};

    if (host_memory_run(f->in_order, &p, arrays, &run, NULL, &err))
        fail_msg("%s", err.message);
    assert_true(x[0] == 2);
    if (host_memory_run(f->in_order, &p, arrays, &run, &report, &err))
        fail_msg("%s", err.message);
    assert_true(x[0] == 1);
}

/* ---- buffers --------------------------------------------------------------------------------- */

/* Calls count into the caller's buffer, one on top of the other; the next one of nobody's does
 * not. */
static void test_calls_add_up(void **state)
{
    const fixture *f = *state;
    const problem p = numbers((made_up){.n = 9, .type = TSR_F32});
    float x[9] = {0, 0, 0, 0, 0, 0, 0, 0, 500};
    uint32_t count = 40;
    cl_mem buffer =
        clCreateBuffer(f->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(x), x, NULL);
    const tsr_run counting = {
        .variant = "right",
        .strict_tiles = clCreateBuffer(f->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                       sizeof(count), &count, NULL)};
    const tsr_run silent = {.variant = "right"};
    const tsr_run *const runs[] = {&counting, &silent, &counting, &silent, &counting};
    tsr_error err = {0};

    /* +500, -500, +500, -500, +500: the calls that count see it three times. */
    for (size_t i = 0; i < 5; i++) {
        tsr_report report = {0};
        selection sel;

        assert_int_equal(dispatch_select(f->in_order, &p, runs[i], IN_BUFFERS, &sel, &err), TSR_OK);
        if (dispatch_enqueue(f->in_order, &p, &sel, &buffer,
                             &(call_ends){.strict_tiles = runs[i]->strict_tiles, .report = &report},
                             &err))
            fail_msg("%s", err.message);
        assert_int_equal(report.tiles, 3);
        assert_int_equal(report.strict_tiles, 0);
    }
    assert_int_equal(clEnqueueReadBuffer(tsr_session_queue(f->in_order), counting.strict_tiles,
                                         CL_TRUE, 0, sizeof(count), &count, 0, NULL, NULL),
                     CL_SUCCESS);
    assert_int_equal(count, 43);
    clReleaseMemObject(counting.strict_tiles);
    clReleaseMemObject(buffer);
}

/* ---- the sweep ------------------------------------------------------------------------------- */

typedef struct found {
    size_t failed, tiles, strict_tiles;
    char detail[400];
} found;

static bool keep(const verify_row *row, void *context)
{
    found *f = context;

    f->failed = row->failed;
    f->tiles = row->tiles;
    f->strict_tiles = row->strict_tiles;
    strcpy(f->detail, row->detail);
    return true;
}

static found swept(const fixture *f, const char *name)
{
    const verify_options options = {.variant = name, .seed = 1};
    found out = {0};
    tsr_error err = {0};

    if (verify_operation(f->in_order, &negation, &options, keep, &out, &err))
        fail_msg("%s", err.message);
    return out;
}

static void test_a_sweep_judges_the_count(void **state)
{
    const fixture *f = *state;
    const found right = swept(f, "right"), none = swept(f, "counts-none"),
                many = swept(f, "counts-many");

    assert_int_equal(right.failed, 0);
    assert_true(right.strict_tiles >= 2 && right.strict_tiles < 16 * 2);
    assert_true(right.tiles > 16 * 5000 / TILE);
    assert_true(none.failed > 0);
    assert_int_equal(none.failed, many.failed); /* of the special distribution */
    assert_true(none.failed < 16);
    assert_int_equal(2 * none.failed, right.strict_tiles);
    assert_non_null(strstr(none.detail, "0 of 12"));
    assert_non_null(strstr(none.detail, "one or more of them do"));
    assert_non_null(strstr(many.detail, "2000000 of 12"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_report_has_the_count, make_fixture, drop_fixture),
        cmocka_unit_test_setup_teardown(test_a_call_is_planned_once, make_fixture, drop_fixture),
        cmocka_unit_test_setup_teardown(test_nobody_asks, make_fixture, drop_fixture),
        cmocka_unit_test_setup_teardown(test_calls_add_up, make_fixture, drop_fixture),
        cmocka_unit_test_setup_teardown(test_a_sweep_judges_the_count, make_fixture, drop_fixture),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
