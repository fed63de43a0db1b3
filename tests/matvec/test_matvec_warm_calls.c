/* Calls that a session has seen before, on a device: kernels that several calls share run with the
 * values and buffers of each, and what a call must refuse is refused then as well.
 * Needs an OpenCL device of the type CPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shared_cpu.h"

enum { FLOATS = 8192, ROUNDS = 3, SETS = 2 };

/* A, x and y, in host memory and on the device. */
typedef struct operands {
    float memory[3][FLOATS];
    cl_mem buffer[3];
} operands;

/* Small integers: every sum is exact. */
static void make_operands(operands *o, unsigned seed)
{
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < FLOATS; k++)
            o->memory[i][k] = (float)((k * 7 + i * 3 + seed * 5 + k / 16) % 9) - 4;
        o->buffer[i] = clCreateBuffer(tsr_session_context(cpu.session),
                                      CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                      sizeof(o->memory[i]), o->memory[i], NULL);
        assert_non_null(o->buffer[i]);
    }
}

static void drop_operands(operands *o)
{
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(clReleaseMemObject(o->buffer[i]), CL_SUCCESS);
}

/* y in host memory, by the definition. */
static void multiply(const tsr_matvec_problem *p, operands *o)
{
    const size_t lda = p->lda ? p->lda : p->columns;

    for (size_t i = 0; i < p->rows; i++) {
        float *y = &o->memory[2][p->offset_y + i];
        double sum = 0;

        for (size_t j = 0; j < p->columns; j++)
            sum += (double)o->memory[0][p->offset_a + i * lda + j] *
                   (double)o->memory[1][p->offset_x + j];
        *y = (float)(p->alpha * sum + p->beta * (double)*y);
    }
}

/* Once on the device and once by the definition: all of y is the same then.  Returns the bytes of
 * workspace. */
static size_t call(const tsr_matvec_problem *p, const char *variant, operands *o)
{
    const tsr_run run = {.variant = variant};
    float got[FLOATS];
    tsr_report report;
    tsr_error err = {0};

    if (tsr_matvec_enqueue(cpu.session, p, o->buffer[0], o->buffer[1], o->buffer[2], &run, &report,
                           &err))
        fail_msg("%s", err.message);
    assert_int_equal(clEnqueueReadBuffer(tsr_session_queue(cpu.session), o->buffer[2], CL_TRUE, 0,
                                         sizeof(got), got, 0, NULL, NULL),
                     CL_SUCCESS);
    multiply(p, o);
    assert_memory_equal(got, o->memory[2], sizeof(got));
    return report.workspace_bytes;
}

static const char *const variants[] = {NULL, "row-item", "tree-vector", "split-row", "rows-vector"};

enum { VARIANTS = sizeof(variants) / sizeof(*variants) };

/* Problems that share a kernel, in turn: each differs from the one before in something that the
 * kernel gets. */
static void problems_in_turn_keep_their_values(void **state)
{
    static const tsr_matvec_problem problems[] = {
        {.rows = 6, .columns = 5, .alpha = 1},
        {.rows = 6, .columns = 5, .alpha = 2},
        {.rows = 6, .columns = 5, .alpha = 2, .beta = -1},
        {.rows = 6, .columns = 5, .alpha = 1, .offset_a = 3},
        {.rows = 6, .columns = 5, .alpha = 1, .offset_x = 2},
        {.rows = 6, .columns = 5, .alpha = 1, .offset_y = 1},
        {.rows = 6, .columns = 5, .alpha = 1, .lda = 7},
        {.rows = 9, .columns = 5, .alpha = 1},
        {.rows = 6, .columns = 11, .alpha = 1},
    };
    operands o;

    (void)state;
    for (size_t v = 0; v < VARIANTS; v++) {
        make_operands(&o, (unsigned)v);
        for (size_t r = 0; r < ROUNDS; r++)
            for (size_t i = 0; i < sizeof(problems) / sizeof(*problems); i++)
                call(&problems[i], variants[v], &o);
        drop_operands(&o);
    }
}

/* One problem on two sets of buffers in turn, each made anew in every round: handles change, and
 * come back as those of other buffers. */
static void buffers_come_and_go(void **state)
{
    const tsr_matvec_problem p = {.rows = 12, .columns = 14, .alpha = 1, .beta = 1};

    (void)state;
    for (size_t v = 0; v < VARIANTS; v++)
        for (size_t r = 0; r < ROUNDS; r++) {
            operands o[SETS];

            for (size_t i = 0; i < SETS; i++)
                make_operands(&o[i], (unsigned)(r * SETS + i));
            for (size_t i = 0; i < 2 * SETS; i++)
                call(&p, variants[v], &o[i % SETS]);
            for (size_t i = 0; i < SETS; i++)
                drop_operands(&o[i]);
        }
}

/* The session's workspace is made anew where a call needs more; who had the smaller one gets that.
 */
static void a_workspace_grows(void **state)
{
    static const tsr_matvec_problem problems[] = {{.rows = 1, .columns = 1000, .alpha = 1},
                                                  {.rows = 3, .columns = 1000, .alpha = 1},
                                                  {.rows = 7, .columns = 1000, .alpha = 1}};
    operands o;
    size_t before = 0;

    (void)state;
    make_operands(&o, 3);
    for (size_t i = 0; i < 3; i++) {
        const size_t bytes = call(&problems[i], "split-row", &o);

        assert_true(bytes > before);
        before = bytes;
        for (size_t k = 0; k <= i; k++)
            call(&problems[k], "split-row", &o);
    }
    drop_operands(&o);
}

static void refused(const tsr_matvec_problem *p, const cl_mem m[3], const tsr_run *run,
                    tsr_status status, const char *words)
{
    tsr_error err = {0};

    assert_int_equal(tsr_matvec_enqueue(cpu.session, p, m[0], m[1], m[2], run, NULL, &err), status);
    if (!strstr(err.message, words))
        fail_msg("'%s' has no '%s'", err.message, words);
}

static void what_is_wrong_is_refused_later_too(void **state)
{
    const tsr_matvec_problem p = {.rows = 6, .columns = 6, .alpha = 1};
    const char *const bad[] = {"TEAM=31"};
    cl_mem tiny =
        clCreateBuffer(tsr_session_context(cpu.session), CL_MEM_READ_WRITE, 8, NULL, NULL);
    operands o;

    (void)state;
    make_operands(&o, 1);
    for (size_t r = 0; r < ROUNDS; r++) {
        call(&p, "tree-vector", &o);
        refused(&p, (cl_mem[]){o.buffer[0], o.buffer[1], tiny}, NULL, TSR_EINVAL, "8 bytes");
        refused(&p, (cl_mem[]){o.buffer[0], o.buffer[1], NULL}, NULL, TSR_EINVAL, "NULL");
        refused(&p, (cl_mem[]){o.buffer[0], o.buffer[1], o.buffer[1]}, NULL, TSR_EINVAL, "overlap");
        refused(&p, o.buffer, &(tsr_run){.variant = "tree-vector", .set = bad, .set_count = 1},
                TSR_ENAME, "TEAM");
    }
    clReleaseMemObject(tiny);
    drop_operands(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(problems_in_turn_keep_their_values),
        cmocka_unit_test(buffers_come_and_go),
        cmocka_unit_test(a_workspace_grows),
        cmocka_unit_test(what_is_wrong_is_refused_later_too),
    };

    return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
