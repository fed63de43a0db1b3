/** How an operation is run, and the report of what ran. */
#ifndef TESSERA_RUN_H
#define TESSERA_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "tessera/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What to run.  NULL in its place, or zero-initialised: the best variant for problem and device.
 */
typedef struct tsr_run {
    /**
     * NULL: the one of the user's tuning entry; before it, on a CPU device, one in C where that is
     * not known to be slower; else that of an embedded tuning entry; else the first of the order of
     * preference that can run it.
     */
    const char *variant;
    const char *const *set; /* "NAME=VALUE" for each tunable to fix */
    size_t set_count;
    /**
     * Enqueued calls: NULL, or the caller's buffer of a uint32_t, to which the call adds how many
     * of its report's `tiles` ran strictly.  Set it to 0 before the first call that counts into it;
     * it has the count of all that are done.
     */
    cl_mem strict_tiles;
    /**
     * Enqueued calls: the events that the call waits for first, n_wait of them; NULL and 0 for
     * none.  On an in-order queue, such as the session's own, calls follow one another without
     * them.  A call on host memory is synchronous and refuses them, and `done`, with TSR_EINVAL.
     */
    cl_uint n_wait;
    const cl_event *wait;
    /**
     * Enqueued calls: NULL, or what receives an event that completes with the call's work, and that
     * the caller releases.  A call that fails leaves it untouched.  A call in C that finds no
     * memory once it runs completes without a result, and the next call on the session returns
     * TSR_ENOMEM.
     */
    cl_event *done;
} tsr_run;

/** Where a program came from. */
typedef enum tsr_build {
    TSR_BUILD_NONE = 0, /* nothing was needed: the program was in the session, or it is C */
    TSR_BUILD_CACHED,   /* loaded from the binary cache */
    TSR_BUILD_COMPILED  /* compiled */
} tsr_build;

/**
 * What one call did.  Times are nanoseconds, 0 where they were not measured.
 *
 * Compiling is no part of device_ns: build_ns has it, also what a driver compiles
 * at a kernel's first launch (PoCL), where the session's queue records times.
 * Beside these times, wall_ns has choosing, planning and allocating.
 */
typedef struct tsr_report {
    char variant[32];
    char parameters[160];    /* "TILE=16 ITEMS=4" */
    char chosen[160];        /* why this variant: named, tuned (and where), or preferred; behind it,
                                where nobody chose the device and it is the host, why */
    tsr_build build;         /* the slowest kind of build that the call needed */
    uint64_t probe_ns;       /* probes of what the device can do, which a first call may run */
    uint64_t build_ns;       /* building or loading the variant's programs */
    uint64_t to_device_ns;   /* host-memory calls: copies to the device */
    uint64_t device_ns;      /* host-memory calls, where the queue records times (`profile` of
                                tsr_session_options, or a property of the caller's queue): first
                                START to last END of the operation's commands; of a variant in C
                                always: wall time of its function */
    uint64_t from_device_ns; /* host-memory calls: copies back */
    uint64_t wall_ns;        /* the whole call */
    size_t commands;         /* launches and fills */
    size_t workspace_bytes;  /* device memory beside the operands */
    size_t to_device_bytes;
    size_t from_device_bytes;
    int shared;          /* host-memory calls: nonzero where the arrays were worked on where they
                            are, without a copy: device and host share memory, each array lies at
                            a multiple of its element's size, the session's `copies` is 0, and
                            arrays that lie between one another are whole elements apart; on
                            `host` where they are aligned */
    size_t chunks;       /* host-memory calls: in how many pieces the work was done, each while the
                            next was copied: panels of a matvec's matrix; tiles, slabs and strips
                            of a product; chunks of keys, or of rows, or pairs of chunks of a sort;
                            1: a sort by digits, which waits for all keys; 0: in one, after plain
                            copies */
    size_t tiles;        /* of C, where the variant splits float32 factors in two; else 0 */
    size_t strict_tiles; /* host-memory calls: of them, those that held what cannot be split, and
                            ran in FP32 multiply-adds; 0 of enqueued calls: see tsr_run */
} tsr_report;

#ifdef __cplusplus
}
#endif
#endif
