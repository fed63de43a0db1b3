/* The variants of segsort with tiles: how a work-group arranges short segments, as the kernels' own
 * text does it; how long ones are split; what is refused, and what the offsets have to be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "../sort/sort_plans.h"
#include "base/random.h"
#include "base/sizes.h"
#include "core/registry.h"
#include "core/tuning_class.h"
#include "ops/segsort/segsort_problem.h"

/* ---- the kernels' lists, compiled as C for one work-item ------------------------------------- */

typedef unsigned int uint;
typedef unsigned long ulong;
_Static_assert(sizeof(ulong) == 8, "OpenCL's ulong");

static uint least_of(size_t a, size_t b)
{
    return (uint)(a < b ? a : b);
}

static bool with_index;
static uint shift_least; /* 0, or of a work-item that holds so many keys */

#ifdef __clang__ /* an address space of OpenCL C has a name that C reserves */
#pragma clang diagnostic ignored "-Wreserved-identifier"
#endif
#define __global
#define __local
#define CLK_LOCAL_MEM_FENCE
#define barrier(fence)
#define get_local_id(dimension)  0
#define min(a, b)                ((a) < (b) ? (a) : (b))
#define max(a, b)                ((a) > (b) ? (a) : (b))
#define clz(x)                   ((uint)__builtin_clz(x))
#define atomic_inc(counter)      ((*(counter))++)
#define atomic_max(kept, number) (*(kept) = max(*(kept), (number)))
#define GROUP                    1
#define TILE                     128
#define WITH_INDEX               with_index
#define SHIFT_MIN                shift_least
#define BATCH_MAX                256
#define segsort_call             kernel_call // the host's is of the same name
#include "../../cl/segsort/segsort_batch.clh"
#undef segsort_call
#undef min
#undef max

static uint rounds_of(uint count, uint shift)
{
    return (uint)size_div_up(count, (size_t)TILE >> shift);
}

/* Every segment that is to be sorted stands in one block, which holds it, and rounds are no more
 * than without blocks of a larger size. */
static void check_list(const uint64_t *offsets, uint count)
{
    static batch_list list;
    uint wanted = 0, at = 0, rounds = 0, plain = 0, of_shift[SHIFTS] = {0}, longest = 0;
    bool *seen = calloc(offsets[count] + 1, sizeof(*seen));

    assert_non_null(seen);
    batch_fill(&list, offsets, 0, count, offsets[count]);
    for (uint i = 0; i < count; i++) {
        const size_t n = offsets[i + 1] - offsets[i];

        if (n >= LENGTH_MIN && n <= TILE) {
            wanted++;
            of_shift[size_max(size_log2_up(n), shift_least)]++;
        }
        if (n > TILE)
            longest = size_log2_up(n) > longest ? size_log2_up(n) : longest;
    }
    for (uint shift = 0; shift < shift_least; shift++)
        assert_int_equal(list.end[shift], 0);
    for (uint shift = 0; shift < SHIFTS; shift++) {
        plain += rounds_of(of_shift[shift], least_of(shift, 7));
        rounds += rounds_of(list.end[shift] - at, least_of(shift, 7));
        for (; at < list.end[shift]; at++) {
            const size_t start = list.start[at];

            assert_in_range(list.n[at], LENGTH_MIN, 1u << shift);
            assert_false(seen[start]);
            seen[start] = true;
        }
    }
    assert_int_equal(at, wanted);
    assert_true(rounds <= plain);
    assert_int_equal(list.longest, longest);
    free(seen);
}

static void test_batches_hold_every_short_segment(void **state)
{
    uint64_t random = 3, offsets[BATCH_MAX + 1];

    (void)state;
    for (uint trial = 0; trial < 2000; trial++) {
        const uint count = 1 + (uint)(random_u64(&random) % BATCH_MAX);
        const uint64_t most = 1 + random_u64(&random) % (trial % 2 ? 2 * TILE : TILE / 2);

        offsets[0] = 0;
        for (uint i = 0; i < count; i++)
            offsets[i + 1] = offsets[i] + random_u64(&random) % (most + 1);
        with_index = trial % 3 == 0;
        shift_least = trial % 4;
        check_list(offsets, count);
    }
}

