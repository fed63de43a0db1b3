/* Calls of sort on host memory, streamed through a device in pieces.  Needs an OpenCL device of
 * the type CPU, such as PoCL's. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "ops/sort/sort_partition.h"
#include "stream_fixture.h"

static tsr_status sort_on(tsr_session *s, const tsr_sort_problem *p, const char *name,
                          unsigned char *const at[ARRAYS], tsr_report *report, tsr_error *err)
{
    const tsr_run run = {.variant = name};
    const tsr_sort_arrays operands = {.keys = at[0],
                                      .index = p->argsort ? (int64_t *)(void *)at[1] : NULL,
                                      .values = p->value_bytes ? at[2] : NULL};

    return tsr_sort(s, p, &operands, name ? &run : NULL, report, err);
}

/* Sorted by C's qsort, and streamed: the same bytes, gaps before the first element included. */
static void streams_as_qsort(fixture *f, const tsr_sort_problem *p, const char *name, size_t memory,
                             size_t chunks)
{
    tsr_session *s = NULL;
    tsr_error err = {0};

    expect_before(f);
    assert_int_equal(tsr_session_open(f->host, NULL, &s, NULL), TSR_OK);
    assert_int_equal(sort_on(s, p, NULL, f->expected, NULL, NULL), TSR_OK);
    tsr_session_close(s);
    for (place where = PAGEABLE; where < PLACES; where++) {
        tsr_report report = {0};
        arrays a;

        s = open_session(f, where, memory);
        a = take_arrays(f, s, where);
        if (sort_on(s, p, name, a.at, &report, &err))
            fail_msg("%s", err.message);
        for (size_t i = 0; i < ARRAYS; i++)
            assert_memory_equal(a.at[i], f->expected[i], ROOM);
        assert_int_equal(report.chunks, chunks);
        assert_true(report.to_device_bytes > 0 && report.from_device_bytes > 0);
        drop_arrays(s, where, &a);
        tsr_session_close(s);
    }
}

/* The device holds them: chunks are merged as they come. */
static void keys_are_sorted_as_they_arrive(void **state)
{
    /* 2^9 keys and 2^11 of them in a chunk: more than an eighth is none. */
    streams_as_qsort(*state, &(tsr_sort_problem){.type = TSR_U32, .n = 5003, .offset_keys = 3},
                     "fused-passes", ROOM, 10);
    streams_as_qsort(*state, &(tsr_sort_problem){.type = TSR_F64, .n = 20000, .descending = true},
                     "fused-passes", ROOM, 10);
}

static void what_goes_with_keys_arrives_too(void **state)
{
    streams_as_qsort(*state,
                     &(tsr_sort_problem){.type = TSR_I8,
                                         .n = 5000,
                                         .argsort = true,
                                         .offset_index = 5,
                                         .value_bytes = 8,
                                         .offset_values = 7},
                     "fused-passes", ROOM, 10);
    streams_as_qsort(
        *state,
        &(tsr_sort_problem){.type = TSR_F16, .n = 4097, .value_bytes = 2, .descending = true},
        "fused-passes", ROOM, 9);
}

/* Digits wait for all keys, and for the values that go with them: where one tile has all, where one
 * pass takes a copy, and where passes are two. */
static void digits_wait_for_values(void **state)
{
    streams_as_qsort(*state, &(tsr_sort_problem){.type = TSR_I16, .n = 60, .value_bytes = 8},
                     "onesweep", ROOM, 1);
    streams_as_qsort(
        *state,
        &(tsr_sort_problem){.type = TSR_U8, .n = 3001, .value_bytes = 4, .offset_values = 3},
        "onesweep", ROOM, 1);
    streams_as_qsort(*state, &(tsr_sort_problem){.type = TSR_F16, .n = 3001, .value_bytes = 8},
                     "onesweep", ROOM, 1);
}

/* Which keys are in which chunk changes nothing, nor does the number of queues. */
static void chunking_changes_no_bit(void **state)
{
    static const char *const settings[][2] = {
        {"KEYS=4", "GROUP=8"}, {"KEYS=16", "GROUP=64"}, {"QUEUES=1", "SORT_TILES=1"}};
    const fixture *f = *state;
    const tsr_sort_problem p = {.type = TSR_F32, .n = 30011};
    unsigned char first[ROOM];

    for (size_t i = 0; i < 3; i++) {
        const tsr_run run = {.variant = "fused-passes", .set = settings[i], .set_count = 2};
        tsr_session *s = open_session(f, PAGEABLE, ROOM);
        arrays a = take_arrays(f, s, PAGEABLE);
        tsr_report report = {0};

        assert_int_equal(tsr_sort(s, &p, &(tsr_sort_arrays){.keys = a.at[0]}, &run, &report, NULL),
                         TSR_OK);
        assert_true(report.chunks > 7);
        if (i)
            assert_memory_equal(a.at[0], first, ROOM);
        memcpy(first, a.at[0], ROOM);
        drop_arrays(s, PAGEABLE, &a);
        tsr_session_close(s);
    }
}

