/* What the variants of sort that hold keys in registers launch: within the device's limits, and,
 * carried out here key by key as the header of cl/sort/sort_fused.cl has it, sorting. */
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
#include "ops/sort/sort_fused.h"
#include "ops/sort/sort_order.h"
#include "sort_plans.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Arguments of every kernel. */
enum { LENGTH = 4, FIRST, END, ROWS, LAST_OR_SHIFT, ARGUMENTS };

static device_facts gpu(void)
{
    return (device_facts){
        .kind = DEVICE_GPU,
        .max_work_group = 1024,
        .max_work_item = {1024, 1024, 64},
        .compute_units = 132,
        .local_memory = 49152,
        .nvidia = true,
        .large_local = 231424,
        .feature = {[FEATURE_PTX] = FEATURE_YES, [FEATURE_LARGE_LOCAL] = FEATURE_YES}};
}

/* Such variants may take local memory beyond what the device reports. */
static bool needs_warps(const variant *v)
{
    return v->needs & 1u << FEATURE_LARGE_LOCAL;
}

/* ---- carrying the steps out ------------------------------------------------------------------ */

/* `columns` columns of blocks of 2^strides keys each, 2^shift apart. */
static void run_pass(uint32_t *keys, const command *s, size_t columns, unsigned strides, bool flip)
{
    const size_t first = scalar(s, FIRST), end = scalar(s, END), rows = (size_t)1 << strides;
    const size_t stride = (size_t)1 << scalar(s, LAST_OR_SHIFT);

    for (size_t c = 0; c < columns; c++) {
        const size_t column = c & (stride - 1), block = first + (c - column) * rows;

        for (size_t half = rows / 2; half > 0; half /= 2)
            for (size_t r = 0; r < rows; r++) {
                const bool turn = flip && half == rows / 2, upper = flip && r >= rows / 2;
                const size_t low = r * stride + (upper ? stride - 1 - column : column);
                const size_t high = low ^ (turn ? rows * stride - 1 : half * stride);

                if (high > low)
                    order(keys, block + low, block + high, end);
            }
    }
}

static void run_tiles(uint32_t *keys, const command *s, size_t tile, bool merge)
{
    const size_t first = scalar(s, FIRST), end = scalar(s, END);

    assert_int_equal(s->global[0] / s->local[0], size_div_up(end - first, tile));
    if (merge) {
        for (size_t stride = tile / 2; stride > 0; stride /= 2)
            for (size_t i = first; i < end; i++)
                if (!((i - first) & stride))
                    order(keys, i, i + stride, end);
        return;
    }
    for (size_t i = first; i < end; i += tile)
        qsort(keys + i, size_min(tile, end - i), sizeof(*keys), compare_keys);
}

static void run_step(uint32_t *keys, const command *s, const fused_plan *layout)
{
    const size_t groups = s->global[0] / s->local[0];
    const bool flip = s->entry == FUSED_FLIP || s->entry == FUSED_FLIP_LONG;

    assert_int_equal(s->n_args, ARGUMENTS);
    switch (s->entry) {
    case FUSED_TILE:
        run_tiles(keys, s, (size_t)1 << layout->sort_shift, false);
        break;
    case FUSED_MERGE:
        run_tiles(keys, s, (size_t)1 << layout->tile_shift, true);
        break;
    case FUSED_FLIP:
    case FUSED_PASS:
        run_pass(keys, s, s->global[0], layout->keys_shift, flip);
        break;
    default:
        /* Whole columns of a block in each group. */
        assert_true(scalar(s, LAST_OR_SHIFT) >= layout->pass_shift - layout->stages);
        run_pass(keys, s, groups << (layout->pass_shift - layout->stages), layout->stages, flip);
    }
}

