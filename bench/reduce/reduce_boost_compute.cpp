/** Boost.Compute: the sum, minimum or maximum of a whole float32 array. */
#include <boost/compute/algorithm/reduce.hpp>
#include <boost/compute/functional/integer.hpp>
#include <boost/compute/functional/operator.hpp>

#include "peer_boost_compute.hpp"
#include "reduce_peer.hpp"

namespace
{

namespace compute = boost::compute;
using boost_peer::state;

template <class Combine> int reduce(state *s, size_t set)
{
    const auto x = boost_peer::first<compute::float_>(s, set, reduce_peer::X);
    const size_t n = reduce_peer::of(&s->sets.problem)->n;

    compute::reduce(x, x + static_cast<std::ptrdiff_t>(n),
                    boost_peer::first<compute::float_>(s, set, reduce_peer::RESULT), Combine(),
                    s->queue);
    return 0;
}

void *open(const peer_problem *p, char *why, size_t why_size)
{
    static peer_call *const calls[] = {/* as tsr_reduction */
                                       boost_peer::guarded<reduce<compute::plus<compute::float_>>>,
                                       boost_peer::guarded<reduce<compute::min<compute::float_>>>,
                                       boost_peer::guarded<reduce<compute::max<compute::float_>>>};

    return boost_peer::open(p, calls[reduce_peer::of(p)->by], reduce_peer::RESULT, why, why_size);
}

} // namespace

extern "C" PEER_EXPORT const peer_list *peer_module(void)
{
    static const peer the_peer = boost_peer::describe(reduce_peer::unsupported, open);
    static const peer_list list = REDUCE_PEERS(&the_peer, 1);

    return &list;
}
