/* What is selected of a stretch, by the loops of every instruction set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ops/select/select_loops.h"

enum { MOST = 100, WORD_MAX = 8, CANARY = 0xA5 };

/* Nothing beyond n elements is written, whatever is selected. */
static void check(select_gather *gather, size_t bytes, size_t at, size_t n, unsigned pattern)
{
    unsigned char x[(MOST + 8) * WORD_MAX], got[(MOST + 1) * WORD_MAX], want[MOST * WORD_MAX];
    unsigned char holds[MOST] = {0};
    size_t count = 0;

    for (size_t i = 0; i < sizeof(x); i++)
        x[i] = (unsigned char)(i * 37 + 11);
    for (size_t i = 0; i < n; i++) {
        holds[i] = (unsigned char)(pattern >> i % 7 & 1);
        if (holds[i])
            memcpy(want + count++ * bytes, x + (at + i) * bytes, bytes);
    }
    memset(got, CANARY, sizeof(got));
    assert_int_equal(gather(x, at, n, holds, got), count);
    assert_memory_equal(got, want, count * bytes);
    for (size_t i = n * bytes; i < sizeof(got); i++)
        assert_int_equal(got[i], CANARY);
}

static void gathers_of_every_instruction_set(void **state)
{
    static select_gather_find *const find[] = {ISA_EACH(select_gather_of)};

    (void)state;
    for (int set = 0; set <= (int)isa_best(); set++)
        for (size_t bytes = 1; bytes <= WORD_MAX; bytes *= 2)
            for (size_t n = 0; n <= MOST; n++)
                for (unsigned pattern = 0; pattern < 128; pattern += 1 + pattern % 5)
                    check(find[set](bytes), bytes, n % 3, n, pattern);
}

/* As many as hold, up to the most elements of a call. */
static void counts_of_every_instruction_set(void **state)
{
    static select_compare_find *const find[] = {ISA_EACH(select_compare_of)};
    static unsigned char holds[SELECT_STRETCH];
    static float x[SELECT_STRETCH];
    const tsr_select_problem p = {.type = TSR_F32, .where = TSR_GREATER, .value = {.real = 0}};

    (void)state;
    for (size_t i = 0; i < SELECT_STRETCH; i++)
        x[i] = 1;
    for (int set = 0; set <= (int)isa_best(); set++)
        for (size_t n = 0; n <= SELECT_STRETCH; n += n < 100 ? 1 : 231)
            assert_int_equal(find[set](TSR_F32)(&p, x, 0, n, holds), n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gathers_of_every_instruction_set),
                                       cmocka_unit_test(counts_of_every_instruction_set)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
