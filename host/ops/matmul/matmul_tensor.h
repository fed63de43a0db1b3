/** The variants of matmul on matrix units that tensor copies feed: cl/matmul/matmul_tensor.cl. */
#ifndef OPS_MATMUL_TENSOR_H
#define OPS_MATMUL_TENSOR_H

#include "core/variant.h"

/* Entries of cl/matmul/matmul_tensor.cl, in the variant's order. */
enum { TENSOR_PREPARE, TENSOR_MULTIPLY };

/* The functions of the variant; its format is the problem's precision. */
void matmul_tensor_defines(const job *j, text *out);
const char *matmul_tensor_unsupported(const job *j, text *reason);
size_t matmul_tensor_workspace(const job *j);
bool matmul_tensor_step(const job *j, size_t i, command *out);

#endif
