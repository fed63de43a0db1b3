/* The plans of matvec's variants on devices made up here: no OpenCL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sizes.h"
#include "core/last_group.h"
#include "core/registry.h"
#include "core/tuning_class.h"
#include "ops/matvec/matvec_plan.h"
#include "ops/matvec/matvec_shape.h"
#include "tuning_classes.h"

enum { A, X, Y };

static device_facts device(device_kind kind, size_t units, size_t work_group, size_t local_memory)
{
    device_facts d = {.kind = kind,
                      .cl_version = 300,
                      .clc_version = 300,
                      .compute_units = units,
                      .max_work_group = work_group,
                      .max_work_item = {work_group, work_group, work_group},
                      .local_memory = local_memory,
                      .fp64 = true,
                      .denormals_f32 = true,
                      .denormals_f64 = true};

    for (size_t f = 0; f < FEATURE_COUNT; f++)
        d.feature[f] = FEATURE_NO;
    return d;
}

enum { DEVICES = 9 };

static void make_devices(device_facts d[DEVICES])
{
    d[0] = device(DEVICE_CPU, 2, 4096, 512 * 1024);
    d[0].vector_bits = 512;
    d[1] = device(DEVICE_CPU, 192, 8192, 32 * 1024);
    d[2] = device(DEVICE_GPU, 132, 1024, 48 * 1024);
    d[2].nvidia = true;
    d[2].feature[FEATURE_PTX] = FEATURE_YES;
    d[3] = device(DEVICE_GPU, 60, 256, 64 * 1024);
    d[3].feature[FEATURE_SUBGROUPS] = FEATURE_YES;
    d[3].subgroup_size = 64;
    d[4] = device(DEVICE_ACCELERATOR, 1, 1, 1024);
    d[5] = device(DEVICE_GPU, 3, 48, 1024);
    d[5].feature[FEATURE_SUBGROUPS] = FEATURE_YES;
    d[5].subgroup_size = 8;
    d[6] = device(DEVICE_GPU, 16, 512, 16 * 1024);
    d[6].fp64 = false;
    d[7] = device(DEVICE_GPU, 16, 1024, 1024);
    d[7].max_work_item[0] = 100;
    d[8] = d[2];
    d[8].nv_capability = 90;
}

static device_facts host(void)
{
    return device(DEVICE_HOST, 2, 0, 0);
}

static const variant *named(const char *name)
{
    const variant *v = NULL;
    tsr_error err;

    assert_int_equal(variant_find(&operation_matvec, name, &v, &err), TSR_OK);
    return v;
}

static problem product(size_t rows, size_t columns, tsr_type type, bool trans)
{
    return matvec_problem((tsr_matvec_problem){
        .rows = rows, .columns = columns, .type = type, .trans = trans, .alpha = 1, .beta = 0});
}

/* A problem of the sweep as variants take it. */
static bool next_normal(size_t i, problem *out)
{
    unsigned order[OPERANDS_MAX];

    if (!operation_matvec.sweep(i, false, out))
        return false;
    *out = problem_normal(out, order);
    return true;
}

static size_t length_y(const problem *p)
{
    return matvec_of(p)->trans ? matvec_of(p)->columns : matvec_of(p)->rows;
}

static size_t batch_of(const problem *p)
{
    return matvec_of(p)->batch ? matvec_of(p)->batch : 1;
}

/* A plan of a variant that has to be supported, with "NAME=VALUE" (or NULL) set; and its build
 * options.  plan_free frees it. */
static plan plan_with(const char *name, const problem *p, const device_facts *d, const char *set,
                      text *options)
{
    const variant *v = named(name);
    params chosen = params_default(v);
    const job j = {.problem = p, .device = d, .params = &chosen};
    plan made;
    const char *why;

    if (set)
        assert_int_equal(params_set(v, &chosen, set, NULL), TSR_OK);
    why = plan_make(v, &j, &made);
    if (why)
        fail_msg("%s: %s", name, why);
    if (options)
        plan_options(v, d, &made, options);
    return made;
}

/* Value of " -DNAME=" in build options, 0 where it is absent. */
static size_t defined(const char *options, const char *name)
{
    char key[32];
    const char *at;

    snprintf(key, sizeof(key), "-D%s=", name);
    at = strstr(options, key);
    return at ? strtoul(at + strlen(key), NULL, 10) : 0;
}

/* What a plan's first launch passes to its kernel: the last argument. */
static matvec_call call_of(const plan *p)
{
    const command *c = p->commands;
    matvec_call call = {0};

    assert_true(p->count > 0 && c->n_args > 0);
    assert_int_equal(c->arg[c->n_args - 1].kind, ARG_BLOCK);
    memcpy(&call, c->block, c->arg[c->n_args - 1].bytes);
    return call;
}

/* Parts cover the columns, none of them empty; the workspace holds their sums; and what adds them
 * up is the last group, which has a counter, or a second launch. */
static void check_parts(const variant *v, const problem *p, const device_facts *d)
{
    const params chosen = params_default(v);
    const job j = {.problem = p, .device = d, .params = &chosen};
    plan made;

    if (!plan_make(v, &j, &made) && made.count > 0) {
        const matvec_call c = call_of(&made);
        const size_t groups = made.commands[0].global[0] / made.commands[0].local[0];
        const size_t size = matvec_of(p)->type == TSR_F64 ? 8 : 4;
        size_t launches = 0; /* of which one of many products has several parts */

        for (size_t i = 0; i < made.count; i++)
            launches += made.commands[i].start[1] == 0;
        assert_int_equal(c.rows, length_y(p));
        assert_int_equal(groups % c.parts, 0);
        assert_true(groups <= INT32_MAX);
        assert_true((uint64_t)c.parts * c.chunk >= c.columns);
        assert_true(c.parts == 1 || (uint64_t)(c.parts - 1) * c.chunk < c.columns);
        assert_int_equal(made.workspace, c.parts > 1 ? c.rows * c.parts * batch_of(p) * size : 0);
        /* What a kernel does not touch costs a launch nothing. */
        if (made.commands[0].n_args > 4)
            assert_int_equal(made.commands[0].arg[4].kind,
                             c.parts > 1 && launches == 1 ? ARG_GROUP_COUNTERS : ARG_NO_BUFFER);
        if (c.parts > 1 && launches == 1)
            assert_true(groups / c.parts * batch_of(p) <= GROUP_COUNTERS_MAX);
        else
            assert_int_equal(launches, c.parts > 1 ? 2 : 1);
    }
    plan_free(&made);
}

static void parts_cover_the_columns(void **state)
{
    static const size_t shapes[][2] = {
        {4096, 4096},         {10, 100000000},        {100000000, 10}, {1, (size_t)1 << 31},
        {(size_t)1 << 31, 1}, {INT32_MAX, 3},         {3, INT32_MAX},  {1, (size_t)1 << 33},
        {(size_t)1 << 33, 1}, {(size_t)1 << 20, 4000}};
    device_facts d[DEVICES];
    problem p;

    (void)state;
    make_devices(d);
    for (size_t k = 0; k < operation_matvec.variant_count; k++) {
        const variant *v = operation_matvec.variants[k];

        if (!v->entries[1]) /* it does not cut */
            continue;
        for (size_t n = 0; n < DEVICES; n++) {
            for (size_t i = 0; next_normal(i, &p); i++)
                check_parts(v, &p, &d[n]);
            for (size_t i = 0; i < 2 * ARRAY_COUNT(shapes); i++) {
                p = product(shapes[i / 2][0], shapes[i / 2][1], TSR_F32, i % 2);
                check_parts(v, &p, &d[n]);
            }
        }
    }
}

/* The reason of a variant with "NAME=VALUE" (or NULL) set; "" where it is suited. */
static const char *reason_of(const char *name, const problem *p, const device_facts *d,
                             const char *set)
{
    static char kept[300];
    const variant *v = named(name);
    params chosen = params_default(v);
    job j = {p, d, &chosen, false};
    text reason = {0};
    const char *why;

    if (set)
        assert_int_equal(params_set(v, &chosen, set, NULL), TSR_OK);
    why = variant_unsupported(v, &j, &reason);
    snprintf(kept, sizeof(kept), "%s", why ? why : "");
    text_free(&reason);
    return kept;
}

static void assert_has(const char *sentence, const char *part)
{
    if (!strstr(sentence, part))
        fail_msg("\"%s\" does not say \"%s\"", sentence, part);
}

