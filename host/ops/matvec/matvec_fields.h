/** What the descriptor of matvec says of its problems beside their shapes: fields and classes. */
#ifndef OPS_MATVEC_FIELDS_H
#define OPS_MATVEC_FIELDS_H

#include "core/operation.h"

bool matvec_class_text(const char *name, text *out);

#endif
