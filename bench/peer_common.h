/**
 * What every peer module needs: which problems are a BLAS's or a sort's at all,
 * the loop that is timed, and input sets in host memory.
 */
#ifndef BENCH_PEER_COMMON_H
#define BENCH_PEER_COMMON_H

#include "peer.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PEER_OPERANDS = 3, PEER_TYPES = 6 };

/** run() was asked for more calls than there are fresh sets. */
#define PEER_USED_UP (-10001)

/** Write one line of why open() failed. */
void peer_say(char *why, size_t why_size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/**
 * NULL, or why a BLAS with 32-bit sizes cannot do this: it multiplies float32 or
 * float64, neither dimension of which is 0, in the type itself ("f32", "f64"), one
 * pair of matrices a call.
 */
const char *peer_blas_unsupported(const peer_problem *p);

/** The same for sizes alone, whatever the types, the precision and the number of products. */
const char *peer_blas_size_unsupported(const peer_problem *p);

/**
 * NULL, or why a library that sorts plain numbers cannot do this: it promises no
 * place for NaN, and none for -0 before +0.
 */
const char *peer_sort_unsupported(const peer_problem *p);

/** The same for one that sorts one sequence a call. */
const char *peer_sequence_unsupported(const peer_problem *p);

/** The independent sequences of a sort, and part i of them: keys begin to end - 1. */
size_t peer_sort_parts(const peer_problem *p);
void peer_sort_part(const peer_problem *p, size_t i, size_t *begin, size_t *end);

/** Matrices as the problem stores them, row-major: columns of A, and of B. */
size_t peer_columns_a(const peer_problem *p);
size_t peer_columns_b(const peer_problem *p);

/**
 * The problem as peers that sort keys with a payload want it: its index operand
 * holds 0, 1, ... of each part with an argsort, and is absent without.  *positions is NULL or
 * is to be freed, once nobody uses *out.  0 on success.
 */
int peer_with_positions(const peer_problem *p, peer_problem *out, int64_t **positions);

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
int peer_time(peer_rotation *r, size_t calls, int (*call)(void *state, size_t set),
              int (*wait)(void *state), void *state, double *wall_ns);

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

#ifdef __cplusplus
}
#endif
#endif
