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
#include "ops/matmul_panels.h"
#include "ops/registry.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The arguments of every kernel of the ladder, in order: naive, tiled, block, vector and what
 * shares their launch. */
enum { ARG_M, ARG_N, ARG_K, ARG_ALPHA, ARG_A, ARG_B = 7, ARG_C = 11, ARGS = 14 };

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
        size_t n = 0;

        while (n < TUNABLE_VALUES_MAX && v->tunables[i].values[n])
            n++;
        out->value[i] = v->tunables[i].values[which % n];
        which /= n;
    }
    return which == 0;
}

static uint32_t scalar_u32(const step *s, unsigned arg)
{
    uint32_t value = 0;

    assert_int_equal(s->arg[arg].kind, ARG_SCALAR);
    assert_int_equal(s->arg[arg].bytes, sizeof(value));
    memcpy(&value, s->arg[arg].scalar, sizeof(value));
    return value;
}

static uint64_t scalar_u64(const step *s, unsigned arg)
{
    uint64_t value = 0;

    assert_int_equal(s->arg[arg].kind, ARG_SCALAR);
    assert_int_equal(s->arg[arg].bytes, sizeof(value));
    memcpy(&value, s->arg[arg].scalar, sizeof(value));
    return value;
}

/* Outputs that a work-group covers along each dimension of the grid, from the tunables alone. */
typedef struct cover {
    bool known;      /* this variant is described here */
    bool rows_first; /* rows of C run along x, not columns */
    size_t size[2];
} cover;

static cover cover_of(const variant *v, const job *j, const step *s)
{
    const params *p = j->params;

    if (strcmp(v->name, "naive") == 0)
        return (cover){true, false, {s->local[0], s->local[1]}};
    if (strcmp(v->name, "tiled") == 0)
        return (cover){true, false, {param(p, "TILE"), param(p, "TILE")}};
    if (strcmp(v->name, "block") == 0 || strcmp(v->name, "vector") == 0) {
        const size_t tile = (size_t)param(p, "SIDE") * param(p, "BLOCK");

        return (cover){true, false, {tile, tile}};
    }
    if (strcmp(v->name, "item-block") == 0) {
        const size_t lanes = param(p, "BITS") / 8 / tsr_type_size(j->problem->matmul.type);

        return (cover){true,
                       true,
                       {s->local[0] * param(p, "ROWS"), s->local[1] * param(p, "VECTORS") * lanes}};
    }
    return (cover){0};
}

static void check_launch(const job *j, const variant *v, const step *s)
{
    const tsr_matmul_problem *p = &j->problem->matmul;
    const cover c = cover_of(v, j, s);

    assert_int_equal(s->kind, STEP_LAUNCH);
    assert_int_equal(s->entry, 0);
    assert_true(s->dims == 2 || s->dims == 3);
    assert_true(s->local[0] * s->local[1] <= j->device->max_work_group);
    assert_true(s->dims == 2 || s->local[2] == 1);
    for (unsigned d = 0; d < s->dims; d++) {
        assert_true(s->local[d] > 0 && s->local[d] <= j->device->max_work_item[d]);
        assert_int_equal(s->global[d] % s->local[d], 0);
        assert_true(s->global[d] < (uint64_t)1 << 32); /* what a 32-bit index can count */
    }
    if (!c.known)
        return;
    /* All of C, and no group without an output. */
    assert_int_equal(s->global[0] / s->local[0],
                     size_div_up(c.rows_first ? p->m : p->n, c.size[0]));
    assert_int_equal(s->global[1] / s->local[1],
                     size_div_up(c.rows_first ? p->n : p->m, c.size[1]));
}

