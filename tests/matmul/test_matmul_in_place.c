/* Matrices that lie between others: what is no element of C stays as whoever else writes it left
 * it, and blocks of one matrix are the operands of a product.  Needs an OpenCL device of the type
 * CPU, such as PoCL's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu_session.h"
#include "gap_writer.h"

enum { FLOATS = 1 << 16 };

/* Small integers: every sum is exact. */
static void fill(float *x, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)((i * 7 + seed * 5 + i / 16) % 9) - 4;
}

/* Index of C(i, j) of product e. */
static size_t at_c(const tsr_matmul_problem *p, size_t e, size_t i, size_t j)
{
    const bool turned = p->layout == TSR_COLUMN_MAJOR;
    const size_t ldc = p->ldc ? p->ldc : turned ? p->m : p->n;

    return p->offset_c + e * p->stride_c + (turned ? j * ldc + i : i * ldc + j);
}

/* C by the definition; A and B, which all products share, have no gaps. */
static void multiply(const tsr_matmul_problem *p, const float *a, const float *b, float *c)
{
    const bool turned = p->layout == TSR_COLUMN_MAJOR;

    for (size_t e = 0; e < (p->batch ? p->batch : 1); e++)
        for (size_t i = 0; i < p->m; i++)
            for (size_t j = 0; j < p->n; j++) {
                float *to = &c[at_c(p, e, i, j)];
                float sum = 0;

                for (size_t q = 0; q < p->k; q++)
                    sum += turned ? a[q * p->m + i] * b[j * p->k + q]
                                  : a[i * p->k + q] * b[q * p->n + j];
                *to = (float)p->alpha * sum + (p->beta == 0 ? 0 : (float)p->beta * *to);
            }
}

/* Multiply with a device that shares no memory, while somebody counts up all that is not C's. */
static void gaps_are_others(tsr_matmul_problem p, size_t device_memory, size_t chunks)
{
    static float a[FLOATS], b[FLOATS], c[FLOATS], expected[FLOATS];
    static bool element[FLOATS];
    const tsr_session_options options = {.copies = 1, .device_memory = device_memory};
    tsr_report report = {0};
    tsr_error err = {0};
    cpu_session cpu;

    for (int beta = 0; beta < 2; beta++) {
        p.alpha = 1;
        p.beta = beta;
        fill(a, FLOATS, 1);
        fill(b, FLOATS, 2);
        fill(c, FLOATS, 3);
        memcpy(expected, c, sizeof(c));
        multiply(&p, a, b, expected);
        memset(element, 0, sizeof(element));
        for (size_t e = 0; e < (p.batch ? p.batch : 1); e++)
            for (size_t i = 0; i < p.m; i++)
                for (size_t j = 0; j < p.n; j++)
                    element[at_c(&p, e, i, j)] = true;
        cpu_session_open(&cpu, &options);
        gap_writer = (struct gap_writer){c, FLOATS, element, 0};
        if (tsr_matmul(cpu.session, &p, a, b, c, NULL, &report, &err))
            fail_msg("%s", err.message);
        assert_true(report.chunks >= chunks);
        gap_writer_check(expected, beta);
        cpu_session_close(&cpu);
    }
}

static void blocks_of_columns(void **state)
{
    (void)state;
    gaps_are_others((tsr_matmul_problem){.m = 40, .n = 30, .k = 20, .ldc = 60}, 0, 0);
    gaps_are_others((tsr_matmul_problem){.m = 7, .n = 30, .k = 20, .ldc = 4096, .offset_c = 4090},
                    0, 0);
    gaps_are_others(
        (tsr_matmul_problem){
            .m = 40, .n = 30, .k = 20, .ldc = 47, .offset_c = 3, .layout = TSR_COLUMN_MAJOR},
        0, 0);
}

static void batches_with_gaps(void **state)
{
    const tsr_matmul_problem rows = {.m = 8, .n = 9, .k = 5, .ldc = 12, .batch = 5};
    tsr_matmul_problem p = rows;

    (void)state;
    p.stride_c = 8 * 12; /* from the last row of one to the first of the next as between rows */
    gaps_are_others(p, 0, 0);
    gaps_are_others(p, 1500, 2);
    p.stride_c = 8 * 12 + 7;
    gaps_are_others(p, 0, 0);
    gaps_are_others(p, 1500, 2);
    p.ldc = 9 * 5; /* side by side */
    p.stride_c = 9;
    gaps_are_others(p, 0, 0);
    gaps_are_others(p, 1500, 2);
}

static void streams_with_gaps(void **state)
{
    const tsr_matmul_problem p = {.m = 100, .n = 80, .k = 60, .ldc = 200, .offset_c = 5};

    (void)state;
    gaps_are_others(p, 4 * (100 * 60 + 60 * 80 + 100 * 200), 2); /* in slabs and strips */
    gaps_are_others(p, 30000, 2);                                /* in tiles */
}

/* A22 := A22 - A21 A12 in one matrix of SIDE x SIDE, from element FIRST on. */
enum { SIDE = 40, FIRST = 11, REST = SIDE - FIRST };

static void eliminate(float *m)
{
    for (size_t i = FIRST; i < SIDE; i++)
        for (size_t j = FIRST; j < SIDE; j++)
            for (size_t q = 0; q < FIRST; q++)
                m[i * SIDE + j] -= m[i * SIDE + q] * m[q * SIDE + j];
}

