/* Copies of matrices that are not aligned, as the fused variant's plan for Hopper has them, made on
 * a device.  Needs an OpenCL device of the type CPU, such as PoCL's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/sizes.h"
#include "core/registry.h"
#include "ops/matmul/matmul_plan.h"
#include "session/program.h"

enum { GUARD = 64 }; /* floats beyond the workspace, which stay as they are */

static const float untouched = -77;

typedef struct fixture {
    tsr_devices *list;
    tsr_session *session;
} fixture;

static int make_fixture(void **state)
{
    fixture *f = calloc(1, sizeof(*f));
    const tsr_session_options options = {.no_cache = 1};
    const tsr_device *device = NULL;
    tsr_error err = {0};
    size_t n = 0;

    assert_non_null(f);
    *state = f;
    assert_int_equal(tsr_devices_find(&f->list, &err), TSR_OK);
    if (tsr_devices_select(f->list, "cpu", &device, 1, &n, &err) ||
        tsr_session_open(device, &options, &f->session, &err))
        fail_msg("%s", err.message);
    return 0;
}

static int drop_fixture(void **state)
{
    fixture *f = *state;

    tsr_session_close(f->session);
    tsr_devices_close(f->list);
    free(f);
    return 0;
}

static cl_mem buffer_of(tsr_session *s, size_t floats, float *values)
{
    cl_mem b = clCreateBuffer(s->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                              floats * sizeof(float), values, NULL);

    assert_non_null(b);
    return b;
}

/* Run a command that copies, of a program with these -Ds. */
static void copy(tsr_session *s, const command *st, const char *defines, const cl_mem operands[2],
                 cl_mem workspace)
{
    const program_entry *entry = NULL;
    program *built = NULL;
    tsr_error err = {0};

    if (program_get(s, "matmul/matmul_align.clh", defines, " matmul_align", &built, &err) ||
        program_kernel(built, "matmul_align", &entry, &err))
        fail_msg("%s", err.message);
    for (unsigned i = 0; i < st->n_args; i++) {
        const command_arg *a = &st->arg[i];
        const void *value = a->kind == ARG_OPERAND     ? (const void *)&operands[a->index]
                            : a->kind == ARG_WORKSPACE ? (const void *)&workspace
                                                       : a->scalar;

        assert_int_equal(clSetKernelArg(entry->kernel, i,
                                        a->kind == ARG_SCALAR ? a->bytes : sizeof(cl_mem), value),
                         CL_SUCCESS);
    }
    assert_int_equal(clEnqueueNDRangeKernel(s->queue, entry->kernel, st->dims, NULL, st->global,
                                            st->local, 0, NULL, NULL),
                     CL_SUCCESS);
}

/* A (0) or B (1) as the multiplication reads it: lines as in `x`, and zeros up to multiples of
 * whole tiles. */
static void check_copy(const command *multiply, unsigned arg, const float *workspace,
                       const matmul_matrix *x, const float *values, size_t line_unit,
                       size_t length_unit)
{
    matmul_call call;
    uint64_t offset;
    uint32_t ld;

    assert_int_equal(multiply->arg[arg].kind, ARG_WORKSPACE);
    memcpy(&call, multiply->block, sizeof(call));
    offset = arg == 0 ? call.offset_a : call.offset_b;
    ld = arg == 0 ? call.lda : call.ldb;
    assert_int_equal(offset % 32, 0);
    assert_int_equal(ld % 32, 0);
    for (size_t l = 0; l < size_round_up(x->lines, line_unit); l++)
        for (size_t e = 0; e < size_round_up(x->length, length_unit); e++) {
            const bool inside = l < x->lines && e < x->length;
            const float wanted = inside ? values[x->offset + l * x->ld + e] : 0;

            if (workspace[offset + l * ld + e] != wanted)
                fail_msg("operand %u, line %zu, element %zu: %g, not %g", arg, l, e,
                         (double)workspace[offset + l * ld + e], (double)wanted);
        }
}

