/** What the descriptor of matmul says of its problems beside their shapes: fields and classes. */
#ifndef OPS_MATMUL_FIELDS_H
#define OPS_MATMUL_FIELDS_H

#include "core/operation.h"

extern const operation_command matmul_command;

bool matmul_class_text(const char *name, text *out);
void matmul_size_text(const problem *p, text *out);
void matmul_shrink(problem *p);
size_t matmul_products(const problem *p);
product_view matmul_product_view(const problem *batch, size_t e);

#endif
