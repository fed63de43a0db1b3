/** CUB's sorts of one key type each; sort_cub_keys.cu is compiled once a type. */
#ifndef BENCH_SORT_CUB_KEYS_H
#define BENCH_SORT_CUB_KEYS_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cub_job {
    int n;
    int argsort, descending;
    int segments;        /* with a segmented sort: their number, */
    const int *offsets;  /* and on the device where each starts, and behind them n */
    const void *keys_in; /* n keys; a merge sort works in keys_out, from what is there */
    void *keys_out;
    const int64_t *index_in; /* with an argsort; index_out as keys_out */
    int64_t *index_out;
    size_t value_bytes; /* 4 or 8 with values, which a radix sort takes; 0: there are none */
    const void *values_in;
    void *values_out;
    cudaStream_t stream;
} cub_job;

/** A sort with `*bytes` bytes of temporary memory; where temporary is NULL it only sets *bytes. */
typedef cudaError_t cub_sort(const cub_job *job, void *temporary, size_t *bytes);

/** A sort's functions, in the order of tsr_type. */
#define CUB_SORTS(sort)                                                                            \
    sort##_f32, sort##_f64, sort##_i32, sort##_u32, sort##_i64, sort##_u64, sort##_f16, sort##_i8, \
        sort##_u8, sort##_i16, sort##_u16

cub_sort CUB_SORTS(cub_radix), CUB_SORTS(cub_merge), CUB_SORTS(cub_segments);

/** CUB_VERSION: 300001 is 3.0.1. */
int cub_version_u32(void);

#ifdef __cplusplus
}
#endif
#endif
