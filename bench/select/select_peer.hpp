/** Selections as the C++ library takes them: of float32, float64 and int32, by a comparison. */
#ifndef BENCH_SELECT_PEER_HPP
#define BENCH_SELECT_PEER_HPP

#include <cstdint>
#include <cstring>
#include <functional>

#include <tessera/select.h>

#include "peer_common.h"

#define SELECT_PEERS(peers, count)                                                                 \
    {                                                                                              \
        PEER_ABI, "select", sizeof(tsr_select_problem), (peers), (count), 0, 0                     \
    }

namespace select_peer
{

enum { X, RESULT, INDICES, COUNT };

inline const tsr_select_problem *of(const peer_problem *p)
{
    return static_cast<const tsr_select_problem *>(p->problem);
}

inline const char *unsupported(const peer_problem *p)
{
    const tsr_select_problem *s = of(p);

    if (s->type != TSR_F32 && s->type != TSR_F64 && s->type != TSR_I32)
        return "built for float32, float64 and int32";
    if (s->where > TSR_NOT_EQUAL)
        return "built for comparisons with a value";
    if (s->with_indices)
        return "it selects elements without their indices";
    return s->n ? nullptr : "no elements: nothing to time";
}

inline void read_value(const tsr_select_problem *p, float *value)
{
    *value = static_cast<float>(p->value.real);
}

inline void read_value(const tsr_select_problem *p, double *value)
{
    *value = p->value.real;
}

inline void read_value(const tsr_select_problem *p, int32_t *value)
{
    *value = static_cast<int32_t>(p->value.integer);
}

/* One call of Algorithm::run(first, last, to, holds) on a set. */
template <class Algorithm, class Number, class Compare> int call(void *state, size_t set)
{
    const peer_host_sets *sets = &static_cast<const peer_host *>(state)->sets;
    const tsr_select_problem *p = of(&sets->problem);
    const Number *x = static_cast<const Number *>(peer_host_set(sets, set, X));
    Number *result = static_cast<Number *>(peer_host_set(sets, set, RESULT));
    Number value;

    read_value(p, &value);
    const Number *end =
        Algorithm::run(x, x + p->n, result, [value](Number a) { return Compare()(a, value); });
    *static_cast<uint64_t *>(peer_host_set(sets, set, COUNT)) = static_cast<uint64_t>(end - result);
    return 0;
}

template <class Algorithm, class Number> peer_call *choose(const tsr_select_problem *p)
{
    peer_call *const calls[] = {/* as tsr_comparison */
                                call<Algorithm, Number, std::greater<Number>>,
                                call<Algorithm, Number, std::greater_equal<Number>>,
                                call<Algorithm, Number, std::less<Number>>,
                                call<Algorithm, Number, std::less_equal<Number>>,
                                call<Algorithm, Number, std::equal_to<Number>>,
                                call<Algorithm, Number, std::not_equal_to<Number>>};

    return calls[p->where];
}

template <class Algorithm> void *open(const peer_problem *p, char *why, size_t why_size)
{
    const tsr_select_problem *s = of(p);

    return peer_host_open(p,
                          s->type == TSR_F32   ? choose<Algorithm, float>(s)
                          : s->type == TSR_F64 ? choose<Algorithm, double>(s)
                                               : choose<Algorithm, int32_t>(s),
                          RESULT, why, why_size);
}

inline int result(void *state, void *const out[])
{
    const peer_host_sets *sets = &static_cast<const peer_host *>(state)->sets;

    std::memcpy(out[COUNT], peer_host_set(sets, 0, COUNT), sets->problem.bytes[COUNT]);
    return peer_host_result(state, out);
}

template <class Algorithm> peer describe(const char *name, const char *version)
{
    return peer{name,          version, PEER_CPU, nullptr, unsupported,    open<Algorithm>,
                peer_host_run, nullptr, nullptr,  result,  peer_host_close};
}

} // namespace select_peer

#endif
