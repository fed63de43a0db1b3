/** The C++ library's std::copy_if, on one thread. */
#include <algorithm>

#include "select_peer.hpp"

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
    template <class Number, class Holds>
    static Number *run(const Number *first, const Number *last, Number *to, Holds holds)
    {
        return std::copy_if(first, last, to, holds);
    }
};

} // namespace

extern "C" PEER_EXPORT const peer_list *peer_module(void)
{
    /* The algorithm is a template: the library that compiled it is the one that runs. */
    static const peer the_peer = select_peer::describe<algorithm>("std::copy_if", LIBRARY_VERSION);
    static const peer_list list = SELECT_PEERS(&the_peer, 1);

    return &list;
}
