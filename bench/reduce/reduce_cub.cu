/** CUB: sums, minima and maxima of whole arrays and of rows, and the place of an extreme of a whole
 *  array; of float32, float64 and int32. */
#include <climits>
#include <cstdint>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cuda/functional>
#include <cuda/std/functional>
#include <cuda/std/limits>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <tessera/reduce.h>

#include "peer_cub.h"

namespace
{

/* Beside the operands of the problem: the extreme itself, whose place is wanted. */
enum { X, RESULT, EXTREME };

enum { EXTREME_BYTES = 8 };

const tsr_reduce_problem *reduce_of(const peer_problem *p)
{
    return static_cast<const tsr_reduce_problem *>(p->problem);
}

bool finds_index(const peer_problem *p)
{
    return reduce_of(p)->by == TSR_REDUCE_ARGMIN || reduce_of(p)->by == TSR_REDUCE_ARGMAX;
}

size_t rows_of(const peer_problem *p)
{
    return reduce_of(p)->outer ? reduce_of(p)->outer : 1;
}

/* Where row i begins. */
struct row_start {
    int n;
    __host__ __device__ int operator()(int row) const
    {
        return row * n;
    }
};

template <class Number, class Result, class Combine>
cudaError_t reduce(const cub_arguments *a, Result start)
{
    const Number *x = static_cast<const Number *>(a->operand[X]);
    Result *result = static_cast<Result *>(a->operand[RESULT]);
    const int n = static_cast<int>(reduce_of(a->problem)->n);
    const int rows = static_cast<int>(rows_of(a->problem));

    if (rows == 1)
        return cub::DeviceReduce::Reduce(a->temporary, *a->temporary_bytes, x, result, n, Combine(),
                                         start, a->stream);
    const auto begin =
        thrust::make_transform_iterator(thrust::make_counting_iterator(0), row_start{n});
    return cub::DeviceSegmentedReduce::Reduce(a->temporary, *a->temporary_bytes, x, result, rows,
                                              begin, begin + 1, Combine(), start, a->stream);
}

/* Sums of integers have 64 bits. */
template <class Number, class Sum> cudaError_t sum(const cub_arguments *a)
{
    return reduce<Number, Sum, cuda::std::plus<>>(a, 0);
}

/* A NaN may get lost in these; the inputs of `bench` hold none. */
template <class Number> cudaError_t least(const cub_arguments *a)
{
    using limits = cuda::std::numeric_limits<Number>;

    return reduce<Number, Number, cuda::minimum<>>(a, limits::has_infinity ? limits::infinity()
                                                                           : limits::max());
}

template <class Number> cudaError_t largest(const cub_arguments *a)
{
    using limits = cuda::std::numeric_limits<Number>;

    return reduce<Number, Number, cuda::maximum<>>(a, limits::has_infinity ? -limits::infinity()
                                                                           : limits::lowest());
}

template <class Number> cudaError_t index_of_extreme(const cub_arguments *a)
{
    const tsr_reduce_problem *p = reduce_of(a->problem);
    const Number *x = static_cast<const Number *>(a->operand[X]);
    Number *extreme = static_cast<Number *>(a->operand[EXTREME]);
    int64_t *index = static_cast<int64_t *>(a->operand[RESULT]);
    const int64_t n = static_cast<int64_t>(p->n);

    if (p->by == TSR_REDUCE_ARGMIN)
        return cub::DeviceReduce::ArgMin(a->temporary, *a->temporary_bytes, x, extreme, index, n,
                                         a->stream);
    return cub::DeviceReduce::ArgMax(a->temporary, *a->temporary_bytes, x, extreme, index, n,
                                     a->stream);
}

template <class Number, class Sum> cub_algorithm *choose(const peer_problem *p)
{
    switch (reduce_of(p)->by) {
    case TSR_REDUCE_SUM:
        return sum<Number, Sum>;
    case TSR_REDUCE_MIN:
        return least<Number>;
    case TSR_REDUCE_MAX:
        return largest<Number>;
    default:
        return index_of_extreme<Number>;
    }
}

const char *unsupported(const peer_problem *p)
{
    const tsr_reduce_problem *r = reduce_of(p);

    if (r->type != TSR_F32 && r->type != TSR_F64 && r->type != TSR_I32)
        return "built for float32, float64 and int32";
    if (r->by > TSR_REDUCE_ARGMAX)
        return "asked here for sums, minima, maxima and their indices";
    if (r->inner > 1)
        return "it reduces whole arrays and rows";
    if (finds_index(p) && rows_of(p) > 1)
        return "asked here for the index of a whole array's extreme alone";
    if (r->n == 0)
        return "no elements: nothing to time";
    if (r->n > INT_MAX / rows_of(p))
        return "built for up to 2^31 - 1 elements";
    return peer_cuda_unsupported(p);
}

void *open(const peer_problem *p, char *why, size_t why_size)
{
    const tsr_type type = reduce_of(p)->type;
    peer_problem wanted = *p;

    if (finds_index(p))
        wanted.bytes[EXTREME] = EXTREME_BYTES;
    return cub_open(type == TSR_F32   ? choose<float, float>(p)
                    : type == TSR_F64 ? choose<double, double>(p)
                                      : choose<int32_t, int64_t>(p),
                    1u << RESULT, &wanted, why, why_size);
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
    static const peer_list list = {PEER_ABI, "reduce", sizeof(tsr_reduce_problem), &the_peer, 1,
                                   nullptr,  nullptr};

    return &list;
}
