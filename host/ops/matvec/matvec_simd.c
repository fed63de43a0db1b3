/* matvec in C for the host and for CPUs: rows, or blocks of columns, over the cores, by vectors. */
#include "ops/matvec/matvec_simd.h"

#include "base/scratch.h"
#include "base/sizes.h"
#include "base/team.h"
#include "ops/matvec/matvec_host.h"
#include "ops/matvec/matvec_variants.h"

/* How a product is cut follows from its shape alone, where it bears on the order of a sum: results
 * do not depend on the number of threads. */
enum {
    THREAD_MIN = 1 << 15, /* elements of A that are worth another thread */
    BLOCK = 4096,         /* elements of y: of one thread, whose sums stay in the nearest cache */
    BLOCK_MIN = 512,      /* of y, where the terms are few */
    BLOCKS_ENOUGH = 16,   /* below it the terms of a sum are shared out, too */
    TERMS_MIN = 128,      /* of one part */
    PARTS_MAX = 64
};

/* The loops of a type, for this processor. */
typedef struct loops {
    size_t a_size, size; /* of an element of A, and of one of x and y */
    matvec_dot_loop *dot;
    matvec_columns_loop *columns;
    matvec_put_loop *put;
} loops;

static loops loops_f32(void)
{
    static matvec_dot_loop *const dot[] = {ISA_EACH(matvec_dot_f32)};
    static matvec_columns_loop *const columns[] = {ISA_EACH(matvec_columns_f32)};
    static matvec_put_loop *const put[] = {ISA_EACH(matvec_put_f32)};
    const isa i = isa_best();

    return (loops){sizeof(float), sizeof(float), dot[i], columns[i], put[i]};
}

static loops loops_f64(void)
{
    static matvec_dot_loop *const dot[] = {ISA_EACH(matvec_dot_f64)};
    static matvec_columns_loop *const columns[] = {ISA_EACH(matvec_columns_f64)};
    static matvec_put_loop *const put[] = {ISA_EACH(matvec_put_f64)};
    const isa i = isa_best();

    return (loops){sizeof(double), sizeof(double), dot[i], columns[i], put[i]};
}

static loops loops_f16(void)
{
    static matvec_dot_loop *const dot[] = {ISA_EACH(matvec_dot_f16)};
    static matvec_columns_loop *const columns[] = {ISA_EACH(matvec_columns_f16)};
    const isa i = isa_best();

    return (loops){sizeof(uint16_t), sizeof(float), dot[i], columns[i], loops_f32().put};
}

static loops loops_bf16(void)
{
    static matvec_dot_loop *const dot[] = {ISA_EACH(matvec_dot_bf16)};
    static matvec_columns_loop *const columns[] = {ISA_EACH(matvec_columns_bf16)};
    const isa i = isa_best();

    return (loops){sizeof(uint16_t), sizeof(float), dot[i], columns[i], loops_f32().put};
}

/* A product in blocks of y times parts of the terms. */
typedef struct cut {
    const matvec_view *v;
    const char *a, *x;
    char *y, *sums; /* of each part, or of the block that a thread has; NULL: they are y */
    loops of;
    size_t block, blocks, parts, terms;
} cut;

static void multiply_part(void *context, size_t i, size_t who)
{
    const cut *m = context;
    const matvec_view *v = m->v;
    const size_t p = i / m->blocks, r = i % m->blocks * m->block, size = m->of.size;
    const size_t c = size_min(p * m->terms, v->columns);
    const size_t rows = size_min(m->block, v->rows - r);
    const size_t columns = size_min(m->terms, v->columns - c);
    const char *first = m->a + (r * v->row_step + c * v->column_step) * m->of.a_size;
    /* Sums that are whole are put while they are near, and their memory is used again. */
    const size_t place = m->parts > 1 ? p * v->rows + r : who * m->block;
    char *y = m->y + r * size, *sum = m->sums ? m->sums + place * size : y;

    if (!v->trans && sum == y) {
        m->of.dot(first, v->row_step, rows, columns, m->x, v->alpha, v->beta, y);
        return;
    }
    if (v->trans)
        m->of.columns(first, v->column_step, columns, rows, m->x + c * size, sum);
    else
        m->of.dot(first, v->row_step, rows, columns, m->x + c * size, 1, 0, sum);
    if (m->parts == 1 && (sum != y || v->alpha != 1))
        m->of.put(sum, 1, rows, v->alpha, v->beta, y);
}

