/* Order statistics, how candidates are interleaved, and how many input sets make a row cold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "made_up_operation.h"
#include "measure/bench.h"
#include "measure/input_sets.h"

static void near(double got, double wanted)
{
    if (!(got >= wanted - 1e-9 && got <= wanted + 1e-9))
        fail_msg("%.17g is not %.17g", got, wanted);
}

static void statistics(void **state)
{
    double five[] = {5, 1, 4, 2, 3}, four[] = {40, 10, 30, 20}, one[] = {7};
    timing t = timing_of(five, 5, 3);

    (void)state;
    assert_int_equal(t.count, 5);
    assert_int_equal(t.calls, 3);
    near(t.min_ns, 1);
    near(t.low_ns, 2);
    near(t.median_ns, 3);
    near(t.high_ns, 4);
    near(t.max_ns, 5);
    near(timing_spread(&t), 1.0 / 3);
    t = timing_of(four, 4, 1);
    near(t.median_ns, 25);
    near(t.low_ns, 17.5);
    near(t.high_ns, 32.5);
    t = timing_of(one, 1, 1);
    near(t.min_ns, 7);
    near(t.low_ns, 7);
    near(t.max_ns, 7);
    near(timing_spread(&t), 0);
    t = timing_of(one, 0, 1);
    assert_int_equal(t.count, 0);
    near(timing_spread(&t), 0);
}

/* A candidate whose clock is made up: each call takes `each`, and slower from call to call. */
typedef struct fake {
    double each, drift;
    size_t runs, calls, restores, most, last_calls;
    size_t used, seen; /* calls since the last restore, and restores before it */
    bool unrestored;
    size_t *order, *orders, id; /* of the runs of everybody */
    volatile sig_atomic_t *stop;
    size_t stop_after, fail_after, unrestorable_after;
} fake;

static tsr_status run_fake(void *state, size_t calls, double *ns, tsr_error *err)
{
    fake *f = state;

    f->runs++;
    f->used = f->restores == f->seen ? f->used + calls : calls;
    f->seen = f->restores;
    f->unrestored = f->unrestored || (f->most && f->used > f->most);
    f->calls += calls;
    f->last_calls = calls;
    if (f->order && *f->orders < 20000)
        f->order[(*f->orders)++] = f->id;
    if (f->stop && f->runs >= f->stop_after)
        *f->stop = 1;
    if (f->fail_after && f->runs > f->fail_after)
        return tsr_fail(err, TSR_ECL, 0, "run %zu failed", f->runs);
    *ns = (double)calls * (f->each + f->drift * (double)f->runs);
    return TSR_OK;
}

static tsr_status restore_fake(void *state, tsr_error *err)
{
    fake *f = state;

    f->restores++;
    if (f->unrestorable_after && f->restores > f->unrestorable_after)
        return tsr_fail(err, TSR_ECL, 0, "restore %zu failed", f->restores);
    return TSR_OK;
}

static void interleaving(void **state)
{
    static const size_t turns[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1},
                                       {0, 2, 1}, {1, 0, 2}, {2, 1, 0}};
    static size_t order[20000];
    size_t orders = 0;
    fake a = {.each = 1000, .order = order, .orders = &orders, .id = 0};
    fake b = {.each = 1000, .order = order, .orders = &orders, .id = 1, .most = 7};
    fake c = {.each = 1e9, .order = order, .orders = &orders, .id = 2};
    candidate all[] = {
        {.state = &a, .run = run_fake},
        {.state = &b, .run = run_fake, .most_calls = 7, .uses_up = true, .restore = restore_fake},
        {.state = &c, .run = run_fake}};
    const bench_options o = {.seconds = 0.001, .least_samples = 30};
    timing t[3];
    tsr_error err = {0};
    size_t start;

    (void)state;
    assert_int_equal(bench_interleave(all, 3, &o, t, &err), TSR_OK);
    for (int i = 0; i < 3; i++)
        assert_true(t[i].count >= 30 && t[i].count == t[0].count);
    near(t[0].median_ns, 1000);
    near(t[1].median_ns, 1000); /* by call, however many a sample holds */
    near(t[2].median_ns, 1e9);
    assert_int_equal(t[0].calls, 50); /* a twentieth of the time */
    assert_int_equal(t[1].calls, 6);  /* and one that is not timed */
    assert_int_equal(t[2].calls, 1);
    assert_false(b.unrestored);
    /* Each goes first in turn, and the others follow in one direction or in the other; those of
     * short calls go twice, of which the first is not timed. */
    start = orders - 5 * t[0].count;
    for (size_t r = 0; r < t[0].count; r++)
        for (size_t i = 0; i < 3; i++)
            for (size_t again = turns[r % 6][i] == 2; again < 2; again++)
                assert_int_equal(order[start++], turns[r % 6][i]);
    assert_int_equal(start, orders);
}

