/** Scaled sums as the C++ library takes them. */
#ifndef BENCH_AXPY_PEER_HPP
#define BENCH_AXPY_PEER_HPP

#include <cstdint>

#include <tessera/axpy.h>

#include "peer_common.h"

#define AXPY_PEERS(peers, count)                                                                   \
    {                                                                                              \
        PEER_ABI, "axpy", sizeof(tsr_axpy_problem), (peers), (count), 0, 0                         \
    }

namespace axpy_peer
{

enum { X, Y, Z };

inline const tsr_axpy_problem *of(const peer_problem *p)
{
    return static_cast<const tsr_axpy_problem *>(p->problem);
}

inline const char *unsupported(const peer_problem *p)
{
    const tsr_type type = of(p)->type;

    if (of(p)->n == 0)
        return "no elements: nothing to time";
    return type == TSR_F32 || type == TSR_F64 || type == TSR_U32 || type == TSR_U64
               ? nullptr
               : "it adds float32, float64, uint32 and uint64 only";
}

/* One call of Algorithm::run(x, end of x, y, z, operation) on a set. */
template <class Algorithm, class Number> int call(void *state, size_t set)
{
    const peer_host_sets *sets = &static_cast<const peer_host *>(state)->sets;
    const tsr_axpy_problem *p = of(&sets->problem);
    const Number alpha = Number(p->alpha);
    const Number *x = static_cast<const Number *>(peer_host_set(sets, set, X));
    Number *z = static_cast<Number *>(peer_host_set(sets, set, Z));
    const Number *y = p->in_place ? z : static_cast<const Number *>(peer_host_set(sets, set, Y));

    Algorithm::run(x, x + p->n, y, z, [alpha](Number a, Number b) { return alpha * a + b; });
    return 0;
}

template <class Algorithm> void *open(const peer_problem *p, char *why, size_t why_size)
{
    peer_call *const chosen = of(p)->type == TSR_F32   ? call<Algorithm, float>
                              : of(p)->type == TSR_F64 ? call<Algorithm, double>
                              : of(p)->type == TSR_U32 ? call<Algorithm, uint32_t>
                                                       : call<Algorithm, uint64_t>;

    return peer_host_open(p, chosen, Z, why, why_size);
}

template <class Algorithm> peer describe(const char *name, const char *version)
{
    return peer{name,          version, PEER_CPU, nullptr,          unsupported,    open<Algorithm>,
                peer_host_run, nullptr, nullptr,  peer_host_result, peer_host_close};
}

} // namespace axpy_peer

#endif
