/** Products whose groups share k: each writes the sums of its span into the workspace, and a kernel
 *  of cl/matmul/matmul_parts.clh adds them up, always in the same order. */
#ifndef OPS_MATMUL_PARTS_H
#define OPS_MATMUL_PARTS_H

#include "core/variant.h"

typedef struct k_parts {
    size_t parts; /* groups that share k; 1: none do */
    size_t span;  /* what each takes of it; all of it where parts is 1 */
} k_parts;

/** k in up to so many parts, each a multiple of `depth` but the last, as the workspace allows. */
k_parts matmul_parts_cut(const job *j, size_t parts, size_t depth);

/** Bytes of the sums of one product's parts; 0 where there is one part. */
size_t matmul_parts_workspace(const job *j, k_parts k);

/** The arguments of a kernel that multiplies, and its layers: into C, one for each product of the
 *  batch, or into the workspace, one for each part of one product. */
void matmul_parts_arguments(const job *j, k_parts k, command *out);

/** The launch that adds up the parts of one product: `entry` is matmul_sum_parts. */
void matmul_parts_sum(const job *j, k_parts k, unsigned entry, command *out);

/** Command i of the whole: `multiply` begins the launch that multiplies, for which `plan` is passed
 *  on, and entry `sum` is matmul_sum_parts.  Products in parts come one after another. */
bool matmul_parts_step(const job *j, k_parts k, size_t i, unsigned sum,
                       void (*multiply)(const job *j, const void *plan, command *out),
                       const void *plan, command *out);

#endif
