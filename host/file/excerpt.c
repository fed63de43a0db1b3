#include "file/excerpt.h"

#include <string.h>

#include "base/sizes.h"

excerpt excerpt_of(const char *bytes, size_t length)
{
    excerpt e = {{0}};
    size_t shown = size_min(length, sizeof(e.text) - sizeof("..."));

    /* Not isprint(): bytes beyond ASCII and escape sequences stay out under every locale. */
    for (size_t i = 0; i < shown; i++)
        e.text[i] = (char)(bytes[i] >= ' ' && bytes[i] <= '~' ? bytes[i] : '?');
    if (shown < length)
        strcpy(e.text + shown, "...");
    return e;
}