/* Elements of y in a block: of a transposed A few, if the terms are too few to be shared out, for
 * lines of A are read by pieces then. */
static size_t block_of(const matvec_view *v)
{
    const size_t parts = size_max(v->columns / TERMS_MIN, 1);
    const size_t piece = size_div_up(v->rows, size_max(PARTS_MAX / parts, 1));

    return v->trans ? size_min(size_max(size_round_up(piece, 64), BLOCK_MIN), BLOCK)
                    : size_max(size_div_up(v->rows, PARTS_MAX), 4);
}

/* So many as there is work for, if each takes about THREAD_MIN elements. */
static size_t threads_for(const matvec_view *v)
{
    const double worth = (double)v->rows * (double)v->columns / THREAD_MIN;

    return worth < 2 ? 1 : (size_t)(worth < PARTS_MAX ? worth : PARTS_MAX);
}

/* Blocks of y times parts of the terms; false: no memory for the sums of the parts. */
static bool multiply(const matvec_view *v, const char *a, const char *x, char *y, loops of)
{
    const size_t block = block_of(v);
    const size_t blocks = size_div_up(v->rows, block);
    const size_t spare = size_min(PARTS_MAX / size_min(blocks, PARTS_MAX), v->columns / TERMS_MIN);
    const size_t parts = blocks >= BLOCKS_ENOUGH ? 1 : size_max(spare, 1);
    const size_t threads = size_min(threads_for(v), team_threads());
    const size_t sums = parts > 1                  ? parts * v->rows
                        : v->trans && v->beta != 0 ? threads * block
                                                   : 0;
    cut m = {.v = v,
             .a = a,
             .x = x,
             .y = y,
             .sums = sums ? scratch_take(sums * of.size) : NULL,
             .of = of,
             .block = block,
             .blocks = blocks,
             .parts = parts,
             .terms = size_div_up(v->columns, parts)};

    if (sums && !m.sums)
        return false;
    team_run(threads, blocks * parts, multiply_part, &m);
    if (parts > 1)
        of.put(m.sums, parts, v->rows, v->alpha, v->beta, y);
    scratch_give(m.sums);
    return true;
}

static bool simd_f32(const matvec_view *v, const float *a, const float *x, float *y)
{
    return multiply(v, (const char *)a, (const char *)x, (char *)y, loops_f32());
}

static bool simd_f64(const matvec_view *v, const double *a, const double *x, double *y)
{
    return multiply(v, (const char *)a, (const char *)x, (char *)y, loops_f64());
}

static bool simd_f16(const matvec_view *v, const uint16_t *a, const float *x, float *y)
{
    return multiply(v, (const char *)a, (const char *)x, (char *)y, loops_f16());
}

static bool simd_bf16(const matvec_view *v, const uint16_t *a, const float *x, float *y)
{
    return multiply(v, (const char *)a, (const char *)x, (char *)y, loops_bf16());
}

static tsr_status run_simd(const problem *p, void *const operands[], tsr_error *err)
{
    static const matvec_loops simd = {simd_f32, simd_f64, simd_f16, simd_bf16};

    return matvec_host_run(p, operands, &simd, err);
}

const variant matvec_simd = {
    .name = "simd",
    .idea = "vectors along rows, or along the lines of a transposed A, shared out to every core",
    .plan = matvec_host_plan,
    .host = run_simd,
    .serves_cpus = true};
