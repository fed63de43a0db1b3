/* The ground that everything stands on: checked sizes, growing text, suggestions, error records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/half.h"
#include "base/hash.h"
#include "base/sizes.h"
#include "base/text.h"
#include "tessera/types.h"

/* ---- sizes ------------------------------------------------------------------------------- */

/* Values that its authors publish; bytes may come in pieces. */
static void hashes_are_fnv_1a(void **state)
{
    const char bytes[] = "foobar";

    (void)state;
    assert_true(hash_bytes(HASH_START, bytes, 0) == 0xCBF29CE484222325u);
    assert_true(hash_bytes(HASH_START, "a", 1) == 0xAF63DC4C8601EC8Cu);
    assert_true(hash_bytes(HASH_START, bytes, 6) == 0x85944171F73967E8u);
    assert_true(hash_bytes(hash_bytes(HASH_START, bytes, 2), bytes + 2, 4) == 0x85944171F73967E8u);
}

static void sums_and_products_are_checked(void **state)
{
    const size_t half = (size_t)1 << (sizeof(size_t) * 4);
    size_t r = 77;

    (void)state;
    assert_true(size_add(SIZE_MAX - 1, 1, &r));
    assert_int_equal(r, SIZE_MAX);
    r = 77;
    assert_false(size_add(SIZE_MAX, 1, &r));
    assert_false(size_mul(half, half, &r));
    assert_false(size_mul(SIZE_MAX, 2, &r));
    assert_int_equal(r, 77); /* untouched */
    assert_true(size_mul(half, half - 1, &r));
    assert_int_equal(r, half * (half - 1));
    assert_true(size_mul(SIZE_MAX, 0, &r));
    assert_int_equal(r, 0);
    assert_true(size_mul(0, SIZE_MAX, &r));
    assert_int_equal(r, 0);
}

static void divisions_round_up(void **state)
{
    (void)state;
    assert_int_equal(size_div_up(0, 16), 0);
    assert_int_equal(size_div_up(1, 16), 1);
    assert_int_equal(size_div_up(16, 16), 1);
    assert_int_equal(size_div_up(17, 16), 2);
    assert_int_equal(size_div_up(SIZE_MAX, 2), SIZE_MAX / 2 + 1); /* no overflow on the way */
    assert_int_equal(size_round_up(17, 16), 32);
    assert_int_equal(size_min(3, 4), 3);
    assert_int_equal(size_max(3, 4), 4);
}

/* ---- text -------------------------------------------------------------------------------- */

static void text_grows(void **state)
{
    text t = {0};
    char expected[4001];

    (void)state;
    assert_string_equal(text_get(&t), "");
    for (int i = 0; i < 1000; i++)
        text_format(&t, "%04d", i);
    for (int i = 0; i < 1000; i++)
        snprintf(expected + 4 * (size_t)i, 5, "%04d", i);
    assert_string_equal(text_get(&t), expected);
    assert_int_equal(t.length, 4000);
    text_clear(&t);
    assert_string_equal(text_get(&t), "");
    text_append(&t, "a");
    text_append_bytes(&t, "bcd", 2);
    assert_string_equal(text_get(&t), "abc");
    assert_false(t.failed);
    text_free(&t);
    assert_string_equal(text_get(&t), "");
    text_free(&t); /* twice does no harm */
}

static void suggestions_are_close(void **state)
{
    static const char *const names[] = {"marble", "market", "sand"};
    char long_word[200];

    (void)state;
    assert_string_equal(text_closest("marblee", names, 3), "marble");
    assert_string_equal(text_closest("mrble", names, 3), "marble");
    assert_string_equal(text_closest("amrekt", names, 3), "market"); /* distance 2, a third of 6 */
    assert_string_equal(text_closest("sadn", names, 3), "sand"); /* neighbours changed places: 1 */
    assert_null(text_closest("sdan", names, 3));
    assert_string_equal(text_closest("san", names, 3), "sand"); /* at least 1 is allowed */
    assert_null(text_closest("convolve", names, 3));
    assert_null(text_closest("", names, 3));
    assert_null(text_closest("marble", names, 0));
    memset(long_word, 'x', sizeof(long_word) - 1);
    long_word[sizeof(long_word) - 1] = '\0';
    assert_null(text_closest(long_word, names, 3)); /* longer than the table, not an overflow */
}