static void check_sorts(const variant *v, const params *p, size_t n)
{
    const device_facts d = gpu();
    const problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = n});
    const job j = {&q, &d, p, false};
    const fused_plan layout = sort_fused_plan(&j, needs_warps(v));
    uint32_t *keys = calloc(n + 1, sizeof(*keys));
    uint64_t state = n;
    text reason = {0};
    size_t steps = 0;
    command s;

    assert_non_null(keys);
    assert_null(variant_unsupported(v, &j, &reason));
    for (size_t i = 0; i < n; i++)
        keys[i] = (uint32_t)(random_u64(&state) % (n / 2 + 1));
    for (; v->step(&j, steps, &s); steps++) {
        command behind;

        run_step(keys, &s, &layout);
        /* The last command, and no other, leaves keys. */
        if (s.entry == FUSED_TILE || s.entry == FUSED_MERGE)
            assert_int_equal(scalar(&s, LAST_OR_SHIFT), !v->step(&j, steps + 1, &behind));
    }
    assert_int_equal(steps > 0, n > 1);
    for (size_t i = 1; i < n; i++)
        assert_true(keys[i - 1] <= keys[i]);
    text_free(&reason);
    free(keys);
}

static void test_steps_sort_any_length(void **state)
{
    static const char *const cases[][6] = {
        {"KEYS=4", "GROUP=8"},
        {"KEYS=4", "GROUP=8", "SORT_TILES=1"},
        {"KEYS=4", "GROUP=8", "SORT_TILES=4"},
        {"KEYS=4", "GROUP=8", "PASS_TILES=2", "STAGES=6"},
        {"KEYS=8", "GROUP=8", "SORT_TILES=1", "PASS_TILES=2"},
    };
    const variant *v = find("fused-passes");

    (void)state;
    for (size_t c = 0; c < COUNT(cases); c++) {
        const params p = settings(v, cases[c]);

        for (size_t n = 0; n <= 300; n++)
            check_sorts(v, &p, n);
        check_sorts(v, &p, 4097);
        check_sorts(v, &p, 10007);
    }
}

/* ---- as keys arrive -------------------------------------------------------------------------- */

/* What commands have touched, and what they have left for good. */
typedef struct watch {
    size_t arrived, settled; /* positions below */
    double before, after;    /* moved in all, and since the last key arrived */
} watch;

/* Commands say what they work on; nothing is touched again once it is settled, front first. */
static void watch_step(watch *w, const command *s, size_t n)
{
    assert_int_equal(s->first, scalar(s, FIRST));
    assert_int_equal(s->end, scalar(s, END));
    assert_true(s->first < s->end && s->end <= n);
    assert_true(s->first >= w->settled);
    w->arrived = size_max(w->arrived, s->end);
    if (s->settles) {
        assert_int_equal(s->first, w->settled);
        assert_int_equal(w->arrived, n);
        assert_int_equal(scalar(s, LAST_OR_SHIFT), 1);
        w->settled = s->end;
    } else if (s->entry == FUSED_TILE || s->entry == FUSED_MERGE) {
        assert_int_equal(scalar(s, LAST_OR_SHIFT), 0);
    }
    *(w->arrived < n ? &w->before : &w->after) += (double)(s->end - s->first);
}

static watch check_arriving(const variant *v, const params *p, size_t n)
{
    const device_facts d = gpu();
    const problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = n});
    const job j = {&q, &d, p, false};
    const fused_plan layout = sort_fused_plan(&j, needs_warps(v));
    uint32_t *keys = calloc(n + 1, sizeof(*keys));
    uint64_t state = n;
    watch w = {0};
    command s;

    assert_non_null(keys);
    for (size_t i = 0; i < n; i++)
        keys[i] = (uint32_t)(random_u64(&state) % (n / 2 + 1));
    for (size_t i = 0; v->arriving_step(&j, i, &s); i++) {
        run_step(keys, &s, &layout);
        watch_step(&w, &s, n);
    }
    assert_int_equal(w.settled, n > 1 ? n : 0);
    for (size_t i = 1; i < n; i++)
        assert_true(keys[i - 1] <= keys[i]);
    free(keys);
    return w;
}

