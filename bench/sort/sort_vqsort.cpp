/** Highway's vectorized quicksort, one thread. */
#include <functional>

#include <hwy/contrib/sort/vqsort.h>
#include <hwy/highway.h>

#include "host_sort.hpp"

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

namespace
{

struct algorithms : host_sort::one_by_one {
    static constexpr bool sorts_items = false;

    template <class T> static void sort(T *first, T *last, size_t, std::less<T>)
    {
        hwy::Sorter()(first, static_cast<size_t>(last - first), hwy::SortAscending());
    }
    template <class T> static void sort(T *first, T *last, size_t, std::greater<T>)
    {
        hwy::Sorter()(first, static_cast<size_t>(last - first), hwy::SortDescending());
    }
};

} // namespace

extern "C" PEER_EXPORT const peer_list *peer_module(void)
{
    static const peer the_peer = host_sort::describe<algorithms>(
        "vqsort", /* of the headers: the library has no call for it */
        "Highway " TEXT(HWY_MAJOR) "." TEXT(HWY_MINOR) "." TEXT(HWY_PATCH));

    return peer_sort_module(&the_peer, 1);
}
