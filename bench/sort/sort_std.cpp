/** The C++ library's std::sort, and std::stable_sort for an argsort: one thread. */
#include <algorithm>

#include "host_sort.hpp"

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

#if defined(_LIBCPP_VERSION)
#define LIBRARY_VERSION "libc++ " TEXT(_LIBCPP_VERSION)
#else
#define LIBRARY_VERSION "libstdc++ " TEXT(_GLIBCXX_RELEASE)
#endif

namespace
{

struct algorithms : host_sort::one_by_one {
    static constexpr bool sorts_items = true;

    template <class I, class Compare> static void sort(I first, I last, size_t, Compare compare)
    {
        std::sort(first, last, compare);
    }
    template <class I, class Compare>
    static void stable_sort(I first, I last, size_t, Compare compare)
    {
        std::stable_sort(first, last, compare);
    }
};

} // namespace

extern "C" PEER_EXPORT const peer_list *peer_module(void)
{
    /* The algorithms are templates: the library that compiled them is the one that runs. */
    static const peer the_peer = host_sort::describe<algorithms>("std::sort", LIBRARY_VERSION);

    return peer_sort_module(&the_peer, 1);
}
