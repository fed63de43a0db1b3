/** Work on blocks in order by several threads, each of which needs what all blocks before its own
 *  come to: two passes over a block while a cache holds it, and one over memory. */
#ifndef CORE_BLOCK_SCAN_H
#define CORE_BLOCK_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What a block comes to, in the form that its functions know. */
typedef union block_value {
    double real;
    uint64_t whole;
    unsigned char bytes[8];
} block_value;

typedef struct block_scan {
    size_t blocks;
    block_value none; /* what comes before the first block */
    void *with;       /* the first argument of all */

    /** What a block comes to; the same for every call. */
    block_value (*total)(void *with, size_t block);

    /** What two come to, of which the first is before the second. */
    block_value (*combine)(void *with, block_value before, block_value after);

    /** Finish a block, given what is before it and its own total: called once for each.  `next` is
     *  the block that the same thread takes next, so that it can be on its way from memory
     *  meanwhile.  May store its total, bit for bit what `total` returns, in *of_next; returns
     *  whether it did.  With no next block, `next` is `block`, of_next is NULL, and it returns
     *  false. */
    bool (*finish)(void *with, size_t block, size_t next, block_value before, block_value own,
                   block_value *of_next);
} block_scan;

/**
 * Run it on so many threads at most (base/team.h).
 *
 * Blocks are taken in order, and values combined in order, so that results do not depend on the
 * number of threads.  No thread waits for one that the system has put aside: where the total of an
 * earlier block is missing it is computed again.
 *
 * @param all  Receives what all blocks come to.  May be NULL.
 * @return false where there is no memory for a value for each block.
 */
bool block_scan_run(const block_scan *s, size_t threads, block_value *all);

#endif
