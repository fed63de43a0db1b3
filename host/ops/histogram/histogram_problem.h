/** Problems of histogram as its files read them, and what its descriptor is made of. */
#ifndef OPS_HISTOGRAM_PROBLEM_H
#define OPS_HISTOGRAM_PROBLEM_H

#include "core/variant.h"
#include "core/view.h"
#include "tessera/histogram.h"

extern const operation operation_histogram;

/** histogram_command.c */
extern const operation_command histogram_command;

/** histogram_host.c: C, on the host and on CPUs. */
extern const variant histogram_loop, histogram_tables;

/** histogram_ladder.c: kernels, from plain to fast. */
extern const variant histogram_naive, histogram_local, histogram_copies, histogram_few,
    histogram_bytes;

/** histogram_own.c: sums of weights in one order. */
extern const variant histogram_own;

/* The operands, in order. */
enum { HISTOGRAM_X, HISTOGRAM_EDGES, HISTOGRAM_COUNTS, HISTOGRAM_WEIGHTS };

/* The problem's structure, to read. */
static inline const tsr_histogram_problem *histogram_of(const problem *p)
{
    return (const tsr_histogram_problem *)(const void *)p->bytes;
}

/* The same, to change. */
static inline tsr_histogram_problem *histogram_in(problem *p)
{
    return (tsr_histogram_problem *)(void *)p->bytes;
}

static inline view histogram_x(const tsr_histogram_problem *p)
{
    return view_of(p->type, 1, p->n, p->n, p->offset_x, 1, 0);
}

static inline view histogram_edges(const tsr_histogram_problem *p)
{
    return view_of(tsr_histogram_edge_type(p->type), 1, p->bins + 1, p->bins + 1, p->offset_edges,
                   1, 0);
}

/** The type of the result, and of the weights where there are any. */
static inline tsr_type histogram_sum_type(const tsr_histogram_problem *p)
{
    return p->weights == TSR_HISTOGRAM_F32   ? TSR_F32
           : p->weights == TSR_HISTOGRAM_F64 ? TSR_F64
                                             : TSR_I64;
}

static inline view histogram_counts(const tsr_histogram_problem *p)
{
    return view_of(histogram_sum_type(p), 1, p->bins, p->bins, p->offset_counts, 1, 0);
}

/** Without weights there is none. */
static inline view histogram_weights(const tsr_histogram_problem *p)
{
    const size_t n = p->weights ? p->n : 0;

    return view_of(histogram_sum_type(p), 1, n, n, p->weights ? p->offset_weights : 0, 1, 0);
}

/** histogram_edges.c: an element of any type as the number that edges are compared with. */
double histogram_value(tsr_type type, const void *array, size_t i);

/** Store an edge of elements of a type: as the least number of the edges' type that is not below
 *  it, or where it is the last edge, which belongs to its bin, the largest that is not above it. */
void histogram_set_edge(tsr_type type, void *edges, size_t i, double edge, bool last);

/** TSR_EINVAL with the first edge that is NaN or below the one before it. */
tsr_status histogram_check_edges(const tsr_histogram_problem *p, const void *edges, tsr_error *err);

/** A call as histogram.clh has it. */
typedef struct histogram_call {
    uint64_t n, bins, x, edges, counts, weights;
} histogram_call;

static inline histogram_call histogram_call_of(const tsr_histogram_problem *p)
{
    return (histogram_call){
        p->n, p->bins, p->offset_x, p->offset_edges, p->offset_counts, p->offset_weights};
}

/** histogram_ladder.c: the types of a problem, for kernels. */
void histogram_define(const tsr_histogram_problem *p, plan *out);

/** NULL, or why a device cannot compare elements with edges, or add weights. */
const char *histogram_unsupported(const tsr_histogram_problem *p, const device_facts *d);

/* histogram_proof.c: as the members of struct operation. */
void histogram_fill(const problem *p, uint64_t seed, distribution f, void *const operands[]);
bool histogram_sweep(size_t i, bool tiny, problem *out);
tsr_status histogram_verify(const problem *p, const device_facts *d, const void *const before[],
                            const void *const after[], const void *expected, verdict *out,
                            tsr_error *err);

#endif
