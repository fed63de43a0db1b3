/**
 * The C++ library's parallel sorts, std::execution::par, on the threads of oneTBB;
 * of rows and segments several at a time.
 */
#include <algorithm>
#include <execution>
#include <tbb/blocked_range.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/version.h>

#include <cstdio>

#include "host_sort.hpp"

namespace
{

struct algorithms {
    static constexpr bool sorts_items = true;

    template <class Body> static void for_each_part(const peer_problem *p, Body body)
    {
        tbb::parallel_for(tbb::blocked_range<size_t>(0, peer_sort_parts(p)),
                          [=](const tbb::blocked_range<size_t> &some) {
                              for (size_t i = some.begin(); i != some.end(); i++)
                                  body(i);
                          });
    }

    /* What is as long as a thread's share of all keys keeps others waiting: they take part. */
    static bool divides(size_t n, size_t all)
    {
        static const size_t threads = static_cast<size_t>(tbb::info::default_concurrency());

        return n >= all / threads;
    }
    template <class I, class Compare> static void sort(I first, I last, size_t all, Compare compare)
    {
        if (divides(static_cast<size_t>(last - first), all))
            std::sort(std::execution::par, first, last, compare);
        else
            std::sort(first, last, compare);
    }
    template <class I, class Compare>
    static void stable_sort(I first, I last, size_t all, Compare compare)
    {
        if (divides(static_cast<size_t>(last - first), all))
            std::stable_sort(std::execution::par, first, last, compare);
        else
            std::stable_sort(first, last, compare);
    }
};

} // namespace

extern "C" PEER_EXPORT const peer_list *peer_module(void)
{
    static char version[64];
    static const peer the_peer = host_sort::describe<algorithms>("parallel std::sort", version);

    std::snprintf(version, sizeof(version), "TBB %s, %d threads", TBB_runtime_version(),
                  tbb::info::default_concurrency());
    return peer_sort_module(&the_peer, 1);
}
