/* Inputs of the sort and what a sweep of it has: counted, and looked at key by key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/half.h"
#include "core/registry.h"
#include "device/device.h"
#include "measure/input_sets.h"
#include "ops/sort/sort_order.h"
#include "ops/sort/sort_proof.h"

/* Behind the cases come uint32 keys alone, as lessons take them, of so many lengths. */
enum { PLAIN = 42, PLAIN_TINY = 16 };

enum { SIZES = 6, WIDTHS = 4, BANDS = 3, CASES_MAX = 100, LENGTHS_MIN = 5 };

/* ---- families ---------------------------------------------------------------------------- */

enum { KEYS = 5000 };

/* KEYS keys of a family. */
typedef struct inputs {
    tsr_type type;
    uint64_t memory[KEYS];
} inputs;

static void fill(inputs *x, tsr_type type, distribution f, uint64_t seed)
{
    const problem q = sort_problem((tsr_sort_problem){.type = type, .n = KEYS});
    void *const operands[] = {x->memory, NULL};

    x->type = type;
    operation_sort.fill(&q, seed, f, operands);
}

static const void *key(const inputs *x, size_t i)
{
    return (const unsigned char *)x->memory + i * tsr_type_size(x->type);
}

/* The order of keys i and j. */
static int compare(const inputs *x, size_t i, size_t j)
{
    return sort_comparator(x->type)(key(x, i), key(x, j));
}

/* A key of a floating type. */
static double number(const inputs *x, size_t i)
{
    const void *k = key(x, i);

    return x->type == TSR_F16   ? half_to_float(*(const uint16_t *)k)
           : x->type == TSR_F32 ? (double)*(const float *)k
                                : *(const double *)k;
}

static bool is_floating(tsr_type type)
{
    return type == TSR_F16 || type == TSR_F32 || type == TSR_F64;
}

/* In every type, however few values it has. */
static void ordered_keys_ascend_and_reversed_ones_descend(void **state)
{
    static inputs x;

    (void)state;
    for (int t = 0; t < TSR_TYPE_COUNT; t++) {
        if (!sort_takes((tsr_type)t))
            continue;
        fill(&x, (tsr_type)t, DISTRIBUTION_ORDERED, 3);
        for (size_t i = 1; i < KEYS; i++)
            assert_true(compare(&x, i - 1, i) <= 0);
        assert_true(compare(&x, 0, KEYS - 1) < 0);
        fill(&x, (tsr_type)t, DISTRIBUTION_REVERSED, 3);
        for (size_t i = 1; i < KEYS; i++)
            assert_true(compare(&x, i - 1, i) >= 0);
        assert_true(compare(&x, 0, KEYS - 1) > 0);
    }
}

/* The seed decides which. */
static void constant_and_two_valued_keys_are_that(void **state)
{
    static inputs x;
    size_t others = 0, draws = 0;
    uint64_t first = 0;

    (void)state;
    for (int t = 0; t < TSR_TYPE_COUNT; t++) {
        if (!sort_takes((tsr_type)t))
            continue;
        for (uint64_t seed = 1; seed < 9; seed++) {
            size_t other = 0, count = 0;

            fill(&x, (tsr_type)t, DISTRIBUTION_CONSTANT, seed);
            for (size_t i = 1; i < KEYS; i++)
                assert_int_equal(compare(&x, 0, i), 0);
            others += seed > 1 && memcmp(&first, x.memory, 8) != 0;
            memcpy(&first, x.memory, 8);
            fill(&x, (tsr_type)t, DISTRIBUTION_TWO, seed);
            while (compare(&x, 0, other) == 0)
                other++;
            for (size_t i = 0; i < KEYS; i++) {
                assert_true(compare(&x, 0, i) == 0 || compare(&x, other, i) == 0);
                count += compare(&x, 0, i) == 0;
            }
            assert_in_range(count, KEYS * 2 / 5, KEYS * 3 / 5);
            draws++;
        }
    }
    assert_true(others > draws / 2);
}

