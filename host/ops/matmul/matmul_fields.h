/** What the descriptor of matmul says of its problems beside their shapes: fields and classes. */
#ifndef OPS_MATMUL_FIELDS_H
#define OPS_MATMUL_FIELDS_H

#include "core/operation.h"

bool matmul_class_text(const char *name, text *out);

#endif
