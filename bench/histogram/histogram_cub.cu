/**
 * CUB: histograms of uint8 with a bin for each of some values that follow one another, and of
 * float32 by their edges, which are searched: its even bins of floats are found with rounded
 * arithmetic, and not always NumPy's.
 */
#include <cmath>
#include <cstdint>
#include <cub/device/device_histogram.cuh>
#include <vector>

#include "histogram_peer.hpp"
#include "peer_cub.h"

namespace
{

using namespace histogram_peer;

/* It counts in 32 bits, which is faster, in the first half of the memory of the counts. */
unsigned *counts_of(const cub_arguments *a)
{
    return static_cast<unsigned *>(a->operand[COUNTS]);
}

cudaError_t count_bytes(const cub_arguments *a)
{
    const tsr_histogram_problem *p = of(a->problem);
    const int bins = static_cast<int>(p->bins), low = static_cast<int>(edges_of(a->problem)[0]);

    return cub::DeviceHistogram::HistogramEven(
        a->temporary, *a->temporary_bytes, static_cast<const uint8_t *>(a->operand[X]),
        counts_of(a), bins + 1, low, low + bins, static_cast<int>(p->n), a->stream);
}

cudaError_t count_floats(const cub_arguments *a)
{
    const tsr_histogram_problem *p = of(a->problem);

    return cub::DeviceHistogram::HistogramRange(
        a->temporary, *a->temporary_bytes, static_cast<const float *>(a->operand[X]), counts_of(a),
        static_cast<int>(p->bins) + 1, static_cast<const float *>(a->operand[EDGES]),
        static_cast<int>(p->n), a->stream);
}

const char *why_not(const peer_problem *p)
{
    const char *why = unsupported(p);

    return why ? why : peer_cuda_unsupported(p);
}

void *open(const peer_problem *p, char *why, size_t why_size)
{
    peer_problem wanted = *p;
    std::vector<float> edges;
    const size_t bins = of(p)->bins;

    if (of(p)->type == TSR_U8)
        return cub_open(count_bytes, 1u << COUNTS, p, why, why_size);
    /* Its last bin has not its upper edge. */
    edges.assign(edges_of(p), edges_of(p) + bins + 1);
    edges[bins] = std::nextafter(edges[bins], INFINITY);
    wanted.operand[EDGES] = edges.data();
    return cub_open(count_floats, 1u << COUNTS, &wanted, why, why_size);
}

int result(void *state, void *const out[])
{
    const int rc = cub_result(state, out);
    const unsigned *narrow = static_cast<const unsigned *>(out[COUNTS]);
    int64_t *counts = static_cast<int64_t *>(out[COUNTS]);

    for (size_t i = of(cub_problem(state))->bins; i-- > 0;)
        counts[i] = narrow[i];
    return rc;
}

} // namespace

extern "C" PEER_EXPORT const peer_list *peer_module(void)
{
    static const peer the_peer = {"CUB",     cub_version(CUB_VERSION),
                                  PEER_CUDA, nullptr,
                                  why_not,   open,
                                  cub_run,   cub_run_held,
                                  nullptr,   result,
                                  cub_close};
    static const peer_list list = HISTOGRAM_PEERS(&the_peer, 1);

    return &list;
}
