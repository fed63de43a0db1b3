/* Overlap without a device: lists of numbers, chunks, and what the kernel's rounds make of a word.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure/overlap.h"
#include "measure/overlap_rig.h"

static void lists_are_read(void **state)
{
    static const char *const wrong[] = {"",    ",",   "1,",  ",1",   "0",   "1,0",
                                        "9",   "1,9", "2,2", "1 2",  " 1",  "-1",
                                        "1.5", "x",   "1x",  "1,,2", "0x2", "18446744073709551617"};
    overlap_counts got = {.count = 7};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (overlap_counts_read(wrong[i], 8, &got))
            fail_msg("'%s' is taken", wrong[i]);
        assert_int_equal(got.count, 7); /* untouched */
    }
    assert_true(overlap_counts_read("8", 8, &got));
    assert_int_equal(got.count * 100 + got.of[0], 108);
    assert_true(overlap_counts_read("3,1,08", 8, &got));
    assert_int_equal(got.count, 3);
    assert_int_equal(got.of[0] * 100 + got.of[1] * 10 + got.of[2], 318);
    assert_true(overlap_counts_read("1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16", 64, &got));
    assert_int_equal(got.count, OVERLAP_COUNTS_MAX);
    assert_false(overlap_counts_read("1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", 64, &got));
}

static void chunks_cover_every_word_once(void **state)
{
    (void)state;
    for (size_t words = 1; words <= 40; words++) {
        for (size_t chunks = 1; chunks <= words; chunks++) {
            assert_int_equal(overlap_chunk_begin(words, chunks, 0), 0);
            assert_int_equal(overlap_chunk_begin(words, chunks, chunks), words);
            for (size_t c = 0; c < chunks; c++) {
                const size_t n = overlap_chunk_begin(words, chunks, c + 1) -
                                 overlap_chunk_begin(words, chunks, c);

                assert_in_range(n, words / chunks, (words + chunks - 1) / chunks);
            }
        }
    }
}

/* Round by round, as the kernel does it. */
static void rounds_are_one_map(void **state)
{
    static const uint32_t words[] = {0, 1, 77, 0x80000000u, UINT32_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        uint32_t x = words[i];

        for (size_t rounds = 0; rounds < 70; rounds++) {
            assert_int_equal(overlap_expected(words[i], rounds), x);
            x = x * overlap_round.multiplier + overlap_round.increment;
            assert_int_not_equal(overlap_expected(words[i], rounds), x);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_read),
        cmocka_unit_test(chunks_cover_every_word_once),
        cmocka_unit_test(rounds_are_one_map),
    };

    return cmocka_run_group_tests_name("overlap", tests, NULL, NULL);
}
