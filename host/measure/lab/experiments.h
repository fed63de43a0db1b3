/** The experiments, by the file that they are in: lab.c lists them in the order of learning. */
#ifndef MEASURE_LAB_EXPERIMENTS_H
#define MEASURE_LAB_EXPERIMENTS_H

#include "measure/lab/lab.h"

/* lab_memory.c: global memory */
extern const experiment lab_stride, lab_structures, lab_latency, lab_warps;

/* lab_compute.c: instructions */
extern const experiment lab_chains, lab_subdevices, lab_integers, lab_divergence, lab_branches,
    lab_registers;

/* lab_local.c: work-items of one group */
extern const experiment lab_banks, lab_barriers, lab_exchange, lab_votes, lab_masks, lab_atomics;

/* lab_host.c: what the host does */
extern const experiment lab_launches, lab_transfers, lab_allocation, lab_queues, lab_creation;

/* lab_graphs.c: what takes the place of many launches */
extern const experiment lab_grid, lab_graphs, lab_children;

/* lab_clusters.c: groups that run together */
extern const experiment lab_clusters;

#endif
