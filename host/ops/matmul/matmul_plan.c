#include "ops/matmul/matmul_plan.h"

#include <assert.h>

#include "base/sizes.h"
#include "core/groups.h"

/* ---- reasons ----------------------------------------------------------------------------- */

const char *matmul_unsupported_complex(const tsr_matmul_problem *p, plan *out)
{
    if (!type_is_complex(p->type))
        return NULL;
    return plan_unsupported(out, "it multiplies real matrices, and these are %s",
                            tsr_type_name(p->type));
}

const char *matmul_unsupported_sizes(const tsr_matmul_problem *p, plan *out)
{
    const size_t most = (size_t)1 << 31;
    const size_t sizes[] = {p->m, p->n, p->k, matmul_ld_a(p), matmul_ld_b(p), matmul_ld_c(p)};

    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++)
        if (sizes[i] > most)
            return plan_unsupported(
                out, "it indexes rows and columns in 32 bits, and %zu is over %zu", sizes[i], most);
    return NULL;
}

const char *matmul_unsupported_indices(const tsr_matmul_problem *p, plan *out)
{
    const char *why = matmul_unsupported_complex(p, out);

    if (!why && p->type == TSR_I8)
        why = "it adds up floating-point numbers, and the matrices are int8";
    if (!why && type_is_fp8(p->type))
        why = plan_unsupported(out, "it does not take 8 bits an element, and the matrices are %s",
                               tsr_type_name(p->type));
    return why ? why : matmul_unsupported_sizes(p, out);
}

const char *matmul_unsupported_types(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    if (tsr_type_size(p->type) == 1)
        return matmul_unsupported_sizes(p, out);
    return matmul_unsupported_rounding(j, out);
}

const char *matmul_unsupported_portable(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const char *why = matmul_unsupported_indices(p, out);

    return why ? why : real_unsupported(p->type, p->precision, j->device, &out->reason);
}

const char *matmul_unsupported_rounding(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const char *why = matmul_unsupported_indices(p, out);

    return why ? why : real_unsupported(p->type, TSR_PRECISION_DEFAULT, j->device, &out->reason);
}

const char *matmul_unsupported_scales(const tsr_matmul_problem *p, plan *out)
{
    if (!matmul_scaled(p))
        return NULL;
    return plan_unsupported(out, "it does not scale the rows of A or the columns of B");
}

const char *matmul_unsupported_several(const tsr_matmul_problem *p, plan *out)
{
    if (matmul_batch(p) > 1)
        return plan_unsupported(out, "it multiplies one pair of matrices, and there are %zu",
                                matmul_batch(p));
    return NULL;
}

const char *matmul_unsupported_batch(const tsr_matmul_problem *p, plan *out)
{
    const char *why = matmul_unsupported_several(p, out);

    return why ? why : matmul_unsupported_indices(p, out);
}

const char *matmul_unsupported_items(size_t items, size_t limit, plan *out)
{
    if (items <= limit)
        return NULL;
    return plan_unsupported(out, "it needs work-groups of %zu work-items, and the limit is %zu",
                            items, limit);
}

const char *matmul_unsupported_group(const job *j, size_t x, size_t y, size_t local, plan *out)
{
    const size_t most_x = group_limit(j->device, 0), most_y = group_limit(j->device, 1);
    const char *why = matmul_unsupported_items(x * y, j->device->max_work_group, out);

    if (why)
        return why;
    if (x > most_x || y > most_y)
        return plan_unsupported(out,
                                "it needs work-groups of %zu x %zu, and the limit is %zu x %zu", x,
                                y, most_x, most_y);
    return plan_unsupported_local(out, local, j->device->local_memory);
}

/* ---- -Ds --------------------------------------------------------------------------------- */

void matmul_define_operands(const tsr_matmul_problem *p, plan *out)
{
    assert(p->layout == TSR_ROW_MAJOR && "column-major problems are normalized");
    real_defines_elements(p->type, matmul_type_c(p), &out->defines);
    plan_define(out, "TRANS_A=%d", p->trans_a);
    plan_define(out, "TRANS_B=%d", p->trans_b);
}

void matmul_define_rounding(const tsr_matmul_problem *p, plan *out)
{
    static const char *const names[TSR_PRECISION_COUNT] = {
        [TSR_PRECISION_TF32] = "TF32", [TSR_PRECISION_BF16] = "BF16", [TSR_PRECISION_F16] = "F16"};

    plan_define(out, "ROUNDED=%s",
                real_rounding(p->type, p->precision) > 0 ? names[p->precision] : "NOT");
}

void matmul_define_scales(const tsr_matmul_problem *p, plan *out)
{
    plan_define(out, "SCALED=%u", matmul_scaled(p));
}

void matmul_define_aligned(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    plan_define(out, "ALIGNED_A=%d", matmul_aligned(j, matmul_matrix_a(p)));
    plan_define(out, "ALIGNED_B=%d", matmul_aligned(j, matmul_matrix_b(p)));
}

/* ---- commands ---------------------------------------------------------------------------- */

void matmul_layers(command *c, size_t layers)
{
    c->dims = 3;
    c->global[2] = layers;
    c->local[2] = 1;
}

double matmul_asked(const tsr_matmul_problem *p, double of_a, double of_b)
{
    const unsigned scaled = matmul_scaled(p);
    const double of_output =
        (double)tsr_type_size(matmul_type_c(p)) * (matmul_reads_c(p) ? 2 : 1) +
        (double)sizeof(float) * ((scaled & SCALES_A ? 1 : 0) + (scaled & SCALES_B ? 1 : 0));

    return (double)matmul_batch(p) * ((double)tsr_type_size(p->type) * (of_a + of_b) +
                                      of_output * (double)p->m * (double)p->n);
}