static void test_arriving_keys_are_sorted(void **state)
{
    static const char *const cases[][5] = {
        {"KEYS=4", "GROUP=8", NULL},
        {"KEYS=4", "GROUP=8", "SORT_TILES=4", NULL},
        {"KEYS=4", "GROUP=8", "PASS_TILES=2", "STAGES=6", NULL},
    };
    const variant *v = find("fused-passes");

    (void)state;
    for (size_t c = 0; c < COUNT(cases); c++) {
        const params p = settings(v, cases[c]);

        for (size_t n = 0; n <= 1100; n += 1 + n / 70)
            check_arriving(v, &p, n);
        check_arriving(v, &p, 4096);
        check_arriving(v, &p, 10007);
    }
}

/* When the last of five chunks is there, its own sort and the last merge are left: less than what
 * was done before.  A chunk's commands share a lane. */
static void test_arriving_chunks(void **state)
{
    static const char *const chunks[] = {"CHUNK=20", "KEYS=16", NULL};
    const variant *v = find("fused-passes-warp");
    const params p = settings(v, chunks);
    const size_t n = ((size_t)5 << 20) - 77;
    const device_facts d = gpu();
    const problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = n});
    const job j = {&q, &d, &p, false};
    const watch w = check_arriving(v, &p, n);
    command s;

    (void)state;
    assert_true(w.after < w.before);
    for (size_t i = 0; v->arriving_step(&j, i, &s); i++) {
        const size_t chunk = s.first >> 20;

        if (!s.lane)
            continue;
        assert_int_equal(s.lane, 1 + chunk % 2);
        assert_true(s.end <= (chunk + 1) << 20);
    }
}

static void test_chunks_sort(void **state)
{
    static const char *const chunks[] = {"CHUNK=20", NULL};
    const variant *v = find("fused-passes-warp");
    const params p = settings(v, chunks);

    (void)state;
    check_sorts(v, &p, (size_t)1 << 20);
    check_sorts(v, &p, ((size_t)1 << 20) + 1);
    check_sorts(v, &p, ((size_t)3 << 20) - 5);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void check_legal(const variant *v, const device_facts *d, const params *p, const problem *q)
{
    const job j = {q, d, p, false};
    const fused_plan layout = sort_fused_plan(&j, needs_warps(v));
    text reason = {0};
    command s;

    if (!variant_unsupported(v, &j, &reason)) {
        assert_true(layout.local <=
                    (needs_warps(v) ? size_max(d->local_memory, d->large_local) : d->local_memory));
        for (size_t i = 0; v->step(&j, i, &s); i++) {
            assert_true(s.local[0] <= d->max_work_group);
            assert_int_equal(s.global[0] % s.local[0], 0);
            assert_true(s.global[0] >= s.local[0]);
        }
    }
    text_free(&reason);
}

static void test_launches_are_legal(void **state)
{
    static const char *const names[] = {"fused-passes", "fused-passes-subgroup",
                                        "fused-passes-warp", "fused-passes-shfl"};
    device_facts devices[] = {gpu(), gpu(), gpu()};

    (void)state;
    devices[1].max_work_group = 64;
    devices[1].large_local = 0;
    devices[2].kind = DEVICE_CPU;
    for (size_t i = 0; i < COUNT(names) * COUNT(devices); i++) {
        const variant *v = find(names[i % COUNT(names)]);
        const device_facts *d = &devices[i / COUNT(names)];

        for (size_t t = 0; t < v->tunable_count; t++)
            for (size_t n = 0; n < tunable_values(&v->tunables[t]); n++) {
                params p = params_default(v);
                problem q;

                p.value[t] = v->tunables[t].values[n];
                for (size_t k = 0; operation_sort.sweep(k, false, &q); k += 37)
                    check_legal(v, d, &p, &q);
                /* Of so many keys there would be a great many chunks, and a step is found by
                 * counting those before it. */
                q = sort_problem((tsr_sort_problem){.type = TSR_U32,
                                                    .n = param(&p, "CHUNK") ? 1u << 24 : 1u << 31});
                check_legal(v, d, &p, &q);
            }
    }
}

/* 2^14 keys of 4 bytes in a tile, twice that in one that is sorted, rows of 128 bytes; where local
 * memory is short, or there are fewer tiles than units, less. */
static void test_plan_of_a_gpu(void **state)
{
    static const char *const none[] = {NULL};
    const variant *v = find("fused-passes-warp");
    const params p = settings(v, none);
    problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 1 << 21});
    device_facts d = gpu();
    const job j = {&q, &d, &p, false};
    fused_plan s = sort_fused_plan(&j, true);

    (void)state;
    assert_int_equal(s.keys, 32);
    assert_int_equal(s.tile_shift, 14);
    assert_int_equal(s.sort_shift, 15);
    assert_int_equal(s.stages, 9);
    /* Probed or not, what the device does not report is for the variants that need it. */
    s = sort_fused_plan(&j, false);
    assert_int_equal(s.tile_shift, 13);
    assert_int_equal(s.sort_shift, 13);
    d.large_local = 0;
    s = sort_fused_plan(&j, true);
    assert_int_equal(s.tile_shift, 13);
    assert_int_equal(s.sort_shift, 13);
    assert_int_equal(s.stages, 8);
    sort_in(&q)->type = TSR_U64;
    s = sort_fused_plan(&j, true);
    assert_int_equal(s.keys, 16);
    assert_int_equal(s.tile_shift, 12);
    d = gpu();
    sort_in(&q)->type = TSR_U32;
    sort_in(&q)->n = 1 << 20;
    assert_int_equal(sort_fused_plan(&j, true).tile_shift, 13);
    sort_in(&q)->rows = 2;
    assert_int_equal(sort_fused_plan(&j, true).tile_shift, 14);
    sort_in(&q)->rows = 1;
    sort_in(&q)->n = 1000;
    assert_int_equal(sort_fused_plan(&j, true).tile_shift, 12);
}

