/** The variant of sort in explicit vectors, for CPUs: cl/sort/sort_cpu_vectors.cl. */
#ifndef OPS_SORT_ITEM_VECTORS_H
#define OPS_SORT_ITEM_VECTORS_H

#include "core/variant.h"
#include "ops/sort/sort_vector_block.h"

/* Entries of cl/sort/sort_cpu_vectors.cl, in the variant's order. */
enum { ITEM_VECTORS_BLOCK, ITEM_VECTORS_PASS, ITEM_VECTORS_MERGE, ITEM_VECTORS_KEEP };

enum { ITEM_VECTORS_TUNABLES = 6 };
extern const tunable sort_cpu_vectors_tunables[ITEM_VECTORS_TUNABLES];

/** How the network is split. */
typedef struct cpu_vectors_plan {
    vector_block block;
    uint32_t span_shift; /* 2^span_shift keys that are done before the next */
    uint32_t levels;     /* sub-stages of a pass, at most */
} cpu_vectors_plan;

cpu_vectors_plan sort_cpu_vectors_plan(const job *j);

void sort_cpu_vectors_defines(const job *j, text *out);
const char *sort_cpu_vectors_unsupported(const job *j, text *reason);
size_t sort_cpu_vectors_workspace(const job *j);
bool sort_cpu_vectors_step(const job *j, size_t i, command *out);

#endif
