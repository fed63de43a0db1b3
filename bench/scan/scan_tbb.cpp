/** The C++ library's parallel and vectorized std::inclusive_scan, on the threads of oneTBB. */
#include <cstdio>
#include <execution>
#include <numeric>
#include <tbb/info.h>
#include <tbb/version.h>

#include "scan_peer.hpp"

namespace
{

struct algorithm {
    template <class Combine>
    static void run(const float *first, const float *last, float *to, Combine combine)
    {
        std::inclusive_scan(std::execution::par_unseq, first, last, to, combine);
    }
};

/* libstdc++'s blocks begin with the 0 of their type, whatever combines them. */
const char *unsupported(const peer_problem *p)
{
    return scan_peer::of(p)->by == TSR_SCAN_SUM ? scan_peer::unsupported(p)
                                                : "its minima and maxima begin with 0";
}

} // namespace

extern "C" PEER_EXPORT const peer_list *peer_module(void)
{
    static char version[64];
    static const peer the_peer =
        scan_peer::describe<algorithm>("parallel std::inclusive_scan", version, unsupported);
    static const peer_list list = SCAN_PEERS(&the_peer, 1);

    std::snprintf(version, sizeof(version), "TBB %s, %d threads", TBB_runtime_version(),
                  tbb::info::default_concurrency());
    return &list;
}