static void reasons_name_the_limit(void **state)
{
    device_facts d[DEVICES];
    device_facts small = device(DEVICE_GPU, 4, 16, 64 * 1024);
    problem f32 = product(100, 100, TSR_F32, false), f64 = product(100, 100, TSR_F64, false);
    problem trans = product(100, 100, TSR_F32, true);
    problem tall = product((size_t)1 << 31, 1, TSR_F32, false);
    problem wide = product(1, (size_t)1 << 32, TSR_F32, false);
    problem longest = product(10, UINT32_MAX, TSR_F32, false);
    problem long_rows = product(100, 257, TSR_F32, false);
    problem long_lines = product(100, 257, TSR_F32, true);
    problem tf32 = f32, gaps = f32;

    (void)state;
    make_devices(d);
    matvec_in(&gaps)->lda = 104;
    matvec_in(&tf32)->precision = TSR_PRECISION_TF32;
    for (size_t k = 0; k < operation_matvec.variant_count; k++) {
        const variant *v = operation_matvec.variants[k];
        device_facts all = d[6];

        if (!v->source)
            continue;
        for (size_t f = 0; f < FEATURE_COUNT; f++)
            all.feature[f] = FEATURE_YES;
        assert_has(reason_of(v->name, &f64, &all, NULL), "double");
        all.fp64 = true;
        assert_has(reason_of(v->name, &tf32, &all, NULL), "tf32");
    }
    d[7].max_work_item[0] = 1024;
    assert_has(reason_of("tree-vector", &f64, &d[7], "GROUP=256"), "2048");
    assert_has(reason_of("tree-vector", &f64, &d[7], "GROUP=256"), "1024");
    assert_has(reason_of("group-row", &f32, &d[7], "GROUP=256"), "1056");
    assert_has(reason_of("short-rows", &f32, &d[7], NULL), "8704");
    assert_has(reason_of("split-row", &f64, &d[7], "GROUP=256"), "2048");
    assert_string_equal(reason_of("split-row", &f64, &d[7], "GROUP=128"), "");
    assert_has(reason_of("tree", &f32, &small, NULL), "16");
    assert_has(reason_of("group-row", &f32, &small, NULL), "32");
    assert_string_equal(reason_of("tree", &f32, &small, "TEAM=16"), "");
    assert_string_equal(reason_of("row-item", &f32, &d[4], NULL), "");
    assert_has(reason_of("short-rows", &trans, &d[0], NULL), "transposed");
    assert_has(reason_of("flat-rows", &trans, &d[0], NULL), "transposed");
    assert_has(reason_of("flat-rows", &gaps, &d[0], NULL), "lda 104 leaves gaps between 100");
    assert_has(reason_of("flat-rows", &long_rows, &d[0], NULL),
               "257 vectors, and a work-group has 256");
    assert_has(reason_of("column-slices", &f32, &d[0], NULL), "not transposed");
    assert_has(reason_of("short-columns", &f32, &d[0], NULL), "not transposed");
    assert_has(reason_of("short-columns", &long_lines, &d[0], "GROUP=256"), "257 vectors");
    assert_has(reason_of("column-slices", &trans, &d[7], "GROUP=128"), "2048");
    assert_has(reason_of("rows-vector", &trans, &d[0], NULL), "transposed");
    assert_has(reason_of("columns-vector", &f32, &d[0], NULL), "transposed");
    assert_has(reason_of("shfl", &f32, &d[0], NULL), "PTX");
    assert_has(reason_of("subgroup", &f32, &d[0], NULL), "sub-group");
    assert_has(reason_of("tree", &tall, &d[0], NULL), "2147483648");
    assert_has(reason_of("rows-vector", &tall, &d[0], NULL), "2147483648");
    assert_string_equal(reason_of("row-item", &tall, &d[0], NULL), "");
    assert_has(reason_of("row-item", &wide, &d[0], NULL), "4294967296");
    assert_string_equal(reason_of("row-item", &longest, &d[2], NULL), "");
    assert_has(reason_of("row-item", &longest, &d[2], "LOADS=16"), "up to 4294967280 columns");
    assert_string_equal(reason_of("split-row", &wide, &d[0], NULL), "");
    assert_string_equal(reason_of("rows-vector", &wide, &d[0], NULL), "");
}

/* Lessons compute A x of float32 alone, and say who does the rest. */
static void lessons_say_what_they_leave_out(void **state)
{
    static const struct {
        tsr_matvec_problem p;
        const char *why; /* "": it is done */
    } cases[] = {{{.rows = 3, .columns = 5, .alpha = 1}, ""},
                 {{.rows = 3, .columns = 5, .alpha = 1, .lda = 5, .incx = 1, .batch = 1}, ""},
                 {{.rows = 3, .columns = 5, .alpha = 1, .type = TSR_F64}, "for float64"},
                 {{.rows = 3, .columns = 5, .alpha = 1, .type = TSR_BF16}, "for bfloat16"},
                 {{.rows = 3, .columns = 5, .alpha = 1, .trans = true}, "transpose A"},
                 {{.rows = 3, .columns = 5, .alpha = 2}, "alpha 2 and beta 0"},
                 {{.rows = 3, .columns = 5, .alpha = 1, .beta = 0.5}, "alpha 1 and beta 0.5"},
                 {{.rows = 3, .columns = 5, .alpha = 1, .lda = 7}, "lda 7"},
                 {{.rows = 3, .columns = 5, .alpha = 1, .incx = 2}, "incx 2"},
                 {{.rows = 3, .columns = 5, .alpha = 1, .incy = 3}, "incy 3"},
                 {{.rows = 3, .columns = 5, .alpha = 1, .offset_x = 9}, "0, 9 and 0"},
                 {{.rows = 3, .columns = 5, .alpha = 1, .batch = 4, .stride_a = 15, .stride_y = 3},
                  "a batch of 4"}};
    static const char *const lessons[] = {"naive", "tree", "group-row", "local-x"};
    const device_facts d = device(DEVICE_GPU, 4, 1024, 64 * 1024);

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        for (size_t k = 0; k < ARRAY_COUNT(lessons); k++) {
            const problem p = matvec_problem(cases[i].p);
            const char *why = reason_of(lessons[k], &p, &d, NULL);

            assert_has(why, cases[i].why);
            assert_int_equal(*why == '\0', *cases[i].why == '\0');
            assert_string_equal(reason_of("row-item", &p, &d, NULL), "");
        }
}

/* A team must fit the group that was asked for, whatever the device allows. */
static void a_team_must_fit_its_group(void **state)
{
    const variant *v = named("tree");
    device_facts d = device(DEVICE_GPU, 4, 1024, 64 * 1024);
    problem p = product(10, 10, TSR_F32, false);
    params chosen = params_default(v);
    job j = {&p, &d, &chosen, false};
    text reason = {0};

    (void)state;
    assert_int_equal(params_set(v, &chosen, "TEAM=64", NULL), TSR_OK);
    assert_int_equal(params_set(v, &chosen, "GROUP=32", NULL), TSR_OK);
    assert_has(variant_unsupported(v, &j, &reason), "exceeds GROUP=32");
    text_free(&reason);
}

/* Vectors are aligned where every row, of every product, starts at a multiple of them. */
static void vectors_are_aligned_where_rows_are(void **state)
{
    static const struct {
        size_t lda, offset_a, offset_x, incx, stride_a, stride_x;
        bool aligned;
    } cases[] = {{0, 0, 0, 1, 0, 0, true},    {41, 0, 0, 1, 0, 0, false},
                 {0, 3, 0, 1, 0, 0, false},   {0, 4, 8, 1, 0, 0, true},
                 {0, 0, 2, 1, 0, 0, false},   {44, 0, 0, 1, 440, 40, true},
                 {0, 0, 0, 1, 402, 0, false}, {0, 0, 0, 1, 0, 41, false}};
    device_facts d[DEVICES];

    (void)state;
    make_devices(d);
    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        const size_t c = i / 2;
        problem p = product(10, 40, TSR_F32, false);
        text options = {0};
        plan made;

        matvec_in(&p)->lda = cases[c].lda;
        matvec_in(&p)->offset_a = cases[c].offset_a;
        matvec_in(&p)->offset_x = cases[c].offset_x;
        matvec_in(&p)->incx = cases[c].incx;
        matvec_in(&p)->batch = 2;
        matvec_in(&p)->stride_a = cases[c].stride_a;
        matvec_in(&p)->stride_x = cases[c].stride_x;
        matvec_in(&p)->stride_y = 10;
        made = plan_with("tree-vector", &p, &d[i % 2 ? 2 : 0], NULL, &options);
        assert_int_equal(defined(text_get(&options), "VEC"), 4);
        /* A CPU's buffers may be the caller's arrays. */
        assert_int_equal(defined(text_get(&options), "ALIGNED"), cases[c].aligned && i % 2);
        plan_free(&made);
        text_free(&options);
    }
}

