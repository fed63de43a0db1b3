/** The variants of sort that hold keys in registers: cl/sort/sort_fused.cl. */
#ifndef OPS_SORT_FUSED_H
#define OPS_SORT_FUSED_H

#include "core/variant.h"
#include "tessera/sort.h"

/* Entries of cl/sort/sort_fused.cl, in the variants' order. */
enum {
    FUSED_TILE,
    FUSED_MERGE,
    FUSED_FLIP,
    FUSED_PASS,
    FUSED_FLIP_LONG,
    FUSED_PASS_LONG,
    FUSED_KEEP
};

/** Tunables; those of NVIDIA's variant that shuffles have one more. */
enum { FUSED_TUNABLES = 9, FUSED_TUNABLES_SHUFFLES = 10 };
extern const tunable sort_fused_tunables[FUSED_TUNABLES_SHUFFLES];

/** How the network is split. */
typedef struct fused_plan {
    uint32_t keys;                          /* that a work-item holds */
    uint32_t group, sort_group, pass_group; /* work-items that merge a tile, sort one, and do long
                                               strides */
    uint32_t short_group;                   /* that do strides in registers alone */
    uint32_t keys_shift, tile_shift;        /* 2^tile_shift keys in a tile that is merged */
    uint32_t sort_shift, pass_shift;        /* in one that is sorted, in one of long strides */
    uint32_t stages;                        /* strides of a long pass */
    uint32_t chunk_shift;                   /* keys that are sorted before the next; 0: all */
    size_t local;                           /* bytes of local memory, at most */
} fused_plan;

/**
 * The plan; tunables that are 0 are settled here.
 *
 * @param warp  Of the variants for warps, whose tiles may take local memory beyond the reported.
 */
fused_plan sort_fused_plan(const job *j, bool warp);

/** Whether a key, with its index where there is one, goes into 64 bits. */
bool sort_fused_takes(const tsr_sort_problem *p);

/* The functions of the variants: what hands keys on between work-items differs. */
void sort_fused_defines(const job *j, text *out);
void sort_fused_defines_subgroup(const job *j, text *out);
void sort_fused_defines_warp(const job *j, text *out);
void sort_fused_defines_shfl(const job *j, text *out);
const char *sort_fused_unsupported(const job *j, text *reason);
const char *sort_fused_unsupported_warp(const job *j, text *reason);
bool sort_fused_step(const job *j, size_t i, command *out);
bool sort_fused_step_warp(const job *j, size_t i, command *out);
bool sort_fused_arriving(const job *j, size_t i, command *out);
bool sort_fused_arriving_warp(const job *j, size_t i, command *out);

/* ---- short rows: cl/sort/sort_rows_registers.cl
 * ---------------------------------------------------- */

/** Its entries, in the variants' order. */
enum { HELD_ROWS_TILE, HELD_ROWS_KEEP };

/** Tunables; those of NVIDIA's variant that shuffles have one more. */
enum { HELD_ROWS_TUNABLES = 3, HELD_ROWS_TUNABLES_SHUFFLES = 4 };
extern const tunable sort_held_rows_tunables[HELD_ROWS_TUNABLES_SHUFFLES];

void sort_held_rows_defines(const job *j, text *out);
void sort_held_rows_defines_warp(const job *j, text *out);
void sort_held_rows_defines_shfl(const job *j, text *out);
const char *sort_held_rows_unsupported(const job *j, text *reason);
const char *sort_held_rows_unsupported_warp(const job *j, text *reason);
bool sort_held_rows_step(const job *j, size_t i, command *out);

#endif
