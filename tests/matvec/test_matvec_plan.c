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
#include "ops/matvec/matvec_shape.h"
#include "ops/matvec/matvec_steps.h"

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

/* Bytes of a sum. */
static size_t sum_size(const problem *p)
{
    return matvec_of(p)->type == TSR_F64 ? 8 : 4;
}

/* Length of x, 0 where alpha is 0. */
static size_t summed(const problem *p)
{
    if (matvec_of(p)->alpha == 0)
        return 0;
    return matvec_of(p)->trans ? matvec_of(p)->rows : matvec_of(p)->columns;
}

/* Next combination of a variant's tunables; false after the last. */
static bool next_params(const variant *v, params *p)
{
    for (size_t i = 0; i < v->tunable_count; i++) {
        const uint32_t *values = v->tunables[i].values;
        size_t at = 0;

        while (values[at] != p->value[i])
            at++;
        if (at + 1 < TUNABLE_VALUES_MAX && values[at + 1]) {
            p->value[i] = values[at + 1];
            return true;
        }
        p->value[i] = values[0];
    }
    return false;
}

/* Of how many combinations one is planned for a problem: of 1000 and more, every seventh, a number
 * that the values of no tunable share. */
static size_t stride_of(const variant *v)
{
    size_t all = 1;

    for (size_t i = 0; i < v->tunable_count; i++)
        all *= tunable_values(&v->tunables[i]);
    return all < 1000 ? 1 : 7;
}

static bool skip_params(const variant *v, size_t stride, params *p)
{
    for (size_t i = 0; i < stride; i++)
        if (!next_params(v, p))
            return false;
    return true;
}

