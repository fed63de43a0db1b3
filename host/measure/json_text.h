/** Text of the outside world as JSON. */
#ifndef MEASURE_JSON_TEXT_H
#define MEASURE_JSON_TEXT_H

#include <jansson.h>

/** A string; where bytes are not UTF-8, as a driver or a file may have them, those beyond ASCII
 *  become '?'. */
json_t *json_text(const char *s);

#endif
