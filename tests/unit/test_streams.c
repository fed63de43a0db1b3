/* Calls on host memory that are streamed through a device in pieces: what they give is what comes
 * of the same call at once, from pageable and from pinned memory, on queues of each kind.
 * Needs an OpenCL device of the type CPU, such as PoCL's, which copies because it is asked to. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "core/registry.h"
#include "device/device.h"
#include "ops/matmul/matmul_shape.h"
#include "ops/matvec/matvec_shape.h"
#include "ops/sort/sort_partition.h"
#include "session/pinned.h"
#include "session/state.h"
#include "stream/copies.h"
#include "stream/host_memory.h"
#include "stream/partition.h"
#include "tessera/tessera.h"

enum { ROOM = 1 << 18 }; /* bytes of each array */

enum { ARRAYS = 3 };

/* Where the arrays of a call are, and on whose queue it runs. */
typedef enum place { PAGEABLE, PINNED, OUT_OF_ORDER, PLACES } place;

typedef struct fixture {
    tsr_devices *list;
    const tsr_device *device, *host;
    cl_context context;
    cl_command_queue queue;
    unsigned char *before[ARRAYS], *expected[ARRAYS];
} fixture;

static int make_fixture(void **state)
{
    fixture *f = calloc(1, sizeof(*f));
    uint64_t seed = 1;
    size_t n = 0;

    assert_non_null(f);
    *state = f;
    assert_int_equal(tsr_devices_find(&f->list, NULL), TSR_OK);
    assert_int_equal(tsr_devices_select(f->list, "cpu", &f->device, 1, &n, NULL), TSR_OK);
    assert_int_equal(tsr_devices_select(f->list, "host", &f->host, 1, &n, NULL), TSR_OK);
    f->context = clCreateContext(NULL, 1, &f->device->id, NULL, NULL, NULL);
    f->queue = clCreateCommandQueue(f->context, f->device->id,
                                    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL);
    assert_non_null(f->queue);
    for (size_t i = 0; i < ARRAYS; i++) {
        f->before[i] = malloc(ROOM);
        f->expected[i] = malloc(ROOM);
        assert_non_null(f->before[i]);
        assert_non_null(f->expected[i]);
        for (size_t k = 0; k < ROOM; k++)
            f->before[i][k] = (unsigned char)random_u64(&seed);
    }
    return 0;
}

static int drop_fixture(void **state)
{
    fixture *f = *state;

    for (size_t i = 0; i < ARRAYS; i++) {
        free(f->before[i]);
        free(f->expected[i]);
    }
    clReleaseCommandQueue(f->queue);
    clReleaseContext(f->context);
    tsr_devices_close(f->list);
    free(f);
    return 0;
}

static tsr_session *open_session(const fixture *f, place where, size_t memory)
{
    const tsr_session_options options = {.copies = 1, .device_memory = memory};
    tsr_session *s = NULL;
    tsr_error err = {0};
    const tsr_status st = where == OUT_OF_ORDER ? tsr_session_adopt(f->queue, &options, &s, &err)
                                                : tsr_session_open(f->device, &options, &s, &err);

    if (st)
        fail_msg("%s", err.message);
    return s;
}

/* Copies of what the arrays were before a call, some bytes into the memory that holds them. */
typedef struct arrays {
    unsigned char *memory[ARRAYS], *at[ARRAYS];
} arrays;

static arrays take_arrays(const fixture *f, tsr_session *s, place where)
{
    enum { SHIFT = 64 };
    arrays a;

    for (size_t i = 0; i < ARRAYS; i++) {
        void *memory = NULL;

        if (where == PINNED)
            assert_int_equal(tsr_pinned_alloc(s, ROOM + SHIFT, &memory, NULL), TSR_OK);
        else
            memory = malloc(ROOM + SHIFT);
        assert_non_null(memory);
        a.memory[i] = memory;
        a.at[i] = a.memory[i] + SHIFT;
        memcpy(a.at[i], f->before[i], ROOM);
    }
    return a;
}

