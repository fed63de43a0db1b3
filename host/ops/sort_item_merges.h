/** The variant of sort by merges of runs, for CPUs: cl/sort_item_merges.cl. */
#ifndef OPS_SORT_ITEM_MERGES_H
#define OPS_SORT_ITEM_MERGES_H

#include "ops/sort_vector_block.h"
#include "ops/variant.h"

/* Entries of cl/sort_item_merges.cl, in the variant's order. */
enum { ITEM_MERGES_BLOCK, ITEM_MERGES_MERGE, ITEM_MERGES_KEEP };

enum { ITEM_MERGES_TUNABLES = 7 };
extern const tunable sort_item_merges_tunables[ITEM_MERGES_TUNABLES];

/** The block that merges begin with, and the keys of a work-item that merges n. */
vector_block sort_item_merges_block(const job *j);
size_t sort_item_merges_piece(const job *j, size_t n);

void sort_item_merges_defines(const job *j, text *out);
const char *sort_item_merges_unsuited(const job *j, text *reason);
size_t sort_item_merges_workspace(const job *j);
bool sort_item_merges_step(const job *j, size_t i, step *out);

#endif
