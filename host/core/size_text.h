/** Sizes as people write them: "1024", "1000x64x1000", "10M", "2^24"; and problems of such a size.
 */
#ifndef CORE_SIZE_TEXT_H
#define CORE_SIZE_TEXT_H

#include "core/operation.h"

enum { SIZE_NUMBERS_MAX = 4 };

/** What comes of reading a size. */
typedef enum size_outcome { SIZE_READ, SIZE_MALFORMED, SIZE_TOO_LARGE } size_outcome;

/** The numbers of a size, SIZE_NUMBERS_MAX at most. */
size_outcome size_read(const char *size, size_t out[SIZE_NUMBERS_MAX], size_t *count);

/** Set the fields that are extents to the numbers of a size; a lone one is all of them. */
void problem_set_extents(problem *p, const size_t *n, size_t count);

/**
 * The problem of a size, with the values that its other fields have where nothing sets them.
 *
 * @param size  One of op->command->sizes.
 * @return As the operation's check: TSR_EINVAL or TSR_EOVERFLOW.
 */
tsr_status problem_of_size(const operation *op, const char *size, tsr_type type, problem *out,
                           tsr_error *err);

#endif
