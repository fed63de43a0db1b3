/* The steps along k that groups of matmul's "stream-k" take: the kernel's own text, compiled as C,
 * gives each step to one group, in pieces whose sums have places of their own, and counts the
 * groups of a tile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

typedef unsigned int uint;
typedef unsigned long ulong;
_Static_assert(sizeof(ulong) == 8, "OpenCL's ulong");

#define min(a, b) ((a) < (b) ? (a) : (b))
#include "../../cl/matmul/matmul_shares.clh"
#undef min

enum { TILES = 12, EACH = 9, GROUPS = TILES * EACH };

/* Go through all pieces of all groups, and compare with what a table of steps says. */
static void check(uint groups, uint tiles, uint unshared, uint each)
{
    int taken[TILES][EACH];
    bool kept[2 * GROUPS] = {false};
    const ulong all = (ulong)(tiles - unshared) * each;

    memset(taken, -1, sizeof(taken));
    for (uint g = 0; g < groups; g++) {
        shares s = shares_of(g, groups, tiles, unshared, each);
        ulong steps = 0;
        piece at;

        while (shares_next(&s, &at)) {
            assert_true(at.tile < tiles && at.count > 0 && at.first + at.count <= each);
            for (uint e = at.first; e < at.first + at.count; e++) {
                assert_int_equal(taken[at.tile][e], -1);
                taken[at.tile][e] = (int)g;
            }
            if (at.tile < unshared) {
                assert_int_equal(at.count, each);
                continue;
            }
            steps += at.count;
            if (at.count == each)
                continue;
            assert_false(kept[shares_place(g, at.first == 0)]);
            kept[shares_place(g, at.first == 0)] = true;
        }
        /* Equal shares, to one step. */
        assert_true(steps >= all / groups && steps <= all / groups + 1);
    }
    for (uint t = 0; t < tiles; t++) {
        shares s = shares_of(0, groups, tiles, unshared, each);

        for (uint e = 0; e < each; e++)
            assert_true(taken[t][e] >= 0);
        if (t < unshared)
            continue;
        assert_int_equal(shares_first(&s, t), taken[t][0]);
        assert_int_equal(shares_last(&s, t), taken[t][each - 1]);
        /* Those that are added up are those that were kept, in the order of k. */
        for (uint e = 1; e < each; e++)
            assert_in_range(taken[t][e] - taken[t][e - 1], 0, 1);
        for (int g = taken[t][0]; taken[t][0] != taken[t][each - 1] && g <= taken[t][each - 1]; g++)
            assert_true(kept[shares_place((uint)g, g == taken[t][0])]);
    }
}

static void every_step_is_taken_once(void **state)
{
    (void)state;
    for (uint tiles = 1; tiles <= TILES; tiles++)
        for (uint each = 1; each <= EACH; each++)
            for (uint groups = 1; groups <= tiles * each; groups++)
                for (uint unshared = 0; unshared < tiles; unshared += groups)
                    if ((tiles - unshared) * each >= groups)
                        check(groups, tiles, unshared, each);
}

/* Nothing is shared: tiles go round. */
static void tiles_go_round(void **state)
{
    (void)state;
    check(4, 12, 12, 5);
    check(1, 3, 3, 1);
}

/* The longest k, in the shallowest steps, and two tiles for each group. */
static void large_products_do_not_wrap(void **state)
{
    const uint groups = 16384 / 2, each = 1u << 28, tiles = 2 * groups - 1;
    ulong end = 0;

    (void)state;
    for (uint g = 0; g < groups; g++) {
        const shares s = shares_of(g, groups, tiles, 0, each);

        assert_true(s.step == end && s.end > s.step);
        assert_int_equal(shares_group(&s, s.step), g);
        assert_int_equal(shares_group(&s, s.end - 1), g);
        end = s.end;
    }
    assert_true(end == (ulong)tiles * each);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_is_taken_once),
        cmocka_unit_test(tiles_go_round),
        cmocka_unit_test(large_products_do_not_wrap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