/* Tunables that are 0 are resolved by the device and the shape. */
static void tunables_follow_device_and_shape(void **state)
{
    device_facts cpu = device(DEVICE_CPU, 2, 4096, 512 * 1024), narrow = cpu, other = cpu;
    const device_facts gpu = device(DEVICE_GPU, 132, 1024, 48 * 1024);
    const device_facts little = device(DEVICE_GPU, 4, 100, 48 * 1024);
    const device_facts cramped = device(DEVICE_GPU, 132, 1024, 1024); /* no room for two rows */
    const struct {
        const char *name;
        const device_facts *device;
        size_t rows, columns;
        bool trans;
        const char *set, *tunable;
        uint32_t value;
    } cases[] = {
        {"tree", &gpu, 100, 100, false, NULL, "GROUP", 128},
        {"tree", &little, 100, 100, false, NULL, "GROUP", 64}, /* as the device takes it */
        {"row-item", &gpu, 10, 4, false, NULL, "LOADS", 4},
        {"row-item", &gpu, 10, 5, false, NULL, "LOADS", 16},
        {"row-item", &gpu, 10, 10, false, NULL, "LOADS", 16},
        {"row-item", &gpu, 10, 64, false, NULL, "LOADS", 16},
        {"row-item", &gpu, 10, 65, false, NULL, "LOADS", 1},
        {"row-item", &cpu, 10, 10, false, NULL, "LOADS", 1},
        {"row-item", &gpu, 10, 10, false, "LOADS=4", "LOADS", 4},
        /* Many rows: larger groups, and no more loads than short rows have. */
        {"row-item", &gpu, 8, 300000, true, NULL, "GROUP", 128},
        {"row-item", &gpu, 8, 300000, true, NULL, "LOADS", 4},
        {"row-item", &gpu, 9, 300000, true, NULL, "LOADS", 16},
        {"row-item", &gpu, 8, 1 << 16, true, NULL, "GROUP", 128},
        {"row-item", &gpu, 8, 65535, true, NULL, "GROUP", 64},
        {"row-item", &gpu, 8, 1024, true, NULL, "LOADS", 4},
        {"row-item", &gpu, 8, 1023, true, NULL, "LOADS", 16},
        {"row-item", &cpu, 8, 300000, true, NULL, "GROUP", 64},
        {"row-item", &gpu, 8, 300000, true, "GROUP=32", "GROUP", 32},
        {"split-vector", &gpu, 100000, 100, false, NULL, "TEAM", 8},
        {"split-vector", &gpu, 1000, 1000, false, NULL, "TEAM", 64},
        {"split-vector", &gpu, 100, 1, false, NULL, "TEAM", 8},
        /* A vector a lane of few rows. */
        {"split-vector", &gpu, 88, 220, false, NULL, "TEAM", 32},
        {"split-vector", &gpu, 216, 61, false, NULL, "TEAM", 16},
        {"split-vector", &gpu, 100000, 220, false, NULL, "TEAM", 16},
        {"column-slices", &gpu, 4096, 4096, true, NULL, "ACROSS", 8},
        {"column-slices", &gpu, 4096, 4096, true, NULL, "STAGES", 2},
        {"column-slices", &gpu, 4096, 3600, true, NULL, "ACROSS", 32},
        {"column-slices", &gpu, 4096, 3600, true, NULL, "STAGES", 1},
        {"column-slices", &gpu, 100000, 10, true, NULL, "ACROSS", 4}, /* what a row of A has */
        {"column-slices", &gpu, 10, 100000, true, NULL, "ACROSS", 256},
        {"column-slices", &gpu, 4096, 4096, true, NULL, "PER_UNIT", 1},
        /* A group has few long rows whole, and no more work-items than rows of A have loads for. */
        {"split-vector", &gpu, 500, 10000, false, NULL, "TEAM", 256},
        {"split-vector", &gpu, 500, 10000, false, NULL, "PER_UNIT", 1},
        {"split-vector", &gpu, 7, 64000, false, NULL, "PER_UNIT", 16},
        /* Few rows that are long: fewer and larger groups of them; of two rows, or 65, as of
           others. */
        {"split-vector", &gpu, 16, 1 << 18, false, NULL, "GROUP", 256},
        {"split-vector", &gpu, 16, 1 << 18, false, NULL, "TEAM", 64},
        {"split-vector", &gpu, 16, 1 << 18, false, NULL, "PER_UNIT", 4},
        {"split-vector", &gpu, 15, (1 << 18) + 2, false, NULL, "TEAM", 128},
        {"split-vector", &gpu, 15, (1 << 18) + 2, false, NULL, "PER_UNIT", 16},
        {"split-vector", &gpu, 16, (1 << 18) + 2, false, NULL, "TEAM", 64},
        {"split-vector", &gpu, 16, (1 << 18) + 2, false, NULL, "ROWS", 2},
        {"split-vector", &gpu, 8, (1 << 18) + 2, false, NULL, "TEAM", 64},
        {"split-vector", &gpu, 8, (1 << 18) + 2, false, NULL, "PER_UNIT", 8},
        {"split-vector", &gpu, 8, (1 << 18) + 2, false, NULL, "GROUP", 256},
        {"split-vector", &gpu, 2, 1 << 18, false, NULL, "GROUP", 128},
        {"split-vector", &gpu, 65, 1 << 18, false, NULL, "GROUP", 128},
        /* Rows of a large A that fill the device have the settings of rows that are cut. */
        {"split-vector", &gpu, 4096, 4096, false, NULL, "PER_UNIT", 16},
        {"split-vector", &gpu, 4096, 4096, false, NULL, "TEAM", 64},
        {"split-vector", &gpu, 4096, 4096, false, NULL, "GROUP", 128},
        {"split-vector", &gpu, 1000, 1000, false, NULL, "PER_UNIT", 1},
        /* Longer rows have a group each; so many rows do without. */
        {"split-vector", &gpu, 4096, 16384, false, NULL, "TEAM", 128},
        {"split-vector", &gpu, 4096, 16380, false, NULL, "TEAM", 64},
        {"split-vector", &gpu, 2658, 48570, false, NULL, "TEAM", 128}, /* by shifted vectors */
        /* Two rows of a team where large ones do not start at vectors. */
        {"split-vector", &gpu, 1078, 71302, false, NULL, "TEAM", 64},
        {"split-vector", &gpu, 1078, 71302, false, NULL, "ROWS", 2},
        {"split-vector", &gpu, 1188, 71302, false, NULL, "ROWS", 2},
        {"split-vector", &gpu, 1189, 71302, false, NULL, "ROWS", 1},
        {"split-vector", &gpu, 1189, 71302, false, NULL, "TEAM", 128},
        {"split-vector", &gpu, 1228, 18669, false, NULL, "TEAM", 32},
        {"split-vector", &gpu, 1228, 18669, false, NULL, "GROUP", 256},
        {"split-vector", &gpu, 1228, 18669, false, NULL, "ROWS", 2},
        {"split-vector", &gpu, 1228, 18669, false, "GROUP=128", "ROWS", 1},
        {"split-vector", &gpu, 3100, 30001, false, NULL, "PER_UNIT", 4},
        {"split-vector", &gpu, 1000, 4193, false, NULL, "ROWS", 1},
        {"split-vector", &gpu, 1001, 4193, false, NULL, "ROWS", 2},
        {"split-vector", &cpu, 1228, 18669, false, NULL, "ROWS", 1},
        {"split-vector", &gpu, 8193, 16384, false, NULL, "TEAM", 64},
        /* Few rows that do not start at vectors, but of one. */
        {"split-vector", &gpu, 3, 9001, false, NULL, "TEAM", 128},
        {"split-vector", &gpu, 1, 9001, false, NULL, "TEAM", 64},
        {"split-vector", &gpu, 9, 9001, false, NULL, "TEAM", 64},
        /* Two short rows a team, where they do not start at vectors. */
        {"split-vector", &gpu, 40001, 77, false, NULL, "ROWS", 2},
        {"split-vector", &gpu, 40001, 77, false, NULL, "TEAM", 16},
        {"split-vector", &gpu, 40001, 129, false, NULL, "TEAM", 32},
        {"split-vector", &gpu, 40001, 129, false, NULL, "GROUP", 256},
        {"split-vector", &gpu, 40001, 76, false, NULL, "ROWS", 1},
        {"split-vector", &gpu, 40001, 257, false, NULL, "ROWS", 1},
        {"split-vector", &gpu, 40001, 77, false, "TEAM=8", "ROWS", 1},
        {"split-vector", &gpu, 40001, 129, false, "TEAM=8", "GROUP", 128},
        {"split-vector", &cramped, 40001, 77, false, NULL, "ROWS", 1},
        {"split-vector", &cpu, 40001, 77, false, NULL, "ROWS", 1},
        {"column-slices", &gpu, 40, 3000, true, NULL, "ACROSS", 8},
        {"column-slices", &gpu, 40, 3000, true, NULL, "GROUP", 64},
        {"column-slices", &gpu, 541, 12, true, NULL, "GROUP", 512},
        {"column-slices", &gpu, 541, 12, true, NULL, "ACROSS", 4},
        {"column-slices", &gpu, 777, 7777, true, NULL, "GROUP", 512},
        {"column-slices", &gpu, 777, 7777, true, NULL, "ACROSS", 16},
        {"column-slices", &gpu, 3266, 1525, true, NULL, "GROUP", 256},
        /* Whole columns: of a cache line where tiles are as many as the units, else of half. */
        {"column-slices", &gpu, 1025, 5000, true, NULL, "ACROSS", 8},
        {"column-slices", &gpu, 1025, 5000, true, NULL, "STAGES", 2},
        {"column-slices", &gpu, 1025, 5000, true, NULL, "GROUP", 256},
        {"column-slices", &gpu, 1025, 2704, true, NULL, "ACROSS", 4},
        {"column-slices", &gpu, 1025, 2704, true, NULL, "GROUP", 256},
        {"column-slices", &gpu, 2000, 1500, true, NULL, "ACROSS", 4},
        {"column-slices", &gpu, 2000, 1500, true, NULL, "GROUP", 512},
        {"column-slices", &gpu, 300, 5000, true, NULL, "STAGES", 1},
        {"column-slices", &gpu, 700, 3000, true, NULL, "STAGES", 2},
        /* One group loads all at once. */
        {"column-slices", &gpu, 791, 4, true, NULL, "LOADS", 4},
        {"column-slices", &gpu, 2000, 3, true, NULL, "LOADS", 8},
        /* Rows that start anywhere: narrower tiles up to 32 MiB. */
        {"column-slices", &gpu, 14517, 363, true, NULL, "ACROSS", 16},
        {"column-slices", &gpu, 14517, 363, true, NULL, "LOADS", 8},
        {"column-slices", &gpu, 145170, 363, true, NULL, "ACROSS", 32},
        {"rows-vector", &cpu, 4096, 4096, false, NULL, "ROWS", 8},
        {"rows-vector", &cpu, 4096, 4096, false, NULL, "BITS", 512},
        {"rows-vector", &narrow, 4096, 4096, false, NULL, "ROWS", 4},
        {"rows-vector", &narrow, 4096, 4096, false, NULL, "BITS", 256},
        {"rows-vector", &cpu, 10, 100000, false, NULL, "ROWS", 5},
        {"columns-vector", &cpu, 4096, 4096, true, NULL, "LINES", 8},
        {"columns-vector", &cpu, 10, 100000, true, NULL, "LINES", 5},
        {"columns-vector", &cpu, 100000, 10, true, NULL, "BITS", 256}, /* 8 sums of the 10 */
        {"columns-vector", &cpu, 100000, 1, true, NULL, "BITS", 64},
        /* Long rows: Intel's cores are asked for memory ahead, others are not. */
        {"rows-vector", &cpu, 100, 100, false, NULL, "PREFETCH", 2},
        {"rows-vector", &cpu, 100, 100, false, "PREFETCH=1", "PREFETCH", 1},
        {"rows-vector", &other, 100, 100, false, NULL, "PREFETCH", 1},
        {"columns-vector", &cpu, 100, 100, true, NULL, "PREFETCH", 2},
        {"columns-vector", &other, 100, 100, true, NULL, "PREFETCH", 1},
    };

    (void)state;
    cpu.vector_bits = 512;
    narrow.vector_bits = 256;
    snprintf(cpu.vendor, sizeof(cpu.vendor), "GenuineIntel");
    snprintf(other.vendor, sizeof(other.vendor), "AuthenticAMD");
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const problem p = product(cases[i].rows, cases[i].columns, TSR_F32, cases[i].trans);
        plan made = plan_with(cases[i].name, &p, cases[i].device, cases[i].set, NULL);

        if (param(&made.params, cases[i].tunable) != cases[i].value)
            fail_msg("case %zu, %s: %s is %u", i, cases[i].name, cases[i].tunable,
                     param(&made.params, cases[i].tunable));
        plan_free(&made);
    }
}

