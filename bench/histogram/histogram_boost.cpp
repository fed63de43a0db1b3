/**
 * Boost.Histogram, on one thread: counts of uint8 by value, with a bin for each of some values that
 * follow one another, and of float32 by their edges, which are searched.
 */
#include <boost/histogram/axis/integer.hpp>
#include <boost/histogram/axis/variable.hpp>
#include <boost/histogram/histogram.hpp>
#include <boost/histogram/make_histogram.hpp>
#include <boost/version.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

#include "histogram_peer.hpp"

namespace
{

using namespace histogram_peer;
namespace histogram = boost::histogram;

/* What is outside of all bins is not counted. */
using outside = histogram::axis::option::none_t;
using none = histogram::use_default;

/* The elements of an array, as fill() takes them. */
template <class Number> class elements
{
    const Number *first;
    size_t count;

  public:
    elements(const Number *first_, size_t count_) : first(first_), count(count_)
    {
    }
    const Number *data() const
    {
        return first;
    }
    size_t size() const
    {
        return count;
    }
    const Number *begin() const
    {
        return first;
    }
    const Number *end() const
    {
        return first + count;
    }
};

/* Count the elements of a set along an axis. */
template <class Number, class Axis> void count(const peer_host_sets *sets, size_t set, Axis axis)
{
    const tsr_histogram_problem *p = of(&sets->problem);
    const Number *x = static_cast<const Number *>(peer_host_set(sets, set, X));
    int64_t *counts = static_cast<int64_t *>(peer_host_set(sets, set, COUNTS));
    auto h = histogram::make_histogram_with(std::vector<int64_t>(), axis);

    h.fill(elements<Number>(x, p->n));
    for (size_t i = 0; i < p->bins; i++)
        counts[i] = h.at(static_cast<int>(i));
}

/* No exception crosses the C interface. */
int call(void *state, size_t set)
{
    const peer_host_sets *sets = &static_cast<const peer_host *>(state)->sets;
    const tsr_histogram_problem *p = of(&sets->problem);
    const float *edges = edges_of(&sets->problem);
    const int low = static_cast<int>(edges[0]);

    try {
        if (p->type == TSR_U8) {
            using by_value = histogram::axis::integer<int, none, outside>;

            count<uint8_t>(sets, set, by_value(low, low + static_cast<int>(p->bins)));
        } else {
            using by_edges = histogram::axis::variable<float, none, outside>;
            std::vector<float> own(edges, edges + p->bins + 1);

            /* Its last bin has not its upper edge. */
            own.back() = std::nextafter(own.back(), INFINITY);
            count<float>(sets, set, by_edges(own));
        }
    } catch (const std::exception &) {
        return -1;
    }
    return 0;
}

const char *why_not(const peer_problem *p)
{
    const float *edges = edges_of(p);
    const char *why = unsupported(p);

    for (size_t i = 0; edges && !why && i < of(p)->bins; i++)
        if (edges[i] == edges[i + 1])
            why = "it takes no empty bins";
    return why;
}

void *open(const peer_problem *p, char *why, size_t why_size)
{
    return peer_host_open(p, call, COUNTS, why, why_size);
}

} // namespace

extern "C" PEER_EXPORT const peer_list *peer_module(void)
{
    static char version[64];
    static const peer the_peer = {
        "Boost.Histogram", version, PEER_CPU, nullptr,          why_not,        open,
        peer_host_run,     nullptr, nullptr,  peer_host_result, peer_host_close};
    static const peer_list list = HISTOGRAM_PEERS(&the_peer, 1);

    /* Headers only: the library that was compiled is the one that runs. */
    std::snprintf(version, sizeof(version), "%d.%d.%d", BOOST_VERSION / 100000,
                  BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100);
    return &list;
}
