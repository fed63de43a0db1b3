/* The plans of transpose's variants on devices made up here, its blocks in C, and what is no
 * problem of it: no OpenCL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/sizes.h"
#include "core/registry.h"
#include "ops/transpose/transpose_loops.h"
#include "ops/transpose/transpose_problem.h"

static device_facts device(device_kind kind, size_t units, size_t work_group)
{
    return (device_facts){.kind = kind,
                          .cl_version = 120,
                          .clc_version = 120,
                          .compute_units = units,
                          .max_work_group = work_group,
                          .max_work_item = {work_group, work_group, work_group},
                          .local_memory = 32768};
}

static problem problem_of(tsr_transpose_problem p)
{
    return problem_from(&operation_transpose, &p, sizeof(p));
}

/* The plan of a variant with its usual values; NULL, or why there is none. */
static const char *make(const variant *v, const device_facts *d, tsr_transpose_problem p, plan *out)
{
    params chosen = {.tunables = v->tunables, .count = v->tunable_count};
    const problem q = problem_of(p);
    const job j = {.problem = &q, .device = d, .params = &chosen};

    for (size_t i = 0; i < chosen.count; i++)
        chosen.value[i] = v->tunables[i].normal;
    return plan_make(v, &j, out);
}

static const variant *const variants[] = {
    &transpose_read_coalesced, &transpose_write_coalesced, &transpose_tile,    &transpose_padded,
    &transpose_swizzle,        &transpose_vector,          &transpose_general, &transpose_in_place};

/* Groups that the device takes, items for every tile, and no launch for nothing. */
static void launches_reach_every_element(void **state)
{
    static const size_t sides[] = {0, 1, 31, 33, 4096};
    const device_facts devices[] = {device(DEVICE_CPU, 2, 4096), device(DEVICE_GPU, 132, 1024),
                                    device(DEVICE_GPU, 16, 256)};

    (void)state;
    for (size_t v = 0; v < ARRAY_COUNT(variants); v++)
        for (size_t d = 0; d < ARRAY_COUNT(devices); d++)
            for (size_t i = 0; i < ARRAY_COUNT(sides); i++) {
                const size_t n = sides[i];
                const tsr_transpose_problem p = {
                    .rows = n, .columns = n, .in_place = variants[v] == &transpose_in_place};
                plan out;

                assert_null(make(variants[v], &devices[d], p, &out));
                assert_int_equal(out.count, n > 0);
                if (n) {
                    const command *c = &out.commands[0];
                    const size_t down = c->dims == 2 ? c->local[1] : 1;

                    assert_true(c->local[0] * down <= devices[d].max_work_group);
                    assert_int_equal(c->global[0] % c->local[0], 0);
                    assert_true(c->bytes == 8 * (double)n * (double)n);
                }
                plan_free(&out);
            }
}

static void expect_refusal(const variant *v, const device_facts *d, tsr_transpose_problem p,
                           const char *says)
{
    plan out;
    const char *why = make(v, d, p, &out);

    assert_non_null(why);
    assert_non_null(strstr(why, says));
    plan_free(&out);
}

static void expect_plan(const variant *v, const device_facts *d, tsr_transpose_problem p)
{
    plan out;

    assert_null(make(v, d, p, &out));
    plan_free(&out);
}

