/* The edges of bins: their type, those of equal width, and what must hold of them. */
#include <math.h>

#include "base/elements.h"
#include "base/fail.h"
#include "core/real.h"
#include "ops/histogram/histogram_problem.h"

/* Every element of 8 and 16 bits is a float32. */
tsr_type tsr_histogram_edge_type(tsr_type type)
{
    return type == TSR_F32 || tsr_type_size(type) <= 2 ? TSR_F32 : TSR_F64;
}

double histogram_value(tsr_type type, const void *array, size_t i)
{
    switch (type) {
    case TSR_I8:
        return ((const int8_t *)array)[i];
    case TSR_U8:
        return ((const uint8_t *)array)[i];
    case TSR_I16:
        return ((const int16_t *)array)[i];
    case TSR_U16:
        return ((const uint16_t *)array)[i];
    case TSR_I32:
        return ((const int32_t *)array)[i];
    case TSR_U32:
        return ((const uint32_t *)array)[i];
    case TSR_I64:
        return (double)((const int64_t *)array)[i];
    case TSR_U64:
        return (double)((const uint64_t *)array)[i];
    default:
        return real_get(type, array, i);
    }
}

void histogram_set_edge(tsr_type type, void *edges, size_t i, double edge, bool last)
{
    float rounded = (float)edge;

    if (tsr_histogram_edge_type(type) == TSR_F64) {
        ((double *)edges)[i] = edge;
        return;
    }
    /* x >= edge where x >= the next float from it on; x <= edge likewise. */
    if (last && (double)rounded > edge)
        rounded = nextafterf(rounded, -INFINITY);
    else if (!last && (double)rounded < edge)
        rounded = nextafterf(rounded, INFINITY);
    ((float *)edges)[i] = rounded;
}

tsr_status tsr_histogram_edges(tsr_type type, size_t bins, double low, double high, void *edges,
                               tsr_error *err)
{
    const double step = (high - low) / (double)bins;

    if ((unsigned)type >= SINGLE_TYPE_COUNT)
        return tsr_fail(err, TSR_EINVAL, 0, "histogram: type %d does not exist", (int)type);
    if (bins == 0)
        return tsr_fail(err, TSR_EINVAL, 0, "histogram: bins is 0");
    if (!isfinite(low) || !isfinite(high) || low > high)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "histogram: bins lie between two finite numbers, the first not above the "
                        "second, not %g and %g",
                        low, high);
    if (!isfinite(step))
        return tsr_fail(err, TSR_EINVAL, 0, "histogram: from %g to %g is too far for float64", low,
                        high);
    if (!edges)
        return tsr_fail(err, TSR_EINVAL, 0, "histogram: edges is NULL");
    for (size_t i = 0; i <= bins; i++) {
        const double edge = i < bins ? (double)i * step + low : high;

        histogram_set_edge(type, edges, i, type_is_real(type) ? real_round(type, edge) : edge,
                           i == bins);
    }
    return TSR_OK;
}

tsr_status histogram_check_edges(const tsr_histogram_problem *p, const void *edges, tsr_error *err)
{
    const tsr_type type = tsr_histogram_edge_type(p->type);
    double before = -INFINITY;

    for (size_t i = 0; i <= p->bins; i++) {
        const double edge = real_get(type, edges, p->offset_edges + i);

        if (isnan(edge))
            return tsr_fail(err, TSR_EINVAL, 0, "histogram: edge %zu is NaN", i);
        if (edge < before)
            return tsr_fail(err, TSR_EINVAL, 0,
                            "histogram: edge %zu is %.9g, below the %.9g of edge %zu", i, edge,
                            before, i - 1);
        before = edge;
    }
    return TSR_OK;
}