static void the_closest_of_several_wins(void **state)
{
    static const char *const names[] = {"two-phase-x", "two-phase", "two-phases"};

    (void)state;
    assert_string_equal(text_closest("two-phase", names, 3), "two-phase");
    assert_string_equal(text_closest("two-phasez", names, 3), "two-phase");
}

/* ---- error records ----------------------------------------------------------------------- */

static void failures_are_recorded(void **state)
{
    tsr_error err = {0};

    (void)state;
    assert_int_equal(tsr_fail(&err, TSR_EINVAL, 0, "%s is %d", "m", 3), TSR_EINVAL);
    assert_int_equal(err.status, TSR_EINVAL);
    assert_int_equal(err.cl, 0);
    assert_string_equal(err.message, "m is 3");
    assert_int_equal(tsr_fail(&err, TSR_ECL, -5, "clFinish"), TSR_ECL);
    assert_int_equal(err.cl, -5);
    assert_string_equal(err.message, "clFinish: CL_OUT_OF_RESOURCES (-5)");
    tsr_fail(&err, TSR_ECL, -31337, "clFinish");
    assert_string_equal(err.message, "clFinish: unknown code (-31337)");
    assert_int_equal(tsr_fail(NULL, TSR_ENOMEM, 0, "nobody listens"), TSR_ENOMEM);
}

static void messages_are_one_line(void **state)
{
    tsr_error err = {0};

    (void)state;
    tsr_fail(&err, TSR_EBUILD, -11, "first\nsecond\r\nthird\n");
    assert_null(strpbrk(err.message, "\r\n"));
    assert_non_null(strstr(err.message, "first second  third "));
}

static void messages_move_no_cursor(void **state)
{
    char odd[] = "a\033[2J\tb\177\xC2\x9B\xC2\xB5\n";
    char turned[] = "txt.\xE2\x80\xAE"
                    "exe \xE2\x80\xA9";
    tsr_error err = {0};

    (void)state;
    tsr_fail(&err, TSR_EFILE, 0, "%s", odd);
    assert_string_equal(err.message, "a?[2J?b???\xC2\xB5 ");
    text_make_plain(odd, "\t\n");
    assert_string_equal(odd, "a?[2J\tb???\xC2\xB5\n");
    text_make_plain(turned, "");
    assert_string_equal(turned, "txt.???exe \xE2\x80\xA9");
}

/* A byte that is no UTF-8 may be a command to a terminal of eight bits. */
static void bytes_that_are_no_characters(void **state)
{
    char odd[] = "\x9B"
                 "1m \xE2\x82 \xE2\x82\xAC \xC2",
         cut[] = "\xF0\x9F\x98\x80\xE2";

    (void)state;
    text_make_plain(odd, "");
    assert_string_equal(odd, "?1m ?? \xE2\x82\xAC ?");
    text_make_plain(cut, "");
    assert_string_equal(cut, "\xF0\x9F\x98\x80?");
}

static void json_has_no_control_characters(void **state)
{
    text t = {0};

    (void)state;
    text_append_json(&t, "{\"a\177\": \"\xC2\x80\xC2\x9F\xC2\xA0\xC3\xA9\"}");
    assert_string_equal(text_get(&t), "{\"a\\u007f\": \"\\u0080\\u009f\xC2\xA0\xC3\xA9\"}");
    text_free(&t);
}

