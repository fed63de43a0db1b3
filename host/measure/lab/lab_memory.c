/* Experiments on global memory. */
#include <stdio.h>

#include "base/sizes.h"
#include "measure/lab/experiments.h"

/* ---- stride --------------------------------------------------------------------------------- */

enum { STRIDE_READS = 16, STRIDE_MAX = 32 };

typedef struct strided {
    uint32_t stride, items;
} strided;

/* The words hold their own numbers. */
static uint32_t expect_read(const void *context, size_t item)
{
    const strided *x = context;
    uint32_t sum = 0;

    for (uint32_t r = 0; r < STRIDE_READS; r++)
        sum += (r * x->items + (uint32_t)item) * x->stride;
    return sum;
}

/* The words between those that are written stay as they were. */
static uint32_t expect_written(const void *context, size_t word)
{
    const strided *x = context;

    return word % x->stride ? 0xFFFFFFFFu : (uint32_t)word / x->stride;
}

static tsr_status measure_stride(lab *l, tsr_error *err)
{
    const size_t words = size_round_up(l->size, (size_t)STRIDE_MAX * STRIDE_READS * LAB_GROUP);
    cl_mem array = NULL, sums = NULL;
    tsr_status st = lab_numbers(l, words, &array, err);

    l->size = words;
    st = st ? st : rig_buffer(&l->rig, CL_MEM_WRITE_ONLY, words / STRIDE_READS * 4, &sums, err);
    for (int write = 0; write < 2; write++) {
        for (uint32_t stride = 1; stride <= STRIDE_MAX && !st; stride *= 2) {
            const size_t items = words / stride / STRIDE_READS;
            const strided x = {stride, (uint32_t)items};
            lab_launch launch = {.l = l,
                                 .global = items,
                                 .local = LAB_GROUP,
                                 .out = write ? array : sums,
                                 .words = write ? words : items,
                                 .expected = write ? expect_written : expect_read,
                                 .context = &x};
            char options[64];

            snprintf(options, sizeof(options), "-DSTRIDE=%u -DREADS=%d", stride, STRIDE_READS);
            st = lab_kernel(l, options, write ? "lab_stride_write" : "lab_stride_read",
                            &launch.kernel, err);
            st = st ? st
                    : rig_args(launch.kernel,
                               write ? (rig_arg[]){{&array, sizeof(array)}}
                                     : (rig_arg[]){{&array, sizeof(array)}, {&sums, sizeof(sums)}},
                               write ? 1 : 2, err);
            st = st ? st
                    : lab_measure(l,
                                  &(lab_point){.series = write ? "write" : "read",
                                               .x = lab_number(stride).at,
                                               .run = lab_launch_run,
                                               .check = lab_launch_check,
                                               .state = &launch,
                                               .amount = (double)(items * STRIDE_READS * 4),
                                               .base = stride == 1,
                                               .claim = 1.0 / stride},
                                  err);
        }
    }
    if (sums)
        clReleaseMemObject(sums);
    if (array)
        clReleaseMemObject(array);
    return st;
}

const experiment lab_stride = {
    .name = "stride",
    .summary = "neighbouring work-items touch words that lie apart: coalescing",
    .knob = "stride",
    .counted = "words",
    .size_cpu = (size_t)1 << 25,
    .size = (size_t)1 << 28,
    .unit = "GB/s",
    .claim =
        "Memory moves in lines of 128 bytes. The 32 work-items of a warp that read 32 words side "
        "by side need one; words that lie 32 apart need 32 lines, and 97% of what moves is thrown "
        "away. So each doubling of the stride halves the useful rate.",
    .on_cpu =
        "A CPU has no warps: each core walks through the work-items of a group one after "
        "another. It too moves whole lines, of 64 bytes or 16 words, so the useful rate falls "
        "until the stride is 16; what else it loses or keeps is the work of its caches and of "
        "its prefetcher, which guesses the next line of a regular walk.",
    .on_gpu =
        "The rate halves only as far as whole sectors are wasted: a line of 128 bytes has four "
        "of 32, and those that nobody asked for stay in memory. From stride 8 on each word "
        "costs one sector, however far apart they lie; what is lost beyond that, the "
        "memory's own bursts and pages lose.",
    .source = "lab/lab_stride.cl",
    .measure = measure_stride,
};
