/* matmul in C for the host and for CPUs: every thread multiplies a block of C by register tiles. */
#include "ops/matmul/matmul_simd.h"

#include <pthread.h>

#include "base/fail.h"
#include "base/scratch.h"
#include "base/team.h"
#include "ops/matmul/matmul_host.h"
#include "ops/matmul/matmul_variants.h"

/* Work that is worth another thread, which takes some microseconds to start on it. */
static const double cycles_a_thread = 0x1p14;

static matmul_share_loop *const share_f32[] = {ISA_EACH(matmul_share_f32)};
static matmul_share_loop *const share_f64[] = {ISA_EACH(matmul_share_f64)};
static matmul_share_loop *const share_i8[] = {ISA_EACH(matmul_share_i8)};

/* The same of the type that is computed in; int8 is in float32. */
static const matmul_tiling *tiling_of(tsr_type type, isa which)
{
    static const matmul_tiling *const f32[] = {ISA_EACH(&matmul_tiling_f32)};
    static const matmul_tiling *const f64[] = {ISA_EACH(&matmul_tiling_f64)};

    return type == TSR_F64 ? f64[which] : f32[which];
}

/* Numbers in a row of C, and in one of op(A): a complex product is a real one of twice the columns
 * and twice the k (matmul_simd_body.h). */
static size_t columns_of(const tsr_matmul_problem *p)
{
    return p->n * type_parts(p->type);
}

static size_t depth_of(const tsr_matmul_problem *p)
{
    return matmul_k_read(p) * type_parts(p->type);
}

/* Elements of the larger factor up to which a product of few rows or columns is summed in the order
 * of tiles, so that its last bits do not depend on its shape: LAPACK's tests compare eigenvalues
 * from matrices of different shapes.  Beyond, dot products. */
enum { AS_TILES_MAX = 1 << 15 };

static bool is_as_tiles(const tsr_matmul_problem *p)
{
    return (double)size_max(p->m, p->n) * (double)p->k <= AS_TILES_MAX;
}

/* By the whole product, whatever its blocks are: results do not depend on the number of threads. */
static matmul_few few_of(const tsr_matmul_problem *p, const matmul_tiling *t)
{
    const bool rows = p->m < p->n, along = rows ? p->trans_b : !p->trans_a;
    const size_t most = !along ? t->few_apart : is_as_tiles(p) ? t->few_turned : t->few_along;

    if ((rows ? p->m : p->n) > most || p->type == TSR_I8 || type_parts(p->type) > 1)
        return MATMUL_MANY;
    return rows ? MATMUL_FEW_ROWS : MATMUL_FEW_COLUMNS;
}

