/* What every device variant of matmul launches, over made-up devices, all tunables and the whole
 * sweep: within the device's limits, covering C and not more, reading what it should. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/sizes.h"
#include "core/registry.h"
#include "ops/matmul/matmul_async.h"
#include "ops/matmul/matmul_batched.h"
#include "ops/matmul/matmul_copied.h"
#include "ops/matmul/matmul_panels.h"
#include "ops/matmul/matmul_pipelined.h"
#include "ops/matmul/matmul_shape.h"
#include "step_scalars.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* What ROWS and VECTORS are where the parameters say so, and what they are by the registers. */
static size_t block_rows(const job *j)
{
    const size_t rows = param(j->params, "ROWS");

    return rows ? rows : j->device->vector_bits == 512 ? 8 : 6;
}

static size_t block_columns(const job *j)
{
    const size_t lanes =
        param(j->params, "BITS") / (matmul_of(j->problem)->type == TSR_F64 ? 64 : 32);
    const size_t vectors = param(j->params, "VECTORS");

    return lanes * (vectors ? vectors : j->device->vector_bits == 512 ? 2 : 1);
}

/* The arguments of every kernel of the ladder, in order: naive to swizzle, and what shares their
 * launch. */
enum { ARG_M, ARG_N, ARG_K, ARG_ALPHA, ARG_A, ARG_B = 7, ARG_C = 11, ARG_STRIDES = 14, ARGS = 17 };

static device_facts gpu(void)
{
    return (device_facts){.kind = DEVICE_GPU,
                          .name = "made up",
                          .cl_version = 300,
                          .clc_version = 300,
                          .compute_units = 16,
                          .max_work_group = 1024,
                          .max_work_item = {1024, 1024, 64},
                          .local_memory = 49152,
                          .global_memory = (uint64_t)8 << 30,
                          .max_allocation = (uint64_t)2 << 30,
                          .fp64 = true,
                          .denormals_f32 = true,
                          .denormals_f64 = true,
                          .team = 32};
}

static const variant *find(const char *name)
{
    const variant *v = NULL;

    assert_int_equal(variant_find(&operation_matmul, name, &v, NULL), TSR_OK);
    return v;
}

/* Combination `which` of all tunable values of a variant; false beyond the last. */
static bool combination(const variant *v, size_t which, params *out)
{
    *out = params_default(v);
    for (size_t i = 0; i < v->tunable_count; i++) {
        const size_t n = tunable_values(&v->tunables[i]);

        out->value[i] = v->tunables[i].values[which % n];
        which /= n;
    }
    return which == 0;
}

/* Bytes of a number in local memory and registers. */
static size_t real_size(const tsr_matmul_problem *p)
{
    return p->type == TSR_F64 ? sizeof(double) : sizeof(float);
}

/* Outputs that a work-group covers along each dimension of the grid, from the tunables alone. */
typedef struct cover {
    bool known;      /* this variant is described here */
    bool rows_first; /* rows of C run along x, not columns */
    size_t size[2];
} cover;

static cover cover_of(const variant *v, const job *j, const command *s)
{
    const params *p = j->params;

    if (strcmp(v->name, "naive") == 0)
        return (cover){true, true, {s->local[0], s->local[1]}};
    if (strcmp(v->name, "coalesced") == 0)
        return (cover){true, false, {s->local[0], s->local[1]}};
    if (strcmp(v->name, "tiled") == 0 || strcmp(v->name, "block-column") == 0)
        return (cover){true, false, {param(p, "TILE"), param(p, "TILE")}};
    if (strcmp(v->name, "block") == 0 || strcmp(v->name, "vector") == 0 ||
        strcmp(v->name, "swizzle") == 0 || strcmp(v->name, "async") == 0) {
        const size_t tile = (size_t)param(p, "SIDE") * param(p, "BLOCK");

        return (cover){true, false, {tile, tile}};
    }
    if (strcmp(v->name, "cpu-block") == 0)
        return (cover){true, true, {s->local[0] * block_rows(j), s->local[1] * block_columns(j)}};
    return (cover){0};
}

static void check_launch(const job *j, const variant *v, const command *s)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const cover c = cover_of(v, j, s);
    const bool flat = strcmp(v->name, "batched") == 0; /* products are not a dimension of it */

    assert_int_equal(s->kind, COMMAND_LAUNCH);
    assert_int_equal(s->entry, 0);
    assert_int_equal(s->dims, flat ? 1 : 3);
    assert_true(s->local[0] * (flat ? 1 : s->local[1]) <= j->device->max_work_group);
    assert_true(flat || s->local[2] == 1);
    for (unsigned d = 0; d < s->dims; d++) {
        assert_true(s->local[d] > 0 && s->local[d] <= j->device->max_work_item[d]);
        assert_int_equal(s->global[d] % s->local[d], 0);
        assert_true(s->global[d] < (uint64_t)1 << 32); /* what a 32-bit index can count */
    }
    if (!c.known)
        return;
    assert_int_equal(s->global[2], p->batch ? p->batch : 1);
    /* All of C, and no group without an output. */
    assert_int_equal(s->global[0] / s->local[0],
                     size_div_up(c.rows_first ? p->m : p->n, c.size[0]));
    assert_int_equal(s->global[1] / s->local[1],
                     size_div_up(c.rows_first ? p->n : p->m, c.size[1]));
}

/* Sizes, scales and matrices of one product. */
static void check_product(const job *j, const command *s)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t real = real_size(p);

    assert_int_equal(scalar_u32(s, ARG_M), p->m);
    assert_int_equal(scalar_u32(s, ARG_N), p->n);
    assert_int_equal(scalar_u32(s, ARG_K), p->alpha == 0 ? 0 : p->k); /* 0 reads neither A nor B */
    assert_int_equal(s->arg[ARG_ALPHA].bytes, real);
    assert_int_equal(s->arg[ARG_C - 1].bytes, real);
    for (unsigned i = 0; i < 3; i++) {
        static const unsigned at[] = {ARG_A, ARG_B, ARG_C};

        assert_int_equal(s->arg[at[i]].kind, ARG_OPERAND);
        assert_int_equal(s->arg[at[i]].index, i);
    }
    assert_int_equal(scalar_u64(s, ARG_A + 1), p->offset_a);
    assert_int_equal(scalar_u64(s, ARG_B + 1), p->offset_b);
    assert_int_equal(scalar_u64(s, ARG_C + 1), p->offset_c);
    assert_int_equal(scalar_u32(s, ARG_A + 2), p->lda ? p->lda : p->trans_a ? p->m : p->k);
    assert_int_equal(scalar_u32(s, ARG_B + 2), p->ldb ? p->ldb : p->trans_b ? p->k : p->n);
    assert_int_equal(scalar_u32(s, ARG_C + 2), p->ldc ? p->ldc : p->n);
}

static void check_arguments(const job *j, const command *s)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    assert_int_equal(s->n_args, ARGS);
    check_product(j, s);
    assert_int_equal(scalar_u64(s, ARG_STRIDES), p->batch > 1 ? p->stride_a : 0);
    assert_int_equal(scalar_u64(s, ARG_STRIDES + 1), p->batch > 1 ? p->stride_b : 0);
    assert_int_equal(scalar_u64(s, ARG_STRIDES + 2), p->batch > 1 ? p->stride_c : 0);
}

/* Bytes of local memory, as the head of each kernel states them. */
static size_t local_bytes(const variant *v, const params *p, size_t real)
{
    if (strcmp(v->name, "tiled") == 0)
        return 2 * (size_t)param(p, "TILE") * param(p, "TILE") * real;
    if (strcmp(v->name, "block-column") == 0)
        return 2 * (size_t)param(p, "DEPTH") * param(p, "TILE") * real;
    if (strcmp(v->name, "block") == 0 || strcmp(v->name, "swizzle") == 0)
        return 2 * (size_t)param(p, "DEPTH") * param(p, "SIDE") * param(p, "BLOCK") * real;
    if (strcmp(v->name, "async") == 0)
        return 4 * (size_t)param(p, "DEPTH") * param(p, "SIDE") * param(p, "BLOCK") * real;
    if (strcmp(v->name, "vector") == 0)
        return 2 * (size_t)param(p, "DEPTH") *
               (param(p, "SIDE") * param(p, "BLOCK") + 4 * param(p, "PAD")) * real;
    return 0;
}

/* Returns whether the variant takes the problem. */
static bool check_plan(const job *j, const variant *v)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    command s;
    text reason = {0};
    const bool suited = !variant_unsupported(v, j, &reason);

    text_free(&reason);
    if (!suited)
        return false;
    assert_true(p->type != TSR_F64 || j->device->fp64);
    assert_true(local_bytes(v, j->params, real_size(p)) <= j->device->local_memory);
    if (p->m == 0 || p->n == 0) {
        assert_false(v->step(j, 0, &s));
        return true;
    }
    assert_true(v->step(j, 0, &s));
    check_launch(j, v, &s);
    if (cover_of(v, j, &s).known) {
        check_arguments(j, &s);
        assert_false(v->step(j, 1, &s));
    }
    return true;
}

/* Problem n of the sweep as variants get it. */
static bool sweep_problem(size_t n, problem *out)
{
    unsigned order[OPERANDS_MAX];
    problem p;

    if (!operation_matmul.sweep(n, false, &p))
        return false;
    *out = problem_normal(&p, order);
    return true;
}

static size_t check_device(const device_facts *d)
{
    size_t suited = 0;
    problem p;

    for (size_t i = 0; i < operation_matmul.variant_count; i++) {
        const variant *v = operation_matmul.variants[i];
        params chosen;
        bool more = v->source != NULL;

        /* Of many combinations each meets every 11th problem, beginning with another one; of very
         * many, some do: 67 and 17 have no factor that a number of values has. */
        for (size_t c = 0; more && combination(v, c, &chosen);
             c += v->tunable_count > 6 ? 67 : v->tunable_count > 3 ? 17 : 1)
            for (size_t n = v->tunable_count > 3 ? c % 11 : 0; sweep_problem(n, &p);
                 n += v->tunable_count > 3 ? 11 : 1)
                suited += check_plan(&(job){&p, d, &chosen, false}, v);
    }
    return suited;
}

