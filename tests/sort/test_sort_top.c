/* What the variants of sort that find the first keys launch: carried out here part by part, within
 * the workspace, it leaves them; what they refuse, and when which is preferred. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/sizes.h"
#include "core/registry.h"
#include "ops/sort/sort_order.h"
#include "ops/sort/sort_top.h"
#include "sort_plans.h"

/* Arguments of the kernels that search parts; the last one of cpu-top alone. */
enum {
    OFFSET_KEYS = 3,
    OFFSET_INDEX,
    LENGTH,
    INDEX_LENGTH,
    FROM,
    TO,
    COUNT,
    KEEP,
    ROWS,
    FIRST,
    LAST,
    PART,
    ARGUMENTS
};

static device_facts gpu(void)
{
    return (device_facts){.kind = DEVICE_GPU,
                          .max_work_group = 1024,
                          .max_work_item = {1024, 1024, 64},
                          .local_memory = 49152};
}

static device_facts processor(void)
{
    device_facts d = gpu();

    d.kind = DEVICE_CPU;
    d.compute_units = 16;
    d.vector_bits = 256;
    return d;
}

static const variant *top_tiles(void)
{
    return find("top-tiles");
}

/* A variant on a device. */
typedef struct subject {
    const variant *v;
    device_facts d;
    params p;
    size_t tile;   /* 0: each launch is told */
    size_t stored; /* bytes of a uint32 key between launches */
} subject;

/* One launch: each part sorted, and its first keys left side by side. */
static void run_parts(const command *s, size_t tile, uint32_t *keys, uint32_t *stored, size_t room)
{
    const size_t n = scalar(s, COUNT), keep = scalar(s, KEEP), rows = scalar(s, ROWS);
    const bool first = scalar(s, FIRST), last = scalar(s, LAST);
    uint32_t *own = malloc(tile * sizeof(*own)), *to = stored + scalar(s, TO);

    assert_non_null(own);
    assert_int_equal(s->global[0] / s->local[0], rows * size_div_up(n, tile));
    assert_true(!last || n <= tile);
    assert_true(first || scalar(s, FROM) + rows * n <= room);
    for (size_t row = 0; row < rows; row++)
        for (size_t start = 0; start < n; start += tile) {
            const size_t count = size_min(tile, n - start), kept = size_min(count, keep);
            const uint32_t *from = first ? keys + row * scalar(s, LENGTH) + start
                                         : stored + scalar(s, FROM) + row * n + start;

            memcpy(own, from, count * sizeof(*own));
            qsort(own, count, sizeof(*own), compare_keys);
            if (last) {
                memcpy(keys + row * scalar(s, LENGTH), own, kept * sizeof(*own));
                continue;
            }
            assert_true((size_t)(to - stored) + kept <= room);
            /* What is still to be read stays. */
            assert_true(first || (size_t)(to - stored) + kept <= scalar(s, FROM) ||
                        (size_t)(to - stored) >= scalar(s, FROM) + rows * n);
            memcpy(to, own, kept * sizeof(*own));
            to += kept;
        }
    free(own);
}

static void check_finds(const subject *x, size_t n, size_t rows, size_t top)
{
    const problem q =
        sort_problem((tsr_sort_problem){.type = TSR_U32, .n = n, .rows = rows, .top = top});
    const job j = {&q, &x->d, &x->p, false};
    const size_t room = x->v->workspace(&j) / x->stored, kept = size_min(n, top);
    uint32_t *keys = calloc(n * rows + 1, sizeof(*keys)), *stored = malloc((room + 1) * 4);
    uint32_t *sorted = malloc((n * rows + 1) * sizeof(*sorted));
    uint64_t state = n;
    text reason = {0};
    size_t steps = 0;
    command s;

    assert_non_null(keys);
    assert_non_null(stored);
    assert_non_null(sorted);
    assert_null(variant_unsupported(x->v, &j, &reason));
    for (size_t i = 0; i < n * rows; i++)
        keys[i] = (uint32_t)(random_u64(&state) % (n / 2 + 1));
    memcpy(sorted, keys, n * rows * sizeof(*keys));
    for (; x->v->step(&j, steps, &s); steps++) {
        assert_int_equal(s.entry, TOP_PART);
        assert_int_equal(s.n_args, x->tile ? PART : ARGUMENTS);
        run_parts(&s, x->tile ? x->tile : scalar(&s, PART), keys, stored, room);
    }
    assert_int_equal(steps > 0, n > 1);
    for (size_t row = 0; row < rows; row++) {
        qsort(sorted + row * n, n, sizeof(*sorted), compare_keys);
        assert_memory_equal(sorted + row * n, keys + row * n, kept * sizeof(*keys));
    }
    free(sorted);
    free(stored);
    free(keys);
    text_free(&reason);
}

