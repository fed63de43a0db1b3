/** The C++ library's std::inclusive_scan, on one thread. */
#include <numeric>

#include "scan_peer.hpp"

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

#if defined(_LIBCPP_VERSION)
#define LIBRARY_VERSION "libc++ " TEXT(_LIBCPP_VERSION)
#else
#define LIBRARY_VERSION "libstdc++ " TEXT(_GLIBCXX_RELEASE)
#endif

namespace
{

struct algorithm {
    template <class Combine>
    static void run(const float *first, const float *last, float *to, Combine combine)
    {
        std::inclusive_scan(first, last, to, combine);
    }
};

} // namespace

extern "C" PEER_EXPORT const peer_list *peer_module(void)
{
    /* The algorithm is a template: the library that compiled it is the one that runs. */
    static const peer the_peer =
        scan_peer::describe<algorithm>("std::inclusive_scan", LIBRARY_VERSION);
    static const peer_list list = SCAN_PEERS(&the_peer, 1);

    return &list;
}
