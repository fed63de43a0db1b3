/** The variants of matmul on Hopper's matrix instructions: cl/matmul/matmul_wgmma.cl. */
#ifndef OPS_MATMUL_WGMMA_H
#define OPS_MATMUL_WGMMA_H

#include "core/variant.h"
#include "tessera/matmul.h"

/* Entries of cl/matmul/matmul_wgmma.cl, in the variants' order. */
enum { WGMMA_PACK, WGMMA_MULTIPLY, WGMMA_SUM };

/* The functions of both variants; which products are taken, the problem's precision says. */
void matmul_wgmma_defines(const job *j, text *out);
const char *matmul_wgmma_unsupported_f32(const job *j, text *reason);
const char *matmul_wgmma_unsupported_tf32(const job *j, text *reason);
size_t matmul_wgmma_workspace(const job *j);
size_t matmul_wgmma_tiles_f32(const job *j);
bool matmul_wgmma_step(const job *j, size_t i, command *out);

/* NULL, or why a problem does not go by three TF32 products. */
const char *matmul_wgmma_unsupported_split(const tsr_matmul_problem *p, text *reason);

#endif
