/** The verdict on a result of which threads judge a part each. */
#ifndef CORE_FINDINGS_H
#define CORE_FINDINGS_H

#include "core/variant.h"

/** Start with {.out = out}, where *out is {.ok = true}. */
typedef struct findings {
    verdict *out;
    size_t failed_at;
} findings;

/** Join the verdict on part `at`: the first part that failed is reported, whichever is judged
 * first. */
void findings_join(findings *f, const verdict *part, size_t at);

/** " of product 3" for messages, where a batch has several; else "". */
enum { PRODUCT_TEXT_SIZE = 40 };
const char *findings_product(size_t batch, size_t product, char out[PRODUCT_TEXT_SIZE]);

#endif