static params first_params(const variant *v)
{
    params p = params_default(v);

    for (size_t i = 0; i < p.count; i++)
        p.value[i] = v->tunables[i].values[0];
    return p;
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

/* What a launch tells its kernel: the last argument. */
static matvec_call call_of(const command *s)
{
    const command_arg *last = &s->arg[s->n_args - 1];
    matvec_call c = {0};

    assert_true(s->n_args > 0);
    assert_int_equal(last->kind, ARG_BLOCK);
    assert_true(last->bytes <= sizeof(c));
    memcpy(&c, s->block, last->bytes);
    return c;
}

static bool loads_vectors_of_columns(const variant *v)
{
    return strcmp(v->name, "column-slices") == 0 || strcmp(v->name, "short-columns") == 0;
}

/* Bytes of __local memory that a kernel declares, as its header comment says. */
static size_t local_bytes(const variant *v, const char *options, size_t element)
{
    const size_t local = defined(options, "LOCAL");

    if (strcmp(v->name, "tree") == 0 || strcmp(v->name, "tree-vector") == 0)
        return local * element;
    if (strcmp(v->name, "group-row") == 0)
        return (local + local / defined(options, "TEAM")) * element;
    if (strcmp(v->name, "short-rows") == 0)
        return local * (defined(options, "TILE") + 1) * element;
    if (strcmp(v->name, "local-x") == 0)
        return (defined(options, "TILE") + defined(options, "ROWS") * local) * element;
    if (strcmp(v->name, "flat-rows") == 0) {
        const size_t vectors = defined(options, "LOADS") * local, terms = defined(options, "TERMS");

        return (vectors * terms + (terms == 1 ? vectors * element / 128 : 0) + local) * element;
    }
    if (loads_vectors_of_columns(v))
        return local * defined(options, "VEC") * element;
    if (v->entries[1])
        return local * element;
    return 0;
}

/* Arguments of the launches of kernels that cut into parts. */
enum { ARG_WORKSPACE_AT = 3, ARG_GROUP_COUNTERS_AT };

/* Rows of op(A) that a group of entry 0, launched by `s`, takes at once. */
static size_t rows_of_group(const variant *v, const char *options, const command *s)
{
    const size_t local = defined(options, "LOCAL");

    if (strcmp(v->name, "tree") == 0 || strcmp(v->name, "tree-vector") == 0 ||
        strcmp(v->name, "split-vector") == 0)
        return local / defined(options, "TEAM");
    if (strcmp(v->name, "local-x") == 0)
        return local / defined(options, "TEAM") * defined(options, "ROWS");
    if (strcmp(v->name, "shfl") == 0)
        return local / 32;
    if (strcmp(v->name, "subgroup") == 0 || strcmp(v->name, "group-row") == 0)
        return 1; /* at least; and the groups walk on */
    if (strcmp(v->name, "split-row") == 0 || strcmp(v->name, "rows-vector") == 0)
        return defined(options, "ROWS");
    if (strcmp(v->name, "columns-vector") == 0)
        return call_of(s).tile;
    if (strcmp(v->name, "column-slices") == 0)
        return defined(options, "LANES") * defined(options, "VEC");
    if (strcmp(v->name, "short-columns") == 0)
        return local * defined(options, "VEC"); /* a step has whole rows of A: all of op(A)'s */
    if (strcmp(v->name, "flat-rows") == 0)
        return call_of(s).tile;
    return local;
}

static bool walks(const variant *v)
{
    return strcmp(v->name, "subgroup") == 0 || strcmp(v->name, "group-row") == 0 ||
           strcmp(v->name, "short-rows-vector") == 0;
}

static void check_step(const job *j, const command *s, const char *options)
{
    const device_facts *d = j->device;

    assert_int_equal(s->kind, COMMAND_LAUNCH);
    assert_int_equal(s->dims, batch_of(j->problem) > 1 ? 2 : 1);
    if (s->dims == 2) {
        assert_int_equal(s->global[1], batch_of(j->problem));
        assert_int_equal(s->local[1], 1);
    }
    assert_true(s->local[0] >= 1 && s->local[0] <= d->max_work_group);
    assert_true(s->local[0] <= d->max_work_item[0]);
    assert_true(s->global[0] >= s->local[0]);
    assert_int_equal(s->global[0] % s->local[0], 0);
    /* NVIDIA's limit on groups. */
    assert_true(s->global[0] / s->local[0] <= INT32_MAX);
    assert_int_equal(defined(options, "LOCAL"), s->local[0]);
}

/* Distances and starts are the problem's. */
static void check_places(const problem *p, const command *s)
{
    const tsr_matvec_problem *m = matvec_of(p);
    const matvec_call c = call_of(s);
    const bool batched = batch_of(p) > 1;

    assert_int_equal(c.lda, m->lda ? m->lda : m->columns);
    assert_int_equal(c.offset_a, m->offset_a);
    assert_int_equal(c.offset_x, m->offset_x);
    assert_int_equal(c.offset_y, m->offset_y);
    assert_int_equal(c.incx, m->incx ? m->incx : 1);
    assert_int_equal(c.incy, m->incy ? m->incy : 1);
    assert_int_equal(c.stride_a, batched ? m->stride_a : 0);
    assert_int_equal(c.stride_x, batched ? m->stride_x : 0);
    assert_int_equal(c.stride_y, batched ? m->stride_y : 0);
}

/* Parts cover the columns; returns their number. */
static size_t check_parts(const variant *v, const job *j, const command *s)
{
    const size_t parts = call_of(s).parts, chunk = call_of(s).chunk;
    const size_t columns = summed(j->problem);
    const size_t sums = length_y(j->problem) * parts * batch_of(j->problem);

    assert_true(parts >= 1);
    assert_true(parts * chunk >= columns);
    assert_true(parts == 1 || (parts - 1) * chunk < columns);
    assert_int_equal(s->arg[ARG_WORKSPACE_AT].kind, ARG_WORKSPACE);
    assert_int_equal(v->workspace(j), parts > 1 ? sums * sum_size(j->problem) : 0);
    return parts;
}

/* The pass that adds parts up. */
static void check_sums(const job *j, const command *s, size_t parts, const char *options)
{
    const tsr_matvec_problem *m = matvec_of(j->problem);
    const matvec_call c = call_of(s);

    check_step(j, s, options);
    assert_int_equal(s->entry, 1);
    assert_true(s->global[0] / s->local[0] <= length_y(j->problem));
    assert_int_equal(c.rows, length_y(j->problem));
    assert_int_equal(c.parts, parts);
    assert_int_equal(c.offset_y, m->offset_y);
    assert_int_equal(c.incy, m->incy ? m->incy : 1);
    assert_int_equal(c.stride_y, batch_of(j->problem) > 1 ? m->stride_y : 0);
}

/* The last group of each tile adds its parts up: there are group_counters for all, and no pass. */
static void check_last(const variant *v, const job *j, size_t tiles)
{
    command s;

    assert_int_equal(last_group_of(j->device), LAST_GROUP_PTX);
    assert_true(tiles * batch_of(j->problem) <= GROUP_COUNTERS_MAX);
    assert_true(v->step(j, 0, &s));
    assert_int_equal(s.arg[ARG_GROUP_COUNTERS_AT].kind, ARG_GROUP_COUNTERS);
    assert_false(v->step(j, 1, &s));
}

/* Each row of op(A) falls to exactly one place, and each of its columns to one part. */
static void check_cover(const variant *v, const job *j, const char *options)
{
    const size_t rows = length_y(j->problem);
    size_t groups, at_once, parts = 1;
    command s;

    assert_true(v->step(j, 0, &s));
    at_once = rows_of_group(v, options, &s);
    assert_true(at_once >= 1);
    groups = s.global[0] / s.local[0];
    assert_int_equal(call_of(&s).rows, rows);
    assert_int_equal(call_of(&s).columns, summed(j->problem));
    check_places(j->problem, &s);
    if (v->entries[1])
        parts = check_parts(v, j, &s);
    else
        assert_null(v->workspace);
    assert_int_equal(groups % parts, 0);
    groups /= parts;
    if (!walks(v)) {
        assert_true(groups * at_once >= rows);
        assert_true((groups - 1) * at_once < rows); /* none has nothing to do */
    } else {
        assert_true(groups <= rows);
    }
    if (parts > 1 && !strstr(options, "-DLAST_ADDS=0"))
        check_last(v, j, groups);
    else if (parts == 1)
        assert_false(v->step(j, 1, &s));
    else {
        assert_true(v->step(j, 1, &s));
        check_sums(j, &s, parts, options);
        assert_false(v->step(j, 2, &s));
    }
}

/* Plans of the `which`-th problem, of one variant on one device, over its tunables: seven problems
 * in a row have all combinations.  Returns how many ran. */
static size_t check_plans(const variant *v, size_t which, const problem *p, const device_facts *d)
{
    const size_t stride = stride_of(v);
    params chosen = first_params(v);
    size_t ran = 0;

    skip_params(v, which % stride, &chosen);
    do {
        job j = {p, d, &chosen, false};
        text reason = {0}, options = {0};
        command s;

        if (variant_unsupported(v, &j, &reason)) {
            assert_true(strlen(text_get(&reason)) < 200);
        } else {
            variant_options(v, &j, &options);
            assert_true(local_bytes(v, text_get(&options), sum_size(p)) <= d->local_memory);
            if (v->step(&j, 0, &s)) {
                check_step(&j, &s, text_get(&options));
                check_cover(v, &j, text_get(&options));
            } else {
                assert_int_equal(length_y(p), 0);
            }
            ran++;
        }
        text_free(&reason);
        text_free(&options);
    } while (skip_params(v, stride, &chosen));
    return ran;
}

static void plans_are_legal_and_cover(void **state)
{
    device_facts d[DEVICES];
    problem p;

    (void)state;
    make_devices(d);
    for (size_t k = 0; k < operation_matvec.variant_count; k++) {
        const variant *v = operation_matvec.variants[k];
        size_t ran = 0;

        if (!v->source)
            continue;
        for (size_t i = 0; next_normal(i, &p); i++)
            for (size_t n = 0; n < DEVICES; n++)
                ran += check_plans(v, i, &p, &d[n]);
        assert_true(ran > 0);
    }
}

static void plans_of_large_problems(void **state)
{
    static const size_t shapes[][2] = {
        {4096, 4096},         {10, 100000000}, {100000000, 10},        {1, (size_t)1 << 31},
        {(size_t)1 << 31, 1}, {INT32_MAX, 3},  {3, INT32_MAX},         {1, (size_t)1 << 33},
        {(size_t)1 << 33, 1}, {70000, 70000},  {(size_t)1 << 20, 4000}};
    device_facts d[DEVICES];

    (void)state;
    make_devices(d);
    for (size_t k = 0; k < operation_matvec.variant_count; k++) {
        const variant *v = operation_matvec.variants[k];

        if (!v->source)
            continue;
        for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
            for (int trans = 0; trans < 2; trans++)
                for (size_t n = 0; n < DEVICES; n++) {
                    problem p = product(shapes[i][0], shapes[i][1], TSR_F32, trans);

                    check_plans(v, i, &p, &d[n]);
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
    assert_has(reason_of("tree", &f64, &d[7], "GROUP=256"), "2048");
    assert_has(reason_of("tree", &f64, &d[7], "GROUP=256"), "1024");
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
    assert_has(reason_of("flat-rows", &long_rows, &d[0], NULL), "257 vectors, and a group has 256");
    assert_has(reason_of("column-slices", &f32, &d[0], NULL), "not transposed");
    assert_has(reason_of("short-columns", &f32, &d[0], NULL), "not transposed");
    assert_has(reason_of("short-columns", &long_lines, &d[0], NULL), "257 vectors");
    assert_has(reason_of("column-slices", &trans, &d[7], "GROUP=128"), "2048");
    assert_has(reason_of("rows-vector", &trans, &d[0], NULL), "transposed");
    assert_has(reason_of("columns-vector", &f32, &d[0], NULL), "transposed");
    assert_has(reason_of("shfl", &f32, &d[0], NULL), "PTX");
    assert_has(reason_of("subgroup", &f32, &d[0], NULL), "sub-group");
    assert_has(reason_of("tree", &tall, &d[0], NULL), "2147483648");
    assert_has(reason_of("rows-vector", &tall, &d[0], NULL), "2147483648");
    assert_string_equal(reason_of("row-item", &tall, &d[0], NULL), "");
    assert_has(reason_of("row-item", &wide, &d[0], NULL), "4294967296");
    assert_string_equal(reason_of("split-row", &wide, &d[0], NULL), "");
    assert_string_equal(reason_of("rows-vector", &wide, &d[0], NULL), "");
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
    assert_has(variant_unsupported(v, &j, &reason), "exceeds GROUP, 32");
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
    const variant *v = named("tree-vector");
    device_facts d[DEVICES];

    (void)state;
    make_devices(d);
    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        const size_t c = i / 2;
        problem p = product(10, 40, TSR_F32, false);
        params chosen = params_default(v);
        job j = {&p, &d[i % 2 ? 2 : 0], &chosen, false};
        text options = {0};

        matvec_in(&p)->lda = cases[c].lda;
        matvec_in(&p)->offset_a = cases[c].offset_a;
        matvec_in(&p)->offset_x = cases[c].offset_x;
        matvec_in(&p)->incx = cases[c].incx;
        matvec_in(&p)->batch = 2;
        matvec_in(&p)->stride_a = cases[c].stride_a;
        matvec_in(&p)->stride_x = cases[c].stride_x;
        matvec_in(&p)->stride_y = 10;
        variant_options(v, &j, &options);
        assert_int_equal(defined(text_get(&options), "VEC"), 4);
        /* A CPU's buffers may be the caller's arrays. */
        assert_int_equal(defined(text_get(&options), "ALIGNED"), cases[c].aligned && i % 2);
        text_free(&options);
    }
}

/* A lane has four vectors of a row, and few long rows have a part for each of many groups, which
 * begins with a vector. */
static void teams_are_as_wide_as_rows_are_long(void **state)
{
    static const struct {
        size_t rows, columns, team, most_parts;
    } cases[] = {{100000, 100, 8, 1}, {1000, 1000, 64, 1},     {4096, 4096, 64, 1},
                 {10, 10001, 64, 10}, {10, 1000000, 64, 2112}, {100, 1, 8, 1}};
    const variant *v = named("split-vector");
    device_facts d[DEVICES];

    (void)state;
    make_devices(d);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const problem p = product(cases[i].rows, cases[i].columns, TSR_F32, false);
        const params chosen = params_default(v);
        const job j = {&p, &d[8], &chosen, false};
        text options = {0};
        command s;

        variant_options(v, &j, &options);
        assert_int_equal(defined(text_get(&options), "TEAM"), cases[i].team);
        assert_true(v->step(&j, 0, &s));
        assert_in_range(call_of(&s).parts, cases[i].most_parts > 1 ? 2 : 1, cases[i].most_parts);
        assert_true(call_of(&s).parts == 1 || call_of(&s).chunk % 4 == 0);
        text_free(&options);
    }
}

/* Kernels that read A as one array go on by vectors that are whole lines, and begin with one. */
static void flat_steps_are_whole_lines_and_vectors(void **state)
{
    static const tsr_type types[] = {TSR_F32, TSR_F64, TSR_F16};
    device_facts d[DEVICES];

    (void)state;
    make_devices(d);
    for (size_t columns = 1; columns <= 256; columns++)
        for (size_t t = 0; t < 6; t++) {
            const tsr_type type = types[t / 2];
            const size_t vec = 16 / tsr_type_size(type);
            problem p = product(1000000, columns, type, t % 2);
            const variant *v = named(t % 2 ? "short-columns" : "flat-rows");
            params chosen = params_default(v);
            job j = {&p, &d[2], &chosen, false};
            text reason = {0};
            command s;

            assert_null(variant_unsupported(v, &j, &reason));
            assert_true(v->step(&j, 0, &s));
            if (t % 2) {
                assert_true(call_of(&s).parts > 1);
                assert_int_equal(call_of(&s).chunk * columns % vec, 0);
            } else {
                const size_t items = call_of(&s).items, tile = call_of(&s).tile;

                assert_true(items > 128 && items <= 256);
                assert_int_equal(tile * columns, 4 * items * vec);
                assert_int_equal(items * vec % columns, 0);
            }
            text_free(&reason);
        }
}

/* To a step of 102 rows: 1,893 for each of 528 groups would not be whole steps. */
static void short_columns_are_cut_to_a_step(void **state)
{
    const problem p = product(1000000, 10, TSR_F32, true);
    const variant *v = named("short-columns");
    const device_facts d = device(DEVICE_GPU, 132, 1024, 48 * 1024);
    const params chosen = params_default(v);
    const job j = {&p, &d, &chosen, false};
    command s;

    (void)state;
    assert_true(v->step(&j, 0, &s));
    assert_int_equal(call_of(&s).parts, 516);
    assert_int_equal(call_of(&s).chunk, 19 * 102);
}

/* Slices have LOADS rows of A each, and lanes a vector, as far as A has them.  Whole columns come
 * in two stages. */
static void slices_follow_the_shape(void **state)
{
    static const struct {
        size_t rows, columns, lanes, loads, stages;
    } cases[] = {{4096, 4096, 8, 8, 2}, {4096, 3600, 32, 8, 1},  {10000, 10000, 32, 8, 1},
                 {64, 4096, 64, 8, 1},  {100000, 100, 32, 8, 1}, {100000, 10, 4, 8, 1},
                 {100000, 1, 1, 8, 1},  {10, 100000, 512, 8, 1}, {1, 100000, 512, 8, 1}};
    const variant *v = named("column-slices");
    const device_facts d = device(DEVICE_GPU, 132, 1024, 48 * 1024);

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        problem p = product(cases[i].rows, cases[i].columns, TSR_F32, true);
        params chosen = params_default(v);
        job j = {&p, &d, &chosen, false};
        text options = {0};

        variant_options(v, &j, &options);
        assert_int_equal(defined(text_get(&options), "LANES"), cases[i].lanes);
        assert_int_equal(defined(text_get(&options), "LOADS"), cases[i].loads);
        assert_int_equal(defined(text_get(&options), "STAGES"), cases[i].stages);
        text_free(&options);
    }
}

