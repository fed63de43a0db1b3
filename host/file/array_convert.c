#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/elements.h"
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
    case TSR_BF16:
        return (double)bfloat_to_float(((const uint16_t *)data)[i]);
    case TSR_F8E4M3:
        return (double)e4m3_to_float(((const uint8_t *)data)[i]);
    case TSR_F8E5M2:
        return (double)e5m2_to_float(((const uint8_t *)data)[i]);
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

/* A 64-bit integer's 53 bits, of which the last is odd where any behind it is not zero: what rounds
 * to fewer bits then rounds as the integer itself. */
static double odd_f64(uint64_t v)
{
    if (v >> 53)
        v = (v & ~(uint64_t)0x7FF) | (uint64_t)((v & 0x7FF) != 0) << 11;
    return (double)v;
}

/* For types of 16 and 8 bits. */
static double get_narrow(tsr_type type, const void *data, size_t i)
{
    if (type == TSR_U64)
        return odd_f64(((const uint64_t *)data)[i]);
    if (type == TSR_I64) {
        const int64_t v = ((const int64_t *)data)[i];

        return v < 0 ? -odd_f64(-(uint64_t)v) : odd_f64((uint64_t)v);
    }
    return get_f64(type, data, i);
}

static void set(tsr_type to, void *data, size_t i, const array *from)
{
    switch (to) {
    case TSR_F64:
        ((double *)data)[i] = get_f64(from->type, from->data, i);
        break;
    case TSR_F16:
        ((uint16_t *)data)[i] = half_of(get_narrow(from->type, from->data, i));
        break;
    case TSR_BF16:
        ((uint16_t *)data)[i] = bfloat_of(get_narrow(from->type, from->data, i));
        break;
    case TSR_F8E4M3:
        ((uint8_t *)data)[i] = e4m3_of(get_narrow(from->type, from->data, i));
        break;
    case TSR_F8E5M2:
        ((uint8_t *)data)[i] = e5m2_of(get_narrow(from->type, from->data, i));
        break;
    default:
        ((float *)data)[i] = get_f32(from->type, from->data, i);
        break;
    }
}

/* Whether a value is too large to round to FP8's largest number, which stands for it.  Half a step
 * above that number e4m3 rounds down and e5m2 up, to the even one. */
static bool is_beyond(tsr_type to, double value)
{
    return to == TSR_F8E4M3 ? fabs(value) > 464 : fabs(value) >= 61440;
}

static tsr_status refuse_complex(const array *a, tsr_type to, tsr_error *err)
{
    return tsr_fail(err, TSR_EINVAL, 0, "conversion from %s to %s would lose the imaginary parts",
                    array_type_name(a), tsr_type_name(to));
}

tsr_status array_convert(array *a, tsr_type to, size_t *overflowed, tsr_error *err)
{
    size_t count = array_count(a), lost = 0;
    void *data = NULL;
    tsr_status status;

    if (!type_is_real(to) && !type_is_fp8(to))
        return tsr_fail(err, TSR_EINVAL, 0,
                        "conversion from %s to %s: the result can only be float32, float64, "
                        "float16, bfloat16 or FP8",
                        array_type_name(a), tsr_type_name(to));
    if (type_is_complex(a->type))
        return refuse_complex(a, to, err);
    if (a->type == to) {
        if (overflowed)
            *overflowed = 0;
        return TSR_OK;
    }
    if (count > SIZE_MAX / tsr_type_size(to))
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "conversion of %zu elements to %s takes more than %zu bytes", count,
                        tsr_type_name(to), (size_t)SIZE_MAX);
    if (count) {
        status = block_allocate("conversion", count * tsr_type_size(to), &data, err);
        if (status)
            return status;
    }
    for (size_t i = 0; i < count; i++) {
        set(to, data, i, a);
        lost += type_is_fp8(to)
                    ? is_beyond(to, get_f64(a->type, a->data, i))
                    : isinf(get_f64(to, data, i)) && !isinf(get_f64(a->type, a->data, i));
    }
    if (overflowed)
        *overflowed = lost;
    free(a->data);
    a->data = data;
    a->type = to;
    a->boolean = false;
    return TSR_OK;
}

