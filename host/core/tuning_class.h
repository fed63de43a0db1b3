/** What a class of problems holds, for people: the names of classes are keys of tuning entries. */
#ifndef CORE_TUNING_CLASS_H
#define CORE_TUNING_CLASS_H

#include "core/operation.h"

/**
 * Append the problems of a class, by the name that the operation's classify() gives it:
 *
 *     "float32 nn 1024x1x64"  float32 nn, M 1024-2047, N 1, K 64-127
 *     "float32-n-6x2"         float32 n, rows 4096-16383, columns 16-63
 *     "4-byte below 2^24"     4-byte, 2^20 to 2^24 - 1 keys
 *     ""                      every class
 *
 * A name that classify() does not give stands as it is.
 */
void tuning_class_text(const operation *op, const char *name, text *out);

/* What operation.class_text is made of: */

/** "M 1024-2047": problems of a class have from `least` to `most` of a dimension. */
void class_dimension(const char *name, size_t least, size_t most, text *out);

/** Whether the operation takes p, and it is of the class. */
bool class_is(const problem *p, const char *name);

#endif
