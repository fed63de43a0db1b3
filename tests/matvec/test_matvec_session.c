/* Public calls of matvec on a device: the caller's queues and events, host memory, and failures
 * that leave things as they were.  Needs an OpenCL device of the type CPU, such as PoCL's. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/real.h"
#include "session/state.h"
#include "session_fixture.h"

static void matvec_waits_and_tells(void **state)
{
    fixture *f = *state;
    tsr_session *s = adopt(f, 0);
    const tsr_matvec_problem p = {.rows = SIDE, .columns = SIDE, .alpha = 2, .beta = 1};
    float a[ELEMENTS], x[SIDE], y[SIDE], got[SIDE];
    cl_event done = NULL;
    tsr_error err = {0};
    cl_mem ma, mx, my;

    fill(a, 3);
    for (size_t i = 0; i < SIDE; i++) {
        x[i] = (float)i;
        y[i] = 100;
    }
    ma = buffer_of(f, a, BYTES);
    mx = buffer_of(f, x, sizeof(x));
    my = buffer_of(f, y, sizeof(y));
    if (tsr_matvec_enqueue(s, &p, ma, mx, my, &(tsr_run){.done = &done}, NULL, &err))
        fail_msg("%s", err.message);
    assert_int_equal(
        clEnqueueReadBuffer(f->queue, my, CL_TRUE, 0, sizeof(got), got, 1, &done, NULL),
        CL_SUCCESS);
    for (size_t i = 0; i < SIDE; i++) {
        float sum = 0;

        for (size_t k = 0; k < SIDE; k++)
            sum += a[i * SIDE + k] * x[k];
        assert_true(got[i] == 2 * sum + 100);
    }
    clReleaseEvent(done);
    clReleaseMemObject(ma);
    clReleaseMemObject(mx);
    clReleaseMemObject(my);
    tsr_session_close(s);
}

/* A matrix of 100 x 30 in rows of 33, through 5 rows at a time, both ways: y is what it is at once.
 */
static void a_matrix_is_streamed_in_panels(void **state)
{
    enum { ROWS = 100, COLUMNS = 30, LDA = 33, OFFSET = 2, SLOTS = 3, PANEL = 5 };
    const fixture *f = *state;
    const size_t vectors = (ROWS + COLUMNS) * sizeof(float);
    tsr_matvec_problem p = {.rows = ROWS,
                            .columns = COLUMNS,
                            .lda = LDA,
                            .alpha = 2,
                            .beta = -1,
                            .offset_a = OFFSET,
                            .offset_x = 1,
                            .offset_y = 3};
    tsr_session_options options = {.copies = 1};
    float a[ELEMENTS * 3], x[ELEMENTS], y[ELEMENTS], expected[ELEMENTS];

    for (size_t i = 0; i < 3; i++)
        fill(a + i * ELEMENTS, 4 + (unsigned)i);
    fill(x, 7);
    for (int trans = 0; trans < 2; trans++) {
        tsr_session *s = NULL;
        tsr_report whole = {0}, streamed = {0}, refused = {0};
        tsr_error err = {0};

        p.trans = trans;
        options.device_memory = 0;
        fill(expected, 9);
        assert_int_equal(tsr_session_open(f->device, &options, &s, &err), TSR_OK);
        assert_int_equal(tsr_matvec(s, &p, a, x, expected, NULL, &whole, &err), TSR_OK);
        assert_int_equal(whole.chunks, 0);
        tsr_session_close(s);

        options.device_memory = vectors + (size_t)SLOTS * PANEL * COLUMNS * sizeof(float);
        fill(y, 9);
        assert_int_equal(tsr_session_open(f->device, &options, &s, &err), TSR_OK);
        if (tsr_matvec(s, &p, a, x, y, NULL, &streamed, &err))
            fail_msg("%s", err.message);
        assert_memory_equal(y, expected, sizeof(y));
        assert_int_equal(streamed.chunks, ROWS / PANEL);
        assert_true(streamed.commands >= streamed.chunks);
        tsr_session_close(s);

        options.device_memory = vectors + (size_t)SLOTS * COLUMNS * sizeof(float) - 1;
        assert_int_equal(tsr_session_open(f->device, &options, &s, &err), TSR_OK);
        assert_int_equal(tsr_matvec(s, &p, a, x, y, NULL, &refused, &err), TSR_EOVERFLOW);
        assert_non_null(strstr(err.message, "x, y and 3 lines of A need 880 bytes at once"));
        assert_memory_equal(y, expected, sizeof(y));
        tsr_session_close(s);
    }
}

/* Panels of a matrix in some form give y as it is at once, gaps included: bit by bit, as whole
 * numbers have exact sums in any order, which float16 holds where they are rounded once.  They are
 * `least` or more. */