/* The lengths that the head of cl/segsort/segsort_batch.clh has; and three of 60, which leave one
 * block of 64 in their second round for what is shorter, if that is all there is. */
static void test_what_is_left_joins_longer_ones(void **state)
{
    const uint64_t mixed[] = {0, 3, 4, 104, 164, 166, 166, 170};
    const uint64_t room[] = {0, 60, 120, 180, 183, 186};
    static batch_list list;

    (void)state;
    with_index = false;
    shift_least = 0;
    batch_fill(&list, mixed, 0, 7, 170);
    assert_int_equal(list.end[1], 0); /* 2 stands in a block of 4, beside 3 and 4 */
    assert_int_equal(list.end[2], 3);
    assert_int_equal(list.end[6], 4);
    assert_int_equal(list.end[7], 5);
    batch_fill(&list, room, 0, 4, 186);
    assert_int_equal(list.end[2], 0);
    assert_int_equal(list.end[6], 4);
    batch_fill(&list, room, 0, 5, 186);
    assert_int_equal(list.end[2], 2);
    assert_int_equal(list.end[6], 5);
}

/* Offsets that are none stay within the keys. */
static void test_broken_offsets_stay_inside(void **state)
{
    uint64_t random = 5, offsets[50];

    (void)state;
    for (int trial = 0; trial < 1000; trial++) {
        for (size_t i = 0; i < 50; i++)
            offsets[i] = random_u64(&random) % (trial % 2 ? 300 : UINT64_MAX);
        for (size_t i = 0; i < 49; i++) {
            const segment s = segment_at(offsets, i, 200);

            assert_true(s.start <= 200 && s.n <= 200 - s.start);
        }
        assert_in_range(segment_of(offsets, 0, 48, random_u64(&random) % 200), 0, 48);
    }
}

static void test_a_position_is_in_one_segment(void **state)
{
    const uint64_t offsets[] = {0, 0, 3, 3, 3, 7, 9, 9};
    const size_t of[] = {1, 1, 1, 4, 4, 4, 4, 5, 5};
    const tsr_sort_problem s = {.n = 9};
    const sort_parts parts = {.keys = &s, .count = 7, .offsets = offsets, .kept = 9};

    (void)state;
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(segment_of(offsets, 0, 6, i), of[i]);
        assert_int_equal(sort_part_of(&parts, i), of[i]);
    }
}

/* ---- the plan -------------------------------------------------------------------------------- */

static device_facts gpu(void)
{
    return (device_facts){
        .kind = DEVICE_GPU,
        .max_work_group = 1024,
        .max_work_item = {1024, 1024, 64},
        .feature = {[FEATURE_PTX] = FEATURE_YES, [FEATURE_LARGE_LOCAL] = FEATURE_YES},
        .local_memory = 49152};
}

static const variant *segments(void)
{
    return find_of(&operation_segsort, "segments");
}

static params with(const variant *v, const char *one, const char *other)
{
    params p = params_default(v);

    assert_int_equal(params_set(v, &p, one, NULL), TSR_OK);
    assert_int_equal(params_set(v, &p, other, NULL), TSR_OK);
    return p;
}

static params small(void)
{
    return with(segments(), "GROUP=16", "TILE=64");
}

static problem in_segments(size_t n, size_t count)
{
    return segsort_problem((tsr_segsort_problem){{.type = TSR_U32, .n = n}, .segments = count});
}

