/** What the plans of matmul's variants share: reasons, -Ds, sizes of grids and arguments. */
#ifndef OPS_MATMUL_PLAN_H
#define OPS_MATMUL_PLAN_H

#include "base/sizes.h"
#include "core/variant.h"
#include "ops/matmul/matmul_shape.h"

/* ---- reasons: NULL, or why a variant cannot run a job -------------------------------------- */

/** That the operands are complex: for variants of real numbers. */
const char *matmul_unsupported_complex(const tsr_matmul_problem *p, plan *out);

/** That a size exceeds what kernels index in 32 bits. */
const char *matmul_unsupported_sizes(const tsr_matmul_problem *p, plan *out);

/** The same, that the operands are complex, or that they have 8 bits: for variants of wider
 *  floating-point numbers. */
const char *matmul_unsupported_indices(const tsr_matmul_problem *p, plan *out);

/** The same, or that the device does not have the type or the precision of the problem. */
const char *matmul_unsupported_portable(const job *j, plan *out);

/** The same for kernels that round the factors themselves: every precision is supported. */
const char *matmul_unsupported_rounding(const job *j, plan *out);

/** The same for kernels that take int8 and FP8 too. */
const char *matmul_unsupported_types(const job *j, plan *out);

/** That rows or columns have scales, which the variant does not take. */
const char *matmul_unsupported_scales(const tsr_matmul_problem *p, plan *out);

/** That there are several products. */
const char *matmul_unsupported_several(const tsr_matmul_problem *p, plan *out);

/** As matmul_unsupported_indices, for variants that take no batch. */
const char *matmul_unsupported_batch(const tsr_matmul_problem *p, plan *out);

/** That groups of so many work-items exceed the limit. */
const char *matmul_unsupported_items(size_t items, size_t limit, plan *out);

/** That groups of x by y work-items, or `local` bytes of local memory, exceed the device's limits.
 */
const char *matmul_unsupported_group(const job *j, size_t x, size_t y, size_t local, plan *out);

/* ---- -Ds --------------------------------------------------------------------------------- */

/** FACTOR, RESULT and the type of the sums (cl/matmul/matmul_elements.clh), TRANS_A and TRANS_B. */
void matmul_define_operands(const tsr_matmul_problem *p, plan *out);

/** ROUNDED, what factors are rounded to as they are loaded: cl/matmul/matmul_rounded.clh. */
void matmul_define_rounding(const tsr_matmul_problem *p, plan *out);

/** SCALED, whether rows and columns have scales: cl/matmul/matmul_scales.clh. */
void matmul_define_scales(const tsr_matmul_problem *p, plan *out);

/** ALIGNED_A and ALIGNED_B: whether vectors of four are aligned (matmul_aligned). */
void matmul_define_aligned(const job *j, plan *out);

/* ---- commands ---------------------------------------------------------------------------- */

/** So many layers of a grid: products of a batch, or parts of k. */
void matmul_layers(command *c, size_t layers);

/** What is asked of global memory, in bytes, where a product takes so many elements of A and of B
 *  and each output of C is stored once. */
double matmul_asked(const tsr_matmul_problem *p, double of_a, double of_b);

/** The scalars of a call: matmul_call of cl/matmul/matmul_call.clh, which ends where its `scale`
 *  does. */
typedef struct matmul_call {
    uint64_t offset_a, offset_b, offset_c;
    uint64_t stride_a, stride_b, stride_c;
    uint64_t offset_scale_a, offset_scale_b, stride_scale_a, stride_scale_b;
    uint32_t m, n, k;
    uint32_t lda, ldb, ldc;
    uint32_t span, batch;
    uint32_t parts, lanes;
    uint32_t rows, columns, depth;
    uint32_t unshared;
    uint32_t across, classes;
    union {
        float f32[2]; /* alpha, beta */
        double f64[2];
        int32_t i32[2];
    } scale;
} matmul_call;

_Static_assert(offsetof(matmul_call, scale) == 144 && sizeof(matmul_call) <= BLOCK_BYTES_MAX,
               "as OpenCL C lays it out, and no larger than a command's");

/** Of a product, or a batch, into C. */
matmul_call matmul_call_of(const tsr_matmul_problem *p);

/** Of the sums of parts of k, which go into the workspace, matrix after matrix of m x n. */
matmul_call matmul_call_of_parts(const tsr_matmul_problem *p, double alpha);

/** The last argument of most kernels. */
void matmul_pass(command *c, const tsr_matmul_problem *p, const matmul_call *call);

/** C^T = op(B)^T op(A)^T, stored as C: A and B change places, and so do m and n.  Of one product.
 */
tsr_matmul_problem matmul_turned(const tsr_matmul_problem *p);

/** A and B as arguments, B first where they have changed places. */
void matmul_factors(command *c, bool turned);

/** The last arguments of kernels of cl/matmul/matmul_scales.clh: the scales of rows and columns,
 *  where there are any; those of columns first where these have become rows. */
void matmul_scales(command *c, const tsr_matmul_problem *p, bool turned);

/** The arguments A, B and C, matmul_call_of the problem, and its scales. */
void matmul_arguments(command *c, const tsr_matmul_problem *p);

/* ---- shapes ------------------------------------------------------------------------------ */

/** Whether vectors of four are aligned: buffers of a device are, host memory that a CPU's buffer
 *  may lie in need not be. */
bool matmul_aligned(const job *j, matmul_matrix x);

/** Neighbours in a row of C that a work-item stores at once: 4 where rows are cut into aligned
 * vectors of them, of elements of up to 4 bytes, 2 where those are, else 1;
 * cl/matmul/matmul_lanes.clh. */
unsigned matmul_vector_c(const matmul_matrix *c);

/** Tiles of C of tile_m x tile_n for each compute unit. */
double matmul_tiles_a_unit(const tsr_matmul_problem *p, const device_facts *d, size_t tile_m,
                           size_t tile_n);

/** The facts by which a variant is chosen: local memory beyond what is reported is taken for
 * Hopper's where it is not probed yet, so that a session's first choice is no other than later. */
device_facts matmul_known(const device_facts *d);

/** Whether one time is so much below another that their models' errors do not decide. */
static inline bool matmul_gains_clearly(double time, double other)
{
    return time < 0.92 * other;
}

/** Compute units of the job's device, 1 at least. */
static inline size_t matmul_units(const job *j)
{
    return size_max(j->device->compute_units, 1);
}

/** Whether tiles of 128 x 128 fill the device, two groups on a unit. */
bool matmul_fills_large(const tsr_matmul_problem *p, const device_facts *d);

/** Whether tiles of 64 x 128 do, one group on a unit. */
bool matmul_fills_wide(const tsr_matmul_problem *p, const device_facts *d);

/** Whether `sums` outputs a work-item cut a tile into whole warps, and `items` work-items bring
 *  tiles `depth` along k in whole vectors. */
bool matmul_cuts_whole(size_t tile_m, size_t tile_n, size_t sums, size_t depth, size_t items);

#endif
