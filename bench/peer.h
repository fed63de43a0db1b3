/**
 * Peers: the same jobs through other libraries, for comparison.
 *
 * Each module, peer_OPERATION_NAME.so, has peers for one operation; the command loads those of the
 * operation that `--peers` is asked for, so it depends on none of them.  A module exports one
 * function, peer_module.  C ABI, plain data; of Tessera's headers it needs the one that declares
 * the operation's public problem structure.
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PEER_ABI 9

/** Modules are built with hidden symbols; this one is not. */
#define PEER_EXPORT __attribute__((visibility("default")))

enum { PEER_OPERANDS = 8 };

/** Where a peer runs. */
typedef enum peer_place {
    PEER_CPU,    /* host memory, any number of threads */
    PEER_OPENCL, /* the OpenCL device of the row: context and queue below */
    PEER_CUDA    /* the CUDA device; compared with an NVIDIA OpenCL device */
} peer_place;

/**
 * A problem of the module's operation.  Everything it points to stays the caller's, and unchanged,
 * until close().  An operand that is only written may be NULL, but its bytes count.
 */
typedef struct peer_problem {
    const void *problem;   /* the public structure; dense: no offsets, and no gaps between rows */
    int type;              /* of the first operand: a tsr_type */
    const char *precision; /* "f32", "tf32", "f64", "f16", "bf16": the peer's own where it has one;
                              "" for an operation without */
    const void *operand[PEER_OPERANDS]; /* host copies, in the operation's order */
    size_t bytes[PEER_OPERANDS];        /* 0: the problem has no such operand */
    size_t sets; /* input sets to rotate through, so that rows are cold; at least 1 */
    void *cl_context, *cl_device, *cl_queue; /* for PEER_OPENCL */
} peer_problem;

typedef struct peer {
    const char *name;    /* "OpenBLAS", "cuBLAS", "CUB radix sort" */
    const char *version; /* of the library, found at run time */
    peer_place place;

    /** NULL: it computes in the problem's precision.  Else in this one ("tf32"), whatever was asked
     *  for: it gets the problem in it, is judged by its bound, and its row says so. */
    const char *precision;

    /** NULL, or why it cannot do this problem.  A static string. */
    const char *(*unsupported)(const peer_problem *p);

    /** Prepare: copy inputs to where they are used, in p->sets sets.  NULL on failure, with why. */
    void *(*open)(const peer_problem *p, char *why, size_t why_size);

    /** Do `calls` calls back to back, each on the next set, and wait once.  0, or an error code.
     *  One that works in place uses a fresh copy of its inputs a call; at most p->sets calls. */
    int (*run)(void *state, size_t calls, double *wall_ns);

    /** As run, but the device is held back until all calls are enqueued, and the time is the
     *  device's from then on.  NULL where it cannot be. */
    int (*run_held)(void *state, size_t calls, double *device_ns);

    /** Make the sets fresh again, untimed.  0, or an error code: they may be used up still.  NULL
     *  where any number of calls may follow each other: inputs stay as they are, or only results
     *  accumulate, which no time depends on. */
    int (*restore)(void *state);

    /** Copy each operand that the problem writes, as set 0's last call left it, to out[its number]
     *  in host memory. */
    int (*result)(void *state, void *const out[]);

    void (*close)(void *state);
} peer;

typedef struct peer_list {
    int abi;               /* PEER_ABI */
    const char *operation; /* its name */
    size_t problem_bytes;  /* of the public structure that the module was built with */
    const peer *peers;
    size_t count;

    /** NULL; or NAME=VALUE, a variable of the environment under which the library is as fast as it
     *  can be, and reads when it is loaded: the module is closed, and opened anew with it. */
    const char *setting;
    const char *setting_why; /* then, or of what the user has set: a sentence that says why */
} peer_list;

/** The one symbol of a module. */
PEER_EXPORT const peer_list *peer_module(void);

#ifdef __cplusplus
}
#endif
#endif