static void what_variants_refuse(void **state)
{
    const device_facts gpu = device(DEVICE_GPU, 132, 1024), tiny = device(DEVICE_GPU, 4, 16);

    (void)state;
    expect_refusal(&transpose_tile, &gpu, (tsr_transpose_problem){.type = TSR_U8, .rows = 2},
                   "it takes elements of 4 bytes, not of 1");
    expect_refusal(&transpose_tile, &gpu,
                   (tsr_transpose_problem){.rows = 2, .columns = 2, .batch = 2}, "not a batch");
    expect_refusal(&transpose_tile, &gpu,
                   (tsr_transpose_problem){.rows = 2, .columns = 2, .lda = 3}, "rows without gaps");
    expect_refusal(&transpose_tile, &gpu,
                   (tsr_transpose_problem){.rows = (size_t)1 << 22, .columns = 2},
                   "it takes up to 65535 work-groups down a matrix");
    expect_refusal(&transpose_general, &gpu,
                   (tsr_transpose_problem){.rows = 2, .columns = 2, .in_place = true},
                   "it does not transpose in place");
    expect_refusal(&transpose_in_place, &gpu, (tsr_transpose_problem){.rows = 2, .columns = 2},
                   "transposes in place alone");
    expect_refusal(&transpose_vector, &tiny, (tsr_transpose_problem){.rows = 2, .columns = 2},
                   "it needs work-groups of 256, the device takes 16");
    /* 2^32 tiles of 64 x 64; of one less, the number of each fits. */
    expect_refusal(&transpose_vector, &gpu,
                   (tsr_transpose_problem){.rows = (size_t)1 << 22, .columns = (size_t)1 << 22},
                   "it numbers tiles in 32 bits: at most 4294967295, not 4294967296");
    expect_plan(&transpose_vector, &gpu,
                (tsr_transpose_problem){.rows = (size_t)64 * 65537, .columns = (size_t)64 * 65535});
    /* Of a batch all tiles count. */
    expect_refusal(&transpose_general, &gpu,
                   (tsr_transpose_problem){.rows = 2, .columns = 2, .batch = (size_t)1 << 32},
                   "it numbers tiles in 32 bits: at most 4294967295, not ");
    expect_plan(&transpose_general, &gpu,
                (tsr_transpose_problem){.rows = 2, .columns = 2, .batch = UINT32_MAX});
}

/* A GPU moves elements of 16 bytes at once, a CPU in two parts; of 12 in three. */
static void elements_have_parts(void **state)
{
    const device_facts gpu = device(DEVICE_GPU, 132, 1024), cpu = device(DEVICE_CPU, 2, 4096);
    const struct {
        const device_facts *device;
        size_t bytes;
        const char *defines;
    } expected[] = {{&gpu, 16, "PART=ulong2 -DPARTS=1"}, {&cpu, 16, "PART=ulong -DPARTS=2"},
                    {&gpu, 12, "PART=uint -DPARTS=3"},   {&gpu, 6, "PART=ushort -DPARTS=3"},
                    {&gpu, 3, "PART=uchar -DPARTS=3"},   {&cpu, 8, "PART=ulong -DPARTS=1"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(expected); i++) {
        const tsr_transpose_problem p = {
            .element_bytes = expected[i].bytes, .rows = 5, .columns = 7};
        plan out;

        assert_null(make(&transpose_general, expected[i].device, p, &out));
        assert_non_null(strstr(text_get(&out.defines), expected[i].defines));
        plan_free(&out);
    }
}

/* All tiles of a row of B begin as early: a tile is no smaller than what memory writes at a time.
 */
static void tiles_hold_a_sector(void **state)
{
    static const uint32_t tiles[] = {16, 32, 64};
    const device_facts d = device(DEVICE_GPU, 132, 1024);
    const problem q =
        problem_of((tsr_transpose_problem){.type = TSR_U8, .rows = 70, .columns = 16});

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(tiles); i++) {
        params chosen = params_default(&transpose_general);
        const job j = {.problem = &q, .device = &d, .params = &chosen};
        plan out;

        chosen.value[0] = tiles[i];
        assert_null(plan_make(&transpose_general, &j, &out));
        assert_int_equal(param(&out.params, "SECTOR"), size_min(tiles[i], 32));
        plan_free(&out);
    }
}