/* Both drift alike: what one round does to one, it does to the other. */
static void the_same_twice(void **state)
{
    fake a = {.each = 1000, .drift = 3}, b = {.each = 1000, .drift = 3};
    candidate both[] = {{.state = &a, .run = run_fake}, {.state = &b, .run = run_fake}};
    const bench_options o = {.seconds = 0.001, .least_samples = 100};
    timing t[2];

    (void)state;
    assert_int_equal(bench_interleave(both, 2, &o, t, NULL), TSR_OK);
    assert_true(timing_spread(&t[0]) > 0);
    near(t[0].median_ns, t[1].median_ns);
}

/* After a sample of one whose threads spin, so long is waited, which no time counts. */
static void settling(void **state)
{
    const bench_options once = {.seconds = 0.001, .least_samples = 3};
    fake a = {.each = 1000};
    candidate one = {.state = &a, .run = run_fake, .settle_ns = 20000000};
    const uint64_t start = clock_ns();
    timing t;

    (void)state;
    assert_int_equal(bench_interleave(&one, 1, &once, &t, NULL), TSR_OK);
    assert_true(clock_ns() - start >= (t.count + 1) * (uint64_t)one.settle_ns);
    assert_true(t.max_ns <= 1001);
}

/* Cores that slept get untimed calls for as long as is said, not only those of brief calls; what
 * uses inputs up gets one. */
static void warming(void **state)
{
    const bench_options once = {.seconds = 0.001, .least_samples = 3};
    fake a = {.each = 1.9e7}, b = {.each = 2.1e7}, c = {.each = 1000}, d = {.each = 1000};
    candidate quick = {.state = &a, .run = run_fake, .warm_ns = 20000000};
    candidate slow = {.state = &b, .run = run_fake, .warm_ns = 20000000};
    candidate used_up = {
        .state = &c, .run = run_fake, .most_calls = 6, .uses_up = true, .warm_ns = 20000000};
    candidate few = {.state = &d, .run = run_fake, .most_calls = 6, .warm_ns = 20000000};
    uint64_t start = clock_ns();
    timing t;

    (void)state;
    assert_int_equal(bench_interleave(&quick, 1, &once, &t, NULL), TSR_OK);
    assert_true(clock_ns() - start >= t.count * (uint64_t)quick.warm_ns);
    assert_int_equal(t.calls, 1);
    start = clock_ns();
    assert_int_equal(bench_interleave(&slow, 1, &once, &t, NULL), TSR_OK);
    assert_true(clock_ns() - start < slow.warm_ns);
    start = clock_ns();
    assert_int_equal(bench_interleave(&used_up, 1, &once, &t, NULL), TSR_OK);
    assert_true(clock_ns() - start < used_up.warm_ns);
    assert_int_equal(t.calls, 5);
    start = clock_ns();
    assert_int_equal(bench_interleave(&few, 1, &once, &t, NULL), TSR_OK);
    assert_true(clock_ns() - start >= t.count * (uint64_t)few.warm_ns);
    assert_int_equal(t.calls, 6);
}

