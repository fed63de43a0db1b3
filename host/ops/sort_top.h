/** The variant of sort that finds the first keys alone: cl/sort_top.cl. */
#ifndef OPS_SORT_TOP_H
#define OPS_SORT_TOP_H

#include "ops/variant.h"

/** Its entries, in the variant's order. */
enum { TOP_TILE, TOP_GATHER, TOP_PUT };

enum { TOP_TUNABLES = 3 };
extern const tunable sort_top_tunables[TOP_TUNABLES];

void sort_top_defines(const job *j, text *out);
const char *sort_top_unsuited(const job *j, text *reason);
size_t sort_top_workspace(const job *j);
bool sort_top_step(const job *j, size_t i, step *out);

#endif
