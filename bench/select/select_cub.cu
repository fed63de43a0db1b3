/** CUB: the elements of float32, float64 and int32 that are greater or less than a value. */
#include <climits>
#include <cstdint>
#include <cub/device/device_select.cuh>
#include <cuda/std/functional>

#include <tessera/select.h>

#include "peer_cub.h"

namespace
{

enum { X, RESULT, INDICES, COUNT };

const tsr_select_problem *select_of(const peer_problem *p)
{
    return static_cast<const tsr_select_problem *>(p->problem);
}

template <class Number, class Compare> struct holds {
    Number value;
    __host__ __device__ bool operator()(const Number &x) const
    {
        return Compare()(x, value);
    }
};

template <class Number> Number value_of(const tsr_select_problem *p)
{
    return static_cast<Number>(p->value.real);
}

template <> int32_t value_of<int32_t>(const tsr_select_problem *p)
{
    return static_cast<int32_t>(p->value.integer);
}

template <class Number, class Compare> cudaError_t select(const cub_arguments *a)
{
    const tsr_select_problem *p = select_of(a->problem);

    return cub::DeviceSelect::If(
        a->temporary, *a->temporary_bytes, static_cast<const Number *>(a->operand[X]),
        static_cast<Number *>(a->operand[RESULT]), static_cast<uint64_t *>(a->operand[COUNT]),
        static_cast<int>(p->n), holds<Number, Compare>{value_of<Number>(p)}, a->stream);
}

template <class Number> cub_algorithm *choose(const tsr_select_problem *p)
{
    return p->where == TSR_GREATER ? select<Number, cuda::std::greater<>>
                                   : select<Number, cuda::std::less<>>;
}

const char *unsupported(const peer_problem *p)
{
    const tsr_select_problem *s = select_of(p);

    if (s->type != TSR_F32 && s->type != TSR_F64 && s->type != TSR_I32)
        return "built for float32, float64 and int32";
    if (s->where != TSR_GREATER && s->where != TSR_LESS)
        return "built for > and <";
    if (s->with_indices)
        return "asked here for elements without their indices";
    if (s->n == 0)
        return "no elements: nothing to time";
    if (s->n > INT_MAX)
        return "built for up to 2^31 - 1 elements";
    return peer_cuda_unsupported(p);
}

void *open(const peer_problem *p, char *why, size_t why_size)
{
    const tsr_select_problem *s = select_of(p);

    return cub_open(s->type == TSR_F32   ? choose<float>(s)
                    : s->type == TSR_F64 ? choose<double>(s)
                                         : choose<int32_t>(s),
                    1u << RESULT | 1u << COUNT, p, why, why_size);
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
    static const peer_list list = {PEER_ABI, "select", sizeof(tsr_select_problem), &the_peer, 1,
                                   nullptr,  nullptr};

    return &list;
}
