/* What the variant of sort by merges launches: carried out here, as the header of
 * cl/sort_item_merges.cl has it, it sorts, from the array that was written last to the other one;
 * and what does not go together is refused. */
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
#include "ops/sort_item_merges.h"
#include "sort_plans.h"

/* Arguments of the kernels. */
enum { FROM, OFFSET_FROM, TO, OFFSET_TO, COUNT, LAST_BLOCK, LENGTH = LAST_BLOCK, PIECE, LAST };

enum { OFFSET_KEYS = 3 };

static device_facts cpu(void)
{
    return (device_facts){.kind = DEVICE_CPU,
                          .compute_units = 2,
                          .max_work_group = 4096,
                          .max_work_item = {4096, 4096, 4096},
                          .local_memory = 512 << 10};
}

/* ---- carrying the steps out ------------------------------------------------------------------ */

/* The keys' array, with an offset, and the workspace, which has none. */
typedef struct arrays {
    uint32_t *keys, *workspace;
    size_t n;
} arrays;

static uint32_t *array(const arrays *a, const step *s, unsigned arg)
{
    const uint64_t offset = scalar(s, arg + 1), n = scalar(s, COUNT);
    const bool keys = s->arg[arg].kind == ARG_OPERAND;

    assert_true(keys || s->arg[arg].kind == ARG_WORKSPACE);
    assert_true(offset >= (keys ? OFFSET_KEYS : 0));
    assert_true(offset + n <= a->n + (keys ? OFFSET_KEYS : 0));
    return (keys ? a->keys : a->workspace) + offset;
}

static void run_block(const arrays *a, const step *s, size_t block)
{
    const uint32_t *from = array(a, s, FROM);
    uint32_t *to = array(a, s, TO);
    const size_t n = scalar(s, COUNT);

    assert_int_equal(s->global[0], size_div_up(n, block));
    memmove(to, from, n * sizeof(*to));
    for (size_t i = 0; i < n; i += block)
        qsort(to + i, size_min(block, n - i), sizeof(*to), compare_keys);
}

static void run_merge(const arrays *a, const step *s, size_t least)
{
    const uint32_t *from = array(a, s, FROM);
    uint32_t *to = array(a, s, TO);
    const size_t n = scalar(s, COUNT), run = scalar(s, LENGTH), piece = scalar(s, PIECE);

    assert_true(from != to);
    assert_int_equal(piece & (piece - 1), 0);
    assert_true(piece >= least);
    assert_int_equal(s->global[0], size_div_up(n, piece));
    for (size_t begin = 0; begin < n; begin += 2 * run) {
        const size_t middle = size_min(begin + run, n), end = size_min(begin + 2 * run, n);

        for (size_t i = begin, j = middle, o = begin; o < end; o++)
            to[o] = j == end || (i < middle && from[i] <= from[j]) ? from[i++] : from[j++];
    }
}

