/** The variants of sort, a file a family. */
#ifndef OPS_SORT_VARIANTS_H
#define OPS_SORT_VARIANTS_H

#include "core/variant.h"
#include "ops/sort/sort_order.h"

/* In C, by digits, on the host's cores: host/ops/sort/sort_host.c. */
extern const variant sort_host_radix;

/* Bitonic networks, step by step, the first two as lessons: host/ops/sort/sort_ladder.c. */
extern const variant sort_qsort, sort_naive, sort_alternating, sort_padded, sort_two_phase,
    sort_general, sort_two_phase_registers;

/* Networks that hold keys in registers: sort_fused.c. */
extern const variant sort_fused_passes, sort_fused_passes_subgroup, sort_fused_passes_warp,
    sort_fused_passes_shfl;

/* By digits: sort_radix.c. */
extern const variant sort_radix, sort_radix_warp, sort_onesweep, sort_cpu_radix;

/* For CPUs, each work-item alone: sort_cpu_vectors.c, sort_cpu_merges.c. */
extern const variant sort_cpu_vectors, sort_cpu_merges;

/* Short rows: sort_rows.c. */
extern const variant sort_short_rows, sort_rows_registers, sort_rows_warp, sort_rows_shfl;

/* A few keys, by comparisons with all: sort_counted.c. */
extern const variant sort_counted;

/* Keys of 8 bits alone, by their counts: sort_value_counts.c. */
extern const variant sort_value_counts;

/* Runs merged in pairs: sort_merge_path.c. */
extern const variant sort_merge_path;

/** What the variants in C do with the parts of a problem's keys, whichever operation's; and their
 *  plan: they take every problem. */
tsr_status sort_qsort_parts(const sort_parts *parts, void *const operands[], tsr_error *err);
tsr_status sort_host_parts(const problem *p, const sort_parts *parts, void *const operands[],
                           tsr_error *err);

/** Variants that sort all keys of each row, in their order: in a table of variants. */
#define SORT_VARIANTS_OF_ALL_KEYS                                                                  \
    &sort_naive, &sort_alternating, &sort_padded, &sort_two_phase, &sort_general,                  \
        &sort_two_phase_registers, &sort_fused_passes, &sort_fused_passes_subgroup,                \
        &sort_fused_passes_warp, &sort_fused_passes_shfl, &sort_radix, &sort_radix_warp,           \
        &sort_onesweep, &sort_cpu_vectors, &sort_cpu_merges, &sort_cpu_radix, &sort_short_rows,    \
        &sort_rows_registers, &sort_rows_warp, &sort_rows_shfl, &sort_counted, &sort_value_counts, \
        &sort_merge_path

#endif