static void plans_keep_the_limits(void **state)
{
    device_facts devices[8];

    (void)state;
    for (size_t i = 0; i < COUNT(devices); i++)
        devices[i] = gpu();
    devices[1].local_memory = 1024;
    devices[2].local_memory = 16384;
    devices[3].fp64 = false;
    devices[4].max_work_group = 64;
    devices[5].max_work_group = 1; /* what some drivers allow where there is a barrier */
    devices[6].max_work_group = 100;
    devices[7].kind = DEVICE_CPU;
    for (size_t i = 0; i < COUNT(devices); i++)
        assert_true(check_device(&devices[i]) > 0); /* on each something runs */
}

/* ---- packed panels on a CPU -------------------------------------------------------------- */

static device_facts cpu(size_t cores)
{
    device_facts d = gpu();

    d.kind = DEVICE_CPU;
    d.compute_units = cores;
    d.vector_bits = cores > 2 ? 512 : 256;
    return d;
}

/* `count` pieces of `size` cover `whole`, none of them in vain. */
static void covers(size_t count, size_t size, size_t whole)
{
    assert_true(count * size >= whole);
    assert_true((count - 1) * size < whole);
}

static void check_share(const job *j, const panels_share *s)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t deepest = param(j->params, "DEPTH");
    const size_t panel = block_columns(j);
    const size_t k = p->alpha == 0 ? 0 : p->k;

    assert_int_equal(s->rows % block_rows(j), 0);
    assert_int_equal(s->columns % panel, 0);
    assert_true(s->columns <= panel * param(j->params, "PANELS"));
    covers(s->down, s->rows, p->m);
    covers(s->across, s->columns, p->n);
    assert_true(s->depth <= deepest);
    if (k == 0) {
        assert_int_equal(s->parts, 1);
        return;
    }
    covers(s->parts, s->span, k);
    /* Blocks of one size, and no more of them than needed. */
    assert_true(s->depth > 0);
    assert_int_equal(size_div_up(s->span, s->depth), size_div_up(s->span, deepest));
}

/* Partial sums, then one addition a row; the workspace holds one C for each part. */
static void check_split(const job *j, const panels_share *s)
{
    const variant *v = find("cpu-split");
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t bytes = s->parts * p->m * p->n * real_size(p);
    const size_t batch = p->batch ? p->batch : 1;
    command first, second, none;

    assert_int_equal(v->workspace(j), bytes);
    assert_true(v->step(j, 0, &first));
    assert_true(v->step(j, 1, &second));
    assert_false(v->step(j, 2 * batch, &none));
    assert_int_equal(scalar_u64(&first, ARG_STRIDES + 2), p->m * p->n); /* from part to part */
    assert_int_equal(first.global[2], s->parts);
    assert_int_equal(first.arg[ARG_C].kind, ARG_WORKSPACE);
    assert_int_equal(scalar_u32(&first, ARG_C + 2), p->n);
    assert_int_equal(second.entry, 1);
    assert_int_equal(second.global[0], p->m);
    assert_int_equal(scalar_u32(&second, 1), s->parts);
}

static void panels_cover_the_product(void **state)
{
    static const size_t cores[] = {1, 2, 16, 192};
    static const char *const names[] = {"cpu-panels", "cpu-split"};
    problem p;

    (void)state;
    for (size_t c = 0; c < COUNT(cores); c++)
        for (size_t n = 0; sweep_problem(n, &p); n++)
            for (size_t i = 0; i < COUNT(names); i++) {
                const device_facts d = cpu(cores[c]);
                params chosen;

                if (matmul_in(&p)->m == 0 || matmul_in(&p)->n == 0)
                    continue;
                /* Every 13th, from another one each time: in all, each meets many problems. */
                for (size_t w = n % 13; combination(find(names[i]), w, &chosen); w += 13) {
                    const job j = {&p, &d, &chosen, false};
                    const panels_share s =
                        i ? matmul_panels_share_split(&j) : matmul_panels_share(&j);

                    check_share(&j, &s);
                    if (i)
                        check_split(&j, &s);
                }
            }
}

/* Registers twice as wide, and twice as many: the kernel is built for as many sums as the plan
 * counts on. */
static void wide_registers_hold_larger_blocks(void **state)
{
    static const struct {
        size_t bits;
        const char *defined;
    } cases[] = {{0, " -DROWS=6 -DVECTORS=1"},
                 {256, " -DROWS=6 -DVECTORS=1"},
                 {512, " -DROWS=8 -DVECTORS=2"}};
    static const char *const names[] = {"cpu-block", "cpu-panels", "cpu-split"};
    problem p = matmul_problem((tsr_matmul_problem){.m = 100, .n = 100, .k = 100, .alpha = 1});

    (void)state;
    for (size_t i = 0; i < COUNT(cases) * COUNT(names); i++) {
        const variant *v = find(names[i / COUNT(cases)]);
        device_facts d = cpu(2);
        params chosen = params_default(v);
        const job j = {&p, &d, &chosen, false};
        text options = {0};

        d.vector_bits = cases[i % COUNT(cases)].bits;
        variant_options(v, &j, &options);
        assert_non_null(strstr(text_get(&options), cases[i % COUNT(cases)].defined));
        text_free(&options);
        assert_int_equal(params_set(v, &chosen, "ROWS=4", NULL), TSR_OK);
        variant_options(v, &j, &options);
        assert_non_null(strstr(text_get(&options), " -DROWS=4"));
        assert_null(strstr(text_get(&options), " -DROWS=6"));
        assert_null(strstr(text_get(&options), " -DROWS=8"));
        text_free(&options);
    }
}

/* What parts of k cost: at most 8 copies of C for each core, however long k is. */
static void split_workspace_is_bounded(void **state)
{
    const device_facts d = cpu(16);
    const params chosen = params_default(find("cpu-split"));
    problem p =
        matmul_problem((tsr_matmul_problem){.m = 64, .n = 64, .k = (size_t)1 << 31, .alpha = 1});
    const job j = {&p, &d, &chosen, false};

    (void)state;
    assert_int_equal(find("cpu-split")->workspace(&j), 128 * 64 * 64 * sizeof(float));
    matmul_in(&p)->k = 1000; /* of 256 or more each */
    assert_int_equal(find("cpu-split")->workspace(&j), 3 * 64 * 64 * sizeof(float));
    matmul_in(&p)->m = matmul_in(&p)->n = 2000; /* C alone gives enough work-items */
    matmul_in(&p)->k = 100000;
    assert_int_equal(find("cpu-split")->workspace(&j), sizeof(float) * 2000 * 2000);
}

/* ---- whole products in a group ----------------------------------------------------------- */

static void tile_holds(size_t tile, size_t size)
{
    assert_true(tile >= 8 && (tile & (tile - 1)) == 0);
    assert_true(tile >= size && (tile == 8 || tile < 2 * size));
}

static void check_batched(const job *j)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const batched_plan x = matmul_batched_plan(j);
    const size_t batch = p->batch ? p->batch : 1;
    const size_t line_a = x.depth + (p->trans_a ? 0 : 4), line_b = x.depth + (p->trans_b ? 4 : 0);
    const size_t gap = x.tile_n < 32 ? x.tile_n : 0;
    command s;

    tile_holds(x.tile_m, p->m);
    tile_holds(x.tile_n, p->n);
    assert_int_equal(x.items * x.rows * x.columns, x.tile_m * x.tile_n);
    assert_int_equal(x.rows % 4 + x.columns % 4 + x.depth % 4, 0);
    /* What cl/matmul/matmul_fetch.clh asks of tiles: whole vectors for each item. */
    assert_int_equal(x.tile_m * x.depth % (4 * x.items), 0);
    assert_int_equal(x.tile_n * x.depth % (4 * x.items), 0);
    assert_int_equal(x.local,
                     x.products * (x.tile_m * line_a + x.tile_n * line_b + gap) * real_size(p));
    assert_true(x.local <= j->device->local_memory);
    assert_int_equal(x.once, p->k <= x.depth);
    if (x.whole) {
        assert_true(p->m == x.tile_m && p->n == x.tile_n && p->k % x.depth == 0);
        assert_true(p->k > 0 && p->alpha != 0); /* else it would read what it must not */
    }
    assert_true(matmul_batched_step(j, 0, &s));
    assert_int_equal(s.local[0], x.products * x.items);
    covers(s.global[0] / s.local[0], x.products, batch);
    assert_int_equal(s.n_args, ARGS + 1);
    assert_int_equal(scalar_u32(&s, ARGS), batch);
    assert_int_equal(scalar_u32(&s, ARG_K), p->alpha == 0 ? 0 : p->k);
    assert_int_equal(scalar_u64(&s, ARG_STRIDES + 1), p->batch > 1 ? p->stride_b : 0);
    assert_false(matmul_batched_step(j, 1, &s));
}

static void batched_groups_hold_the_batch(void **state)
{
    const variant *v = find("batched");
    device_facts devices[4];
    params chosen;
    problem p;
    size_t suited = 0, whole = 0;

    (void)state;
    for (size_t i = 0; i < COUNT(devices); i++)
        devices[i] = gpu();
    devices[1].local_memory = 16384;
    devices[2].max_work_group = 64;
    devices[3].kind = DEVICE_CPU;
    for (size_t i = 0; i < COUNT(devices); i++)
        for (size_t c = 0; combination(v, c, &chosen); c++)
            for (size_t n = c % 7; sweep_problem(n, &p); n += 7) {
                const job j = {&p, &devices[i], &chosen, false};
                text reason = {0};

                if (!variant_unsupported(v, &j, &reason) && matmul_in(&p)->m && matmul_in(&p)->n) {
                    check_batched(&j);
                    whole += matmul_batched_plan(&j).whole;
                    suited++;
                }
                text_free(&reason);
            }
    assert_true(suited > whole && whole > 0);
}

