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
    assert_int_equal(s->dims, 2);
    assert_true(s->local[0] * s->local[1] <= j->device->max_work_group);
    for (unsigned d = 0; d < 2; d++) {
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

        for (size_t c = 0; more && combination(v, c, &chosen); c++)
            for (size_t n = 0; operation_matmul.sweep(n, false, &p); n++)
                suited += check_plan(&(job){&p, d, &chosen}, v);
    }
    return suited;
}

static void plans_keep_the_limits(void **state)
{
    device_facts devices[7];

    (void)state;
    for (size_t i = 0; i < COUNT(devices); i++)
        devices[i] = gpu();
    devices[1].local_memory = 1024;
    devices[2].local_memory = 16384;
    devices[3].fp64 = false;
    devices[4].max_work_group = 64;
    devices[5].max_work_group = 1; /* what some drivers allow where there is a barrier */
    devices[6].max_work_group = 100;
    for (size_t i = 0; i < COUNT(devices); i++)
        assert_true(check_device(&devices[i]) > 0); /* on each something runs */
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
        cmocka_unit_test(plans_keep_the_limits),      cmocka_unit_test(reasons_hold_values),
        cmocka_unit_test(the_largest_grid_fits),      cmocka_unit_test(alpha_zero_reads_nothing),
        cmocka_unit_test(bytes_are_what_has_to_move), cmocka_unit_test(broken_problems_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