static params small(void)
{
    static const char *const assignments[] = {"KEYS=4", "GROUP=8", NULL};

    return settings(top_tiles(), assignments);
}

static void test_steps_find_the_first(void **state)
{
    static const size_t tops[] = {1, 2, 15, 16};
    static const char *const small_chunks[] = {"CHUNK=64", NULL};
    const variant *item = find("cpu-top");
    const subject subjects[] = {{top_tiles(), gpu(), small(), 32, sizeof(uint32_t)},
                                {item, processor(), settings(item, small_chunks), 0, 16},
                                {item, gpu(), settings(item, small_chunks), 0, 16}};

    (void)state;
    for (size_t i = 0; i < sizeof(subjects) / sizeof(*subjects); i++) {
        const subject *x = &subjects[i];

        for (size_t t = 0; t < sizeof(tops) / sizeof(*tops); t++) {
            for (size_t n = 0; n <= 300; n++)
                check_finds(x, n, 1 + n % 3, tops[t]);
            check_finds(x, 100003, 1, tops[t]);
        }
        check_finds(x, 20, 3, 20);
        check_finds(x, 20, 3, 1000);
    }
}

/* Chunks for all cores, as long as each is worth while; of many rows one each.  Fewer and fewer
 * work-items share what these leave. */
static void test_chunks_for_all_cores(void **state)
{
    const variant *v = find("cpu-top");
    const device_facts d = processor();
    const params p = params_default(v);
    problem q =
        sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 1 << 24, .rows = 1, .top = 100});
    const job j = {&q, &d, &p, false};
    command s;

    (void)state;
    assert_true(v->step(&j, 0, &s));
    assert_int_equal(s.global[0], 16 * 4);
    assert_int_equal(scalar(&s, PART), (1 << 24) / 64);
    assert_true(v->step(&j, 1, &s));
    assert_int_equal(s.global[0], 1); /* 6400 keys */
    assert_false(v->step(&j, 2, &s));
    sort_in(&q)->top = 10000; /* 80000 of them make a chunk */
    assert_true(v->step(&j, 0, &s));
    assert_int_equal(s.global[0], 64);
    assert_true(v->step(&j, 1, &s));
    assert_int_equal(s.global[0], 8);
    assert_true(v->step(&j, 2, &s));
    assert_int_equal(s.global[0], 1);
    assert_false(v->step(&j, 3, &s));
    *sort_in(&q) = (tsr_sort_problem){.type = TSR_U32, .n = 20000, .rows = 3, .top = 5};
    assert_true(v->step(&j, 0, &s));
    assert_int_equal(s.global[0], 2 * 3);
    assert_int_equal(scalar(&s, PART), 16384);
    sort_in(&q)->rows = 65;
    sort_in(&q)->n = 1 << 20;
    assert_true(v->step(&j, 0, &s));
    assert_int_equal(s.global[0], 65);
    assert_false(v->step(&j, 1, &s));
}

