/** The variants of matmul on packed panels, for CPUs: cl/matmul/matmul_cpu_panels.cl. */
#ifndef OPS_MATMUL_PANELS_H
#define OPS_MATMUL_PANELS_H

#include "core/variant.h"

/* Entries of cl/matmul/matmul_cpu_panels.cl, in the variants' order. */
enum { PANELS_MULTIPLY, PANELS_SUM };

/** How work-items share a product out: each computes `rows` x `columns` of C over `span` of k,
 * those at the edges less, in blocks of up to `depth` along k. */
typedef struct panels_share {
    size_t rows, columns, span, depth;
    size_t down, across, parts; /* work-items along m, n and k */
} panels_share;

/** The share of cpu-panels: `span` is all of k. */
panels_share matmul_panels_share(const job *j);

/** That of cpu-split, where parts of k make up for work-items that C does not give. */
panels_share matmul_panels_share_split(const job *j);

void matmul_panels_defines(const job *j, text *out);
void matmul_panels_defines_split(const job *j, text *out);
const char *matmul_panels_unsupported(const job *j, text *reason);
const char *matmul_panels_unsupported_split(const job *j, text *reason);
size_t matmul_panels_workspace_split(const job *j);
bool matmul_panels_step(const job *j, size_t i, command *out);
bool matmul_panels_step_split(const job *j, size_t i, command *out);

#endif
