/* Where the elements of op(A) and op(B) are, beyond 2^32 elements: no CPU could run such a product
 * in a test, so the kernels' own functions are compiled as C. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

typedef uint64_t device_ulong;
typedef uint32_t device_uint;

#define ulong device_ulong
#define uint  device_uint

static size_t layer; /* of the launch's third dimension */

static size_t get_global_id(unsigned dimension)
{
    return dimension == 2 ? layer : 0;
}

#define TRANS_A 0
#define TRANS_B 0
#define at_a    at_a_plain
#define at_b    at_b_plain
#include "matmul/matmul_access.clh"
#undef MATMUL_ACCESS_CLH
#undef TRANS_A
#undef TRANS_B
#undef at_a
#undef at_b
#define TRANS_A  1
#define TRANS_B  1
#define at_a     at_a_transposed
#define at_b     at_b_transposed
#define in_batch in_batch_again
#include "matmul/matmul_access.clh"
#undef in_batch

static void offsets_have_64_bits(void **state)
{
    const uint32_t line = 100000, ld = 300007, within = 299999;
    const uint64_t expected = UINT64_C(30000999999); /* line * ld + within */

    (void)state;
    assert_true(at_a_plain(line, within, ld) == expected);
    assert_true(at_b_plain(line, within, ld) == expected);
    assert_true(at_a_transposed(within, line, ld) == expected);
    assert_true(at_b_transposed(within, line, ld) == expected);
}

static void matrices_of_a_batch_are_64_bits_apart(void **state)
{
    (void)state;
    for (layer = 0; layer < 70000; layer += 69999) {
        const uint64_t expected = 5 + (uint64_t)layer * 100000;

        assert_true(in_batch(5, 100000) == expected);
        assert_true(in_batch_again(5, 100000) == expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_have_64_bits),
        cmocka_unit_test(matrices_of_a_batch_are_64_bits_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