static void panels_give_the_same(const fixture *f, const tsr_matvec_problem *p, size_t memory,
                                 size_t least)
{
    enum { ARRAY = 4096 };
    const tsr_type type_y = p->y_f32 ? TSR_F32 : p->type;
    const tsr_run run = {.variant = "row-item"};
    tsr_session_options options = {.copies = 1};
    double a[ARRAY], x[ARRAY], y[ARRAY], expected[ARRAY]; /* 8 bytes hold any type */
    tsr_session *s = NULL;
    tsr_report whole = {0}, streamed = {0};
    tsr_error err = {0};

    for (size_t i = 0; i < ARRAY; i++) {
        real_set(p->type, a, i, (double)(i * 7919 % 201) - 60);
        real_set(p->type, x, i, (double)(i * 104729 % 9) - 3);
        real_set(type_y, y, i, p->beta == 0 && i % 2 ? NAN : (double)(i % 11));
    }
    memcpy(expected, y, sizeof(y));
    assert_int_equal(tsr_session_open(f->device, &options, &s, &err), TSR_OK);
    assert_int_equal(tsr_matvec(s, p, a, x, expected, &run, &whole, &err), TSR_OK);
    assert_int_equal(whole.chunks, 0);
    tsr_session_close(s);
    options.device_memory = memory;
    assert_int_equal(tsr_session_open(f->device, &options, &s, &err), TSR_OK);
    if (tsr_matvec(s, p, a, x, y, &run, &streamed, &err))
        fail_msg("%s", err.message);
    assert_memory_equal(y, expected, sizeof(y));
    assert_true(streamed.chunks >= least);
    tsr_session_close(s);
}

static void every_form_is_streamed(void **state)
{
    static const struct {
        tsr_type type;
        bool y_f32;
    } types[] = {{TSR_F32, false}, {TSR_F16, false}, {TSR_F16, true}};

    for (size_t i = 0; i < 8 * sizeof(types) / sizeof(types[0]); i++) {
        const bool columns = (i & 2) != 0, apart = (i & 4) != 0;
        const tsr_matvec_problem p = {.type = types[i / 8].type,
                                      .y_f32 = types[i / 8].y_f32,
                                      .rows = 71,
                                      .columns = 53,
                                      .trans = i & 1,
                                      .layout = columns ? TSR_COLUMN_MAJOR : TSR_ROW_MAJOR,
                                      .lda = columns ? 72 : 55,
                                      .incx = apart ? 3 : 1,
                                      .incy = apart ? 2 : 0,
                                      .alpha = 2,
                                      .beta = apart ? 0 : -1,
                                      .offset_a = 5,
                                      .offset_x = 1,
                                      .offset_y = 3};

        panels_give_the_same(*state, &p, 3000, 4);
    }
}

/* Panels take three quarters of the device's memory, and few long lines go at once where all of it
 * holds them: here of a device that seems to have so many bytes. */
static void panels_leave_room(void **state)
{
    enum { COLUMNS = 9, ROWS = 10, WHOLE = 4 * (ROWS * COLUMNS + COLUMNS + ROWS) };
    enum { FEW = 3, FEW_WHOLE = 4 * (FEW * COLUMNS + COLUMNS + FEW) };
    static const struct {
        size_t rows, memory;
        bool streams, refused;
    } cases[] = {{ROWS, WHOLE / 3 * 4 + 4, false, false},
                 {ROWS, WHOLE, true, false},
                 {FEW, FEW_WHOLE, false, false},
                 {FEW, FEW_WHOLE - 1, false, true}};
    const tsr_session_options options = {.copies = 1};
    const tsr_run run = {.variant = "row-item"};
    const fixture *f = *state;
    float a[ELEMENTS], y[ELEMENTS];

    fill(a, 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const tsr_matvec_problem p = {.rows = cases[i].rows, .columns = COLUMNS, .alpha = 1};
        tsr_session *s = NULL;
        tsr_report report = {0};
        tsr_error err = {0};

        assert_int_equal(tsr_session_open(f->device, &options, &s, &err), TSR_OK);
        s->device.facts.global_memory = cases[i].memory;
        assert_int_equal(tsr_matvec(s, &p, a, a, y, &run, &report, &err),
                         cases[i].refused ? TSR_EOVERFLOW : TSR_OK);
        assert_int_equal(report.chunks > 0, cases[i].streams);
        if (cases[i].refused)
            assert_non_null(strstr(err.message, "matvec needs 156 bytes, and "));
        tsr_session_close(s);
    }
}

