#include "cli/json_print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "cli/messages.h"

json_t *json_number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

json_t *json_count(unsigned long long n)
{
    return json_integer((json_int_t)n);
}

int json_print(json_t *document)
{
    char *dumped = document ? json_dumps(document, JSON_INDENT(2)) : NULL;
    text out = {0};
    int status = EXIT_DONE;

    if (dumped)
        text_append_json(&out, dumped);
    if (!dumped || out.failed)
        status = out_of_memory();
    else
        puts(text_get(&out)); /* a write that fails is noticed where the command ends */
    text_free(&out);
    free(dumped);
    json_decref(document);
    return status;
}