/* From 32 rows of A on they are loaded past the first-level cache, unless it is told, where the
 * device has the instruction, and A aligned vectors of what is summed. */
static void slices_are_loaded_past_the_cache(void **state)
{
    static const struct {
        size_t rows, columns, lda, offset;
        tsr_type type;
        feature_state feature;
        const char *told;
        size_t past;
        bool suited;
    } cases[] = {{4096, 4096, 4096, 0, TSR_F32, FEATURE_YES, NULL, 2, true},
                 {4096, 4096, 4096, 0, TSR_F32, FEATURE_YES, "PAST_L1=1", 1, true},
                 {4096, 4096, 4096, 0, TSR_F32, FEATURE_NO, NULL, 1, true},
                 {4096, 4096, 4096, 0, TSR_F32, FEATURE_NO, "PAST_L1=2", 2, false},
                 {4096, 4096, 4097, 0, TSR_F32, FEATURE_YES, NULL, 1, true},
                 {4096, 4096, 4097, 0, TSR_F32, FEATURE_YES, "PAST_L1=2", 2, false},
                 {4096, 4096, 4096, 2, TSR_F32, FEATURE_YES, NULL, 1, true},
                 {2048, 2048, 2048, 0, TSR_F64, FEATURE_YES, NULL, 2, true},
                 {8192, 8192, 8192, 0, TSR_F16, FEATURE_YES, NULL, 1, true},
                 {8192, 8192, 8192, 0, TSR_F16, FEATURE_YES, "PAST_L1=2", 2, false},
                 {3000, 3000, 3000, 0, TSR_F32, FEATURE_YES, NULL, 2, true},
                 {3000, 3000, 3000, 0, TSR_F32, FEATURE_YES, "PER_UNIT=8", 2, true},
                 {10000, 10000, 10000, 0, TSR_F32, FEATURE_YES, NULL, 2, true},
                 {32, 10000, 10000, 0, TSR_F32, FEATURE_YES, NULL, 2, true},
                 {31, 10000, 10000, 0, TSR_F32, FEATURE_YES, NULL, 1, true},
                 {31, 10000, 10000, 0, TSR_F32, FEATURE_YES, "PAST_L1=2", 2, true}};
    const variant *v = named("column-slices");

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        problem p = product(cases[i].rows, cases[i].columns, cases[i].type, true);
        device_facts d = device(DEVICE_GPU, 132, 1024, 48 * 1024);
        params chosen = params_default(v);
        const job j = {&p, &d, &chosen, false};
        text options = {0};

        matvec_in(&p)->lda = cases[i].lda;
        matvec_in(&p)->offset_a = cases[i].offset;
        d.feature[FEATURE_LOAD_ONCE] = cases[i].feature;
        if (cases[i].told)
            assert_int_equal(params_set(v, &chosen, cases[i].told, NULL), TSR_OK);
        variant_options(v, &j, &options);
        assert_int_equal(defined(text_get(&options), "PAST_L1"), cases[i].past);
        text_free(&options);
        if (cases[i].suited)
            assert_string_equal(reason_of("column-slices", &p, &d, cases[i].told), "");
        else
            assert_has(reason_of("column-slices", &p, &d, cases[i].told),
                       cases[i].feature == FEATURE_YES ? "takes aligned rows" : "device has not");
    }
}

