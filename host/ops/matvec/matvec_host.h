/**
 * What the matvec variants share that run on the host, in C.
 *
 * Each takes a checked problem, and A, x and y as in operation_matvec.operands,
 * each pointer at the start of its array (A and x may be NULL where nothing of
 * them is read).  TSR_OK, or TSR_ENOMEM where one needs memory.
 */
#ifndef OPS_MATVEC_HOST_H
#define OPS_MATVEC_HOST_H

#include "core/variant.h"
#include "ops/matvec/matvec_shape.h"

/** One product in a type: A where its view has it, the elements of x and y following one another;
 *  each pointer at the first of them, a and x NULL where columns is 0.  false: no memory. */
typedef struct matvec_loops {
    bool (*f32)(const matvec_view *v, const float *a, const float *x, float *y);
    bool (*f64)(const matvec_view *v, const double *a, const double *x, double *y);
    /* NULL: such A is copied to float32 */
    bool (*f16)(const matvec_view *v, const uint16_t *a, const float *x, float *y);
    bool (*bf16)(const matvec_view *v, const uint16_t *a, const float *x, float *y);
} matvec_loops;

/** Run loops on every product of a problem: on its operands, or on copies of vectors whose elements
 *  lie apart and of elements of 16 bits, which are computed in float32. */
tsr_status matvec_host_run(const problem *p, void *const operands[], const matvec_loops *loops,
                           tsr_error *err);

/** variant.plan of C: every type and its own precision, where the device has it. */
const char *matvec_host_plan(const job *j, plan *out);

/* One source, matvec_level.c, compiled with the library's own flags and at four levels. */
tsr_status matvec_run_contiguous(const problem *p, void *const operands[], tsr_error *err);
tsr_status matvec_run_contiguous_O0(const problem *p, void *const operands[], tsr_error *err);
tsr_status matvec_run_contiguous_O1(const problem *p, void *const operands[], tsr_error *err);
tsr_status matvec_run_contiguous_O2(const problem *p, void *const operands[], tsr_error *err);
tsr_status matvec_run_contiguous_O3(const problem *p, void *const operands[], tsr_error *err);

/* At -O0 alone. */
tsr_status matvec_run_pointers_O0(const problem *p, void *const operands[], tsr_error *err);
tsr_status matvec_run_scattered_O0(const problem *p, void *const operands[], tsr_error *err);
tsr_status matvec_run_unroll_2_O0(const problem *p, void *const operands[], tsr_error *err);
tsr_status matvec_run_unroll_4_O0(const problem *p, void *const operands[], tsr_error *err);

#endif
