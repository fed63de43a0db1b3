#include "device/query.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

bool query(cl_device_id id, cl_device_info what, void *out, size_t bytes)
{
    unsigned char value[256];
    size_t got = 0;

    if (bytes > sizeof(value) ||
        clGetDeviceInfo(id, what, sizeof(value), value, &got) != CL_SUCCESS || got != bytes)
        return false;
    memcpy(out, value, bytes);
    return true;
}

/* The whole string, malloced, or NULL. */
static char *query_text(cl_device_id id, cl_device_info what)
{
    size_t bytes = 0;
    char *s;

    if (clGetDeviceInfo(id, what, 0, NULL, &bytes) != CL_SUCCESS || bytes == 0)
        return NULL;
    s = calloc(1, bytes + 1);
    if (s && clGetDeviceInfo(id, what, bytes, s, NULL) != CL_SUCCESS) {
        free(s);
        return NULL;
    }
    return s;
}

void query_string(cl_device_id id, cl_device_info what, char *out, size_t size)
{
    char *s = query_text(id, what);
    const char *start = s ? s : "";
    size_t length;

    while (*start == ' ')
        start++;
    length = strlen(start);
    while (length && start[length - 1] == ' ')
        length--;
    if (length >= size)
        length = size - 1;
    memcpy(out, start, length);
    out[length] = '\0';
    text_make_plain(out, ""); /* it is shown as it is */
    free(s);
}

bool query_has_extension(cl_device_id id, const char *name)
{
    char *s = query_text(id, CL_DEVICE_EXTENSIONS);
    size_t length = strlen(name);
    bool found = false;

    for (char *at = s; at && (at = strstr(at, name)) && !found; at += length)
        found = (at == s || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0');
    free(s);
    return found;
}
