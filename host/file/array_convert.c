#include <stdint.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/half.h"
#include "file/array.h"
#include "file/block.h"

/* Exact but for 64-bit integers, which round once. */
static double get_f64(tsr_type type, const void *data, size_t i)
{
    switch (type) {
    case TSR_F32:
        return (double)((const float *)data)[i];
    case TSR_F64:
        return ((const double *)data)[i];
    case TSR_I32:
        return ((const int32_t *)data)[i];
    case TSR_U32:
        return ((const uint32_t *)data)[i];
    case TSR_I64:
        return (double)((const int64_t *)data)[i];
    case TSR_U64:
        return (double)((const uint64_t *)data)[i];
    case TSR_F16:
        return (double)half_to_float(((const uint16_t *)data)[i]);
    case TSR_I8:
        return ((const int8_t *)data)[i];
    case TSR_U8:
        return ((const uint8_t *)data)[i];
    case TSR_I16:
        return ((const int16_t *)data)[i];
    default:
        return ((const uint16_t *)data)[i];
    }
}

/* 64-bit integers go straight to float: by way of double they would round twice. */
static float get_f32(tsr_type type, const void *data, size_t i)
{
    if (type == TSR_I64)
        return (float)((const int64_t *)data)[i];
    if (type == TSR_U64)
        return (float)((const uint64_t *)data)[i];
    return (float)get_f64(type, data, i);
}

tsr_status array_convert(array *a, tsr_type to, tsr_error *err)
{
    size_t count = array_count(a);
    void *data = NULL;
    tsr_status status;

    if (to != TSR_F32 && to != TSR_F64)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "conversion from %s to %s: only float32 and float64 "
                        "can be asked for",
                        tsr_type_name(a->type), tsr_type_name(to));
    if (a->type == to)
        return TSR_OK;
    if (count > SIZE_MAX / tsr_type_size(to))
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "conversion of %zu elements to %s is beyond %zu bytes", count,
                        tsr_type_name(to), (size_t)SIZE_MAX);
    if (count) {
        status = block_allocate("conversion", count * tsr_type_size(to), &data, err);
        if (status)
            return status;
    }
    for (size_t i = 0; i < count; i++) {
        if (to == TSR_F64)
            ((double *)data)[i] = get_f64(a->type, a->data, i);
        else
            ((float *)data)[i] = get_f32(a->type, a->data, i);
    }
    free(a->data);
    a->data = data;
    a->type = to;
    return TSR_OK;
}