/* Of a row of up to 64 columns a GPU's work-item loads 16 at once, else one, or what is told; and
 * the counter of columns does not wrap. */
static void short_rows_are_loaded_together(void **state)
{
    static const struct {
        device_kind kind;
        size_t columns;
        const char *told;
        size_t loads;
    } cases[] = {{DEVICE_GPU, 10, NULL, 16},     {DEVICE_GPU, 64, NULL, 16},
                 {DEVICE_GPU, 65, NULL, 1},      {DEVICE_CPU, 10, NULL, 1},
                 {DEVICE_GPU, 10, "LOADS=4", 4}, {DEVICE_GPU, 1000, "LOADS=16", 16}};
    const variant *v = named("row-item");
    const problem longest = product(10, UINT32_MAX, TSR_F32, false);
    const device_facts gpu = device(DEVICE_GPU, 132, 1024, 48 * 1024);

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const problem p = product(10, cases[i].columns, TSR_F32, false);
        const device_facts d = device(cases[i].kind, 132, 1024, 48 * 1024);
        params chosen = params_default(v);
        const job j = {&p, &d, &chosen, false};
        text options = {0};

        if (cases[i].told)
            assert_int_equal(params_set(v, &chosen, cases[i].told, NULL), TSR_OK);
        variant_options(v, &j, &options);
        assert_int_equal(defined(text_get(&options), "LOADS"), cases[i].loads);
        text_free(&options);
    }
    assert_string_equal(reason_of("row-item", &longest, &gpu, NULL), "");
    assert_has(reason_of("row-item", &longest, &gpu, "LOADS=16"), "up to 4294967280 columns");
}

