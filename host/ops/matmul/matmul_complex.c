/* Complex matrices on devices: four real products, one work-item an output, or by the kernels of
 * real products (cl/matmul/matmul_complex_factors.clh). */
#include "ops/matmul/matmul_complex.h"

#include <string.h>

#include "base/sizes.h"
#include "core/groups.h"
#include "ops/matmul/matmul_variants.h"

/* NULL, or that operands are real, or a device without double. */
static const char *unsupported(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    if (!type_is_complex(p->type))
        return plan_unsupported(out, "it multiplies complex matrices, and these are %s",
                                tsr_type_name(p->type));
    return real_unsupported(p->type, TSR_PRECISION_DEFAULT, j->device, &out->reason);
}

static double sign_of(bool conjugate)
{
    return conjugate ? -1 : 1;
}

/* Work-items for a matrix, one an element, a layer for each of several. */
static command *launch(const job *j, unsigned entry, size_t rows, size_t columns, size_t layers,
                       plan *out)
{
    const size_t side = group_fit_square(j->device, 16);
    command *c = plan_launch_2d(out, entry, size_round_up(columns, side), size_round_up(rows, side),
                                side, side);

    matmul_layers(c, layers);
    return c;
}

/* ---- complex-general --------------------------------------------------------------------- */

static const char *plan_general(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const tsr_type part = type_part(p->type);
    const char *why = unsupported(j, out);
    command *c;

    if (!why)
        why = matmul_unsupported_sizes(p, out);
    if (why)
        return why;
    real_defines(p->type, &out->defines);
    plan_define(out, "TRANS_A=%d", p->trans_a);
    plan_define(out, "TRANS_B=%d", p->trans_b);
    if (p->m == 0 || p->n == 0)
        return NULL;
    c = launch(j, 0, p->m, p->n, matmul_batch(p), out);
    matmul_arguments(c, p);
    command_real(c, part, sign_of(p->conj_a));
    command_real(c, part, sign_of(p->conj_b));
    command_real(c, part, matmul_alpha_im(p));
    command_real(c, part, matmul_beta_im(p));
    {
        const double elements = (double)p->m * (double)p->n * (double)matmul_k_read(p);

        c->traffic.requested = matmul_asked(p, elements, elements);
    }
    return NULL;
}

const variant matmul_complex_general = {.name = "complex-general",
                                        .idea = "general for complex matrices: four real products "
                                                "a step, conjugated or not",
                                        .source = "matmul/matmul_complex_general.cl",
                                        .entries = {"matmul_complex_general"},
                                        .plan = plan_general};

/* ---- as a real product ------------------------------------------------------------------- */

/* factor_copy of cl/matmul/matmul_complex_factors.clh. */
typedef struct factor_copy {
    uint64_t from, from_stride;
    uint64_t from_row, from_column;
    uint64_t to;
    uint32_t rows, columns;
} factor_copy;

/* A factor's copies in the workspace. */
typedef struct copies {
    size_t command; /* that makes them */
    size_t numbers; /* in all; 0: there are none, and it is read as it lies */
    size_t at;      /* number of the workspace that they begin at */
} copies;

enum { COPIES_ALIGNED = 64 }; /* to so many numbers */

static factor_copy copy_of(const matmul_matrix *x, bool turned, size_t rows, size_t columns)
{
    return (factor_copy){.from = x->offset,
                         .from_stride = x->stride,
                         .from_row = turned ? 1 : x->ld,
                         .from_column = turned ? x->ld : 1,
                         .rows = (uint32_t)rows,
                         .columns = (uint32_t)columns};
}

/* Append copies of operand `which`, `count` of them; the last arguments, signs, are the caller's to
 * append. */
static command *copy_factor(const job *j, unsigned entry, unsigned which, factor_copy copy,
                            size_t count, plan *out)
{
    command *c = launch(j, entry, copy.rows, copy.columns, count, out);

    command_operand(c, which);
    command_workspace(c);
    command_block(c, &copy, sizeof(copy));
    return c;
}

