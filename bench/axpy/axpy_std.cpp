/** The C++ library's std::transform: one thread. */
#include <algorithm>

#include "axpy_peer.hpp"

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
    template <class Number, class Operation>
    static void run(const Number *x, const Number *end, const Number *y, Number *z, Operation add)
    {
        std::transform(x, end, y, z, add);
    }
};

} // namespace

extern "C" PEER_EXPORT const peer_list *peer_module(void)
{
    /* The algorithm is a template: the library that compiled it is the one that runs. */
    static const peer the_peer = axpy_peer::describe<algorithm>("std::transform", LIBRARY_VERSION);
    static const peer_list list = AXPY_PEERS(&the_peer, 1);

    return &list;
}
