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

#include "core/real.h"
#include "cpu_session.h"
#include "session/state.h"

enum { M = 9, K = 12, LD = 16, COUNT = 2, OFFSET_MAX = 2, C_SIZE = COUNT * M * LD + OFFSET_MAX };

/* What is multiplied, in float32 and in the type of the call. */
static float a[COUNT * M * K], b[COUNT * K * LD];

/* A copy of `n` elements in another type; the caller frees it. */
static void *converted(tsr_type type, const float *from, size_t n)
{
    void *to = malloc(n * tsr_type_size(type));

    assert_non_null(to);
    for (size_t i = 0; i < n; i++)
        real_set(type, to, i, from[i]);
    return to;
}

/* Of a batch, C := A B + beta C; what lies between the rows keeps its values. */
static void check(tsr_session *s, const char *name, tsr_type type, size_t n, size_t ldc,
                  size_t offset, double beta)
{
    const tsr_matmul_problem p = {.type = type,
                                  .m = M,
                                  .n = n,
                                  .k = K,
                                  .alpha = 1,
                                  .beta = beta,
                                  .ldb = LD,
                                  .ldc = ldc,
                                  .offset_c = offset,
                                  .batch = COUNT,
                                  .stride_a = M * K,
                                  .stride_b = K * LD,
                                  .stride_c = M * ldc};
    const tsr_run run = {.variant = name};
    const size_t size = tsr_type_size(type);
    float c[C_SIZE];
    const size_t counts[] = {sizeof a / sizeof *a, sizeof b / sizeof *b, C_SIZE};
    void *arrays[3];
    cl_mem m[3];
    tsr_error err = {0};

    for (size_t i = 0; i < C_SIZE; i++)
        c[i] = (float)(i % 7);
    arrays[0] = converted(type, a, counts[0]);
    arrays[1] = converted(type, b, counts[1]);
    arrays[2] = converted(type, c, counts[2]);
    for (size_t i = 0; i < 3; i++)
        m[i] = clCreateBuffer(s->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                              counts[i] * size, arrays[i], NULL);
    if (tsr_matmul_enqueue(s, &p, m[0], m[1], m[2], &run, NULL, &err))
        fail_msg("%s: %s", name, err.message);
    assert_int_equal(
        clEnqueueReadBuffer(s->queue, m[2], CL_TRUE, 0, C_SIZE * size, arrays[2], 0, NULL, NULL),
        CL_SUCCESS);
    for (size_t e = 0; e < COUNT; e++)
        for (size_t i = 0; i < M; i++)
            for (size_t j = 0; j < n; j++) {
                float *to = &c[offset + e * M * ldc + i * ldc + j], sum = 0;

                for (size_t k = 0; k < K; k++)
                    sum += a[e * M * K + i * K + k] * b[e * K * LD + k * LD + j];
                *to = sum + (float)beta * *to;
            }
    for (size_t i = 0; i < C_SIZE; i++)
        if (real_get(type, arrays[2], i) != c[i])
            fail_msg("%s, %s, %zu columns, ld %zu, offset %zu, beta %g: element %zu is %g and "
                     "should be %g",
                     name, tsr_type_name(type), n, ldc, offset, beta, i,
                     real_get(type, arrays[2], i), (double)c[i]);
    for (size_t i = 0; i < 3; i++) {
        clReleaseMemObject(m[i]);
        free(arrays[i]);
    }
}

/* A session on the CPU whose programs are built as for a GPU.  Sums are integers that every type
 * holds. */
static void open_as_gpu(cpu_session *c)
{
    cpu_session_open(c, NULL);
    c->session->device.facts.kind = DEVICE_GPU;
    for (size_t i = 0; i < sizeof a / sizeof *a; i++)
        a[i] = (float)(i * 5 % 9) - 4;
    for (size_t i = 0; i < sizeof b / sizeof *b; i++)
        b[i] = (float)(i * 7 % 11) - 5;
}

static void every_number_of_columns(void **state)
{
    static const char *const variants[] = {"batched", "pipelined"};
    cpu_session c = {0};

    (void)state;
    open_as_gpu(&c);
    for (size_t v = 0; v < 2; v++)
        for (size_t n = 5; n <= 13; n++)
            for (int beta = 0; beta < 2; beta++)
                check(c.session, variants[v], TSR_F32, n, LD, 0, beta);
    cpu_session_close(&c);
}

/* Rows that start anywhere in a vector, and vectors that begin before a row and end behind it. */
static void every_start_of_a_row(void **state)
{
    static const tsr_type types[] = {TSR_F32, TSR_F64, TSR_F16, TSR_BF16};
    cpu_session c = {0};

    (void)state;
    open_as_gpu(&c);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t n = 5; n <= 13; n += 4)
            for (size_t ld = 13; ld <= LD; ld++)
                for (size_t offset = 0; offset <= OFFSET_MAX; offset++)
                    check(c.session, "outer", types[t], n, ld, offset, (double)(offset % 2));
    cpu_session_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_number_of_columns),
                                       cmocka_unit_test(every_start_of_a_row)};

    return cmocka_run_group_tests_name("matmul_aligned", tests, NULL, NULL);
}
