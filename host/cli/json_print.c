#include "cli/json_print.h"

#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/messages.h"

json_t *json_text(const char *s)
{
    json_t *string = json_string(s);
    text ascii = {0};

    if (string)
        return string;
    for (; *s; s++)
        text_append_bytes(&ascii, (unsigned char)*s < 0x80 ? s : "?", 1);
    string = json_string(text_get(&ascii));
    text_free(&ascii);
    return string;
}

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
    int failed;

    if (!document)
        return out_of_memory();
    /* A write that fails is noticed where the command ends; this is memory running out. */
    failed = json_dumpf(document, stdout, JSON_INDENT(2)) && !ferror(stdout);
    json_decref(document);
    fputc('\n', stdout);
    return failed ? out_of_memory() : EXIT_DONE;
}
