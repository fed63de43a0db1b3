/**
 * Multiplies two small matrices on the default device: the shortest way to a result.
 *
 *     first_product
 *
 * NULL in the place of a session is the process's own, on the device that TESSERA_DEVICE names,
 * else the first GPU, else accelerator, else CPU, else the host.  The report says what ran.
 */
#include <stdio.h>

#include "tessera/tessera.h"

int main(void)
{
    float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, c[4]; /* 2 x 2, row by row */
    tsr_matmul_problem problem = TSR_MATMUL_PROBLEM_INIT;
    tsr_report report;
    tsr_error err;

    problem.m = problem.n = problem.k = 2;
    if (tsr_matmul(NULL, &problem, a, b, c, NULL, &report, &err)) {
        fprintf(stderr, "first_product: %s\n", err.message);
        return 1;
    }
    printf("%g %g\n%g %g\n", c[0], c[1], c[2], c[3]); /* 19 22, 43 50 */
    printf("ran %s: %s\n", report.variant, report.chosen);
    return 0;
}
