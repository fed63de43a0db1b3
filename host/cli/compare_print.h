/** A comparison as text, CSV and JSON. */
#ifndef CLI_COMPARE_PRINT_H
#define CLI_COMPARE_PRINT_H

#include "measure/compare.h"

/**
 * For people: the columns with their numbers, then a table for each group.  Ratios
 * stand behind the rate; with `least` above 0, those that compare_lost are marked.
 */
void compare_as_text(const comparison *c, double least, text *out);

/** One record for each line and column that has a row or misses one (RFC 4180). */
void compare_as_csv(const comparison *c, text *out);

/** Schema "tessera-compare-1"; with `least` above 0, each verdict says whether it is lost. */
void compare_as_json(const comparison *c, double least, text *out);

#endif
