/* matmul in C for the host and for CPUs: every thread multiplies a block of C by register tiles. */
#include "ops/matmul/matmul_simd.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/fail.h"
#include "base/scratch.h"
#include "ops/matmul/matmul_host.h"
#include "ops/matmul/matmul_variants.h"

/* Work that is worth another thread, which takes some microseconds to start on it. */
static const double flops_a_thread = 0x1p21;

static matmul_share_loop *const share_f32[] = {ISA_EACH(matmul_share_f32)};
static matmul_share_loop *const share_f64[] = {ISA_EACH(matmul_share_f64)};

/* The same of the type that is computed in. */
static const matmul_tiling *tiling_of(tsr_type type, isa which)
{
    static const matmul_tiling *const f32[] = {ISA_EACH(&matmul_tiling_f32)};
    static const matmul_tiling *const f64[] = {ISA_EACH(&matmul_tiling_f64)};

    return type == TSR_F64 ? f64[which] : f32[which];
}

/* Multiply-adds of whole tiles, twice: C of fewer rows or columns than a tile takes as long. */
static double flops_of(const tsr_matmul_problem *p, const matmul_tiling *t)
{
    return 2.0 * (double)(size_div_up(p->m, t->tile_m) * t->tile_m) *
           (double)(size_div_up(p->n, t->tile_n) * t->tile_n) * (double)matmul_k_read(p);
}

/* On a core at least, of an element of a vector: half of what is usual, as other work may share the
 * core. */
static const double flops_in_50_ms = 0x1p27;

bool matmul_simd_is_brief(const tsr_matmul_problem *p, size_t cores)
{
    const matmul_tiling *t = tiling_of(real_sums(p->type), isa_best());
    const double lanes = (double)t->tile_n / 2, flops = flops_of(p, t) * (double)matmul_batch(p);

    return flops <= (double)size_max(cores, 1) * lanes * flops_in_50_ms;
}

static size_t threads_for(double flops)
{
#ifdef _OPENMP
    const double wanted = flops / flops_a_thread;
    const size_t most = omp_in_parallel() ? 1 : (size_t)omp_get_max_threads();

    return wanted < 2 ? 1 : wanted < (double)most ? (size_t)wanted : most;
#else
    (void)flops;
    return 1;
#endif
}

/* C of m x n in down x across blocks of whole tiles. */
typedef struct grid {
    size_t down, across;
    size_t rows, columns; /* of a block */
} grid;

/* Blocks for so many threads.  Each copies the rows of A and the columns of B that it reads, and an
 * element of a copy takes as long as some multiply-adds. */
static grid cut(const tsr_matmul_problem *p, const matmul_tiling *t, size_t threads)
{
    grid best = {0};
    double least = 0;

    for (size_t down = 1; down <= threads; down++) {
        const size_t across = size_max(threads / down, 1);
        grid g = {.rows = size_div_up(size_div_up(p->m, down), t->tile_m) * t->tile_m,
                  .columns = size_div_up(size_div_up(p->n, across), t->tile_n) * t->tile_n};
        const double rows = (double)g.rows, columns = (double)g.columns;
        const double cost = rows * columns + 32 * (rows + columns);

        g.down = size_div_up(p->m, g.rows);
        g.across = size_div_up(p->n, g.columns);
        if (down == 1 || cost < least) {
            best = g;
            least = cost;
        }
    }
    return best;
}

/* One product of float32 or float64. */
static tsr_status multiply(const tsr_matmul_problem *p, void *const operands[], const void *with,
                           tsr_error *err)
{
    const isa which = isa_best();
    const matmul_tiling *t = tiling_of(p->type, which);
    matmul_share_loop *const loop = p->type == TSR_F64 ? share_f64[which] : share_f32[which];
    const size_t size = tsr_type_size(p->type), k = matmul_k_read(p);
    const size_t lda = matmul_ld_a(p), ldb = matmul_ld_b(p), ldc = matmul_ld_c(p);
    const grid g = cut(p, t, threads_for(flops_of(p, t)));
    const size_t blocks = g.down * g.across;
    const size_t bytes =
        size_div_up(matmul_share_elements(t, g.rows, g.columns, k) * size, 64) * 64;
    const matmul_share whole = {.k = k,
                                .a_row = p->trans_a ? 1 : lda,
                                .a_column = p->trans_a ? lda : 1,
                                .b_row = p->trans_b ? 1 : ldb,
                                .b_column = p->trans_b ? ldb : 1,
                                .ldc = ldc,
                                .alpha = matmul_alpha(p),
                                .beta = matmul_beta(p)};
    unsigned char *memory = scratch_take(blocks * bytes);

    (void)with;
    if (!memory)
        return tsr_fail(err, TSR_ENOMEM, 0, "matmul: no memory for copies of blocks (%zu bytes)",
                        blocks * bytes);
#ifdef _OPENMP
#pragma omp parallel for schedule(static, 1) num_threads(blocks) if (blocks > 1)
#endif
    for (size_t b = 0; b < blocks; b++) {
        const size_t i = b / g.across * g.rows, j = b % g.across * g.columns;
        matmul_share s = whole;

        s.m = size_min(g.rows, p->m - i);
        s.n = size_min(g.columns, p->n - j);
        s.a = k ? (const char *)operands[MATMUL_A] + (p->offset_a + i * s.a_row) * size : NULL;
        s.b = k ? (const char *)operands[MATMUL_B] + (p->offset_b + j * s.b_column) * size : NULL;
        s.c = (char *)operands[MATMUL_C] + (p->offset_c + i * ldc + j) * size;
        s.memory = memory + b * bytes;
        loop(&s);
    }
    scratch_give(memory);
    return TSR_OK;
}

/* Products side by side, a thread each, where there are more of them than threads for one. */
static tsr_status run_simd(const problem *q, void *const operands[], tsr_error *err)
{
    const tsr_matmul_problem *p = matmul_of(q);
    const matmul_tiling *t = tiling_of(real_sums(p->type), isa_best());
    const double flops = flops_of(p, t);
    const size_t batch = matmul_batch(p), threads = threads_for(flops * (double)batch);
    tsr_status st = TSR_OK;

#ifdef _OPENMP
#pragma omp parallel for schedule(static)                                                          \
    num_threads(threads) if (batch >= threads && threads > threads_for(flops))
#endif
    for (size_t e = 0; e < batch; e++) {
        const tsr_matmul_problem one = matmul_product(p, e);
        tsr_error why = {0};

        if (matmul_host_product(&one, operands, multiply, NULL, &why) != TSR_OK) {
#ifdef _OPENMP
#pragma omp critical(matmul_simd_failed)
#endif
            {
                st = why.status;
                if (err)
                    *err = why;
            }
        }
    }
    return st;
}

const variant matmul_simd = {
    .name = "simd",
    .idea =
        "register tiles of vectors over copies of blocks that stay in the caches, on every core",
    .plan = matmul_host_plan,
    .host = run_simd,
    .serves_cpus = true};