/* For long rows Intel's cores are asked for memory ahead, others are not, unless it is told; for
 * short ones all are. */
static void memory_is_asked_for_by_the_maker(void **state)
{
    static const char *const variants[] = {"rows-vector", "columns-vector"};
    static const struct {
        const char *vendor, *told;
        size_t prefetch;
    } cases[] = {{"GenuineIntel", NULL, 2},
                 {"AuthenticAMD", NULL, 1},
                 {"", NULL, 1},
                 {"GenuineIntel", "PREFETCH=1", 1},
                 {"AuthenticAMD", "PREFETCH=2", 2}};
    const variant *v;
    params chosen;

    (void)state;
    for (size_t k = 0; k < sizeof(variants) / sizeof(variants[0]); k++)
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            const problem p = product(100, 100, TSR_F32, k == 1);
            device_facts d = device(DEVICE_CPU, 2, 4096, 64 * 1024);
            const job j = {&p, &d, &chosen, false};
            text options = {0};

            v = named(variants[k]);
            chosen = params_default(v);
            snprintf(d.vendor, sizeof(d.vendor), "%s", cases[i].vendor);
            if (cases[i].told)
                assert_int_equal(params_set(v, &chosen, cases[i].told, NULL), TSR_OK);
            variant_options(v, &j, &options);
            assert_int_equal(defined(text_get(&options), "PREFETCH"), cases[i].prefetch);
            text_free(&options);
        }
    v = named("short-rows-vector");
    chosen = params_default(v);
    assert_int_equal(param(&chosen, "PREFETCH"), 2);
}