/* A group has no more rows of work-items than a tile has rows. */
static void items_fit_the_tile(void **state)
{
    const device_facts d = device(DEVICE_GPU, 132, 1024);
    const problem q = problem_of((tsr_transpose_problem){.rows = 70, .columns = 16});
    params chosen = params_default(&transpose_general);
    const job j = {.problem = &q, .device = &d, .params = &chosen};
    plan out;

    (void)state;
    assert_int_equal(params_set(&transpose_general, &chosen, "TILE=16", NULL), TSR_OK);
    assert_int_equal(params_set(&transpose_general, &chosen, "ITEMS=32", NULL), TSR_OK);
    assert_string_equal(plan_make(&transpose_general, &j, &out),
                        "ITEMS=32 exceeds the 16 rows of a tile");
    plan_free(&out);
    assert_int_equal(params_set(&transpose_general, &chosen, "ITEMS=16", NULL), TSR_OK);
    assert_null(plan_make(&transpose_general, &j, &out));
    plan_free(&out);
}

/* No more tiles than units: more work-items for each, up to one an element of the tile. */
static void few_tiles_take_large_groups(void **state)
{
    const device_facts d = device(DEVICE_GPU, 132, 1024);
    const struct {
        size_t rows, columns, batch;
        const char *set;
        uint32_t items;
    } expected[] = {{64 * 11, 64 * 12, 1, NULL, 16}, {64 * 11, 64 * 12 + 1, 1, NULL, 4},
                    {64, 64, 132, NULL, 16},         {64, 64, 133, NULL, 4},
                    {10, 10, 1, "TILE=32", 32},      {10, 10, 1, "TILE=16", 16},
                    {10, 10, 1, "ITEMS=4", 4}};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(expected); i++) {
        const problem q = problem_of((tsr_transpose_problem){.type = TSR_F32,
                                                             .rows = expected[i].rows,
                                                             .columns = expected[i].columns,
                                                             .batch = expected[i].batch});
        params chosen = params_default(&transpose_general);
        const job j = {.problem = &q, .device = &d, .params = &chosen};
        plan out;

        if (expected[i].set)
            assert_int_equal(params_set(&transpose_general, &chosen, expected[i].set, NULL),
                             TSR_OK);
        assert_null(plan_make(&transpose_general, &j, &out));
        assert_int_equal(param(&out.params, "ITEMS"), expected[i].items);
        plan_free(&out);
    }
}

/* Large matrices of 4 bytes whose rows of B begin anywhere: smaller tiles and groups. */
static void rows_that_begin_anywhere_take_small_tiles(void **state)
{
    const device_facts gpu = device(DEVICE_GPU, 132, 1024), cpu = device(DEVICE_CPU, 2, 4096);
    const struct {
        const device_facts *device;
        tsr_type type;
        size_t rows, columns, ldb;
        const char *set;
        uint32_t tile, items;
    } expected[] = {{&gpu, TSR_F32, 4095, 8193, 0, NULL, 32, 4},
                    {&gpu, TSR_U32, 4096, 8193, 4097, NULL, 32, 4},
                    {&gpu, TSR_F32, 4096, 8193, 0, NULL, 64, 4},
                    {&gpu, TSR_F32, 511, 8193, 0, NULL, 64, 4},
                    {&gpu, TSR_F32, 4095, 8193, 0, "TILE=64", 64, 4},
                    {&gpu, TSR_F16, 4095, 8193, 0, NULL, 64, 4},
                    {&gpu, TSR_F64, 4095, 8193, 0, NULL, 32, 8},
                    {&cpu, TSR_F32, 4095, 8193, 0, NULL, 32, 1}};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(expected); i++) {
        const problem q = problem_of((tsr_transpose_problem){.type = expected[i].type,
                                                             .rows = expected[i].rows,
                                                             .columns = expected[i].columns,
                                                             .ldb = expected[i].ldb});
        params chosen = params_default(&transpose_general);
        const job j = {.problem = &q, .device = expected[i].device, .params = &chosen};
        plan out;

        if (expected[i].set)
            assert_int_equal(params_set(&transpose_general, &chosen, expected[i].set, NULL),
                             TSR_OK);
        assert_null(plan_make(&transpose_general, &j, &out));
        assert_int_equal(param(&out.params, "TILE"), expected[i].tile);
        assert_int_equal(param(&out.params, "ITEMS"), expected[i].items);
        plan_free(&out);
    }
}

