/* Where elements are: whether two operands have one in common, against a map of bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "core/view.h"

enum { BYTES = 4096, PROBLEMS = 200000 };

static size_t up_to(uint64_t *state, size_t most)
{
    return (size_t)(random_u64(state) % (most + 1));
}

static view draw(uint64_t *state)
{
    static const tsr_type types[] = {TSR_F32, TSR_F64, TSR_F16};
    const tsr_type type = types[up_to(state, 2)];
    const size_t lines = up_to(state, 5), length = up_to(state, 6);

    return view_of(type, lines, length, length + up_to(state, 9), up_to(state, 12),
                   1 + up_to(state, 3), up_to(state, 40));
}

/* Mark the bytes of every element; whether one was marked already. */
static bool mark(const view *x, size_t at, unsigned char *map)
{
    const size_t size = tsr_type_size(x->type);
    bool meets = false;

    for (size_t e = 0; e < x->count; e++)
        for (size_t l = 0; l < x->lines; l++)
            for (size_t i = 0; i < x->length * size; i++)
                meets = meets || map[at + view_line(x, e, l) * size + i];
    for (size_t e = 0; e < x->count; e++)
        for (size_t l = 0; l < x->lines; l++)
            memset(map + at + view_line(x, e, l) * size, 1, x->length * size);
    return meets;
}

static void operands_meet_where_their_elements_do(void **state)
{
    static unsigned char map[BYTES];
    uint64_t random = 1;
    size_t meeting = 0, between = 0;

    (void)state;
    for (size_t n = 0; n < PROBLEMS; n++) {
        const view x = draw(&random), y = draw(&random);
        const operand one = view_operand("x", &x, ACCESS_READ);
        const operand other = view_operand("y", &y, ACCESS_WRITE);
        const size_t at = up_to(&random, 200), there = up_to(&random, 200);
        bool meets;

        memset(map, 0, sizeof(map));
        mark(&x, at, map);
        meets = mark(&y, there, map);
        if (operands_meet(&one, map + at, &other, map + there) != meets ||
            operands_meet(&other, map + there, &one, map + at) != meets)
            fail_msg("problem %zu: %s", n, meets ? "they meet" : "they do not meet");
        meeting += meets;
        between += !meets && operands_interleave(&one, map + at, &other, map + there);
    }
    assert_true(meeting > PROBLEMS / 20);
    assert_true(between > PROBLEMS / 200);
}

/* One that ends where another begins has no byte of its range. */
static void neighbours_do_not_interleave(void **state)
{
    static float memory[32];
    const view x = view_of(TSR_F32, 2, 3, 5, 2, 1, 0); /* elements 2 to 9 */
    const operand one = view_operand("x", &x, ACCESS_READ);

    (void)state;
    for (size_t at = 0; at < 16; at++) {
        const view y = view_of(TSR_F32, 1, 2, 2, at, 1, 0);
        const operand other = view_operand("y", &y, ACCESS_WRITE);
        const bool within = at + 2 > 2 && at < 10;

        assert_int_equal(operands_interleave(&one, memory, &other, memory), within);
        assert_int_equal(operands_interleave(&other, memory, &one, memory), within);
    }
}

/* Each sum and product that makes up an extent may pass size_t, by itself. */
static void extents_do_not_wrap(void **state)
{
    const size_t half = SIZE_MAX / 2 + 1;
    const struct {
        view x;
        bool fits;
    } cases[] = {
        {view_of(TSR_U8, 3, 1, half - 1, 0, 1, 0), true},
        {view_of(TSR_U8, 3, 1, half, 0, 1, 0), false},    /* lines */
        {view_of(TSR_U8, 2, half, half, 0, 1, 0), false}, /* the last line */
        {view_of(TSR_U8, 1, 1, 1, 0, 3, half - 1), true},
        {view_of(TSR_U8, 1, 1, 1, 0, 3, half), false},       /* matrices */
        {view_of(TSR_U8, 1, half, half, 0, 2, half), false}, /* the last matrix */
        {view_of(TSR_U8, 1, half, half, half - 1, 1, 0), true},
        {view_of(TSR_U8, 1, half, half, half, 1, 0), false}, /* the offset */
        {view_of(TSR_U16, 1, half - 1, half - 1, 0, 1, 0), true},
        {view_of(TSR_U16, 1, half, half, 0, 1, 0), false}, /* bytes */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t bytes;

        if (view_extent(&cases[i].x, &bytes) != cases[i].fits)
            fail_msg("case %zu", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(operands_meet_where_their_elements_do),
                                       cmocka_unit_test(neighbours_do_not_interleave),
                                       cmocka_unit_test(extents_do_not_wrap)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