/* Parts of four steps, or of two where those make many groups, and no more groups than are quickly
 * added up; but whole columns where tiles of a cache line are as many as the units, or a few less:
 * 128 of 132, not 113 or 144; and long parts where they fill the units three times: 79 tiles in 5,
 * not 77. */
static void slices_have_parts_of_few_steps(void **state)
{
    static const struct {
        size_t size;
        tsr_type type;
        size_t parts, chunk;
    } cases[] = {{4096, TSR_F32, 1, 4096},  {3600, TSR_F32, 8, 512},   {4600, TSR_F32, 9, 512},
                 {10000, TSR_F32, 5, 2048}, {10000, TSR_F64, 20, 512}, {16384, TSR_F32, 32, 512},
                 {9984, TSR_F32, 5, 2048},  {9800, TSR_F32, 39, 256},  {5120, TSR_F32, 10, 512}};
    const variant *v = named("column-slices");
    const device_facts d = device(DEVICE_GPU, 132, 1024, 48 * 1024);
    const params chosen = params_default(v);

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const problem p = product(cases[i].size, cases[i].size, cases[i].type, true);
        const job j = {&p, &d, &chosen, false};
        command s;

        assert_true(v->step(&j, 0, &s));
        assert_int_equal(call_of(&s).parts, cases[i].parts);
        assert_int_equal(call_of(&s).chunk, cases[i].chunk);
    }
}

/* NVIDIA's instruction where it orders, else OpenCL C's atomics, of a newer standard; else a pass.
 */
