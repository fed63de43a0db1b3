/* What the variant of sort by merges launches: carried out here, as the header of
 * cl/sort/sort_cpu_merges.cl has it, it sorts, from the array that was written last to the other
 * one; and what does not go together is refused. */
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
#include "ops/sort/sort_cpu_merges.h"
#include "ops/sort/sort_order.h"
#include "sort_plans.h"

/* Arguments of the kernels: blocks, and merges. */
enum { LANES_ARG = 2, BLOCK_KEYS, BLOCK_INDEX, BLOCK_LANES, BLOCK_COUNT, POSITION, BLOCK_LAST };

enum { FROM = 2, TO, KEYS, INDEX, OFFSET_FROM, OFFSET_TO, COUNT, LENGTH, PIECE, LAST };

enum { OFFSET_KEYS = 3, OFFSET_INDEX = 5 };

static device_facts cpu(void)
{
    return (device_facts){.kind = DEVICE_CPU,
                          .compute_units = 2,
                          .max_work_group = 4096,
                          .max_work_item = {4096, 4096, 4096},
                          .local_memory = 512 << 10};
}

/* ---- carrying the steps out ------------------------------------------------------------------ */

/* The keys' array and their index, with offsets, and the workspace.  What is sorted is a key, or a
 * key above its position; everything is wide here. */
typedef struct arrays {
    uint64_t *keys, *index, *workspace;
    size_t n, room; /* lanes of the workspace */
    bool packed;
    bool *left; /* where the keys' array holds what was left at last */
} arrays;

/* Lanes that a launch passes, `count` of them. */
static uint64_t *lanes(const arrays *a, const command *s, unsigned arg, unsigned offset,
                       size_t count)
{
    const uint64_t from = scalar(s, offset);

    if (s->arg[arg].kind == ARG_WORKSPACE) {
        assert_true(from + count <= a->room);
        return a->workspace + from;
    }
    assert_true(s->arg[arg].kind == ARG_OPERAND && s->arg[arg].index == 0 && !a->packed);
    assert_true(from >= OFFSET_KEYS && from + count <= a->n + OFFSET_KEYS);
    for (size_t i = from; i < from + count; i++)
        assert_false(a->left[i]);
    return a->keys + from;
}

/* What a launch leaves at last. */
static void leave(const arrays *a, const command *s, unsigned keys, const uint64_t *sorted,
                  size_t n)
{
    assert_true(s->arg[0].kind == ARG_OPERAND && s->arg[0].index == 0);
    assert_true(scalar(s, keys) >= OFFSET_KEYS && scalar(s, keys) + n <= a->n + OFFSET_KEYS);
    if (a->packed) {
        assert_true(s->arg[1].kind == ARG_OPERAND && s->arg[1].index == 1);
        assert_true(scalar(s, keys + 1) >= OFFSET_INDEX);
        assert_true(scalar(s, keys + 1) + n <= a->n + OFFSET_INDEX);
    }
    for (size_t i = 0; i < n; i++) {
        assert_false(a->left[scalar(s, keys) + i]);
        a->left[scalar(s, keys) + i] = true;
        a->keys[scalar(s, keys) + i] = a->packed ? sorted[i] >> 32 : sorted[i];
        if (a->packed)
            a->index[scalar(s, keys + 1) + i] = sorted[i] & UINT32_MAX;
    }
}