/* No launch for segments longer than those there are; and what looks for them on the device. */
static void test_known_lengths_save_launches(void **state)
{
    const device_facts d = gpu();
    const params p = params_default(segments()), fixed = small();
    problem q = in_segments(1000000, 10000);
    const job j = {&q, &d, &p, false}, in_small = {&q, &d, &fixed, false};
    plan out;

    (void)state;
    segsort_in(&q)->segment_longest = 1500; /* a tile of 2048 takes them */
    check_options(segments(), &j, "-DGROUP=256 -DTILE=2048");
    out = plan_for(segments(), &j);
    assert_int_equal(out.count, 1);
    assert_int_equal(out.workspace, 0);
    assert_int_equal(out.commands[0].global[0], 124 * 256); /* 10000 in batches of 81 */
    plan_free(&out);
    out = plan_for(segments(), &in_small);
    assert_int_equal(out.commands[1].global[0], 4096 * 16); /* that take 2 * 15625 tiles in turn */
    plan_free(&out);
    segsort_in(&q)->segment_longest = 0;
    out = plan_for(segments(), &j);
    assert_int_equal(out.commands[0].kind, COMMAND_FILL);
    assert_int_equal(out.commands[0].fill_offset, 0);
    assert_int_equal(out.workspace, sizeof(uint32_t));
    plan_free(&out);
    sort_in(&q)->value_bytes = 1;
    out = plan_for(segments(), &j);
    assert_int_equal(out.commands[0].fill_offset,
                     9000000); /* behind an index and a copy of values */
    assert_int_equal(out.workspace, 9000004);
    plan_free(&out);
}

/* Keys of a work-item by the usual length, and a tile for the longest, unless there are few as
 * long. */
static void test_held_tiles(void **state)
{
    static const struct {
        size_t n, segments, longest;
        const char *defines;
    } plans[] = {{64000000, 1000000, 128, " -DKEYS=16 -DGROUP=128"},
                 {100000000, 100000, 2000, " -DKEYS=32 -DGROUP=128"},
                 {64000000, 1000000, 1024, " -DKEYS=16 -DGROUP=128"},
                 {1000000, 100000, 7, " -DKEYS=4 -DGROUP=128"},
                 {100000000, 10000, 20000, " -DKEYS=32 -DGROUP=256"}, /* 48 KiB hold no more */
                 {1000000, 100000, 900000, " -DKEYS=4 -DGROUP=1024"}};
    const variant *v = find_of(&operation_segsort, "segments-registers");
    const device_facts d = gpu();
    const params p = params_default(v);

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(plans); i++) {
        problem q = in_segments(plans[i].n, plans[i].segments);
        const job j = {&q, &d, &p, false};

        segsort_in(&q)->segment_longest = plans[i].longest;
        check_options(v, &j, plans[i].defines);
        check_options(v, &j, "-DTEAM=1 -DTEAM_MEANS=TEAM_NONE");
    }
}

/* Kernels for segments beyond a tile are left out where there are none. */
static void test_long_segments_have_kernels_of_their_own(void **state)
{
    const device_facts d = gpu();
    const params p = params_default(segments());
    problem q = in_segments(300, 5);
    const job j = {&q, &d, &p, false};

    (void)state;
    check_options(segments(), &j, "-DWITH_LONG=0");
    q = in_segments(1000000, 100);
    check_options(segments(), &j, "-DWITH_LONG=1");
    segsort_in(&q)->segment_longest = 2000;
    check_options(segments(), &j, "-DWITH_LONG=0");
}

/* Beyond the local memory that is reported, where a probe found more. */
static void test_warps_take_large_tiles(void **state)
{
    const variant *v = find_of(&operation_segsort, "segments-warp");
    device_facts d = gpu();
    const params p = params_default(v);
    problem q = in_segments(100000000, 10000);
    const job j = {&q, &d, &p, false};

    (void)state;
    segsort_in(&q)->segment_longest = 20000;
    d.large_local = 231424;
    check_options(v, &j, "-DKEYS=32 -DGROUP=1024 -DSHUFFLES=0 -DTEAM=32 -DTEAM_MEANS=TEAM_WARP");
}

