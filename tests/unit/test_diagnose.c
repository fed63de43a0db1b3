/* What a diagnosis concludes, from made-up calls on a made-up device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "measure/diagnose.h"

/* A call of one command of a millisecond, which the host takes no longer for. */
typedef struct made_up {
    limits limits;
    symptoms seen;
    explained command;
    diagnosis d;
} made_up;

/* 1000 GFLOP/s, matrix units of 6000 in TF32, 100 GB/s, local memory of 1000 GB/s: memory has 100
 * MB in the millisecond, and the ridge is at 20 FLOPs a byte. */
static void make_up(made_up *m, const char *precision, double flops, double compulsory)
{
    diagnosis *d = &m->d;

    *m = (made_up){.seen.products = true, .seen.warps = true};
    m->seen.limits = &m->limits;
    m->limits.of[LIMIT_FP32].value = 1000;
    m->limits.of[LIMIT_TENSOR_TF32].value = 6000;
    m->limits.of[LIMIT_TENSOR_INT8].value = 20000;
    m->limits.of[LIMIT_MEMORY_READ].value = 100;
    m->limits.of[LIMIT_LOCAL_MEMORY].value = 1000;
    m->command.time.median_ns = d->row.time.median_ns = d->row.wall_ns = 1e6;
    d->call.count = 1;
    d->call.command = &m->command;
    d->call.traffic = (traffic){.compulsory = compulsory, .flops = flops};
    d->row.commands = 1;
    d->row.work = flops;
    d->row.rate = flops / 1e6;
    snprintf(d->row.unit, sizeof(d->row.unit), "GFLOP/s");
    snprintf(d->row.precision, sizeof(d->row.precision), "%s", precision);
}

/* Place the call, answer, and see what binds. */
static void binds(made_up *m, cause expected)
{
    diagnosis *d = &m->d;

    m->d.row.bytes = d->call.traffic.compulsory;
    roofline_place(&m->limits, &d->row);
    d->place = intensity_of(&d->call.traffic, &m->limits, d->row.precision);
    diagnose_answer(&m->seen, d);
    assert_int_equal(d->cause, expected);
    assert_string_equal(
        d->binds, expected == CAUSE_LATENCY ? "latency" : question_name(cause_question(expected)));
    if (expected != CAUSE_LATENCY)
        assert_int_equal(d->found[cause_question(expected)].answer, ANSWER_YES);
    for (int i = 0; i < QUESTIONS; i++)
        assert_true(strlen(d->found[i].evidence) > 8);
}

static void answers(const made_up *m, question of, answer expected, const char *part)
{
    const finding *f = &m->d.found[of];

    if (f->answer != expected || !strstr(f->evidence, part))
        fail_msg("%s: %d, %s", question_name(of), f->answer, f->evidence);
}

static void the_host_is_slower_than_the_commands(void **state)
{
    made_up m;

    (void)state;
    make_up(&m, "f32", 0, 90e6);
    m.d.row.wall_ns = 2.1e6;
    binds(&m, CAUSE_LAUNCHES);
    make_up(&m, "f32", 0, 90e6);
    m.d.row.wall_ns = 1.9e6;
    binds(&m, CAUSE_BYTES);
    m.limits.of[LIMIT_LAUNCH_WAITED].value =
        120; /* us: 2 * 5 * 120 us and more are not launches' */
    m.d.row.wall_ns = 2.1e6;
    binds(&m, CAUSE_LAUNCHES);
    m.d.row.wall_ns = 2.3e6;
    binds(&m, CAUSE_BYTES);
    answers(&m, ASK_LAUNCHES, ANSWER_UNKNOWN, "something else");
    m.d.row.wall_ns = 0;
    binds(&m, CAUSE_BYTES);
    answers(&m, ASK_LAUNCHES, ANSWER_UNKNOWN, "not measured");
}

static void memory_binds_in_four_ways(void **state)
{
    made_up m;

    (void)state;
    make_up(&m, "f32", 0, 61e6);
    binds(&m, CAUSE_BYTES);
    make_up(&m, "f32", 0, 20e6);
    binds(&m, CAUSE_ACCESS);
    answers(&m, ASK_MEMORY, ANSWER_YES, "little arithmetic");
    m.d.call.traffic.requested = 80e6;
    binds(&m, CAUSE_REUSE);
    m.d.call.traffic.local = 600e6;
    binds(&m, CAUSE_REUSE);
    m.d.call.traffic.local = 900e6;
    binds(&m, CAUSE_LOCAL);
}

/* A twentieth of the time is the least that points at memory: of what must move, since a cache has
 * what is asked for again, as the edges that each element is compared with. */
