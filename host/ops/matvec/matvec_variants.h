/** The variants of matvec, a file for each family. */
#ifndef OPS_MATVEC_VARIANTS_H
#define OPS_MATVEC_VARIANTS_H

#include "core/variant.h"

/* matvec_host.c: the device `host`. */
extern const variant matvec_scattered_O0, matvec_pointers_O0, matvec_unroll_2_O0,
    matvec_unroll_4_O0, matvec_row_pointers, matvec_contiguous, matvec_contiguous_O0,
    matvec_contiguous_O1, matvec_contiguous_O2, matvec_contiguous_O3, matvec_unroll_2,
    matvec_unroll_4, matvec_openmp;

/* matvec_simd.c: C, on the host and on CPUs. */
extern const variant matvec_simd;

/* matvec_ladder.c: lessons, y := A x of float32. */
extern const variant matvec_naive, matvec_tree, matvec_group_row, matvec_group_shfl, matvec_local_x;

/* matvec_rows.c: a row of op(A) is summed in one place: a work-item, a sub-group, a team of them.
 */
extern const variant matvec_row_item, matvec_tree_vector, matvec_subgroup, matvec_shfl,
    matvec_short_rows, matvec_flat_rows;

/* matvec_parts.c: the columns of op(A) are cut into parts, which are then added up. */
extern const variant matvec_split_row, matvec_split_vector, matvec_column_slices,
    matvec_short_columns;

/* matvec_cpu.c: explicit vectors, groups of one work-item. */
extern const variant matvec_rows_vector, matvec_short_rows_vector, matvec_columns_vector;

#endif