static int compare_wide(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void run_block(const arrays *a, const command *s, size_t block)
{
    const size_t n = scalar(s, BLOCK_COUNT), position = scalar(s, POSITION);
    uint64_t *sorted = malloc((n + 1) * sizeof(*sorted));

    assert_non_null(sorted);
    assert_int_equal(s->global[0], size_div_up(n, block));
    assert_int_equal(position, scalar(s, BLOCK_KEYS) - OFFSET_KEYS);
    for (size_t i = 0; i < n; i++) {
        sorted[i] = a->keys[scalar(s, BLOCK_KEYS) + i];
        if (a->packed)
            sorted[i] = sorted[i] << 32 | (position + i);
    }
    for (size_t i = 0; i < n; i += block)
        qsort(sorted + i, size_min(block, n - i), sizeof(*sorted), compare_wide);
    if (scalar(s, BLOCK_LAST))
        leave(a, s, BLOCK_KEYS, sorted, n);
    else
        memcpy(lanes(a, s, LANES_ARG, BLOCK_LANES, n), sorted, n * sizeof(*sorted));
    free(sorted);
}

static void run_merge(const arrays *a, const command *s, size_t least)
{
    const size_t n = scalar(s, COUNT), run = scalar(s, LENGTH), piece = scalar(s, PIECE);
    const uint64_t *from = lanes(a, s, FROM, OFFSET_FROM, n);
    uint64_t *sorted = malloc((n + 1) * sizeof(*sorted));

    assert_non_null(sorted);
    assert_int_equal(piece & (piece - 1), 0);
    assert_true(piece >= least);
    assert_int_equal(s->global[0], size_div_up(n, piece));
    for (size_t begin = 0; begin < n; begin += 2 * run) {
        const size_t middle = size_min(begin + run, n), end = size_min(begin + 2 * run, n);

        for (size_t i = begin, j = middle, o = begin; o < end; o++)
            sorted[o] = j == end || (i < middle && from[i] <= from[j]) ? from[i++] : from[j++];
    }
    if (scalar(s, LAST)) {
        leave(a, s, KEYS, sorted, n);
    } else {
        uint64_t *to = lanes(a, s, TO, OFFSET_TO, n);

        assert_true(to + n <= from || from + n <= to);
        memcpy(to, sorted, n * sizeof(*sorted));
    }
    free(sorted);
}

static void check_sorts(const params *p, size_t n, bool packed)
{
    const variant *v = find("cpu-merges");
    const device_facts d = cpu();
    const problem q = sort_problem((tsr_sort_problem){.type = TSR_U32,
                                                      .n = n,
                                                      .argsort = packed,
                                                      .offset_keys = OFFSET_KEYS,
                                                      .offset_index = OFFSET_INDEX});
    const job j = {&q, &d, p, false};
    const size_t block = param(p, "BLOCK"), bytes = v->workspace(&j);
    const size_t arrays_left = n <= block ? 0 : packed && n > 2 * block ? 2 : 1;
    arrays a = {calloc(n + OFFSET_KEYS, sizeof(uint64_t)),
                calloc(n + OFFSET_INDEX, sizeof(uint64_t)),
                malloc((2 * n + 1) * sizeof(uint64_t)),
                n,
                bytes / (packed ? 8 : 4),
                packed,
                calloc(n + OFFSET_KEYS, sizeof(bool))};
    uint64_t *before = calloc(n + 1, sizeof(*before));
    uint64_t state = n;
    command s;

    assert_true(a.keys && a.index && a.workspace && a.left && before);
    assert_int_equal(a.room, arrays_left * n);
    for (size_t i = 0; i < n; i++)
        before[i] = a.keys[OFFSET_KEYS + i] = random_u64(&state) % (n / 2 + 1);
    for (size_t i = 0; v->step(&j, i, &s); i++) {
        assert_int_equal(s.local[0], 1);
        if (s.entry == ITEM_MERGES_MERGE)
            run_merge(&a, &s, (size_t)param(p, "STREAMS") * (packed ? 4 : 8));
        else
            run_block(&a, &s, block);
    }
    for (size_t i = 0; i < n && (n > 1 || packed); i++)
        assert_true(a.left[OFFSET_KEYS + i]);
    for (size_t i = 0; packed && i < n; i++) {
        const uint64_t from = a.index[OFFSET_INDEX + i];

        assert_true(from < n && a.keys[OFFSET_KEYS + i] == before[from]);
        assert_true(!i || a.keys[OFFSET_KEYS + i - 1] < a.keys[OFFSET_KEYS + i] ||
                    (a.keys[OFFSET_KEYS + i - 1] == a.keys[OFFSET_KEYS + i] &&
                     a.index[OFFSET_INDEX + i - 1] < from));
    }
    qsort(before, n, sizeof(*before), compare_wide);
    assert_memory_equal(before, a.keys + OFFSET_KEYS, n * sizeof(*before));
    free(before);
    free(a.left);
    free(a.workspace);
    free(a.index);
    free(a.keys);
}

/* One span, spans of one and of several merges, and pieces that PIECE ends. */
static void test_steps_sort_any_length(void **state)
{
    static const char *const cases[][4] = {
        {"BLOCK=64", "STREAMS=1", NULL},
        {"BLOCK=64", "STREAMS=4", "SPAN=16", NULL},
        {"BLOCK=4096", "SPAN=16", NULL},
        {"BLOCK=256", "PIECE=64", NULL},
    };

    (void)state;
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
        for (int packed = 0; packed < 2; packed++) {
            const params p = settings(find("cpu-merges"), cases[c]);

            for (size_t n = 0; n <= 20; n++)
                check_sorts(&p, n, packed);
            for (size_t n = 200; n <= 70000; n += n / 4 - 3)
                check_sorts(&p, n, packed);
            for (size_t blocks = 1; blocks <= 512; blocks *= 2)
                for (size_t n = 64 * blocks - 1; n <= 64 * blocks + 1; n++)
                    check_sorts(&p, n, packed);
        }
}

/* Lanes stand behind the index and the copy of values. */
static void test_values_follow(void **state)
{
    static const char *const small[] = {"BLOCK=64", NULL};
    const variant *v = find("cpu-merges");
    const params p = settings(v, small);
    const device_facts d = cpu();
    problem q = sort_problem((tsr_sort_problem){.type = TSR_U16, .n = 201, .value_bytes = 2});
    const job j = {&q, &d, &p, false};
    size_t steps = 0;
    command s;

    (void)state;
    /* 201 indices and values of 2 bytes, 6 bytes that nobody uses, and two arrays. */
    assert_int_equal(v->workspace(&j), 201 * 8 + 408 + 2 * 201 * 8);
    assert_true(v->step(&j, 0, &s));
    assert_int_equal(scalar(&s, BLOCK_LANES), 201 + 51);
    assert_int_equal(s.arg[1].kind, ARG_WORKSPACE);
    while (v->step(&j, steps, &s))
        steps++;
    assert_int_equal(steps, 1 + 2 + 2);
    assert_true(v->step(&j, steps - 2, &s) && s.entry == ITEM_MERGES_KEEP);
    sort_in(&q)->n = 64; /* a block, and what moves values */
    assert_int_equal(v->workspace(&j), 64 * 8 + 64 * 2);
}

/* ---- the plan -------------------------------------------------------------------------------- */

/* What is finished before the next grows with the cores, by whole powers of 2: launches of one span
 * of 2^20 keys of 4 bytes, and of two of half as many and a merge. */
static void test_spans_follow_the_cores(void **state)
{
    static const struct {
        uint32_t cores;
        size_t spans;
    } cases[] = {{1, 2}, {2, 1}, {3, 1}, {4, 1}};
    static const char *const none[] = {NULL};
    const variant *v = find("cpu-merges");
    const params p = settings(v, none);
    const problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 1 << 20});

    (void)state;
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        device_facts d = cpu();
        const job j = {&q, &d, &p, false};
        size_t blocks = 0;
        command s;

        d.compute_units = cases[c].cores;
        for (size_t i = 0; v->step(&j, i, &s); i++)
            blocks += s.entry == ITEM_MERGES_BLOCK;
        assert_int_equal(blocks, cases[c].spans);
    }
}

