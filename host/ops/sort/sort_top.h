/** The variants of sort that find the first keys alone: cl/sort/sort_top.cl and
 * cl/sort/sort_cpu_top.cl. */
#ifndef OPS_SORT_TOP_H
#define OPS_SORT_TOP_H

#include "core/variant.h"

/** The entries of both, in the variant's order. */
enum { TOP_PART, TOP_GATHER, TOP_PUT };

enum { TOP_TUNABLES = 3, ITEM_TOP_TUNABLES = 4 };
extern const tunable sort_top_tunables[TOP_TUNABLES];
extern const tunable sort_cpu_top_tunables[ITEM_TOP_TUNABLES];

void sort_top_defines(const job *j, text *out);
const char *sort_top_unsupported(const job *j, text *reason);
size_t sort_top_workspace(const job *j);
bool sort_top_step(const job *j, size_t i, command *out);

void sort_cpu_top_defines(const job *j, text *out);
const char *sort_cpu_top_unsupported(const job *j, text *reason);
size_t sort_cpu_top_workspace(const job *j);
bool sort_cpu_top_step(const job *j, size_t i, command *out);

#endif