/* Twelve rows of 24 bytes at a time, with all that goes with them, by whichever variant. */
static void rows_are_sorted_some_at_a_time(void **state)
{
    const size_t row = 7 * (4 + 8 + 16);

    streams_as_qsort(*state,
                     &(tsr_sort_problem){.type = TSR_U32,
                                         .n = 7,
                                         .rows = 100,
                                         .argsort = true,
                                         .value_bytes = 16,
                                         .offset_keys = 1,
                                         .offset_index = 2,
                                         .offset_values = 3},
                     NULL, 3 * 12 * row + 11, 9);
    streams_as_qsort(*state,
                     &(tsr_sort_problem){.type = TSR_I64, .n = 33, .rows = 33, .descending = true},
                     "general", (size_t)3 * 33 * 8, 33);
}

/* More than the device may hold: 5000 keys, 500 in a chunk, and a short one; several rows too. */
static void keys_are_exchanged_between_chunks(void **state)
{
    /* Stages of 1, 2, 3 and 4 sub-stages of a network of 11 chunks. */
    const size_t comparators = 5 + (5 + 5) + (4 + 5 + 5) + (3 + 4 + 5 + 5);

    streams_as_qsort(*state, &(tsr_sort_problem){.type = TSR_F32, .n = 5003, .offset_keys = 9},
                     NULL, 4 * 500 * 4 + 15, comparators);
    streams_as_qsort(*state,
                     &(tsr_sort_problem){.type = TSR_U16, .n = 1100, .rows = 3, .descending = true},
                     "general", 4 * 100 * 2, 3 * comparators);
}

/* What has to be there at once is named, and nothing is touched. */
static void sorts_that_do_not_fit_are_refused(void **state)
{
    static const struct {
        tsr_sort_problem problem;
        const char *says;
    } cases[] = {
        {{.type = TSR_U64, .n = 1000}, "sort: 4 keys need 32 bytes at once, and 31 are allowed"},
        {{.type = TSR_U32, .n = 1000, .argsort = true},
         "sort: 1000 keys, their values and indices need 12000 bytes at once, and 31 are allowed"},
        {{.type = TSR_U32, .n = 5, .rows = 9, .value_bytes = 1},
         "sort: 3 rows of keys, their values and indices need 75 bytes at once, and 31 are "
         "allowed"}};
    fixture *f = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        tsr_session *s = open_session(f, PAGEABLE, 31);
        arrays a = take_arrays(f, s, PAGEABLE);
        tsr_error err = {0};

        assert_int_equal(sort_on(s, &cases[i].problem, NULL, a.at, NULL, &err), TSR_EOVERFLOW);
        if (!strstr(err.message, cases[i].says))
            fail_msg("%s", err.message);
        for (size_t k = 0; k < ARRAYS; k++)
            assert_memory_equal(a.at[k], f->before[k], ROOM);
        drop_arrays(s, PAGEABLE, &a);
        tsr_session_close(s);
    }
}

/* The network of 2^3 chunks has 24 comparators; without the last three chunks, 11 (2, 2 + 2 and
 * 1 + 2 + 2). */
static void pairs_of_chunks_are_counted(void **state)
{
    (void)state;
    assert_int_equal(sort_exchange_pairs(1), 0);
    assert_int_equal(sort_exchange_pairs(2), 1);
    assert_int_equal(sort_exchange_pairs(5), 11);
    assert_int_equal(sort_exchange_pairs(8), 24);
    assert_int_equal(sort_exchange_pairs(256), 4608);
}

static void too_many_pieces_are_refused(void **state)
{
    /* Each in bytes that hold what has to be there at once. */
    const struct {
        problem problem;
        size_t bytes;
    } cases[] = {
        {sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 100000}), 1 << 10},
        {sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 50, .rows = 5000}), 600},
    };
    tsr_session *s = open_session(*state, PAGEABLE, 0);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        refuses_pieces(s, &cases[i].problem, cases[i].bytes);
    tsr_session_close(s);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_fixture, drop_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(keys_are_sorted_as_they_arrive),
        TEST(what_goes_with_keys_arrives_too),
        TEST(digits_wait_for_values),
        TEST(chunking_changes_no_bit),
        TEST(rows_are_sorted_some_at_a_time),
        TEST(keys_are_exchanged_between_chunks),
        TEST(sorts_that_do_not_fit_are_refused),
        TEST(too_many_pieces_are_refused),
        cmocka_unit_test(pairs_of_chunks_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
