/**
 * The variant table: what one way of doing an operation is.
 *
 * A variant is data and small pure functions.  They take a job (problem, device
 * facts, parameters), hold no OpenCL handle, and allocate nothing, so that they
 * are tested without a device.  Adding a variant is one file under cl/ and one
 * entry in the table of its operation (host/ops/<operation>/).
 */
#ifndef CORE_VARIANT_H
#define CORE_VARIANT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/operation.h"
#include "core/plan.h"
#include "tessera/status.h"

enum { ENTRIES_MAX = 8 };

/** What keeps a kernel from being faster. */
typedef enum cause {
    CAUSE_LAUNCHES,   /* the host, and how many launches there are */
    CAUSE_BYTES,      /* memory is as fast as it is, and all of that must move */
    CAUSE_REUSE,      /* work-items ask for the same bytes again and again */
    CAUSE_ACCESS,     /* accesses lie apart, or too few are in flight */
    CAUSE_LOCAL,      /* local memory: too many accesses for each result, bank conflicts */
    CAUSE_BARRIERS,   /* work-items wait for each other */
    CAUSE_DIVERGENCE, /* lanes have nothing to do */
    CAUSE_UNITS,      /* matrix units are idle */
    CAUSE_ROOF,       /* nothing: it is at its roof */
    CAUSE_LATENCY,    /* none of these: instructions that wait */
    CAUSES
} cause;

struct variant {
    const char *name;  /* key in the command, tests, tuning files and results */
    const char *alias; /* the names it had before, blanks between them, which files and `--kernel`
                          may still use; or NULL */
    const char *idea;  /* one line: what this step adds to the one before it */

    unsigned answers; /* 1u << cause for each that this step removes or lessens, against steps
                         before it */

    /* On a device: */
    const char *source;               /* file under cl/; NULL for a variant in C */
    const char *entries[ENTRIES_MAX]; /* its kernels, NULL-terminated */
    const char *build;    /* compiler flags beside the -Ds, "" for none.  "%CLC%" stands for the
                             highest -cl-std= of the device */
    unsigned needs;       /* 1u << feature for each probed feature it is unsupported without */
    unsigned uses;        /* likewise for those that it asks for in job.device, and does without */
    const char *unstated; /* why plan() leaves out what work-items ask for (command.traffic), of
                             some problems or all: a clause without a subject, "asks by ...".  NULL
                             where each launch states it, or `needs` says why (variant_unstated) */
    bool group_counters;  /* it may pass ARG_GROUP_COUNTERS, where last_group_of the device says how
                           */
    bool slow_unless_optimized; /* a CPU's compiler takes minutes over it where it does not
                                   optimize: its barriers are in branches on constants, of which
                                   such a compiler makes copies */
    bool program_a_shape;    /* its -Ds follow the shape: nearly each problem is a program more */
    const tunable *tunables; /* tunable_count of them; NULL and 0 for none */
    size_t tunable_count;

    /**
     * The whole plan for a job, by the functions of core/plan.h.
     *
     * @param out  Comes zero-initialised but for out->params, which are j->params.
     * @return NULL, or the reason why this variant cannot run the job: static, or of
     *         plan_unsupported.  Features in `needs` are checked by the caller before.
     */
    const char *(*plan)(const job *j, plan *out);

    bool arrives; /* plan() has an order of commands for inputs that arrive: job.arriving */

    /** On the host, in place of commands: operands as in operation.operands, each pointer at the
     *  start of its array (offsets are the function's). */
    tsr_status (*host)(const problem *p, void *const operands[], tsr_error *err);

    bool serves_cpus; /* a variant of the host that serves calls on CPU devices as well, on the
                         calling thread, or one of the device (core/enqueue_c.h), and threads of its
                         own: operation.prefer_c */
};

#endif