/* Every launch has its place in the workspace beside the values that are kept and their index. */
static void test_values_follow(void **state)
{
    const variant *v = top_tiles();
    const params p = small();
    const device_facts d = gpu();
    problem q = sort_problem(
        (tsr_sort_problem){.type = TSR_U16, .n = 100, .rows = 3, .top = 5, .value_bytes = 2});
    const job j = {&q, &d, &p, false};
    command s;

    (void)state;
    /* 15 values in 32 bytes, 15 indices; four tiles of a row leave 5, 5, 5 and 4 packed ones. */
    assert_int_equal(v->workspace(&j), 32 + 15 * 8 + 3 * 19 * 8);
    assert_true(v->step(&j, 0, &s));
    assert_int_equal(scalar(&s, TO), (32 + 15 * 8) / 8);
    assert_int_equal(scalar(&s, INDEX_LENGTH), 5);
    assert_true(v->step(&j, 1, &s));
    assert_int_equal(scalar(&s, FROM), (32 + 15 * 8) / 8);
    assert_int_equal(scalar(&s, LAST), 1);
    assert_true(v->step(&j, 2, &s) && s.entry == TOP_GATHER);
    assert_true(v->step(&j, 3, &s) && s.entry == TOP_PUT);
    assert_false(v->step(&j, 4, &s));
    sort_in(&q)->offset_keys = 11;
    sort_in(&q)->offset_index = 13;
    sort_in(&q)->argsort = true; /* the caller's index, of whole rows */
    assert_int_equal(v->workspace(&j), 32 + 3 * 19 * 8);
    assert_true(v->step(&j, 0, &s));
    assert_int_equal(scalar(&s, INDEX_LENGTH), 100);
    assert_int_equal(scalar(&s, OFFSET_KEYS), 11);
    assert_int_equal(scalar(&s, OFFSET_INDEX), 13);
    assert_int_equal(s.arg[1].index, 1);
}

/* Elements of 16 bytes begin at a multiple of that. */
static void test_values_follow_chunks(void **state)
{
    static const char *const small_chunks[] = {"CHUNK=64", NULL};
    const variant *v = find("cpu-top");
    const params p = settings(v, small_chunks);
    const device_facts d = processor();
    problem q = sort_problem(
        (tsr_sort_problem){.type = TSR_F64, .n = 100, .rows = 3, .top = 5, .value_bytes = 2});
    const job j = {&q, &d, &p, false};
    command s;

    (void)state;
    /* 15 values in 32 bytes, 15 indices, 8 bytes that nobody uses; two chunks of a row leave 5. */
    assert_int_equal(v->workspace(&j), 32 + 15 * 8 + 8 + 3 * 10 * 16);
    assert_true(v->step(&j, 0, &s));
    assert_int_equal(scalar(&s, TO), (32 + 15 * 8 + 8) / 16);
    assert_true(v->step(&j, 1, &s));
    assert_int_equal(scalar(&s, FROM), (32 + 15 * 8 + 8) / 16);
    assert_true(v->step(&j, 2, &s) && s.entry == TOP_GATHER);
    assert_true(v->step(&j, 3, &s) && s.entry == TOP_PUT);
    assert_false(v->step(&j, 4, &s));
}

static void check_reason_of(const variant *v, const problem *q, const params *p,
                            const char *expected)
{
    const device_facts d = gpu();
    const job j = {q, &d, p, false};
    text reason = {0};
    const char *why = variant_unsupported(v, &j, &reason);

    assert_string_equal(why ? why : "suited", expected);
    text_free(&reason);
}

static void check_reason(const problem *q, const params *p, const char *expected)
{
    check_reason_of(top_tiles(), q, p, expected);
}

