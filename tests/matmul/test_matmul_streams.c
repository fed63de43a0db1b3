/* Calls of matmul on host memory, streamed through a device in pieces.  Needs an OpenCL device of
 * the type CPU, such as PoCL's. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "ops/matmul/matmul_shape.h"
#include "stream_fixture.h"

static void multiplies_as_host(fixture *f, const tsr_matmul_problem *p, size_t memory,
                               size_t chunks)
{
    const problem q = matmul_problem(*p);

    computes_as_host(f, &q, memory, chunks);
}

/* k = 2 + 3 + 5 + 8 + 13, the last in 12 strips of 3 rows and one of 1; with C read, k is whole. */
static void products_arrive_in_slabs(void **state)
{
    fill_whole(*state);
    for (int form = 0; form < 16; form++)
        multiplies_as_host(
            *state,
            &(tsr_matmul_problem){.m = 37,
                                  .n = 37,
                                  .k = 31,
                                  .trans_a = form & 1,
                                  .trans_b = (form & 2) != 0,
                                  .layout = form & 4 ? TSR_COLUMN_MAJOR : TSR_ROW_MAJOR,
                                  .alpha = 2,
                                  .beta = form & 8 ? 0 : -1,
                                  .lda = 39,
                                  .ldb = 40,
                                  .ldc = 41,
                                  .offset_a = 2,
                                  .offset_b = 1,
                                  .offset_c = 3},
            ROOM, form & 8 ? 4 + 13 : 13);
}

/* Sums of int8, which wrap, are added up in C from slab to slab. */
static void whole_sums_are_added_up(void **state)
{
    fill_whole(*state);
    multiplies_as_host(
        *state,
        &(tsr_matmul_problem){
            .type = TSR_I8, .m = 37, .n = 37, .k = 31, .lda = 39, .ldc = 41, .alpha = 1000003},
        ROOM, 4 + 13);
}

/* Rows of 8 KiB and more come from and go to pinned memory one by one, by the device. */
static void long_rows_go_straight(void **state)
{
    fill_whole(*state);
    multiplies_as_host(*state,
                       &(tsr_matmul_problem){.m = 3, .n = 2, .k = 17000, .lda = 17001, .alpha = 1},
                       3 * ROOM, 4 + 3);
    /* Through three tiles of C, of 2560 columns. */
    multiplies_as_host(*state, &(tsr_matmul_problem){.m = 3, .n = 6000, .k = 2, .alpha = 1},
                       (3 * 3 * 2 + 2560 * 2 + 2 * 3 * 2560) * sizeof(float), 3);
}

/* By a kernel, as on a GPU: C code would take the arrays where they are. */
static void multiplies_by_kernel(fixture *f, const tsr_matmul_problem *p, size_t chunks)
{
    const problem q = matmul_problem(*p);
    const tsr_run run = {.variant = "pipelined"};
    tsr_report report = {0};
    tsr_error err = {0};
    tsr_session *s = NULL;

    expect_before(f);
    assert_int_equal(tsr_session_open(f->host, NULL, &s, NULL), TSR_OK);
    assert_int_equal(compute_on(s, &q, f->expected, NULL, NULL), TSR_OK);
    tsr_session_close(s);
    for (place where = PAGEABLE; where < PLACES; where++) {
        arrays a;

        s = open_session(f, where, 0);
        a = take_arrays(f, s, where);
        if (host_memory_run(s, &q, (void *[]){a.at[0], a.at[1], a.at[2]}, &run, &report, &err))
            fail_msg("%s", err.message);
        for (size_t i = 0; i < ARRAYS; i++)
            assert_memory_equal(a.at[i], f->expected[i], ROOM);
        assert_int_equal(report.chunks, chunks);
        drop_arrays(s, where, &a);
        tsr_session_close(s);
    }
}