static void drop_arrays(tsr_session *s, place where, const arrays *a)
{
    for (size_t i = 0; i < ARRAYS; i++) {
        if (where == PINNED)
            tsr_pinned_free(s, a->memory[i]);
        else
            free(a->memory[i]);
    }
}

static void expect_before(fixture *f)
{
    for (size_t i = 0; i < ARRAYS; i++)
        memcpy(f->expected[i], f->before[i], ROOM);
}

/* ---- sort ------------------------------------------------------------------------------------ */

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
                     "naive", (size_t)3 * 33 * 8, 33);
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
                     "naive", 4 * 100 * 2, 3 * comparators);
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
         "sort: 1000 keys and what goes with them need 12000 bytes at once, and 31 are allowed"},
        {{.type = TSR_U32, .n = 5, .rows = 9, .value_bytes = 1},
         "sort: 3 rows and what goes with their keys need 75 bytes at once, and 31 are allowed"}};
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

/* ---- matmul ---------------------------------------------------------------------------------- */

/* Small whole numbers, whose sums are exact in any order. */
static void fill_whole(fixture *f)
{
    for (size_t i = 0; i < ARRAYS; i++)
        for (size_t k = 0; k < ROOM / sizeof(float); k++) {
            const float x = (float)(f->before[i][4 * k] % 9) - 4;

            memcpy(f->before[i] + 4 * k, &x, sizeof(x));
        }
}

static tsr_status compute_on(tsr_session *s, const problem *p, unsigned char *const at[ARRAYS],
                             tsr_report *report, tsr_error *err)
{
    void *const operands[ARRAYS] = {at[0], at[1], at[2]};

    return host_memory_run(s, p, operands, NULL, report, err);
}

/* Products on the host, and streamed: the same bytes. */
static void computes_as_host(fixture *f, const problem *p, size_t memory, size_t chunks)
{
    tsr_session *s = NULL;
    tsr_error err = {0};

    expect_before(f);
    assert_int_equal(tsr_session_open(f->host, NULL, &s, NULL), TSR_OK);
    assert_int_equal(compute_on(s, p, f->expected, NULL, NULL), TSR_OK);
    tsr_session_close(s);
    for (place where = PAGEABLE; where < PLACES; where++) {
        tsr_report report = {0};
        arrays a;

        s = open_session(f, where, memory);
        a = take_arrays(f, s, where);
        if (compute_on(s, p, a.at, &report, &err))
            fail_msg("%s", err.message);
        for (size_t i = 0; i < ARRAYS; i++)
            assert_memory_equal(a.at[i], f->expected[i], ROOM);
        assert_int_equal(report.chunks, chunks);
        assert_true(report.commands >= chunks);
        drop_arrays(s, where, &a);
        tsr_session_close(s);
    }
}

static void multiplies_as_host(fixture *f, const tsr_matmul_problem *p, size_t memory,
                               size_t chunks)
{
    const problem q = matmul_problem(*p);

    computes_as_host(f, &q, memory, chunks);
}

