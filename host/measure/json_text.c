#include "measure/json_text.h"

#include "base/text.h"

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
