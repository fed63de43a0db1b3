/** The C++ library's parallel and vectorized std::copy_if, on the threads of oneTBB. */
#include <algorithm>
#include <cstdio>
#include <execution>
#include <tbb/info.h>
#include <tbb/version.h>

#include "select_peer.hpp"

namespace
{

struct algorithm {
    template <class Number, class Holds>
    static Number *run(const Number *first, const Number *last, Number *to, Holds holds)
    {
        return std::copy_if(std::execution::par_unseq, first, last, to, holds);
    }
};

} // namespace

extern "C" PEER_EXPORT const peer_list *peer_module(void)
{
    static char version[64];
    static const peer the_peer = select_peer::describe<algorithm>("parallel std::copy_if", version);
    static const peer_list list = SELECT_PEERS(&the_peer, 1);

    std::snprintf(version, sizeof(version), "TBB %s, %d threads", TBB_runtime_version(),
                  tbb::info::default_concurrency());
    return &list;
}
