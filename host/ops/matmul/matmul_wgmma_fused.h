/** The variant of matmul on Hopper's matrix instructions that packs nothing:
 * cl/matmul/matmul_wgmma_fused.cl. */
#ifndef OPS_MATMUL_WGMMA_FUSED_H
#define OPS_MATMUL_WGMMA_FUSED_H

#include "core/variant.h"

/* Entries of cl/matmul/matmul_wgmma_fused.cl, in the variant's order. */
enum { WGMMA_FUSED_ALIGN, WGMMA_FUSED_MULTIPLY };

void matmul_wgmma_fused_defines(const job *j, text *out);
const char *matmul_wgmma_fused_unsupported(const job *j, text *reason);
size_t matmul_wgmma_fused_workspace(const job *j);
size_t matmul_wgmma_fused_tiles(const job *j);
bool matmul_wgmma_fused_step(const job *j, size_t i, command *out);

#endif