/* The path gives way, and the cause stays. */
static void long_messages_keep_their_ends(void **state)
{
    tsr_error err = {0};
    char path[4000];

    (void)state;
    memset(path, 'p', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    memcpy(path, "/start", 6);
    tsr_fail(&err, TSR_EFILE, 0, "%s: cannot open: the cause", path);
    assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
    assert_memory_equal(err.message, "/startppp", 9);
    assert_non_null(strstr(err.message, "p...p"));
    assert_non_null(strstr(err.message, "ppp: cannot open: the cause"));
    tsr_fail(&err, TSR_ECL, -5, "%s", path);
    assert_non_null(strstr(err.message, "ppp: CL_OUT_OF_RESOURCES (-5)"));
}

static void long_messages_are_cut(void **state)
{
    struct {
        tsr_error err;
        char guard[8];
    } x = {.guard = "guarded"};
    char *word = malloc(5000);

    (void)state;
    assert_non_null(word);
    memset(word, 'w', 4999);
    word[4999] = '\0';
    for (size_t cut = 1; cut<4999; cut += cut> 900 && cut < 1100 ? 1 : 97) {
        tsr_fail(&x.err, TSR_ECL, -5, "%.*s", (int)cut, word);
        assert_true(strlen(x.err.message) < sizeof(x.err.message));
        assert_string_equal(x.guard, "guarded");
    }
    free(word);
}

static void every_code_has_a_name(void **state)
{
    (void)state;
    for (int s = TSR_OK; s <= TSR_EBOUND; s++)
        assert_memory_equal(tsr_status_name((tsr_status)s), "TSR_", 4);
    assert_string_equal(tsr_status_name((tsr_status)99), "unknown status");
    assert_string_equal(cl_code_name(-4), "CL_MEM_OBJECT_ALLOCATION_FAILURE");
    assert_string_equal(cl_code_name(-54), "CL_INVALID_WORK_GROUP_SIZE");
    for (int t = 0; t < TSR_TYPE_COUNT; t++)
        assert_true(tsr_type_size((tsr_type)t) > 0);
    assert_string_equal(tsr_type_name(TSR_U64), "uint64");
    assert_int_equal(tsr_type_size(TSR_TYPE_COUNT), 0);
    assert_string_equal(tsr_type_name(TSR_TYPE_COUNT), "unknown type");
    assert_string_equal(tsr_precision_name(TSR_PRECISION_F32_STRICT), "f32-strict");
    assert_string_equal(tsr_precision_name(TSR_PRECISION_I8), "i8");
    assert_string_equal(tsr_precision_name(TSR_PRECISION_F8), "f8");
    assert_string_equal(tsr_precision_name(TSR_PRECISION_COUNT), "unknown precision");
}

/* Every value of 16 bits comes back from its double, and what lies between two of them goes to the
 * nearer one, a tie to the even one. */
static void sixteen_bits_round_to_nearest_even(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 0x8000; bits++) {
        const uint16_t h = (uint16_t)bits, next = (uint16_t)(bits + 1);
        const double half = (double)half_to_float(h), bfloat = (double)bfloat_to_float(h);

        assert_true(isnan(half) ? isnan(half_to_float(half_of(half))) : half_of(half) == h);
        assert_true(isnan(bfloat) ? isnan(bfloat_to_float(bfloat_of(bfloat)))
                                  : bfloat_of(bfloat) == h);
        assert_true(isnan(half) || half_of(-half) == (h | 0x8000));
        if (next <= 0x7BFF) {
            const double tie = (half + (double)half_to_float(next)) / 2;

            assert_int_equal(half_of(tie), h & 1 ? next : h);
            assert_int_equal(half_of(nextafter(tie, 0)), h);
            assert_int_equal(half_of(nextafter(tie, INFINITY)), next);
        }
        if (next <= 0x7F7F) {
            const double tie = (bfloat + (double)bfloat_to_float(next)) / 2;

            assert_int_equal(bfloat_of(tie), h & 1 ? next : h);
            assert_int_equal(bfloat_of(nextafter(tie, 0)), h);
            assert_int_equal(bfloat_of(nextafter(tie, INFINITY)), next);
        }
    }
    assert_int_equal(half_of(65519.999), 0x7BFF);
    assert_int_equal(half_of(65520), 0x7C00);
    assert_int_equal(half_of(-1e300), 0xFC00);
    assert_int_equal(half_of(5e-324), 0);
    assert_int_equal(bfloat_of(0x1.FEFFp127), 0x7F7F);
    assert_int_equal(bfloat_of(0x1.FFp127), 0x7F80);
    assert_int_equal(bfloat_of(5e-324), 0);
    assert_true(isnan(half_to_float(half_of(NAN))));
}

