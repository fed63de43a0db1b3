/** The variants of sort by digits: cl/sort/sort_radix.cl, sort_onesweep.cl, sort_cpu_radix.cl. */
#ifndef OPS_SORT_RADIX_H
#define OPS_SORT_RADIX_H

#include "core/variant.h"

/* Entries of each, in the variants' order: what counts digits, what adds up the counts, and what
 * sorts by a digit. */
enum { RADIX_COUNT, RADIX_SCAN, RADIX_SCATTER, RADIX_KEEP };

/** Tunables; those of the variant for CPUs are the first. */
enum { ITEM_RADIX_TUNABLES = 2, RADIX_TUNABLES = 4 };
extern const tunable sort_radix_tunables[RADIX_TUNABLES];

/* The functions of the variants: a work-item that deals keys out alone, work-items that rank them
 * in a tile, each alone or a warp together, and one sweep over the keys for each digit. */
void sort_radix_defines_item(const job *j, text *out);
void sort_radix_defines(const job *j, text *out);
void sort_radix_defines_warp(const job *j, text *out);
void sort_radix_defines_sweep(const job *j, text *out);
const char *sort_radix_unsupported_item(const job *j, text *reason);
const char *sort_radix_unsupported(const job *j, text *reason);
const char *sort_radix_unsupported_warp(const job *j, text *reason);
const char *sort_radix_unsupported_sweep(const job *j, text *reason);
size_t sort_radix_workspace_item(const job *j);
size_t sort_radix_workspace(const job *j);
size_t sort_radix_workspace_warp(const job *j);
size_t sort_radix_workspace_sweep(const job *j);
bool sort_radix_step_item(const job *j, size_t i, command *out);
bool sort_radix_step(const job *j, size_t i, command *out);
bool sort_radix_step_warp(const job *j, size_t i, command *out);
bool sort_radix_step_sweep(const job *j, size_t i, command *out);

#endif