/* A group of 128 holds 8 products of 16 x 16, one of 64 x 64, and what local memory allows. */
static void batched_plan_follows_the_size(void **state)
{
    device_facts d = gpu();
    const params chosen = params_default(find("batched"));
    problem p =
        matmul_problem((tsr_matmul_problem){.m = 16, .n = 16, .k = 16, .alpha = 1, .batch = 65536});
    const job j = {&p, &d, &chosen, false};
    batched_plan x = matmul_batched_plan(&j);

    (void)state;
    assert_true(x.once && x.whole);
    assert_int_equal(x.products, 8);
    assert_int_equal(x.items, 16);
    matmul_in(&p)->m = matmul_in(&p)->n = matmul_in(&p)->k = 64;
    x = matmul_batched_plan(&j);
    assert_true(x.once && x.whole);
    assert_int_equal(x.products, 1);
    assert_int_equal(x.depth, 64);
    matmul_in(&p)->type = TSR_F64; /* 2 x 64 x 64 of them exceed 48 KiB */
    x = matmul_batched_plan(&j);
    assert_int_equal(x.depth, 32);
    assert_false(x.once);
    matmul_in(&p)->k = 65;
    assert_false(matmul_batched_plan(&j).whole);
}

static void preference_of_a_gpu_counts_products(void **state)
{
    const device_facts d = gpu(); /* of 16 compute units */
    problem p =
        matmul_problem((tsr_matmul_problem){.m = 16, .n = 16, .k = 16, .alpha = 1, .batch = 16});
    const char *names[PREFERENCES_MAX];

    (void)state;
    operation_matmul.prefer(&p, &d, names);
    assert_string_equal(names[0], "batched");
    matmul_in(&p)->batch = 15;
    operation_matmul.prefer(&p, &d, names);
    assert_string_not_equal(names[0], "batched");
    matmul_in(&p)->batch = 1000;
    matmul_in(&p)->n = 65;
    operation_matmul.prefer(&p, &d, names);
    assert_string_not_equal(names[0], "batched");
}

static void prefers_of(tsr_precision precision, const char *name, size_t m, size_t n, size_t k)
{
    const device_facts d = cpu(2);
    const problem p = matmul_problem(
        (tsr_matmul_problem){.m = m, .n = n, .k = k, .alpha = 1, .precision = precision});
    const char *names[PREFERENCES_MAX];

    assert_true(operation_matmul.prefer(&p, &d, names) > 1);
    assert_string_equal(names[0], name);
}

static void prefers(const char *name, size_t m, size_t n, size_t k)
{
    prefers_of(TSR_PRECISION_DEFAULT, name, m, n, k);
}

static void preference_of_a_cpu_follows_the_shape(void **state)
{
    (void)state;
    prefers("cpu-panels", 256, 256, 256);
    prefers("cpu-panels", 4096, 64, 4096);
    prefers("cpu-panels", 64, 4096, 64);
    prefers("cpu-panels", 4096, 1, 4096); /* narrower than a vector */
    prefers("cpu-split", 64, 64, 16384);
    prefers("cpu-split", 128, 128, 16384);
    prefers("cpu-block", 64, 64, 64); /* copying costs more than it saves */
    prefers("cpu-block", 4, 4096, 4096);
    /* Factors are rounded as they are copied. */
    prefers_of(TSR_PRECISION_BF16, "cpu-panels", 1024, 1024, 1024);
    prefers_of(TSR_PRECISION_TF32, "cpu-panels", 64, 64, 64);
    prefers_of(TSR_PRECISION_F16, "cpu-panels", 4, 4096, 4096);
    prefers_of(TSR_PRECISION_F16, "cpu-split", 64, 64, 16384);
    prefers_of(TSR_PRECISION_F32_STRICT, "cpu-block", 64, 64, 64);
}

/* ---- pipelined tiles ------------------------------------------------------------------------ */

/* A GPU of many units, as one that the targets are about. */
static device_facts large_gpu(void)
{
    device_facts d = gpu();

    d.compute_units = 132;
    d.max_allocation = (uint64_t)32 << 30;
    d.nvidia = true;
    return d;
}

static params pipelined_params(const char *const *set, size_t count)
{
    params chosen = params_default(find("pipelined"));

    for (size_t i = 0; i < count; i++)
        assert_int_equal(params_set(find("pipelined"), &chosen, set[i], NULL), TSR_OK);
    return chosen;
}

static pipelined_plan plan_of(const device_facts *d, const params *chosen, tsr_matmul_problem m)
{
    const problem p = matmul_problem(m);

    return matmul_pipelined_plan(&(job){&p, d, chosen, false});
}

/* A plan of few groups has small tiles or parts of k; one of many has neither. */
static void tiles_follow_the_shape(void **state)
{
    static const struct {
        size_t m, n, k;
        size_t least, most; /* groups for each unit, in percent */
        size_t items;       /* of a group */
    } cases[] = {{256, 256, 256, 48, 200, 256},      {512, 512, 512, 90, 400, 256},
                 {1000, 1000, 1000, 90, 400, 256},   {4096, 64, 4096, 90, 400, 256},
                 {64, 4096, 64, 48, 200, 256},       {64, 64, 16384, 90, 400, 256},
                 {128, 128, 16384, 90, 400, 256},    {4096, 4096, 4096, 700, 800, 128},
                 {8192, 8192, 1024, 3000, 3200, 128}};
    const device_facts d = large_gpu();
    const params chosen = pipelined_params(NULL, 0);

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const tsr_matmul_problem p = {
            .m = cases[i].m, .n = cases[i].n, .k = cases[i].k, .alpha = 1};
        const pipelined_plan s = plan_of(&d, &chosen, p);
        const size_t groups = size_div_up(p.m, s.tile_m) * size_div_up(p.n, s.tile_n) * s.k.parts;

        assert_in_range(100 * groups / d.compute_units, cases[i].least, cases[i].most);
        assert_int_equal(s.items, cases[i].items);
        covers(s.k.parts, s.k.span, p.k);
    }
    /* A batch gives the groups that parts would. */
    assert_int_equal(
        plan_of(&d, &chosen,
                (tsr_matmul_problem){
                    .m = 64, .n = 64, .k = 16384, .alpha = 1, .batch = 1000, .stride_c = 4096})
            .k.parts,
        1);
}

/* Large tiles give each work-item the most sums where vectors bring them in; else, and small ones,
 * have more warps. */
static void sums_follow_the_tile(void **state)
{
    const device_facts d = large_gpu();
    const params chosen = pipelined_params(NULL, 0);
    tsr_matmul_problem p = {.m = 4096, .n = 4096, .k = 4096, .alpha = 1};

    (void)state;
    p.lda = p.ldb = p.ldc = 4096;
    assert_int_equal(plan_of(&d, &chosen, p).sums, 128);
    p.lda = 4097;
    assert_int_equal(plan_of(&d, &chosen, p).sums, 64);
    p.m = p.n = p.k = 512;
    assert_int_equal(plan_of(&d, &chosen, p).sums, 32);
}

/* What is told is kept, and what is not follows from it. */
static void told_tiles_are_kept(void **state)
{
    static const char *const set[] = {"TILE_M=64", "TILE_N=32", "SPLIT=4"};
    const device_facts d = large_gpu();
    const params chosen = pipelined_params(set, COUNT(set));
    const pipelined_plan s =
        plan_of(&d, &chosen, (tsr_matmul_problem){.m = 100, .n = 100, .k = 1000, .alpha = 1});

    (void)state;
    assert_int_equal(s.tile_m, 64);
    assert_int_equal(s.tile_n, 32);
    assert_int_equal(s.sums, 32); /* a warp is 32 columns wide */
    assert_int_equal(s.slices, 4);
    assert_int_equal(s.items, 64 * 32 / 32 * 4);
    assert_int_equal(s.depth, 32);
    assert_int_equal(s.local, 4 * size_max(2 * 32 * (64 + 32 + 8), 2 * 64 * 32));
    assert_int_equal(s.k.span, 256);
    assert_int_equal(s.k.parts, 4);
}

/* Each product is multiplied in parts into the workspace, then added up: as large as the parts of
 * one, and never more than 256 MiB. */