/* Beyond 2^16 keys, which threads fill side by side. */
static void long_arrays_have_one_constant(void **state)
{
    enum { LONG = 200000 };
    const problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = LONG});
    uint32_t *keys = calloc(LONG, sizeof(*keys));
    void *const operands[] = {keys, NULL};

    (void)state;
    assert_non_null(keys);
    operation_sort.fill(&q, 5, DISTRIBUTION_CONSTANT, operands);
    for (size_t i = 1; i < LONG; i++)
        assert_int_equal(keys[i], keys[0]);
    free(keys);
}

/* Stretches that ascend, as many as they have keys, about. */
static void sawtooth_keys_fall_now_and_then(void **state)
{
    static inputs x;

    (void)state;
    for (int t = 0; t < TSR_TYPE_COUNT; t++) {
        size_t falls = 0;

        if (!sort_takes((tsr_type)t))
            continue;
        fill(&x, (tsr_type)t, DISTRIBUTION_SAWTOOTH, 3);
        for (size_t i = 1; i < KEYS; i++)
            falls += compare(&x, i - 1, i) > 0;
        assert_in_range(falls, 60, 75); /* the root of KEYS is 71 */
    }
}

/* Of both signs each: NaN, infinities, zeros and denormals. */
static void special_keys_have_every_kind_of_float(void **state)
{
    static const struct {
        tsr_type type;
        double normal; /* the least */
    } types[] = {{TSR_F16, 0x1p-14}, {TSR_F32, 0x1p-126}, {TSR_F64, 0x1p-1022}};
    static inputs x;

    (void)state;
    for (size_t t = 0; t < 3; t++) {
        size_t nan[2] = {0}, infinite[2] = {0}, zero[2] = {0}, denormal[2] = {0};

        fill(&x, types[t].type, DISTRIBUTION_SPECIAL, 3);
        for (size_t i = 0; i < KEYS; i++) {
            const double v = number(&x, i);
            const unsigned char *bytes = key(&x, i);
            const bool sign = bytes[tsr_type_size(x.type) - 1] >> 7; /* of NaN, too */

            nan[sign] += isnan(v);
            infinite[sign] += isinf(v) != 0;
            zero[sign] += v == 0;
            denormal[sign] += v != 0 && fabs(v) < types[t].normal;
        }
        for (int sign = 0; sign < 2; sign++) {
            assert_true(nan[sign] > KEYS / 100 && infinite[sign] > KEYS / 100);
            assert_true(zero[sign] > KEYS / 100 && denormal[sign] > KEYS / 100);
        }
    }
}

/* What other libraries order alike: all that bench takes, which are those but uniform and special.
 * NaN, infinities and -0 have no place in their order. */
static void plain_keys_are_ordinary(void **state)
{
    static inputs x;

    (void)state;
    for (int t = 0; t < TSR_TYPE_COUNT; t++) {
        if (!is_floating((tsr_type)t))
            continue;
        for (int f = 0; f < DISTRIBUTION_COUNT; f++) {
            size_t odd = 0, negative = 0;

            for (uint64_t seed = 1; seed < 20; seed++) {
                fill(&x, (tsr_type)t, (distribution)f, seed);
                for (size_t i = 0; i < KEYS; i++) {
                    const double v = number(&x, i);

                    odd += !isfinite(v) || (v == 0 && signbit(v));
                    negative += v < 0;
                }
            }
            assert_int_equal(odd > 0, f == DISTRIBUTION_UNIFORM || f == DISTRIBUTION_SPECIAL);
            if (f == DISTRIBUTION_PLAIN)
                assert_in_range(negative, 19 * KEYS * 2 / 5, 19 * KEYS * 3 / 5);
        }
    }
}

/* What bench times: the family that the problem names. */
static void input_sets_hold_the_family_of_the_problem(void **state)
{
    problem p = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = KEYS});
    const tsr_session_options closed = {.no_cache = 1};
    tsr_session *s = NULL;
    tsr_device host;
    input_sets x;

    (void)state;
    p.inputs = DISTRIBUTION_REVERSED;
    device_read_host(&host);
    assert_int_equal(tsr_session_open(&host, &closed, &s, NULL), TSR_OK);
    assert_int_equal(input_sets_open(s, &p, 1, true, true, &x, NULL), TSR_OK);
    for (size_t i = 0; i < KEYS; i++) {
        assert_int_equal(((const uint32_t *)x.before[0])[i], KEYS - 1 - i);
        assert_int_equal(((const uint32_t *)x.memory[0][0])[i], KEYS - 1 - i);
    }
    input_sets_close(&x);
    tsr_session_close(s);
}

