/** CUB: scaled sums, in place and not, of float32 and float64. */
#include <climits>
#include <cub/device/device_transform.cuh>
#include <cuda/std/tuple>

#include <tessera/axpy.h>

#include "peer_cub.h"

namespace
{

enum { X, Y, Z };

const tsr_axpy_problem *axpy_of(const peer_problem *p)
{
    return static_cast<const tsr_axpy_problem *>(p->problem);
}

template <class Number> struct scaled_sum {
    Number alpha;
    __host__ __device__ Number operator()(Number x, Number y) const
    {
        return alpha * x + y;
    }
};

template <class Number> cudaError_t add(const cub_arguments *a)
{
    const tsr_axpy_problem *p = axpy_of(a->problem);
    const void *y = a->operand[p->in_place ? Z : Y];

    return cub::DeviceTransform::Transform(
        a->temporary, *a->temporary_bytes,
        cuda::std::make_tuple(static_cast<const Number *>(a->operand[X]),
                              static_cast<const Number *>(y)),
        static_cast<Number *>(a->operand[Z]), static_cast<int>(p->n),
        scaled_sum<Number>{static_cast<Number>(p->alpha)}, a->stream);
}

const char *unsupported(const peer_problem *p)
{
    const tsr_axpy_problem *axpy = axpy_of(p);

    if (axpy->type != TSR_F32 && axpy->type != TSR_F64)
        return "built for float32 and float64";
    if (axpy->n == 0)
        return "no elements: nothing to time";
    if (axpy->n > INT_MAX)
        return "built for up to 2^31 - 1 elements";
    return peer_cuda_unsupported(p);
}

void *open(const peer_problem *p, char *why, size_t why_size)
{
    return cub_open(axpy_of(p)->type == TSR_F32 ? add<float> : add<double>, 1u << Z, p, why,
                    why_size);
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
    static const peer_list list = {PEER_ABI, "axpy", sizeof(tsr_axpy_problem), &the_peer, 1,
                                   nullptr,  nullptr};

    return &list;
}
