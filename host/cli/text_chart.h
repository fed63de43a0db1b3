/** A chart of curves in characters. */
#ifndef CLI_TEXT_CHART_H
#define CLI_TEXT_CHART_H

#include <stddef.h>

#include "base/text.h"

typedef struct text_chart {
    const char *unit;          /* unit of the values, printed above the axis */
    const char *knob;          /* name of x, printed below it */
    const char *const *series; /* series_count names, of which the first 26 are drawn */
    const char *const *x;      /* x_count labels, evenly spaced */
    const double *values;      /* of series s at x i: [s * x_count + i]; 0: none */
    size_t series_count, x_count;
} text_chart;

/**
 * Append the chart: a letter for each value, dots between those of one series, the names below.
 *
 * The axis begins at 0; where the largest value is 8 times the smallest or more, it is logarithmic,
 * from the smallest on.
 * Nothing where there are fewer than two labels, or no values.
 */
void text_chart_draw(const text_chart *c, size_t width, text *out);

#endif
