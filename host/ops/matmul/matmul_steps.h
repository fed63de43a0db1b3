/** What every kernel of matmul is told of its operands, and how large they may be. */
#ifndef OPS_MATMUL_STEPS_H
#define OPS_MATMUL_STEPS_H

#include <assert.h>

#include "base/sizes.h"
#include "core/groups.h"
#include "core/variant.h"
#include "ops/matmul/matmul_shape.h"

/* How elements are stored and what they are added up in: cl/matmul/matmul_elements.clh. */
static inline void matmul_defines_types(const tsr_matmul_problem *p, text *out)
{
    assert(p->layout == TSR_ROW_MAJOR && "column-major problems are normalized");
    real_defines_elements(p->type, matmul_type_c(p), out);
}

/* The same, and which operands are transposed. */
static inline void matmul_defines_operands(const tsr_matmul_problem *p, text *out)
{
    matmul_defines_types(p, out);
    text_format(out, " -DTRANS_A=%d -DTRANS_B=%d", p->trans_a, p->trans_b);
}

/* The same, and what factors are rounded to as they are loaded: cl/matmul/matmul_rounded.clh. */
static inline void matmul_defines_rounding(const tsr_matmul_problem *p, text *out)
{
    static const char *const names[TSR_PRECISION_COUNT] = {
        [TSR_PRECISION_TF32] = "TF32", [TSR_PRECISION_BF16] = "BF16", [TSR_PRECISION_F16] = "F16"};

    matmul_defines_operands(p, out);
    text_format(out, " -DROUNDED=%s",
                real_rounding(p->type, p->precision) > 0 ? names[p->precision] : "NOT");
}

/* The tunables that are 0, which leaves their value to the shape, as what it made of them. */
static inline void matmul_defines_settled(const job *j, const tunable *tunables,
                                          const uint32_t *values, size_t n, text *out)
{
    for (size_t i = 0; i < n; i++)
        if (param(j->params, tunables[i].name) == 0)
            text_format(out, " -D%s=%u", tunables[i].name, values[i]);
}

/* So many layers of a grid: products of a batch, or parts of k. */
static inline void matmul_step_layers(command *s, size_t layers)
{
    s->dims = 3;
    s->global[2] = layers;
    s->local[2] = 1;
}

/* The arguments of A and B: array, offset, leading dimension. */
static inline void matmul_step_inputs(command *s, const tsr_matmul_problem *p)
{
    command_operand(s, MATMUL_A);
    command_u64(s, p->offset_a);
    command_u32(s, (uint32_t)matmul_ld_a(p));
    command_operand(s, MATMUL_B);
    command_u64(s, p->offset_b);
    command_u32(s, (uint32_t)matmul_ld_b(p));
}

/* The arguments of C: beta, array, offset, leading dimension. */
static inline void matmul_step_output(command *s, const tsr_matmul_problem *p)
{
    command_real(s, p->type, p->beta);
    command_operand(s, MATMUL_C);
    command_u64(s, p->offset_c);
    command_u32(s, (uint32_t)matmul_ld_c(p));
}

/* The same where sums of parts of k go into the workspace, matrix after matrix of m x n. */
static inline void matmul_step_parts(command *s, const tsr_matmul_problem *p)
{
    command_real(s, p->type, 0);
    command_workspace(s);
    command_u64(s, 0);
    command_u32(s, (uint32_t)p->n);
}

/* What most kernels begin with: sizes, alpha, A and B, beta, C. */
static inline void matmul_step_product(command *s, const tsr_matmul_problem *p)
{
    command_u32(s, (uint32_t)p->m);
    command_u32(s, (uint32_t)p->n);
    command_u32(s, (uint32_t)matmul_k_read(p));
    command_real(s, p->type, matmul_alpha(p));
    matmul_step_inputs(s, p);
    matmul_step_output(s, p);
}

/* The last arguments of kernels that take batches: from product to product of A, B and C. */
static inline void matmul_step_strides(command *s, const tsr_matmul_problem *p)
{
    command_u64(s, matmul_matrix_a(p).stride);
    command_u64(s, matmul_matrix_b(p).stride);
    command_u64(s, matmul_matrix_c(p).stride);
}

/* Command i of a variant that runs a batch product by product: `one` yields those of one. */
static inline bool matmul_step_each(const job *j, size_t i, command *out,
                                    bool (*one)(const job *j, size_t i, command *out))
{
    problem q = *j->problem;
    const job product = {&q, j->device, j->params, false};
    size_t count = 0;

    *matmul_in(&q) = matmul_product(matmul_of(j->problem), 0);
    while (one(&product, count, out))
        count++;
    if (count == 0 || i / count >= matmul_batch(matmul_of(j->problem)))
        return false;
    *matmul_in(&q) = matmul_product(matmul_of(j->problem), i / count);
    return one(&product, i % count, out);
}

/* Whether vectors of four are aligned: buffers of a device are, host memory that a CPU's buffer
 * may lie in need not be. */
