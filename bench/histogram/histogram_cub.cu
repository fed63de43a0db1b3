/**
 * CUB: histograms of uint8 with a bin for each of some values that follow one another, and of
 * float32 by their edges, which are searched: its even bins of floats are found with rounded
 * arithmetic, and not always NumPy's.
 */
#include <climits>
#include <cmath>
#include <cstdint>
#include <cub/device/device_histogram.cuh>
#include <vector>

#include <tessera/histogram.h>

#include "peer_cub.h"

namespace
{

enum { X, EDGES, COUNTS };

const tsr_histogram_problem *histogram_of(const peer_problem *p)
{
    return static_cast<const tsr_histogram_problem *>(p->problem);
}

/* In host memory. */
const float *edges_of(const peer_problem *p)
{
    return static_cast<const float *>(p->operand[EDGES]);
}

/* It counts in 32 bits, which is faster, in the first half of the memory of the counts. */
unsigned *counts_of(const cub_arguments *a)
{
    return static_cast<unsigned *>(a->operand[COUNTS]);
}

cudaError_t count_bytes(const cub_arguments *a)
{
    const tsr_histogram_problem *p = histogram_of(a->problem);
    const int bins = static_cast<int>(p->bins), low = static_cast<int>(edges_of(a->problem)[0]);

    return cub::DeviceHistogram::HistogramEven(
        a->temporary, *a->temporary_bytes, static_cast<const uint8_t *>(a->operand[X]),
        counts_of(a), bins + 1, low, low + bins, static_cast<int>(p->n), a->stream);
}

cudaError_t count_floats(const cub_arguments *a)
{
    const tsr_histogram_problem *p = histogram_of(a->problem);

    return cub::DeviceHistogram::HistogramRange(
        a->temporary, *a->temporary_bytes, static_cast<const float *>(a->operand[X]), counts_of(a),
        static_cast<int>(p->bins) + 1, static_cast<const float *>(a->operand[EDGES]),
        static_cast<int>(p->n), a->stream);
}

/* Whether bin i has the whole number low + i and no other; the last one too, which has its upper
 * edge. */
bool has_bin_for_each(const peer_problem *p)
{
    const float *edges = edges_of(p);
    const size_t bins = histogram_of(p)->bins;

    if (edges[0] < 0 || edges[0] != std::floor(edges[0]) || edges[bins] != UINT8_MAX + 1)
        return false;
    for (size_t i = 1; i <= bins; i++)
        if (edges[i] != edges[0] + static_cast<float>(i))
            return false;
    return true;
}

const char *unsupported(const peer_problem *p)
{
    const tsr_histogram_problem *h = histogram_of(p);

    if (h->type != TSR_U8 && h->type != TSR_F32)
        return "built for uint8 and float32";
    if (h->weights)
        return "it adds up no weights";
    if (h->add)
        return "it does not add to counts that are there";
    if (h->n == 0)
        return "no elements: nothing to time";
    if (h->n > INT_MAX || h->bins >= INT_MAX)
        return "built for up to 2^31 - 1 elements and bins";
    if (h->type == TSR_U8 && !(edges_of(p) && has_bin_for_each(p)))
        return "asked here for one bin for each value of uint8, the last one 255";
    return peer_cuda_unsupported(p);
}

void *open(const peer_problem *p, char *why, size_t why_size)
{
    peer_problem wanted = *p;
    std::vector<float> edges;
    const size_t bins = histogram_of(p)->bins;

    if (histogram_of(p)->type == TSR_U8)
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

    for (size_t i = histogram_of(cub_problem(state))->bins; i-- > 0;)
        counts[i] = narrow[i];
    return rc;
}

} // namespace

extern "C" PEER_EXPORT const peer_list *peer_module(void)
{
    static const peer the_peer = {"CUB",       cub_version(CUB_VERSION),
                                  PEER_CUDA,   nullptr,
                                  unsupported, open,
                                  cub_run,     cub_run_held,
                                  nullptr,     result,
                                  cub_close};
    static const peer_list list = {
        PEER_ABI, "histogram", sizeof(tsr_histogram_problem), &the_peer, 1, nullptr, nullptr};

    return &list;
}