static void check_sorts(const params *p, size_t n)
{
    const variant *v = find("item-merges");
    const device_facts d = cpu();
    const problem q = {.op = &operation_sort,
                       .sort = {.type = TSR_U32, .n = n, .offset_keys = OFFSET_KEYS}};
    const job j = {&q, &d, p};
    const size_t block = param(p, "BLOCK"), bytes = v->workspace(&j);
    arrays a = {calloc(n + OFFSET_KEYS, sizeof(uint32_t)), malloc(bytes + 1), n};
    unsigned char *left = calloc(n + 1, 1); /* where memory holds keys */
    uint64_t state = n;
    step s;

    assert_true(a.keys && a.workspace && left);
    assert_int_equal(bytes, n > block ? n * sizeof(uint32_t) : 0);
    for (size_t i = 0; i < n; i++)
        a.keys[OFFSET_KEYS + i] = (uint32_t)(random_u64(&state) % (n / 2 + 1));
    for (size_t i = 0; v->step(&j, i, &s); i++) {
        const bool merges = s.entry == ITEM_MERGES_MERGE;
        const size_t start =
            scalar(&s, OFFSET_TO) - (s.arg[TO].kind == ARG_OPERAND ? OFFSET_KEYS : 0);

        assert_int_equal(s.local[0], 1);
        if (merges)
            run_merge(&a, &s, param(p, "STREAMS") * 8);
        else
            run_block(&a, &s, block);
        for (size_t k = start; k < start + scalar(&s, COUNT); k++) {
            assert_int_equal(left[k], 0);
            left[k] = scalar(&s, merges ? LAST : LAST_BLOCK) != 0;
        }
    }
    for (size_t i = 0; i < n && n > 1; i++)
        assert_true(left[i] && (!i || a.keys[OFFSET_KEYS + i - 1] <= a.keys[OFFSET_KEYS + i]));
    free(left);
    free(a.workspace);
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
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        const params p = settings(find("item-merges"), cases[c]);

        for (size_t n = 0; n <= 20; n++)
            check_sorts(&p, n);
        for (size_t n = 200; n <= 70000; n += n / 4 - 3)
            check_sorts(&p, n);
        for (size_t blocks = 1; blocks <= 512; blocks *= 2)
            for (size_t n = 64 * blocks - 1; n <= 64 * blocks + 1; n++)
                check_sorts(&p, n);
    }
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
    const variant *v = find("item-merges");
    const params p = settings(v, none);
    const problem q = {.op = &operation_sort, .sort = {.type = TSR_U32, .n = 1 << 20}};

    (void)state;
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        device_facts d = cpu();
        const job j = {&q, &d, &p};
        size_t blocks = 0;
        step s;

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
    const variant *v = find("item-merges");
    const params p = settings(v, none);
    device_facts d = cpu();
    problem q = {.op = &operation_sort, .sort = {.type = TSR_U32, .n = 1000}};
    const job j = {&q, &d, &p};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        text options = {0};

        d.vector_bits = cases[i].bits;
        q.sort.type = cases[i].type;
        variant_options(v, &j, &options);
        assert_non_null(strstr(text_get(&options), cases[i].defined));
        text_free(&options);
    }
}

static void check_reason(const problem *q, const char *const *assignments, const char *expected)
{
    const variant *v = find("item-merges");
    const params p = settings(v, assignments);
    const device_facts d = cpu();
    const job j = {q, &d, &p};
    text reason = {0};
    const char *why = variant_unsuited(v, &j, &reason);

    assert_string_equal(why ? why : "suited", expected);
    text_free(&reason);
}

static void test_unsuited_gives_the_values(void **state)
{
    static const char *const none[] = {NULL}, *const small[] = {"BLOCK=64", "BITS=512", NULL};
    problem q = {.op = &operation_sort, .sort = {.type = TSR_U32, .n = 1000}};

    (void)state;
    check_reason(&q, none, "suited");
    check_reason(&q, small, "its blocks have at least 256 keys, not 64");
    q.sort.value_bytes = 4;
    check_reason(&q, none, "it sorts keys alone: neither an index nor values go with them");
    q.sort = (tsr_sort_problem){.type = TSR_U32, .n = 1000, .rows = 2};
    check_reason(&q, none, "it merges runs of one row: see item-vectors");
    q.sort = (tsr_sort_problem){.type = TSR_U32, .n = ((size_t)1 << 31) + 1};
    check_reason(&q, none, "it indexes in 32 bits: at most 2147483648 keys, not 2147483649");
}

static void test_cpus_prefer_it(void **state)
{
    device_facts d = cpu();
    const problem q = {.op = &operation_sort, .sort = {.type = TSR_U32, .n = 15}};
    const char *names[PREFERENCES_MAX];

    (void)state;
    operation_sort.prefer(&q, &d, names);
    assert_string_equal(names[0], "item-merges");
    d.kind = DEVICE_GPU;
    operation_sort.prefer(&q, &d, names);
    assert_string_not_equal(names[0], "item-merges");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_sort_any_length),
        cmocka_unit_test(test_spans_follow_the_cores),
        cmocka_unit_test(test_vectors_are_the_device_s),
        cmocka_unit_test(test_unsuited_gives_the_values),
        cmocka_unit_test(test_cpus_prefer_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