/* Those that calls used up, the first in any case; the others are fresh already. */
static void input_sets_restore_what_was_used(void **state)
{
    const problem p = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = KEYS});
    const tsr_session_options closed = {.no_cache = 1};
    static const size_t used[] = {0, 1, 2, 3, 4};
    tsr_session *s = NULL;
    tsr_device host;
    input_sets x;

    (void)state;
    device_read_host(&host);
    assert_int_equal(tsr_session_open(&host, &closed, &s, NULL), TSR_OK);
    assert_int_equal(input_sets_open(s, &p, 1, false, true, &x, NULL), TSR_OK);
    assert_true(x.in_place && x.count > 4);
    for (size_t u = 0; u < sizeof used / sizeof *used; u++) {
        for (size_t k = 0; k < x.count; k++)
            memset(x.memory[k][0], 0x55, KEYS * sizeof(uint32_t));
        x.next = used[u];
        assert_int_equal(input_sets_restore(&x, NULL), TSR_OK);
        assert_int_equal(x.next, 0);
        for (size_t k = 0; k < x.count; k++)
            assert_int_equal(!memcmp(x.memory[k][0], x.before[0], KEYS * sizeof(uint32_t)),
                             k < used[u] || k == 0);
    }
    /* More calls than sets. */
    x.next = x.count + 7;
    assert_int_equal(input_sets_restore(&x, NULL), TSR_OK);
    assert_memory_equal(x.memory[x.count - 1][0], x.before[0], KEYS * sizeof(uint32_t));
    input_sets_close(&x);
    tsr_session_close(s);
}

/* ---- the sweep --------------------------------------------------------------------------- */

/* What the problems of one sweep have, counted. */
typedef struct tally {
    size_t problems;
    size_t corner[TSR_TYPE_COUNT][2][2]; /* descending, index */
    size_t values[TSR_TYPE_COUNT][2];    /* with values, without an index and with one */
    size_t size[WIDTHS][SIZES];          /* of values, with keys of a width */
    size_t family[TSR_TYPE_COUNT][DISTRIBUTION_COUNT];
    size_t band[TSR_TYPE_COUNT][DISTRIBUTION_COUNT][BANDS]; /* of lengths: short, middling, long */
    size_t distinct[TSR_TYPE_COUNT][DISTRIBUTION_COUNT];    /* lengths */
    size_t in_case[CASES_MAX][DISTRIBUTION_COUNT];
} tally;

static size_t log2_of(size_t n)
{
    size_t log2 = 0;

    while (n >> (log2 + 1))
        log2++;
    return log2;
}

/* Cases take turns: as many as problems before the first of the first case comes again. */
static size_t case_count(bool tiny)
{
    problem first, p;
    size_t i = 1;

    assert_true(sort_sweep(0, tiny, &first));
    while (sort_sweep(i, tiny, &p) &&
           !(i > 40 && sort_in(&p)->type == sort_in(&first)->type && !sort_in(&p)->rows))
        i++;
    return i;
}

static bool was_before(size_t i, const problem *p, bool tiny)
{
    problem other;

    for (size_t k = 0; k < i; k++)
        if (sort_sweep(k, tiny, &other) && sort_in(&other)->type == sort_of(p)->type &&
            other.inputs == p->inputs && sort_in(&other)->n == sort_of(p)->n)
            return true;
    return false;
}