/* What stays in the cache is sorted first where there is more, in one row: 16 MiB. */
static void test_chunks_follow_the_cache(void **state)
{
    static const char *const none[] = {NULL};
    const variant *v = find("fused-passes-warp");
    const params p = settings(v, none);
    problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = (1 << 23) + 1});
    device_facts d = gpu();
    const job j = {&q, &d, &p, false};

    (void)state;
    assert_int_equal(sort_fused_plan(&j, true).chunk_shift, 22);
    sort_in(&q)->type = TSR_U64;
    assert_int_equal(sort_fused_plan(&j, true).chunk_shift, 21);
    sort_in(&q)->n = 1 << 22;
    assert_int_equal(sort_fused_plan(&j, true).chunk_shift, 0);
    sort_in(&q)->n = 1 << 24;
    sort_in(&q)->rows = 2;
    assert_int_equal(sort_fused_plan(&j, true).chunk_shift, 0);
    sort_in(&q)->rows = 1;
    d.kind = DEVICE_CPU;
    assert_int_equal(sort_fused_plan(&j, true).chunk_shift, 0);
}

/* Chunks take turns in two lanes; whatever merges them comes after both. */
static void test_chunks_run_side_by_side(void **state)
{
    static const char *const settings_of[][3] = {{"CHUNK=20", NULL},
                                                 {"CHUNK=20", "QUEUES=1", NULL}};
    const variant *v = find("fused-passes-warp");
    const problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 3 << 20});
    const device_facts d = gpu();
    command s;

    (void)state;
    for (size_t queues = 2; queues >= 1; queues--) {
        const params p = settings(v, settings_of[2 - queues]);
        const job j = {&q, &d, &p, false};
        size_t lanes[LANES + 1] = {0}, n = 0;
        bool merging = false;

        for (; v->step(&j, n, &s); n++) {
            const size_t chunk = scalar(&s, FIRST) >> 20;
            const bool whole = scalar(&s, END) - scalar(&s, FIRST) > 1 << 20;

            lanes[s.lane]++;
            merging = merging || whole;
            assert_int_equal(s.lane, merging || queues == 1 ? 0 : 1 + chunk % 2);
        }
        assert_true(merging);
        assert_true(lanes[0] > 0);
        if (queues == 2)
            assert_int_equal(lanes[1], 2 * lanes[2]);
    }
}