/* ---- what is refused ------------------------------------------------------------------------- */

static const char *why_not(const variant *v, const problem *q, const device_facts *d,
                           const params *p, text *reason)
{
    const job j = {q, d, p, false};

    plan out;
    const char *why = plan_make(v, &j, &out);

    text_clear(reason);
    text_append(reason, why ? why : "");
    plan_free(&out);
    return why ? text_get(reason) : NULL;
}

static void test_unsupported_gives_the_values(void **state)
{
    device_facts d = gpu();
    const variant *held = find_of(&operation_segsort, "segments-registers");
    const params p = params_default(segments()), fixed = small();
    const params wide = with(held, "KEYS=16", "GROUP=1024");
    problem q = in_segments(1000, 10);
    text reason = {0};

    (void)state;
    assert_null(why_not(segments(), &q, &d, &p, &reason));
    sort_in(&q)->n = ((size_t)1 << 31) + 1;
    assert_string_equal(why_not(segments(), &q, &d, &p, &reason),
                        "it indexes in 32 bits: segments of at most 2147483648 keys, not "
                        "2147483649");
    segsort_in(&q)->segment_longest = 1000;
    assert_null(why_not(segments(), &q, &d, &p, &reason));
    d.max_work_group = 8;
    assert_string_equal(why_not(segments(), &q, &d, &fixed, &reason),
                        "it needs work-groups of 16, and the device has at most 8");
    d = gpu();
    d.local_memory = 1024;
    assert_string_equal(why_not(segments(), &q, &d, &fixed, &reason),
                        "it needs 3584 bytes of local memory, and the device has 1024");
    d = gpu();
    sort_in(&q)->type = TSR_F64;
    sort_in(&q)->argsort = true;
    assert_string_equal(why_not(held, &q, &d, &wide, &reason),
                        "it packs a key and its index in 64 bits, and the key alone has as many");
    sort_in(&q)->argsort = false;
    assert_string_equal(why_not(held, &q, &d, &wide, &reason),
                        "it needs 134392 bytes of local memory, and the device has 49152");
    text_free(&reason);
}

/* What is preferred runs. */
static void test_preferred_ones_take_segments(void **state)
{
    const device_facts devices[] = {gpu(),
                                    {.kind = DEVICE_CPU,
                                     .max_work_group = 4096,
                                     .max_work_item = {4096, 4096, 4096},
                                     .local_memory = 1 << 20}};
    const problem q = in_segments(1000, 10);
    const char *names[PREFERENCES_MAX];
    text reason = {0};
    size_t count;

    (void)state;
    for (size_t d = 0; d < ARRAY_COUNT(devices); d++) {
        count = operation_segsort.prefer(&q, &devices[d], names);
        assert_int_equal(count, devices[d].kind == DEVICE_GPU ? 3 : 2);
        assert_string_equal(names[count - 1], "segments");
        for (size_t i = 0; i < count; i++) {
            const params p = params_default(find_of(&operation_segsort, names[i]));

            assert_null(
                why_not(find_of(&operation_segsort, names[i]), &q, &devices[d], &p, &reason));
        }
    }
    text_free(&reason);
}

static void check_refuses(const problem *q, const uint64_t *offsets, const char *message)
{
    const void *const operands[] = {NULL, NULL, NULL, offsets};
    problem known = *q;
    tsr_error err = {0};

    assert_int_equal(operation_segsort.inspect(&known, operands, &err), TSR_EINVAL);
    assert_string_equal(err.message, message);
    assert_int_equal(segsort_in(&known)->segment_longest, segsort_of(q)->segment_longest);
}

