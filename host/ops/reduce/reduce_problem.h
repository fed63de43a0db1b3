/** Problems of reduce as its files read them, and what its descriptor is made of. */
#ifndef OPS_REDUCE_PROBLEM_H
#define OPS_REDUCE_PROBLEM_H

#include "core/variant.h"
#include "core/view.h"
#include "tessera/reduce.h"

extern const operation operation_reduce;

/** reduce_command.c */
extern const operation_command reduce_command;

/** reduce_simd.c: C, on the host and on CPUs. */
extern const variant reduce_simd;

/** reduce_tree.c: work-groups combine their shares, and one group their results. */
extern const variant reduce_tree, reduce_vector;

/* The operands, in order. */
enum { REDUCE_X, REDUCE_RESULT };

/* The problem's structure, to read. */
static inline const tsr_reduce_problem *reduce_of(const problem *p)
{
    return (const tsr_reduce_problem *)(const void *)p->bytes;
}

/* The same, to change. */
static inline tsr_reduce_problem *reduce_in(problem *p)
{
    return (tsr_reduce_problem *)(void *)p->bytes;
}

static inline view reduce_x(const tsr_reduce_problem *p)
{
    return view_of(p->type, 1, p->n, p->n, p->offset_x, 1, 0);
}

static inline view reduce_result(const tsr_reduce_problem *p)
{
    return view_of(p->type, 1, 1, 1, p->offset_result, 1, 0);
}

/** reduce_command.c: "sum", "min" or "max". */
const char *reduce_by_name(const problem *p);

/* reduce_proof.c: as the members of struct operation. */
void reduce_fill(const problem *p, uint64_t seed, distribution f, void *const operands[]);
bool reduce_sweep(size_t i, bool tiny, problem *out);
tsr_status reduce_verify(const problem *p, const device_facts *d, const void *const before[],
                         const void *const after[], const void *expected, verdict *out,
                         tsr_error *err);

#endif
