/*
 * The CPU ladder of matmul: plain C, for the device `host`.
 *
 * Each computes C := alpha op(A) op(B) + beta C with any transposes, leading
 * dimensions and offsets; operands in the order A, B, C.  The loops are of float32,
 * float64 and int32: float16 and bfloat16 operands, and those whose factors a
 * precision rounds, are copied to float32 first, int8 ones to int32, and the result
 * is stored as its type.
 * TSR_ENOMEM where copies or sums need memory beside C and there is none.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/scratch.h"
#include "base/sizes.h"
#include "ops/matmul/matmul_host.h"
#include "ops/matmul/matmul_plan.h"
#include "ops/matmul/matmul_variants.h"

/* A block of B of 128 x 512 floats is 256 KiB: it stays in the second-level cache while every row
 * of A passes over it. */
enum { BLOCK_K = 128, BLOCK_N = 512, STRIP_M = 8 };

#define REAL        float
#define SCALE(x)    ((float)(x))
#define NAMED(name) name##_f32
#include "ops/matmul/matmul_host_body.h"
#undef REAL
#undef SCALE
#undef NAMED

#define REAL        double
#define SCALE(x)    (x)
#define NAMED(name) name##_f64
#include "ops/matmul/matmul_host_body.h"
#undef REAL
#undef SCALE
#undef NAMED

/* Without a sign, so that sums wrap; alpha and beta are whole numbers of 32 bits. */
#define REAL        uint32_t
#define SCALE(x)    ((uint32_t)(int32_t)(x))
#define NAMED(name) name##_i32
#include "ops/matmul/matmul_host_body.h"
#undef REAL
#undef SCALE
#undef NAMED

/* ---- operands that are not what the loops read --------------------------------------------- */

/* C := factor sum + beta C, where rows or columns have scales; c holds C without gaps. */
static void scale_sums(const tsr_matmul_problem *p, void *const operands[], const float *sums,
                       float *c)
{
    const unsigned scaled = matmul_scaled(p);
    const float *scale_a = scaled & SCALES_A ? operands[MATMUL_SCALE_A] : NULL;
    const float *scale_b = scaled & SCALES_B ? operands[MATMUL_SCALE_B] : NULL;
    const float beta = (float)matmul_beta(p);

    for (size_t i = 0; i < p->m; i++)
        for (size_t j = 0; j < p->n; j++) {
            float *to = &c[i * p->n + j];
            const float x = matmul_factor(p, scale_a, scale_b, i, j) * sums[i * p->n + j];

            *to = beta == 0 ? x : x + beta * *to;
        }
}

/* The product of copies: of scaled rows or columns its sums come beside C first. */
static tsr_status multiply_copies(const tsr_matmul_problem *p, void *const operands[],
                                  void *const copy[], matmul_host_loops *loops, const void *with,
                                  tsr_error *err)
{
    tsr_matmul_problem plain = *p;
    float *sums = NULL;
    size_t bytes;
    tsr_status st;

    plain.type = real_sums(p->type);
    plain.c_f32 = plain.c_bf16 = plain.scale_a = plain.scale_b = false;
    plain.lda = plain.ldb = plain.ldc = 0;
    plain.offset_a = plain.offset_b = plain.offset_c = 0;
    if (!matmul_scaled(p))
        return loops(&plain, copy, with, err);
    plain.alpha = 1;
    plain.beta = 0;
    if (size_mul(p->m, p->n, &bytes) && size_mul(bytes, sizeof(float), &bytes))
        sums = scratch_take(bytes);
    if (!sums)
        return tsr_fail(err, TSR_ENOMEM, 0, "matmul: no memory for %zu x %zu sums beside C", p->m,
                        p->n);
    st = loops(&plain, (void *const[]){copy[MATMUL_A], copy[MATMUL_B], sums}, with, err);
    if (st == TSR_OK)
        scale_sums(p, operands, sums, copy[MATMUL_C]);
    scratch_give(sums);
    return st;
}

/* Elements of 16 and 8 bits, and precisions that round the factors: on copies in the type of the
 * sums. */
static tsr_status run_on_copies(const tsr_matmul_problem *p, void *const operands[],
                                matmul_host_loops *loops, const void *with, tsr_error *err)
{
    const matmul_matrix none = {0}, c = matmul_matrix_c(p);
    const bool reads = matmul_alpha(p) != 0;
    const matmul_matrix a = reads ? matmul_matrix_a(p) : none;
    const matmul_matrix b = reads ? matmul_matrix_b(p) : none;
    void *const copy[3] = {view_copy(&a, operands[0], p->precision),
                           view_copy(&b, operands[1], p->precision),
                           view_copy(&c, operands[2], TSR_PRECISION_DEFAULT)};
    tsr_status st = TSR_OK;

    if (copy[0] && copy[1] && copy[2])
        st = multiply_copies(p, operands, copy, loops, with, err);
    else
        st = tsr_fail(err, TSR_ENOMEM, 0, "matmul: no memory for copies of %zu x %zu x %zu", p->m,
                      p->n, p->k);
    if (st == TSR_OK)
        view_put(&c, copy[2], operands[2]);
    for (size_t i = 0; i < 3; i++)
        scratch_give(copy[i]);
    return st;
}

tsr_status matmul_host_product(const tsr_matmul_problem *p, void *const operands[],
                               matmul_host_loops *loops, const void *with, tsr_error *err)
{
    const tsr_type part = type_part(p->type);
    const bool as_it_is =
        part == TSR_F64 || (part == TSR_F32 && !(real_rounding(part, p->precision) > 0));

    if (p->m == 0 || p->n == 0)
        return TSR_OK;
    return as_it_is ? loops(p, operands, with, err) : run_on_copies(p, operands, loops, with, err);
}

