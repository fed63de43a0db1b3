/* What the variant of sort in explicit vectors launches: carried out here key by key, as the header
 * of cl/sort/sort_cpu_vectors.cl has it, it sorts; and what does not go together is refused. */
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
#include "ops/sort/sort_cpu_vectors.h"
#include "ops/sort/sort_order.h"
#include "sort_plans.h"

/* Arguments of the kernels: of those that sort and merge blocks, and of passes. */
enum { LANES_ARG = 2, KEYS, INDEX, OFFSET_LANES, COUNT, LAST, ROWS, POSITION };

enum { PASS_OFFSET = 1, PASS_COUNT, SHIFT, LEVELS, FLIP };

static device_facts cpu(void)
{
    return (device_facts){.kind = DEVICE_CPU,
                          .max_work_group = 4096,
                          .max_work_item = {4096, 4096, 4096},
                          .local_memory = 512 << 10};
}

static bool is_pass(const command *s)
{
    return s->entry == ITEM_VECTORS_PASS;
}

/* Lanes before the first one of a launch, and how many there are. */
static size_t offset(const command *s)
{
    return scalar(s, is_pass(s) ? PASS_OFFSET : OFFSET_LANES);
}

static size_t length(const command *s)
{
    return scalar(s, is_pass(s) ? PASS_COUNT : COUNT);
}

/* ---- carrying the steps out ------------------------------------------------------------------ */

/* Each work-item takes `width` columns of a block of 2^levels rows. */
static void run_pass(uint32_t *keys, const command *s, size_t block)
{
    const size_t n = length(s), stride = (size_t)1 << scalar(s, SHIFT);
    const size_t rows = (size_t)1 << scalar(s, LEVELS), width = block / rows;
    const bool flip = scalar(s, FLIP);

    assert_true(stride >= block);
    for (size_t c = 0; c < s->global[0] * width; c++) {
        const size_t column = c % stride, start = c / stride * stride * rows;

        for (size_t half = rows / 2; half > 0; half /= 2)
            for (size_t r = 0; r < rows; r++) {
                const bool turn = flip && half == rows / 2, upper = flip && r >= rows / 2;
                const size_t low = r * stride + (upper ? stride - 1 - column : column);
                const size_t high = low ^ (turn ? rows * stride - 1 : half * stride);

                if (high > low)
                    order(keys, start + low, start + high, n);
            }
    }
}

static void run_merge(uint32_t *keys, size_t n, size_t block)
{
    for (size_t stride = block / 2; stride > 0; stride /= 2)
        for (size_t i = 0; i < n; i++)
            if (!(i & stride))
                order(keys, i, i + stride, n);
}

static void run_step(uint32_t *keys, const command *s, size_t block)
{
    const size_t n = length(s);

    keys += offset(s);
    assert_int_equal(s->local[0], 1);
    assert_int_equal(s->arg[is_pass(s) ? 0 : LANES_ARG].kind, ARG_OPERAND);
    if (is_pass(s)) {
        run_pass(keys, s, block);
        return;
    }
    assert_int_equal(s->global[0], size_div_up(n, block));
    if (s->entry == ITEM_VECTORS_MERGE)
        run_merge(keys, n, block);
    else
        for (size_t i = 0; i < n; i += block)
            qsort(keys + i, size_min(block, n - i), sizeof(*keys), compare_keys);
}

static void check_sorts(const params *p, size_t n)
{
    const variant *v = find("cpu-vectors");
    const device_facts d = cpu();
    const problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = n});
    const job j = {&q, &d, p, false};
    const cpu_vectors_plan layout = sort_cpu_vectors_plan(&j);
    uint32_t *keys = calloc(n + 1, sizeof(*keys));
    bool *left = calloc(n + 1, sizeof(*left)); /* where memory holds keys */
    uint64_t state = n;
    text reason = {0};
    size_t steps = 0;
    command s;

    assert_true(keys && left);
    assert_null(variant_unsupported(v, &j, &reason));
    for (size_t i = 0; i < n; i++)
        keys[i] = (uint32_t)(random_u64(&state) % (n / 2 + 1));
    for (; v->step(&j, steps, &s); steps++) {
        run_step(keys, &s, (size_t)1 << layout.block.shift);
        if (is_pass(&s))
            assert_true(scalar(&s, LEVELS) >= 1 && scalar(&s, LEVELS) <= layout.levels);
        for (size_t i = offset(&s); i < offset(&s) + length(&s); i++) {
            assert_false(left[i]);
            left[i] = !is_pass(&s) && scalar(&s, LAST);
        }
    }
    assert_int_equal(steps > 0, n > 1);
    for (size_t i = 1; i < n; i++)
        assert_true(left[i] && keys[i - 1] <= keys[i]);
    text_free(&reason);
    free(left);
    free(keys);
}