static void check_reason(const char *name, const problem *q, const char *const *assignments,
                         const char *expected)
{
    const variant *v = find(name);
    const params p = settings(v, assignments);
    const device_facts d = gpu();
    const job j = {q, &d, &p, false};
    text reason = {0};
    const char *why = variant_unsupported(v, &j, &reason);

    assert_string_equal(why ? why : "suited", expected);
    text_free(&reason);
}

static void test_unsupported_gives_the_values(void **state)
{
    static const char *const none[] = {NULL}, *const wide[] = {"GROUP=1024", "KEYS=64", NULL},
                             *const many[] = {"GROUP=1024", "SORT_TILES=2", "KEYS=4", NULL},
                             *const few[] = {"KEYS=64", "STAGES=6", NULL},
                             *const narrow[] = {"GROUP=8", NULL};
    problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 1000});

    (void)state;
    check_reason("fused-passes", &q, none, "suited");
    check_reason("fused-passes", &q, wide, "its tiles have at most 2^15 keys, not 2^16");
    check_reason("fused-passes", &q, many,
                 "it needs work-groups of 2048, and the device has at most 1024");
    check_reason("fused-passes", &q, few,
                 "work-items that hold 64 keys, and tiles of 2^12, take 7 to 12 STAGES, not 6");
    check_reason("fused-passes-warp", &q, narrow, "it needs whole warps of 32 work-items, not 8");
    sort_in(&q)->n = ((size_t)1 << 31) + 1;
    check_reason("fused-passes", &q, none,
                 "it indexes in 32 bits: at most 2147483648 keys, not 2147483649");
    *sort_in(&q) = (tsr_sort_problem){.type = TSR_F64, .n = 1000, .argsort = true};
    check_reason("fused-passes", &q, none,
                 "it packs a key and its index in 64 bits, and the key alone has as many");
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void check_rows(const char *name, size_t n, size_t rows, tsr_type type, const char *defines,
                       size_t groups, size_t group)
{
    const variant *v = find(name);
    const params p = params_default(v);
    const device_facts d = gpu();
    const problem q = sort_problem((tsr_sort_problem){.type = type, .n = n, .rows = rows});
    const job j = {&q, &d, &p, false};
    text reason = {0}, out = {0};
    command s;

    assert_null(variant_unsupported(v, &j, &reason));
    v->defines(&j, &out);
    assert_non_null(strstr(text_get(&out), defines));
    assert_true(v->step(&j, 0, &s));
    assert_int_equal(s.local[0], group);
    assert_int_equal(s.global[0], groups * group);
    assert_false(v->step(&j, 1, &s));
    text_free(&out);
    text_free(&reason);
}

/* Shuffles leave a row alone four warps, and hold half as many keys where there are more. */
static void test_shuffled_rows_take_work_items(void **state)
{
    (void)state;
    check_rows("rows-shfl", 64, 1000, TSR_U32, " -DKEYS=8 -DGROUP=128 -DROW_SHIFT=6 ", 63, 128);
    check_rows("rows-shfl", 500, 9, TSR_U32, " -DKEYS=16 -DGROUP=128 -DROW_SHIFT=9 ", 3, 128);
    check_rows("rows-shfl", 500, 9, TSR_I64, " -DKEYS=8 -DGROUP=128 -DROW_SHIFT=9 ", 5, 128);
    check_rows("rows-shfl", 1000, 1, TSR_U32, " -DKEYS=8 -DGROUP=128 -DROW_SHIFT=10 ", 1, 128);
    check_rows("rows-shfl", 4000, 1, TSR_U32, " -DKEYS=16 -DGROUP=256 -DROW_SHIFT=12 ", 1, 256);
}

