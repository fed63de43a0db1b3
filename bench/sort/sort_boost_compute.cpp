/**
 * Boost.Compute on the row's OpenCL device: sort() for keys, and
 * stable_sort_by_key() for an argsort.  On a GPU these are radix sorts, on a CPU
 * merge sorts.
 */
#include <boost/compute/algorithm/sort.hpp>
#include <boost/compute/algorithm/stable_sort_by_key.hpp>
#include <boost/compute/functional/operator.hpp>

#include "peer_boost_compute.hpp"
#include "sort_peer.h"

namespace
{

namespace compute = boost::compute;
using boost_peer::guarded;
using boost_peer::state;

template <class T, class Compare> int sort_keys(state *s, size_t set)
{
    const auto keys = boost_peer::first<T>(s, set, SORT_KEYS);
    const auto n = static_cast<std::ptrdiff_t>(sort_of(&s->sets.problem)->n);

    compute::sort(keys, keys + n, Compare(), s->queue);
    return 0;
}

template <class T, class Compare> int sort_by_key(state *s, size_t set)
{
    const auto keys = boost_peer::first<T>(s, set, SORT_KEYS);
    const auto n = static_cast<std::ptrdiff_t>(sort_of(&s->sets.problem)->n);

    compute::stable_sort_by_key(
        keys, keys + n, boost_peer::first<compute::long_>(s, set, SORT_INDEX), Compare(), s->queue);
    return 0;
}

template <class T> peer_call *choose_order(const peer_problem *p)
{
    if (sort_of(p)->argsort)
        return sort_of(p)->descending ? guarded<sort_by_key<T, compute::greater<T>>>
                                      : guarded<sort_by_key<T, compute::less<T>>>;
    return sort_of(p)->descending ? guarded<sort_keys<T, compute::greater<T>>>
                                  : guarded<sort_keys<T, compute::less<T>>>;
}

peer_call *choose(const peer_problem *p)
{
    switch (p->type) {
    case TSR_F32:
        return choose_order<compute::float_>(p);
    case TSR_F64:
        return choose_order<compute::double_>(p);
    case TSR_I32:
        return choose_order<compute::int_>(p);
    case TSR_U32:
        return choose_order<compute::uint_>(p);
    case TSR_I64:
        return choose_order<compute::long_>(p);
    default:
        return choose_order<compute::ulong_>(p);
    }
}

void *open(const peer_problem *p, char *why, size_t why_size)
{
    peer_problem held;
    int64_t *positions;

    if (peer_with_positions(p, &held, &positions) != 0) {
        peer_say(why, why_size, "no memory for %zu positions", peer_sort_keys(p));
        return nullptr;
    }
    return boost_peer::open(&held, choose(p), SORT_KEYS, true, positions, why, why_size);
}

int result(void *of, void *const out[])
{
    state *s = static_cast<state *>(of);
    const int rc = boost_peer::result(of, out);

    return rc == 0 && sort_of(&s->sets.problem)->argsort
               ? peer_cl_set_read(&s->sets, 0, SORT_INDEX, out[SORT_INDEX])
               : rc;
}

} // namespace

extern "C" PEER_EXPORT const peer_list *peer_module(void)
{
    static peer the_peer = boost_peer::describe(
        [](const peer_problem *p) { return peer_sequence_unsupported(p, SORT_WIDE_TYPES); }, open);

    the_peer.restore = boost_peer::restore;
    the_peer.result = result;
    return peer_sort_module(&the_peer, 1);
}
