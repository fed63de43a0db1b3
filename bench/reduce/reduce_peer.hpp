/** Reductions as other libraries take them. */
#ifndef BENCH_REDUCE_PEER_HPP
#define BENCH_REDUCE_PEER_HPP

#include <functional>

#include <tessera/reduce.h>

#include "peer_common.h"

#define REDUCE_PEERS(peers, count)                                                                 \
    {                                                                                              \
        PEER_ABI, "reduce", sizeof(tsr_reduce_problem), (peers), (count), 0, 0                     \
    }

namespace reduce_peer
{

enum { X, RESULT };

inline const tsr_reduce_problem *of(const peer_problem *p)
{
    return static_cast<const tsr_reduce_problem *>(p->problem);
}

/* A NaN may get lost in these; the inputs of `bench` hold none. */
struct least {
    float operator()(float a, float b) const
    {
        return b < a ? b : a;
    }
};

struct largest {
    float operator()(float a, float b) const
    {
        return b > a ? b : a;
    }
};

inline const char *unsupported(const peer_problem *p)
{
    if (p->type != TSR_F32 || of(p)->by > TSR_REDUCE_MAX || of(p)->outer > 1 || of(p)->inner > 1)
        return "asked here for the sum, minimum or maximum of a whole float32 array alone";
    return of(p)->n ? nullptr : "no elements: nothing to time";
}

/* One call of Algorithm::run(first, last, start, combine) on a set. */
template <class Algorithm, class Combine> int call(void *state, size_t set)
{
    const peer_host_sets *sets = &static_cast<const peer_host *>(state)->sets;
    const float *x = static_cast<const float *>(peer_host_set(sets, set, X));
    float *result = static_cast<float *>(peer_host_set(sets, set, RESULT));

    *result = Algorithm::run(x + 1, x + of(&sets->problem)->n, x[0], Combine());
    return 0;
}

template <class Algorithm> void *open(const peer_problem *p, char *why, size_t why_size)
{
    peer_call *const calls[] = {call<Algorithm, std::plus<float>>, call<Algorithm, least>,
                                call<Algorithm, largest>}; /* as tsr_reduction */

    return peer_host_open(p, calls[of(p)->by], RESULT, why, why_size);
}

template <class Algorithm> peer describe(const char *name, const char *version)
{
    return peer{name,          version, PEER_CPU, nullptr,          unsupported,    open<Algorithm>,
                peer_host_run, nullptr, nullptr,  peer_host_result, peer_host_close};
}

} // namespace reduce_peer

#endif