static void test_vectors_are_the_device_s(void **state)
{
    static const struct {
        size_t bits;
        tsr_type type;
        const char *defined;
    } cases[] = {{0, TSR_U32, " -DLANES=8 -DBLOCK=4096"},    {128, TSR_U32, " -DLANES=4 "},
                 {512, TSR_U32, " -DLANES=16 -DBLOCK=4096"}, {1024, TSR_F64, " -DLANES=8 "},
                 {512, TSR_U8, " -DLANES=16 -DBLOCK=16384"}, {256, TSR_I64, " -DLANES=4 "}};
    static const char *const none[] = {NULL};
    const variant *v = find("cpu-merges");
    const params p = settings(v, none);
    device_facts d = cpu();
    problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 1000});
    const job j = {&q, &d, &p, false};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        text options = {0};

        d.vector_bits = cases[i].bits;
        sort_in(&q)->type = cases[i].type;
        variant_options(v, &j, &options);
        assert_non_null(strstr(text_get(&options), cases[i].defined));
        text_free(&options);
    }
}

static void check_reason(const problem *q, const char *const *assignments, const char *expected)
{
    const variant *v = find("cpu-merges");
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
    static const char *const none[] = {NULL}, *const small[] = {"BLOCK=64", "BITS=512", NULL};
    problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 1000});

    (void)state;
    check_reason(&q, none, "suited");
    check_reason(&q, small, "its blocks have at least 256 keys, not 64");
    sort_in(&q)->value_bytes = 4;
    check_reason(&q, none, "suited");
    sort_in(&q)->type = TSR_F64;
    check_reason(&q, none,
                 "it packs a key and its index in 64 bits, and the key alone has as many");
    *sort_in(&q) = (tsr_sort_problem){.type = TSR_U32, .n = 1000, .rows = 2};
    check_reason(&q, none, "it merges runs of one row: see cpu-vectors");
    *sort_in(&q) = (tsr_sort_problem){.type = TSR_U32, .n = ((size_t)1 << 31) + 1};
    check_reason(&q, none, "it indexes in 32 bits: at most 2147483648 keys, not 2147483649");
}

static void test_cpus_prefer_it(void **state)
{
    device_facts d = cpu();
    const problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 15});
    const char *names[PREFERENCES_MAX];

    (void)state;
    operation_sort.prefer(&q, &d, names);
    assert_string_equal(names[0], "cpu-merges");
    d.kind = DEVICE_GPU;
    operation_sort.prefer(&q, &d, names);
    assert_string_not_equal(names[0], "cpu-merges");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_sort_any_length),
        cmocka_unit_test(test_values_follow),
        cmocka_unit_test(test_spans_follow_the_cores),
        cmocka_unit_test(test_vectors_are_the_device_s),
        cmocka_unit_test(test_unsupported_gives_the_values),
        cmocka_unit_test(test_cpus_prefer_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
