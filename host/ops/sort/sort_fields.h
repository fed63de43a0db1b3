/** What the descriptor of sort says of its problems beside their shapes: fields and classes. */
#ifndef OPS_SORT_FIELDS_H
#define OPS_SORT_FIELDS_H

#include "core/operation.h"

bool sort_class_text(const char *name, text *out);

#endif