/* A transposed of few columns of 16 bits that start anywhere: of few rows half as many groups. */
static void brief_columns_of_16_bits_have_small_groups(void **state)
{
    static const struct {
        size_t rows;
        uint32_t loads, group;
        size_t groups;
    } cases[] = {{1673, 4, 256, 54}, {4096, 4, 256, 64}, {4097, 2, 512, 130}};
    const device_facts gpu = device(DEVICE_GPU, 132, 1024, 48 * 1024);

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const problem p = product(cases[i].rows, 133, TSR_BF16, true);
        plan made = plan_with("column-slices", &p, &gpu, NULL, NULL);

        assert_int_equal(param(&made.params, "LOADS"), cases[i].loads);
        assert_int_equal(param(&made.params, "GROUP"), cases[i].group);
        assert_int_equal(made.commands[0].global[0] / made.commands[0].local[0], cases[i].groups);
        plan_free(&made);
    }
}

/* A transposed whose rows all start at vectors: of 16 bits narrow tiles, but of a large A, or where
 * there are many; of float32 for few columns of an A in the cache; of float64 wide ones for few
 * rows. */
static void tiles_are_as_wide_as_y_needs(void **state)
{
    static const struct {
        size_t rows, columns; /* of A */
        tsr_type type;
        uint32_t across;
    } cases[] = {{9787, 712, TSR_BF16, 8},     {2405, 2456, TSR_BF16, 8},
                 {100000, 1504, TSR_BF16, 32}, {4001, 4096, TSR_BF16, 32},
                 {28636, 72, TSR_F32, 8},      {40000, 40, TSR_F32, 8},
                 {20, 2014378, TSR_F64, 128},  {10, 2014378, TSR_F64, 64},
                 {41992, 528, TSR_F64, 8},     {3000, 600, TSR_F64, 8}};
    const device_facts gpu = device(DEVICE_GPU, 132, 1024, 48 * 1024);

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const problem p = product(cases[i].rows, cases[i].columns, cases[i].type, true);
        plan made = plan_with("column-slices", &p, &gpu, NULL, NULL);

        if (param(&made.params, "ACROSS") != cases[i].across)
            fail_msg("%zux%zu: %u", cases[i].rows, cases[i].columns, param(&made.params, "ACROSS"));
        plan_free(&made);
    }
}

/* Whole rows that fill the device: of 16 bits a warp takes two, or of very many and shorter ones
 * half a warp; teams of float64 are two to a group. */
static void teams_suit_rows_that_fill_the_device(void **state)
{
    static const struct {
        size_t rows, columns;
        tsr_type type;
        uint32_t team, rows_at_once, group;
    } cases[] = {{4616, 1624, TSR_BF16, 32, 2, 128},  {2000, 1624, TSR_BF16, 64, 1, 128},
                 {20000, 1200, TSR_BF16, 16, 2, 128}, {30000, 800, TSR_F16, 16, 2, 128},
                 {20000, 4096, TSR_BF16, 32, 2, 128}, {1049, 3196, TSR_F64, 128, 1, 256},
                 {2100, 3000, TSR_F64, 128, 1, 256},  {318, 812, TSR_F64, 128, 1, 128}};
    const device_facts gpu = device(DEVICE_GPU, 132, 1024, 48 * 1024);

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const problem p = product(cases[i].rows, cases[i].columns, cases[i].type, false);
        plan made = plan_with("split-vector", &p, &gpu, NULL, NULL);

        if (param(&made.params, "TEAM") != cases[i].team ||
            param(&made.params, "ROWS") != cases[i].rows_at_once ||
            param(&made.params, "GROUP") != cases[i].group)
            fail_msg("%zux%zu: TEAM=%u ROWS=%u GROUP=%u", cases[i].rows, cases[i].columns,
                     param(&made.params, "TEAM"), param(&made.params, "ROWS"),
                     param(&made.params, "GROUP"));
        plan_free(&made);
    }
}

/* No tunable that plan() chooses is left at 0, whatever the problem. */
static void no_tunable_stays_0(void **state)
{
    device_facts d[DEVICES];
    problem p;

    (void)state;
    make_devices(d);
    for (size_t k = 0; k < operation_matvec.variant_count; k++)
        for (size_t n = 0; n < DEVICES; n++)
            for (size_t i = 0; next_normal(i, &p); i++) {
                const variant *v = operation_matvec.variants[k];
                const params chosen = params_default(v);
                const job j = {.problem = &p, .device = &d[n], .params = &chosen};
                plan made;

                if (!plan_make(v, &j, &made))
                    for (size_t t = 0; t < made.params.count; t++)
                        assert_true(made.params.value[t] > 0);
                plan_free(&made);
            }
}

/* How products are cut: `tile` 0 where it does not matter. */
static void parts_follow_device_and_shape(void **state)
{
    device_facts cpu2 = device(DEVICE_CPU, 2, 4096, 512 * 1024), cpu16 = cpu2, pass = cpu2;
    const device_facts gpu = device(DEVICE_GPU, 132, 1024, 48 * 1024);
    const struct {
        const char *name;
        const device_facts *device;
        size_t rows, columns;
        bool trans;
        const char *set;
        size_t parts, chunk, tile;
    } cases[] = {
        {"split-vector", &gpu, 100000, 100, false, NULL, 1, 128, 0},
        {"split-vector", &gpu, 4096, 4096, false, NULL, 1, 4096, 0},
        /* A column, transposed, is a row; two rows a team are in a tile of twice as many. */
        {"split-vector", &gpu, 160673, 1, true, NULL, 157, 1024, 2},
        {"split-vector", &gpu, 10000, 100, false, "ROWS=2", 1, 128, 32},
        /* To a step of 102 rows: 1,893 for each of 528 groups would not be whole steps. */
        {"short-columns", &gpu, 1000000, 10, true, NULL, 516, 19 * 102, 0},
        /* Wide: a group of 989 work-items that read, 46 rows a step, for each unit. */
        {"short-columns", &gpu, 1000000, 86, true, NULL, 132, 165 * 46, 0},
        /* Parts of four steps, or of two where those make many groups; but whole columns where
         * tiles of a cache line are as many as the units, or a few less: 128 of 132, not 113; and
         * long parts where they fill the units three times: 79 tiles in 5, not 77. */
        {"column-slices", &gpu, 4096, 4096, true, NULL, 1, 4096, 0},
        {"column-slices", &gpu, 3600, 3600, true, NULL, 8, 512, 0},
        {"column-slices", &gpu, 4600, 4600, true, NULL, 9, 512, 0},
        {"column-slices", &gpu, 10000, 10000, true, NULL, 5, 2048, 0},
        {"column-slices", &gpu, 9800, 9800, true, NULL, 39, 256, 0},
        {"column-slices", &gpu, 16384, 16384, true, NULL, 32, 512, 0},
        /* Tall, and rows do not start at cache lines; and rows that start anywhere. */
        {"column-slices", &gpu, 100000, 1000, true, NULL, 49, 2048, 0},
        {"column-slices", &gpu, 32171, 3331, true, NULL, 14, 2304, 124},
        /* 20000 columns are two tiles of one width, and parts multiples of LINES. */
        {"columns-vector", &pass, 1001, 20000, true, NULL, 4, 252, 10000},
        /* Where more cores leave more parts, tiles are narrower, so that adding up takes 1/64 of
         * reading; but none below 1024 columns, and one where a second launch adds up. */
        {"columns-vector", &cpu2, 4096, 4096, true, NULL, 8, 512, 4096},
        {"columns-vector", &cpu16, 4096, 4096, true, NULL, 16, 256, 1024},
        {"columns-vector", &cpu16, 4096, 4096, true, "WIDTH=4096", 64, 64, 4096},
        {"columns-vector", &cpu16, 3500, 3500, true, NULL, 32, 112, 1760},
        {"columns-vector", &cpu16, 10, 100000, true, NULL, 1, 10, 1568},
    };

    (void)state;
    cpu2.vector_bits = cpu16.vector_bits = 512;
    cpu2.feature[FEATURE_DEVICE_SCOPE] = cpu16.feature[FEATURE_DEVICE_SCOPE] = FEATURE_YES;
    cpu16.compute_units = 16;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const problem p = product(cases[i].rows, cases[i].columns, TSR_F32, cases[i].trans);
        plan made = plan_with(cases[i].name, &p, cases[i].device, cases[i].set, NULL);
        const matvec_call c = call_of(&made);

        if (c.parts != cases[i].parts || c.chunk != cases[i].chunk ||
            (cases[i].tile && c.tile != cases[i].tile))
            fail_msg("case %zu, %s: %u parts of %u, tiles of %u", i, cases[i].name, c.parts,
                     c.chunk, c.tile);
        plan_free(&made);
    }
}