static void parts_take_workspace(void **state)
{
    static const char *const set[] = {"TILE_M=64", "TILE_N=64", "DEPTH=16", "SPLIT=8"};
    static const char *const whole[] = {"SPLIT=1"};
    const device_facts d = large_gpu();
    const variant *v = find("pipelined");
    const params chosen = pipelined_params(set, COUNT(set));
    const params one = pipelined_params(whole, COUNT(whole));
    problem p = matmul_problem((tsr_matmul_problem){.m = 64,
                                                    .n = 60,
                                                    .k = 1000,
                                                    .alpha = 2,
                                                    .beta = 3,
                                                    .offset_a = 7,
                                                    .batch = 3,
                                                    .stride_a = 100,
                                                    .stride_c = 4096});
    const job j = {&p, &d, &chosen, false};
    text options = {0};
    command s;

    (void)state;
    assert_int_equal(v->workspace(&j), 8 * 64 * 60 * sizeof(float)); /* spans of 128 */
    for (size_t i = 0; i < 6; i++) {
        assert_true(v->step(&j, i, &s));
        assert_int_equal(s.entry, i % 2 ? PIPELINED_SUM : PIPELINED_MULTIPLY);
        if (s.entry == PIPELINED_MULTIPLY) {
            assert_int_equal(s.global[2], 8);
            assert_int_equal(scalar_u64(&s, ARG_A + 1), 7 + i / 2 * 100);
            assert_int_equal(s.arg[ARG_C].kind, ARG_WORKSPACE);
            assert_int_equal(scalar_u32(&s, ARG_C + 2), 60);
            assert_int_equal(scalar_u64(&s, ARG_STRIDES), 0);
            assert_int_equal(scalar_u64(&s, ARG_STRIDES + 2), 64 * 60);
            assert_int_equal(scalar_u32(&s, ARGS), 128);
        } else { /* m, n, parts, lanes, alpha, workspace, beta, C, its offset */
            assert_int_equal(scalar_u32(&s, 2), 8);
            assert_true(s.global[0] >= 64 * 60 * scalar_u32(&s, 3));
            assert_int_equal(scalar_u64(&s, 8), i / 2 * 4096);
        }
    }
    assert_false(v->step(&j, 6, &s));
    variant_options(v, &j, &options);
    assert_non_null(strstr(text_get(&options), "-DSPLITS=1"));
    text_free(&options);

    matmul_in(&p)->k = 120; /* eight parts of 16, the last of 8 */
    assert_int_equal(v->workspace(&j), 8 * 64 * 60 * sizeof(float));
    matmul_in(&p)->k = 40; /* three parts at most */
    assert_int_equal(v->workspace(&j), 3 * 64 * 60 * sizeof(float));
    matmul_in(&p)->k = 16;
    assert_int_equal(v->workspace(&j), 0);
    matmul_in(&p)->alpha = 0; /* reads neither A nor B */
    matmul_in(&p)->k = 1000;
    assert_int_equal(v->workspace(&j), 0);
    *matmul_in(&p) = (tsr_matmul_problem){.m = 4096, .n = 4096, .k = 4096, .alpha = 1};
    assert_int_equal(v->workspace(&j), (size_t)4 << 26); /* not 8 */
    matmul_in(&p)->m = matmul_in(&p)->n = (size_t)1 << 31;
    assert_int_equal(v->workspace(&j), 0);
    *matmul_in(&p) = (tsr_matmul_problem){.m = 64, .n = 64, .k = 1 << 20, .alpha = 1};
    assert_int_equal(v->workspace(&(job){&p, &d, &one, false}), 0);
    assert_true(v->step(&(job){&p, &d, &one, false}, 0, &s));
    assert_int_equal(scalar_u32(&s, ARGS), 1 << 20);
    assert_false(v->step(&(job){&p, &d, &one, false}, 1, &s));
}

/* A limit of registers goes to NVIDIA's compiler, which ignores it beside a required size. */
static void registers_are_limited_where_they_can_be(void **state)
{
    const problem p =
        matmul_problem((tsr_matmul_problem){.m = 1024, .n = 1024, .k = 1024, .alpha = 1});
    const params chosen = pipelined_params(NULL, 0);
    device_facts d = large_gpu();
    text options = {0};

    (void)state;
    variant_options(find("pipelined"), &(job){&p, &d, &chosen, false}, &options);
    assert_non_null(strstr(text_get(&options), "-DSIZED=0"));
    assert_non_null(strstr(text_get(&options), "-cl-nv-maxrregcount=128"));
    assert_non_null(strstr(text_get(&options), "-DTILE_M=64"));
    assert_null(strstr(text_get(&options), "=0 -DTILE_M")); /* once, and settled */
    assert_null(strstr(text_get(&options), "-DTILE_M=0"));
    text_clear(&options);
    d.nvidia = false;
    variant_options(find("pipelined"), &(job){&p, &d, &chosen, false}, &options);
    assert_non_null(strstr(text_get(&options), "-DSIZED=1"));
    assert_null(strstr(text_get(&options), "maxrregcount"));
    text_free(&options);
}

static void broken_tiles_are_refused(void **state)
{
    static const struct {
        const char *set[3];
        const char *part;
    } cases[] = {
        {{"TILE_M=32", "SUMS=128", "TILE_N=64"}, "tiles of 32 x 64 x 8 are not cut into whole"},
        {{"TILE_M=128", "TILE_N=128", "SLICES=8"}, "needs work-groups of 2048 work-items"},
        {{"TILE_M=128", "TILE_N=128", "DEPTH=32"}, "bytes of local memory"},
        {{"TILE_M=32", "SLICES=8", "DEPTH=8"}, "are not cut into whole warps and vectors"},
    };
    const problem p = matmul_problem((tsr_matmul_problem){.m = 9, .n = 9, .k = 9, .alpha = 1});
    const device_facts d = gpu();

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const params chosen = pipelined_params(cases[i].set, 3);
        text reason = {0};
        const char *why =
            variant_unsupported(find("pipelined"), &(job){&p, &d, &chosen, false}, &reason);

        if (!why || !strstr(why, cases[i].part))
            fail_msg("'%s' does not say '%s'", why ? why : "suited", cases[i].part);
        text_free(&reason);
    }
}

/* ---- copies beside the work-items, and sub-groups ------------------------------------------- */

static device_facts ampere(void)
{
    device_facts d = large_gpu();

    for (unsigned f = 0; f < FEATURE_COUNT; f++)
        d.feature[f] = FEATURE_YES;
    d.nv_capability = 80;
    d.large_local = 166912;
    d.subgroup_size = 16;
    return d;
}

/* What cl/matmul/matmul_copied.clh asks of tiles, `more` bytes beside the stages, and no tunable
 * left open. */
static void check_copied(const job *j, const variant *v, const copied_tiles *t, size_t more)
{
    static const char *const open[] = {"TILE_M=0", "TILE_N=0", "SUMS=0", "DEPTH=0", "STAGES=0"};
    const size_t depth = t->depth;
    text options = {0};

    assert_int_equal(t->items * t->sums, t->tile_m * t->tile_n);
    assert_int_equal(t->items % 32, 0);
    assert_int_equal(t->tile_m * depth % (4 * t->items) + t->tile_n * depth % (4 * t->items), 0);
    assert_int_equal(t->tile_m % (t->sums == 128 ? 64 : 32) + t->tile_n % (t->sums == 32 ? 32 : 64),
                     0);
    assert_int_equal(t->local,
                     t->stages * depth * (t->tile_m + t->tile_n + 8) * sizeof(float) + more);
    assert_true(t->local <= j->device->large_local);
    variant_options(v, j, &options);
    for (size_t i = 0; i < COUNT(open); i++)
        assert_null(strstr(text_get(&options), open[i]));
    text_free(&options);
}

/* A group for each tile, and for each span of k. */
static void check_cp_async(const job *j, const variant *v)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const cp_async_plan x = matmul_cp_async_plan(j);
    command s;

    check_copied(j, v, &x.tiles, 0);
    assert_true(v->step(j, 0, &s));
    assert_int_equal(s.local[0], x.tiles.items);
    assert_int_equal(s.global[0] / x.tiles.items,
                     size_div_up(p->m, x.tiles.tile_m) * size_div_up(p->n, x.tiles.tile_n));
    assert_int_equal(s.global[1], 1);
    assert_int_equal(s.global[2], x.k.parts > 1 ? x.k.parts : p->batch ? p->batch : 1);
    assert_int_equal(scalar_u32(&s, ARGS), x.k.span);
    s.n_args = ARGS;
    if (x.k.parts == 1)
        check_arguments(j, &s);
    if (x.k.parts > 1) {
        covers(x.k.parts, x.k.span, p->k);
        assert_int_equal(x.k.span % x.tiles.depth, 0);
    }
    assert_int_equal(v->step(j, 1, &s), x.k.parts > 1);
    assert_false(v->step(j, x.k.parts > 1 ? 2 * (p->batch ? p->batch : 1) : 1, &s));
}

/* What cl/matmul/matmul_shares.clh asks: whole tiles for all groups alike, a shared step for each;
 * a tally for each shared tile, and two places for the sums of each group. */
static void check_stream(const job *j, const variant *v)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const stream_plan x = matmul_stream_plan(j);
    const size_t tiles = size_div_up(p->m, x.tiles.tile_m) * size_div_up(p->n, x.tiles.tile_n);
    const size_t area = (size_t)x.tiles.tile_m * x.tiles.tile_n;
    const size_t k = p->alpha == 0 ? 0 : p->k;
    command s;

    check_copied(j, v, &x.tiles, 16);
    assert_int_equal(x.shared + x.unshared, tiles);
    assert_int_equal(x.unshared % x.groups, 0);
    assert_true(x.shared <= GROUP_COUNTERS_MAX && x.shared < 2 * x.groups);
    if (x.shared)
        assert_true(x.shared * size_max(size_div_up(k, x.tiles.depth), 1) >= x.groups);
    assert_int_equal(v->workspace(j), x.shared ? 2 * x.groups * area * sizeof(float) : 0);
    assert_true(v->step(j, 0, &s));
    assert_int_equal(s.dims, 1);
    assert_int_equal(s.local[0], x.tiles.items);
    assert_int_equal(s.global[0], x.groups * x.tiles.items);
    check_product(j, &s);
    assert_int_equal(scalar_u32(&s, ARG_STRIDES), x.unshared);
    assert_int_equal(s.arg[ARG_STRIDES + 1].kind, ARG_WORKSPACE);
    assert_int_equal(s.arg[ARG_STRIDES + 2].kind, ARG_GROUP_COUNTERS);
    assert_int_equal(s.n_args, ARG_STRIDES + 3);
    assert_false(v->step(j, 1, &s));
}

/* All strips and all columns, as often as sub-groups of the expected size need. */
static void check_subgroup(const job *j, const variant *v)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t lanes = strcmp(v->name, "shfl") == 0 ? 32 : j->device->subgroup_size;
    const size_t group = param(j->params, "GROUP");
    const size_t rows = group / lanes * param(j->params, "ROWS");
    const size_t columns = lanes * 4 * param(j->params, "VECTORS");
    char width[32];
    text options = {0};
    command s;

    assert_true(v->step(j, 0, &s));
    assert_int_equal(s.local[0], group);
    covers(s.global[0] / group, rows, p->m);
    covers(s.global[1], columns, p->n);
    snprintf(width, sizeof(width), "-DWIDTH=%zu ", columns);
    variant_options(v, j, &options);
    assert_non_null(strstr(text_get(&options), width));
    text_free(&options);
    check_arguments(j, &s);
    assert_false(v->step(j, 1, &s));
}

