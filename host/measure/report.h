/**
 * The report: a comparison as one page of HTML that needs nothing else, neither
 * a network nor a file beside it.
 *
 * The page is data/report/report.html with the parts that "{{name}}" stands for
 * filled in.  Tables are text of the page; charts are drawn by its script from
 * the same rows, which the page holds as JSON.  A build without Chart.js makes
 * pages without charts, which say so.
 */
#ifndef MEASURE_REPORT_H
#define MEASURE_REPORT_H

#include "measure/compare.h"

/**
 * Append the page to *out.
 *
 * @param c       Of one file or several.
 * @param errors  c->file_count files, of each its rows of RESULT_ERROR, a table of the page: what
 * one variant or peer has of each distribution of inputs follows one another.  NULL for none.
 * @return TSR_OK, or TSR_ENOMEM.
 */
tsr_status report_html(const comparison *c, const compare_file *errors, text *out, tsr_error *err);

#endif