/* How it is cut by a session of so much device_memory (0: what the device has). */
static partition chosen_for(tsr_session *s, const problem *p, size_t memory)
{
    partition how;
    selection sel;

    s->host_calls_memory = memory;
    assert_int_equal(dispatch_select(s, p, NULL, IN_BUFFERS, &sel, NULL), TSR_OK);
    assert_int_equal(partition_choose(s, p, &sel, &how, NULL), TSR_OK);
    return how;
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

/* ---- matvec ---------------------------------------------------------------------------------- */

static void applies_as_host(fixture *f, const tsr_matvec_problem *p, size_t memory, size_t chunks)
{
    const problem q = matvec_problem(*p);

    computes_as_host(f, &q, memory, chunks);
}

enum { ROWS = 20, COLUMNS = 30, PRODUCTS = 7, LINE = 4 * COLUMNS, VECTORS = 4 * (ROWS + COLUMNS) };

static tsr_matvec_problem vectors_problem(void)
{
    return (tsr_matvec_problem){.rows = ROWS,
                                .columns = COLUMNS,
                                .alpha = 2,
                                .batch = PRODUCTS,
                                .stride_a = ROWS * COLUMNS,
                                .stride_x = COLUMNS,
                                .stride_y = ROWS};
}

/* Plain or transposed, y not read or read. */
static tsr_matvec_problem vectors_form(int form)
{
    tsr_matvec_problem p = vectors_problem();

    p.trans = form & 1;
    p.stride_x = p.trans ? ROWS : COLUMNS;
    p.stride_y = p.trans ? COLUMNS : ROWS;
    p.beta = form & 2 ? 3 : 0;
    return p;
}

/* Whole products, 2 to a group where each of three slots has room for as many. */
static void matrices_go_in_groups(void **state)
{
    enum { OWN = ROWS * LINE + VECTORS };
    fill_whole(*state);
    for (int form = 0; form < 4; form++) {
        const tsr_matvec_problem p = vectors_form(form);

        applies_as_host(*state, &p, PRODUCTS * OWN, 0);
        applies_as_host(*state, &p, PRODUCTS * OWN - 1, 4);
        applies_as_host(*state, &p, 3 * OWN, 7);
        applies_as_host(*state, &p, 2 * OWN, 7);
    }
}

/* Panels of each matrix, of 4 lines and of one; beside vectors of two products, and of one. */
static void matrices_go_in_panels(void **state)
{
    fill_whole(*state);
    for (int form = 0; form < 4; form++) {
        const tsr_matvec_problem p = vectors_form(form);

        applies_as_host(*state, &p, 2 * VECTORS + 3 * 4 * LINE, PRODUCTS * ROWS / 4);
        applies_as_host(*state, &p, 2 * VECTORS + 3 * LINE, PRODUCTS * ROWS);
        applies_as_host(*state, &p, VECTORS + 3 * LINE, PRODUCTS * ROWS);
    }
}

/* Vectors of one matrix: in groups beside it, or, where it has no room beside them, its panels for
 * as many vectors as half of the room holds. */
static void vectors_share_a_matrix(void **state)
{
    enum { PASS = 4, PANEL = 3, PANELS = 2 * (ROWS / PANEL + 1) };
    tsr_matvec_problem p = vectors_problem();

    fill_whole(*state);
    p.stride_a = 0;
    for (int form = 0; form < 2; form++) {
        p.beta = form;
        applies_as_host(*state, &p, PASS * VECTORS + 3 * PANEL * LINE, PANELS);
        applies_as_host(*state, &p, VECTORS + 3 * LINE, PRODUCTS * ROWS);
    }
    p.batch = 200;
    applies_as_host(*state, &p, ROWS * LINE + 3 * 10 * VECTORS, 20);
    p.stride_x = 0;
    applies_as_host(*state, &p, ROWS * LINE + LINE + 3 * 10 * 4 * ROWS, 20);
}

/* Vectors whose elements lie apart, and results of 16 bits to which panels add, through a copy in
 * the type of the sums; for one matrix in two passes. */
static void results_go_through_a_copy(void **state)
{
    enum { PASS = 4, PANEL = 3, PANELS = 2 * (ROWS / PANEL + 1) };

    fill_whole(*state);
    for (int form = 0; form < 16; form++) {
        tsr_matvec_problem p = vectors_form(form & 3);
        const size_t size = form & 4 ? 2 : 4, incy = form & 4 && p.trans ? 1 : 3;
        const size_t vectors = size * p.stride_x + 4 * p.stride_y; /* of a product */

        p.type = form & 4 ? TSR_BF16 : TSR_F32;
        p.incx = 2;
        p.incy = incy;
        p.stride_x *= 2;
        p.stride_y *= incy;
        if (form & 8) {
            p.stride_a = 0;
            applies_as_host(*state, &p,
                            PASS * vectors + (form & 4 ? PASS * vectors : 3 * PANEL * LINE),
                            PANELS);
        }
        applies_as_host(*state, &p, vectors + 3 * COLUMNS * size, PRODUCTS * ROWS);
    }
}

/* Products of a group; 0: there are none. */
static size_t group_of(const partition *p)
{
    return p->kind && strcmp(p->kind->name, "groups") == 0 ? p->cut[0] : 0;
}

/* A shared matrix as large as a buffer may be leaves groups as they are, which are no larger. */
static void a_shared_matrix_may_fill_a_buffer(void **state)
{
    enum { MATRIX = ROWS * LINE, GROUP = 10, MEMORY = MATRIX + 3 * GROUP * VECTORS };
    problem p = matvec_problem(vectors_problem());
    tsr_session *s = open_session(*state, PAGEABLE, 0);
    partition how;

    matvec_in(&p)->stride_a = 0;
    matvec_in(&p)->batch = 200;
    s->device.facts.max_allocation = MATRIX;
    how = chosen_for(s, &p, MEMORY);
    assert_int_equal(group_of(&how), GROUP);
    s->device.facts.max_allocation = GROUP / 2 * 4 * COLUMNS;
    matvec_in(&p)->rows = 5;
    how = chosen_for(s, &p, MEMORY);
    assert_int_equal(group_of(&how), GROUP / 2);
    s->device.facts.max_allocation = MATRIX - 1;
    matvec_in(&p)->rows = ROWS;
    how = chosen_for(s, &p, MEMORY);
    assert_int_equal(group_of(&how), 0);
    tsr_session_close(s);
}

/* What holds neither a line in each slot beside a product's vectors is refused; y is as it was. */
static void vectors_that_do_not_fit_are_refused(void **state)
{
    const tsr_matvec_problem p = vectors_problem();
    fixture *f = *state;
    tsr_session *s = open_session(f, PAGEABLE, VECTORS + 3 * LINE - 1);
    arrays a = take_arrays(f, s, PAGEABLE);
    tsr_error err = {0};

    assert_int_equal(tsr_matvec(s, &p, a.at[0], a.at[1], a.at[2], NULL, NULL, &err), TSR_EOVERFLOW);
    if (!strstr(err.message, "x, y and 3 lines of A need 560 bytes at once, and 559 are allowed"))
        fail_msg("%s", err.message);
    assert_memory_equal(a.at[2], f->before[2], ROOM);
    drop_arrays(s, PAGEABLE, &a);
    tsr_session_close(s);
}

/* ---- buffers --------------------------------------------------------------------------------- */

static cl_mem take_buffer(copies *c, size_t bytes)
{
    cl_mem buffer = NULL;

    assert_int_equal(copies_buffer(c, "a test's", bytes, &buffer, NULL), TSR_OK);
    assert_non_null(buffer);
    return buffer;
}

/* Buffers of unlike sizes wait beside one another for the next call. */
static void buffers_of_all_sizes_are_kept(void **state)
{
    enum { SIZES = 3, BUFFERS = 3 * SIZES };
    static const size_t sizes[SIZES] = {100, 3000, 200};
    tsr_session *s = open_session(*state, PAGEABLE, 0);
    cl_mem first[BUFFERS], again[BUFFERS];
    copies *c;

    assert_int_equal(copies_of(s, &c, NULL), TSR_OK);
    for (size_t i = 0; i < BUFFERS; i++) {
        first[i] = take_buffer(c, sizes[i % SIZES]);
        clRetainMemObject(first[i]); /* so that no other gets its address */
    }
    for (size_t i = 0; i < BUFFERS; i++)
        copies_keep(c, first[i], sizes[i % SIZES]);
    for (size_t i = 0; i < BUFFERS; i++)
        again[i] = take_buffer(c, sizes[i / SIZES]);
    for (size_t i = 0; i < BUFFERS; i++) {
        size_t known = 0;

        for (size_t k = 0; k < BUFFERS; k++)
            known += k % SIZES == i / SIZES && first[k] == again[i];
        assert_int_equal(known, 1);
    }
    for (size_t i = 0; i < BUFFERS; i++) {
        copies_keep(c, again[i], sizes[i / SIZES]);
        clReleaseMemObject(first[i]);
    }
    tsr_session_close(s);
}

static cl_uint references_to(cl_mem buffer)
{
    cl_uint count = 0;

    assert_int_equal(
        clGetMemObjectInfo(buffer, CL_MEM_REFERENCE_COUNT, sizeof(count), &count, NULL),
        CL_SUCCESS);
    return count;
}

/* What waits and what callers have is never more than the session's device_memory. */
static void kept_buffers_make_room(void **state)
{
    tsr_session *s = open_session(*state, PAGEABLE, 1000);
    copies *c;
    cl_mem old, other;

    assert_int_equal(copies_of(s, &c, NULL), TSR_OK);
    old = take_buffer(c, 400);
    clRetainMemObject(old); /* the test's own */
    copies_keep(c, old, 400);
    other = take_buffer(c, 600);
    assert_int_equal(references_to(old), 2);
    copies_keep(c, other, 600);
    other = take_buffer(c, 601);
    assert_int_equal(references_to(old), 1);
    copies_keep(c, other, 601);
    clReleaseMemObject(old);
    tsr_session_close(s);
}

/* What waits is a thirty-second of the device's memory, or 192 MiB, at most. */
static void kept_buffers_are_a_share_of_memory(void **state)
{
    tsr_session *s = open_session(*state, PAGEABLE, 0);
    const size_t share = (size_t)(session_facts(s)->global_memory / 32);
    const size_t most = share > 192 << 20 ? share : 192 << 20;
    const size_t bytes[] = {most + 1, most, 2}, references[] = {1, 1, 2}; /* of three, at the end */
    cl_mem buffer[3];
    copies *c;

    assert_int_equal(copies_of(s, &c, NULL), TSR_OK);
    for (size_t i = 0; i < 3; i++) {
        buffer[i] = take_buffer(c, bytes[i]);
        clRetainMemObject(buffer[i]); /* the test's own */
        copies_keep(c, buffer[i], bytes[i]);
        assert_int_equal(references_to(buffer[i]), i ? 2 : 1);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(references_to(buffer[i]), references[i]);
        clReleaseMemObject(buffer[i]);
    }
    copies_empty(s);
    tsr_session_close(s);
}

/* ---- too many pieces ------------------------------------------------------------------------- */

/* Whether so many bytes are refused, and for the number of pieces. */
static bool too_little(tsr_session *s, const problem *p, const selection *sel, size_t bytes,
                       tsr_error *err)
{
    partition how;
    tsr_status st;

    s->host_calls_memory = bytes;
    st = partition_choose(s, p, sel, &how, err);
    if (st) {
        assert_int_equal(st, TSR_EOVERFLOW);
        assert_non_null(strstr(err->message, " pieces; 4096 are allowed, from "));
    }
    return st != TSR_OK;
}

/* What would fall into more pieces than are allowed is refused, and the bytes that the message
 * names are the fewest that are not. */
static void refuses_pieces(tsr_session *s, const problem *p, size_t bytes)
{
    tsr_error err = {0};
    selection sel;
    size_t least = 0;

    assert_int_equal(dispatch_select(s, p, NULL, IN_BUFFERS, &sel, &err), TSR_OK);
    assert_true(too_little(s, p, &sel, bytes, &err));
    assert_int_equal(sscanf(strstr(err.message, "from "), "from %zu bytes on", &least), 1);
    assert_true(least > bytes);
    assert_false(too_little(s, p, &sel, least, &err));
    assert_true(too_little(s, p, &sel, least - 1, &err));
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

static problem matrices(size_t rows, size_t columns, size_t batch)
{
    return matvec_problem((tsr_matvec_problem){.rows = rows,
                                               .columns = columns,
                                               .alpha = 1,
                                               .batch = batch,
                                               .stride_a = rows * columns,
                                               .stride_x = columns,
                                               .stride_y = rows});
}

static void too_many_pieces_are_refused(void **state)
{
    /* Each in bytes that hold what has to be there at once. */
    const struct {
        problem problem;
        size_t bytes;
    } cases[] = {
        {matrices(5000, 100, 1), 20800 + 1200},
        {matrices(10, 100, 500), 440 + 1200},
        {matmul_problem((tsr_matmul_problem){.m = 70, .n = 80, .k = 5, .alpha = 1}), 4 * 20 + 8},
        {square_products(2, 5000), 3 * 3 * 16},
        {square_products(16, 300), 5000}, /* one at a time, in slabs and strips */
        {sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 100000}), 1 << 10},
        {sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 50, .rows = 5000}), 600}};
    tsr_session *s = open_session(*state, PAGEABLE, 0);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        refuses_pieces(s, &cases[i].problem, cases[i].bytes);
    tsr_session_close(s);
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

