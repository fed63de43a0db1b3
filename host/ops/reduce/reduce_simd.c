/* The variant in C for the host and for CPUs: blocks over the cores, each by vectors. */
#include "ops/reduce/reduce_simd.h"

#include <math.h>

#include "base/sizes.h"
#include "ops/reduce/reduce_problem.h"

/* A block is worth another thread from PARALLEL_BLOCKS on; its size follows from n alone, so that
 * sums do not depend on the number of threads. */
enum { BLOCK_MIN = 1 << 14, BLOCKS_MAX = 1024, PARALLEL_BLOCKS = 16 };

static reduce_sum_loop *const sums[] = {ISA_EACH(reduce_sum)};
static reduce_extreme_loop *const minima[] = {ISA_EACH(reduce_min)};
static reduce_extreme_loop *const maxima[] = {ISA_EACH(reduce_max)};

static const char *plan_simd(const job *j, plan *out)
{
    (void)j, (void)out;
    return NULL;
}

static tsr_status run_simd(const problem *q, void *const operands[], tsr_error *err)
{
    const tsr_reduce_problem *p = reduce_of(q);
    const size_t block = size_max(BLOCK_MIN, size_div_up(p->n, BLOCKS_MAX));
    const size_t blocks = size_div_up(p->n, block);
    const float *x = p->n ? (const float *)operands[REDUCE_X] + p->offset_x : NULL;
    const isa best = isa_best();
    double part[BLOCKS_MAX] = {0}, sum = 0;
    float result;

    (void)err;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) if (blocks >= PARALLEL_BLOCKS)
#endif
    for (size_t b = 0; b < blocks; b++) {
        const float *at = x + b * block;
        const size_t n = size_min(block, p->n - b * block);

        part[b] = p->by == TSR_REDUCE_SUM   ? sums[best](at, n)
                  : p->by == TSR_REDUCE_MIN ? (double)minima[best](at, n)
                                            : (double)maxima[best](at, n);
    }
    if (p->by == TSR_REDUCE_SUM) {
        for (size_t b = 0; b < blocks; b++)
            sum += part[b];
        result = (float)sum;
    } else {
        result = (float)part[0];
        for (size_t b = 1; b < blocks; b++) {
            const float other = (float)part[b];
            const bool beyond = p->by == TSR_REDUCE_MIN ? other < result : other > result;

            result = beyond || isnan(other) ? other : result;
        }
    }
    ((float *)operands[REDUCE_RESULT])[p->offset_result] = result;
    return TSR_OK;
}

const variant reduce_simd = {.name = "simd",
                             .idea =
                                 "vectors, and the cores share blocks; a sum in double precision",
                             .plan = plan_simd,
                             .host = run_simd,
                             .serves_cpus = true};
