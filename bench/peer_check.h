/**
 * What a program needs to try a peer module: the module, an OpenCL device,
 * inputs, and a check of the result that shares nothing with any peer.
 */
#ifndef BENCH_PEER_CHECK_H
#define BENCH_PEER_CHECK_H

#include <CL/cl.h>

#include "peer.h"

enum { PEER_LINE = 256 };

/** The module of a file; NULL on failure, with why.  Stays loaded. */
const peer_list *peer_load(const char *path, char *why, size_t why_size);

/** An OpenCL device to hand to peers. */
typedef struct peer_device {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    char name[PEER_LINE];
    int nvidia;
} peer_device;

/** The first device with `part` in its name; NULL: the first GPU, else the first.  0 on success. */
int peer_device_open(const char *part, peer_device *out, char *why, size_t why_size);
void peer_device_close(peer_device *d);

/** A problem with inputs of its own. */
typedef struct peer_trial {
    peer_problem problem;
    void *input[3];
    void *out, *out2; /* where the peer's result goes */
} peer_trial;

/**
 * Inputs for a problem whose operands and bytes are not set yet: U(-1, 1) for
 * floats, and every integer alike; with `few` small integers, many of them equal.
 * Values, of 4 or 8 bytes, are the positions of their keys.
 * C and y are NaN where beta is 0.  0 on success.
 */
int peer_trial_make(const peer_problem *p, const peer_device *d, uint64_t seed, int few,
                    peer_trial *out);
void peer_trial_free(peer_trial *t);

/**
 * 0 where out (and out2) are right, else 1 with what is wrong in detail.
 *
 * A product is compared with one in higher precision, element by element, against
 * the bound that the rounding of the problem's precision allows; of big ones a
 * sample of elements.  A sort, or each segment of it, must be in order, hold the
 * keys of the input (equal sums of their hashes), and with an argsort each position
 * (with values each value) once, equal keys in the order of the input.  *worst is the largest error
 * over bound, 0 for a sort.
 */
int peer_trial_check(const peer_trial *t, double *worst, char *detail, size_t detail_size);

/** Operations, bytes or keys of a call, and the unit of 1e9 of them a second. */
double peer_trial_work(const peer_trial *t, const char **unit);

#endif
