/** What the descriptor of matvec says of its problems beside their shapes: fields and classes. */
#ifndef OPS_MATVEC_FIELDS_H
#define OPS_MATVEC_FIELDS_H

#include "core/operation.h"

extern const operation_command matvec_command;

size_t matvec_products(const problem *p);
product_view matvec_product_view(const problem *batch, size_t e);

#endif
