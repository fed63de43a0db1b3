/* Public calls of segsort on a device: the caller's queues and events, host memory, and failures
 * that leave things as they were.  Needs an OpenCL device of the type CPU, such as PoCL's. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "session_fixture.h"

/* Segments in buffers, of which the call knows no length, and some are longer than a tile; and
 * offsets that are none, which reach nothing outside of the keys, the index and the values. */
static void segments_stay_in_their_buffers(void **state)
{
    fixture *f = *state;
    enum { N = 20000, AROUND = 64, ALL = N + 2 * AROUND, SEGMENTS = 7 };
    tsr_session *s = adopt(f, 0);
    const uint64_t offsets[] = {0, 0, 1, 40, 3000, 15000, 15000, N};
    const uint64_t broken[] = {9, UINT64_MAX, 12, 2000000, 5, 19000, 0, 3};
    const char *const set[] = {"TILE=1024"};
    cl_event done = NULL;
    const tsr_run run = {.variant = "segments", .set = set, .set_count = 1, .done = &done};
    const tsr_segsort_problem p = {{.type = TSR_U32,
                                    .n = N,
                                    .argsort = true,
                                    .value_bytes = 4,
                                    .offset_keys = AROUND,
                                    .offset_index = AROUND,
                                    .offset_values = AROUND},
                                   .segments = SEGMENTS};
    static uint32_t keys[ALL], got[ALL], values[ALL];
    static int64_t index[ALL];
    tsr_error err = {0};

    for (uint32_t n = 0; n < ALL; n++)
        keys[n] = n * 2654435761u >> 8;
    for (int turn = 0; turn < 2; turn++) {
        cl_mem k = buffer_of(f, keys, sizeof(keys)), v = buffer_of(f, keys, sizeof(keys));
        cl_mem i, o = buffer_of(f, turn ? broken : offsets, sizeof(offsets));

        memset(index, 0x5A, sizeof(index));
        i = buffer_of(f, index, sizeof(index));
        if (tsr_segsort_enqueue(s, &p, &(tsr_segsort_buffers){k, i, v, o}, &run, NULL, &err))
            fail_msg("%s", err.message);
        assert_int_equal(clWaitForEvents(1, &done), CL_SUCCESS);
        clEnqueueReadBuffer(f->queue, k, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL);
        clEnqueueReadBuffer(f->queue, i, CL_TRUE, 0, sizeof(index), index, 0, NULL, NULL);
        clEnqueueReadBuffer(f->queue, v, CL_TRUE, 0, sizeof(values), values, 0, NULL, NULL);
        for (size_t n = 0; n < AROUND; n++)
            for (size_t at = n; at < ALL; at += N + AROUND) {
                assert_int_equal(got[at], keys[at]);
                assert_int_equal(values[at], keys[at]);
                assert_int_equal(index[at], 0x5A5A5A5A5A5A5A5A);
            }
        for (size_t part = 0; part < SEGMENTS && turn == 0; part++)
            for (size_t n = AROUND + offsets[part]; n < AROUND + offsets[part + 1]; n++) {
                assert_true(n == AROUND + offsets[part] || got[n - 1] <= got[n]);
                assert_in_range(index[n], 0, offsets[part + 1] - offsets[part] - 1);
                assert_int_equal(keys[AROUND + offsets[part] + (size_t)index[n]], got[n]);
                assert_int_equal(values[n], got[n]);
            }
        clReleaseEvent(done);
        clReleaseMemObject(k);
        clReleaseMemObject(i);
        clReleaseMemObject(v);
        clReleaseMemObject(o);
    }
    tsr_session_close(s);
}

/* A length that is none, of which blocks and merges are too few: what is around the keys and the
 * index stays, and so do the arrays of the workspace, as another sort shows that follows. */