static void stopping(void **state)
{
    volatile sig_atomic_t stop = 0;
    fake a = {.each = 1e8, .stop = &stop, .stop_after = 12};
    candidate one = {.state = &a, .run = run_fake};
    const bench_options o = {.seconds = 1000, .least_samples = 1000, .stop = &stop};
    timing t;

    (void)state;
    assert_int_equal(bench_interleave(&one, 1, &o, &t, NULL), TSR_OK);
    assert_int_equal(a.runs, 12);
    assert_true(t.count > 0 && t.count < 12);
    near(t.median_ns, 1e8);
}

static void failing(void **state)
{
    fake a = {.each = 1000}, b = {.each = 1000, .fail_after = 6};
    candidate both[] = {{.state = &a, .run = run_fake}, {.state = &b, .run = run_fake}};
    const bench_options o = {.seconds = 0.001};
    tsr_error err = {0};
    timing t[2];

    (void)state;
    assert_int_equal(bench_interleave(both, 2, &o, t, &err), TSR_ECL);
    assert_string_equal(err.message, "run 7 failed");
}

/* One whose failure has a place of its own is out; the others are timed. */
static void failing_alone(void **state)
{
    fake a = {.each = 1000}, b = {.each = 1000, .fail_after = 6};
    fake c = {.each = 1000, .unrestorable_after = 2};
    tsr_error err = {0}, of_b = {0}, of_c = {0};
    candidate all[] = {{.state = &a, .run = run_fake},
                       {.state = &b, .run = run_fake, .failure = &of_b},
                       {.state = &c, .run = run_fake, .restore = restore_fake, .failure = &of_c}};
    const bench_options o = {.seconds = 0.001, .least_samples = 30};
    timing t[3];

    (void)state;
    assert_int_equal(bench_interleave(all, 3, &o, t, &err), TSR_OK);
    assert_true(t[0].count >= 30);
    assert_int_equal(t[1].count, 0);
    assert_int_equal(t[2].count, 0);
    assert_string_equal(of_b.message, "run 7 failed");
    assert_string_equal(of_c.message, "restore 3 failed");
    assert_int_equal(b.runs, 7);
    assert_int_equal(c.runs, 2); /* what cannot be restored is not timed */
    assert_int_equal(err.status, TSR_OK);
}

static problem keys(size_t n)
{
    static const operation made_up_keys = {.name = "keys", .operands = made_up_operands};
    const made_up numbers = {.type = TSR_U32, .n = n};

    return problem_from(&made_up_keys, &numbers, sizeof(numbers));
}

static void sets(void **state)
{
    const size_t mib = (size_t)1 << 20;
    tsr_session gpu = {.device.facts = {.kind = DEVICE_GPU, .global_memory = 100000 * mib}};
    const problem small = keys(16), medium = keys(2 * mib), big = keys(4096 * mib);
    bool cold = false;

    (void)state;
    /* 8 MiB a set against 128 MiB of cache: four times that, and the one in use. */
    assert_int_equal(input_sets_count(&gpu, &medium, false, &cold), 65);
    assert_true(cold);
    assert_int_equal(input_sets_count(&gpu, &medium, true, &cold), 1);
    assert_false(cold);
    assert_int_equal(input_sets_count(&gpu, &small, false, &cold), 1024);
    assert_false(cold); /* 64 KiB in all stay in the cache: the row says so */
    assert_int_equal(input_sets_count(&gpu, &big, false, &cold), 2);
    assert_true(cold);
    gpu.device.facts.global_memory = 20000 * mib;
    assert_int_equal(input_sets_count(&gpu, &big, false, &cold), 1);
    assert_true(cold); /* one pushes its own beginning out */
    gpu.device.facts.global_memory = 512 * mib;
    assert_int_equal(input_sets_count(&gpu, &medium, false, &cold), 8);
    assert_false(cold);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics),     cmocka_unit_test(interleaving),
        cmocka_unit_test(the_same_twice), cmocka_unit_test(settling),
        cmocka_unit_test(warming),        cmocka_unit_test(stopping),
        cmocka_unit_test(failing),        cmocka_unit_test(failing_alone),
        cmocka_unit_test(sets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