/* From 32 rows of A on they are loaded past the first-level cache, unless it is set, where the
 * device has the instruction, and A aligned vectors of what is summed. */
static void slices_are_loaded_past_the_cache(void **state)
{
    static const struct {
        size_t rows, columns, lda, offset;
        tsr_type type;
        feature_state feature;
        const char *set;
        size_t past; /* 0: unsupported */
    } cases[] = {{4096, 4096, 4096, 0, TSR_F32, FEATURE_YES, NULL, 2},
                 {4096, 4096, 4096, 0, TSR_F32, FEATURE_YES, "PAST_L1=1", 1},
                 {4096, 4096, 4096, 0, TSR_F32, FEATURE_NO, NULL, 1},
                 {4096, 4096, 4096, 0, TSR_F32, FEATURE_NO, "PAST_L1=2", 0},
                 {4096, 4096, 4097, 0, TSR_F32, FEATURE_YES, NULL, 2},
                 {4096, 4096, 4096, 2, TSR_F32, FEATURE_YES, NULL, 1},
                 {4096, 4096, 4096, 2, TSR_F32, FEATURE_YES, "PAST_L1=2", 0},
                 {2048, 2048, 2048, 0, TSR_F64, FEATURE_YES, NULL, 2},
                 {8192, 8192, 8192, 0, TSR_F16, FEATURE_YES, NULL, 2},
                 {8192, 8192, 8192, 0, TSR_F16, FEATURE_YES, "PAST_L1=2", 2},
                 {8192, 8192, 8192, 4, TSR_F16, FEATURE_YES, "PAST_L1=2", 0},
                 {3000, 3000, 3000, 0, TSR_F32, FEATURE_YES, NULL, 2},
                 {3000, 3000, 3000, 0, TSR_F32, FEATURE_YES, "PER_UNIT=8", 2},
                 {10000, 10000, 10000, 0, TSR_F32, FEATURE_YES, NULL, 2},
                 {32, 10000, 10000, 0, TSR_F32, FEATURE_YES, NULL, 2},
                 {31, 10000, 10000, 0, TSR_F32, FEATURE_YES, NULL, 1},
                 {31, 10000, 10000, 0, TSR_F32, FEATURE_YES, "PAST_L1=2", 2}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        problem p = product(cases[i].rows, cases[i].columns, cases[i].type, true);
        device_facts d = device(DEVICE_GPU, 132, 1024, 48 * 1024);
        text options = {0};
        plan made;

        matvec_in(&p)->lda = cases[i].lda;
        matvec_in(&p)->offset_a = cases[i].offset;
        d.feature[FEATURE_LOAD_ONCE] = cases[i].feature;
        if (cases[i].past == 0) {
            assert_has(reason_of("column-slices", &p, &d, cases[i].set),
                       cases[i].feature == FEATURE_YES ? "needs aligned rows"
                                                       : "the device does not have");
            continue;
        }
        made = plan_with("column-slices", &p, &d, cases[i].set, &options);
        assert_int_equal(defined(text_get(&options), "PAST_L1"), cases[i].past);
        plan_free(&made);
        text_free(&options);
    }
}

/* Loads of a large A whose rows are aligned are checked one by one, but for few rows that groups
 * have whole. */
static void loads_of_large_aligned_rows_are_checked(void **state)
{
    static const struct {
        const char *name;
        size_t rows, columns, lda;
        tsr_type type;
        size_t checked, loads; /* loads 0: not looked at */
    } cases[] = {{"split-vector", 4096, 4096, 4096, TSR_F32, 1, 4},
                 {"split-vector", 10000, 10000, 10000, TSR_F32, 1, 4},
                 {"split-vector", 10, 1000000, 1000000, TSR_F32, 1, 4},
                 {"split-vector", 200000, 24, 24, TSR_F32, 1, 4},
                 {"split-vector", 500, 10000, 10000, TSR_F32, 0, 4},
                 {"split-vector", 1000, 1000, 1000, TSR_F32, 0, 4},
                 {"split-vector", 4096, 4096, 4097, TSR_F32, 0, 16},
                 {"split-vector", 777, 7777, 7777, TSR_F32, 0, 16},
                 {"split-vector", 121698, 459, 459, TSR_BF16, 0, 4},
                 {"split-vector", 10000, 10000, 10000, TSR_BF16, 0, 0},
                 /* By pairs, in teams of a warp; few rows by elements. */
                 {"split-vector", 100000, 142, 142, TSR_F32, 0, 3},
                 {"split-vector", 100, 142, 142, TSR_F32, 0, 5},
                 {"column-slices", 4096, 4096, 4096, TSR_F32, 1, 8},
                 {"column-slices", 10000, 10000, 10000, TSR_F32, 1, 8},
                 {"column-slices", 4096, 4096, 4097, TSR_F32, 0, 0},
                 {"column-slices", 541, 12, 12, TSR_F32, 0, 0},
                 {"column-slices", 63, 37, 37, TSR_F32, 0, 0}};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        problem p = product(cases[i].rows, cases[i].columns, cases[i].type,
                            strcmp(cases[i].name, "column-slices") == 0);
        const device_facts d = device(DEVICE_GPU, 132, 1024, 48 * 1024);
        text options = {0};
        plan made;

        matvec_in(&p)->lda = cases[i].lda;
        made = plan_with(cases[i].name, &p, &d, NULL, &options);
        if (defined(text_get(&options), "CHECKED") != cases[i].checked ||
            (cases[i].loads && defined(text_get(&options), "LOADS") != cases[i].loads))
            fail_msg("case %zu, %s: %s", i, cases[i].name, text_get(&options));
        plan_free(&made);
        text_free(&options);
    }
}

/* Rows of an A that do not start at vectors are read by vectors where the first one does: of a
 * transposed A by slices of rows that start alike, as many as start differently, in tiles a vector
 * narrower; of another by joined vectors of x, where elements have 16 bits and rows are not short.
 */
static void rows_that_start_anywhere_are_read_by_vectors(void **state)
{
    static const struct {
        const char *name;
        device_kind kind;
        size_t rows, columns, lda, offset;
        tsr_type type;
        const char *option;
        size_t value, tile; /* tile 0: not looked at */
    } cases[] = {{"column-slices", DEVICE_GPU, 777, 7777, 7777, 0, TSR_F32, "STARTS", 4, 60},
                 {"column-slices", DEVICE_GPU, 777, 7778, 7778, 0, TSR_F32, "STARTS", 2, 60},
                 {"column-slices", DEVICE_GPU, 777, 7776, 7776, 0, TSR_F32, "STARTS", 1, 32},
                 {"column-slices", DEVICE_GPU, 777, 7777, 7777, 0, TSR_BF16, "STARTS", 8, 120},
                 {"column-slices", DEVICE_GPU, 777, 7780, 7780, 0, TSR_BF16, "STARTS", 2, 120},
                 {"column-slices", DEVICE_GPU, 777, 27777, 27777, 0, TSR_BF16, "STARTS", 8, 248},
                 {"column-slices", DEVICE_GPU, 777, 2701, 2701, 0, TSR_BF16, "STARTS", 8, 120},
                 {"column-slices", DEVICE_GPU, 777, 2697, 2697, 0, TSR_BF16, "STARTS", 8, 248},
                 {"column-slices", DEVICE_GPU, 777, 7777, 7777, 0, TSR_F64, "STARTS", 2, 62},
                 /* Of float64 lines of 512 bytes, two for each unit, else of half and a quarter. */
                 {"column-slices", DEVICE_GPU, 777, 40000, 40000, 0, TSR_F64, "STARTS", 1, 128},
                 {"column-slices", DEVICE_GPU, 777, 20000, 20000, 0, TSR_F64, "STARTS", 1, 64},
                 {"column-slices", DEVICE_GPU, 2516, 10814, 10814, 0, TSR_F64, "STARTS", 1, 32},
                 {"column-slices", DEVICE_GPU, 777, 7777, 7777, 4, TSR_F32, "STARTS", 4, 60},
                 {"column-slices", DEVICE_GPU, 47154, 127, 127, 0, TSR_BF16, "STARTS", 8, 120},
                 {"column-slices", DEVICE_GPU, 937, 38, 38, 0, TSR_BF16, "STARTS", 1, 64},
                 {"column-slices", DEVICE_GPU, 777, 7777, 7777, 1, TSR_F32, "STARTS", 1, 128},
                 {"column-slices", DEVICE_GPU, 65539, 1, 1, 0, TSR_F32, "STARTS", 1, 0},
                 {"column-slices", DEVICE_GPU, 65539, 3, 3, 0, TSR_F32, "STARTS", 1, 0},
                 {"column-slices", DEVICE_GPU, 65539, 5, 5, 0, TSR_F32, "STARTS", 4, 0},
                 {"column-slices", DEVICE_GPU, 40000, 1, 9, 0, TSR_F32, "STARTS", 1, 0},
                 {"column-slices", DEVICE_CPU, 777, 7777, 7777, 0, TSR_F32, "STARTS", 1, 128},
                 {"split-vector", DEVICE_GPU, 777, 7777, 7777, 0, TSR_BF16, "SHIFTED", 1, 0},
                 {"split-vector", DEVICE_GPU, 777, 7776, 7776, 0, TSR_BF16, "SHIFTED", 0, 0},
                 {"split-vector", DEVICE_GPU, 777, 7777, 7777, 3, TSR_BF16, "SHIFTED", 0, 0},
                 {"split-vector", DEVICE_GPU, 777, 7777, 7777, 0, TSR_F32, "SHIFTED", 0, 0},
                 {"split-vector", DEVICE_GPU, 777, 37777, 37777, 0, TSR_F32, "SHIFTED", 1, 0},
                 {"split-vector", DEVICE_GPU, 777, 17777, 17777, 0, TSR_F64, "SHIFTED", 0, 0},
                 {"split-vector", DEVICE_GPU, 3, 1797, 1797, 0, TSR_F64, "SHIFTED", 1, 0},
                 {"split-vector", DEVICE_GPU, 3, 1001, 1001, 0, TSR_F32, "SHIFTED", 0, 0},
                 {"split-vector", DEVICE_GPU, 777, 61, 61, 0, TSR_BF16, "SHIFTED", 0, 0},
                 {"split-vector", DEVICE_CPU, 777, 7777, 7777, 0, TSR_BF16, "SHIFTED", 0, 0}};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        problem p = product(cases[i].rows, cases[i].columns, cases[i].type,
                            strcmp(cases[i].name, "column-slices") == 0);
        const device_facts d = device(cases[i].kind, 132, 1024, 48 * 1024);
        text options = {0};
        plan made;

        matvec_in(&p)->lda = cases[i].lda;
        matvec_in(&p)->offset_a = cases[i].offset;
        made = plan_with(cases[i].name, &p, &d, NULL, &options);
        if (defined(text_get(&options), cases[i].option) != cases[i].value ||
            (cases[i].tile && call_of(&made).tile != cases[i].tile))
            fail_msg("case %zu, %s: tiles of %u, %s", i, cases[i].name, call_of(&made).tile,
                     text_get(&options));
        plan_free(&made);
        text_free(&options);
    }
}

