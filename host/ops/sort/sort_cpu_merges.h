/** The variant of sort by merges of runs, for CPUs: cl/sort/sort_cpu_merges.cl. */
#ifndef OPS_SORT_ITEM_MERGES_H
#define OPS_SORT_ITEM_MERGES_H

#include "core/variant.h"
#include "ops/sort/sort_vector_block.h"

/* Entries of cl/sort/sort_cpu_merges.cl, in the variant's order. */
enum { ITEM_MERGES_BLOCK, ITEM_MERGES_MERGE, ITEM_MERGES_KEEP };

enum { ITEM_MERGES_TUNABLES = 7 };
extern const tunable sort_cpu_merges_tunables[ITEM_MERGES_TUNABLES];

/** The block that merges begin with, and the keys of a work-item that merges n. */
vector_block sort_cpu_merges_block(const job *j);
size_t sort_cpu_merges_piece(const job *j, size_t n);

void sort_cpu_merges_defines(const job *j, text *out);
const char *sort_cpu_merges_unsupported(const job *j, text *reason);
size_t sort_cpu_merges_workspace(const job *j);
bool sort_cpu_merges_step(const job *j, size_t i, command *out);

#endif