/* Multiply-adds of whole tiles, twice: C of fewer rows or columns than a tile takes as long. */
static double flops_of(const tsr_matmul_problem *p, const matmul_tiling *t)
{
    return 2.0 * (double)(size_div_up(p->m, t->tile_m) * t->tile_m) *
           (double)(size_div_up(columns_of(p), t->tile_n) * t->tile_n) * (double)depth_of(p);
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

/* Of a core, about: two vectors of multiply-adds in each, or an element that is copied or put. */
static double cycles_of(const tsr_matmul_problem *p, const matmul_tiling *t)
{
    const double m = (double)p->m, n = (double)columns_of(p), k = (double)depth_of(p);

    const double flops = few_of(p, t) == MATMUL_MANY ? flops_of(p, t) : 2 * m * n * k;

    return flops / (2 * (double)t->tile_n) + (m + n) * k + m * n;
}

static size_t threads_for(double cycles)
{
    const double wanted = cycles / cycles_a_thread;
    const size_t most = wanted < 2 ? 1 : team_threads();

    return wanted < (double)most ? (size_t)size_max((size_t)wanted, 1) : most;
}

/* C of m x n in down x across blocks of whole tiles. */
typedef struct grid {
    size_t down, across;
    size_t rows, columns; /* of a block, in numbers */
} grid;

/* Blocks for the threads that the work is worth.  Each copies the rows of A and the columns of B
 * that it reads, and an element of a copy takes as long as some multiply-adds. */
static grid cut(const tsr_matmul_problem *p, const matmul_tiling *t)
{
    const size_t threads = threads_for(cycles_of(p, t));
    const matmul_few few = few_of(p, t);
    grid best = {0};
    double least = 0;

    for (size_t down = 1; down <= threads; down++) {
        const size_t across = size_max(threads / down, 1);
        grid g = {.rows = size_div_up(size_div_up(p->m, down), t->tile_m) * t->tile_m,
                  .columns =
                      size_div_up(size_div_up(columns_of(p), across), t->tile_n) * t->tile_n};
        const double rows = (double)g.rows, columns = (double)g.columns;
        const double cost = rows * columns + 32 * (rows + columns);

        g.down = size_div_up(p->m, g.rows);
        g.across = size_div_up(columns_of(p), g.columns);
        /* Few lines are not cut: each block would read the larger factor, and sums of few lines
         * would be cut along k by how many of them a block has. */
        if ((few == MATMUL_FEW_ROWS && g.down > 1) || (few == MATMUL_FEW_COLUMNS && g.across > 1))
            continue;
        if (!best.down || cost < least) {
            best = g;
            least = cost;
        }
    }
    return best;
}

/* On two cores of a Xeon with AVX-512 products of 1024 x 1024 x 1024 to 4096 x 4096 x 4096 take C
 * 0.76 to 0.97 of the time of cpu-panels, and 8192 x 64 x 4096 1.3 times: every thread copies what
 * it reads, an element in a cycle or two, in which it adds two vectors of products. */
bool matmul_simd_outruns_panels(const tsr_matmul_problem *p)
{
    const matmul_tiling *t;
    double rows, columns;
    grid g;

    if (isa_best() != ISA_AVX512 || (p->type != TSR_F32 && p->type != TSR_F64))
        return false;
    t = tiling_of(p->type, isa_best());
    g = cut(p, t);
    rows = (double)g.rows;
    columns = (double)g.columns;
    return (rows + columns) * (double)t->tile_n <= rows * columns / 12;
}

/* The blocks of a product. */
typedef struct blocks {
    const tsr_matmul_problem *p;
    void *const *operands;
    matmul_share_loop *loop;
    matmul_share whole;
    grid grid;
    size_t size, size_c;   /* of an element of A and B, and of C */
    unsigned char *memory; /* of each block, `bytes` for its copies */
    size_t bytes;
} blocks;

static void multiply_block(void *context, size_t b, size_t who)
{
    const blocks *x = context;
    const tsr_matmul_problem *p = x->p;
    const size_t columns = x->grid.columns / x->whole.parts; /* elements */
    const size_t i = b / x->grid.across * x->grid.rows, j = b % x->grid.across * columns;
    matmul_share s = x->whole;

    (void)who;
    s.m = size_min(x->grid.rows, p->m - i);
    s.n = size_min(columns, p->n - j);
    if (s.k) {
        s.a = (const char *)x->operands[MATMUL_A] + (p->offset_a + i * s.a_row) * x->size;
        s.b = (const char *)x->operands[MATMUL_B] + (p->offset_b + j * s.b_column) * x->size;
    }
    s.c = (char *)x->operands[MATMUL_C] + (p->offset_c + i * s.ldc + j) * x->size_c;
    s.memory = x->memory + b * x->bytes;
    x->loop(&s);
}

/* One product of float32, float64 or int8, or of complex numbers. */
static tsr_status multiply(const tsr_matmul_problem *p, void *const operands[], const void *with,
                           tsr_error *err)
{
    const isa which = isa_best();
    const matmul_tiling *t = tiling_of(real_sums(p->type), which);
    const size_t size = tsr_type_size(p->type), k = matmul_k_read(p);
    const size_t lda = matmul_ld_a(p), ldb = matmul_ld_b(p);
    const grid g = cut(p, t);
    const size_t count = g.down * g.across;
    blocks x = {.p = p,
                .operands = operands,
                .loop = p->type == TSR_I8               ? share_i8[which]
                        : real_sums(p->type) == TSR_F64 ? share_f64[which]
                                                        : share_f32[which],
                .whole = {.few = few_of(p, t),
                          .as_tiles = is_as_tiles(p),
                          .k = k,
                          .a_row = p->trans_a ? 1 : lda,
                          .a_column = p->trans_a ? lda : 1,
                          .b_row = p->trans_b ? 1 : ldb,
                          .b_column = p->trans_b ? ldb : 1,
                          .ldc = matmul_ld_c(p),
                          .alpha = matmul_alpha(p),
                          .beta = matmul_beta(p),
                          .parts = type_parts(p->type),
                          .alpha_im = matmul_alpha_im(p),
                          .beta_im = matmul_beta_im(p),
                          .conj_a = p->conj_a,
                          .conj_b = p->conj_b},
                .grid = g,
                .size = size,
                .size_c = p->type == TSR_I8 ? tsr_type_size(TSR_I32) : size,
                .bytes = size_round_up(matmul_share_elements(t, g.rows, g.columns, depth_of(p)) *
                                           matmul_real_size(p),
                                       64)};
    size_t all;

    (void)with;
    if (size_mul(count, x.bytes, &all))
        x.memory = scratch_take(all);
    if (!x.memory)
        return tsr_fail(err, TSR_ENOMEM, 0,
                        "matmul: no memory for copies of blocks (%zu of %zu bytes)", count,
                        x.bytes);
    team_run(count, count, multiply_block, &x);
    scratch_give(x.memory);
    return TSR_OK;
}

/* Of a type that is copied first where blocks are not of it. */
static tsr_status multiply_any(const tsr_matmul_problem *p, void *const operands[], tsr_error *err)
{
    if (p->type != TSR_I8)
        return matmul_host_product(p, operands, multiply, NULL, err);
    return p->m && p->n ? multiply(p, operands, NULL, err) : TSR_OK;
}

/* The products of a call, in groups one behind the other. */
typedef struct products {
    const tsr_matmul_problem *p;
    void *const *operands;
    size_t batch, group;
    pthread_mutex_t lock; /* of what went wrong */
    tsr_error why;
} products;

static void multiply_group(void *context, size_t item, size_t who)
{
    products *x = context;
    const size_t first = item * x->group, end = size_min(first + x->group, x->batch);

    (void)who;
    for (size_t e = first; e < end; e++) {
        const tsr_matmul_problem one = matmul_product(x->p, e);
        tsr_error why = {0};

        if (multiply_any(&one, x->operands, &why) == TSR_OK)
            continue;
        pthread_mutex_lock(&x->lock);
        x->why = why;
        pthread_mutex_unlock(&x->lock);
    }
}

/* Groups of a batch that a thread does, on average: one that begins late leaves some to others. */
enum { GROUPS_A_THREAD = 4 };

/* Products side by side, where there are more of them than threads for one. */
static tsr_status run_simd(const problem *q, void *const operands[], tsr_error *err)
{
    const tsr_matmul_problem *p = matmul_of(q);
    const matmul_tiling *t = tiling_of(real_sums(p->type), isa_best());
    const double cycles = cycles_of(p, t);
    const size_t batch = matmul_batch(p), threads = threads_for(cycles * (double)batch);
    const bool beside = threads > 1 && batch >= threads && threads > threads_for(cycles);
    products x = {.p = p,
                  .operands = operands,
                  .batch = batch,
                  .group = beside ? size_div_up(batch, threads * GROUPS_A_THREAD) : batch,
                  .lock = PTHREAD_MUTEX_INITIALIZER};

    team_run(threads, batch ? size_div_up(batch, x.group) : 0, multiply_group, &x);
    if (x.why.status && err)
        *err = x.why;
    return x.why.status;
}

static const char *plan_simd(const job *j, plan *out)
{
    return real_unsupported(matmul_of(j->problem)->type, TSR_PRECISION_DEFAULT, j->device,
                            &out->reason);
}

const variant matmul_simd = {
    .name = "simd",
    .idea =
        "register tiles of vectors over copies of blocks that stay in the caches, on every core",
    .plan = plan_simd,
    .host = run_simd,
    .serves_cpus = true};
