/** What the descriptor of matmul says of its problems beside their shapes: fields and classes. */
#ifndef OPS_MATMUL_FIELDS_H
#define OPS_MATMUL_FIELDS_H

#include "core/operation.h"

extern const operation_command matmul_command;

size_t matmul_products(const problem *p);
product_view matmul_product_view(const problem *batch, size_t e);

#endif