static void set_scale(const tsr_matmul_problem *p, double alpha, double beta, matmul_call *call)
{
    if (real_sums(p->type) == TSR_F64) {
        call->scale.f64[0] = alpha;
        call->scale.f64[1] = beta;
    } else if (real_sums(p->type) == TSR_I32) {
        call->scale.i32[0] = (int32_t)alpha;
        call->scale.i32[1] = (int32_t)beta;
    } else {
        call->scale.f32[0] = (float)alpha;
        call->scale.f32[1] = (float)beta;
    }
}

matmul_call matmul_call_of(const tsr_matmul_problem *p)
{
    const size_t k = matmul_k_read(p);
    matmul_call c = {.offset_a = p->offset_a,
                     .offset_b = p->offset_b,
                     .offset_c = p->offset_c,
                     .stride_a = matmul_matrix_a(p).stride,
                     .stride_b = matmul_matrix_b(p).stride,
                     .stride_c = matmul_matrix_c(p).stride,
                     .offset_scale_a = p->offset_scale_a,
                     .offset_scale_b = p->offset_scale_b,
                     .stride_scale_a = matmul_scales_a(p).stride,
                     .stride_scale_b = matmul_scales_b(p).stride,
                     .m = (uint32_t)p->m,
                     .n = (uint32_t)p->n,
                     .k = (uint32_t)k,
                     .lda = (uint32_t)matmul_ld_a(p),
                     .ldb = (uint32_t)matmul_ld_b(p),
                     .ldc = (uint32_t)matmul_ld_c(p),
                     .span = (uint32_t)k,
                     .batch = (uint32_t)matmul_batch(p)};

    set_scale(p, matmul_alpha(p), matmul_beta(p), &c);
    return c;
}

matmul_call matmul_call_of_parts(const tsr_matmul_problem *p, double alpha)
{
    matmul_call c = matmul_call_of(p);

    c.offset_c = 0;
    c.stride_a = c.stride_b = 0;
    c.stride_c = (uint64_t)p->m * p->n;
    c.ldc = (uint32_t)p->n;
    set_scale(p, alpha, 0, &c);
    return c;
}

void matmul_pass(command *c, const tsr_matmul_problem *p, const matmul_call *call)
{
    command_block(c, call,
                  offsetof(matmul_call, scale) + (real_sums(p->type) == TSR_F64
                                                      ? sizeof(call->scale.f64)
                                                      : sizeof(call->scale.f32)));
}

tsr_matmul_problem matmul_turned(const tsr_matmul_problem *p)
{
    tsr_matmul_problem t = *p;

    t.m = p->n;
    t.n = p->m;
    t.trans_a = !p->trans_b;
    t.trans_b = !p->trans_a;
    t.lda = matmul_ld_b(p);
    t.ldb = matmul_ld_a(p);
    t.ldc = matmul_ld_c(p);
    t.offset_a = p->offset_b;
    t.offset_b = p->offset_a;
    t.scale_a = p->scale_b;
    t.scale_b = p->scale_a;
    t.offset_scale_a = p->offset_scale_b;
    t.offset_scale_b = p->offset_scale_a;
    return t;
}

void matmul_factors(command *c, bool turned)
{
    command_operand(c, turned ? MATMUL_B : MATMUL_A);
    command_operand(c, turned ? MATMUL_A : MATMUL_B);
}

void matmul_scales(command *c, const tsr_matmul_problem *p, bool turned)
{
    if (!matmul_scaled(p))
        return;
    command_operand(c, turned ? MATMUL_SCALE_B : MATMUL_SCALE_A);
    command_operand(c, turned ? MATMUL_SCALE_A : MATMUL_SCALE_B);
}

void matmul_arguments(command *c, const tsr_matmul_problem *p)
{
    const matmul_call call = matmul_call_of(p);

    command_operand(c, MATMUL_A);
    command_operand(c, MATMUL_B);
    command_operand(c, MATMUL_C);
    matmul_pass(c, p, &call);
    matmul_scales(c, p, false);
}

/* ---- shapes ------------------------------------------------------------------------------ */

bool matmul_aligned(const job *j, matmul_matrix x)
{
    return j->device->kind != DEVICE_CPU && matmul_starts_at(&x, 4);
}

unsigned matmul_vector_c(const matmul_matrix *c)
{
    const bool fours = c->type != TSR_F64 && matmul_starts_at(c, 4) && c->length % 4 == 0;

    return fours ? 4 : matmul_starts_at(c, 2) ? 2 : 1;
}

double matmul_tiles_a_unit(const tsr_matmul_problem *p, const device_facts *d, size_t tile_m,
                           size_t tile_n)
{
    return (double)size_div_up(p->m, tile_m) * (double)size_div_up(p->n, tile_n) *
           (double)matmul_batch(p) / (double)size_max(d->compute_units, 1);
}

device_facts matmul_known(const device_facts *d)
{
    device_facts known = *d;

    if (known.large_local == 0)
        known.large_local = 226 << 10;
    return known;
}

bool matmul_fills_large(const tsr_matmul_problem *p, const device_facts *d)
{
    return matmul_tiles_a_unit(p, d, 128, 128) >= 1.5;
}

bool matmul_fills_wide(const tsr_matmul_problem *p, const device_facts *d)
{
    return matmul_tiles_a_unit(p, d, 64, 128) >= 0.95;
}

bool matmul_cuts_whole(size_t tile_m, size_t tile_n, size_t sums, size_t depth, size_t items)
{
    const size_t warp_m = sums == 128 ? 64 : 32, warp_n = sums == 32 ? 32 : 64;

    return tile_m % warp_m == 0 && tile_n % warp_n == 0 && tile_m * depth % (4 * items) == 0 &&
           tile_n * depth % (4 * items) == 0;
}
