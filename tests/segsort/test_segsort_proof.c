/* Proving segsort: lengths that are drawn, the sweep, and what the proof finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "../sort/sort_plans.h"
#include "base/sizes.h"
#include "core/registry.h"
#include "ops/segsort/segsort_problem.h"
#include "ops/sort/sort_proof.h"

/* ---- proof --------------------------------------------------------------------------------- */

enum { ROOM = 1200 };

/* One problem with its operands before and after, of at most ROOM words. */
typedef struct trial {
    problem q;
    uint64_t before[4][ROOM], after[4][ROOM];
} trial;

static void trial_start(trial *t)
{
    void *const operands[] = {t->before[0], t->before[1], t->before[2], t->before[3]};

    operation_segsort.fill(&t->q, 7, DISTRIBUTION_UNIFORM, operands);
    memcpy(t->after, t->before, sizeof(t->after));
}

static void trial_sort(const problem *q, trial *t)
{
    void *const operands[] = {t->after[0], t->after[1], t->after[2], t->after[3]};

    assert_int_equal(find_of(q->op, "qsort")->host(q, operands, NULL), TSR_OK);
}

static bool trial_passes(const trial *t)
{
    const void *const before[] = {t->before[0], t->before[1], t->before[2], t->before[3]};
    const void *const after[] = {t->after[0], t->after[1], t->after[2], t->after[3]};
    const device_facts d = {.kind = DEVICE_HOST};
    verdict v;

    assert_int_equal(operation_segsort.verify(&t->q, &d, before, after, NULL, &v, NULL), TSR_OK);
    assert_true(v.ok || v.detail[0]);
    return v.ok;
}

/* Every problem of the sweep. */
static void test_qsort_passes_the_proof(void **state)
{
    problem q;

    (void)state;
    for (size_t i = 0; segsort_sweep(i, true, &q); i++) {
        static trial t;

        t.q = q;
        trial_start(&t);
        trial_sort(&q, &t);
        assert_true(trial_passes(&t));
    }
}

/* Segments are told apart wherever they start. */
static void test_proof_of_segments(void **state)
{
    static trial t;
    uint32_t *keys = (uint32_t *)t.after[0];
    int64_t *index = (int64_t *)t.after[1];
    const uint64_t *offsets = t.before[3] + 1;
    size_t s = 1;
    problem whole;
    uint32_t kept;

    (void)state;
    t.q = segsort_problem((tsr_segsort_problem){{.type = TSR_U32, .n = 300, .argsort = true},
                                                .segments = 20,
                                                .segment_longest = 40,
                                                .offset_segments = 1});
    trial_start(&t);
    trial_sort(&t.q, &t);
    assert_true(trial_passes(&t));
    while (offsets[s] == offsets[s - 1] || offsets[s + 1] == offsets[s] ||
           keys[offsets[s] - 1] <= keys[offsets[s]])
        s++;
    index[offsets[s]] += (int64_t)(offsets[s] - offsets[s - 1]); /* from another segment's start */
    assert_false(trial_passes(&t));
    index[offsets[s]] -= (int64_t)(offsets[s] - offsets[s - 1]);
    kept = keys[offsets[s]]; /* the two in order, as if they were of one segment */
    keys[offsets[s]] = keys[offsets[s] - 1];
    keys[offsets[s] - 1] = kept;
    assert_false(trial_passes(&t));
    trial_start(&t);
    whole = sort_problem(*sort_of(&t.q));
    trial_sort(&whole, &t);
    assert_false(trial_passes(&t)); /* all sorted as one */
}

/* The same beyond the reference, with an index and without. */
static void test_proof_of_many_segments(void **state)
{
    enum { LENGTH = 1100, COUNT_OF = 1000, N = LENGTH * COUNT_OF };
    const device_facts d = {.kind = DEVICE_HOST};
    problem q = segsort_problem((tsr_segsort_problem){{.type = TSR_U32, .n = N}});
    uint32_t *before = malloc(N * sizeof(*before)), *after_ = malloc(N * sizeof(*after_));
    int64_t *index = malloc(N * sizeof(*index));
    uint64_t *offsets = calloc(2 * COUNT_OF + 1, sizeof(*offsets));
    const void *const given[] = {before, index, NULL, offsets};
    const void *const sorted[] = {after_, index, NULL, offsets};
    verdict v;

    (void)state;
    assert_true(before && after_ && index && offsets);
    segsort_in(&q)->segments = (size_t)2 * COUNT_OF; /* every other one is empty */
    for (size_t i = 0; i < N; i++) {
        before[i] = after_[i] = (uint32_t)(i % LENGTH);
        index[i] = (int64_t)(i % LENGTH);
    }
    for (size_t i = 1; i <= (size_t)2 * COUNT_OF; i++)
        offsets[i] = i / 2 * LENGTH;
    for (int argsort = 0; argsort < 2; argsort++) {
        sort_in(&q)->argsort = argsort;
        operation_segsort.verify(&q, &d, given, sorted, NULL, &v, NULL);
        assert_true(v.ok);
        after_[0] = before[LENGTH] = 1; /* in order, but of two segments */
        after_[LENGTH] = before[0] = 0;
        operation_segsort.verify(&q, &d, given, sorted, NULL, &v, NULL);
        assert_false(v.ok);
        after_[0] = before[LENGTH] = 0;
    }
    after_[N - 1] = 5;
    operation_segsort.verify(&q, &d, given, sorted, NULL, &v, NULL);
    assert_false(v.ok);
    free(before);
    free(after_);
    free(index);
    free(offsets);
}

