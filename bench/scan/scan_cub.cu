/** CUB: scans of one line, of float32, float64 and int32. */
#include <climits>
#include <cstdint>
#include <cub/device/device_scan.cuh>
#include <cuda/functional>
#include <cuda/std/functional>
#include <cuda/std/limits>

#include <tessera/scan.h>

#include "peer_cub.h"

namespace
{

enum { X, RESULT };

const tsr_scan_problem *scan_of(const peer_problem *p)
{
    return static_cast<const tsr_scan_problem *>(p->problem);
}

/* `start` is what no elements give; its type is the one that is added in. */
template <class Number, class Result, class Combine>
cudaError_t scan(const cub_arguments *a, Result start)
{
    const Number *x = static_cast<const Number *>(a->operand[X]);
    Result *result = static_cast<Result *>(a->operand[RESULT]);
    const int n = static_cast<int>(scan_of(a->problem)->n);

    if (scan_of(a->problem)->exclusive)
        return cub::DeviceScan::ExclusiveScan(a->temporary, *a->temporary_bytes, x, result,
                                              Combine(), start, n, a->stream);
    if constexpr (sizeof(Number) == sizeof(Result))
        return cub::DeviceScan::InclusiveScan(a->temporary, *a->temporary_bytes, x, result,
                                              Combine(), n, a->stream);
    else
        return cub::DeviceScan::InclusiveScanInit(a->temporary, *a->temporary_bytes, x, result,
                                                  Combine(), start, n, a->stream);
}

template <class Number, class Sum> cudaError_t sum(const cub_arguments *a)
{
    return scan<Number, Sum, cuda::std::plus<>>(a, 0);
}

/* A NaN may get lost in these; the inputs of `bench` hold none. */
template <class Number> cudaError_t least(const cub_arguments *a)
{
    using limits = cuda::std::numeric_limits<Number>;

    return scan<Number, Number, cuda::minimum<>>(a, limits::has_infinity ? limits::infinity()
                                                                         : limits::max());
}

template <class Number> cudaError_t largest(const cub_arguments *a)
{
    using limits = cuda::std::numeric_limits<Number>;

    return scan<Number, Number, cuda::maximum<>>(a, limits::has_infinity ? -limits::infinity()
                                                                         : limits::lowest());
}

template <class Number, class Sum> cub_algorithm *choose(const tsr_scan_problem *p)
{
    return p->by == TSR_SCAN_MIN   ? least<Number>
           : p->by == TSR_SCAN_MAX ? largest<Number>
                                   : sum<Number, Sum>;
}

const char *unsupported(const peer_problem *p)
{
    const tsr_scan_problem *s = scan_of(p);

    if (s->type != TSR_F32 && s->type != TSR_F64 && s->type != TSR_I32)
        return "built for float32, float64 and int32";
    if (s->outer > 1 || s->inner > 1 || s->segments || s->reverse)
        return "asked here for scans of one line from the front";
    if (s->n == 0)
        return "no elements: nothing to time";
    if (s->n > INT_MAX)
        return "built for up to 2^31 - 1 elements";
    return peer_cuda_unsupported(p);
}

void *open(const peer_problem *p, char *why, size_t why_size)
{
    const tsr_scan_problem *s = scan_of(p);

    return cub_open(s->type == TSR_F32   ? choose<float, float>(s)
                    : s->type == TSR_F64 ? choose<double, double>(s)
                    : s->same_type       ? choose<int32_t, int32_t>(s)
                                         : choose<int32_t, int64_t>(s),
                    1u << RESULT, p, why, why_size);
}

} // namespace

extern "C" PEER_EXPORT const peer_list *peer_module(void)
{
    static const peer the_peer = {"CUB",       cub_version(CUB_VERSION),
                                  PEER_CUDA,   nullptr,
                                  unsupported, open,
                                  cub_run,     cub_run_held,
                                  nullptr,     cub_result,
                                  cub_close};
    static const peer_list list = {PEER_ABI, "scan", sizeof(tsr_scan_problem), &the_peer, 1,
                                   nullptr,  nullptr};

    return &list;
}
