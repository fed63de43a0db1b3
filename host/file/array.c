#include "file/array.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "file/excerpt.h"
#include "file/image.h"
#include "file/input.h"
#include "file/mtx.h"
#include "file/npy.h"

size_t array_count(const array *a)
{
    size_t count = 1;

    for (unsigned i = 0; i < a->rank; i++)
        count *= a->shape[i];
    return count;
}

size_t array_element_size(const array *a)
{
    return a->opaque ? a->opaque : tsr_type_size(a->type);
}

const char *array_type_name(const array *a)
{
    if (a->boolean)
        return "bool";
    return a->opaque ? a->descr : tsr_type_name(a->type);
}

void array_free(array *a)
{
    if (!a)
        return;
    free(a->data);
    *a = (array){0};
}

static tsr_status unrecognised(const input *s, tsr_error *err)
{
    if (s->head_size >= 4 && memcmp(s->head, "PK\x03\x04", 4) == 0)
        return tsr_fail(err, TSR_EFILE, 0,
                        "%s: is a zip archive (.npz?); save one of its arrays with numpy.save",
                        s->name);
    if (s->head_size >= 3 && s->head[0] == 'P' && s->head[1] && strchr("12347", s->head[1]) &&
        isspace(s->head[2]))
        return tsr_fail(err, TSR_EFILE, 0,
                        "%s: is a P%c picture; only binary PGM (P5) and PPM (P6) are read", s->name,
                        s->head[1]);
    return tsr_fail(err, TSR_EFILE, 0,
                    "%s: is not a .npy, Matrix Market, PNG, PPM or PGM file: begins with \"%s\"",
                    s->name, excerpt_of((const char *)s->head, s->head_size).text);
}

static tsr_status read_array(const char *path, bool any, array *out, tsr_error *err)
{
    input s;
    tsr_status status = input_open(path, &s, err);

    if (status)
        return status;
    /* The first byte distinguishes the formats; the rest of a wrong magic or
     * banner gets the message of its format. */
    if (s.head[0] == 0x93)
        status = npy_read(&s, any, out, err);
    else if (s.head[0] == '%')
        status = mtx_read(&s, out, err);
    else if (image_begins(&s))
        status = image_read(&s, out, err);
    else
        status = unrecognised(&s, err);
    input_close(&s);
    return status;
}

tsr_status array_read(const char *path, array *out, tsr_error *err)
{
    return read_array(path, false, out, err);
}

tsr_status array_read_any(const char *path, array *out, tsr_error *err)
{
    return read_array(path, true, out, err);
}