/* A matrix of 128 KiB with gaps between its lines goes through pinned memory, in one piece. */
static void lines_with_gaps_are_one_piece(void **state)
{
    fill_whole(*state);
    for (int form = 0; form < 8; form++) {
        const bool gaps = form & 1, small = form & 2, other = form & 4;
        const size_t chunks = gaps && !small ? 1 : 0;

        multiplies_by_kernel(*state,
                             &(tsr_matmul_problem){.m = small ? 127 : 128,
                                                   .n = 256,
                                                   .k = 3,
                                                   .alpha = 1,
                                                   .beta = other ? -1 : 0,
                                                   .ldc = gaps ? 300 : 0,
                                                   .offset_c = 7},
                             chunks);
        multiplies_by_kernel(*state,
                             &(tsr_matmul_problem){.m = 3,
                                                   .n = 128,
                                                   .k = small ? 255 : 256,
                                                   .alpha = 1,
                                                   .trans_b = true,
                                                   .ldb = gaps ? 300 : 0,
                                                   .lda = other ? 301 : 0},
                             chunks);
    }
}

/* 30 products, 4 at a time; B is shared, and stays. */
static void batches_go_in_groups(void **state)
{
    enum { M = 5, N = 6, K = 7, GAP = 10 };
    const size_t own = M * K + GAP + M * N + GAP, shared = K * N;

    fill_whole(*state);
    for (int form = 0; form < 4; form++) {
        const tsr_matmul_problem p = {.m = M,
                                      .n = N,
                                      .k = K,
                                      .alpha = 1,
                                      .beta = form & 1 ? 3 : 0,
                                      .batch = 30,
                                      .trans_b = (form & 2) != 0,
                                      .offset_c = 5,
                                      .stride_a = M * K + GAP,
                                      .stride_c = M * N + GAP};

        multiplies_as_host(*state, &p, (shared + 3 * 4 * own + 11) * sizeof(float), 8);
    }
}

/* Two products at a time; one at a time, in 3 slabs and 5 strips; and each in 5 tiles of a row. */
static void batches_go_product_by_product(void **state)
{
    enum { M = 5, N = 6, K = 7, BATCH = 3, OWN = 4 * (M * K + K * N + M * N) };
    const tsr_matmul_problem p = {.m = M,
                                  .n = N,
                                  .k = K,
                                  .alpha = 1,
                                  .batch = BATCH,
                                  .stride_a = M * K,
                                  .stride_b = K * N,
                                  .stride_c = M * N};

    fill_whole(*state);
    multiplies_as_host(*state, &p, BATCH * OWN, 0);
    multiplies_as_host(*state, &p, BATCH * OWN - 1, BATCH);
    multiplies_as_host(*state, &p, 2 * OWN, BATCH);
    multiplies_as_host(*state, &p, 2 * OWN - 1, BATCH * (3 + 5));
    multiplies_as_host(*state, &p, (3 * K + K * N + 2 * N) * 4, BATCH * 5);
}

/* Lines of C of one product between those of others: no group of them has a range of its own. */
static void batches_side_by_side_go_product_by_product(void **state)
{
    enum { M = 5, N = 6, K = 7, BATCH = 12 };
    const tsr_matmul_problem p = {.m = M,
                                  .n = N,
                                  .k = K,
                                  .alpha = 1,
                                  .beta = 2,
                                  .batch = BATCH,
                                  .stride_a = M * K,
                                  .ldc = BATCH * (N + 1),
                                  .stride_c = N + 1};

    fill_whole(*state);
    multiplies_as_host(*state, &p, 3524, 0);
    multiplies_as_host(*state, &p, 3400, BATCH * M); /* two would fit, but for the lines between */
    multiplies_as_host(*state, &p, 2000, BATCH * M);
    multiplies_as_host(*state, &p, 600, BATCH * 2);
}

/* Products of which the device holds one go in one strip where they are short, however far their
 * lines lie apart; others in slabs and strips. */
