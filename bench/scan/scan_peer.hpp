/** Scans as other libraries take them. */
#ifndef BENCH_SCAN_PEER_HPP
#define BENCH_SCAN_PEER_HPP

#include <functional>

#include <tessera/scan.h>

#include "peer_common.h"

#define SCAN_PEERS(peers, count)                                                                   \
    {                                                                                              \
        PEER_ABI, "scan", sizeof(tsr_scan_problem), (peers), (count), 0, 0                         \
    }

namespace scan_peer
{

enum { X, RESULT };

inline const tsr_scan_problem *of(const peer_problem *p)
{
    return static_cast<const tsr_scan_problem *>(p->problem);
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
    const tsr_scan_problem *s = of(p);

    if (s->n == 0)
        return "no elements: nothing to time";
    if (s->type != TSR_F32 || s->outer > 1 || s->inner > 1 || s->segments || s->exclusive ||
        s->reverse)
        return "it is timed on inclusive scans of one line of float32, from the front";
    return nullptr;
}

/* One call of Algorithm::run(first, last, to, combine) on a set. */
template <class Algorithm, class Combine> int call(void *state, size_t set)
{
    const peer_host_sets *sets = &static_cast<const peer_host *>(state)->sets;
    const float *x = static_cast<const float *>(peer_host_set(sets, set, X));
    float *result = static_cast<float *>(peer_host_set(sets, set, RESULT));

    Algorithm::run(x, x + of(&sets->problem)->n, result, Combine());
    return 0;
}

template <class Algorithm> void *open(const peer_problem *p, char *why, size_t why_size)
{
    peer_call *const calls[] = {call<Algorithm, std::plus<float>>, call<Algorithm, least>,
                                call<Algorithm, largest>}; /* as tsr_scan_by */

    return peer_host_open(p, calls[of(p)->by], RESULT, why, why_size);
}

template <class Algorithm>
peer describe(const char *name, const char *version,
              const char *(*why_not)(const peer_problem *) = unsupported)
{
    return peer{name,          version, PEER_CPU, nullptr,          why_not,        open<Algorithm>,
                peer_host_run, nullptr, nullptr,  peer_host_result, peer_host_close};
}

} // namespace scan_peer

#endif
