/** The C++ library's parallel and vectorized std::transform, on the threads of oneTBB. */
#include <algorithm>
#include <cstdio>
#include <execution>
#include <tbb/info.h>
#include <tbb/version.h>

#include "axpy_peer.hpp"

namespace
{

struct algorithm {
    template <class Number, class Operation>
    static void run(const Number *x, const Number *end, const Number *y, Number *z, Operation add)
    {
        std::transform(std::execution::par_unseq, x, end, y, z, add);
    }
};

} // namespace

extern "C" PEER_EXPORT const peer_list *peer_module(void)
{
    static char version[64];
    static const peer the_peer = axpy_peer::describe<algorithm>("parallel std::transform", version);
    static const peer_list list = AXPY_PEERS(&the_peer, 1);

    std::snprintf(version, sizeof(version), "TBB %s, %d threads", TBB_runtime_version(),
                  tbb::info::default_concurrency());
    return &list;
}
