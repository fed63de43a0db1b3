/** Products whose groups share k: each writes the sums of its span into the workspace, and a kernel
 *  of cl/matmul/matmul_parts.clh adds them up, always in the same order. */
#ifndef OPS_MATMUL_PARTS_H
#define OPS_MATMUL_PARTS_H

#include "core/variant.h"
#include "tessera/matmul.h"

typedef struct k_parts {
    size_t parts; /* groups that share k; 1: none do */
    size_t span;  /* what each takes of it; all of it where parts is 1 */
} k_parts;

/** k in up to so many parts, each a multiple of `depth` but the last, as the workspace allows. */
k_parts matmul_parts_cut(const job *j, size_t parts, size_t depth);

/** Parts of a sum that a work-item loads at once: several loads take as long as one. */
enum { MATMUL_PARTS_TOGETHER = 8 };

/** SUM_ITEMS, PARTS_TOGETHER and SCALED, of every program that has the kernel. */
void matmul_define_parts(const tsr_matmul_problem *p, plan *out);

/** Bytes of the sums of one product's parts; 0 where there is one part. */
size_t matmul_parts_workspace(const tsr_matmul_problem *p, k_parts k);

/** The launch that adds up the parts of one product: `entry` is matmul_sum_parts. */
void matmul_parts_sum(const job *j, const tsr_matmul_problem *p, k_parts k, unsigned entry,
                      plan *out);

/**
 * The workspace and all commands of a product, or a batch.
 *
 * @param grid  A launch of the kernel that multiplies, in two dimensions and without arguments: a
 *              layer for each product of the batch is added, or, product after product, for each
 *              part of k.
 * @param sum   The entry matmul_sum_parts.
 */
void matmul_parts_commands(const job *j, k_parts k, const command *grid, unsigned sum, plan *out);

#endif
