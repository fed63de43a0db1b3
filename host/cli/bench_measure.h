/** The measuring of a bench: variants, peers and errors of each problem on a device. */
#ifndef CLI_BENCH_MEASURE_H
#define CLI_BENCH_MEASURE_H

#include "cli/bench_state.h"

/** Whether it ends before its time. */
bool bench_ended(const bench *b);

/** Measure every problem on a device, and print each row. */
void bench_on_device(bench *b, const tsr_device *device);

/** Print the rows that were measured and wait for their turn, where the bench ends before it. */
void bench_print_waiting(bench *b);

#endif