static tally counted(bool tiny)
{
    const size_t cases = case_count(tiny);
    size_t all = 0;
    tally t = {0};
    problem p;

    assert_in_range(cases, 1, CASES_MAX);
    while (sort_sweep(all, tiny, &p))
        all++;
    all -= tiny ? PLAIN_TINY : PLAIN;
    for (; t.problems < all && sort_sweep(t.problems, tiny, &p); t.problems++) {
        const tsr_sort_problem *s = sort_of(&p);
        const size_t size = s->value_bytes ? 1 + log2_of(s->value_bytes) : 0;

        assert_true(p.inputs > DISTRIBUTION_PLAIN && p.inputs < DISTRIBUTION_COUNT);
        t.corner[s->type][s->descending][s->argsort]++;
        t.size[log2_of(tsr_type_size(s->type))][size]++;
        if (s->value_bytes)
            t.values[s->type][s->argsort]++;
        t.family[s->type][p.inputs]++;
        t.in_case[t.problems % cases][p.inputs]++;
        if (s->n > 2)
            t.band[s->type][p.inputs][s->n <= 64 ? 0 : s->n < 1024 ? 1 : 2]++;
        t.distinct[s->type][p.inputs] += !was_before(t.problems, &p, tiny);
    }
    assert_int_equal(t.problems % cases, 0);
    for (size_t n = 0; sort_sweep(all, tiny, &p); n = sort_of(&p)->n, all++) {
        const tsr_sort_problem alone = {.type = TSR_U32, .n = sort_of(&p)->n};

        assert_memory_equal(sort_of(&p), &alone, sizeof(alone));
        assert_true(n <= alone.n && p.inputs > DISTRIBUTION_PLAIN);
    }
    return t;
}

/* Both sweeps: each type at each corner, with values beside an index and without one, and values of
 * each size with keys of each width. */
static void every_corner_occurs(void **state)
{
    (void)state;
    for (int tiny = 0; tiny < 2; tiny++) {
        const tally t = counted(tiny);

        for (int type = 0; type < TSR_TYPE_COUNT; type++) {
            if (!sort_takes((tsr_type)type))
                continue;
            for (int i = 0; i < 4; i++)
                if (!t.corner[type][i / 2][i % 2])
                    fail_msg("tiny %d: no %s descending=%d argsort=%d", tiny,
                             tsr_type_name((tsr_type)type), i / 2, i % 2);
            assert_true(t.values[type][0] && t.values[type][1]);
        }
        for (int width = 0; width < WIDTHS; width++)
            for (int size = 0; size < SIZES; size++)
                if (!t.size[width][size])
                    fail_msg("tiny %d: no values of 2^%d bytes with keys of 2^%d", tiny, size - 1,
                             width);
    }
}

static void every_family_meets_the_lengths(void **state)
{
    const tally whole = counted(false), tiny = counted(true);

    (void)state;
    for (int type = 0; type < TSR_TYPE_COUNT; type++)
        for (int f = DISTRIBUTION_UNIFORM; f < DISTRIBUTION_COUNT && sort_takes((tsr_type)type);
             f++) {
            assert_true(tiny.family[type][f] > 0);
            if (whole.distinct[type][f] < LENGTHS_MIN)
                fail_msg("%s: %s input of %zu lengths", tsr_type_name((tsr_type)type),
                         sort_fill_word((distribution)f), whole.distinct[type][f]);
            for (int band = 0; band < BANDS; band++)
                if (!whole.band[type][f][band])
                    fail_msg("%s: no %s input of band %d", tsr_type_name((tsr_type)type),
                             sort_fill_word((distribution)f), band);
        }
    for (size_t c = 0; c < case_count(false); c++)
        for (int f = DISTRIBUTION_UNIFORM; f < DISTRIBUTION_COUNT; f++)
            assert_true(whole.in_case[c][f] > 0);
}

/* Oclgrind takes seconds for what runs here in milliseconds. */
static void the_sweeps_have_their_sizes(void **state)
{
    const tally whole = counted(false), tiny = counted(true);

    (void)state;
    assert_int_equal(case_count(false), case_count(true));
    assert_int_equal(whole.problems, 14 * case_count(false));
    assert_int_equal(tiny.problems, 3 * case_count(true));
    assert_int_equal(tiny.problems, 132);
    assert_int_equal(whole.problems, 616);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordered_keys_ascend_and_reversed_ones_descend),
        cmocka_unit_test(constant_and_two_valued_keys_are_that),
        cmocka_unit_test(long_arrays_have_one_constant),
        cmocka_unit_test(sawtooth_keys_fall_now_and_then),
        cmocka_unit_test(special_keys_have_every_kind_of_float),
        cmocka_unit_test(plain_keys_are_ordinary),
        cmocka_unit_test(input_sets_hold_the_family_of_the_problem),
        cmocka_unit_test(input_sets_restore_what_was_used),
        cmocka_unit_test(every_corner_occurs),
        cmocka_unit_test(every_family_meets_the_lengths),
        cmocka_unit_test(the_sweeps_have_their_sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