/* Point what a command reads of an operand at its copies. */
static void read_copies(command *c, unsigned which, const copies *x)
{
    for (unsigned i = 0; i < c->n_args && x->numbers; i++) {
        matmul_call call;

        if (c->arg[i].kind != ARG_OPERAND || c->arg[i].index != which)
            continue;
        c->arg[i] = (command_arg){.kind = ARG_WORKSPACE};
        memcpy(&call, c->block, sizeof(call));
        *(which == MATMUL_A ? &call.offset_a : &call.offset_b) += x->at;
        memcpy(c->block, &call, sizeof(call));
    }
}

/* Give copies their place behind what the workspace holds already. */
static bool place(copies *x, size_t size, plan *out)
{
    size_t bytes;

    if (!x->numbers)
        return true;
    x->at = size_round_up(out->workspace / size, COPIES_ALIGNED);
    return size_add(x->at, x->numbers, &bytes) && size_mul(bytes, size, &bytes) &&
           (out->workspace = bytes, true);
}

const char *matmul_plan_as_real(const job *j, const char *(*plan_real)(const job *j, plan *out),
                                complex_entries entries, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const matmul_matrix a = matmul_matrix_a(p), b = matmul_matrix_b(p), c = matmul_matrix_c(p);
    const bool reads = matmul_k_read(p) && p->m && p->n;
    const char *why = unsupported(j, out);
    tsr_matmul_problem q = *p;
    copies left = {0}, right = {0};
    problem as_real;
    job real = *j;
    size_t size;

    if (!why)
        why = matmul_unsupported_sizes(p, out);
    if (why)
        return why;
    if (matmul_alpha_im(p) != 0 || matmul_beta_im(p) != 0)
        return "it takes real alpha and beta alone: use `complex-general`";
    q.type = type_part(p->type);
    q.n = 2 * p->n;
    q.k = 2 * p->k;
    q.trans_a = q.trans_b = q.conj_a = q.conj_b = false;
    q.lda = p->trans_a ? 2 * p->k : 2 * a.ld;
    q.offset_a = p->trans_a ? 0 : 2 * p->offset_a;
    q.stride_a = !a.stride ? 0 : p->trans_a ? p->m * 2 * p->k : 2 * a.stride;
    q.ldb = q.n;
    q.offset_b = 0;
    q.stride_b = b.stride ? q.k * q.n : 0;
    q.ldc = 2 * c.ld;
    q.offset_c = 2 * p->offset_c;
    q.stride_c = 2 * c.stride;
    size = tsr_type_size(q.type);
    if (reads && p->trans_a) {
        command *copy =
            copy_factor(j, entries.left, MATMUL_A, copy_of(&a, true, p->m, p->k), a.count, out);

        command_real(copy, q.type, sign_of(p->conj_a));
        left = (copies){out->count - 1, a.count * p->m * q.k, 0};
    }
    if (reads) {
        command *copy = copy_factor(j, entries.right, MATMUL_B, copy_of(&b, p->trans_b, p->k, p->n),
                                    b.count, out);

        command_real(copy, q.type, sign_of(p->conj_b));
        command_real(copy, q.type, sign_of(p->conj_a && !p->trans_a));
        right = (copies){out->count - 1, b.count * q.k * q.n, 0};
    }
    as_real = matmul_problem(q);
    real.problem = &as_real;
    why = plan_real(&real, out);
    if (why)
        /* cppcheck-suppress returnDanglingLifetime ; it is static, or the plan has it */
        return why;
    if (out->failed)
        return NULL; /* no memory, as who asked for the plan says */
    if (!place(&left, size, out) || !place(&right, size, out) ||
        out->workspace > j->device->max_allocation)
        return plan_unsupported(out,
                                "its copies of the factors take more than %zu bytes, the most that "
                                "the device allocates at once",
                                (size_t)j->device->max_allocation);
    for (size_t i = reads + (left.numbers != 0); i < out->count; i++) {
        read_copies(&out->commands[i], MATMUL_A, &left);
        read_copies(&out->commands[i], MATMUL_B, &right);
    }
    for (size_t i = 0; i < (size_t)reads + (left.numbers != 0); i++) {
        const copies *x = left.numbers && i == left.command ? &left : &right;
        factor_copy copy;

        memcpy(&copy, out->commands[i].block, sizeof(copy));
        copy.to = x->at / 2;
        memcpy(out->commands[i].block, &copy, sizeof(copy));
    }
    return NULL;
}
