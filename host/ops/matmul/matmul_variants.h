/** The variants of matmul, a file for each family. */
#ifndef OPS_MATMUL_VARIANTS_H
#define OPS_MATMUL_VARIANTS_H

#include "core/variant.h"
#include "tessera/matmul.h"

/* matmul_host.c: the device `host`. */
extern const variant matmul_ijk, matmul_jik, matmul_ikj, matmul_kij, matmul_blocked_8,
    matmul_blocked_16, matmul_blocked_32, matmul_openmp_collapse, matmul_blocked, matmul_openmp;

/* matmul_simd.c: C, on the host and on CPUs. */
extern const variant matmul_simd;

/** Whether it takes a problem less than some 50 milliseconds on so many cores. */
bool matmul_simd_is_brief(const tsr_matmul_problem *p, size_t cores);

/** Whether it was measured to be faster than the kernels for CPUs, at a larger problem. */
bool matmul_simd_outruns_panels(const tsr_matmul_problem *p);

/* matmul_ladder.c: lessons, one step after another from the definition to vectors. */
extern const variant matmul_row_first, matmul_naive, matmul_tiled, matmul_block_column,
    matmul_block, matmul_vector, matmul_swizzle;

/* matmul_general.c: every type and batch on any device. */
extern const variant matmul_general, matmul_general_tiled, matmul_async;

/* matmul_pipelined.c */
extern const variant matmul_pipelined, matmul_complex_pipelined;

/* matmul_complex.c: complex matrices, one work-item an output. */
extern const variant matmul_complex_general;

/* matmul_copied.c: tiles that NVIDIA's cp.async brings. */
extern const variant matmul_cp_async, matmul_stream;

/** Nanoseconds that a call of a variant takes of a float32 product, or of any type by
 *  `skinny-columns` and `skinny-dots`, on the device's own clock, by a
 *  fit to times measured on an H200; infinite where it does not take the product, or others always
 *  take less. */
double matmul_pipelined_time(const problem *q, const device_facts *d);
double matmul_cp_async_time(const problem *q, const device_facts *d);
double matmul_stream_time(const problem *q, const device_facts *d);
double matmul_outer_time(const problem *q, const device_facts *d);
double matmul_skinny_columns_time(const problem *q, const device_facts *d);
double matmul_skinny_dots_time(const problem *q, const device_facts *d);
double matmul_mma_3xtf32_time(const problem *q, const device_facts *d);
double matmul_wgmma_3xtf32_time(const problem *q, const device_facts *d);
double matmul_wgmma_3xtf32_fused_time(const problem *q, const device_facts *d);

/** matmul_choice.c: whether three TF32 products by a warp group's instructions are as exact as
 *  cuBLAS's FP32: where C is large, or k is long.  At a k much below 1000 cuBLAS shares the k of a
 *  small C, which is more exact: docs/matmul.md. */
bool matmul_group_is_exact(const tsr_matmul_problem *p);

/** matmul_choice.c: names of the variants that have such a model, those that take least time first:
 *  how many there are. */
size_t matmul_by_time(const problem *q, const device_facts *d, const char *out[PREFERENCES_MAX]);

/* matmul_subgroup.c: tiles that the lanes of a sub-group share. */
extern const variant matmul_subgroup, matmul_shfl;

/* matmul_outer.c: a short k. */
extern const variant matmul_outer;

/** Whether k is short enough, and C most of what moves, for it to gain on a GPU. */
bool matmul_outer_gains(const tsr_matmul_problem *p, const device_facts *d);

/* matmul_skinny.c: few rows or columns of C. */
extern const variant matmul_skinny_columns, matmul_skinny_dots;

/** Whether C has few enough rows or columns for them to gain on a GPU. */
bool matmul_is_skinny(const tsr_matmul_problem *p);

/* matmul_batched.c: whole products in a work-group. */
extern const variant matmul_batched;

/* matmul_cpu.c: a block of explicit vectors a work-item. */
extern const variant matmul_cpu_block, matmul_cpu_panels, matmul_cpu_split, matmul_complex_panels;

/* matmul_mma.c, matmul_mma_f64.c: matrix instructions of a warp. */
extern const variant matmul_mma, matmul_mma_f64, matmul_mma_f64_tensor;

/* Whether `mma-f64-tensor` is faster than `mma-f64`, by what their best layouts take. */
bool matmul_boxes_gain(const problem *q, const device_facts *d);

/* Whether `mma-f64` may take tiles of 48: of float64, 33 to 48 rows or columns of a factor whose
 * lines lie along k, and k of 32 or more. */
bool matmul_is_narrow_f64(const tsr_matmul_problem *p);

/** Whether `mma` takes less time than `wgmma-tensor`, which stages lines that are not aligned and
 *  has larger tiles: what both take, in TF32 and 16 bits. */
bool matmul_mma_gains(const problem *q, const device_facts *d);

/* matmul_mma_3xtf32.c: three TF32 products by them. */
extern const variant matmul_mma_3xtf32;

/* matmul_wgmma.c, matmul_tensor.c, matmul_wgmma_fused.c: Hopper's matrix instructions. */
extern const variant matmul_wgmma_tf32, matmul_wgmma_3xtf32, matmul_wgmma_tensor,
    matmul_wgmma_3xtf32_fused;

/** Nanoseconds that `wgmma-tensor` takes, where it supports the problem, as far as is known. */
double matmul_tensor_time(const problem *q, const device_facts *d);

/** Nanoseconds that a product of 16 bits or TF32 takes by `mma`, and float64 by `mma-f64` or
 *  `mma-f64-tensor`, whichever takes less. */
double matmul_mma_time(const problem *q, const device_facts *d);
double matmul_mma_f64_time(const problem *q, const device_facts *d);

/** The least k of a product by three TF32 products: below it chains of FP32 are as exact, and as
 *  fast. */
enum { MATMUL_THRICE_K_MIN = 64 };

/** NULL, or why a problem does not go by three TF32 products. */
const char *matmul_unsupported_3xtf32(const tsr_matmul_problem *p, plan *out);

#endif
