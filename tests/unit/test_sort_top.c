/* What the variant of sort that finds the first keys launches: carried out here tile by tile,
 * within the workspace, it leaves them; and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/sizes.h"
#include "ops/registry.h"
#include "ops/sort_top.h"
#include "sort_plans.h"

/* Arguments of the kernel that sorts tiles. */
enum { LENGTH = 5, INDEX_LENGTH, FROM, TO, COUNT, KEEP, ROWS, FIRST, LAST, ARGUMENTS };

static device_facts gpu(void)
{
    return (device_facts){.kind = DEVICE_GPU,
                          .max_work_group = 1024,
                          .max_work_item = {1024, 1024, 64},
                          .local_memory = 49152};
}

static const variant *top_tiles(void)
{
    return find("top-tiles");
}

/* One launch: each tile sorted, and its first keys left side by side. */
static void run_tiles(const step *s, size_t tile, uint32_t *keys, uint32_t *stored, size_t room)
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

static void check_finds(const params *p, size_t tile, size_t n, size_t rows, size_t top)
{
    const variant *v = top_tiles();
    const device_facts d = gpu();
    const problem q = {.op = &operation_sort,
                       .sort = {.type = TSR_U32, .n = n, .rows = rows, .top = top}};
    const job j = {&q, &d, p};
    const size_t room = v->workspace(&j) / sizeof(uint32_t), kept = size_min(n, top);
    uint32_t *keys = calloc(n * rows + 1, sizeof(*keys)), *stored = malloc((room + 1) * 4);
    uint32_t *sorted = malloc((n * rows + 1) * sizeof(*sorted));
    uint64_t state = n;
    text reason = {0};
    size_t steps = 0;
    step s;

    assert_non_null(keys);
    assert_non_null(stored);
    assert_non_null(sorted);
    assert_null(variant_unsuited(v, &j, &reason));
    for (size_t i = 0; i < n * rows; i++)
        keys[i] = (uint32_t)(random_u64(&state) % (n / 2 + 1));
    memcpy(sorted, keys, n * rows * sizeof(*keys));
    for (; v->step(&j, steps, &s); steps++) {
        assert_int_equal(s.entry, TOP_TILE);
        assert_int_equal(s.n_args, ARGUMENTS);
        run_tiles(&s, tile, keys, stored, room);
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
    params p = params_default(top_tiles());

    assert_int_equal(params_set(top_tiles(), &p, "KEYS=4", NULL), TSR_OK);
    assert_int_equal(params_set(top_tiles(), &p, "GROUP=8", NULL), TSR_OK);
    return p;
}

static void test_steps_find_the_first(void **state)
{
    static const size_t tops[] = {1, 2, 15, 16};
    const params p = small();

    (void)state;
    for (size_t t = 0; t < sizeof(tops) / sizeof(*tops); t++) {
        for (size_t n = 0; n <= 300; n++)
            check_finds(&p, 32, n, 1 + n % 3, tops[t]);
        check_finds(&p, 32, 100003, 1, tops[t]);
    }
    check_finds(&p, 32, 20, 3, 20);
    check_finds(&p, 32, 20, 3, 1000);
}

/* Every launch has its place in the workspace beside the values that are kept and their index. */
static void test_values_follow(void **state)
{
    const variant *v = top_tiles();
    const params p = small();
    const device_facts d = gpu();
    problem q = {.op = &operation_sort,
                 .sort = {.type = TSR_U16, .n = 100, .rows = 3, .top = 5, .value_bytes = 2}};
    const job j = {&q, &d, &p};
    step s;

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
    q.sort.argsort = true; /* the caller's index, of whole rows */
    assert_int_equal(v->workspace(&j), 32 + 3 * 19 * 8);
    assert_true(v->step(&j, 0, &s));
    assert_int_equal(scalar(&s, INDEX_LENGTH), 100);
}

static void check_reason(const problem *q, const params *p, const char *expected)
{
    const device_facts d = gpu();
    const job j = {q, &d, p};
    text reason = {0};
    const char *why = variant_unsuited(top_tiles(), &j, &reason);

    assert_string_equal(why ? why : "suited", expected);
    text_free(&reason);
}

static void test_unsuited_gives_the_values(void **state)
{
    const params p = small(), normal = params_default(top_tiles());
    problem q = {.op = &operation_sort, .sort = {.type = TSR_U32, .n = 1000}};

    (void)state;
    check_reason(&q, &p, "it finds the first keys alone, and all are wanted");
    q.sort.top = 17;
    check_reason(&q, &p, "a tile of 32 keys keeps at most half of them, not 17");
    check_reason(&q, &normal, "suited");
    q.sort.n = 32;
    check_reason(&q, &p, "suited");
    q.sort.n = ((size_t)1 << 31) + 1;
    check_reason(&q, &p, "it indexes in 32 bits: at most 2147483648 keys, not 2147483649");
    q.sort = (tsr_sort_problem){.type = TSR_F64, .n = 1000, .argsort = true, .top = 3};
    check_reason(&q, &p, "it packs a key and its index in 64 bits, and the key alone has as many");
    /* The largest tile of 48 KiB has 8192 keys of 4 bytes. */
    q.sort = (tsr_sort_problem){.type = TSR_U32, .n = 100000, .top = 4096};
    check_reason(&q, &normal, "suited");
    q.sort.top = 4097;
    check_reason(&q, &normal, "a tile of 8192 keys keeps at most half of them, not 4097");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_find_the_first),
        cmocka_unit_test(test_values_follow),
        cmocka_unit_test(test_unsuited_gives_the_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