/* NVIDIA's instruction where it orders, else OpenCL C's atomics, of a newer standard; else a pass.
 */
static void the_last_group_adds_where_it_can(void **state)
{
    static const struct {
        feature_state device_scope, ptx;
        unsigned nv_capability;
        const char *options;
        size_t commands;
    } cases[] = {{FEATURE_NO, FEATURE_NO, 0, "-DLAST_ADDS=0", 2},
                 {FEATURE_YES, FEATURE_NO, 0, "-DLAST_ADDS=1 -cl-std=CL3.0", 1},
                 {FEATURE_YES, FEATURE_YES, 61, "-DLAST_ADDS=1 -cl-std=CL3.0", 1},
                 {FEATURE_YES, FEATURE_YES, 70, "-DLAST_ADDS=2", 1}};
    const problem p = product(10, 1000000, TSR_F32, false);

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        device_facts d = device(DEVICE_GPU, 132, 1024, 48 * 1024);
        text options = {0};
        plan made;

        d.feature[FEATURE_DEVICE_SCOPE] = cases[i].device_scope;
        d.feature[FEATURE_PTX] = cases[i].ptx;
        d.nv_capability = cases[i].nv_capability;
        made = plan_with("split-row", &p, &d, NULL, &options);
        assert_has(text_get(&options), cases[i].options);
        assert_int_equal(made.count, cases[i].commands);
        assert_int_equal(strstr(text_get(&options), "-cl-std") != NULL, i == 1 || i == 2);
        plan_free(&made);
        text_free(&options);
    }
}

static void preference_names_what_runs(void **state)
{
    device_facts d[DEVICES + 1];
    problem p;

    (void)state;
    make_devices(d);
    d[DEVICES] = host();
    for (size_t i = 0; next_normal(i, &p); i++)
        for (size_t n = 0; n <= DEVICES; n++) {
            const char *names[PREFERENCES_MAX];
            const size_t count = operation_matvec.prefer(&p, &d[n], names);
            size_t suited = 0;

            assert_true(count >= 1 && count <= PREFERENCES_MAX);
            for (size_t k = 0; k < count; k++) {
                for (size_t m = 0; m < k; m++)
                    assert_string_not_equal(names[k], names[m]);
                assert_true((named(names[k])->host != NULL) == (d[n].kind == DEVICE_HOST));
                suited += !*reason_of(names[k], &p, &d[n], NULL);
            }
            if (d[n].fp64 || matvec_in(&p)->type != TSR_F64)
                assert_true(suited > 0);
            else
                assert_int_equal(suited, 0);
        }
}

static void preference_follows_the_shape(void **state)
{
    device_facts d[DEVICES];
    const char *names[PREFERENCES_MAX];
    problem p = product(4096, 4096, TSR_F32, false);

    (void)state;
    make_devices(d);
    operation_matvec.prefer(&p, &d[0], names);
    assert_string_equal(names[0], "rows-vector");
    p = product(1000000, 10, TSR_F32, false);
    operation_matvec.prefer(&p, &d[0], names);
    assert_string_equal(names[0], "short-rows-vector");
    operation_matvec.prefer(&p, &d[2], names);
    assert_string_equal(names[0], "flat-rows");
    matvec_in(&p)->lda = 12;
    operation_matvec.prefer(&p, &d[2], names);
    assert_string_equal(names[0], "short-rows");
    p = product(1000000, 10, TSR_F32, true);
    operation_matvec.prefer(&p, &d[2], names);
    assert_string_equal(names[0], "short-columns");
    matvec_in(&p)->lda = 12;
    operation_matvec.prefer(&p, &d[2], names);
    assert_string_equal(names[0], "column-slices");
    p = product(1000000, 86, TSR_F64, true);
    operation_matvec.prefer(&p, &d[2], names);
    assert_string_equal(names[0], "short-columns");
    assert_string_equal(names[1], "column-slices");
    p = product(10000, 86, TSR_F64, true);
    operation_matvec.prefer(&p, &d[2], names);
    assert_string_equal(names[0], "column-slices");
    /* Whole tiles leave no lanes idle. */
    p = product(1000000, 256, TSR_F32, true);
    operation_matvec.prefer(&p, &d[2], names);
    assert_string_equal(names[0], "column-slices");
    p = product(1000000, 601, TSR_F32, true);
    operation_matvec.prefer(&p, &d[2], names);
    assert_string_equal(names[0], "column-slices");
    p = product(4096, 4096, TSR_F32, true);
    operation_matvec.prefer(&p, &d[2], names);
    assert_string_equal(names[0], "column-slices");
    p = product(1, 1000000, TSR_F32, false);
    operation_matvec.prefer(&p, &d[2], names);
    assert_string_equal(names[0], "split-vector");
    p = product(10, 1000000, TSR_F32, true);
    operation_matvec.prefer(&p, &d[2], names);
    assert_string_equal(names[0], "column-slices");
    p = product(10, 10000, TSR_F32, true);
    operation_matvec.prefer(&p, &d[2], names);
    assert_string_equal(names[0], "row-item");
    /* Of 16 bits too, however many, where few start alike. */
    p = product(4, 2783395, TSR_BF16, true);
    operation_matvec.prefer(&p, &d[2], names);
    assert_string_equal(names[0], "row-item");
    p = product(4, 2783392, TSR_BF16, true);
    operation_matvec.prefer(&p, &d[2], names);
    assert_string_equal(names[0], "column-slices");
    p = product(9, 2783395, TSR_BF16, true);
    operation_matvec.prefer(&p, &d[2], names);
    assert_string_equal(names[0], "column-slices");
    p = product(1, 2783395, TSR_BF16, true);
    operation_matvec.prefer(&p, &d[2], names);
    assert_string_not_equal(names[0], "row-item");
    /* Many short rows of 16 bits; longer ones never, with gaps or without. */
    p = product(64360, 23, TSR_BF16, false);
    operation_matvec.prefer(&p, &d[2], names);
    assert_string_equal(names[0], "row-item");
    p = product(40000, 4096, TSR_BF16, false);
    matvec_in(&p)->lda = 4104;
    operation_matvec.prefer(&p, &d[2], names);
    assert_string_equal(names[0], "split-vector");
    p = product(1357, 81, TSR_F32, false);
    operation_matvec.prefer(&p, &d[2], names);
    assert_string_equal(names[0], "split-vector");
}

static void assert_refused(tsr_matvec_problem m, tsr_status status, const char *part)
{
    problem p = matvec_problem(m);
    tsr_error err = {0};

    assert_int_equal(operation_matvec.check(&p, &err), status);
    assert_has(err.message, part);
}

