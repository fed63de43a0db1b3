/** JSON on standard output. */
#ifndef CLI_JSON_PRINT_H
#define CLI_JSON_PRINT_H

#include <jansson.h>

#include "measure/json_text.h"

/** A number; null where it is no finite one, which JSON cannot say. */
json_t *json_number(double x);

/** A count, which JSON's readers keep exactly below 2^53. */
json_t *json_count(unsigned long long n);

/** Print and release a document.  Returns an exit status, after a message where it failed. */
int json_print(json_t *document);

#endif