static const tsr_matmul_problem update = {.m = REST,
                                          .n = REST,
                                          .k = FIRST,
                                          .lda = SIDE,
                                          .ldb = SIDE,
                                          .ldc = SIDE,
                                          .alpha = -1,
                                          .beta = 1};

static void blocks_of_one_matrix(void **state)
{
    /* In C and by a kernel on the arrays, and by kernels on copies, of which the last are streamed.
     */
    static const struct {
        tsr_run run;
        tsr_session_options options;
    } ways[] = {{{.variant = "simd"}, {0}},
                {{.variant = "general"}, {0}},
                {{0}, {.copies = 1}},
                {{0}, {.copies = 1, .device_memory = 4000}}};
    const tsr_run enqueued = {.variant = "general"};
    float m[SIDE * SIDE], expected[SIDE * SIDE];
    tsr_matmul_problem moved = update;

    (void)state;
    fill(expected, SIDE * SIDE, 1);
    eliminate(expected);
    moved.offset_a = FIRST * SIDE;
    moved.offset_b = FIRST;
    moved.offset_c = FIRST * SIDE + FIRST;
    for (size_t i = 0; i < 4; i++) {
        tsr_report report = {0};
        tsr_error err = {0};
        cpu_session cpu;
        cl_mem buffer;

        cpu_session_open(&cpu, &ways[i].options);
        fill(m, SIDE * SIDE, 1);
        if (tsr_matmul(cpu.session, &update, m + FIRST * SIDE, m + FIRST, m + FIRST * SIDE + FIRST,
                       &ways[i].run, &report, &err))
            fail_msg("%s", err.message);
        assert_memory_equal(m, expected, sizeof(m));
        assert_int_equal(report.shared, i < 2);
        if (i < 2)
            assert_int_equal(report.to_device_bytes + report.from_device_bytes, 0);

        /* By offsets, and in one buffer. */
        fill(m, SIDE * SIDE, 1);
        if (tsr_matmul(cpu.session, &moved, m, m, m, &ways[i].run, &report, &err))
            fail_msg("%s", err.message);
        assert_memory_equal(m, expected, sizeof(m));
        fill(m, SIDE * SIDE, 1);
        buffer = clCreateBuffer(tsr_session_context(cpu.session),
                                CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(m), m, NULL);
        if (tsr_matmul_enqueue(cpu.session, &moved, buffer, buffer, buffer, &enqueued, NULL, &err))
            fail_msg("%s", err.message);
        assert_int_equal(clEnqueueReadBuffer(tsr_session_queue(cpu.session), buffer, CL_TRUE, 0,
                                             sizeof(m), m, 0, NULL, NULL),
                         CL_SUCCESS);
        assert_memory_equal(m, expected, sizeof(m));
        clReleaseMemObject(buffer);
        cpu_session_close(&cpu);
    }
}

/* One column more, and an element is of both. */
static void blocks_that_meet_are_refused(void **state)
{
    tsr_matmul_problem p = update;
    float m[SIDE * SIDE], before[SIDE * SIDE];
    tsr_error err = {0};
    cpu_session cpu;

    (void)state;
    p.k = FIRST + 1;
    fill(m, SIDE * SIDE, 1);
    memcpy(before, m, sizeof(m));
    cpu_session_open(&cpu, NULL);
    assert_int_equal(tsr_matmul(cpu.session, &p, m + FIRST * SIDE, m + FIRST,
                                m + FIRST * SIDE + FIRST, NULL, NULL, &err),
                     TSR_EINVAL);
    assert_string_equal(err.message, "matmul: A and C overlap in memory");
    assert_memory_equal(m, before, sizeof(m));
    cpu_session_close(&cpu);
}

/* Arrays that begin at no multiple of their elements' size are copied, and C back. */
static void arrays_that_start_anywhere(void **state)
{
    enum { M = 5, N = 7, K = 6, LDC = 9 };
    const tsr_matmul_problem p = {
        .type = TSR_F32, .m = M, .n = N, .k = K, .alpha = 1, .beta = 1, .ldc = LDC};
    float a[M * K], b[K * N], c[M * LDC], expected[M * LDC];
    char bytes[3][sizeof(c) + 1];
    tsr_error err = {0};

    (void)state;
    fill(a, M * K, 1);
    fill(b, K * N, 2);
    fill(c, M * LDC, 3);
    memcpy(expected, c, sizeof(c));
    multiply(&p, a, b, expected);
    for (int copies = 0; copies < 2; copies++) {
        cpu_session cpu;

        cpu_session_open(&cpu, &(tsr_session_options){.copies = copies});
        memcpy(bytes[0] + 1, a, sizeof(a));
        memcpy(bytes[1] + 1, b, sizeof(b));
        memcpy(bytes[2] + 1, c, sizeof(c));
        if (tsr_matmul(cpu.session, &p, bytes[0] + 1, bytes[1] + 1, bytes[2] + 1, NULL, NULL, &err))
            fail_msg("%s", err.message);
        assert_memory_equal(bytes[2] + 1, expected, sizeof(expected));
        cpu_session_close(&cpu);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_columns),
        cmocka_unit_test(batches_with_gaps),
        cmocka_unit_test(streams_with_gaps),
        cmocka_unit_test(blocks_of_one_matrix),
        cmocka_unit_test(blocks_that_meet_are_refused),
        cmocka_unit_test(arrays_that_start_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
