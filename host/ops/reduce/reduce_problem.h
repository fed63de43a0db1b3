/** Problems of reduce as its files read them, and what its descriptor is made of. */
#ifndef OPS_REDUCE_PROBLEM_H
#define OPS_REDUCE_PROBLEM_H

#include "base/elements.h"
#include "core/variant.h"
#include "core/view.h"
#include "stream/partition.h"
#include "tessera/reduce.h"

extern const operation operation_reduce;

/** reduce_command.c */
extern const operation_command reduce_command;

/** reduce_simd.c: C, on the host and on CPUs. */
extern const variant reduce_simd;

/** reduce_ladder.c: of a whole float32 array. */
extern const variant reduce_atomic, reduce_interleaved, reduce_sequential, reduce_first_add,
    reduce_subgroup, reduce_shuffle, reduce_redux, reduce_tree, reduce_vector, reduce_group_atomic,
    reduce_last_group;

/** reduce_axis.c: along any axis or of a whole array, of every type. */
extern const variant reduce_rows, reduce_columns, reduce_whole;

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

/** Where elements are, with what the zeros of the structure stand for. */
typedef struct reduce_shape {
    size_t outer, n, inner, step, stride;
} reduce_shape;

static inline reduce_shape reduce_shape_of(const tsr_reduce_problem *p)
{
    reduce_shape s = {.outer = p->outer ? p->outer : 1,
                      .n = p->n,
                      .inner = p->inner ? p->inner : 1,
                      .step = p->step,
                      .stride = p->stride};

    if (s.step == 0)
        s.step = s.inner;
    if (s.stride == 0)
        s.stride = s.n * s.step;
    return s;
}

/** Number of results; operation.check has seen that it fits. */
static inline size_t reduce_results(const tsr_reduce_problem *p)
{
    const reduce_shape s = reduce_shape_of(p);

    return s.outer * s.inner;
}

/** Whether elements are added up, where their order changes the bits. */
static inline bool reduce_rounds(const tsr_reduce_problem *p)
{
    return p->by == TSR_REDUCE_NORM2 || p->by == TSR_REDUCE_MEAN ||
           (p->by == TSR_REDUCE_SUM && type_is_real(p->type));
}

static inline bool reduce_finds_index(const tsr_reduce_problem *p)
{
    return p->by == TSR_REDUCE_ARGMIN || p->by == TSR_REDUCE_ARGMAX;
}

/** Whether it looks for a minimum or maximum, or the index of one: no elements have none. */
static inline bool reduce_finds_extreme(const tsr_reduce_problem *p)
{
    return p->by >= TSR_REDUCE_MIN && p->by <= TSR_REDUCE_ARGMAX;
}

/** Whether the least elements are wanted, of a minimum or the index of one. */
static inline bool reduce_is_least(const tsr_reduce_problem *p)
{
    return p->by == TSR_REDUCE_MIN || p->by == TSR_REDUCE_ARGMIN;
}

/** The type that sums have, or of other reductions the values that are compared or counted:
 *  float32 or float64; int64 or uint64. */
tsr_type reduce_value_type(const tsr_reduce_problem *p);

/** Whether there is one result, of elements that follow one another. */
bool reduce_is_whole(const tsr_reduce_problem *p);

/** Whether the sum, minimum or maximum of a whole float32 array is wanted, whose elements follow
 *  one another: what the steps of the ladder do. */
bool reduce_is_plain(const tsr_reduce_problem *p);

/** Elements of a whole array, at most, that `tree` or else `rows` reduces in the first calls on a
 *  GPU. */
enum { REDUCE_FIRST_CALL_ELEMENTS = 1 << 20 };

/** Why another problem is unsupported by a step of the ladder. */
extern const char reduce_not_plain[];

/* Rows are lines of the view where their elements follow one another; else there is a matrix for
 * each `outer`, whose columns are reduced. */
static inline view reduce_x(const tsr_reduce_problem *p)
{
    const reduce_shape s = reduce_shape_of(p);

    return s.inner == 1 && s.step == 1
               ? view_of(p->type, s.outer, s.n, s.stride, p->offset_x, 1, 0)
               : view_of(p->type, s.n, s.inner, s.step, p->offset_x, s.outer, s.stride);
}

static inline view reduce_result(const tsr_reduce_problem *p)
{
    const size_t results = reduce_results(p);

    return view_of(tsr_reduce_result_type(p->type, p->by), 1, results, results, p->offset_result, 1,
                   0);
}

/** reduce_command.c: "sum", "min"... */
const char *reduce_by_name(const problem *p);

/** reduce_command.c: as the members of struct operation. */
void reduce_describe(const problem *p, text *out);
void reduce_size_text(const problem *p, text *out);
void reduce_shrink(problem *p);
void reduce_classify(const problem *p, text *out);
bool reduce_class_text(const char *name, text *out);

/** reduce_partition.c: operation.partition. */
tsr_status reduce_partition(const problem *p, const struct selection *sel,
                            const struct stream_budget *budget, struct partition *out,
                            tsr_error *err);

/* reduce_proof.c: as the members of struct operation. */
void reduce_fill(const problem *p, uint64_t seed, distribution f, void *const operands[]);
bool reduce_sweep(size_t i, bool tiny, problem *out);
tsr_status reduce_verify(const problem *p, const device_facts *d, const void *const before[],
                         const void *const after[], const void *expected, verdict *out,
                         tsr_error *err);

#endif