static void bad_problems_are_refused(void **state)
{
    const size_t most = SIZE_MAX;
    problem p;
    tsr_error err;

    (void)state;
    assert_refused((tsr_matvec_problem){.type = TSR_I32, .rows = 1, .columns = 1}, TSR_EINVAL,
                   "int32");
    assert_refused((tsr_matvec_problem){.type = TSR_F32, .rows = 2, .columns = 5, .lda = 3},
                   TSR_EINVAL, "lda 3 is less than the 5 columns");
    assert_refused(
        (tsr_matvec_problem){
            .type = TSR_F32, .rows = 5, .columns = 2, .lda = 3, .layout = TSR_COLUMN_MAJOR},
        TSR_EINVAL, "lda 3 is less than the 5 rows");
    assert_refused((tsr_matvec_problem){.layout = (tsr_layout)2}, TSR_EINVAL,
                   "layout 2 does not exist");
    assert_refused((tsr_matvec_problem){.type = TSR_F64, .y_f32 = true}, TSR_EINVAL,
                   "y must be float64");
    assert_refused((tsr_matvec_problem){.type = TSR_BF16, .precision = TSR_PRECISION_F32},
                   TSR_EINVAL, "precision f32");
    assert_refused((tsr_matvec_problem){.rows = 2, .columns = 3, .incx = most}, TSR_EOVERFLOW,
                   "x of 3 elements (incx 18446744073709551615");
    assert_refused((tsr_matvec_problem){.rows = 2, .columns = 3, .incy = most / 4}, TSR_EOVERFLOW,
                   "y of 2 elements (incy 4611686018427387903");
    assert_refused((tsr_matvec_problem){.rows = 2, .columns = 3, .batch = 3, .stride_a = most / 2},
                   TSR_EOVERFLOW, "A of 2 x 3 (lda 3, offset 0, 3 of them");
    assert_refused(
        (tsr_matvec_problem){.type = TSR_F32, .rows = (size_t)1 << 33, .columns = (size_t)1 << 33},
        TSR_EOVERFLOW, "8589934592");
    assert_refused((tsr_matvec_problem){.type = TSR_F64, .rows = 1, .columns = most / 8 + 1},
                   TSR_EOVERFLOW, "2305843009213693952");
    assert_refused((tsr_matvec_problem){.type = TSR_F32, .rows = 1, .columns = 1, .offset_a = most},
                   TSR_EOVERFLOW, "A");
    assert_refused((tsr_matvec_problem){.type = TSR_F32, .rows = 1, .columns = 1, .offset_x = most},
                   TSR_EOVERFLOW, "x");
    assert_refused((tsr_matvec_problem){.type = TSR_F32, .rows = 1, .columns = 1, .offset_y = most},
                   TSR_EOVERFLOW, "y");
    for (size_t i = 0; operation_matvec.sweep(i, false, &p); i++)
        assert_int_equal(operation_matvec.check(&p, &err), TSR_OK);
}

/* A batch's vectors of y, each of 4 elements. */
static void results_do_not_overlap(void **state)
{
    static const struct {
        size_t batch, incy, stride_y;
        bool apart;
    } cases[] = {{1, 1, 0, true},  {2, 1, 4, true},  {2, 1, 3, false}, {2, 1, 0, false},
                 {2, 2, 7, true},  {2, 2, 6, false}, {2, 2, 1, true},  {3, 2, 1, false},
                 {3, 3, 1, true},  {3, 7, 3, true},  {3, 6, 3, false}, {2, 0, 4, true},
                 {2, 5, 0, false}, {0, 3, 0, true}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        problem p = product(4, 5, TSR_F32, false);
        tsr_error err = {0};

        matvec_in(&p)->batch = cases[i].batch;
        matvec_in(&p)->incy = cases[i].incy;
        matvec_in(&p)->stride_y = cases[i].stride_y;
        if (operation_matvec.check(&p, &err) != (cases[i].apart ? TSR_OK : TSR_EINVAL))
            fail_msg("case %zu: %s", i, err.message);
        if (!cases[i].apart)
            assert_has(err.message, "vectors of y overlap");
    }
}

/* Column-major is the transpose of the row-major matrix in the same place. */
static void column_major_is_turned(void **state)
{
    problem p = product(3, 5, TSR_F32, false), q;
    unsigned order[OPERANDS_MAX];
    operand of_p[OPERANDS_MAX], of_q[OPERANDS_MAX];

    (void)state;
    matvec_in(&p)->layout = TSR_COLUMN_MAJOR;
    matvec_in(&p)->incx = 2;
    matvec_in(&p)->batch = 4;
    matvec_in(&p)->stride_a = 15;
    matvec_in(&p)->stride_y = 3;
    q = problem_normal(&p, order);
    assert_int_equal(matvec_in(&q)->layout, TSR_ROW_MAJOR);
    assert_int_equal(matvec_in(&q)->rows, 5);
    assert_int_equal(matvec_in(&q)->columns, 3);
    assert_true(matvec_in(&q)->trans);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(order[i], i);
    operation_matvec.operands(&p, of_p);
    operation_matvec.operands(&q, of_q);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(of_p[i].bytes, of_q[i].bytes);
    assert_int_equal(of_p[A].bytes, 4 * 15 * 4);
    assert_int_equal(of_p[X].bytes, 9 * 4); /* one for all */
    assert_int_equal(of_p[Y].bytes, 12 * 4);
    assert_true(of_p[Y].whole);
}

static void operands_are_what_is_read(void **state)
{
    problem p = product(3, 5, TSR_F64, false);
    operand o[OPERANDS_MAX];

    (void)state;
    matvec_in(&p)->lda = 7;
    matvec_in(&p)->offset_a = 2;
    matvec_in(&p)->offset_x = 1;
    assert_int_equal(operation_matvec.operands(&p, o), 3);
    assert_int_equal(o[A].bytes, (2 + 2 * 7 + 5) * 8);
    assert_int_equal(o[X].bytes, (1 + 5) * 8);
    assert_int_equal(o[Y].bytes, 3 * 8);
    assert_int_equal(o[Y].access, ACCESS_WRITE);
    assert_true(o[Y].whole);
    matvec_in(&p)->offset_y = 4;
    operation_matvec.operands(&p, o);
    assert_int_equal(o[Y].bytes, 7 * 8);
    assert_true(o[Y].whole);
    matvec_in(&p)->beta = 2;
    matvec_in(&p)->trans = true;
    matvec_in(&p)->offset_y = 0;
    operation_matvec.operands(&p, o);
    assert_int_equal(o[X].bytes, (1 + 3) * 8);
    assert_int_equal(o[Y].bytes, 5 * 8);
    assert_int_equal(o[Y].access, ACCESS_READ_WRITE);
    assert_false(o[Y].whole);
    matvec_in(&p)->alpha = 0;
    operation_matvec.operands(&p, o);
    assert_int_equal(o[A].bytes, 0);
    assert_int_equal(o[X].bytes, 0);
    /* Rounded to the type, this is 0 too. */
    matvec_in(&p)->type = TSR_F32;
    matvec_in(&p)->alpha = 1e-60;
    operation_matvec.operands(&p, o);
    assert_int_equal(o[A].bytes, 0);
    p = product(3, 5, TSR_F16, false);
    matvec_in(&p)->y_f32 = true;
    matvec_in(&p)->incx = 3;
    matvec_in(&p)->incy = 2;
    operation_matvec.operands(&p, o);
    assert_int_equal(o[X].bytes, (4 * 3 + 1) * 2);
    assert_int_equal(o[Y].type, TSR_F32);
    assert_int_equal(o[Y].bytes, (2 * 2 + 1) * 4);
    assert_true(o[Y].whole); /* gaps are no elements */
}

/* Operands of a problem before and after a run of a host variant. */
typedef struct run {
    operand o[OPERANDS_MAX];
    void *before[OPERANDS_MAX], *after[OPERANDS_MAX];
} run;

/* Operands of no bytes are NULL, as a caller may pass them. */
static void run_start(run *r, const problem *p, uint64_t seed, distribution f)
{
    operation_matvec.operands(p, r->o);
    for (size_t i = 0; i < 3; i++) {
        r->before[i] = r->o[i].bytes ? malloc(r->o[i].bytes) : NULL;
        r->after[i] = r->o[i].bytes ? malloc(r->o[i].bytes) : NULL;
    }
    operation_matvec.fill(p, seed, f, r->before);
    for (size_t i = 0; i < 3; i++)
        if (r->o[i].bytes)
            memcpy(r->after[i], r->before[i], r->o[i].bytes);
}

static verdict run_verify(const run *r, const problem *p)
{
    const void *const before[] = {r->before[A], r->before[X], r->before[Y]};
    const void *const after[] = {r->after[A], r->after[X], r->after[Y]};
    device_facts d = host();
    verdict v;

    assert_int_equal(operation_matvec.verify(p, &d, before, after, NULL, &v, NULL), TSR_OK);
    return v;
}

static void run_end(run *r)
{
    for (size_t i = 0; i < 3; i++) {
        free(r->before[i]);
        free(r->after[i]);
    }
}

static void host_variants_are_right(void **state)
{
    device_facts d = host();
    problem p;

    (void)state;
    for (size_t k = 0; k < operation_matvec.variant_count; k++) {
        const variant *v = operation_matvec.variants[k];

        if (!v->host || *reason_of(v->name, &(problem){.op = &operation_matvec}, &d, NULL))
            continue;
        for (size_t i = 0; next_normal(i, &p); i++)
            for (int f = DISTRIBUTION_UNIFORM; f <= DISTRIBUTION_ORDERED; f++) {
                verdict found;
                run r;

                if (matvec_in(&p)->rows * matvec_in(&p)->columns * batch_of(&p) > 30000)
                    continue;
                run_start(&r, &p, i + 1, (distribution)f);
                assert_int_equal(v->host(&p, r.after, NULL), TSR_OK);
                found = run_verify(&r, &p);
                if (!found.ok)
                    fail_msg("%s, problem %zu, family %d: %s", v->name, i, f, found.detail);
                assert_true(found.worst <= 1);
                run_end(&r);
            }
    }
}