/* The value of FP8 bits by its definition. */
static double fp8_value(unsigned bits, int fraction, int bias)
{
    const int exponent = (int)(bits & 0x7F) >> fraction, rest = (int)bits & ((1 << fraction) - 1);
    const double value = exponent ? ldexp(rest + (1 << fraction), exponent - bias - fraction)
                                  : ldexp(rest, 1 - bias - fraction);

    return bits & 0x80 ? -value : value;
}

static const struct {
    int fraction, bias;
    unsigned most, nan; /* the largest number, and the first NaN */
    float (*value)(uint8_t);
    uint8_t (*nearest)(double);
} fp8_types[] = {{3, 7, 0x7E, 0x7F, e4m3_to_float, e4m3_of},
                 {2, 15, 0x7B, 0x7D, e5m2_to_float, e5m2_of}};

/* Every number comes back, ties go to the even one, and what is beyond the largest saturates. */
static void eight_bits_round_and_saturate(void **state)
{
    (void)state;
    for (size_t t = 0; t < 2; t++) {
        const double largest =
            fp8_value(fp8_types[t].most, fp8_types[t].fraction, fp8_types[t].bias);
        const double beyond[] = {largest, nextafter(largest, INFINITY), 1e300, INFINITY};

        for (unsigned x = 0; x <= fp8_types[t].most; x++) {
            const double value = fp8_value(x, fp8_types[t].fraction, fp8_types[t].bias);
            const double next = fp8_value(x + 1, fp8_types[t].fraction, fp8_types[t].bias);
            const double tie = (value + next) / 2;

            assert_true((double)fp8_types[t].value((uint8_t)x) == value);
            assert_true((double)fp8_types[t].value((uint8_t)(x | 0x80)) == -value);
            assert_int_equal(fp8_types[t].nearest(value), x);
            assert_int_equal(fp8_types[t].nearest(-value), x | 0x80);
            if (x == fp8_types[t].most)
                break;
            assert_int_equal(fp8_types[t].nearest(tie), x + (x & 1));
            assert_int_equal(fp8_types[t].nearest(nextafter(tie, 0)), x);
            assert_int_equal(fp8_types[t].nearest(nextafter(tie, INFINITY)), x + 1);
        }
        for (size_t i = 0; i < 4; i++) {
            assert_int_equal(fp8_types[t].nearest(beyond[i]), fp8_types[t].most);
            assert_int_equal(fp8_types[t].nearest(-beyond[i]), fp8_types[t].most | 0x80);
        }
        assert_int_equal(fp8_types[t].nearest(5e-324), 0);
        for (unsigned x = fp8_types[t].nan; x < 0x80; x++)
            assert_true(isnan(fp8_types[t].value((uint8_t)x)));
        assert_true(isnan(fp8_types[t].value(fp8_types[t].nearest(NAN))));
    }
    assert_true(isinf(e5m2_to_float(0x7C)) && e5m2_to_float(0xFC) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_products_are_checked),
        cmocka_unit_test(divisions_round_up),
        cmocka_unit_test(hashes_are_fnv_1a),
        cmocka_unit_test(text_grows),
        cmocka_unit_test(suggestions_are_close),
        cmocka_unit_test(the_closest_of_several_wins),
        cmocka_unit_test(failures_are_recorded),
        cmocka_unit_test(messages_are_one_line),
        cmocka_unit_test(messages_move_no_cursor),
        cmocka_unit_test(bytes_that_are_no_characters),
        cmocka_unit_test(json_has_no_control_characters),
        cmocka_unit_test(long_messages_keep_their_ends),
        cmocka_unit_test(long_messages_are_cut),
        cmocka_unit_test(every_code_has_a_name),
        cmocka_unit_test(sixteen_bits_round_to_nearest_even),
        cmocka_unit_test(eight_bits_round_and_saturate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