/* ---- pinned memory --------------------------------------------------------------------------- */

static void pinned_memory_is_known(void **state)
{
    const fixture *f = *state;
    tsr_session *s = open_session(f, PAGEABLE, 0), *host = NULL;
    tsr_error err = {0};
    void *a = NULL, *b = NULL, *none = NULL;
    char on_stack;

    assert_int_equal(tsr_pinned_alloc(s, 1000, &a, &err), TSR_OK);
    assert_int_equal(tsr_pinned_alloc(s, 100, &b, &err), TSR_OK);
    assert_true(pinned_holds(s, a, 1000));
    assert_true(pinned_holds(s, (char *)a + 999, 1));
    assert_false(pinned_holds(s, (char *)a + 1, 1000));
    assert_false(pinned_holds(s, &on_stack, 1));
    assert_true(pinned_holds(s, b, 100));
    tsr_pinned_free(s, a);
    assert_false(pinned_holds(s, a, 1));
    assert_true(pinned_holds(s, b, 100));
    tsr_pinned_free(s, NULL);
    assert_int_equal(tsr_pinned_alloc(s, 0, &none, &err), TSR_EINVAL);
    assert_int_equal(tsr_pinned_alloc(NULL, 1, &none, &err), TSR_EINVAL);
    tsr_session_close(s); /* frees b */
    assert_int_equal(tsr_session_open(f->host, NULL, &host, NULL), TSR_OK);
    assert_int_equal(tsr_pinned_alloc(host, 1, &none, &err), TSR_EUNSUPPORTED);
    assert_null(none);
    tsr_session_close(host);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_fixture, drop_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(keys_are_sorted_as_they_arrive),
        TEST(what_goes_with_keys_arrives_too),
        TEST(chunking_changes_no_bit),
        TEST(rows_are_sorted_some_at_a_time),
        TEST(keys_are_exchanged_between_chunks),
        TEST(sorts_that_do_not_fit_are_refused),
        TEST(products_arrive_in_slabs),
        TEST(long_rows_go_straight),
        TEST(batches_go_in_groups),
        TEST(batches_go_product_by_product),
        TEST(batches_side_by_side_go_product_by_product),
        TEST(short_products_are_not_cut),
        TEST(windows_go_in_groups),
        TEST(batches_that_do_not_fit_are_refused),
        TEST(matrices_go_in_groups),
        TEST(matrices_go_in_panels),
        TEST(vectors_share_a_matrix),
        TEST(results_go_through_a_copy),
        TEST(a_shared_matrix_may_fill_a_buffer),
        TEST(vectors_that_do_not_fit_are_refused),
        TEST(buffers_of_all_sizes_are_kept),
        TEST(kept_buffers_make_room),
        TEST(kept_buffers_are_a_share_of_memory),
        TEST(too_many_pieces_are_refused),
        cmocka_unit_test(pairs_of_chunks_are_counted),
        TEST(pinned_memory_is_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