static void check_arguments(const job *j, const step *s)
{
    const tsr_matmul_problem *p = &j->problem->matmul;
    const size_t real = tsr_type_size(p->type);

    assert_int_equal(s->n_args, ARGS);
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

/* Bytes of local memory, as the head of each kernel states them. */
static size_t local_bytes(const variant *v, const params *p, size_t real)
{
    if (strcmp(v->name, "tiled") == 0)
        return 2 * (size_t)param(p, "TILE") * param(p, "TILE") * real;
    if (strcmp(v->name, "block") == 0)
        return 2 * (size_t)param(p, "DEPTH") * param(p, "SIDE") * param(p, "BLOCK") * real;
    if (strcmp(v->name, "vector") == 0)
        return 2 * (size_t)param(p, "DEPTH") *
               (param(p, "SIDE") * param(p, "BLOCK") + 4 * param(p, "PAD")) * real;
    return 0;
}

/* Returns whether the variant takes the problem. */
static bool check_plan(const job *j, const variant *v)
{
    const tsr_matmul_problem *p = &j->problem->matmul;
    step s;
    text reason = {0};
    const bool suited = !variant_unsuited(v, j, &reason);

    text_free(&reason);
    if (!suited)
        return false;
    assert_true(p->type != TSR_F64 || j->device->fp64);
    assert_true(local_bytes(v, j->params, tsr_type_size(p->type)) <= j->device->local_memory);
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

static size_t check_device(const device_facts *d)
{
    size_t suited = 0;
    problem p;

    for (size_t i = 0; i < operation_matmul.variant_count; i++) {
        const variant *v = &operation_matmul.variants[i];
        params chosen;
        bool more = v->source != NULL;

        /* Of many combinations each meets every 11th problem, beginning with another one. */
        for (size_t c = 0; more && combination(v, c, &chosen); c++)
            for (size_t n = v->tunable_count > 3 ? c % 11 : 0; operation_matmul.sweep(n, false, &p);
                 n += v->tunable_count > 3 ? 11 : 1)
                suited += check_plan(&(job){&p, d, &chosen}, v);
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
    const tsr_matmul_problem *p = &j->problem->matmul;
    const size_t deepest = param(j->params, "DEPTH");
    const size_t panel =
        (size_t)param(j->params, "VECTORS") * param(j->params, "BITS") / 8 / tsr_type_size(p->type);
    const size_t k = p->alpha == 0 ? 0 : p->k;

    assert_int_equal(s->rows % param(j->params, "ROWS"), 0);
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
    const variant *v = find("item-split");
    const tsr_matmul_problem *p = &j->problem->matmul;
    const size_t bytes = s->parts * p->m * p->n * tsr_type_size(p->type);
    step first, second, none;

    assert_int_equal(v->workspace(j), bytes);
    assert_true(v->step(j, 0, &first));
    assert_true(v->step(j, 1, &second));
    assert_false(v->step(j, 2, &none));
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
    static const char *const names[] = {"item-panels", "item-split"};
    problem p;

    (void)state;
    for (size_t c = 0; c < COUNT(cores); c++)
        for (size_t n = 0; operation_matmul.sweep(n, false, &p); n++)
            for (size_t i = 0; i < COUNT(names); i++) {
                const device_facts d = cpu(cores[c]);
                params chosen;

                if (p.matmul.m == 0 || p.matmul.n == 0)
                    continue;
                /* Every 13th, from another one each time: in all, each meets many problems. */
                for (size_t w = n % 13; combination(find(names[i]), w, &chosen); w += 13) {
                    const job j = {&p, &d, &chosen};
                    const panels_share s =
                        i ? matmul_panels_share_split(&j) : matmul_panels_share(&j);

                    check_share(&j, &s);
                    if (i)
                        check_split(&j, &s);
                }
            }
}

/* What parts of k cost: at most 8 copies of C for each core, however long k is. */
static void split_workspace_is_bounded(void **state)
{
    const device_facts d = cpu(16);
    const params chosen = params_default(find("item-split"));
    problem p = {.op = &operation_matmul,
                 .matmul = {.m = 64, .n = 64, .k = (size_t)1 << 31, .alpha = 1}};
    const job j = {&p, &d, &chosen};

    (void)state;
    assert_int_equal(find("item-split")->workspace(&j), 128 * 64 * 64 * sizeof(float));
    p.matmul.k = 1000; /* of 256 or more each */
    assert_int_equal(find("item-split")->workspace(&j), 3 * 64 * 64 * sizeof(float));
    p.matmul.m = p.matmul.n = 2000; /* C alone gives enough work-items */
    p.matmul.k = 100000;
    assert_int_equal(find("item-split")->workspace(&j), sizeof(float) * 2000 * 2000);
}

static void prefers(const char *name, size_t m, size_t n, size_t k)
{
    const device_facts d = cpu(2);
    const problem p = {.op = &operation_matmul, .matmul = {.m = m, .n = n, .k = k, .alpha = 1}};
    const char *names[PREFERENCES_MAX];

    assert_true(operation_matmul.prefer(&p, &d, names) > 1);
    assert_string_equal(names[0], name);
}

static void preference_of_a_cpu_follows_the_shape(void **state)
{
    (void)state;
    prefers("item-panels", 256, 256, 256);
    prefers("item-panels", 4096, 64, 4096);
    prefers("item-panels", 64, 4096, 64);
    prefers("item-panels", 4096, 1, 4096); /* narrower than a vector */
    prefers("item-split", 64, 64, 16384);
    prefers("item-split", 128, 128, 16384);
    prefers("item-block", 64, 64, 64); /* copying costs more than it saves */
    prefers("item-block", 4, 4096, 4096);
}

/* ---- reasons, with their values ---------------------------------------------------------- */

static void says(const char *name, const problem *p, const device_facts *d, const char *part1,
                 const char *part2)
{
    const variant *v = find(name);
    const params chosen = params_default(v);
    text reason = {0};
    const char *why = variant_unsuited(v, &(job){p, d, &chosen}, &reason);

    if (!why || !strstr(why, part1) || !strstr(why, part2))
        fail_msg("%s: '%s' does not say '%s' and '%s'", name, why ? why : "suited", part1, part2);
    text_free(&reason);
}

static void reasons_hold_values(void **state)
{
    const problem small = {.op = &operation_matmul, .matmul = {.m = 4, .n = 4, .k = 4, .alpha = 1}};
    problem p = small;
    device_facts d = gpu();

    (void)state;
    d.local_memory = 1024;
    says("tiled", &p, &d, "2048 bytes of local memory", "1024");  /* 2 x 16 x 16 floats */
    says("block", &p, &d, "8192 bytes of local memory", "1024");  /* 2 x 16 x 64 floats */
    says("vector", &p, &d, "8704 bytes of local memory", "1024"); /* 2 x 16 x (64 + 4) floats */
    d = gpu();
    d.max_work_group = 100;
    says("tiled", &p, &d, "256 work-items", "100");
    d = gpu();
    d.fp64 = false;
    p.matmul.type = TSR_F64;
    says("naive", &p, &d, "no double precision", "");
    p = small;
    d = gpu();
    p.matmul.m = ((size_t)1 << 31) + 1;
    says("naive", &p, &d, "2147483649 is over 2147483648", "32 bits");
    p = small;
    p.matmul.ldc = (size_t)1 << 33;
    says("vector", &p, &d, "8589934592 is over 2147483648", "32 bits");
    p = small;
    p.matmul.precision = TSR_PRECISION_TF32;
    says("block", &p, &d, "tf32", "FP32");
    p = small;
    says("item-panels", &p, &d, "262144 bytes of private memory", "32768"); /* 4 x 1024 x 64 */
}

/* Up to 2^31 rows the indices fit, and one more is refused: the grid of the last is checked. */
static void the_largest_grid_fits(void **state)
{
    const problem p = {.op = &operation_matmul,
                       .matmul = {.m = (size_t)1 << 31, .n = 1, .k = 1, .alpha = 1}};
    const device_facts d = gpu();
    size_t suited = 0;

    (void)state;
    for (size_t i = 0; i < operation_matmul.variant_count; i++) {
        const variant *v = &operation_matmul.variants[i];
        const params chosen = params_default(v);

        suited += v->source && check_plan(&(job){&p, &d, &chosen}, v);
    }
    assert_true(suited > 0);
}

static void alpha_zero_reads_nothing(void **state)
{
    const problem p = {.op = &operation_matmul,
                       .matmul = {.m = 4, .n = 5, .k = 6, .alpha = 0, .beta = 2}};
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
                 {TSR_F32, 1e-60, 0, 4 * 20}}; /* 0 in float32 */

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const problem p = {.op = &operation_matmul,
                           .matmul = {.type = cases[i].type,
                                      .m = 4,
                                      .n = 5,
                                      .k = 6,
                                      .alpha = cases[i].alpha,
                                      .beta = cases[i].beta}};

        assert_true(operation_matmul.bytes(&p) == cases[i].bytes);
    }
}

/* ---- the check of a problem -------------------------------------------------------------- */

static void refuses(tsr_matmul_problem p, tsr_status status, const char *part)
{
    const problem q = {.op = &operation_matmul, .matmul = p};
    tsr_error err = {0};

    assert_int_equal(operation_matmul.check(&q, &err), status);
    if (!strstr(err.message, part))
        fail_msg("'%s' does not say '%s'", err.message, part);
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
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_keep_the_limits),
        cmocka_unit_test(reasons_hold_values),
        cmocka_unit_test(the_largest_grid_fits),
        cmocka_unit_test(alpha_zero_reads_nothing),
        cmocka_unit_test(bytes_are_what_has_to_move),
        cmocka_unit_test(broken_problems_are_refused),
        cmocka_unit_test(preference_of_a_cpu_follows_the_shape),
        cmocka_unit_test(panels_cover_the_product),
        cmocka_unit_test(split_workspace_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
