/** The C++ library's parallel sorts, std::execution::par, on the threads of oneTBB. */
#include <algorithm>
#include <execution>
#include <tbb/info.h>
#include <tbb/version.h>

#include <cstdio>

#include "peer_host_sort.hpp"

namespace
{

struct algorithms {
    static constexpr bool sorts_items = true;

    template <class I, class Compare> static void sort(I first, I last, Compare compare)
    {
        std::sort(std::execution::par, first, last, compare);
    }
    template <class I, class Compare> static void stable_sort(I first, I last, Compare compare)
    {
        std::stable_sort(std::execution::par, first, last, compare);
    }
};

} // namespace

extern "C" PEER_EXPORT const peer_list *peer_module(void)
{
    static char version[64];
    static const peer the_peer = host_sort::describe<algorithms>("parallel std::sort", version);
    static const peer_list list = {PEER_ABI, &the_peer, 1};

    std::snprintf(version, sizeof(version), "TBB %s, %d threads", TBB_runtime_version(),
                  tbb::info::default_concurrency());
    return &list;
}