/* Vectors are whole where they divide a row, and aligned where the offsets are. */
static void test_rows_in_vectors(void **state)
{
    const variant *v = find("rows-registers");
    const params p = params_default(v);
    const device_facts d = gpu();
    static const struct {
        size_t n, offset_keys, offset_index;
        bool argsort;
        const char *defines;
    } of[] = {
        {64, 0, 0, false, " -DWIDE=1 -DALIGNED=1 "}, {62, 0, 0, false, " -DWIDE=0 -DALIGNED=0 "},
        {64, 2, 0, false, " -DWIDE=1 -DALIGNED=0 "}, {62, 2, 4, true, " -DWIDE=1 -DALIGNED=1 "},
        {62, 2, 3, true, " -DWIDE=1 -DALIGNED=0 "},  {61, 0, 0, true, " -DWIDE=0 -DALIGNED=0 "}};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(of); i++) {
        const problem q = sort_problem((tsr_sort_problem){.type = TSR_U32,
                                                          .n = of[i].n,
                                                          .rows = 9,
                                                          .offset_keys = of[i].offset_keys,
                                                          .offset_index = of[i].offset_index,
                                                          .argsort = of[i].argsort});
        const job j = {&q, &d, &p, false};
        text out = {0};

        v->defines(&j, &out);
        assert_non_null(strstr(text_get(&out), of[i].defines));
        text_free(&out);
    }
}

/* Eight work-items at least read side by side; a row takes as many as hold its keys. */
static void test_rows_take_work_items(void **state)
{
    static const char *const none[] = {NULL}, *const one[] = {"GROUP=8", NULL},
                             *const deep[] = {"KEYS=32", "GROUP=1024", NULL};
    problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 64, .rows = 9});

    (void)state;
    check_rows("rows-registers", 64, 1000, TSR_U32, " -DKEYS=8 -DGROUP=128 -DROW_SHIFT=6 ", 63,
               128);
    check_rows("rows-registers", 1000, 1000, TSR_U32, " -DKEYS=32 -DGROUP=128 -DROW_SHIFT=10 ", 250,
               128);
    check_rows("rows-registers", 1000, 1000, TSR_F64, " -DKEYS=16 -DGROUP=128 -DROW_SHIFT=10 ", 500,
               128);
    check_rows("rows-registers", 8000, 3, TSR_U32, " -DKEYS=32 -DGROUP=256 -DROW_SHIFT=13 ", 3,
               256);
    check_rows("rows-registers", 2, 33, TSR_U32, " -DKEYS=4 -DGROUP=128 -DROW_SHIFT=2 ", 1, 128);
    check_reason("rows-registers", &q, one, "suited");
    sort_in(&q)->n = 300;
    check_reason("rows-registers", &q, one,
                 "a row has to fit in its tile: at most 256 keys, not 300");
    sort_in(&q)->n = 20000;
    check_reason("rows-registers", &q, none,
                 "it needs 131072 bytes of local memory, and the device has 49152");
    sort_in(&q)->n = 40000;
    check_reason("rows-registers", &q, none,
                 "a row has to fit in its tile: at most 32768 keys, not 40000");
    sort_in(&q)->n = 8;
    check_reason("rows-registers", &q, deep,
                 "it needs 131072 bytes of local memory, and the device has 49152");
    check_reason("rows-warp", &q, one, "it needs whole warps of 32 work-items, not 8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_sort_any_length),
        cmocka_unit_test(test_chunks_sort),
        cmocka_unit_test(test_arriving_keys_are_sorted),
        cmocka_unit_test(test_arriving_chunks),
        cmocka_unit_test(test_chunks_follow_the_cache),
        cmocka_unit_test(test_chunks_run_side_by_side),
        cmocka_unit_test(test_launches_are_legal),
        cmocka_unit_test(test_plan_of_a_gpu),
        cmocka_unit_test(test_unsupported_gives_the_values),
        cmocka_unit_test(test_rows_take_work_items),
        cmocka_unit_test(test_shuffled_rows_take_work_items),
        cmocka_unit_test(test_rows_in_vectors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