static inline bool matmul_aligned(const job *j, matmul_matrix x)
{
    return j->device->kind != DEVICE_CPU && matmul_starts_at(&x, 4);
}

/* Tiles of C of tile_m x tile_n for each compute unit. */
static inline double matmul_tiles_a_unit(const tsr_matmul_problem *p, const device_facts *d,
                                         size_t tile_m, size_t tile_n)
{
    return (double)size_div_up(p->m, tile_m) * (double)size_div_up(p->n, tile_n) *
           (double)matmul_batch(p) / (double)size_max(d->compute_units, 1);
}

/* Whether tiles of 128 x 128 fill the device, two groups on a unit. */
static inline bool matmul_fills_large(const tsr_matmul_problem *p, const device_facts *d)
{
    return matmul_tiles_a_unit(p, d, 128, 128) >= 1.5;
}

/* Whether tiles of 64 x 128 do, one group on a unit. */
static inline bool matmul_fills_wide(const tsr_matmul_problem *p, const device_facts *d)
{
    return matmul_tiles_a_unit(p, d, 64, 128) >= 0.95;
}

/* Whether `sums` outputs a work-item cut a tile into whole warps, and `items` work-items bring
 * tiles `depth` along k in whole vectors. */
static inline bool matmul_cuts_whole(size_t tile_m, size_t tile_n, size_t sums, size_t depth,
                                     size_t items)
{
    const size_t warp_m = sums == 128 ? 64 : 32, warp_n = sums == 32 ? 32 : 64;

    return tile_m % warp_m == 0 && tile_n % warp_n == 0 && tile_m * depth % (4 * items) == 0 &&
           tile_n * depth % (4 * items) == 0;
}

/* NULL, or that a size exceeds what kernels index in 32 bits. */
static inline const char *matmul_unsupported_indices(const tsr_matmul_problem *p, text *reason)
{
    const size_t most = (size_t)1 << 31;
    const size_t sizes[] = {p->m, p->n, p->k, matmul_ld_a(p), matmul_ld_b(p), matmul_ld_c(p)};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (sizes[i] <= most)
            continue;
        text_format(reason, "it indexes rows and columns in 32 bits, and %zu is over %zu", sizes[i],
                    most);
        return text_get(reason);
    }
    return NULL;
}

/* The same, or why chains of multiply-adds on this device cannot serve. */
static inline const char *matmul_unsupported_portable(const job *j, text *reason)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const char *why = matmul_unsupported_indices(p, reason);

    return why ? why : real_unsupported(p->type, p->precision, j->device, reason);
}

/* The same for kernels that round factors themselves. */
static inline const char *matmul_unsupported_rounding(const job *j, text *reason)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const char *why = matmul_unsupported_indices(p, reason);

    return why ? why : real_unsupported(p->type, TSR_PRECISION_DEFAULT, j->device, reason);
}

/* The same as matmul_unsupported_indices for variants that know no batch. */
static inline const char *matmul_unsupported_sizes(const tsr_matmul_problem *p, text *reason)
{
    if (matmul_batch(p) > 1) {
        text_format(reason, "it multiplies one pair of matrices, and there are %zu",
                    matmul_batch(p));
        return text_get(reason);
    }
    return matmul_unsupported_indices(p, reason);
}

/* NULL, or that groups of so many work-items exceed the limit. */
static inline const char *matmul_unsupported_items(size_t items, size_t limit, text *reason)
{
    if (items <= limit)
        return NULL;
    text_format(reason, "it needs work-groups of %zu work-items, and the limit is %zu", items,
                limit);
    return text_get(reason);
}

/* NULL, or that so much local memory exceeds what there is. */
static inline const char *matmul_unsupported_bytes(size_t bytes, size_t limit, text *reason)
{
    if (bytes <= limit)
        return NULL;
    text_format(reason, "it needs %zu bytes of local memory, and there are %zu", bytes, limit);
    return text_get(reason);
}

/* NULL, or why not: chains of multiply-adds in work-groups of x by y with `local` bytes of local
 * memory. */
static inline const char *matmul_unsupported_group(const job *j, size_t x, size_t y, size_t local,
                                                   text *reason)
{
    const char *why = matmul_unsupported_portable(j, reason);

    if (!why)
        why = matmul_unsupported_items(x * y, j->device->max_work_group, reason);
    if (why)
        return why;
    if (x > group_limit(j->device, 0) || y > group_limit(j->device, 1)) {
        text_format(reason, "it needs work-groups of %zu x %zu, and the limit is %zu x %zu", x, y,
                    group_limit(j->device, 0), group_limit(j->device, 1));
        return text_get(reason);
    }
    return matmul_unsupported_bytes(local, j->device->local_memory, reason);
}

/* NULL, or that stages of so many bytes exceed the local memory that the device was seen to give.
 */
static inline const char *matmul_unsupported_local(const job *j, size_t bytes, text *reason)
{
    if (bytes <= j->device->large_local)
        return NULL;
    text_format(reason, "its stages take %zu bytes of local memory, and there are %zu", bytes,
                j->device->large_local);
    return text_get(reason);
}

#endif