/* In each form, in whole products and in panels: side by side, or with one A or x for all. */
static void every_form_of_a_batch_is_streamed(void **state)
{
    enum { ROWS = 17, COLUMNS = 16, BATCH = 5, PANELS = 700, GROUPS = 4500, SHARED = 1600 };

    for (size_t i = 0; i < 64; i++) {
        const bool trans = i & 1, columns = (i & 2) != 0, apart = (i & 4) != 0;
        const size_t x = trans ? ROWS : COLUMNS, y = trans ? COLUMNS : ROWS;
        const bool beside = apart && (i & 16);
        const tsr_matvec_problem p = {.type = i & 8 ? TSR_F16 : TSR_F32,
                                      .rows = ROWS,
                                      .columns = COLUMNS,
                                      .trans = trans,
                                      .layout = columns ? TSR_COLUMN_MAJOR : TSR_ROW_MAJOR,
                                      .lda = 19,
                                      .incx = apart ? BATCH : 1,
                                      .incy = apart ? BATCH + 1 : 0,
                                      .alpha = 2,
                                      .beta = apart ? 0 : -1,
                                      .offset_a = 5,
                                      .offset_x = 1,
                                      .offset_y = 3,
                                      .batch = BATCH,
                                      .stride_a = i & 32 ? 0 : 19 * ROWS + 2,
                                      .stride_x = i & 16 ? beside : x * (apart ? BATCH : 1),
                                      .stride_y = beside ? 1 : y * (apart ? BATCH + 1 : 1) + 2};

        panels_give_the_same(*state, &p, PANELS, 2);
        panels_give_the_same(*state, &p,
                             (i & 32 ? SHARED : GROUPS) * tsr_type_size(p.type) / sizeof(float), 2);
    }
}

/* At once where that is allowed, else product by product. */
static void a_batch_is_streamed_where_it_must_be(void **state)
{
    enum { ROWS = 10, COLUMNS = 9, BATCH = 3 };
    const fixture *f = *state;
    const size_t bytes = (BATCH * ROWS * COLUMNS + COLUMNS + BATCH * ROWS) * sizeof(float);
    const tsr_matvec_problem p = {.rows = ROWS,
                                  .columns = COLUMNS,
                                  .alpha = 1,
                                  .batch = BATCH,
                                  .stride_a = (size_t)ROWS * COLUMNS,
                                  .stride_y = ROWS};
    const tsr_run run = {.variant = "row-item"};
    float a[ELEMENTS], y[2][ELEMENTS];

    fill(a, 1);
    for (int short_of = 0; short_of < 2; short_of++) {
        const tsr_session_options options = {.copies = 1, .device_memory = bytes - short_of};
        tsr_session *s = NULL;
        tsr_report report = {0};
        tsr_error err = {0};

        fill(y[short_of], 2);
        assert_int_equal(tsr_session_open(f->device, &options, &s, &err), TSR_OK);
        if (tsr_matvec(s, &p, a, a, y[short_of], &run, &report, &err))
            fail_msg("%s", err.message);
        assert_int_equal(report.chunks, short_of ? BATCH : 0);
        tsr_session_close(s);
    }
    assert_memory_equal(y[0], y[1], sizeof(y[0]));
}

/* More than the largest allocation: need and limit, in bytes, before any work. */
static void what_the_device_cannot_hold_is_refused(void **state)
{
    const fixture *f = *state;
    const size_t n = (size_t)(f->device->facts.max_allocation / sizeof(float)) + 1;
    const tsr_matvec_problem p = {.rows = 1, .columns = n, .alpha = 1};
    /* By a kernel: C code of a first call reads the host's memory, which holds it. */
    const tsr_session_options options = {.same_kernels = 1};
    tsr_session *s = NULL;
    tsr_error err = {0};
    /* Never touched: the size is refused first. */
    float *a = malloc(n * sizeof(float)), *x = malloc(n * sizeof(float)), y = 0;
    char need[32];

    assert_non_null(a);
    assert_non_null(x);
    assert_int_equal(tsr_session_open(f->device, &options, &s, &err), TSR_OK);
    snprintf(need, sizeof(need), "A needs %zu bytes", n * sizeof(float));
    assert_int_equal(tsr_matvec(s, &p, a, x, &y, NULL, NULL, &err), TSR_EOVERFLOW);
    assert_non_null(strstr(err.message, need));
    free(a);
    free(x);
    tsr_session_close(s);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_fixture, drop_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(matvec_waits_and_tells),
        TEST(a_matrix_is_streamed_in_panels),
        TEST(every_form_is_streamed),
        TEST(panels_leave_room),
        TEST(every_form_of_a_batch_is_streamed),
        TEST(a_batch_is_streamed_where_it_must_be),
        TEST(what_the_device_cannot_hold_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