static void test_unsupported_gives_the_values(void **state)
{
    const params p = small(), normal = params_default(top_tiles());
    problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 1000});

    (void)state;
    check_reason(&q, &p, "it finds the first keys alone, and all are wanted");
    sort_in(&q)->top = 17;
    check_reason(&q, &p, "a tile of 32 keys keeps at most half of them, not 17");
    check_reason(&q, &normal, "suited");
    sort_in(&q)->n = 32;
    check_reason(&q, &p, "suited");
    sort_in(&q)->n = ((size_t)1 << 31) + 1;
    check_reason(&q, &p, "it indexes in 32 bits: at most 2147483648 keys, not 2147483649");
    *sort_in(&q) = (tsr_sort_problem){.type = TSR_F64, .n = 1000, .argsort = true, .top = 3};
    check_reason(&q, &p, "it packs a key and its index in 64 bits, and the key alone has as many");
    /* The largest tile of 48 KiB has 8192 keys of 4 bytes. */
    *sort_in(&q) = (tsr_sort_problem){.type = TSR_U32, .n = 100000, .top = 4096};
    check_reason(&q, &normal, "suited");
    sort_in(&q)->top = 4097;
    check_reason(&q, &normal, "a tile of 8192 keys keeps at most half of them, not 4097");
}

static void test_heaps_that_do_not_fit(void **state)
{
    const variant *v = find("cpu-top");
    const params p = params_default(v);
    problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 100000});

    (void)state;
    check_reason_of(v, &q, &p, "it finds the first keys alone, and all are wanted");
    /* 48 KiB have 12288 keys of 4 bytes, and 4096 of 8 with their index. */
    sort_in(&q)->top = 8192;
    check_reason_of(v, &q, &p, "suited");
    sort_in(&q)->top = 8193;
    check_reason_of(v, &q, &p,
                    "it keeps 16384 keys of 4 bytes in local memory, and the device has 49152 "
                    "bytes");
    *sort_in(&q) = (tsr_sort_problem){.type = TSR_F64, .n = 100000, .argsort = true, .top = 2048};
    check_reason_of(v, &q, &p, "suited");
    sort_in(&q)->top = 4097;
    check_reason_of(v, &q, &p,
                    "it keeps 8192 keys of 12 bytes in local memory, and the device has 49152 "
                    "bytes");
    sort_in(&q)->n = ((size_t)1 << 31) + 1;
    check_reason_of(v, &q, &p, "it indexes in 32 bits: at most 2147483648 keys, not 2147483649");
}

/* On CPUs, where few of the keys are kept: fewer where sorting all of them is fast. */
static void test_cpus_prefer_heaps(void **state)
{
    static const struct {
        size_t n, rows, top;
        bool argsort, preferred;
    } cases[] = {{1 << 16, 1, 256, false, true},  {1 << 16, 1, 257, false, false},
                 {1 << 20, 1, 1024, false, true}, {1 << 20, 1, 1025, false, false},
                 {1 << 20, 1, 4096, true, true},  {1 << 20, 1, 4097, true, false},
                 {1 << 23, 1, 8192, true, true},  {1 << 23, 1, 8193, true, false},
                 {1000, 7, 3, false, true},       {1000, 7, 4, true, false},
                 {255, 1, 1, false, false},       {1 << 20, 1, 0, false, false}};
    device_facts d = processor();

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const problem q = sort_problem((tsr_sort_problem){.type = TSR_F32,
                                                          .n = cases[i].n,
                                                          .rows = cases[i].rows,
                                                          .top = cases[i].top,
                                                          .argsort = cases[i].argsort});
        const char *names[PREFERENCES_MAX];
        const size_t count = operation_sort.prefer(&q, &d, names);

        assert_true(count > 0);
        assert_int_equal(!strcmp(names[0], "cpu-top"), cases[i].preferred);
        d.kind = DEVICE_GPU;
        operation_sort.prefer(&q, &d, names);
        assert_string_not_equal(names[0], "cpu-top");
        d.kind = DEVICE_CPU;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_find_the_first),
        cmocka_unit_test(test_chunks_for_all_cores),
        cmocka_unit_test(test_values_follow),
        cmocka_unit_test(test_values_follow_chunks),
        cmocka_unit_test(test_unsupported_gives_the_values),
        cmocka_unit_test(test_heaps_that_do_not_fit),
        cmocka_unit_test(test_cpus_prefer_heaps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
