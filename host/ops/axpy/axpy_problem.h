/** Problems of axpy as its files read them, and what its descriptor is made of. */
#ifndef OPS_AXPY_PROBLEM_H
#define OPS_AXPY_PROBLEM_H

#include "core/variant.h"
#include "core/view.h"
#include "stream/partition.h"
#include "tessera/axpy.h"

extern const operation operation_axpy;

/** axpy_command.c */
extern const operation_command axpy_command;

/** axpy_host.c: C, on the host, the last one on CPUs too. */
extern const variant axpy_loop, axpy_threads, axpy_simd;

/** axpy_device.c: kernels. */
extern const variant axpy_naive, axpy_grid_stride, axpy_vector, axpy_general;

/* The operands, in order. */
enum { AXPY_X, AXPY_Y, AXPY_Z, AXPY_OPERANDS };

/* The problem's structure, to read. */
static inline const tsr_axpy_problem *axpy_of(const problem *p)
{
    return (const tsr_axpy_problem *)(const void *)p->bytes;
}

/* The same, to change. */
static inline tsr_axpy_problem *axpy_in(problem *p)
{
    return (tsr_axpy_problem *)(void *)p->bytes;
}

/* The elements of an operand; those of y are z's in place. */
static inline view axpy_view(const tsr_axpy_problem *p, size_t which)
{
    const size_t of = which == AXPY_Y && p->in_place ? AXPY_Z : which;
    const size_t given[] = {p->incx, p->incy, p->incz};
    const size_t offset[] = {p->offset_x, p->offset_y, p->offset_z};
    const size_t inc = given[of] ? given[of] : 1;

    return inc == 1 ? view_of(p->type, 1, p->n, p->n, offset[of], 1, 0)
                    : view_of(p->type, p->n, 1, inc, offset[of], 1, 0);
}

/* From one element of an operand to the next. */
static inline size_t axpy_inc(const tsr_axpy_problem *p, size_t which)
{
    const view v = axpy_view(p, which);

    return v.lines == 1 ? 1 : v.ld;
}

/* Whether the elements of each operand follow one another. */
static inline bool axpy_is_dense(const tsr_axpy_problem *p)
{
    return axpy_inc(p, AXPY_X) == 1 && axpy_inc(p, AXPY_Y) == 1 && axpy_inc(p, AXPY_Z) == 1;
}

/** alpha of integers, modulo 2^64. */
uint64_t axpy_whole(double alpha);

/** axpy_device.c: NULL, or why a lesson, on float32 without gaps, does not take the problem. */
const char *axpy_unsupported_lesson(const struct job *j, struct plan *out);

/** operation.partition */
tsr_status axpy_partition(const problem *p, const struct selection *sel,
                          const struct stream_budget *budget, struct partition *out,
                          tsr_error *err);

/* axpy_proof.c: as the members of struct operation. */
void axpy_fill(const problem *p, uint64_t seed, distribution f, void *const operands[]);
bool axpy_sweep(size_t i, bool tiny, problem *out);
tsr_status axpy_verify(const problem *p, const device_facts *d, const void *const before[],
                       const void *const after[], const void *expected, verdict *out,
                       tsr_error *err);

#endif