static void test_offsets_ascend_to_n(void **state)
{
    const uint64_t right[] = {77, 0, 0, 4, 9}, first[] = {77, 1, 2, 3, 9};
    const uint64_t down[] = {77, 0, 5, 4, 9}, last[] = {77, 0, 4, 4, 8};
    const uint64_t early[] = {77, 0, 6, 6, 9}; /* the longest is not the last */
    const void *const operands[] = {NULL, NULL, NULL, right};
    const void *const early_operands[] = {NULL, NULL, NULL, early};
    problem q = in_segments(9, 3);

    (void)state;
    segsort_in(&q)->offset_segments = 1;
    segsort_in(&q)->segment_longest = 2; /* a caller's, which host memory knows better */
    check_refuses(&q, first, "segsort: segment offset 0 is 1, not 0");
    check_refuses(&q, down, "segsort: segment offset 2 is 4, below the 5 of offset 1");
    check_refuses(&q, last,
                  "segsort: segment offset 3, the last one, is 8 and must be the number of "
                  "elements, 9");
    assert_int_equal(operation_segsort.inspect(&q, operands, NULL), TSR_OK);
    assert_int_equal(segsort_in(&q)->segment_longest, 5);
    assert_int_equal(operation_segsort.inspect(&q, early_operands, NULL), TSR_OK);
    assert_int_equal(segsort_in(&q)->segment_longest, 6);
}

static void test_check_and_operands(void **state)
{
    problem q = in_segments(9, 3);
    operand o[OPERANDS_MAX];
    text said = {0};
    tsr_error err = {0};

    (void)state;
    segsort_in(&q)->offset_segments = 2;
    assert_int_equal(operation_segsort.check(&q, &err), TSR_OK);
    assert_int_equal(operation_segsort.operands(&q, o), 4);
    assert_int_equal(o[1].bytes + o[2].bytes, 0);
    assert_int_equal(o[3].begin, 16);
    assert_int_equal(o[3].bytes, (2 + 4) * 8);
    operation_segsort.describe(&q, &said);
    assert_string_equal(text_get(&said), "9 uint32 in 3 segments");
    text_clear(&said);
    segsort_in(&q)->segment_longest = 5;
    segsort_in(&q)->segments = 1;
    operation_segsort.describe(&q, &said);
    assert_string_equal(text_get(&said), "9 uint32 in 1 segment of up to 5");
    text_clear(&said);
    tuning_class(&q, &said);
    assert_string_equal(text_get(&said), "4-byte segments below 2^12");
    sort_in(&q)->rows = 2;
    assert_int_equal(operation_segsort.check(&q, &err), TSR_EINVAL);
    assert_string_equal(err.message,
                        "segsort: takes one row of keys, which it sorts by segments, not 2 rows");
    sort_in(&q)->rows = 1;
    segsort_in(&q)->segments = 0;
    assert_int_equal(operation_segsort.check(&q, &err), TSR_EINVAL);
    assert_string_equal(err.message, "segsort: segments is 0, and there are 9 keys");
    segsort_in(&q)->segments = SIZE_MAX;
    assert_int_equal(operation_segsort.check(&q, &err), TSR_EOVERFLOW);
    segsort_in(&q)->segments = SIZE_MAX / 8;
    assert_int_equal(operation_segsort.check(&q, &err), TSR_EOVERFLOW);
    text_free(&said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches_hold_every_short_segment),
        cmocka_unit_test(test_what_is_left_joins_longer_ones),
        cmocka_unit_test(test_broken_offsets_stay_inside),
        cmocka_unit_test(test_a_position_is_in_one_segment),
        cmocka_unit_test(test_known_lengths_save_launches),
        cmocka_unit_test(test_held_tiles),
        cmocka_unit_test(test_long_segments_have_kernels_of_their_own),
        cmocka_unit_test(test_warps_take_large_tiles),
        cmocka_unit_test(test_unsupported_gives_the_values),
        cmocka_unit_test(test_preferred_ones_take_segments),
        cmocka_unit_test(test_offsets_ascend_to_n),
        cmocka_unit_test(test_check_and_operands),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