static void verify_finds_faults(void **state)
{
    enum { ROWS = 133 }; /* the proof takes 64 at a time */
    problem p = product(70, ROWS, TSR_F32, true);
    run r;
    float *y, kept;

    (void)state;
    matvec_in(&p)->offset_y = 3;
    run_start(&r, &p, 5, DISTRIBUTION_UNIFORM);
    assert_int_equal(named("contiguous")->host(&p, r.after, NULL), TSR_OK);
    assert_true(run_verify(&r, &p).ok);
    y = r.after[Y];
    for (size_t i = 0; i < ROWS; i++) {
        kept = y[3 + i];
        y[3 + i] = kept + 0.001f;
        assert_false(run_verify(&r, &p).ok);
        assert_true(run_verify(&r, &p).worst > 1);
        y[3 + i] = NAN;
        assert_false(run_verify(&r, &p).ok);
        y[3 + i] = kept;
    }
    kept = y[1];
    y[1] = 12;
    assert_false(run_verify(&r, &p).ok);
    y[1] = kept;
    assert_true(run_verify(&r, &p).ok);
    run_end(&r);
}

/* Of results three apart, and of products side by side: every element and every gap counts. */
static void verify_looks_into_gaps(void **state)
{
    (void)state;
    for (int beside = 0; beside < 2; beside++) {
        problem p = product(7, 5, TSR_BF16, false);
        run r;
        uint16_t *y;

        matvec_in(&p)->incy = 9;
        matvec_in(&p)->batch = 3;
        matvec_in(&p)->stride_a = 35;
        matvec_in(&p)->stride_y = beside ? 3 : 60;
        matvec_in(&p)->offset_y = 2;
        run_start(&r, &p, 5, DISTRIBUTION_UNIFORM);
        assert_int_equal(named("openmp")->host(&p, r.after, NULL), TSR_OK);
        assert_true(run_verify(&r, &p).ok);
        y = r.after[Y];
        for (size_t i = 0; i < r.o[Y].bytes / sizeof(*y); i++) {
            y[i] ^= 0x2000; /* of the exponent */
            assert_false(run_verify(&r, &p).ok);
            y[i] ^= 0x2000;
        }
        assert_true(run_verify(&r, &p).ok);
        run_end(&r);
    }
}

static void gaps_hold_nan(void **state)
{
    problem p = product(4, 3, TSR_F32, false);
    run r;
    const float *a;

    (void)state;
    matvec_in(&p)->lda = 5;
    matvec_in(&p)->offset_a = 2;
    run_start(&r, &p, 5, DISTRIBUTION_UNIFORM);
    a = r.before[A];
    for (size_t i = 0; i < r.o[A].bytes / sizeof(float); i++)
        assert_int_equal(isnan(a[i]) != 0, i < 2 || (i - 2) % 5 >= 3);
    assert_true(isnan(((const float *)r.before[Y])[0]));
    run_end(&r);
}

static void descriptions(void **state)
{
    problem p = product(4096, 4000, TSR_F32, true);
    text t = {0};

    (void)state;
    operation_matvec.describe(&p, &t);
    assert_string_equal(text_get(&t), "4096x4000 float32 transposed");
    text_clear(&t);
    tuning_class(&p, &t);
    assert_string_equal(text_get(&t), "float32-t-6x5");
    assert_true(operation_matvec.work(&p) == 2.0 * 4096 * 4000);
    assert_true(operation_matvec.bytes(&p) == 4.0 * (4096.0 * 4000 + 4096 + 4000));
    p = product(30, 40, TSR_F16, false);
    matvec_in(&p)->y_f32 = true;
    matvec_in(&p)->layout = TSR_COLUMN_MAJOR;
    matvec_in(&p)->lda = 32;
    matvec_in(&p)->incx = 2;
    matvec_in(&p)->batch = 20;
    matvec_in(&p)->stride_a = 1280;
    matvec_in(&p)->stride_y = 31;
    text_clear(&t);
    operation_matvec.describe(&p, &t);
    assert_string_equal(text_get(&t),
                        "30x40 float16 to float32 x 20 one x column-major lda 32 inc 2 1 "
                        "strides 1280 0 31");
    text_clear(&t);
    tuning_class(&p, &t);
    assert_string_equal(text_get(&t), "float16 to float32-x2-n-2x2");
    text_free(&t);
    assert_true(operation_matvec.work(&p) == 20 * 2.0 * 30 * 40);
    assert_true(operation_matvec.bytes(&p) == 2 * (20 * 30 * 40 + 40) + 4 * 20 * 30);
}

/* How many problems of a sweep have something. */
typedef struct forms {
    size_t n, turned, f64, f16, bf16, to_f32, padded, offset, alpha_0, beta_0, empty, column_major,
        strided, batched, shared, beside;
} forms;

static forms count_forms(bool tiny)
{
    forms f = {0};
    problem p;

    for (; operation_matvec.sweep(f.n, tiny, &p); f.n++) {
        const tsr_matvec_problem *m = matvec_of(&p);
        const bool columns = m->layout == TSR_COLUMN_MAJOR, batched = m->batch > 1;

        f.turned += m->trans != columns;
        f.column_major += columns;
        f.f64 += m->type == TSR_F64;
        f.f16 += m->type == TSR_F16;
        f.bf16 += m->type == TSR_BF16;
        f.to_f32 += m->y_f32;
        f.padded += m->lda > (columns ? m->rows : m->columns);
        f.offset += m->offset_a && m->offset_x && m->offset_y;
        f.alpha_0 += m->alpha == 0;
        f.beta_0 += m->beta == 0;
        f.empty += m->rows == 0 || m->columns == 0;
        f.strided += m->incx > 1 || m->incy > 1;
        f.batched += batched;
        f.shared += batched && (m->stride_a == 0 || m->stride_x == 0);
        f.beside += batched && m->stride_y < m->incy;
    }
    return f;
}

static void sweep_covers_the_forms(void **state)
{
    const forms f = count_forms(false), tiny = count_forms(true);
    problem p;

    (void)state;
    assert_true(f.turned > f.n / 3 && f.turned < f.n * 2 / 3);
    assert_true(f.column_major > f.n / 5 && f.column_major < f.n / 2);
    assert_true(f.f64 >= f.n / 3 && f.f64 < f.n / 2);
    assert_true(f.f16 > f.n / 14 && f.bf16 > f.n / 14 && f.to_f32 > f.f16 / 3);
    assert_true(f.padded > f.n / 4 && f.offset > f.n / 16);
    assert_true(f.alpha_0 > f.n / 32 && f.alpha_0 < f.n / 4);
    assert_true(f.beta_0 > f.n / 8 && f.beta_0 < f.n / 2 && f.empty >= 6);
    assert_true(f.strided > f.n / 8 && f.batched > f.n / 10);
    assert_true(f.shared > f.batched / 5 && f.beside >= 3);
    assert_true(tiny.n >= 16 && tiny.strided && tiny.batched && tiny.column_major);
    assert_true(tiny.f16 && tiny.bf16 && tiny.to_f32);
    for (size_t i = 0; operation_matvec.sweep(i, true, &p); i++)
        assert_true(matvec_in(&p)->rows * matvec_in(&p)->columns <= 3000);
}

/* The first and the last problem of a range are of it, their neighbours of another. */
static void classes_name_their_problems(void **state)
{
    problem p = matvec_problem(
        (tsr_matvec_problem){.type = TSR_F64, .rows = 4096, .columns = 16, .alpha = 1});

    (void)state;
    expect_class(&p, "float64 n, rows 4096-16383, columns 16-63");
    matvec_in(&p)->rows = 16383;
    matvec_in(&p)->columns = 63;
    expect_class(&p, "float64 n, rows 4096-16383, columns 16-63");
    matvec_in(&p)->rows = 4095;
    matvec_in(&p)->columns = 3;
    matvec_in(&p)->trans = 1;
    expect_class(&p, "float64 t, rows 1024-4095, columns 1-3");
    matvec_in(&p)->type = TSR_BF16;
    matvec_in(&p)->y_f32 = true;
    matvec_in(&p)->batch = 64;
    matvec_in(&p)->stride_y = 3;
    expect_class(&p, "bfloat16 to float32 t, batch 64-255, rows 1024-4095, columns 1-3");
    matvec_in(&p)->y_f32 = false;
    matvec_in(&p)->batch = 3;
    expect_class(&p, "bfloat16 t, batch 2-3, rows 1024-4095, columns 1-3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_cover_the_columns),
        cmocka_unit_test(reasons_name_the_limit),
        cmocka_unit_test(lessons_say_what_they_leave_out),
        cmocka_unit_test(a_team_must_fit_its_group),
        cmocka_unit_test(vectors_are_aligned_where_rows_are),
        cmocka_unit_test(tunables_follow_device_and_shape),
        cmocka_unit_test(brief_columns_of_16_bits_have_small_groups),
        cmocka_unit_test(tiles_are_as_wide_as_y_needs),
        cmocka_unit_test(teams_suit_rows_that_fill_the_device),
        cmocka_unit_test(no_tunable_stays_0),
        cmocka_unit_test(parts_follow_device_and_shape),
        cmocka_unit_test(slices_are_loaded_past_the_cache),
        cmocka_unit_test(loads_of_large_aligned_rows_are_checked),
        cmocka_unit_test(rows_that_start_anywhere_are_read_by_vectors),
        cmocka_unit_test(the_last_group_adds_where_it_can),
        cmocka_unit_test(preference_names_what_runs),
        cmocka_unit_test(preference_follows_the_shape),
        cmocka_unit_test(bad_problems_are_refused),
        cmocka_unit_test(results_do_not_overlap),
        cmocka_unit_test(column_major_is_turned),
        cmocka_unit_test(operands_are_what_is_read),
        cmocka_unit_test(host_variants_are_right),
        cmocka_unit_test(verify_finds_faults),
        cmocka_unit_test(verify_looks_into_gaps),
        cmocka_unit_test(gaps_hold_nan),
        cmocka_unit_test(descriptions),
        cmocka_unit_test(sweep_covers_the_forms),
        cmocka_unit_test(classes_name_their_problems),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