static void a_false_longest_reaches_nothing_outside(void **state)
{
    fixture *f = *state;
    enum { N = 100000, AROUND = 4096, ALL = N + 2 * AROUND };
    static const size_t longest[] = {1, 600, 20000};
    tsr_session *s = adopt(f, 0);
    const uint64_t offsets[] = {0, 40, 70000, N};
    cl_event done = NULL;
    const tsr_run run = {.variant = "cpu-segments", .done = &done};
    static uint32_t keys[ALL], got[ALL];
    static int64_t index[ALL];
    tsr_error err = {0};

    for (uint32_t n = 0; n < ALL; n++)
        keys[n] = n * 2654435761u >> 8;
    for (size_t turn = 0; turn < 2 * (sizeof(longest) / sizeof(longest[0])); turn++) {
        const tsr_segsort_problem p = {{.type = TSR_U32,
                                        .n = N,
                                        .argsort = turn % 2,
                                        .offset_keys = AROUND,
                                        .offset_index = AROUND},
                                       .segments = 3,
                                       .segment_longest = longest[turn / 2]};
        cl_mem k = buffer_of(f, keys, sizeof(keys)), o = buffer_of(f, offsets, sizeof(offsets));
        cl_mem i;

        memset(index, 0x5A, sizeof(index));
        i = buffer_of(f, index, sizeof(index));
        if (tsr_segsort_enqueue(s, &p, &(tsr_segsort_buffers){k, turn % 2 ? i : NULL, NULL, o},
                                &run, NULL, &err))
            fail_msg("%s", err.message);
        assert_int_equal(clWaitForEvents(1, &done), CL_SUCCESS);
        clEnqueueReadBuffer(f->queue, k, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL);
        clEnqueueReadBuffer(f->queue, i, CL_TRUE, 0, sizeof(index), index, 0, NULL, NULL);
        for (size_t n = 0; n < AROUND; n++)
            for (size_t at = n; at < ALL; at += N + AROUND) {
                assert_int_equal(got[at], keys[at]);
                assert_int_equal(index[at], 0x5A5A5A5A5A5A5A5A);
            }
        clReleaseEvent(done);
        clReleaseMemObject(k);
        clReleaseMemObject(i);
        clReleaseMemObject(o);
    }
    tsr_session_close(s);
}

/* Offsets in host memory are looked at before anything is sorted. */
static void broken_segments_are_refused(void **state)
{
    fixture *f = *state;
    const tsr_device *const devices[] = {f->device, f->host};
    const tsr_segsort_problem p = {{.type = TSR_U32, .n = 4}, .segments = 2};
    const uint64_t right[] = {0, 3, 4}, broken[] = {0, 5, 4};

    for (size_t i = 0; i < 2; i++) {
        uint32_t keys[] = {9, 8, 7, 6};
        tsr_session *s = NULL;
        tsr_error err = {0};

        assert_int_equal(tsr_session_open(devices[i], NULL, &s, &err), TSR_OK);
        assert_int_equal(tsr_segsort(s, &p,
                                     &(tsr_segsort_arrays){.keys = keys, .segment_offsets = broken},
                                     NULL, NULL, &err),
                         TSR_EINVAL);
        assert_string_equal(err.message, "segsort: segment offset 2 is 4, below the 5 of offset 1");
        assert_int_equal(tsr_segsort(s, &p, &(tsr_segsort_arrays){.keys = keys}, NULL, NULL, &err),
                         TSR_EINVAL);
        assert_non_null(strstr(err.message, "segment offsets is NULL and should hold 24 bytes"));
        assert_int_equal(keys[0], 9);
        if (tsr_segsort(s, &p, &(tsr_segsort_arrays){.keys = keys, .segment_offsets = right}, NULL,
                        NULL, &err))
            fail_msg("%s", err.message);
        assert_true(keys[0] == 7 && keys[1] == 8 && keys[2] == 9 && keys[3] == 6);
        tsr_session_close(s);
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_fixture, drop_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(segments_stay_in_their_buffers),
        TEST(a_false_longest_reaches_nothing_outside),
        TEST(broken_segments_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
