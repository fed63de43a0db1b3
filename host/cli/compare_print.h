/** A comparison as text, CSV and JSON. */
#ifndef CLI_COMPARE_PRINT_H
#define CLI_COMPARE_PRINT_H

#include "measure/compare.h"

/**
 * For people, in lines of `width` columns where words allow it: the columns with their numbers, the
 * fastest variant of each job that several of them have, then a table for each group.  Ratios
 * stand behind the rate; with `least` above 0, those that compare_lost are marked.  TSR_ENOMEM.
 */
tsr_status compare_as_text(const comparison *c, double least, size_t width, text *out,
                           tsr_error *err);

/** One record for each line and column that has a row or misses one (RFC 4180). */
void compare_as_csv(const comparison *c, text *out);

/** Schema "tessera-compare-1"; with `least` above 0, each verdict says whether it is lost.
 *  TSR_ENOMEM. */
tsr_status compare_as_json(const comparison *c, double least, text *out, tsr_error *err);

#endif
