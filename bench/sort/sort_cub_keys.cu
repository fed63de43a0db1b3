/**
 * CUB's radix, merge and segmented sort of one key type.
 *
 * PEER_KEY is the type and PEER_SUFFIX what its functions' names end with (sort_cub_keys.h);
 * one type a compilation, since each keeps nvcc busy for half a minute.
 */
#include <cub/cub.cuh>
#include <cuda_fp16.h>

#include "sort_cub_keys.h"

#define JOIN_OF(a, b) a##b
#define JOIN(a, b)    JOIN_OF(a, b)

namespace
{

struct less_key {
    __host__ __device__ bool operator()(const PEER_KEY &a, const PEER_KEY &b) const
    {
        return a < b;
    }
};

struct greater_key {
    __host__ __device__ bool operator()(const PEER_KEY &a, const PEER_KEY &b) const
    {
        return a > b;
    }
};

template <class Compare> cudaError_t merge(const cub_job *job, void *temporary, size_t *bytes)
{
    PEER_KEY *keys = static_cast<PEER_KEY *>(job->keys_out);

    if (job->argsort)
        return cub::DeviceMergeSort::StableSortPairs(temporary, *bytes, keys, job->index_out,
                                                     job->n, Compare(), job->stream);
    return cub::DeviceMergeSort::SortKeys(temporary, *bytes, keys, job->n, Compare(), job->stream);
}

} // namespace

extern "C" cudaError_t JOIN(cub_merge_, PEER_SUFFIX)(const cub_job *job, void *temporary,
                                                     size_t *bytes)
{
    return job->descending ? merge<greater_key>(job, temporary, bytes)
                           : merge<less_key>(job, temporary, bytes);
}

namespace
{

template <class Value, class Count>
cudaError_t radix_pairs(const cub_job *job, const Value *values_in, Value *values_out,
                        void *temporary, size_t *bytes)
{
    const Count n = job->n;
    const PEER_KEY *in = static_cast<const PEER_KEY *>(job->keys_in);
    PEER_KEY *out = static_cast<PEER_KEY *>(job->keys_out);
    const int bits = 8 * static_cast<int>(sizeof(PEER_KEY));

    if (job->descending)
        return cub::DeviceRadixSort::SortPairsDescending(temporary, *bytes, in, out, values_in,
                                                         values_out, n, 0, bits, job->stream);
    return cub::DeviceRadixSort::SortPairs(temporary, *bytes, in, out, values_in, values_out, n, 0,
                                           bits, job->stream);
}

template <class Value, class Count>
cudaError_t radix_values(const cub_job *job, void *temporary, size_t *bytes)
{
    return radix_pairs<Value, Count>(job, static_cast<const Value *>(job->values_in),
                                     static_cast<Value *>(job->values_out), temporary, bytes);
}

/* CUB chooses its tiles by the type of n: on an H200 those of 64 bits are 7 to 15 % faster from 10M
 * keys on, and those of 32 bits 4 % up to 4M. */
template <class Count> cudaError_t radix(const cub_job *job, void *temporary, size_t *bytes)
{
    const Count n = job->n;
    const PEER_KEY *in = static_cast<const PEER_KEY *>(job->keys_in);
    PEER_KEY *out = static_cast<PEER_KEY *>(job->keys_out);
    const int bits = 8 * static_cast<int>(sizeof(PEER_KEY));

    if (job->argsort)
        return radix_pairs<int64_t, Count>(job, job->index_in, job->index_out, temporary, bytes);
    if (job->value_bytes == sizeof(uint32_t))
        return radix_values<uint32_t, Count>(job, temporary, bytes);
    if (job->value_bytes)
        return radix_values<int64_t, Count>(job, temporary, bytes);
    if (job->descending)
        return cub::DeviceRadixSort::SortKeysDescending(temporary, *bytes, in, out, n, 0, bits,
                                                        job->stream);
    return cub::DeviceRadixSort::SortKeys(temporary, *bytes, in, out, n, 0, bits, job->stream);
}

} // namespace

extern "C" cudaError_t JOIN(cub_radix_, PEER_SUFFIX)(const cub_job *job, void *temporary,
                                                     size_t *bytes)
{
    if (job->n < (1 << 23))
        return radix<int>(job, temporary, bytes);
    return radix<int64_t>(job, temporary, bytes);
}

extern "C" cudaError_t JOIN(cub_segments_, PEER_SUFFIX)(const cub_job *job, void *temporary,
                                                        size_t *bytes)
{
    using segmented = cub::DeviceSegmentedSort;
    const PEER_KEY *in = static_cast<const PEER_KEY *>(job->keys_in);
    PEER_KEY *out = static_cast<PEER_KEY *>(job->keys_out);
    const int *begin = job->offsets, *end = job->offsets + 1;

    if (job->argsort && job->descending)
        return segmented::StableSortPairsDescending(temporary, *bytes, in, out, job->index_in,
                                                    job->index_out, job->n, job->segments, begin,
                                                    end, job->stream);
    if (job->argsort)
        return segmented::StableSortPairs(temporary, *bytes, in, out, job->index_in, job->index_out,
                                          job->n, job->segments, begin, end, job->stream);
    if (job->descending)
        return segmented::SortKeysDescending(temporary, *bytes, in, out, job->n, job->segments,
                                             begin, end, job->stream);
    return segmented::SortKeys(temporary, *bytes, in, out, job->n, job->segments, begin, end,
                               job->stream);
}

extern "C" int JOIN(cub_version_, PEER_SUFFIX)(void)
{
    return CUB_VERSION;
}