static void check_lengths(const char *const *assignments)
{
    const params p = settings(find("cpu-vectors"), assignments);

    for (size_t n = 0; n <= 20; n++)
        check_sorts(&p, n);
    for (size_t n = 200; n <= 4500; n += n / 16 - 3)
        check_sorts(&p, n);
    for (size_t blocks = 1; blocks <= 64; blocks *= 2)
        for (size_t n = 256 * blocks - 1; n <= 256 * blocks + 1; n++)
            check_sorts(&p, n);
}

static void test_steps_sort_any_length(void **state)
{
    static const char *const levels[] = {"LEVELS=1", "LEVELS=2", "LEVELS=3", "LEVELS=5"};

    (void)state;
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        const char *const one[] = {"BLOCK=256", levels[i], NULL};
        const char *const spans[] = {"BLOCK=64", "BITS=128", levels[i], "SPAN=1", NULL};

        check_lengths(one);
        if (i < 3) /* in a block of 64 no 5 levels have room */
            check_lengths(spans);
    }
}

/* With an index the same launches work in the workspace, behind what values need; they read keys at
 * first, and leave them with their index at last. */
static void test_an_index_comes_along(void **state)
{
    static const char *const small[] = {"BLOCK=64", "BITS=128", "LEVELS=2", "SPAN=1", NULL};
    const variant *v = find("cpu-vectors");
    const params p = settings(v, small);
    const device_facts d = cpu();
    problem plain = sort_problem((tsr_sort_problem){.type = TSR_U64, .n = 1000});
    problem with = sort_problem(
        (tsr_sort_problem){.type = TSR_U16, .n = 1000, .value_bytes = 4, .offset_keys = 7});
    const job a = {&plain, &d, &p, false}, b = {&with, &d, &p, false};
    const size_t before = 1000 + 500; /* lanes: the index, and the copy of values */
    size_t steps = 0, blocks = 0;
    command s, same;

    (void)state;
    assert_int_equal(v->workspace(&a), 0);
    assert_int_equal(v->workspace(&b), (before + 1000) * 8);
    for (; v->step(&a, steps, &same); steps++) {
        assert_true(v->step(&b, steps, &s));
        assert_int_equal(s.entry, same.entry);
        assert_int_equal(s.global[0], same.global[0]);
        assert_int_equal(offset(&s), offset(&same) + before);
        assert_int_equal(length(&s), length(&same));
        assert_int_equal(s.arg[is_pass(&s) ? 0 : LANES_ARG].kind, ARG_WORKSPACE);
        if (is_pass(&s))
            continue;
        assert_int_equal(s.arg[1].kind, ARG_WORKSPACE);
        assert_int_equal(scalar(&s, KEYS), offset(&same) + 7);
        assert_int_equal(scalar(&s, INDEX), offset(&same));
        if (s.entry == ITEM_VECTORS_BLOCK)
            assert_int_equal(scalar(&s, POSITION), offset(&same));
        blocks += s.entry == ITEM_VECTORS_BLOCK;
    }
    assert_int_equal(blocks, 8); /* spans of 128 lanes */
    assert_true(v->step(&b, steps, &s) && s.entry == ITEM_VECTORS_KEEP);
    assert_true(v->step(&b, steps + 1, &s));
    assert_false(v->step(&b, steps + 2, &s));
    sort_in(&with)->rows = 3;
    assert_int_equal(v->workspace(&b), (3 * before + 3 * 1000) * 8);
    assert_true(v->step(&b, 0, &s));
    assert_int_equal(scalar(&s, COUNT), 1000);
    assert_int_equal(scalar(&s, ROWS), 3);
    assert_int_equal(offset(&s), 3 * before);
    sort_in(&with)->rows = 1;
    sort_in(&with)->n = 64; /* in one launch nothing is left for another */
    assert_int_equal(v->workspace(&b), 64 * 8 + 64 * 4);
    assert_true(v->step(&b, 0, &s));
    assert_int_equal(s.arg[LANES_ARG].kind, ARG_OPERAND);
}

/* ---- the layout --------------------------------------------------------------------------------
 */

