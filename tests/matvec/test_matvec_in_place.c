/* Vectors that lie between other numbers: what is no element of y stays as whoever else writes it
 * left it.  Needs an OpenCL device of the type CPU, such as PoCL's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "cpu_session.h"
#include "gap_writer.h"

enum { FLOATS = 1 << 13 };

static size_t at_y(const tsr_matvec_problem *p, size_t e, size_t i)
{
    return p->offset_y + e * p->stride_y + i * (p->incy ? p->incy : 1);
}

/* Multiply with a device that shares no memory, while somebody counts up all that is not y's.  A
 * and x, which all products share, have no gaps. */
static void gaps_are_others(tsr_matvec_problem p, size_t device_memory, size_t chunks)
{
    static float a[FLOATS], x[FLOATS], y[FLOATS], expected[FLOATS];
    static bool element[FLOATS];
    const tsr_session_options options = {.copies = 1, .device_memory = device_memory};
    tsr_report report = {0};
    tsr_error err = {0};
    cpu_session cpu;

    for (int beta = 0; beta < 2; beta++) {
        p.alpha = 1;
        p.beta = beta;
        for (size_t i = 0; i < FLOATS; i++) {
            a[i] = (float)(i % 7) - 3;
            x[i] = (float)(i % 5) - 2;
            expected[i] = y[i] = (float)(i % 11);
            element[i] = false;
        }
        for (size_t e = 0; e < (p.batch ? p.batch : 1); e++)
            for (size_t i = 0; i < p.rows; i++) {
                float sum = 0;

                for (size_t j = 0; j < p.columns; j++)
                    sum += a[e * p.stride_a + i * p.columns + j] * x[j];
                expected[at_y(&p, e, i)] = sum + (float)beta * y[at_y(&p, e, i)];
                element[at_y(&p, e, i)] = true;
            }
        cpu_session_open(&cpu, &options);
        gap_writer = (struct gap_writer){y, FLOATS, element, 0};
        if (tsr_matvec(cpu.session, &p, a, x, y, NULL, &report, &err))
            fail_msg("%s", err.message);
        assert_true(report.chunks >= chunks);
        gap_writer_check(expected, beta);
        cpu_session_close(&cpu);
    }
}

static void elements_apart(void **state)
{
    const tsr_matvec_problem p = {.rows = 50, .columns = 20, .incy = 3, .offset_y = 2};

    (void)state;
    gaps_are_others(p, 0, 0);
    gaps_are_others(p, 4 * (50 + 20 + 3 * 20 * 5), 2);
}

static void vectors_apart(void **state)
{
    tsr_matvec_problem p = {.rows = 10, .columns = 12, .batch = 9, .stride_a = 120, .stride_y = 13};

    (void)state;
    gaps_are_others(p, 0, 0);
    gaps_are_others(p, 2500, 2);
    p.incy = 2;
    p.stride_y = 30;
    gaps_are_others(p, 0, 0);
    gaps_are_others(p, 2500, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_apart),
        cmocka_unit_test(vectors_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
