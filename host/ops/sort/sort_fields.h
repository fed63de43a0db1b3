/** What the descriptor of sort says of its problems beside their shapes: fields and classes. */
#ifndef OPS_SORT_FIELDS_H
#define OPS_SORT_FIELDS_H

#include "core/operation.h"

extern const operation_command sort_command;

bool sort_class_text(const char *name, text *out);
void sort_size_text(const problem *p, text *out);
void sort_shrink(problem *p);

#endif