static void copies_and_lanes_cover_the_product(void **state)
{
    static const struct {
        const char *name;
        void (*check)(const job *j, const variant *v);
    } cases[] = {{"cp-async", check_cp_async},
                 {"stream-k", check_stream},
                 {"subgroup", check_subgroup},
                 {"shfl", check_subgroup}};
    const device_facts d = ampere();
    params chosen;
    problem p;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const variant *v = find(cases[i].name);
        size_t suited = 0;

        for (size_t c = 0; combination(v, c, &chosen); c++)
            for (size_t n = c % 7; sweep_problem(n, &p); n += 7) {
                const job j = {&p, &d, &chosen, false};
                text reason = {0};

                if (!variant_unsupported(v, &j, &reason) && matmul_in(&p)->m && matmul_in(&p)->n) {
                    cases[i].check(&j, v);
                    suited++;
                }
                text_free(&reason);
            }
        assert_true(suited > 100);
    }
}

/* Large tiles where they are enough for the device, small ones else; what is told is kept. */
static void copied_tiles_follow_the_shape(void **state)
{
    static const struct {
        size_t size;
        uint32_t tile_m, tile_n, sums, depth, stages;
        size_t parts;
    } cases[] = {{448, 128, 64, 64, 8, 4, 1},    {512, 128, 64, 64, 16, 3, 2},
                 {896, 64, 64, 32, 16, 4, 1},    {960, 64, 64, 32, 16, 4, 1},
                 {1000, 64, 128, 64, 8, 4, 1},   {1792, 64, 128, 64, 16, 4, 1},
                 {1793, 128, 128, 128, 8, 4, 1}, {4096, 128, 128, 128, 16, 3, 1}};
    const device_facts d = ampere(); /* of 132 compute units */
    const variant *v = find("cp-async");
    params chosen = params_default(v);

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const size_t size = cases[i].size;
        const problem p =
            matmul_problem((tsr_matmul_problem){.m = size, .n = size, .k = size, .alpha = 1});
        const cp_async_plan s = matmul_cp_async_plan(&(job){&p, &d, &chosen, false});
        const copied_tiles x = s.tiles;

        assert_int_equal(x.tile_m, cases[i].tile_m);
        assert_int_equal(x.tile_n, cases[i].tile_n);
        assert_int_equal(x.sums, cases[i].sums);
        assert_int_equal(x.depth, cases[i].depth);
        assert_int_equal(x.stages, cases[i].stages);
        assert_int_equal(x.items, 128);
        assert_int_equal(s.k.parts, cases[i].parts);
    }
    for (size_t off = 0; off < 2; off++) {
        /* Rows of deep tiles are aligned. */
        const problem p = matmul_problem((tsr_matmul_problem){
            .m = 512, .n = 512, .k = 512, .alpha = 1, .offset_a = !off, .ldb = off ? 513 : 512});

        assert_int_equal(matmul_cp_async_plan(&(job){&p, &d, &chosen, false}).tiles.depth, 8);
    }
    {
        /* Two groups a unit share a long k. */
        const problem p =
            matmul_problem((tsr_matmul_problem){.m = 4096, .n = 64, .k = 4096, .alpha = 1});
        const job j = {&p, &d, &chosen, false};
        text options = {0};

        assert_int_equal(matmul_cp_async_plan(&j).k.parts, 8);
        assert_int_equal(matmul_cp_async_plan(&j).k.span, 512);
        assert_int_equal(matmul_cp_async_plan(&j).tiles.depth, 16);
        assert_int_equal(matmul_cp_async_plan(&j).tiles.stages, 3);
        variant_options(v, &j, &options);
        assert_non_null(strstr(text_get(&options), "-DSPLITS=1"));
        assert_non_null(strstr(text_get(&options), "-DALIGNED_C=1"));
        text_free(&options);
    }
    assert_int_equal(params_set(v, &chosen, "TILE_M=256", NULL), TSR_OK);
    assert_int_equal(params_set(v, &chosen, "SUMS=64", NULL), TSR_OK);
    {
        const problem p = matmul_problem((tsr_matmul_problem){.m = 9, .n = 9, .k = 9, .alpha = 1});
        const copied_tiles x = matmul_cp_async_plan(&(job){&p, &d, &chosen, false}).tiles;

        assert_int_equal(x.tile_m, 256);
        assert_int_equal(x.tile_n, 64);
        assert_int_equal(x.items, 256);
    }
}

/* Whole tiles go round while there are two or more for each group; the others are shared. */
static void shares_follow_the_shape(void **state)
{
    static const struct {
        size_t size;
        uint32_t tile_m, tile_n, depth, stages;
        size_t groups, unshared, shared;
    } cases[] = {{4096, 128, 128, 16, 3, 264, 528, 496},
                 {4095, 128, 128, 8, 4, 264, 528, 496},
                 {2112, 128, 128, 16, 3, 264, 0, 289},
                 {768, 64, 64, 8, 4, 264, 0, 144},
                 {1152, 64, 128, 8, 4, 264, 0, 162},
                 {8448, 128, 128, 16, 3, 264, 3960, 396},
                 {64, 64, 64, 8, 4, 8, 0, 1},
                 {5, 64, 64, 8, 4, 1, 1, 0}};
    const variant *v = find("stream-k");
    const params chosen = params_default(v);
    device_facts d = ampere(); /* of 132 compute units */

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const size_t size = cases[i].size;
        const problem p =
            matmul_problem((tsr_matmul_problem){.m = size, .n = size, .k = size, .alpha = 1});
        const stream_plan x = matmul_stream_plan(&(job){&p, &d, &chosen, false});

        assert_int_equal(x.tiles.tile_m, cases[i].tile_m);
        assert_int_equal(x.tiles.tile_n, cases[i].tile_n);
        assert_int_equal(x.tiles.depth, cases[i].depth);
        assert_int_equal(x.tiles.stages, cases[i].stages);
        assert_int_equal(x.groups, cases[i].groups);
        assert_int_equal(x.unshared, cases[i].unshared);
        assert_int_equal(x.shared, cases[i].shared);
    }
    {
        const problem p =
            matmul_problem((tsr_matmul_problem){.m = 4096, .n = 4096, .k = 4096, .alpha = 1});
        const job j = {&p, &d, &chosen, false};
        text options = {0};

        variant_options(v, &j, &options);
        assert_non_null(strstr(text_get(&options), "-DLAST_ADDS=2"));
        text_free(&options);
        d.large_local = 100000; /* not twice 3 x 16 x (128 + 128 + 8) floats */
        assert_int_equal(matmul_stream_plan(&j).tiles.depth, 8);
        d.large_local = 101376;
        assert_int_equal(matmul_stream_plan(&j).tiles.depth, 16);
    }
}

/* ---- reasons, with their values ---------------------------------------------------------- */

static void says(const char *name, const problem *p, const device_facts *d, const char *part1,
                 const char *part2)
{
    const variant *v = find(name);
    const params chosen = params_default(v);
    text reason = {0};
    const char *why = variant_unsupported(v, &(job){p, d, &chosen, false}, &reason);

    if (!why || !strstr(why, part1) || !strstr(why, part2))
        fail_msg("%s: '%s' does not say '%s' and '%s'", name, why ? why : "suited", part1, part2);
    text_free(&reason);
}

static bool suits(const char *name, const problem *p, const device_facts *d)
{
    const variant *v = find(name);
    const params chosen = params_default(v);
    text reason = {0};
    const bool suited = !variant_unsupported(v, &(job){p, d, &chosen, false}, &reason);

    text_free(&reason);
    return suited;
}

static const char *first_suited(const problem *p, const device_facts *d)
{
    const char *names[PREFERENCES_MAX];
    const size_t n = operation_matmul.prefer(p, d, names);
    size_t at = 0;

    while (at < n && !suits(names[at], p, d))
        at++;
    assert_true(at < n);
    return names[at];
}

/* Of chains of FP32 multiply-adds. */
static void chains_follow_the_shape(void **state)
{
    static const struct {
        size_t m, n, k, ld;
        const char *with_copies; /* on a device that copies beside the work-items */
    } cases[] = {
        {256, 256, 256, 0, "pipelined"},      {512, 512, 512, 0, "pipelined"},
        {1000, 1000, 1000, 0, "cp-async"},    {4096, 4096, 4096, 0, "stream-k"},
        {576, 576, 576, 0, "stream-k"},       {640, 640, 640, 0, "stream-k"},
        {704, 704, 704, 0, "pipelined"},      {768, 768, 768, 0, "stream-k"},
        {960, 960, 960, 0, "stream-k"},       {1024, 1024, 1024, 0, "cp-async"},
        {1152, 1152, 1152, 0, "stream-k"},    {1280, 1280, 1280, 0, "stream-k"},
        {1408, 1408, 1408, 0, "cp-async"},    {1536, 1536, 1536, 0, "stream-k"},
        {1792, 1792, 1792, 0, "cp-async"},    {2048, 2048, 2048, 0, "cp-async"},
        {2560, 2560, 2560, 0, "stream-k"},    {768, 768, 256, 0, "pipelined"},
        {4095, 4095, 4095, 4095, "cp-async"}, {4096, 4096, 256, 0, "cp-async"},
        {4096, 64, 4096, 0, "cp-async"},      {64, 64, 16384, 0, "pipelined"},
        {128, 128, 16384, 0, "cp-async"},     {8, 8, 8, 0, "pipelined"},
    };
    const device_facts none = large_gpu(), copies = ampere();

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const problem p =
            matmul_problem((tsr_matmul_problem){.m = cases[i].m,
                                                .n = cases[i].n,
                                                .k = cases[i].k,
                                                .lda = cases[i].ld,
                                                .ldb = cases[i].ld,
                                                .ldc = cases[i].ld,
                                                .alpha = 1,
                                                .precision = TSR_PRECISION_F32_STRICT});

        assert_string_equal(first_suited(&p, &none), "pipelined");
        assert_string_equal(first_suited(&p, &copies), cases[i].with_copies);
    }
}

