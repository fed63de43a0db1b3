/** `tessera bench overlap`: the table of copies that hide behind compute. */
#ifndef CLI_BENCH_OVERLAP_H
#define CLI_BENCH_OVERLAP_H

#include "cli/options.h"

/** Run it; returns an exit status. */
int bench_overlap(const options *o);

#endif
