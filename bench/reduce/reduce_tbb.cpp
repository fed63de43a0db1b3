/** The C++ library's parallel and vectorized std::reduce, on the threads of oneTBB. */
#include <cstdio>
#include <execution>
#include <numeric>
#include <tbb/info.h>
#include <tbb/version.h>

#include "reduce_peer.hpp"

namespace
{

struct algorithm {
    template <class Combine>
    static float run(const float *first, const float *last, float start, Combine combine)
    {
        return std::reduce(std::execution::par_unseq, first, last, start, combine);
    }
};

} // namespace

extern "C" PEER_EXPORT const peer_list *peer_module(void)
{
    static char version[64];
    static const peer the_peer = reduce_peer::describe<algorithm>("parallel std::reduce", version);
    static const peer_list list = REDUCE_PEERS(&the_peer, 1);

    std::snprintf(version, sizeof(version), "TBB %s, %d threads", TBB_runtime_version(),
                  tbb::info::default_concurrency());
    return &list;
}
