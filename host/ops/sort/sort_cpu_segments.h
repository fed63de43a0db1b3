/** The variant of sort for segments of given lengths, for CPUs: cl/sort/sort_cpu_segments.cl. */
#ifndef OPS_SORT_ITEM_SEGMENTS_H
#define OPS_SORT_ITEM_SEGMENTS_H

#include "core/variant.h"

/* Entries of cl/sort/sort_cpu_segments.cl, in the variant's order. */
enum { ITEM_SEGMENTS_BLOCK, ITEM_SEGMENTS_MERGE, ITEM_SEGMENTS_KEEP, ITEM_SEGMENTS_GATHER };

/* Its tunables are the first ones of sort_cpu_merges_tunables. */
enum { ITEM_SEGMENTS_TUNABLES = 6 };

void sort_cpu_segments_defines(const job *j, text *out);
const char *sort_cpu_segments_unsupported(const job *j, text *reason);
size_t sort_cpu_segments_workspace(const job *j);
bool sort_cpu_segments_step(const job *j, size_t i, command *out);

#endif