static bool is_integer(tsr_type type)
{
    return !type_is_real(type) && !type_is_complex(type) && !type_is_fp8(type);
}

/* An element as a whole number: its magnitude and sign.  False where it is none, or beyond 64 bits.
 */
static bool get_whole(const array *a, size_t i, uint64_t *magnitude, bool *negative)
{
    double value;

    if (is_integer(a->type)) {
        *magnitude = integer_get(a->type, a->data, i);
        *negative = type_is_signed(a->type) && *magnitude >> 63;
        *magnitude = *negative ? -*magnitude : *magnitude;
        return true;
    }
    value = get_f64(a->type, a->data, i);
    *negative = value < 0;
    if (!(fabs(value) < 0x1p64) || trunc(value) != value)
        return false;
    *magnitude = (uint64_t)fabs(value);
    return true;
}

static uint64_t largest_integer(tsr_type type)
{
    return UINT64_MAX >> (64 - 8 * tsr_type_size(type) + type_is_signed(type));
}

static tsr_status refuse_element(const char *name, const array *a, size_t i, tsr_type to,
                                 tsr_error *err)
{
    const uint64_t most = largest_integer(to);
    char value[40];

    if (is_integer(a->type) && type_is_signed(a->type))
        snprintf(value, sizeof value, "%" PRId64, (int64_t)integer_get(a->type, a->data, i));
    else if (is_integer(a->type))
        snprintf(value, sizeof value, "%" PRIu64, integer_get(a->type, a->data, i));
    else
        snprintf(value, sizeof value, "%.17g", get_f64(a->type, a->data, i));
    if (type_is_signed(to))
        return tsr_fail(err, TSR_EINVAL, 0,
                        "%s: element %zu is %s, and %s has the whole numbers from %" PRId64
                        " to %" PRIu64,
                        name, i, value, tsr_type_name(to), -(int64_t)most - 1, most);
    if (value[0] == '-')
        return tsr_fail(err, TSR_EINVAL, 0, "%s: element %zu is %s, below 0", name, i, value);
    return tsr_fail(err, TSR_EINVAL, 0,
                    "%s: element %zu is %s, and %s has the whole numbers from 0 to %" PRIu64, name,
                    i, value, tsr_type_name(to), most);
}

tsr_status array_to_integers(const char *name, array *a, tsr_type to, tsr_error *err)
{
    const size_t count = array_count(a), size = tsr_type_size(to);
    const uint64_t most = largest_integer(to);
    void *data = NULL;
    tsr_status st = TSR_OK;

    assert(is_integer(to));
    if (type_is_complex(a->type))
        return refuse_complex(a, to, err);
    if (a->type == to) {
        a->boolean = false;
        return TSR_OK;
    }
    if (count > SIZE_MAX / size)
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "%s: %zu elements of %zu bytes are more than %zu bytes", name, count, size,
                        (size_t)SIZE_MAX);
    if (count)
        st = block_allocate(name, count * size, &data, err);
    for (size_t i = 0; i < count && !st; i++) {
        uint64_t magnitude = 0;
        bool negative = false;
        const bool whole = get_whole(a, i, &magnitude, &negative);

        /* A signed type has one number more below 0 than above. */
        if (!whole || (negative && magnitude && !type_is_signed(to)) ||
            (magnitude > most && !(negative && magnitude == most + 1)))
            st = refuse_element(name, a, i, to, err);
        else
            bits_set(to, data, i, negative ? -magnitude : magnitude);
    }
    if (st) {
        free(data);
        return st;
    }
    free(a->data);
    a->data = data;
    a->type = to;
    a->boolean = false;
    return TSR_OK;
}

tsr_status array_to_u64(const char *name, array *a, tsr_error *err)
{
    if (!is_integer(a->type) || a->boolean)
        return tsr_fail(err, TSR_EINVAL, 0, "%s is %s, and must be whole numbers", name,
                        array_type_name(a));
    return array_to_integers(name, a, TSR_U64, err);
}
