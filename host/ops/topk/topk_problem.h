/** Problems of topk as its files read them, and what its descriptor is made of.  A problem begins
 *  with the sort whose first keys are wanted: what works on keys takes it as that (sort_of). */
#ifndef OPS_TOPK_PROBLEM_H
#define OPS_TOPK_PROBLEM_H

#include "core/variant.h"
#include "ops/sort/sort_order.h"
#include "tessera/topk.h"

extern const operation operation_topk;

/** topk_command.c */
extern const operation_command topk_command;

/** topk_host.c: in C, keys that may be among the first are collected. */
extern const variant topk_host_top;

/** topk_select.c: each part of a row keeps its first keys, until one part is left. */
extern const variant topk_tiles, topk_cpu_heaps;

/* The problem's structure, to read. */
static inline const tsr_topk_problem *topk_of(const problem *p)
{
    return (const tsr_topk_problem *)(const void *)p->bytes;
}

/* The same, to change. */
static inline tsr_topk_problem *topk_in(problem *p)
{
    return (tsr_topk_problem *)(void *)p->bytes;
}

/** Keys of each row that are wanted. */
static inline size_t topk_kept(const tsr_topk_problem *t)
{
    return t->k < t->sort.n ? t->k : t->sort.n;
}

/* topk_proof.c: as the members of struct operation. */
bool topk_sweep(size_t i, bool tiny, problem *out);
tsr_status topk_expect(const problem *p, const void *const before[], void **out, tsr_error *err);
tsr_status topk_verify(const problem *p, const device_facts *d, const void *const before[],
                       const void *const after[], const void *expected, verdict *out,
                       tsr_error *err);

#endif
