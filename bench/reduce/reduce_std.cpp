/** The C++ library's std::reduce: one thread, several partial results. */
#include <numeric>

#include "reduce_peer.hpp"

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
    static float run(const float *first, const float *last, float start, Combine combine)
    {
        return std::reduce(first, last, start, combine);
    }
};

} // namespace

extern "C" PEER_EXPORT const peer_list *peer_module(void)
{
    /* The algorithm is a template: the library that compiled it is the one that runs. */
    static const peer the_peer = reduce_peer::describe<algorithm>("std::reduce", LIBRARY_VERSION);
    static const peer_list list = REDUCE_PEERS(&the_peer, 1);

    return &list;
}