/* FP32 as it comes: matrix units where packing pays, by C's size or by sharing a long k. */
static void matrix_units_follow_the_shape(void **state)
{
    static const struct {
        size_t m, n, k;
        const char *name;
    } cases[] = {
        {512, 512, 512, "pipelined"},
        {512, 1024, 512, "pipelined"},
        {768, 768, 768, "stream-k"},
        {512, 512, 4096, "wgmma-3xtf32"},
        {1024, 1024, 64, "wgmma-3xtf32"},
        {256, 256, 16384, "cp-async"},
        {4096, 64, 4096, "cp-async"},
        {1000, 1000, 1000, "wgmma-3xtf32"},
        {2048, 2048, 64, "wgmma-3xtf32-fused"},
        {512, 512, 1024, "pipelined"},
        {512, 512, 1536, "wgmma-3xtf32"},
    };
    device_facts d = ampere();
    const problem batch = matmul_problem((tsr_matmul_problem){.m = 512,
                                                              .n = 512,
                                                              .k = 4096,
                                                              .alpha = 1,
                                                              .batch = 64,
                                                              .stride_a = 1 << 21,
                                                              .stride_b = 1 << 21,
                                                              .stride_c = 1 << 18});

    (void)state;
    d.nv_capability = 90;
    d.large_local = 227 << 10;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const problem p = matmul_problem(
            (tsr_matmul_problem){.m = cases[i].m, .n = cases[i].n, .k = cases[i].k, .alpha = 1});

        assert_string_equal(first_suited(&p, &d), cases[i].name);
    }
    /* A batch fills the device without. */
    assert_string_equal(first_suited(&batch, &d), "cp-async");
}

/* Thinner than a quarter of a tile: nothing is shared but the lines that neighbours read. */
static void thin_products_are_coalesced(void **state)
{
    const device_facts d = large_gpu();

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const problem p = matmul_problem(
            (tsr_matmul_problem){.m = i ? 7 : 4096, .n = i ? 4096 : 7, .k = 4096, .alpha = 1});

        assert_string_equal(first_suited(&p, &d), "coalesced");
    }
}

/* A work-item for every column of a tile, and one for every BLOCK rows. */
static void columns_are_shared_out(void **state)
{
    const problem p =
        matmul_problem((tsr_matmul_problem){.m = 65, .n = 130, .k = 9, .alpha = 1, .batch = 2});
    const device_facts d = gpu();
    const variant *v = find("block-column");
    params chosen;

    (void)state;
    for (size_t c = 0; combination(v, c, &chosen); c++) {
        const size_t tile = param(&chosen, "TILE"), rows = tile / param(&chosen, "BLOCK");
        command s;

        assert_true(v->step(&(job){&p, &d, &chosen, false}, 0, &s));
        assert_int_equal(s.local[0], tile);
        assert_int_equal(s.local[1], rows);
        assert_int_equal(s.global[0], size_div_up(130, tile) * tile);
        assert_int_equal(s.global[1], size_div_up(65, tile) * rows);
    }
}

/* Both ways around bank conflicts are one text: what is built tells them apart. */
static void padding_and_swizzling_differ(void **state)
{
    static const char *const names[] = {"vector", "swizzle"};
    static const char *const has[] = {"-DSWIZZLE=0", "-DSWIZZLE=1"};
    const problem p = matmul_problem((tsr_matmul_problem){.m = 4, .n = 4, .k = 4, .alpha = 1});
    const device_facts d = gpu();

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        const variant *v = find(names[i]);
        const params chosen = params_default(v);
        text options = {0};

        variant_options(v, &(job){&p, &d, &chosen, false}, &options);
        assert_non_null(strstr(text_get(&options), has[i]));
        assert_int_equal(!strstr(text_get(&options), "-DPAD="), i);
        text_free(&options);
    }
}

static void reasons_hold_values(void **state)
{
    const problem small = matmul_problem((tsr_matmul_problem){.m = 4, .n = 4, .k = 4, .alpha = 1});
    problem p = small;
    device_facts d = gpu();

    (void)state;
    d.local_memory = 1024;
    says("tiled", &p, &d, "2048 bytes of local memory", "1024");  /* 2 x 16 x 16 floats */
    says("block", &p, &d, "8192 bytes of local memory", "1024");  /* 2 x 16 x 64 floats */
    says("vector", &p, &d, "8704 bytes of local memory", "1024"); /* 2 x 16 x (64 + 4) floats */
    says("swizzle", &p, &d, "8192 bytes of local memory", "1024");
    says("block-column", &p, &d, "8192 bytes of local memory", "1024");
    d = gpu();
    d.max_work_group = 100;
    says("tiled", &p, &d, "256 work-items", "100");
    says("block-column", &p, &d, "512 work-items", "100");
    d = gpu();
    d.max_work_item[0] = 32;
    says("block-column", &p, &d, "64 x 8", "32 x 1024");
    assert_true(suits("block", &p, &d));
    d = gpu();
    d.max_work_item[1] = 4;
    says("block-column", &p, &d, "64 x 8", "1024 x 4");
    says("tiled", &p, &d, "16 x 16", "1024 x 4");
    d = gpu();
    d.max_work_group = 100;
    p = matmul_problem((tsr_matmul_problem){.m = 128, .n = 128, .alpha = 1});
    says("batched", &p, &d, "512 work-items", "100");
    p = matmul_problem((tsr_matmul_problem){.m = 129, .n = 4, .alpha = 1});
    says("batched", &p, &d, "128 x 128", "129 x 4");
    d = gpu();
    d.local_memory = 512;
    p = small;
    says("batched", &p, &d, "672 bytes of local memory", "512"); /* 8 x 12 + 8 x 8 + 8 floats */
    d = gpu();
    d.fp64 = false;
    matmul_in(&p)->type = TSR_F64;
    says("naive", &p, &d, "no double precision", "");
    p = small;
    d = gpu();
    matmul_in(&p)->m = ((size_t)1 << 31) + 1;
    says("naive", &p, &d, "2147483649 is over 2147483648", "32 bits");
    p = small;
    matmul_in(&p)->ldc = (size_t)1 << 33;
    says("vector", &p, &d, "8589934592 is over 2147483648", "32 bits");
    p = small;
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    says("block", &p, &d, "tf32", "FP32");
    p = small;
    says("cpu-panels", &p, &d, "262144 bytes of private memory", "32768"); /* 4 x 1024 x 64 */
    matmul_in(&p)->precision = TSR_PRECISION_BF16; /* and 6 rows of A of 1024 x 4 */
    says("cpu-panels", &p, &d, "286720 bytes of private memory", "32768");
    p = small;
    /* Sums of blocks would be rounded to 16 bits in C. */
    d = cpu(2);
    matmul_in(&p)->type = TSR_F16;
    matmul_in(&p)->k = 1025;
    says("cpu-panels", &p, &d, "float16", "k is 1025");
    matmul_in(&p)->c_f32 = true;
    assert_true(suits("cpu-panels", &p, &d));
    matmul_in(&p)->c_f32 = false;
    assert_true(suits("cpu-split", &p, &d));
    matmul_in(&p)->k = 1024;
    assert_true(suits("cpu-panels", &p, &d));
}

/* What copies as they are cannot serve, and what a device without them says. */
static void copies_say_what_they_take(void **state)
{
    problem p = matmul_problem((tsr_matmul_problem){.m = 4, .n = 4, .k = 4, .alpha = 1});
    device_facts d = ampere();

    (void)state;
    assert_true(suits("async", &p, &d));
    assert_true(suits("cp-async", &p, &d));
    matmul_in(&p)->precision = TSR_PRECISION_F32_STRICT;
    assert_true(suits("cp-async", &p, &d));
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    says("cp-async", &p, &d, "tf32", "FP32");
    says("async", &p, &d, "tf32", "FP32");
    says("shfl", &p, &d, "tf32", "FP32");
    matmul_in(&p)->precision = TSR_PRECISION_DEFAULT;
    matmul_in(&p)->type = TSR_F64;
    assert_true(suits("async", &p, &d));
    assert_true(suits("subgroup", &p, &d));
    says("cp-async", &p, &d, "it copies float32", "float64");
    matmul_in(&p)->type = TSR_BF16;
    assert_true(suits("shfl", &p, &d));
    says("async", &p, &d, "convert nothing", "bfloat16");
    matmul_in(&p)->type = TSR_F32;
    matmul_in(&p)->batch = 2;
    says("stream-k", &p, &d, "one pair of matrices", "2");
    matmul_in(&p)->batch = 1;
    assert_true(suits("stream-k", &p, &d));
    d.nv_capability = 60;
    d.feature[FEATURE_DEVICE_SCOPE] = FEATURE_NO;
    says("stream-k", &p, &d, "no atomic instruction", "");
    d.nv_capability = 80;
    d.compute_units = 8193; /* and a tile for each group */
    matmul_in(&p)->m = matmul_in(&p)->n = 64 * 1000;
    matmul_in(&p)->k = 8;
    says("stream-k", &p, &d, "share", "16384");
    d.compute_units = 132;
    matmul_in(&p)->m = matmul_in(&p)->n = matmul_in(&p)->k = 4;
    d.large_local = 10000; /* 4 x 8 x (64 + 64 + 8) floats */
    says("cp-async", &p, &d, "17408 bytes of local memory", "10000");
    says("stream-k", &p, &d, "17424 bytes of local memory", "10000");
    d.local_memory = 1024;
    says("async", &p, &d, "16384 bytes of local memory", "1024"); /* 4 x 16 x 64 floats */
    d.max_work_group = 100;
    says("subgroup", &p, &d, "256 work-items", "100");
    says("cp-async", &p, &d, "128 work-items", "100");
    d.feature[FEATURE_ASYNC_COPY] = FEATURE_NO;
    says("cp-async", &p, &d, "async copies", "");
}