static void test_plan_follows_the_key(void **state)
{
    static const struct {
        tsr_type type;
        uint32_t lanes, block_shift;
    } cases[] = {{TSR_U8, 16, 17}, {TSR_F16, 16, 16}, {TSR_F32, 8, 15}, {TSR_I64, 4, 14}};
    static const char *const none[] = {NULL};
    const params p = settings(find("cpu-vectors"), none);
    device_facts d = cpu();
    problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 1000});
    const job j = {&q, &d, &p, false};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        sort_in(&q)->type = cases[i].type;
        assert_int_equal(sort_cpu_vectors_plan(&j).block.lanes, cases[i].lanes);
        assert_int_equal(sort_cpu_vectors_plan(&j).block.shift, cases[i].block_shift);
    }
    /* 64 bits with an index; and rows that do not fill as many vectors as lanes. */
    sort_in(&q)->type = TSR_U8;
    sort_in(&q)->argsort = true;
    assert_int_equal(sort_cpu_vectors_plan(&j).block.lanes, 4);
    assert_int_equal(sort_cpu_vectors_plan(&j).block.shift, 14);
    *sort_in(&q) = (tsr_sort_problem){.type = TSR_U16, .n = 129, .rows = 2};
    assert_int_equal(sort_cpu_vectors_plan(&j).block.lanes, 16);
    sort_in(&q)->n = 128;
    assert_int_equal(sort_cpu_vectors_plan(&j).block.lanes, 8);
    sort_in(&q)->n = 32;
    assert_int_equal(sort_cpu_vectors_plan(&j).block.lanes, 4);
    sort_in(&q)->n = 2;
    assert_int_equal(sort_cpu_vectors_plan(&j).block.lanes, 4);
    sort_in(&q)->rows = 1;
    assert_int_equal(sort_cpu_vectors_plan(&j).block.lanes, 16);
    *sort_in(&q) = (tsr_sort_problem){.type = TSR_U32, .n = 1000};
    /* What local memory has room for, rounded down to a power of 2. */
    sort_in(&q)->type = TSR_U32;
    d.local_memory = 48 << 10;
    assert_int_equal(sort_cpu_vectors_plan(&j).block.shift, 13);
}

static void check_reason(const problem *q, const char *const *assignments, const char *expected)
{
    const variant *v = find("cpu-vectors");
    const params p = settings(v, assignments);
    const device_facts d = cpu();
    const job j = {q, &d, &p, false};
    text reason = {0};
    const char *why = variant_unsupported(v, &j, &reason);

    assert_string_equal(why ? why : "suited", expected);
    text_free(&reason);
}

static void test_unsupported_gives_the_values(void **state)
{
    static const char *const none[] = {NULL}, *const large[] = {"BLOCK=131072", NULL},
                             *const small[] = {"BLOCK=256", "BITS=512", "LEVELS=5", NULL},
                             *const many[] = {"BLOCK=256", NULL};
    problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 1000});

    (void)state;
    check_reason(&q, none, "suited");
    check_reason(&q, large, "suited");
    check_reason(&q, small, "blocks of 256 keys have pieces of less than 16 in 5 levels");
    check_reason(&q, many, "blocks of 256 keys have pieces of less than 8 in 8 levels");
    sort_in(&q)->type = TSR_F64;
    check_reason(&q, large, "it needs 1048576 bytes of local memory, and the device has 524288");
    sort_in(&q)->argsort = true;
    check_reason(&q, none,
                 "it packs a key and its index in 64 bits, and the key alone has as many");
    *sort_in(&q) = (tsr_sort_problem){.type = TSR_U32, .n = ((size_t)1 << 31) + 1};
    check_reason(&q, none, "it indexes in 32 bits: at most 2147483648 keys, not 2147483649");
}

/* On CPUs alone, for rows that are not very short, and behind cpu-merges for keys of one row. */
static void test_cpus_prefer_it(void **state)
{
    device_facts d = cpu();
    problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 15});
    const char *names[PREFERENCES_MAX];

    (void)state;
    operation_sort.prefer(&q, &d, names);
    assert_string_equal(names[1], "cpu-vectors");
    sort_in(&q)->rows = 2;
    sort_in(&q)->n = 8;
    operation_sort.prefer(&q, &d, names);
    assert_string_equal(names[0], "rows");
    sort_in(&q)->n = 9;
    operation_sort.prefer(&q, &d, names);
    assert_string_equal(names[0], "cpu-vectors");
    d.kind = DEVICE_GPU;
    operation_sort.prefer(&q, &d, names);
    assert_string_equal(names[0], "rows-shfl");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_sort_any_length),
        cmocka_unit_test(test_an_index_comes_along),
        cmocka_unit_test(test_plan_follows_the_key),
        cmocka_unit_test(test_unsupported_gives_the_values),
        cmocka_unit_test(test_cpus_prefer_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
