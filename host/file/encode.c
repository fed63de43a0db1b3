#include "file/encode.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elements.h"
#include "base/fail.h"
#include "base/half.h"
#include "base/sizes.h"
#include "file/byte_order.h"
#include "file/c_locale.h"

/* The type as NumPy writes it, without the byte order; bfloat16 and FP8 as ml_dtypes has
 * them written. */
static const char *descr(tsr_type type)
{
    static const char *const names[TSR_TYPE_COUNT] = {
        [TSR_F32] = "f4", [TSR_F64] = "f8",   [TSR_I32] = "i4",    [TSR_U32] = "u4",
        [TSR_I64] = "i8", [TSR_U64] = "u8",   [TSR_F16] = "f2",    [TSR_I8] = "i1",
        [TSR_U8] = "u1",  [TSR_I16] = "i2",   [TSR_U16] = "u2",    [TSR_BF16] = "V2",
        [TSR_C64] = "c8", [TSR_C128] = "c16", [TSR_F8E4M3] = "V1", [TSR_F8E5M2] = "V1",
    };

    return names[type];
}

static char byte_order(tsr_type type)
{
    if (tsr_type_size(type) == 1)
        return '|';
    return (char)(host_is_little() ? '<' : '>');
}

tsr_status encode_npy(const array *a, encode_put *put, void *to, tsr_error *err)
{
    enum { PREAMBLE = 10, EXTENT = 22, LONGEST = ARRAY_RANK_MAX * EXTENT + 128 };
    char header[LONGEST] = "\x93NUMPY\x01";
    char shape[ARRAY_RANK_MAX * EXTENT + 1] = "";
    const char mine[] = {byte_order(a->type), '\0'};
    const char *type = a->opaque ? a->descr : a->boolean ? "b1" : descr(a->type);
    size_t bytes = array_count(a) * array_element_size(a), text = 0, size;
    tsr_status status;

    for (unsigned i = 0; i < a->rank; i++)
        text += (size_t)snprintf(shape + text, sizeof(shape) - text, "%s%zu%s", i ? ", " : "",
                                 a->shape[i], a->rank == 1 ? "," : "");
    text = (size_t)snprintf(header + PREAMBLE, sizeof(header) - PREAMBLE,
                            "{'descr': '%s%s', 'fortran_order': False, 'shape': (%s), }",
                            a->opaque ? "" : mine, type, shape);
    /* 128 bytes with the line's end, or as many times 64 as many extents need. */
    size = size_max(size_round_up(PREAMBLE + text + 1, 64), 128);
    header[8] = (char)((size - PREAMBLE) & 255); /* little endian in two bytes */
    header[9] = (char)((size - PREAMBLE) >> 8);
    memset(header + PREAMBLE + text, ' ', size - PREAMBLE - text);
    header[size - 1] = '\n';
    status = put(to, header, size, err);
    if (status || bytes == 0)
        return status;
    return put(to, a->data, bytes, err);
}

static int format_real(char *to, size_t size, tsr_type type, const void *data, size_t i)
{
    double v;

    if (type == TSR_F64)
        v = ((const double *)data)[i];
    else if (type == TSR_F32)
        v = (double)((const float *)data)[i];
    else if (type == TSR_BF16)
        v = (double)bfloat_to_float(((const uint16_t *)data)[i]);
    else if (type == TSR_F8E4M3)
        v = (double)e4m3_to_float(((const uint8_t *)data)[i]);
    else if (type == TSR_F8E5M2)
        v = (double)e5m2_to_float(((const uint8_t *)data)[i]);
    else
        v = (double)half_to_float(((const uint16_t *)data)[i]);
    if (isnan(v)) /* printf writes "-nan" for some, which not every reader takes */
        return snprintf(to, size, "nan\n");
    /* As few digits as read back as the same value. */
    for (int digits = type == TSR_F64 ? 15 : 6;; digits++) {
        const int length = snprintf(to, size, "%.*g\n", digits, v);

        if (digits == (type == TSR_F64 ? 17 : 9) ||
            (type == TSR_F64 ? strtod(to, NULL) == v : strtof(to, NULL) == (float)v))
            return length;
    }
}

static int format_integer(char *to, size_t size, tsr_type type, const void *data, size_t i)
{
    switch (type) {
    case TSR_I8:
        return snprintf(to, size, "%" PRId8 "\n", ((const int8_t *)data)[i]);
    case TSR_U8:
        return snprintf(to, size, "%" PRIu8 "\n", ((const uint8_t *)data)[i]);
    case TSR_I16:
        return snprintf(to, size, "%" PRId16 "\n", ((const int16_t *)data)[i]);
    case TSR_U16:
        return snprintf(to, size, "%" PRIu16 "\n", ((const uint16_t *)data)[i]);
    case TSR_I32:
        return snprintf(to, size, "%" PRId32 "\n", ((const int32_t *)data)[i]);
    case TSR_U32:
        return snprintf(to, size, "%" PRIu32 "\n", ((const uint32_t *)data)[i]);
    case TSR_I64:
        return snprintf(to, size, "%" PRId64 "\n", ((const int64_t *)data)[i]);
    default:
        return snprintf(to, size, "%" PRIu64 "\n", ((const uint64_t *)data)[i]);
    }
}

/* The values, column after column, in pieces of about `chunk` bytes. */
static tsr_status put_values(const array *a, size_t rows, size_t columns, encode_put *put, void *to,
                             tsr_error *err)
{
    enum { LONGEST = 32 }; /* of one value with its line end */
    char chunk[1 << 13];
    size_t used = 0;

    for (size_t j = 0; j < columns; j++) {
        for (size_t i = 0; i < rows; i++) {
            size_t at = i * columns + j;
            size_t left = sizeof(chunk) - used;
            tsr_status status;

            if (type_is_real(a->type))
                used += (size_t)format_real(chunk + used, left, a->type, a->data, at);
            else
                used += (size_t)format_integer(chunk + used, left, a->type, a->data, at);
            if (used < sizeof(chunk) - LONGEST)
                continue;
            status = put(to, chunk, used, err);
            if (status)
                return status;
            used = 0;
        }
    }
    return used ? put(to, chunk, used, err) : TSR_OK;
}

tsr_status encode_mtx(const array *a, encode_put *put, void *to, tsr_error *err)
{
    const size_t rows = a->rank ? a->shape[0] : 1, columns = a->rank == 2 ? a->shape[1] : 1;
    char head[128];
    c_locale locale;
    tsr_status status;
    int length;

    if (a->rank > 2)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "a .mtx file holds a matrix, not an array of %u dimensions", a->rank);
    if (a->opaque || type_is_complex(a->type))
        return tsr_fail(err, TSR_EINVAL, 0, "a .mtx file holds real or whole numbers, not %s",
                        array_type_name(a));
    length = snprintf(head, sizeof(head), "%%%%MatrixMarket matrix array %s general\n%zu %zu\n",
                      type_is_real(a->type) ? "real" : "integer", rows, columns);
    status = put(to, head, (size_t)length, err);
    if (status || array_count(a) == 0)
        return status;
    if (!c_locale_enter(&locale))
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for a locale");
    status = put_values(a, rows, columns, put, to, err);
    c_locale_leave(&locale);
    return status;
}

tsr_status encode_values(const array *a, encode_put *put, void *to, tsr_error *err)
{
    c_locale locale;
    tsr_status status;

    if (!c_locale_enter(&locale))
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for a locale");
    status = put_values(a, array_count(a), 1, put, to, err);
    c_locale_leave(&locale);
    return status;
}
