/* Broken segment offsets, which enqueued calls cannot refuse: the variant in C touches nothing
 * outside of the arrays, whose ends the sanitizers and the canaries see. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/registry.h"
#include "ops/scan/scan_problem.h"

enum { N = 100000, SEGMENTS = 5, CANARY = 77 };

static void offsets_beyond_the_array(void **state)
{
    static float x[N], result[N + 2];
    const uint64_t offsets[SEGMENTS + 1] = {0, UINT64_MAX, 5, 2 * N, 70, N + 1000};
    const tsr_scan_problem p = {.type = TSR_F32, .n = N, .segments = SEGMENTS, .offset_result = 1};
    const problem q = problem_from(&operation_scan, &p, sizeof(p));
    void *arrays[OPERANDS_MAX] = {
        [SCAN_X] = x, [SCAN_RESULT] = result, [SCAN_SEGMENTS] = (void *)(uintptr_t)offsets};

    (void)state;
    for (size_t i = 0; i < N; i++)
        x[i] = 1;
    result[0] = result[N + 1] = CANARY;
    assert_int_equal(scan_simd.host(&q, arrays, NULL), TSR_OK);
    assert_true(result[0] == CANARY && result[N + 1] == CANARY);
    assert_true(result[1] == 1); /* the first segment is the whole array, cut at its end */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(offsets_beyond_the_array)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