static void check_gives(tsr_transpose_problem p, tsr_status expected)
{
    const problem q = problem_of(p);

    assert_int_equal(operation_transpose.check(&q, NULL), expected);
}

static void what_is_no_problem(void **state)
{
    (void)state;
    check_gives((tsr_transpose_problem){.rows = 2, .columns = 3}, TSR_OK);
    check_gives((tsr_transpose_problem){.rows = 2, .columns = 3, .in_place = true}, TSR_EINVAL);
    check_gives((tsr_transpose_problem){.rows = 2, .columns = 3, .lda = 2}, TSR_EINVAL);
    check_gives((tsr_transpose_problem){.rows = 2, .columns = 3, .ldb = 1}, TSR_EINVAL);
    check_gives((tsr_transpose_problem){.rows = 2, .columns = 3, .element_bytes = 17}, TSR_EINVAL);
    check_gives((tsr_transpose_problem){.type = TSR_TYPE_COUNT}, TSR_EINVAL);
    check_gives((tsr_transpose_problem){.rows = 2, .columns = 3, .batch = 2, .stride_b = 5},
                TSR_EINVAL);
    check_gives((tsr_transpose_problem){.rows = SIZE_MAX / 4, .columns = 4}, TSR_EOVERFLOW);
    check_gives((tsr_transpose_problem){.rows = SIZE_MAX / 15, .columns = 1, .element_bytes = 16},
                TSR_EOVERFLOW);
    check_gives((tsr_transpose_problem){.rows = 1, .columns = 1, .offset_b = SIZE_MAX / 2},
                TSR_EOVERFLOW);
}

/* One block by the loops, apart and past the caches from where a line begins and from elsewhere,
 * beside its definition. */
static void check_block(size_t rows, size_t columns, size_t bytes)
{
    enum { PITCH = 128 * 16, BYTES = PITCH * 256, WAYS = 3, SHIFT = 20 };
    static _Alignas(64) unsigned char from[BYTES], to[BYTES], wanted[BYTES];
    static _Alignas(64) unsigned char memory[2 * TRANSPOSE_BLOCK_BYTES];
    static transpose_block_apart *const apart[] = {ISA_EACH(transpose_block_apart)};

    for (size_t i = 0; i < BYTES; i++)
        from[i] = (unsigned char)(i * 167 + i / 256 * 31);
    for (int way = 0; way < WAYS; way++) {
        const size_t shift = way == 2 ? SHIFT : 0;
        const transpose_block b = {.from = from,
                                   .to = to + shift,
                                   .rows = rows,
                                   .columns = columns,
                                   .bytes = bytes,
                                   .pitch = PITCH,
                                   .to_pitch = PITCH,
                                   .past_caches = way > 0};

        memset(wanted, 0xAA, BYTES);
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < columns; j++)
                memcpy(wanted + shift + j * PITCH + i * bytes, from + i * PITCH + j * bytes, bytes);
        for (isa set = ISA_BASE; set <= isa_best(); set++) {
            memset(to, 0xAA, BYTES);
            apart[set](&b, memory);
            assert_memory_equal(to, wanted, BYTES);
        }
    }
}

static void blocks_of_every_size(void **state)
{
    (void)state;
    for (size_t bytes = 1; bytes <= ELEMENT_BYTES_MAX; bytes++) {
        const size_t side = transpose_side(bytes);
        const size_t counts[] = {1, 3, 16, side - 1, side, 2 * side - 1, 2 * side};

        for (size_t i = 0; i < ARRAY_COUNT(counts); i++)
            for (size_t j = 0; j < ARRAY_COUNT(counts) && counts[j] <= side; j++)
                check_block(counts[i], counts[j], bytes);
    }
}

