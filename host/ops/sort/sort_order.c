#include "ops/sort/sort_order.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/half.h"

static int compare_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int key_i8(const void *a, const void *b)
{
    return compare_i64(*(const int8_t *)a, *(const int8_t *)b);
}

static int key_u8(const void *a, const void *b)
{
    return compare_u64(*(const uint8_t *)a, *(const uint8_t *)b);
}

static int key_i16(const void *a, const void *b)
{
    return compare_i64(*(const int16_t *)a, *(const int16_t *)b);
}

static int key_u16(const void *a, const void *b)
{
    return compare_u64(*(const uint16_t *)a, *(const uint16_t *)b);
}

static int key_i32(const void *a, const void *b)
{
    return compare_i64(*(const int32_t *)a, *(const int32_t *)b);
}

static int key_u32(const void *a, const void *b)
{
    return compare_u64(*(const uint32_t *)a, *(const uint32_t *)b);
}

static int key_i64(const void *a, const void *b)
{
    return compare_i64(*(const int64_t *)a, *(const int64_t *)b);
}

static int key_u64(const void *a, const void *b)
{
    return compare_u64(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Numbers that are not NaN. */
static int compare_numbers(double a, double b)
{
    if (a < b || a > b)
        return a < b ? -1 : 1;
    return (signbit(a) == 0) - (signbit(b) == 0); /* -0 before +0 */
}

/* One of the two is NaN; without a sign, payloads rise with the bits. */
static int compare_nans(bool a_nan, bool a_sign, uint64_t a_bits, bool b_nan, bool b_sign,
                        uint64_t b_bits)
{
    if (a_nan != b_nan)
        return a_nan ? 1 : -1;
    if (a_sign != b_sign)
        return a_sign ? 1 : -1;
    return a_sign ? compare_u64(b_bits, a_bits) : compare_u64(a_bits, b_bits);
}

/* Widening is exact; NaNs keep their sign. */
static int key_f16(const void *a, const void *b)
{
    const uint16_t x_bits = *(const uint16_t *)a, y_bits = *(const uint16_t *)b;
    const float x = half_to_float(x_bits), y = half_to_float(y_bits);

    if (!isnan(x) && !isnan(y))
        return compare_numbers((double)x, (double)y);
    return compare_nans(isnan(x), signbit(x) != 0, x_bits, isnan(y), signbit(y) != 0, y_bits);
}

static int key_f32(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    uint32_t x_bits, y_bits;

    if (!isnan(x) && !isnan(y))
        return compare_numbers(x, y);
    memcpy(&x_bits, a, sizeof(x_bits));
    memcpy(&y_bits, b, sizeof(y_bits));
    return compare_nans(isnan(x), signbit(x) != 0, x_bits, isnan(y), signbit(y) != 0, y_bits);
}

static int key_f64(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    uint64_t x_bits, y_bits;

    if (!isnan(x) && !isnan(y))
        return compare_numbers(x, y);
    memcpy(&x_bits, a, sizeof(x_bits));
    memcpy(&y_bits, b, sizeof(y_bits));
    return compare_nans(isnan(x), signbit(x) != 0, x_bits, isnan(y), signbit(y) != 0, y_bits);
}

/* The same for pairs; qsort hands its comparators no context, so there is one per type. */
static int then_index(int by_key, const void *a, const void *b)
{
    if (by_key)
        return by_key;
    return compare_i64(((const sort_pair *)a)->index, ((const sort_pair *)b)->index);
}

static int pair_i8(const void *a, const void *b)
{
    return then_index(key_i8(a, b), a, b);
}

static int pair_u8(const void *a, const void *b)
{
    return then_index(key_u8(a, b), a, b);
}

static int pair_i16(const void *a, const void *b)
{
    return then_index(key_i16(a, b), a, b);
}

static int pair_u16(const void *a, const void *b)
{
    return then_index(key_u16(a, b), a, b);
}

static int pair_f16(const void *a, const void *b)
{
    return then_index(key_f16(a, b), a, b);
}

static int pair_i32(const void *a, const void *b)
{
    return then_index(key_i32(a, b), a, b);
}

static int pair_u32(const void *a, const void *b)
{
    return then_index(key_u32(a, b), a, b);
}

static int pair_i64(const void *a, const void *b)
{
    return then_index(key_i64(a, b), a, b);
}

static int pair_u64(const void *a, const void *b)
{
    return then_index(key_u64(a, b), a, b);
}

static int pair_f32(const void *a, const void *b)
{
    return then_index(key_f32(a, b), a, b);
}

static int pair_f64(const void *a, const void *b)
{
    return then_index(key_f64(a, b), a, b);
}

static const struct {
    key_comparator key, pair;
} comparators[TSR_TYPE_COUNT] = {
    [TSR_I8] = {key_i8, pair_i8},    [TSR_U8] = {key_u8, pair_u8},
    [TSR_I16] = {key_i16, pair_i16}, [TSR_U16] = {key_u16, pair_u16},
    [TSR_F16] = {key_f16, pair_f16}, [TSR_I32] = {key_i32, pair_i32},
    [TSR_U32] = {key_u32, pair_u32}, [TSR_I64] = {key_i64, pair_i64},
    [TSR_U64] = {key_u64, pair_u64}, [TSR_F32] = {key_f32, pair_f32},
    [TSR_F64] = {key_f64, pair_f64},
};

size_t sort_part_of(const sort_parts *p, size_t key)
{
    size_t first = 0, last = p->count - 1;

    if (!p->offsets)
        return key / p->keys->n;
    while (first < last) {
        const size_t middle = last - (last - first) / 2;

        if (p->offsets[middle] <= key)
            first = middle;
        else
            last = middle - 1;
    }
    return first;
}

bool sort_takes(tsr_type type)
{
    return (unsigned)type < TSR_TYPE_COUNT && comparators[type].key;
}

key_comparator sort_comparator(tsr_type type)
{
    assert(comparators[type].key);
    return comparators[type].key;
}

key_comparator sort_pair_comparator(tsr_type type)
{
    assert(comparators[type].pair);
    return comparators[type].pair;
}

void sort_reference(tsr_type type, bool descending, const void *keys, size_t n, size_t *perm,
                    size_t *scratch)
{
    const key_comparator compare = sort_comparator(type);
    const size_t bytes = tsr_type_size(type);
    const unsigned char *key = keys;
    size_t *from = perm, *to = scratch;

    for (size_t i = 0; i < n; i++)
        perm[i] = i;
    for (size_t run = 1; run < n; run *= 2) {
        for (size_t start = 0; start < n; start += 2 * run) {
            const size_t middle = start + run < n ? start + run : n;
            const size_t end = middle + run < n ? middle + run : n;
            size_t a = start, b = middle;

            for (size_t i = start; i < end; i++) {
                bool take_b = a == middle;

                if (a < middle && b < end) {
                    int c = compare(key + from[a] * bytes, key + from[b] * bytes);

                    take_b = descending ? c < 0 : c > 0; /* equal keys: the earlier one */
                }
                to[i] = take_b ? from[b++] : from[a++];
            }
        }
        size_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != perm)
        memcpy(perm, from, n * sizeof(*perm));
}
