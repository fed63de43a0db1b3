/* What is selected of a stretch, by the loops of every instruction set. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/elements.h"
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

/* Numbers from -2 to 4, as whole numbers without sign huge ones too, and of floats a NaN. */
static void fill(tsr_type type, unsigned char *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const int64_t whole = (int64_t)(i * i % 7) - 2;
        const double d = i % 11 == 5 ? (double)NAN : (double)whole;
        const float f = (float)d;
        const size_t size = tsr_type_size(type);

        memcpy(x + i * size,
               type == TSR_F32   ? (const void *)&f
               : type == TSR_F64 ? (const void *)&d
                                 : (const void *)&whole,
               size); /* of whole numbers the low bytes: little-endian */
    }
}

/* Counted and put at once, as by a comparison and a gather; nothing is written past the end. */
static void check_direct(const select_direct *direct, const tsr_select_problem *p, size_t n)
{
    static select_compare_find *const compares[] = {ISA_EACH(select_compare_of)};
    static select_gather_find *const gathers[] = {ISA_EACH(select_gather_of)};
    const size_t bytes = tsr_type_size(p->type), at = n % 3;
    unsigned char x[(MOST + 8) * WORD_MAX], got[(MOST + 8) * WORD_MAX], want[MOST * WORD_MAX];
    unsigned char holds[MOST];
    size_t count;

    fill(p->type, x, MOST + 8);
    count = compares[ISA_BASE](p->type)(p, x, at, n, holds);
    gathers[ISA_BASE](bytes)(x, at, n, holds, want);
    if (direct->count(p, x, at, n) != count)
        fail_msg("type %d condition %d: not %zu of %zu", (int)p->type, (int)p->where, count, n);
    for (int past = 0; past < 2; past++) {
        memset(got, CANARY, sizeof(got));
        (past ? direct->put_past_caches : direct->put)(p, x, at, n, 0, got + at * bytes,
                                                       got + (at + count) * bytes);
        for (size_t i = 0; i < sizeof(got); i++)
            if (got[i] !=
                (i < at * bytes || i >= (at + count) * bytes ? CANARY : want[i - at * bytes]))
                fail_msg("type %d condition %d past caches %d: byte %zu of %zu elements of %zu",
                         (int)p->type, (int)p->where, past, i, count, n);
    }
}

static void direct_ones_of_every_instruction_set(void **state)
{
    static select_direct_find *const find[] = {ISA_EACH(select_direct_of)};

    (void)state;
    for (int set = 0; set <= (int)isa_best(); set++)
        for (int type = 0; type < TSR_TYPE_COUNT; type++)
            for (int where = TSR_GREATER; where <= TSR_IS_NOT_NAN; where++)
                for (size_t n = 0; n <= MOST; n++) {
                    tsr_select_problem p = {.type = (tsr_type)type, .where = where};

                    if (type_is_real(p.type))
                        p.value.real = 1;
                    else
                        p.value.natural = 1;
                    if (find[set](p.type))
                        check_direct(find[set](p.type), &p, n);
                }
}

/* What fills many lines and stretches is stored the same past the caches, wherever in a line it
 * begins, and nothing beside it is touched: that is another block's. */
static void long_results_past_the_caches(void **state)
{
    static select_direct_find *const find[] = {ISA_EACH(select_direct_of)};
    enum { LONG = 4 * SELECT_STRETCH, LINE = 64, ROOM = LONG * WORD_MAX + 4 * LINE };
    static const size_t lengths[] = {SELECT_STRETCH - 1, SELECT_STRETCH, SELECT_STRETCH + 1,
                                     2 * SELECT_STRETCH + 17, LONG};
    unsigned char *x = malloc(LONG * WORD_MAX), *want = malloc(ROOM), *got;
    size_t tried = 0;

    (void)state;
    got = aligned_alloc(LINE, ROOM);
    assert_true(x && want && got);
    for (int set = 0; set <= (int)isa_best(); set++)
        for (int type = 0; type < TSR_TYPE_COUNT; type++) {
            const select_direct *direct = find[set]((tsr_type)type);
            const size_t bytes = tsr_type_size((tsr_type)type);
            tsr_select_problem p = {.type = (tsr_type)type, .where = TSR_GREATER};

            if (!direct)
                continue;
            tried++;
            fill(p.type, x, LONG);
            for (size_t l = 0; l < sizeof(lengths) / sizeof(*lengths); l++)
                for (size_t at = 0; at <= LINE; at += bytes) {
                    const size_t n = lengths[l], end = at + direct->count(&p, x, 0, n) * bytes;

                    memset(want, CANARY, ROOM);
                    memset(got, CANARY, ROOM);
                    direct->put(&p, x, 0, n, 0, want + at, want + end);
                    direct->put_past_caches(&p, x, 0, n, 0, got + at, got + end);
                    if (memcmp(want, got, ROOM) != 0)
                        fail_msg("type %d: %zu elements to byte %zu of a line", type, n, at);
                }
        }
    free(x);
    free(want);
    free(got);
    if (tried == 0)
        skip(); /* this processor has no such loops */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gathers_of_every_instruction_set),
                                       cmocka_unit_test(counts_of_every_instruction_set),
                                       cmocka_unit_test(direct_ones_of_every_instruction_set),
                                       cmocka_unit_test(long_results_past_the_caches)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