/* A matrix that is stored past the caches, whose rows begin at lines and elsewhere. */
static void check_large(size_t rows, size_t columns, size_t bytes, size_t batch, size_t offset)
{
    tsr_transpose_problem p = {.rows = rows,
                               .columns = columns,
                               .element_bytes = bytes,
                               .batch = batch,
                               .offset_a = offset,
                               .offset_b = offset};
    const size_t all = rows * columns * batch;
    const problem q = problem_of(p);
    unsigned char *a = aligned_alloc(64, size_round_up((offset + all) * bytes, 64));
    unsigned char *b = aligned_alloc(64, size_round_up((offset + all + 1) * bytes, 64));
    void *operands[] = {a, b};

    assert_non_null(a);
    assert_non_null(b);
    for (size_t i = 0; i < (offset + all) * bytes; i++)
        a[i] = (unsigned char)(i * 167 + i / 251);
    memset(b, 0xAA, (offset + all + 1) * bytes);
    assert_int_equal(transpose_simd.host(&q, operands, NULL), TSR_OK);
    for (size_t e = 0; e < batch; e++)
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < columns; j++)
                if (memcmp(b + (offset + (e * columns + j) * rows + i) * bytes,
                           a + (offset + (e * rows + i) * columns + j) * bytes, bytes) != 0)
                    fail_msg("%zu matrices of %zux%zu elements of %zu bytes: (%zu, %zu) of %zu",
                             batch, rows, columns, bytes, i, j, e);
    for (size_t i = 0; i < bytes; i++) {
        assert_int_equal(b[(offset + all) * bytes + i], 0xAA);
        assert_true(offset == 0 || b[(offset - 1) * bytes + i] == 0xAA);
    }
    free(a);
    free(b);
}

static void large_ones_past_the_caches(void **state)
{
    (void)state;
    check_large(2176, 2100, 4, 1, 0);
    check_large(2176, 2100, 4, 1, 1);
    check_large(2103, 2049, 4, 1, 0);
    check_large(2176, 2112, 4, 1, 5);
    check_large(4115, 1100, 4, 1, 7);
    check_large(129, 33000, 4, 1, 2);
    check_large(300, 416, 4, 35, 3);
    check_large(303, 400, 4, 35, 0);
    check_large(320, 416, 4, 35, 9);
    check_large(17, 250001, 4, 1, 3);
    check_large(250001, 17, 4, 1, 0);
    check_large(48, 48, 4, 1900, 0);
    check_large(49, 51, 4, 1700, 0);
    check_large(4200, 4100, 1, 1, 0);
    check_large(4160, 4100, 1, 1, 0);
    check_large(2900, 2950, 2, 1, 0);
    check_large(2400, 2350, 3, 1, 5);
    check_large(1480, 1470, 8, 1, 0);
    check_large(1471, 1470, 8, 1, 0);
    check_large(1471, 1472, 8, 1, 3);
    check_large(1472, 1480, 8, 1, 3);
    check_large(2100, 1000, 8, 2, 1);
    check_large(1100, 1310, 12, 1, 0);
    check_large(1045, 1040, 16, 1, 0);
    check_large(1, 5000000, 4, 1, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_reach_every_element),
        cmocka_unit_test(what_variants_refuse),
        cmocka_unit_test(elements_have_parts),
        cmocka_unit_test(tiles_hold_a_sector),
        cmocka_unit_test(items_fit_the_tile),
        cmocka_unit_test(few_tiles_take_large_groups),
        cmocka_unit_test(rows_that_begin_anywhere_take_small_tiles),
        cmocka_unit_test(what_is_no_problem),
        cmocka_unit_test(blocks_of_every_size),
        cmocka_unit_test(large_ones_past_the_caches),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
