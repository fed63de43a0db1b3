#include "core/operation.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"

const char *setting_of(const given_options *s, const char *option)
{
    for (size_t i = 0; i < s->count; i++)
        if (!strcmp(s->list[i].option, option))
            return s->list[i].value;
    return NULL;
}

/* "OP: takes float32, float64 or int8, not int16". */
static tsr_status refuse_type(const operation *op, tsr_type type, tsr_error *err)
{
    char list[256] = "";
    size_t length = 0;

    for (unsigned t = 0; t < TSR_TYPE_COUNT; t++) {
        const char *before = !length ? "" : op->types >> (t + 1) ? ", " : " or ";

        if (op->types & 1u << t && length < sizeof(list))
            length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s", before,
                                       tsr_type_name((tsr_type)t));
    }
    return tsr_fail(err, TSR_EINVAL, 0, "%s: takes %s, not %s", op->name, list,
                    tsr_type_name(type));
}

tsr_status operation_check_type(const operation *op, tsr_type type, tsr_error *err)
{
    if ((unsigned)type >= TSR_TYPE_COUNT)
        return tsr_fail(err, TSR_EINVAL, 0, "%s: type %d does not exist", op->name, (int)type);
    if (!(op->types & 1u << type))
        return refuse_type(op, type, err);
    return TSR_OK;
}

static const char *const unit_names[] = {
    [WORK_FLOPS] = "GFLOP/s", [WORK_OPS] = "Gop/s", [WORK_BYTES] = "GB/s", [WORK_KEYS] = "Mkeys/s"};

const char *work_unit_name(work_unit unit)
{
    return unit_names[unit];
}

work_unit work_unit_of(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(unit_names); i++)
        if (!strcmp(name, unit_names[i]))
            return (work_unit)i;
    return WORK_FLOPS;
}

double work_rate(work_unit unit, double work, double bytes, double ns)
{
    if (ns <= 0)
        return 0;
    return unit == WORK_BYTES ? bytes / ns : unit == WORK_KEYS ? work / ns * 1e3 : work / ns;
}

tsr_status operation_check_offsets(const operation *op, size_t n, size_t segments,
                                   const uint64_t *offsets, size_t *longest, tsr_error *err)
{
    size_t most = 1;

    if (offsets[0] != 0)
        return tsr_fail(err, TSR_EINVAL, 0, "%s: segment offset 0 is %" PRIu64 ", not 0", op->name,
                        offsets[0]);
    for (size_t i = 1; i <= segments; i++) {
        if (offsets[i] < offsets[i - 1])
            return tsr_fail(err, TSR_EINVAL, 0,
                            "%s: segment offset %zu is %" PRIu64 ", below the %" PRIu64
                            " of offset %zu",
                            op->name, i, offsets[i], offsets[i - 1], i - 1);
        most = size_max(most, (size_t)(offsets[i] - offsets[i - 1]));
    }
    if (offsets[segments] != n)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "%s: segment offset %zu, the last one, is %" PRIu64
                        " and must be the number of elements, %zu",
                        op->name, segments, offsets[segments], n);
    *longest = most;
    return TSR_OK;
}