/* From 1 on, so that no two elements are alike and none is 0. */
static float *numbers(const matmul_matrix *x, size_t *count)
{
    float *v;

    *count = x->offset + x->lines * x->ld;
    v = malloc(*count * sizeof(*v));
    assert_non_null(v);
    for (size_t i = 0; i < *count; i++)
        v[i] = (float)(i + 1);
    return v;
}

static void check(tsr_session *s, const tsr_matmul_problem *p)
{
    device_facts d = {.kind = DEVICE_GPU,
                      .large_local = 231424,
                      .max_allocation = (uint64_t)1 << 32,
                      .global_memory = (uint64_t)1 << 33};
    const problem q = matmul_problem(*p);
    const matmul_matrix a = matmul_matrix_a(p), b = matmul_matrix_b(p);
    const variant *v = NULL;
    params chosen;
    job j = {&q, &d, &chosen, false};
    float *values[2], *result;
    cl_mem operands[2], workspace;
    size_t count[2], n;
    plan x;

    assert_int_equal(variant_find(&operation_matmul, "wgmma-3xtf32-fused", &v, NULL), TSR_OK);
    chosen = params_default(v);
    assert_int_equal(params_set(v, &chosen, "ALIGN=2", NULL), TSR_OK);
    for (int f = 0; f < FEATURE_COUNT; f++)
        d.feature[f] = FEATURE_YES;
    assert_null(plan_make(v, &j, &x));
    n = x.workspace / sizeof(float);
    result = malloc((n + GUARD) * sizeof(*result));
    assert_non_null(result);
    for (size_t i = 0; i < n + GUARD; i++)
        result[i] = untouched;
    values[0] = numbers(&a, &count[0]);
    values[1] = numbers(&b, &count[1]);
    for (size_t i = 0; i < 2; i++)
        operands[i] = buffer_of(s, count[i], values[i]);
    workspace = buffer_of(s, n + GUARD, result);
    assert_int_equal(x.count, 3);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(v->entries[x.commands[i].entry], "matmul_align");
        copy(s, &x.commands[i], text_get(&x.defines), operands, workspace);
    }
    assert_string_equal(v->entries[x.commands[2].entry], "matmul_wgmma_fused");
    assert_int_equal(clEnqueueReadBuffer(s->queue, workspace, CL_TRUE, 0,
                                         (n + GUARD) * sizeof(*result), result, 0, NULL, NULL),
                     CL_SUCCESS);
    /* Tiles of 128 x 256, two blocks of 16 along k. */
    check_copy(&x.commands[2], 0, result, &a, values[0], p->trans_a ? 32 : 128,
               p->trans_a ? 128 : 32);
    check_copy(&x.commands[2], 1, result, &b, values[1], p->trans_b ? 256 : 32,
               p->trans_b ? 32 : 256);
    for (size_t i = 0; i < GUARD; i++)
        assert_true(result[n + i] == untouched);
    for (size_t i = 0; i < 2; i++) {
        clReleaseMemObject(operands[i]);
        free(values[i]);
    }
    clReleaseMemObject(workspace);
    plan_free(&x);
    free(result);
}

static void test_copies_are_whole(void **state)
{
    static const tsr_matmul_problem cases[] = {
        {.m = 131, .n = 259, .k = 1031}, /* pieces of a line */
        {.m = 131, .n = 259, .k = 71, .trans_a = true, .trans_b = true},
        {.m = 1, .n = 1, .k = 65, .lda = 67, .ldb = 3},
        {.m = 128, .n = 256, .k = 64, .offset_a = 1, .offset_b = 6}, /* nothing to pad */
        {.m = 1023, .n = 2047, .k = 95, .trans_a = true, .lda = 1025, .offset_b = 3},
    };
    fixture *f = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        tsr_matmul_problem p = cases[i];

        p.alpha = 1;
        check(f->session, &p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_copies_are_whole)};

    return cmocka_run_group_tests(tests, make_fixture, drop_fixture);
}
