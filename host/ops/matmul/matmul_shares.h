/** Groups that share the steps along k of C's tiles, in one launch: cl/matmul/matmul_shares.clh.
 * How many there are, and tiles of which size, follows from what they would take. */
#ifndef OPS_MATMUL_SHARES_H
#define OPS_MATMUL_SHARES_H

#include "core/variant.h"
#include "tessera/matmul.h"

/** A size of tiles that a kernel has, and how fast its loop along k is on a compute unit. */
typedef struct share_tile {
    uint32_t rows, columns, depth; /* of a tile, and of a step along k */
    unsigned resident;             /* groups that run side by side on a unit */
    double alone, full;            /* multiply-adds a nanosecond of one group, and of all those */
    double begin;                  /* steps more that a tile takes, to begin and to be stored */
    size_t products;               /* whose tiles follow one another; 0: one */
} share_tile;

/** What a kernel's launch takes beside multiplying, in nanoseconds. */
typedef struct share_costs {
    double start;    /* to launch, and to fetch the first step */
    double add_up;   /* to count the groups of a tile, where several share one, */
    double add_part; /* and to add up what each of them kept */
    double bytes_ns; /* bytes of sums written and read in one */
} share_costs;

/** How groups share a product. */
typedef struct shares {
    size_t tiles, each; /* tiles of C, and steps of each */
    size_t groups;
    bool streams; /* all share all steps; else as many groups each tile */
} shares;

/** The best number of groups for tiles of this size, and what they take. */
shares matmul_share(const job *j, const share_tile *t, const share_costs *costs, double *ns);

/** What groups that share a product so take, in nanoseconds. */
double matmul_share_time(const job *j, const share_tile *t, const share_costs *costs,
                         const shares *s);

/** What is set: SPLIT groups a tile, or, where that is 0, PER_UNIT groups on each unit. */
shares matmul_share_as_set(const job *j, const share_tile *t, uint32_t split, uint32_t per_unit);

/** Tiles that groups take whole, as many each; steps of the others are shared. */
size_t matmul_unshared(const shares *s);

/** Whether several groups share a tile. */
bool matmul_is_shared(const shares *s);

/** Pieces of tiles that groups take. */
size_t matmul_pieces(const shares *s);

/** Bytes of the sums that groups keep: of the beginning of a tile and of the end of another. */
size_t matmul_shares_workspace(const job *j, const shares *s, const share_tile *t);

/** Whether so many groups' tiles can be counted, and their sums kept. */
bool matmul_can_share(const job *j, const shares *s, const share_tile *t);

/** NULL, or why the kernel cannot count so many groups' tiles. */
const char *matmul_unsupported_shares(const job *j, const shares *s, plan *out);

/** SPLIT and PER_UNIT as they were resolved. */
void matmul_set_shares(const job *j, const shares *s, plan *out);

#endif