/* ---- inputs -------------------------------------------------------------------------------- */

/* Random lengths are all there are, up to the longest, and add up. */
static void test_lengths_are_mixed(void **state)
{
    enum { COUNT = 2000, MEAN = 50 };
    static uint32_t keys[COUNT * MEAN];
    static uint64_t offsets[COUNT + 1];
    void *const operands[] = {keys, NULL, NULL, offsets};
    problem q =
        segsort_problem((tsr_segsort_problem){{.type = TSR_U32, .n = (size_t)COUNT * MEAN}, COUNT});

    (void)state;
    for (size_t spread = 2; spread <= 16; spread += 14) {
        size_t empty = 0, short_ones = 0, longest = 0;
        tsr_error err = {0};

        segsort_in(&q)->segment_longest = spread * MEAN;
        operation_segsort.fill(&q, 5, DISTRIBUTION_UNIFORM, operands);
        if (operation_check_offsets(&operation_segsort, sort_in(&q)->n, COUNT, offsets, &longest,
                                    &err))
            fail_msg("%s", err.message);
        for (size_t i = 0; i < COUNT; i++) {
            empty += offsets[i + 1] == offsets[i];
            short_ones += offsets[i + 1] - offsets[i] <= MEAN;
        }
        assert_in_range(longest, spread * MEAN * 9 / 10, spread * MEAN);
        /* Of lengths r^power (longest + 1), r uniform, power = spread - 1: as many are 0 as
         * (longest + 1)^(-1 / power), and up to the mean as (MEAN + 1)^(1 / power) times that. Five
         * standard deviations of a count below 2000 are below 112. */
        assert_in_range(empty, spread == 2 ? 1 : 1279 - 112, spread == 2 ? 20 + 112 : 1279 + 112);
        assert_in_range(short_ones, spread == 2 ? 1010 - 112 : 1662 - 112,
                        spread == 2 ? 1010 + 112 : 1662 + 112);
    }
}

/* Both sweeps have segments of every type, with an index and without one, with values, one segment
 * and many, short ones alone and of any length, and offsets that do not start where the array does.
 */
static void test_every_kind_occurs(void **state)
{
    (void)state;
    for (int tiny = 0; tiny < 2; tiny++) {
        size_t of_type[TSR_TYPE_COUNT] = {0}, index[2] = {0}, values = 0, one = 0, many = 0;
        size_t any_length = 0, short_ones = 0, apart = 0, count = 0;
        problem q;

        for (; segsort_sweep(count, tiny, &q); count++) {
            const tsr_segsort_problem *s = segsort_of(&q);

            assert_int_equal(operation_segsort.check(&q, NULL), TSR_OK);
            of_type[s->sort.type]++;
            index[s->sort.argsort]++;
            values += s->sort.value_bytes > 0;
            one += s->segments == 1;
            many += s->segments > s->sort.n && s->sort.n;
            any_length += s->segment_longest == 0;
            short_ones += s->segment_longest && s->segment_longest < s->sort.n;
            apart += s->offset_segments > 0;
        }
        for (int type = 0; type < TSR_TYPE_COUNT; type++)
            if (sort_takes((tsr_type)type) && !of_type[type])
                fail_msg("tiny %d: no %s", tiny, tsr_type_name((tsr_type)type));
        assert_true(index[0] && index[1] && values && one && many);
        assert_true(any_length && short_ones && apart);
        assert_int_equal(count, (size_t)18 * (tiny ? 3 : 14));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_qsort_passes_the_proof), cmocka_unit_test(test_proof_of_segments),
        cmocka_unit_test(test_proof_of_many_segments), cmocka_unit_test(test_lengths_are_mixed),
        cmocka_unit_test(test_every_kind_occurs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
