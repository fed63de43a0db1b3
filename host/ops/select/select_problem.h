/** Problems of select as its files read them, and what its descriptor is made of. */
#ifndef OPS_SELECT_PROBLEM_H
#define OPS_SELECT_PROBLEM_H

#include "core/variant.h"
#include "core/view.h"
#include "stream/partition.h"
#include "tessera/select.h"

extern const operation operation_select;

/** select_command.c */
extern const operation_command select_command;

/** select_simd.c: C, on the host and on CPUs. */
extern const variant select_simd;

/** select_groups.c: work-groups find their places by atomics, by three launches, or by looking
 *  back. */
extern const variant select_atomic, select_group_atomic, select_ballot, select_three_launches,
    select_look_back, select_warps;

/* The operands, in order. */
enum { SELECT_X, SELECT_RESULT, SELECT_INDICES, SELECT_COUNT, SELECT_OPERANDS };

/* The problem's structure, to read. */
static inline const tsr_select_problem *select_of(const problem *p)
{
    return (const tsr_select_problem *)(const void *)p->bytes;
}

/* The same, to change. */
static inline tsr_select_problem *select_in(problem *p)
{
    return (tsr_select_problem *)(void *)p->bytes;
}

static inline view select_x(const tsr_select_problem *p)
{
    return view_of(p->type, 1, p->n, p->n, p->offset_x, 1, 0);
}

static inline view select_result(const tsr_select_problem *p)
{
    return view_of(p->type, 1, p->n, p->n, p->offset_result, 1, 0);
}

static inline view select_indices(const tsr_select_problem *p)
{
    const size_t n = p->with_indices ? p->n : 0;

    return view_of(TSR_I64, 1, n, n, p->offset_indices, 1, 0);
}

static inline view select_count(const tsr_select_problem *p)
{
    return view_of(TSR_U64, 1, 1, 1, p->offset_count, 1, 0);
}

/** Whether element i of an array, counted from its start, is selected; denormals of float32 and
 *  bfloat16 are 0 where `flushes`. */
bool select_holds(const tsr_select_problem *p, const void *x, size_t i, bool flushes);

/** select_command.c: read "> 0.5" into `where` and value, as the problem's type has it; NULL: only
 *  judged.  False where the text is none. */
bool select_read(const char *spelled, tsr_select_problem *p);

/** Append "> 0.5". */
void select_condition(const problem *p, text *out);

/** select.c: append what a description has behind the condition: " of 1000 float32". */
void select_describe_rest(const problem *p, text *out);

/** select_partition.c: operation.partition. */
tsr_status select_partition(const problem *p, const struct selection *sel,
                            const struct stream_budget *budget, struct partition *out,
                            tsr_error *err);

/* select_proof.c: as the members of struct operation. */
void select_fill(const problem *p, uint64_t seed, distribution f, void *const operands[]);
bool select_sweep(size_t i, bool tiny, problem *out);
tsr_status select_verify(const problem *p, const device_facts *d, const void *const before[],
                         const void *const after[], const void *expected, verdict *out,
                         tsr_error *err);

#endif