/* ---- variants ---------------------------------------------------------------------------- */

typedef struct ladder_loops {
    void (*f32)(const terms_f32 *);
    void (*f64)(const terms_f64 *);
    void (*i32)(const terms_i32 *);
} ladder_loops;

static tsr_status run_loops(const tsr_matmul_problem *p, void *const operands[], const void *with,
                            tsr_error *err)
{
    const ladder_loops *loops = with;

    return p->type == TSR_F64   ? run_f64(p, operands, loops->f64, err)
           : p->type == TSR_I32 ? run_i32(p, operands, loops->i32, err)
                                : run_f32(p, operands, loops->f32, err);
}

/* One product after another. */
static tsr_status run(const tsr_matmul_problem *p, void *const operands[], ladder_loops loops,
                      tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (size_t e = 0; e < matmul_batch(p) && st == TSR_OK; e++) {
        const tsr_matmul_problem one = matmul_product(p, e);

        st = matmul_host_product(&one, operands, run_loops, &loops, err);
    }
    return st;
}

static const char *plan_loops(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const char *why = matmul_unsupported_complex(p, out);

    return why ? why : real_unsupported(p->type, TSR_PRECISION_DEFAULT, j->device, &out->reason);
}

static const char *plan_openmp(const job *j, plan *out)
{
#ifdef _OPENMP
    return plan_loops(j, out);
#else
    (void)j;
    (void)out;
    return "built without OpenMP";
#endif
}

static tsr_status run_ijk(const problem *p, void *const operands[], tsr_error *err)
{
    return run(matmul_of(p), operands, (ladder_loops){ijk_f32, ijk_f64, ijk_i32}, err);
}

const variant matmul_ijk = {
    .name = "ijk",
    .idea = "the definition as three loops: the inner one walks down a column of B",
    .plan = plan_loops,
    .host = run_ijk};

static tsr_status run_jik(const problem *p, void *const operands[], tsr_error *err)
{
    return run(matmul_of(p), operands, (ladder_loops){jik_f32, jik_f64, jik_i32}, err);
}

const variant matmul_jik = {
    .name = "jik",
    .idea = "the same with columns outside: B's column is reused, each row of A is not",
    .plan = plan_loops,
    .host = run_jik};

static tsr_status run_ikj(const problem *p, void *const operands[], tsr_error *err)
{
    return run(matmul_of(p), operands, (ladder_loops){ikj_f32, ikj_f64, ikj_i32}, err);
}

const variant matmul_ikj = {
    .name = "ikj",
    .idea = "the inner loop runs along rows of B and C: every cache line is used whole",
    .plan = plan_loops,
    .host = run_ikj};

static tsr_status run_kij(const problem *p, void *const operands[], tsr_error *err)
{
    return run(matmul_of(p), operands, (ladder_loops){kij_f32, kij_f64, kij_i32}, err);
}

const variant matmul_kij = {.name = "kij",
                            .idea =
                                "row-wise too, but all of C passes through the cache for every p",
                            .plan = plan_loops,
                            .host = run_kij};

static tsr_status run_cubes_8(const problem *p, void *const operands[], tsr_error *err)
{
    return run(matmul_of(p), operands, (ladder_loops){cubes_8_f32, cubes_8_f64, cubes_8_i32}, err);
}

const variant matmul_blocked_8 = {
    .name = "blocked-8",
    .idea = "i-j-k on cubes of 8: rows of B that lie near stay in the cache for 8 rows of A",
    .plan = plan_loops,
    .host = run_cubes_8};

static tsr_status run_cubes_16(const problem *p, void *const operands[], tsr_error *err)
{
    return run(matmul_of(p), operands, (ladder_loops){cubes_16_f32, cubes_16_f64, cubes_16_i32},
               err);
}

const variant matmul_blocked_16 = {.name = "blocked-16",
                                   .idea = "the same on cubes of 16",
                                   .plan = plan_loops,
                                   .host = run_cubes_16};

static tsr_status run_cubes_32(const problem *p, void *const operands[], tsr_error *err)
{
    return run(matmul_of(p), operands, (ladder_loops){cubes_32_f32, cubes_32_f64, cubes_32_i32},
               err);
}

const variant matmul_blocked_32 = {.name = "blocked-32",
                                   .idea = "the same on cubes of 32",
                                   .plan = plan_loops,
                                   .host = run_cubes_32};

static tsr_status run_collapse(const problem *p, void *const operands[], tsr_error *err)
{
    return run(matmul_of(p), operands, (ladder_loops){collapse_f32, collapse_f64, collapse_i32},
               err);
}

const variant matmul_openmp_collapse = {
    .name = "openmp-collapse",
    .idea = "i-j-k on every core: collapse(2) shares out the elements of C",
    .plan = plan_openmp,
    .host = run_collapse};

static tsr_status run_blocked(const problem *p, void *const operands[], tsr_error *err)
{
    return run(matmul_of(p), operands, (ladder_loops){blocked_f32, blocked_f64, blocked_i32}, err);
}

const variant matmul_blocked = {
    .name = "blocked",
    .idea = "i-k-j on blocks of B that stay in the cache while all of A passes",
    .plan = plan_loops,
    .host = run_blocked};

static tsr_status run_openmp(const problem *p, void *const operands[], tsr_error *err)
{
    return run(matmul_of(p), operands, (ladder_loops){openmp_f32, openmp_f64, openmp_i32}, err);
}

const variant matmul_openmp = {
    .name = "openmp",
    .idea = "the blocks on every core: strips of rows are shared out to threads",
    .plan = plan_openmp,
    .host = run_openmp};