static void little_traffic_is_no_evidence(void **state)
{
    made_up m;

    (void)state;
    make_up(&m, "f32", 0, 4e6);
    binds(&m, CAUSE_LATENCY);
    answers(&m, ASK_MEMORY, ANSWER_UNKNOWN, "too little");
    m.d.call.traffic.requested = 20e6;
    binds(&m, CAUSE_LATENCY);
    answers(&m, ASK_MEMORY, ANSWER_UNKNOWN, "what work-items ask for takes 20%: too little");
    make_up(&m, "f32", 0, 6e6);
    binds(&m, CAUSE_ACCESS);
    answers(&m, ASK_MEMORY, ANSWER_YES, "take 6% of the time");
    assert_true(m.d.found[ASK_MEMORY].share == 0.06);
    m.seen.cpu = true;
    binds(&m, CAUSE_LATENCY);
    answers(&m, ASK_MEMORY, ANSWER_UNKNOWN, "take 6% of the time");
}

/* A part of the limit is said of a number in the unit of the rate. */
static void the_roof_has_its_unit(void **state)
{
    made_up m;

    (void)state;
    make_up(&m, "f32", 20e6, 10e6);
    binds(&m, CAUSE_ACCESS);
    answers(&m, ASK_ROOF, ANSWER_NO,
            "20 GFLOP/s are 10% of 200 GFLOP/s (memory read, at 2 FLOPs a byte)");
    make_up(&m, "f32", 100e6, 1e6);
    m.limits.of[LIMIT_TENSOR_TF32].value = 0;
    binds(&m, CAUSE_LATENCY);
    answers(&m, ASK_ROOF, ANSWER_NO, "100 GFLOP/s are 10% of 1000 GFLOP/s (fp32)");
}

static void without_a_limit_memory_is_unknown(void **state)
{
    made_up m;

    (void)state;
    make_up(&m, "i8", 1e6, 20e6);
    m.limits.of[LIMIT_TENSOR_INT8].value = 0;
    binds(&m, CAUSE_LATENCY);
    answers(&m, ASK_MEMORY, ANSWER_UNKNOWN, "no limit of i8");
    answers(&m, ASK_UNITS, ANSWER_NO, "no matrix units of i8");
    make_up(&m, "f32", 1e6, 20e6);
    m.limits.of[LIMIT_MEMORY_READ].value = 0;
    binds(&m, CAUSE_LATENCY);
    answers(&m, ASK_MEMORY, ANSWER_UNKNOWN, "memory read");
    answers(&m, ASK_UNITS, ANSWER_UNKNOWN, "the ridge was not measured");
    answers(&m, ASK_ROOF, ANSWER_UNKNOWN, "no roof");
}

static void what_a_cache_had_is_not_memory(void **state)
{
    made_up m;

    (void)state;
    make_up(&m, "f32", 2e6, 104e6);
    binds(&m, CAUSE_BYTES);
    make_up(&m, "f32", 2e6, 123e6);
    binds(&m, CAUSE_LATENCY);
    answers(&m, ASK_MEMORY, ANSWER_NO, "a cache had them");
    answers(&m, ASK_ROOF, ANSWER_UNKNOWN, "a cache had the data");
}

/* Of more bytes than caches hold it is the limit that is wrong, and nothing is concluded from it.
 */
static void a_limit_below_what_moved_is_doubted(void **state)
{
    made_up m;

    (void)state;
    make_up(&m, "f32", 2e6, 123e6);
    m.seen.cache = 10e6;
    m.d.row.bytes = 123e6;
    roofline_place(&m.limits, &m.d.row);
    diagnose_answer(&m.seen, &m.d);
    assert_int_equal(m.d.low_limit, LIMIT_MEMORY_READ);
    assert_string_equal(m.d.binds, "unknown");
    answers(&m, ASK_MEMORY, ANSWER_UNKNOWN, "'tessera roofline --limits' measures it again");
    answers(&m, ASK_ROOF, ANSWER_UNKNOWN, "the limit is too low");
    assert_null(strstr(m.d.verdict, "none of these"));
    m.seen.cache = 30e6; /* the 93 MB that it cannot have had take less than the time */
    binds(&m, CAUSE_LATENCY);
    assert_int_equal(m.d.low_limit, LIMIT_COUNT);
    answers(&m, ASK_MEMORY, ANSWER_NO, "a cache had them");
}

/* Less than memory moves meanwhile needs no cache. */
static void caches_serve_only_what_memory_does_not(void **state)
{
    made_up m;

    (void)state;
    make_up(&m, "f32", 0, 20e6);
    m.d.call.traffic.requested = 80e6;
    binds(&m, CAUSE_REUSE);
    answers(&m, ASK_MEMORY, ANSWER_YES, "0.8 of what memory moves meanwhile");
    assert_null(strstr(m.d.found[ASK_MEMORY].evidence, "caches"));
    m.d.call.traffic.requested = 120e6;
    binds(&m, CAUSE_REUSE);
    answers(&m, ASK_MEMORY, ANSWER_YES,
            "1.2 times as much as memory moves meanwhile, so that caches");
}

