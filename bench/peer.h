/**
 * Peers: the same jobs through other libraries, for comparison.
 *
 * Each peer is a module, peer_NAME.so, that the command loads for `--peers`; so
 * the command itself depends on none of them.  A module exports one function,
 * peer_module.  C ABI, plain data, no header of Tessera's library.
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PEER_ABI 7

/** Modules are built with hidden symbols; this one is not. */
#define PEER_EXPORT __attribute__((visibility("default")))

typedef enum peer_op { PEER_MATMUL, PEER_MATVEC, PEER_SORT } peer_op;

/** Where a peer runs. */
typedef enum peer_place {
    PEER_CPU,    /* host memory, any number of threads */
    PEER_OPENCL, /* the OpenCL device of the row: context and queue below */
    PEER_CUDA    /* the CUDA device; compared with an NVIDIA OpenCL device */
} peer_place;

/** Element types, as in tessera/types.h: 0 float32, 1 float64, 2 int32, 3 uint32, 4 int64, 5
 * uint64, 6 float16, 11 bfloat16.  Operands stay the caller's, and unchanged, until close(); one
 * that is only written may be NULL, but its bytes count.  An argsort's peer is handed the positions
 * 0, 1, ... of each segment untimed. */
typedef struct peer_problem {
    peer_op op;
    int type;
    const char *precision; /* "f32", "tf32", "f64", "f16", "bf16"; "" for sort; the peer's own where
                              it has one */
    size_t m, n, k;        /* matmul; matvec: m rows, n columns; sort: n keys, of all segments */
    size_t batch;          /* products, their matrices and vectors one behind another; 0: 1 */
    int c_f32;             /* C or y is float32, whatever the factors are */
    int trans_a, trans_b;
    double alpha, beta;
    int argsort, descending;
    size_t value_bytes; /* of the values that go with a sort's keys, operand 2; 0: there are none */
    size_t segments;    /* stretches of the keys that are sorted each by itself, rows or of given
                           lengths; 0: the keys are one sequence */
    const uint64_t *segment_offsets; /* with segments: where each starts, and behind them n; the
                                        caller's, until close() */
    size_t top; /* first keys of a sort, or of each segment, that alone are wanted; 0: all */
    const void *operand[3]; /* host copies of the inputs, row-major, no gaps: A B C, A x y, keys
                               index values */
    size_t bytes[3];
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
     *  A sort that works in place uses a fresh copy of the keys a call; at most p->sets calls. */
    int (*run)(void *state, size_t calls, double *wall_ns);

    /** As run, but the device is held back until all calls are enqueued, and the time is the
     *  device's from then on.  NULL where it cannot be. */
    int (*run_held)(void *state, size_t calls, double *device_ns);

    /** Make the sets fresh again, untimed.  0, or an error code: they may be used up still.  NULL
     *  where any number of calls may follow each other: inputs stay as they are, or only C and y
     *  accumulate, which no time depends on. */
    int (*restore)(void *state);

    /** Copy the result of set 0's last call (C, y, keys; index, or values without one, into out2)
     * to host memory. */
    int (*result)(void *state, void *out, void *out2);

    void (*close)(void *state);
} peer;

typedef struct peer_list {
    int abi; /* PEER_ABI */
    const peer *peers;
    size_t count;
} peer_list;

/** The one symbol of a module. */
PEER_EXPORT const peer_list *peer_module(void);

#ifdef __cplusplus
}
#endif
#endif
