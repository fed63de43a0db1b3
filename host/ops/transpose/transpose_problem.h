/** Problems of transpose as its files read them, and what its descriptor is made of. */
#ifndef OPS_TRANSPOSE_PROBLEM_H
#define OPS_TRANSPOSE_PROBLEM_H

#include "base/sizes.h"
#include "core/variant.h"
#include "core/view.h"
#include "stream/partition.h"
#include "tessera/transpose.h"

extern const operation operation_transpose;

/** transpose_command.c */
extern const operation_command transpose_command;

/** transpose_host.c: C, on the host, the last one on CPUs too. */
extern const variant transpose_loop, transpose_simd;

/** transpose_device.c: kernels. */
extern const variant transpose_read_coalesced, transpose_write_coalesced, transpose_tile,
    transpose_padded, transpose_swizzle, transpose_vector, transpose_in_place, transpose_general;

/* The operands, in order. */
enum { TRANSPOSE_A, TRANSPOSE_B, TRANSPOSE_OPERANDS };

enum { ELEMENT_BYTES_MAX = 16 };

/* The problem's structure, to read. */
static inline const tsr_transpose_problem *transpose_of(const problem *p)
{
    return (const tsr_transpose_problem *)(const void *)p->bytes;
}

/* The same, to change. */
static inline tsr_transpose_problem *transpose_in(problem *p)
{
    return (tsr_transpose_problem *)(void *)p->bytes;
}

/* Bytes of an element. */
static inline size_t transpose_bytes(const tsr_transpose_problem *p)
{
    return p->element_bytes ? p->element_bytes : tsr_type_size(p->type);
}

/* The type that an operand is described in: an element is one of it, or several. */
static inline tsr_type transpose_part(const tsr_transpose_problem *p)
{
    const size_t bytes = p->element_bytes;

    if (!bytes)
        return p->type;
    return bytes % 8 == 0 ? TSR_U64 : bytes % 4 == 0 ? TSR_U32 : bytes % 2 ? TSR_U8 : TSR_U16;
}

static inline size_t transpose_parts(const tsr_transpose_problem *p)
{
    return transpose_bytes(p) / tsr_type_size(transpose_part(p));
}

static inline size_t transpose_batch(const tsr_transpose_problem *p)
{
    return p->batch ? p->batch : 1;
}

/* A matrix as it is stored, counted in elements. */
typedef struct stored_matrix {
    size_t rows, columns, ld, offset, stride;
} stored_matrix;

static inline stored_matrix transpose_stored(const tsr_transpose_problem *p, size_t which)
{
    const bool is_a = which == TRANSPOSE_A && !p->in_place;
    stored_matrix m = {.rows = is_a ? p->rows : p->columns,
                       .columns = is_a ? p->columns : p->rows,
                       .ld = is_a ? p->lda : p->ldb,
                       .offset = is_a ? p->offset_a : p->offset_b,
                       .stride = is_a ? p->stride_a : p->stride_b};

    m.ld = m.ld ? m.ld : m.columns;
    m.stride = m.stride ? m.stride : m.rows * m.ld;
    return m;
}

/* The same as parts; check() has seen that they do not overflow. */
static inline view transpose_view(const tsr_transpose_problem *p, size_t which)
{
    const stored_matrix m = transpose_stored(p, which);
    const size_t parts = transpose_parts(p);

    return view_of(transpose_part(p), m.rows, m.columns * parts, m.ld * parts, m.offset * parts,
                   transpose_batch(p), m.stride * parts);
}

/** operation.partition */
tsr_status transpose_partition(const problem *p, const struct selection *sel,
                               const struct stream_budget *budget, struct partition *out,
                               tsr_error *err);

/* transpose_proof.c: as the members of struct operation. */
void transpose_fill(const problem *p, uint64_t seed, distribution f, void *const operands[]);
bool transpose_sweep(size_t i, bool tiny, problem *out);
tsr_status transpose_verify(const problem *p, const device_facts *d, const void *const before[],
                            const void *const after[], const void *expected, verdict *out,
                            tsr_error *err);

#endif