/* Precisions that round float32 factors run where kernels round what they load. */
static void every_precision_has_a_kernel(void **state)
{
    const tsr_precision rounds[] = {TSR_PRECISION_TF32, TSR_PRECISION_BF16, TSR_PRECISION_F16};
    const char *const names[] = {"ROUNDED=TF32", "ROUNDED=BF16", "ROUNDED=F16"};
    const char *const kernels[] = {"naive",     "coalesced",  "tiled",
                                   "cpu-block", "cpu-panels", "cpu-split"};
    const device_facts d = cpu(2);

    (void)state;
    for (size_t i = 0; i < COUNT(rounds); i++) {
        const problem p = matmul_problem(
            (tsr_matmul_problem){.m = 4, .n = 4, .k = 4, .alpha = 1, .precision = rounds[i]});

        assert_false(suits("vector", &p, &d));
        for (size_t v = 0; v < COUNT(kernels); v++) {
            const params chosen = params_default(find(kernels[v]));
            text options = {0};

            assert_true(suits(kernels[v], &p, &d));
            variant_options(find(kernels[v]), &(job){&p, &d, &chosen, false}, &options);
            assert_non_null(strstr(text_get(&options), names[i]));
            text_free(&options);
        }
    }
}

/* Up to 2^31 rows the indices fit, and one more is refused: the grid of the last is checked. */
static void the_largest_grid_fits(void **state)
{
    const problem p =
        matmul_problem((tsr_matmul_problem){.m = (size_t)1 << 31, .n = 1, .k = 1, .alpha = 1});
    const device_facts d = gpu();
    size_t suited = 0;

    (void)state;
    for (size_t i = 0; i < operation_matmul.variant_count; i++) {
        const variant *v = operation_matmul.variants[i];
        const params chosen = params_default(v);

        suited += v->source && check_plan(&(job){&p, &d, &chosen, false}, v);
    }
    assert_true(suited > 0);
}

static void alpha_zero_reads_nothing(void **state)
{
    const problem p =
        matmul_problem((tsr_matmul_problem){.m = 4, .n = 5, .k = 6, .alpha = 0, .beta = 2});
    operand o[OPERANDS_MAX];

    (void)state;
    assert_int_equal(operation_matmul.operands(&p, o), 3);
    assert_int_equal(o[0].bytes, 0);
    assert_int_equal(o[1].bytes, 0);
    assert_int_equal(o[2].bytes, 80);
    assert_int_equal(o[2].access, ACCESS_READ_WRITE);
}

/* Compulsory traffic: what is not read does not count. */
static void bytes_are_what_has_to_move(void **state)
{
    const struct {
        tsr_type type;
        double alpha, beta, bytes;
    } cases[] = {{TSR_F32, 1, 0, 4 * (24 + 30 + 20)},
                 {TSR_F32, 1, 2, 4 * (24 + 30 + 40)},
                 {TSR_F32, 0, 2, 4 * 40},
                 {TSR_F32, 0, 0, 4 * 20},
                 {TSR_F64, 0, -1, 8 * 40},
                 {TSR_F16, 1, 1, 2 * (24 + 30 + 40)},
                 {TSR_BF16, 1, 0, 2 * (24 + 30 + 20)},
                 {TSR_F16, 1e-60, 0, 2 * 20}, /* 0 in float32 */
                 {TSR_F16, 1e-10, 0, 2 * 74}, /* but not where it is 0 in float16 */
                 {TSR_F32, 1e-60, 0, 4 * 20}};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const problem p = matmul_problem((tsr_matmul_problem){.type = cases[i].type,
                                                              .m = 4,
                                                              .n = 5,
                                                              .k = 6,
                                                              .alpha = cases[i].alpha,
                                                              .beta = cases[i].beta});

        assert_true(operation_matmul.bytes(&p) == cases[i].bytes);
    }
}

/* A float32 C under operands of 16 bits: its own bytes, in the text, and in the tuning's key. */
static void c_may_be_wider_than_its_factors(void **state)
{
    problem p = matmul_problem(
        (tsr_matmul_problem){.type = TSR_BF16, .m = 4, .n = 5, .k = 6, .alpha = 1, .c_f32 = true});
    operand o[OPERANDS_MAX];
    text t = {0};

    (void)state;
    operation_matmul.operands(&p, o);
    assert_int_equal(o[2].type, TSR_F32);
    assert_int_equal(o[2].bytes, 80);
    assert_int_equal(o[0].bytes, 48);
    assert_true(operation_matmul.bytes(&p) == 2 * 54 + 4 * 20);
    operation_matmul.describe(&p, &t);
    assert_string_equal(text_get(&t), "4x5x6 bfloat16 to float32");
    text_clear(&t);
    operation_matmul.classify(&p, &t);
    assert_string_equal(text_get(&t), "bfloat16 to float32 nn 4x4x4");
    text_free(&t);
}

/* ---- batches ----------------------------------------------------------------------------- */

/* A variant of several commands runs one product after another, each at its own offsets. */
static void products_follow_one_another(void **state)
{
    const device_facts d = cpu(2);
    const variant *v = find("cpu-split");
    const params chosen = params_default(v);
    const problem p = matmul_problem((tsr_matmul_problem){.m = 64,
                                                          .n = 64,
                                                          .k = 1024,
                                                          .alpha = 1,
                                                          .offset_a = 7,
                                                          .batch = 3,
                                                          .stride_a = 100,
                                                          .stride_c = 4096});
    const job j = {&p, &d, &chosen, false};
    command s;

    (void)state;
    assert_int_equal(operation_matmul.check(&p, NULL), TSR_OK);
    for (size_t i = 0; i < 6; i++) {
        assert_true(v->step(&j, i, &s));
        assert_int_equal(s.entry, i % 2);
        if (s.entry == 0)
            assert_int_equal(scalar_u64(&s, ARG_A + 1), 7 + i / 2 * 100);
        else /* n, parts, alpha, workspace, beta, C, its offset */
            assert_int_equal(scalar_u64(&s, 6), i / 2 * 4096);
    }
    assert_false(v->step(&j, 6, &s));
}

/* On the matrix units the variants that pack go from product to product too; those that know no
 * batch say so. */
static void matrix_units_take_batches_or_say_why(void **state)
{
    device_facts d = gpu();
    problem p = matmul_problem((tsr_matmul_problem){.m = 512,
                                                    .n = 512,
                                                    .k = 512,
                                                    .alpha = 1,
                                                    .batch = 3,
                                                    .stride_a = 1 << 18,
                                                    .stride_b = 1 << 18,
                                                    .stride_c = 1 << 18});
    const variant *v = find("wgmma-3xtf32");
    const params chosen = params_default(v);
    const job j = {&p, &d, &chosen, false};
    command s;

    (void)state;
    for (unsigned f = 0; f < FEATURE_COUNT; f++)
        d.feature[f] = FEATURE_YES;
    d.nv_capability = 90;
    d.large_local = 227 << 10;
    assert_true(suits("wgmma-3xtf32", &p, &d));
    for (size_t i = 0; i < 6; i++) {
        assert_true(v->step(&j, i, &s));
        assert_int_equal(s.entry, i % 2);
    }
    assert_false(v->step(&j, 6, &s));
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    assert_true(suits("wgmma-tf32", &p, &d));
    says("wgmma-tensor", &p, &d, "one pair of matrices", "there are 3");
    matmul_in(&p)->precision = TSR_PRECISION_DEFAULT;
    says("wgmma-3xtf32-fused", &p, &d, "one pair of matrices", "there are 3");
}

/* Shared operands count once, in bytes and in traffic; work counts every product. */
static void a_batch_is_counted_as_it_is(void **state)
{
    problem p = matmul_problem((tsr_matmul_problem){.m = 4,
                                                    .n = 5,
                                                    .k = 6,
                                                    .alpha = 1,
                                                    .batch = 10,
                                                    .stride_a = 24,
                                                    .stride_b = 0,
                                                    .stride_c = 23});
    operand o[OPERANDS_MAX];
    text t = {0};

    (void)state;
    assert_int_equal(operation_matmul.check(&p, NULL), TSR_OK);
    operation_matmul.operands(&p, o);
    assert_int_equal(o[0].bytes, 4 * 240);
    assert_int_equal(o[1].bytes, 4 * 30);
    assert_int_equal(o[2].bytes, 4 * (9 * 23 + 20));
    assert_false(o[2].whole);
    assert_true(operation_matmul.work(&p) == 2.0 * 120 * 10);
    assert_true(operation_matmul.bytes(&p) == 4 * (240 + 30 + 200));
    operation_matmul.describe(&p, &t);
    assert_string_equal(text_get(&t), "4x5x6 float32 x 10 strides 24 0 23");
    text_clear(&t);
    matmul_in(&p)->stride_b = 30;
    matmul_in(&p)->stride_c = 20;
    operation_matmul.describe(&p, &t);
    assert_string_equal(text_get(&t), "4x5x6 float32 x 10");
    text_clear(&t);
    operation_matmul.classify(&p, &t);
    assert_string_equal(text_get(&t), "float32 x8 nn 4x4x4");
    operation_matmul.operands(&p, o);
    assert_true(o[2].whole);
    matmul_in(&p)->batch = 1; /* then the strides are not read */
    text_clear(&t);
    operation_matmul.describe(&p, &t);
    assert_string_equal(text_get(&t), "4x5x6 float32");
    operation_matmul.operands(&p, o);
    assert_int_equal(o[0].bytes, 4 * 24);
    text_free(&t);
}