static void short_products_are_not_cut(void **state)
{
    static const struct {
        size_t side, batch, room, first, strip;
    } cases[] = {
        {6, 12, 2200, 6, 6}, {1024, 12, 80 << 20, 64, 64}, {20, 1 << 20, (size_t)5 << 29, 20, 20}};
    tsr_session *s = open_session(*state, PAGEABLE, 0);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const size_t n = cases[i].side;
        const problem p = matmul_problem((tsr_matmul_problem){.m = n,
                                                              .n = n,
                                                              .k = n,
                                                              .alpha = 1,
                                                              .batch = cases[i].batch,
                                                              .stride_a = n * n,
                                                              .ldc = n * cases[i].batch,
                                                              .stride_c = n});
        partition how;

        s->device.facts.global_memory = cases[i].room / 3 * 4 + 4;
        s->device.facts.max_allocation = cases[i].room;
        how = chosen_for(s, &p, 0);
        assert_string_equal(how.kind->name, "slabs");
        assert_int_equal(how.cut[0], cases[i].first);
        assert_int_equal(how.cut[1], cases[i].strip);
    }
    tsr_session_close(s);
}

/* Each A a row further on than the one before, 4 to a group.  Where its rows lie between those of
 * others, a group would have nearly all of them. */
static void windows_go_in_groups(void **state)
{
    enum { M = 5, N = 6, K = 7, BATCH = 30, LD = BATCH + K };
    const size_t shared = K * N, own = M * K + M * N;
    tsr_matmul_problem p = {
        .m = M, .n = N, .k = K, .alpha = 1, .batch = BATCH, .stride_a = K, .stride_c = M * N};

    fill_whole(*state);
    multiplies_as_host(*state, &p, (shared + 3 * 4 * own) * sizeof(float), 8);
    p.lda = LD;
    p.stride_a = 1;
    multiplies_as_host(*state, &p, 4000, BATCH * (3 + 5));
}

/* What does not hold a tile of one element is refused, and C is as it was. */
static void batches_that_do_not_fit_are_refused(void **state)
{
    const tsr_matmul_problem p = {
        .m = 5, .n = 6, .k = 7, .alpha = 1, .batch = 2, .stride_a = 35, .stride_c = 30};
    const char *says = "3 rows of op(A) and a column of op(B) need 120 bytes at once, and 100 are";
    fixture *f = *state;
    tsr_session *s = open_session(f, PAGEABLE, 100);
    arrays a = take_arrays(f, s, PAGEABLE);
    tsr_error err = {0};

    assert_int_equal(tsr_matmul(s, &p, a.at[0], a.at[1], a.at[2], NULL, NULL, &err), TSR_EOVERFLOW);
    if (!strstr(err.message, says))
        fail_msg("%s", err.message);
    assert_memory_equal(a.at[2], f->before[2], ROOM);
    drop_arrays(s, PAGEABLE, &a);
    tsr_session_close(s);
}

static problem square_products(size_t n, size_t batch)
{
    return matmul_problem((tsr_matmul_problem){.m = n,
                                               .n = n,
                                               .k = n,
                                               .alpha = 1,
                                               .batch = batch,
                                               .stride_a = n * n,
                                               .stride_b = n * n,
                                               .stride_c = n * n});
}

static void too_many_pieces_are_refused(void **state)
{
    /* Each in bytes that hold what has to be there at once. */
    const struct {
        problem problem;
        size_t bytes;
    } cases[] = {
        {matmul_problem((tsr_matmul_problem){.m = 70, .n = 80, .k = 5, .alpha = 1}), 4 * 20 + 8},
        {square_products(2, 5000), 3 * 3 * 16},
        {square_products(16, 300), 5000}, /* one at a time, in slabs and strips */
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
        TEST(products_arrive_in_slabs),
        TEST(whole_sums_are_added_up),
        TEST(long_rows_go_straight),
        TEST(lines_with_gaps_are_one_piece),
        TEST(batches_go_in_groups),
        TEST(batches_go_product_by_product),
        TEST(batches_side_by_side_go_product_by_product),
        TEST(short_products_are_not_cut),
        TEST(windows_go_in_groups),
        TEST(batches_that_do_not_fit_are_refused),
        TEST(too_many_pieces_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
