/** Classes of problems that take the same tuning: their names are keys of tuning entries. */
#ifndef CORE_TUNING_CLASS_H
#define CORE_TUNING_CLASS_H

#include "core/operation.h"

/**
 * Append the name of a problem's class.
 *
 * Where the operation does not name its classes itself, they are those of the fields that enter
 * them (field.in_class): the type, "to float32" of a wider result, "x" and the number of a batch
 * above 1, a precision that is not the type's own, choices, names of flags that are set where they
 * enter so, a letter for each other flag (t or n), and the extents.
 *
 *     "float32 tf32 nn 1024x1x64"  M from 1024 to 2047, N 1, K from 64 to 127
 *     "float32-n-6x2"              named by its operation, to powers of 4: 4^6 to 4^7 - 1 rows
 */
void tuning_class(const problem *p, text *out);

/** Append what a class of that name holds, for people: "float32 nn, M 1024-2047, N 1, K 64-127";
 *  "every class" of "".  A name that no problem has stands as it is. */
void tuning_class_text(const operation *op, const char *name, text *out);

/** Whether the operation takes p, and it is of the class. */
bool tuning_class_is(const problem *p, const char *name);

#endif