/* Vectors are aligned only where those of every product are. */
static void alignment_is_of_every_product(void **state)
{
    problem p = matmul_problem((tsr_matmul_problem){.m = 64,
                                                    .n = 64,
                                                    .k = 64,
                                                    .alpha = 1,
                                                    .batch = 2,
                                                    .stride_a = 4096,
                                                    .stride_b = 4098,
                                                    .stride_c = 4096});
    const device_facts d = gpu();
    const variant *v = find("pipelined");
    const params chosen = params_default(v);
    text options = {0};

    (void)state;
    variant_options(v, &(job){&p, &d, &chosen, false}, &options);
    assert_non_null(strstr(text_get(&options), "-DALIGNED_A=1 -DALIGNED_B=0 -DALIGNED_C=1"));
    text_free(&options);
}

/* ---- column-major problems --------------------------------------------------------------- */

/* C^T = op(B)^T op(A)^T: the same matrices, row-major, and the same elements in the same place. */
static void column_major_is_the_transpose(void **state)
{
    const problem p = matmul_problem((tsr_matmul_problem){.type = TSR_F64,
                                                          .m = 4,
                                                          .n = 5,
                                                          .k = 6,
                                                          .trans_a = true,
                                                          .alpha = 2,
                                                          .beta = 3,
                                                          .lda = 7,
                                                          .ldc = 9,
                                                          .offset_a = 1,
                                                          .offset_b = 2,
                                                          .offset_c = 3,
                                                          .layout = TSR_COLUMN_MAJOR});
    unsigned order[OPERANDS_MAX];
    const problem q = problem_normal(&p, order);
    operand before[OPERANDS_MAX], after[OPERANDS_MAX];
    text t = {0};

    (void)state;
    assert_int_equal(operation_matmul.check(&p, NULL), TSR_OK);
    assert_int_equal(operation_matmul.check(&q, NULL), TSR_OK);
    assert_int_equal(matmul_of(&q)->layout, TSR_ROW_MAJOR);
    operation_matmul.operands(&p, before);
    operation_matmul.operands(&q, after);
    assert_int_equal(before[0].bytes, 8 * (1 + 3 * 7 + 6)); /* 4 columns of 6 */
    assert_int_equal(before[1].bytes, 8 * (2 + 30));
    assert_int_equal(before[2].bytes, 8 * (3 + 4 * 9 + 4));
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(after[i].bytes, before[order[i]].bytes);
        assert_int_equal(after[i].begin, before[order[i]].begin);
    }
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 5; j++) {
            assert_int_equal(matmul_index_c(matmul_of(&p), i, j), 3 + j * 9 + i);
            assert_int_equal(matmul_index_c(matmul_of(&q), j, i), 3 + j * 9 + i);
            for (size_t x = 0; x < 6; x++) {
                assert_int_equal(matmul_index_a(matmul_of(&p), i, x), 1 + i * 7 + x);
                assert_int_equal(matmul_index_b(matmul_of(&q), x, i), 1 + i * 7 + x);
                assert_int_equal(matmul_index_b(matmul_of(&p), x, j), 2 + j * 6 + x);
                assert_int_equal(matmul_index_a(matmul_of(&q), j, x), 2 + j * 6 + x);
            }
        }
    operation_matmul.describe(&p, &t);
    assert_string_equal(text_get(&t), "4x5x6 float64 column-major A^T alpha 2 beta 3 ld 7 6 9 "
                                      "offsets 1 2 3");
    text_free(&t);
}

/* ---- the check of a problem -------------------------------------------------------------- */

static void refuses(tsr_matmul_problem p, tsr_status status, const char *part)
{
    const problem q = matmul_problem(p);
    tsr_error err = {0};

    assert_int_equal(operation_matmul.check(&q, &err), status);
    if (!strstr(err.message, part))
        fail_msg("'%s' does not say '%s'", err.message, part);
}

static void takes(tsr_matmul_problem p)
{
    const problem q = matmul_problem(p);
    tsr_error err = {0};

    if (operation_matmul.check(&q, &err))
        fail_msg("%s", err.message);
}

static void broken_problems_are_refused(void **state)
{
    const tsr_matmul_problem good = {.m = 4, .n = 5, .k = 6, .alpha = 1};
    const size_t huge = SIZE_MAX / 8;
    tsr_matmul_problem p = good;

    (void)state;
    p.lda = 5;
    refuses(p, TSR_EINVAL, "the leading dimension of A is 5 and it has 6 columns");
    p = good;
    p.trans_b = true;
    p.ldb = 5;
    refuses(p, TSR_EINVAL, "the leading dimension of B is 5 and it has 6 columns");
    p = good;
    p.ldc = 4;
    refuses(p, TSR_EINVAL, "the leading dimension of C is 4 and it has 5 columns");
    p = good;
    p.layout = TSR_COLUMN_MAJOR;
    p.ldb = 5;
    refuses(p, TSR_EINVAL, "the leading dimension of B is 5 and it has 6 rows");
    p.layout = (tsr_layout)2;
    refuses(p, TSR_EINVAL, "no layout has the number 2");
    p = good;
    p.batch = 2;
    p.stride_c = 19;
    refuses(p, TSR_EINVAL,
            "the 2 matrices of C overlap: stride_c is 19, and each takes 20 elements");
    p.stride_c = 0;
    refuses(p, TSR_EINVAL, "stride_c is 0");
    p.ldc = 10; /* side by side: 5 and 5 */
    p.stride_c = 5;
    takes(p);
    p.stride_c = 4;
    refuses(p, TSR_EINVAL, "overlap");
    p.stride_c = 6;
    refuses(p, TSR_EINVAL, "overlap");
    p.layout = TSR_COLUMN_MAJOR; /* columns of 4 */
    takes(p);
    p.stride_c = 7;
    refuses(p, TSR_EINVAL, "overlap");
    p.m = 0; /* nothing is there to overlap */
    takes(p);
    p = good;
    p.batch = (size_t)1 << 62;
    p.stride_c = 20;
    refuses(p, TSR_EOVERFLOW, "4611686018427387904 of them with stride 20");
    p.stride_c = SIZE_MAX;
    p.batch = 3;
    refuses(p, TSR_EOVERFLOW, "C of 4 x 5");
    p = good;
    p.m = p.k = huge;
    refuses(p, TSR_EOVERFLOW, "A of ");
    p = good;
    p.offset_c = SIZE_MAX - 3;
    refuses(p, TSR_EOVERFLOW, "offset 18446744073709551612");
    p = good;
    p.type = TSR_I32;
    refuses(p, TSR_EINVAL, "int32");
    p = good;
    p.precision = TSR_PRECISION_F64;
    refuses(p, TSR_EINVAL, "precision f64 does not go with float32");
    p.type = TSR_F64;
    p.precision = TSR_PRECISION_F32;
    refuses(p, TSR_EINVAL, "precision f32 does not go with float64");
    p.precision = TSR_PRECISION_DEFAULT;
    p.c_f32 = true;
    refuses(p, TSR_EINVAL, "C is float64");
    p = good;
    p.type = TSR_F16;
    p.precision = TSR_PRECISION_BF16;
    refuses(p, TSR_EINVAL, "precision bf16 does not go with float16");
    p.precision = TSR_PRECISION_DEFAULT;
    p.ldc = 4;
    refuses(p, TSR_EINVAL, "the leading dimension of C is 4");
    p = good;
    p.alpha = 1e300;
    p.type = TSR_BF16;
    refuses(p, TSR_EINVAL, "alpha = 1e+300 is beyond what float32 holds");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_keep_the_limits),
        cmocka_unit_test(reasons_hold_values),
        cmocka_unit_test(the_largest_grid_fits),
        cmocka_unit_test(alpha_zero_reads_nothing),
        cmocka_unit_test(bytes_are_what_has_to_move),
        cmocka_unit_test(c_may_be_wider_than_its_factors),
        cmocka_unit_test(every_precision_has_a_kernel),
        cmocka_unit_test(products_follow_one_another),
        cmocka_unit_test(matrix_units_take_batches_or_say_why),
        cmocka_unit_test(a_batch_is_counted_as_it_is),
        cmocka_unit_test(alignment_is_of_every_product),
        cmocka_unit_test(column_major_is_the_transpose),
        cmocka_unit_test(broken_problems_are_refused),
        cmocka_unit_test(preference_of_a_cpu_follows_the_shape),
        cmocka_unit_test(preference_of_a_gpu_counts_products),
        cmocka_unit_test(panels_cover_the_product),
        cmocka_unit_test(batched_groups_hold_the_batch),
        cmocka_unit_test(batched_plan_follows_the_size),
        cmocka_unit_test(wide_registers_hold_larger_blocks),
        cmocka_unit_test(split_workspace_is_bounded),
        cmocka_unit_test(tiles_follow_the_shape),
        cmocka_unit_test(sums_follow_the_tile),
        cmocka_unit_test(told_tiles_are_kept),
        cmocka_unit_test(parts_take_workspace),
        cmocka_unit_test(registers_are_limited_where_they_can_be),
        cmocka_unit_test(broken_tiles_are_refused),
        cmocka_unit_test(chains_follow_the_shape),
        cmocka_unit_test(matrix_units_follow_the_shape),
        cmocka_unit_test(thin_products_are_coalesced),
        cmocka_unit_test(columns_are_shared_out),
        cmocka_unit_test(padding_and_swizzling_differ),
        cmocka_unit_test(copies_and_lanes_cover_the_product),
        cmocka_unit_test(copied_tiles_follow_the_shape),
        cmocka_unit_test(shares_follow_the_shape),
        cmocka_unit_test(copies_say_what_they_take),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