static void the_last_group_adds_where_it_can(void **state)
{
    const problem p = product(10, 1000000, TSR_F32, false);
    const variant *v = named("split-row");
    const params chosen = params_default(v);
    device_facts d = device(DEVICE_GPU, 132, 1024, 48 * 1024);
    const job j = {&p, &d, &chosen, false};
    text options = {0};
    command s;

    (void)state;
    variant_options(v, &j, &options);
    assert_non_null(strstr(text_get(&options), "-DLAST_ADDS=0"));
    assert_true(v->step(&j, 1, &s));
    d.feature[FEATURE_DEVICE_SCOPE] = FEATURE_YES;
    text_clear(&options);
    variant_options(v, &j, &options);
    assert_non_null(strstr(text_get(&options), "-DLAST_ADDS=1 -cl-std=CL3.0"));
    assert_false(v->step(&j, 1, &s));
    d.feature[FEATURE_PTX] = FEATURE_YES;
    d.nv_capability = 61;
    assert_int_equal(last_group_of(&d), LAST_GROUP_ATOMICS);
    d.nv_capability = 70;
    text_clear(&options);
    variant_options(v, &j, &options);
    assert_non_null(strstr(text_get(&options), "-DLAST_ADDS=2"));
    assert_null(strstr(text_get(&options), "-cl-std"));
    text_free(&options);
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
}

/* A number of the options that a variant is built with, its tunables at their defaults. */
static size_t settled(const char *variant_name, problem p, size_t vector_bits, const char *option)
{
    const variant *v = named(variant_name);
    device_facts d = device(DEVICE_CPU, 2, 4096, 512 * 1024);
    params chosen = params_default(v);
    job j = {&p, &d, &chosen, false};
    text options = {0};
    size_t value;

    d.vector_bits = vector_bits;
    variant_options(v, &j, &options);
    value = defined(text_get(&options), option);
    text_free(&options);
    return value;
}

/* What is 0 follows the registers, and the shape where that has few rows or columns. */
static void vectors_follow_device_and_shape(void **state)
{
    const problem square = product(4096, 4096, TSR_F32, false);
    const problem turned = product(4096, 4096, TSR_F32, true);
    const problem f64 = product(4096, 4096, TSR_F64, false);

    (void)state;
    assert_int_equal(settled("rows-vector", square, 512, "VEC"), 16);
    assert_int_equal(settled("rows-vector", square, 512, "ROWS"), 8);
    assert_int_equal(settled("rows-vector", square, 256, "VEC"), 8);
    assert_int_equal(settled("rows-vector", square, 256, "ROWS"), 4);
    assert_int_equal(settled("rows-vector", square, 0, "VEC"), 8);
    assert_int_equal(settled("rows-vector", square, 32, "VEC"), 4);
    assert_int_equal(settled("rows-vector", square, 2048, "VEC"), 16);
    assert_int_equal(settled("rows-vector", f64, 512, "VEC"), 8);
    assert_int_equal(settled("rows-vector", product(10, 100000, TSR_F32, false), 512, "ROWS"), 5);
    assert_int_equal(settled("short-rows-vector", square, 512, "VEC"), 16);
    assert_int_equal(settled("columns-vector", turned, 512, "LINES"), 8);
    assert_int_equal(settled("columns-vector", turned, 256, "LINES"), 4);
    assert_int_equal(settled("columns-vector", product(10, 100000, TSR_F32, true), 512, "LINES"),
                     5);
    assert_int_equal(settled("columns-vector", product(100000, 10, TSR_F32, true), 512, "VEC"), 8);
    assert_int_equal(settled("columns-vector", product(100000, 1, TSR_F32, true), 512, "VEC"), 2);
}

/* 20000 columns are two tiles of one width, not one of WIDTH and a remainder. */
static void tiles_of_columns_are_alike(void **state)
{
    const variant *v = named("columns-vector");
    const problem p = product(1001, 20000, TSR_F32, true);
    device_facts d = device(DEVICE_CPU, 2, 4096, 512 * 1024);
    params chosen = params_default(v);
    job j = {&p, &d, &chosen, false};
    command s;

    (void)state;
    assert_true(v->step(&j, 0, &s));
    assert_int_equal(call_of(&s).tile, 10000);
    assert_int_equal(call_of(&s).parts, 4);
    assert_int_equal(call_of(&s).chunk, 252); /* a multiple of LINES, not 1001 / 4 */
}

/* Where more cores leave more parts, tiles are narrower, so that adding up takes 1/64 of reading:
 * on 16 cores 4096 columns in 4 tiles, of 16 parts each, not 64 parts of one.  But none below 1024
 * columns, only as many as divide the groups, which have nothing to add up in the end, and one
 * where a second pass adds up. */
