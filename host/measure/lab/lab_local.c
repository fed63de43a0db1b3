/* Experiments on what work-items of one group share: local memory, barriers, sub-groups. */
#include <stdio.h>

#include "base/sizes.h"
#include "measure/lab/experiments.h"

/* ---- banks ---------------------------------------------------------------------------------- */

enum { BANKS_READS = 8, BANKS_TILE = 1024, BANKS_COPY = BANKS_TILE + 32 };

typedef struct banked {
    uint32_t stride, rounds;
} banked;

/* Rounds are even: half of them read the second copy, whose words are larger by 1. */
static uint32_t expect_banks(const void *context, size_t item)
{
    const banked *x = context;
    uint32_t sum = 0;

    for (uint32_t r = 0; r < BANKS_READS; r++)
        sum += ((uint32_t)(item % 32) * x->stride + r * 32) % BANKS_TILE * 2654435761u;
    return sum * x->rounds + x->rounds / 2 * BANKS_READS;
}

static tsr_status measure_banks(lab *l, tsr_error *err)
{
    static const uint32_t strides[] = {1, 2, 3, 4, 8, 16, 32, 0};
    static const char *const layouts[] = {"plain", "padded", "XOR"};
    const cl_uint rounds = (cl_uint)size_round_up(l->size, 2), other = BANKS_COPY;
    const size_t local = size_min(256, l->rig.facts->max_work_group / 32 * 32);
    const size_t items = l->rig.facts->compute_units * (l->rig.cpu ? 2 : 16) * local;
    cl_mem sums = NULL;
    tsr_status st = rig_buffer(&l->rig, CL_MEM_WRITE_ONLY, items * 4, &sums, err);

    l->size = rounds;
    for (int layout = 0; layout < 3; layout++) {
        for (size_t i = 0; i < sizeof strides / sizeof *strides && !st; i++) {
            const banked x = {strides[i], rounds};
            const bool conflicts = layout == 0 && x.stride % 2 == 0 && x.stride;
            lab_launch launch = {.l = l,
                                 .global = items,
                                 .local = local,
                                 .out = sums,
                                 .words = items,
                                 .expected = expect_banks,
                                 .context = &x};
            char options[64];

            snprintf(options, sizeof(options), "-DSTRIDE=%u -DREADS=%d -DLAYOUT=%d", x.stride,
                     BANKS_READS, layout);
            st = lab_kernel(l, options, "lab_banks", &launch.kernel, err);
            st = st ? st
                    : rig_args(launch.kernel,
                               (rig_arg[]){{&sums, sizeof(sums)},
                                           {&rounds, sizeof(rounds)},
                                           {&other, sizeof(other)}},
                               3, err);
            st = st ? st
                    : lab_measure(l,
                                  &(lab_point){.series = layouts[layout],
                                               .x = lab_number(x.stride).at,
                                               .run = lab_launch_run,
                                               .check = lab_launch_check,
                                               .state = &launch,
                                               .amount = 4.0 * BANKS_READS * rounds * (double)items,
                                               .base = layout == 0 && x.stride == 1,
                                               .claim = conflicts ? 1.0 / x.stride : 1},
                                  err);
        }
    }
    if (sums)
        clReleaseMemObject(sums);
    return st;
}

const experiment lab_banks = {
    .name = "banks",
    .summary = "neighbouring work-items read words of local memory that lie apart: bank conflicts",
    .knob = "stride",
    .counted = "rounds",
    .size_cpu = 128,
    .size = 4096,
    .unit = "GB/s",
    .claim =
        "Local memory has 32 banks of one word. Words that lie 2, 4 or 32 apart share 16, 8 or 1 "
        "of "
        "them, and reads of one bank wait for each other: 2, 4 or 32 times as long. One word for "
        "all (stride 0) is a broadcast, and costs nothing; neither does an odd stride. One more "
        "word a row (padded), or the column exclusive-ored with the row (XOR), and a column is as "
        "fast as a row.",
    .on_cpu =
        "A CPU has no such memory: its local memory is ordinary memory, mostly in the first "
        "cache, and a core reads the words of its work-items one after another, wherever they "
        "lie. So there are no conflicts, and nothing is gained by avoiding them.",
    .on_gpu =
        "Where the conflicts are few, the reads are not all that a round costs: addresses and "
        "sums take their own time, so a conflict costs less than its number of turns.",
    .source = "lab/lab_banks.cl",
    .measure = measure_banks,
};