static void barriers_and_lanes_come_before_slow_access(void **state)
{
    made_up m;

    (void)state;
    make_up(&m, "f32", 0, 20e6);
    m.d.call.traffic.requested = 20e6;
    m.seen.barriers =
        (barrier_cost){.passed = 1, .launches = 1, .group = 64, .each_ns = 90, .all_ns = 5.1e5};
    binds(&m, CAUSE_BARRIERS);
    answers(&m, ASK_BARRIERS, ANSWER_YES, "a group passes 1 barrier;");
    m.seen.barriers.passed = 24;
    m.seen.barriers.launches = 4;
    binds(&m, CAUSE_BARRIERS);
    answers(&m, ASK_BARRIERS, ANSWER_YES,
            "the groups of its 4 launches pass 24 barriers, one launch after another;");
    m.seen.barriers.all_ns = 4.9e5;
    binds(&m, CAUSE_ACCESS);
    m.seen.barriers.each_ns = m.seen.barriers.all_ns = 0;
    binds(&m, CAUSE_ACCESS);
    answers(&m, ASK_BARRIERS, ANSWER_UNKNOWN, "could not be measured");
    m.command.traffic.busy = 0.4;
    binds(&m, CAUSE_DIVERGENCE);
    m.seen.warps = false;
    binds(&m, CAUSE_ACCESS);
    assert_non_null(strstr(m.d.cure, "coalescing"));
    assert_true(m.d.commands_ns == 1e6);
    m.seen.cpu = true;
    binds(&m, CAUSE_LATENCY);
    assert_non_null(strstr(m.d.cure, "memory in order"));
    answers(&m, ASK_MEMORY, ANSWER_UNKNOWN, "a CPU's times do not tell apart");
    answers(&m, ASK_DIVERGENCE, ANSWER_NO, "no warps");
}

static void a_product_is_at_its_roof_or_sent_to_matrix_units(void **state)
{
    made_up m;

    (void)state;
    make_up(&m, "f32", 800e6, 1e6);
    binds(&m, CAUSE_UNITS);
    answers(&m, ASK_UNITS, ANSWER_YES, "80% of what multiply-adds reach; matrix units reach 2000");
    make_up(&m, "f32", 1100e6, 1e6);
    binds(&m, CAUSE_LATENCY);
    answers(&m, ASK_UNITS, ANSWER_NO, "beyond what multiply-adds reach");
    make_up(&m, "f32", 1300e6, 1e6);
    binds(&m, CAUSE_ROOF);
    make_up(&m, "f32-strict", 500e6, 1e6);
    binds(&m, CAUSE_LATENCY);
    answers(&m, ASK_UNITS, ANSWER_NO, "f32-strict, excludes");
    make_up(&m, "f32", 800e6, 1e6);
    m.limits.of[LIMIT_TENSOR_TF32].value = 2400;
    binds(&m, CAUSE_ROOF);
    answers(&m, ASK_UNITS, ANSWER_NO, "no more than multiply-adds");
    make_up(&m, "f32", 950e6, 1e6);
    m.limits.of[LIMIT_TENSOR_TF32].value = 4500;
    binds(&m, CAUSE_ROOF);
    answers(&m, ASK_UNITS, ANSWER_YES, "95%");
    make_up(&m, "f32", 500e6, 1e6);
    m.seen.products = false;
    binds(&m, CAUSE_LATENCY);
}

/* Multiply-adds of int8 have no limit of their own. */
static void int8_is_held_against_matrix_units_alone(void **state)
{
    made_up m;

    (void)state;
    make_up(&m, "i8", 2000e6, 1e6);
    binds(&m, CAUSE_LATENCY);
    answers(&m, ASK_UNITS, ANSWER_UNKNOWN, "10% of what matrix units reach (2e+04, tensor int8)");
    make_up(&m, "i8", 11000e6, 1e6);
    binds(&m, CAUSE_LATENCY);
    answers(&m, ASK_UNITS, ANSWER_NO, "55%");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_is_slower_than_the_commands),
        cmocka_unit_test(memory_binds_in_four_ways),
        cmocka_unit_test(little_traffic_is_no_evidence),
        cmocka_unit_test(the_roof_has_its_unit),
        cmocka_unit_test(without_a_limit_memory_is_unknown),
        cmocka_unit_test(what_a_cache_had_is_not_memory),
        cmocka_unit_test(a_limit_below_what_moved_is_doubted),
        cmocka_unit_test(caches_serve_only_what_memory_does_not),
        cmocka_unit_test(barriers_and_lanes_come_before_slow_access),
        cmocka_unit_test(a_product_is_at_its_roof_or_sent_to_matrix_units),
        cmocka_unit_test(int8_is_held_against_matrix_units_alone)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
