/** What the descriptor of matvec says of its problems beside their shapes: fields and classes. */
#ifndef OPS_MATVEC_FIELDS_H
#define OPS_MATVEC_FIELDS_H

#include "core/operation.h"

extern const operation_command matvec_command;

bool matvec_class_text(const char *name, text *out);
void matvec_size_text(const problem *p, text *out);
void matvec_shrink(problem *p);
size_t matvec_products(const problem *p);
product_view matvec_product_view(const problem *batch, size_t e);

#endif
