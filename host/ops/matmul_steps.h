/** What every kernel of matmul is told of its operands, and how large they may be. */
#ifndef OPS_MATMUL_STEPS_H
#define OPS_MATMUL_STEPS_H

#include "ops/matmul_shape.h"
#include "ops/variant.h"

/* The arguments of A and B: array, offset, leading dimension. */
static inline void matmul_step_inputs(step *s, const tsr_matmul_problem *p)
{
    step_operand(s, MATMUL_A);
    step_u64(s, p->offset_a);
    step_u32(s, (uint32_t)matmul_ld_a(p));
    step_operand(s, MATMUL_B);
    step_u64(s, p->offset_b);
    step_u32(s, (uint32_t)matmul_ld_b(p));
}

/* The arguments of C: beta, array, offset, leading dimension. */
static inline void matmul_step_output(step *s, const tsr_matmul_problem *p)
{
    step_real(s, p->type, p->beta);
    step_operand(s, MATMUL_C);
    step_u64(s, p->offset_c);
    step_u32(s, (uint32_t)matmul_ld_c(p));
}

/* NULL, or that a size exceeds what kernels index in 32 bits. */
static inline const char *matmul_unsuited_sizes(const tsr_matmul_problem *p, text *reason)
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

/* NULL, or that stages of so many bytes exceed the local memory that the device was seen to give.
 */
static inline const char *matmul_unsuited_local(const job *j, size_t bytes, text *reason)
{
    if (bytes <= j->device->large_local)
        return NULL;
    text_format(reason, "its stages take %zu bytes of local memory, and there are %zu", bytes,
                j->device->large_local);
    return text_get(reason);
}

#endif
