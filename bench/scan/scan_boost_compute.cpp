/** Boost.Compute: inclusive sums of one line of float32. */
#include <boost/compute/algorithm/inclusive_scan.hpp>
#include <boost/compute/functional/operator.hpp>

#include "peer_boost_compute.hpp"
#include "scan_peer.hpp"

namespace
{

namespace compute = boost::compute;
using boost_peer::state;

int sums(state *s, size_t set)
{
    const auto x = boost_peer::first<compute::float_>(s, set, scan_peer::X);
    const size_t n = scan_peer::of(&s->sets.problem)->n;

    compute::inclusive_scan(x, x + static_cast<std::ptrdiff_t>(n),
                            boost_peer::first<compute::float_>(s, set, scan_peer::RESULT),
                            compute::plus<compute::float_>(), s->queue);
    return 0;
}

/* Its scans begin with the 0 of their type, whatever combines them. */
const char *unsupported(const peer_problem *p)
{
    return scan_peer::of(p)->by == TSR_SCAN_SUM ? scan_peer::unsupported(p)
                                                : "its minima and maxima begin with 0";
}

void *open(const peer_problem *p, char *why, size_t why_size)
{
    return boost_peer::open(p, boost_peer::guarded<sums>, scan_peer::RESULT, why, why_size);
}

} // namespace

extern "C" PEER_EXPORT const peer_list *peer_module(void)
{
    static const peer the_peer = boost_peer::describe(unsupported, open);
    static const peer_list list = SCAN_PEERS(&the_peer, 1);

    return &list;
}
