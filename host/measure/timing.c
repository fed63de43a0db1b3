#include <stdlib.h>

#include "measure/result.h"

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Quantile q of n sorted values, linear between the two that it falls between: definition 7 of
 * R. J. Hyndman and Y. Fan, "Sample quantiles in statistical packages", 1996. */
static double quantile(const double *sorted, size_t n, double q)
{
    const double at = q * (double)(n - 1);
    const size_t below = (size_t)at;
    const double part = at - (double)below;

    if (below + 1 >= n)
        return sorted[n - 1];
    return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

timing timing_of(double *samples_ns, size_t n, size_t calls)
{
    if (n == 0)
        return (timing){.calls = calls};
    qsort(samples_ns, n, sizeof(*samples_ns), compare);
    return (timing){.count = n,
                    .calls = calls,
                    .min_ns = samples_ns[0],
                    .median_ns = quantile(samples_ns, n, 0.5),
                    .max_ns = samples_ns[n - 1],
                    .low_ns = quantile(samples_ns, n, 0.25),
                    .high_ns = quantile(samples_ns, n, 0.75)};
}

double timing_spread(const timing *t)
{
    return t->median_ns > 0 ? (t->high_ns - t->low_ns) / 2 / t->median_ns : 0;
}
