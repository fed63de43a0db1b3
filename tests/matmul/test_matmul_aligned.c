/* Vectors of rows that are aligned, which no program for a CPU has: built as for a GPU, and run on
 * the CPU, whose buffers are aligned as well.  Needs an OpenCL device of the type CPU, such as
 * PoCL's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cpu_session.h"
#include "session/state.h"

enum { M = 9, K = 12, LD = 16, COUNT = 2, C_SIZE = COUNT * M * LD };

static float a[COUNT * M * K], b[COUNT * K * LD];

/* Of a batch, C := A B + beta C of n columns; what lies between them keeps its values. */
static void check(tsr_session *s, const char *variant, size_t n, double beta)
{
    const tsr_matmul_problem p = {.m = M,
                                  .n = n,
                                  .k = K,
                                  .alpha = 1,
                                  .beta = beta,
                                  .ldb = LD,
                                  .ldc = LD,
                                  .batch = COUNT,
                                  .stride_a = M * K,
                                  .stride_b = K * LD,
                                  .stride_c = M * LD};
    const tsr_run run = {.variant = variant};
    float *arrays[] = {a, b, malloc(C_SIZE * sizeof(float))}, *c = arrays[2], got[C_SIZE];
    const size_t sizes[] = {sizeof a, sizeof b, sizeof got};
    cl_mem m[3];
    tsr_error err = {0};

    assert_non_null(c);
    for (size_t i = 0; i < C_SIZE; i++)
        c[i] = (float)(i % 7);
    for (size_t i = 0; i < 3; i++)
        m[i] = clCreateBuffer(s->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizes[i],
                              arrays[i], NULL);
    if (tsr_matmul_enqueue(s, &p, m[0], m[1], m[2], &run, NULL, &err))
        fail_msg("%s: %s", variant, err.message);
    assert_int_equal(
        clEnqueueReadBuffer(s->queue, m[2], CL_TRUE, 0, sizeof got, got, 0, NULL, NULL),
        CL_SUCCESS);
    for (size_t e = 0; e < COUNT; e++)
        for (size_t i = 0; i < M; i++)
            for (size_t j = 0; j < n; j++) {
                float *to = &c[e * M * LD + i * LD + j], sum = 0;

                for (size_t k = 0; k < K; k++)
                    sum += a[e * M * K + i * K + k] * b[e * K * LD + k * LD + j];
                *to = sum + (float)beta * *to;
            }
    for (size_t i = 0; i < C_SIZE; i++)
        if (got[i] != c[i])
            fail_msg("%s, %zu columns, beta %g: element %zu is %g and should be %g", variant, n,
                     beta, i, (double)got[i], (double)c[i]);
    for (size_t i = 0; i < 3; i++)
        clReleaseMemObject(m[i]);
    free(c);
}

static void every_number_of_columns(void **state)
{
    static const char *const variants[] = {"batched", "pipelined"};
    cpu_session c = {0};

    (void)state;
    cpu_session_open(&c, NULL);
    c.session->device.facts.kind = DEVICE_GPU;
    for (size_t i = 0; i < sizeof a / sizeof *a; i++)
        a[i] = (float)(i * 5 % 9) - 4;
    for (size_t i = 0; i < sizeof b / sizeof *b; i++)
        b[i] = (float)(i * 7 % 11) - 5;
    for (size_t v = 0; v < 2; v++)
        for (size_t n = 5; n <= 13; n++)
            for (int beta = 0; beta < 2; beta++)
                check(c.session, variants[v], n, beta);
    cpu_session_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_number_of_columns)};

    return cmocka_run_group_tests_name("matmul_aligned", tests, NULL, NULL);
}