static void tiles_of_columns_suit_the_cores(void **state)
{
    static const struct {
        size_t units, rows, columns;
        const char *told;
        size_t width, parts;
        feature_state adds;
    } cases[] = {{2, 4096, 4096, NULL, 4096, 8, FEATURE_YES},
                 {16, 4096, 4096, NULL, 1024, 16, FEATURE_YES},
                 {16, 4096, 4096, NULL, 4096, 64, FEATURE_NO},
                 {16, 4096, 4096, "WIDTH=4096", 4096, 64, FEATURE_YES},
                 {16, 3500, 3500, NULL, 1760, 32, FEATURE_YES},
                 {16, 10000, 10000, NULL, 2512, 16, FEATURE_YES},
                 {16, 1000, 1000, NULL, 1008, 63, FEATURE_YES},
                 {192, 4096, 4096, NULL, 1024, 171, FEATURE_YES},
                 {16, 10, 100000, NULL, 1568, 1, FEATURE_YES}};
    const variant *v = named("columns-vector");

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const problem p = product(cases[i].rows, cases[i].columns, TSR_F32, true);
        device_facts d = device(DEVICE_CPU, cases[i].units, 4096, 512 * 1024);
        params chosen = params_default(v);
        const job j = {&p, &d, &chosen, false};
        command s;

        d.vector_bits = 512;
        d.feature[FEATURE_DEVICE_SCOPE] = cases[i].adds;
        if (cases[i].told)
            assert_int_equal(params_set(v, &chosen, cases[i].told, NULL), TSR_OK);
        assert_true(v->step(&j, 0, &s));
        assert_int_equal(call_of(&s).tile, cases[i].width);
        assert_int_equal(call_of(&s).parts, cases[i].parts);
    }
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
    assert_refused((tsr_matvec_problem){.layout = (tsr_layout)2}, TSR_EINVAL, "number 2");
    assert_refused((tsr_matvec_problem){.type = TSR_F64, .y_f32 = true}, TSR_EINVAL,
                   "y is float64");
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
    assert_false(o[Y].whole);
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
    assert_false(o[Y].whole); /* gaps stay as they are */
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
    problem p = product(70, 33, TSR_F32, true);
    run r;
    float *y, kept;

    (void)state;
    matvec_in(&p)->offset_y = 3;
    run_start(&r, &p, 5, DISTRIBUTION_UNIFORM);
    assert_int_equal(named("contiguous")->host(&p, r.after, NULL), TSR_OK);
    assert_true(run_verify(&r, &p).ok);
    y = r.after[Y];
    for (size_t i = 0; i < 33; i++) {
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
    operation_matvec.classify(&p, &t);
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
    assert_string_equal(text_get(&t), "30x40 float16 to float32 x 20 column-major lda 32 inc 2 1 "
                                      "strides 1280 0 31");
    text_clear(&t);
    operation_matvec.classify(&p, &t);
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
    assert_true(f.f64 > f.n / 3 && f.f64 < f.n / 2);
    assert_true(f.f16 > f.n / 12 && f.bf16 > f.n / 12 && f.to_f32 > f.f16 / 3);
    assert_true(f.padded > f.n / 4 && f.offset > f.n / 16);
    assert_true(f.alpha_0 > f.n / 32 && f.alpha_0 < f.n / 4);
    assert_true(f.beta_0 > f.n / 8 && f.beta_0 < f.n / 2 && f.empty >= 6);
    assert_true(f.strided > f.n / 8 && f.batched > f.n / 10);
    assert_true(f.shared > f.batched / 5 && f.beside >= 3);
    assert_true(tiny.n >= 16 && tiny.strided && tiny.batched && tiny.column_major);
    assert_true(tiny.f16 && tiny.bf16 && tiny.to_f32);
    for (size_t i = 0; operation_matvec.sweep(i, true, &p); i++)
        assert_true(matvec_in(&p)->rows <= 40 && matvec_in(&p)->columns <= 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_legal_and_cover),
        cmocka_unit_test(plans_of_large_problems),
        cmocka_unit_test(reasons_name_the_limit),
        cmocka_unit_test(a_team_must_fit_its_group),
        cmocka_unit_test(vectors_are_aligned_where_rows_are),
        cmocka_unit_test(teams_are_as_wide_as_rows_are_long),
        cmocka_unit_test(flat_steps_are_whole_lines_and_vectors),
        cmocka_unit_test(short_columns_are_cut_to_a_step),
        cmocka_unit_test(slices_follow_the_shape),
        cmocka_unit_test(slices_are_loaded_past_the_cache),
        cmocka_unit_test(short_rows_are_loaded_together),
        cmocka_unit_test(memory_is_asked_for_by_the_maker),
        cmocka_unit_test(slices_have_parts_of_few_steps),
        cmocka_unit_test(the_last_group_adds_where_it_can),
        cmocka_unit_test(preference_names_what_runs),
        cmocka_unit_test(preference_follows_the_shape),
        cmocka_unit_test(vectors_follow_device_and_shape),
        cmocka_unit_test(tiles_of_columns_are_alike),
        cmocka_unit_test(tiles_of_columns_suit_the_cores),
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
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
