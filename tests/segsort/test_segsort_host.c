/* Broken segment offsets, which enqueued calls cannot refuse: the variant in C touches nothing
 * outside of the arrays, whose ends the sanitizers and the canaries see. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/registry.h"
#include "ops/segsort/segsort_problem.h"

enum { N = 3000, SEGMENTS = 5 };

static void offsets_beyond_the_array(void **state)
{
    static uint32_t keys[N + 2];
    const uint64_t offsets[SEGMENTS + 1] = {0, UINT64_MAX, 5, 2 * N, 70, N + 1000};
    const tsr_segsort_problem p = {.sort = {.type = TSR_U32, .n = N, .offset_keys = 1},
                                   .segments = SEGMENTS};
    const problem q = problem_from(&operation_segsort, &p, sizeof(p));
    operand o[OPERANDS_MAX];
    void *arrays[OPERANDS_MAX] = {keys};
    const size_t count = operation_segsort.operands(&q, o);

    (void)state;
    arrays[count - 1] = (void *)(uintptr_t)offsets;
    for (size_t i = 0; i <= N + 1; i++)
        keys[i] = (uint32_t)(N + 1 - i);
    assert_int_equal(segsort_host_radix.host(&q, arrays, NULL), TSR_OK);
    assert_true(keys[0] == N + 1 && keys[N + 1] == 0);
    for (size_t i = 1; i < N; i++)
        assert_true(keys[i] < keys[i + 1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(offsets_beyond_the_array)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
