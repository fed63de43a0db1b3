/** Histograms as other libraries take them. */
#ifndef BENCH_HISTOGRAM_PEER_HPP
#define BENCH_HISTOGRAM_PEER_HPP

#include <climits>
#include <cmath>
#include <cstdint>

#include <tessera/histogram.h>

#include "peer_common.h"

#define HISTOGRAM_PEERS(peers, count)                                                              \
    {                                                                                              \
        PEER_ABI, "histogram", sizeof(tsr_histogram_problem), (peers), (count), 0, 0               \
    }

namespace histogram_peer
{

enum { X, EDGES, COUNTS };

inline const tsr_histogram_problem *of(const peer_problem *p)
{
    return static_cast<const tsr_histogram_problem *>(p->problem);
}

/* In host memory; those of uint8 are float32, too. */
inline const float *edges_of(const peer_problem *p)
{
    return static_cast<const float *>(p->operand[EDGES]);
}

/* Whether bin i has the whole number low + i and no other; the last one too, which has its upper
 * edge. */
inline bool has_bin_for_each(const peer_problem *p)
{
    const float *edges = edges_of(p);
    const size_t bins = of(p)->bins;

    if (edges[0] < 0 || edges[0] != std::floor(edges[0]) || edges[bins] != UINT8_MAX + 1)
        return false;
    for (size_t i = 1; i <= bins; i++)
        if (edges[i] != edges[0] + static_cast<float>(i))
            return false;
    return true;
}

inline const char *unsupported(const peer_problem *p)
{
    const tsr_histogram_problem *h = of(p);

    if (h->type != TSR_U8 && h->type != TSR_F32)
        return "built for uint8 and float32";
    if (h->weights)
        return "asked here for counts alone";
    if (h->add)
        return "it does not add to counts that are there";
    if (h->n == 0)
        return "no elements: nothing to time";
    if (h->n > INT_MAX || h->bins >= INT_MAX)
        return "built for up to 2^31 - 1 elements and bins";
    if (h->type == TSR_U8 && !(edges_of(p) && has_bin_for_each(p)))
        return "asked here for one bin for each value of uint8, the last one 255";
    return nullptr;
}

} // namespace histogram_peer

#endif
