/** What the build puts into the library for reports (cmake/chart.cmake): text, NUL-terminated. */
#ifndef MEASURE_REPORT_PARTS_H
#define MEASURE_REPORT_PARTS_H

extern const unsigned char report_template[];      /* data/report/report.html */
extern const unsigned char report_chart_library[]; /* Chart.js; "" where the build found none */

#endif
