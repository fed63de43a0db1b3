/**
 * What peer modules share: the loop that is timed, input sets in host memory, and peers that need
 * nothing else.
 */
#ifndef BENCH_PEER_COMMON_H
#define BENCH_PEER_COMMON_H

#include "peer.h"

#ifdef __cplusplus
extern "C" {
#endif

/** run() was asked for more calls than there are fresh sets. */
#define PEER_USED_UP (-10001)

/** One call of a peer, on one of its sets.  0, or an error code. */
typedef int peer_call(void *state, size_t set);

/** Write one line of why open() failed. */
void peer_say(char *why, size_t why_size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Which set is next, and how many are as open() or restore() made them. */
typedef struct peer_rotation {
    size_t sets, next;
    size_t fresh; /* sets left to use */
    int uses_up;  /* a call changes its input, so that a set serves once */
} peer_rotation;

void peer_rotation_start(peer_rotation *r, size_t sets, int uses_up);

/**
 * The timed loop: call() on set after set, then wait(), which may be NULL where
 * call() returns only once it is done.  0, or the first error.
 */
int peer_time(peer_rotation *r, size_t calls, peer_call *call, int (*wait)(void *state),
              void *state, double *wall_ns);

/** Copies of a problem's operands in host memory, aligned to 64 bytes. */
typedef struct peer_host_sets {
    peer_problem problem; /* its operands are the originals */
    void **copy;          /* operand i of set s at [s * PEER_OPERANDS + i]; NULL: has none */
} peer_host_sets;

/** 0 on success; else nothing is held, and why says what was missing. */
int peer_host_sets_open(peer_host_sets *h, const peer_problem *p, char *why, size_t why_size);
void *peer_host_set(const peer_host_sets *h, size_t set, size_t operand);
/** Copy the original of one operand into one set again. */
void peer_host_set_refill(peer_host_sets *h, size_t set, size_t operand);
void peer_host_sets_close(peer_host_sets *h);

/** The state of a peer in host memory that leaves its inputs as they are. */
typedef struct peer_host {
    peer_host_sets sets;
    peer_rotation rotation;
    peer_call *call; /* gets this structure */
    size_t result;   /* the one operand that it writes */
} peer_host;

/** What its peer.open does, given the call; peer_host_run, _result and _close are those of it. */
void *peer_host_open(const peer_problem *p, peer_call *call, size_t result, char *why,
                     size_t why_size);
int peer_host_run(void *state, size_t calls, double *wall_ns);
int peer_host_result(void *state, void *const out[]);
void peer_host_close(void *state);

#ifdef __cplusplus
}
#endif
#endif
