#include "blas/blocked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas/kept.h"
#include "blas/matrices.h"
#include "blas/offload.h"
#include "blas/parallel.h"

/* Order of the triangular blocks that the CPU solves and multiplies. */
enum { BLOCK_DEFAULT = 256, BLOCK_MAX = 1 << 20 };

static int64_t block_of_triangles = BLOCK_DEFAULT;

static const blas_number one = {1, 0};
static const blas_number zero = {0, 0};

/* A call as it is done. */
typedef struct work {
    blas_call *call;
    element type;
    int64_t block;
    matrix scratch; /* of rank-k updates: a block of the diagonal, whole */
    bool counting;  /* nothing is done, and what the device keeps of it is added up */
    double kept;    /* in bytes */
} work;

static work new_work(blas_call *call, bool counting)
{
    return (work){call, element_of(call->type), block_of_triangles, {NULL, 0, 'N'}, counting, 0};
}

static bool no_memory(const work *w)
{
    w->call->reason = "there is no memory for a copy of a matrix";
    return false;
}

static bool is_zero(blas_number x)
{
    return x.re == 0 && x.im == 0;
}

/* ---- products -----------------------------------------------------------------------------------
 */

/* C := alpha op(A) op(B) + beta C, where op(A) is m x k: the arguments of gemm in their order. */
typedef struct gemm {
    int64_t m, n, k;
    blas_number alpha;
    matrix a, b;
    blas_number beta;
    matrix c;
} gemm;

/* A product of real numbers, or of complex ones; alpha and beta are real. */
static bool multiply_on_device(work *w, bool complex, const gemm *p)
{
    const offload_product product = {
        .f64 = w->type.f64,
        .complex = complex,
        .trans_a = p->a.op != 'N',
        .trans_b = p->b.op != 'N',
        .conj_a = p->a.op == 'C',
        .conj_b = p->b.op == 'C',
        .m = (size_t)p->m,
        .n = (size_t)p->n,
        .k = (size_t)p->k,
        .alpha = p->alpha.re,
        .beta = p->beta.re,
        .a = p->a.at,
        .b = p->b.at,
        .c = p->c.at,
        .lda = (size_t)p->a.ld,
        .ldb = (size_t)p->b.ld,
        .ldc = (size_t)p->c.ld,
    };

    if (w->counting) {
        w->kept += complex ? 0 : kept_bytes(&product);
        return true;
    }
    return offload_multiply(&product, &w->call->bytes, &w->call->kept, &w->call->reason);
}

/*
 * A complex product is a real one of 2 m x 2 k and 2 k x n: B and C as they are stored, their real
 * and imaginary parts by turns, are real matrices of twice the rows, and A is copied as one
 * (matrix_copy_as_real).  Those are the four products of real and imaginary parts.  GPUs do them by
 * instructions that they have for real numbers alone; a CPU, whose kernels of complex numbers are
 * as fast, need not copy A.
 */
static bool multiply_complex(work *w, const gemm *p)
{
    const element real = {w->type.f64, false, w->type.size / 2};
    const bool real_alpha = p->alpha.im == 0; /* the device multiplies by it: one rounding less */
    const bool copy_b = p->b.op != 'N';
    matrix b_copy = {NULL, 0, 'N'};
    gemm as_real = {2 * p->m,
                    p->n,
                    2 * p->k,
                    real_alpha ? p->alpha : one,
                    {NULL, 2 * p->m, 'N'},
                    copy_b ? b_copy : (matrix){p->b.at, 2 * p->b.ld, 'N'},
                    p->beta,
                    {p->c.at, 2 * p->c.ld, 'N'}};
    bool done = false;

    if (real_alpha && p->beta.im == 0 && offload_takes_complex(w->type.f64))
        return multiply_on_device(w, true, p);
    if (w->counting)
        return multiply_on_device(w, false, &as_real);
    as_real.a = matrix_alloc(real, 2 * p->m, 2 * p->k);
    if (copy_b)
        b_copy = matrix_alloc(w->type, p->k, p->n);
    if (!as_real.a.at || (copy_b && !b_copy.at)) {
        no_memory(w);
        goto cleanup;
    }
    matrix_copy_as_real(w->type, p->m, p->k, real_alpha ? one : p->alpha, p->a, as_real.a);
    if (copy_b) {
        matrix_copy(w->type, p->k, p->n, p->b, b_copy);
        as_real.b = (matrix){b_copy.at, 2 * b_copy.ld, 'N'};
    }
    if (p->beta.im != 0) {
        matrix_scale(w->type, p->m, p->n, p->beta, p->c);
        as_real.beta = one;
    }
    done = multiply_on_device(w, false, &as_real);

cleanup:
    matrix_free(as_real.a);
    matrix_free(b_copy);
    return done;
}

static bool multiply(work *w, const gemm *p)
{
    return w->type.complex ? multiply_complex(w, p) : multiply_on_device(w, false, p);
}

/* ---- symm, hemm
 * ----------------------------------------------------------------------------------- */

static bool symmetric_product(work *w, matrix a, matrix b, matrix c)
{
    const blas_call *call = w->call;
    const bool left = call->side == 'L';
    const int64_t order = left ? call->m : call->n;
    gemm product = {call->m, call->n, order, call->alpha, b, b, call->beta, c};
    matrix *whole = left ? &product.a : &product.b;
    bool done;

    *whole = (matrix){NULL, order, 'N'};
    if (w->counting)
        return multiply(w, &product);
    *whole = matrix_alloc(w->type, order, order);
    if (!whole->at)
        return no_memory(w);
    matrix_copy_mirrored(w->type, order, call->uplo == 'U', call->routine == BLAS_HEMM, a, *whole);
    done = multiply(w, &product);
    matrix_free(*whole);
    return done;
}

/* ---- syrk, herk, syr2k, her2k
 * --------------------------------------------------------------------- */

static blas_number conjugate(blas_number x)
{
    x.im = -x.im;
    return x;
}

/* Where a matrix of this order is cut in two. */
static int64_t half_of(int64_t order)
{
    const int64_t half = order / 2;

    return half >= 128 ? half / 64 * 64 : half;
}

/*
 * Update the triangle of C that begins at row and column `at`, halves of it first, then the square
 * between them, which is a product.  C := alpha R R' + beta C, where R is op(A) and R' its
 * transpose, or alpha R S' + alpha S R' + beta C, where S is op(B); Hermitian ones have conjugate
 * transposes, and the conjugate of the second alpha.
 */
static bool update_triangle(work *w, int64_t at, int64_t order, matrix r, matrix s, matrix c)
{
    const blas_call *call = w->call;
    const element type = w->type;
    const bool hermitian = call->routine == BLAS_HERK || call->routine == BLAS_HER2K;
    const bool twice = call->routine == BLAS_SYR2K || call->routine == BLAS_HER2K;
    const bool upper = call->uplo == 'U';
    const matrix s_transposed = matrix_transposed(s, hermitian);
    const matrix r_transposed = matrix_transposed(r, hermitian);
    int64_t half, row, column, rows, columns;

    if (order <= w->block) {
        const matrix diagonal = {w->scratch.at, order, 'N'};

        if (!multiply(w, &(gemm){order, order, call->k, call->alpha, matrix_block(type, r, at, 0),
                                 matrix_block(type, s_transposed, 0, at), zero, diagonal}))
            return false;
        if (w->counting)
            return true;
        matrix_add_triangle(type, order, upper, twice, hermitian, diagonal, call->beta,
                            matrix_block(type, c, at, at));
        return true;
    }
    half = half_of(order);
    row = upper ? at : at + half;
    column = upper ? at + half : at;
    rows = upper ? half : order - half;
    columns = order - rows;
    if (!update_triangle(w, at, half, r, s, c) ||
        !update_triangle(w, at + half, order - half, r, s, c) ||
        !multiply(w, &(gemm){rows, columns, call->k, call->alpha, matrix_block(type, r, row, 0),
                             matrix_block(type, s_transposed, 0, column), call->beta,
                             matrix_block(type, c, row, column)}))
        return false;
    return !twice || multiply(w, &(gemm){rows, columns, call->k,
                                         hermitian ? conjugate(call->alpha) : call->alpha,
                                         matrix_block(type, s, row, 0),
                                         matrix_block(type, r_transposed, 0, column), one,
                                         matrix_block(type, c, row, column)});
}

static bool rank_k_update(work *w, matrix a, matrix b, matrix c)
{
    const bool twice = w->call->routine == BLAS_SYR2K || w->call->routine == BLAS_HER2K;
    const int64_t n = w->call->n;
    bool done;

    a.op = b.op = w->call->transa;
    /* Half of a block's product is thrown away, so blocks are small; but a product that is too
     * small does not fill a device. */
    w->block *= 2;
    if (w->counting)
        return update_triangle(w, 0, n, a, twice ? b : a, c);
    w->scratch = matrix_alloc(w->type, n < w->block ? n : w->block, n < w->block ? n : w->block);
    if (!w->scratch.at)
        return no_memory(w);
    done = update_triangle(w, 0, n, a, twice ? b : a, c);
    matrix_free(w->scratch);
    return done;
}

/* ---- trmm, trsm
 * ----------------------------------------------------------------------------------- */

/* An integer as the CPU's BLAS takes it. */
typedef union caller_integer {
    int32_t narrow;
    int64_t wide;
} caller_integer;

static caller_integer caller_integer_of(const work *w, int64_t value)
{
    caller_integer i = {0};

    if (w->call->integer_bytes == sizeof i.wide)
        i.wide = value;
    else
        i.narrow = (int32_t)value;
    return i;
}

/* A block of the diagonal, by the CPU. */
static void triangle_on_cpu(work *w, int64_t m, int64_t n, blas_number alpha, matrix a, matrix b)
{
    const blas_call *call = w->call;
    const char side = (char)call->side, uplo = (char)call->uplo, trans = (char)call->transa;
    const char diag = (char)call->diag;
    const caller_integer rows = caller_integer_of(w, m), columns = caller_integer_of(w, n);
    const caller_integer lda = caller_integer_of(w, a.ld), ldb = caller_integer_of(w, b.ld);
    const float narrow[2] = {(float)alpha.re, (float)alpha.im};
    const double wide[2] = {alpha.re, alpha.im};
    void (*f)(const char *, const char *, const char *, const char *, const void *, const void *,
              const void *, const void *, const void *, void *, const void *, size_t, size_t,
              size_t, size_t);

    if (w->counting)
        return;
    memcpy(&f, &call->fortran, sizeof f);
    f(&side, &uplo, &trans, &diag, &rows, &columns, w->type.f64 ? (const void *)wide : narrow, a.at,
      &lda, b.at, &ldb, 1, 1, 1, 1);
}

/*
 * B := alpha T B or alpha B T, where T is op(A), or the solution X of T X = alpha B or X T = alpha
 * B.
 *
 * T has two halves of its diagonal and a square between them, and so B has two halves.  One of them
 * takes part of the other, through the square: a product on the device.  A product multiplies that
 * half by its triangle before, and a solution after it, when the other half is solved.
 */
static bool triangular(work *w, int64_t m, int64_t n, blas_number alpha, matrix t, matrix b)
{
    const blas_call *call = w->call;
    const element type = w->type;
    const bool left = call->side == 'L';
    const bool upper = (call->uplo == 'U') == (t.op == 'N'); /* T, not A */
    const bool solve = call->routine == BLAS_TRSM;
    const int64_t order = left ? m : n;
    const int64_t half = half_of(order);
    const int taker = left == upper ? 0 : 1; /* the half that takes part of the other */
    const int giver = 1 - taker;
    const int64_t sizes[2] = {half, order - half};
    const matrix triangles[2] = {t, matrix_block(type, t, half, half)};
    const matrix halves[2] = {b, left ? matrix_block(type, b, half, 0)
                                      : matrix_block(type, b, 0, half)};
    const matrix square = upper ? matrix_block(type, t, 0, half) : matrix_block(type, t, half, 0);
    const int first = solve ? giver : taker;

    if (order <= w->block) {
        triangle_on_cpu(w, m, n, alpha, t, b);
        return true;
    }
    return triangular(w, left ? sizes[first] : m, left ? n : sizes[first], alpha, triangles[first],
                      halves[first]) &&
           multiply(w,
                    &(gemm){left ? sizes[taker] : m, left ? n : sizes[taker], sizes[giver],
                            solve ? (blas_number){-1, 0} : alpha, left ? square : halves[giver],
                            left ? halves[giver] : square, solve ? alpha : one, halves[taker]}) &&
           triangular(w, left ? sizes[1 - first] : m, left ? n : sizes[1 - first],
                      solve ? one : alpha, triangles[1 - first], halves[1 - first]);
}

/* ---- a call
 * --------------------------------------------------------------------------------------- */

static int64_t rows_of_c(const blas_call *call)
{
    return blas_is_rank_update(call->routine) ? call->n : call->m;
}

size_t blocked_c_bytes(const blas_call *call)
{
    if (rows_of_c(call) < 1 || call->n < 1)
        return 0;
    return (size_t)((call->n - 1) * call->ldc + rows_of_c(call)) * element_of(call->type).size;
}

/* The rows of column j of C that the call writes. */
static void written_rows(const blas_call *call, int64_t j, int64_t *first, int64_t *count)
{
    *first = 0;
    *count = rows_of_c(call);
    if (blas_is_rank_update(call->routine)) {
        *first = call->uplo == 'U' ? 0 : j;
        *count = call->uplo == 'U' ? j + 1 : call->n - j;
    }
}

/* What the call writes, and a copy of it. */
typedef struct saved_copy {
    const work *w;
    matrix c, saved;
    bool back; /* from the copy */
} saved_copy;

static void copy_written_columns(void *context, int64_t first_column, int64_t last_column)
{
    const saved_copy *s = context;
    const element type = s->w->type;

    for (int64_t j = first_column; j < last_column; j++) {
        int64_t first, count;
        char *ours, *theirs;

        written_rows(s->w->call, j, &first, &count);
        theirs = matrix_block(type, s->c, first, j).at;
        ours = matrix_block(type, s->saved, first, j).at;
        memcpy(s->back ? theirs : ours, s->back ? ours : theirs, (size_t)count * type.size);
    }
}

/* Copy what the call writes to a matrix of as many rows, or back from it.  What is not the call's
 * may be another thread's. */
static void copy_written(const work *w, matrix c, matrix saved, bool back)
{
    saved_copy s = {w, c, saved, back};

    parallel_do(w->call->n, 1,
                2 * (double)rows_of_c(w->call) * (double)w->call->n * (double)w->type.size,
                copy_written_columns, &s);
}

void blocked_set_up(void)
{
    const char *text = getenv("TESSERA_BLAS_BLOCK");
    char *end;
    long block;

    if (!text || !*text)
        return;
    block = strtol(text, &end, 10);
    if (*end || block < 1 || block > BLOCK_MAX) {
        fprintf(stderr, "libtessera-blas: TESSERA_BLAS_BLOCK: '%s' is not a number from 1 to %d\n",
                text, BLOCK_MAX);
        return;
    }
    block_of_triangles = block;
}

static bool run(work *w, matrix a, matrix b, matrix c)
{
    const blas_call *call = w->call;

    switch (call->routine) {
    case BLAS_GEMM:
        a.op = call->transa;
        b.op = call->transb;
        return multiply(w, &(gemm){call->m, call->n, call->k, call->alpha, a, b, call->beta, c});
    case BLAS_SYMM:
    case BLAS_HEMM:
        return symmetric_product(w, a, b, c);
    case BLAS_SYRK:
    case BLAS_HERK:
    case BLAS_SYR2K:
    case BLAS_HER2K:
        return rank_k_update(w, a, b, c);
    case BLAS_TRMM:
    case BLAS_TRSM:
        a.op = call->transa;
        return triangular(w, call->m, call->n, call->alpha, a, c);
    case BLAS_ROUTINE_COUNT:
        break;
    }
    return false;
}

double blocked_kept(const blas_call *call)
{
    blas_call copy = *call;
    work w = new_work(&copy, true);
    const matrix a = {(char *)call->a, call->lda, 'N'};
    const matrix b = {(char *)call->b, call->ldb, 'N'};
    const matrix c = {call->c, call->ldc, 'N'};

    if (!kept_any())
        return 0;
    run(&w, a, b, c);
    return w.kept;
}

const char *blocked_reason_against(const blas_call *call)
{
    return (call->routine == BLAS_TRMM || call->routine == BLAS_TRSM) &&
                   (call->side == 'L' ? call->m : call->n) <= block_of_triangles
               ? "the triangle is one block, which the CPU does"
               : NULL;
}

bool blocked_run(blas_call *call)
{
    const work as_called = new_work(call, false);
    const bool triangle = call->routine == BLAS_TRMM || call->routine == BLAS_TRSM;
    const bool reads_c = triangle || !is_zero(call->beta);
    const matrix a = {(char *)call->a, call->lda, 'N'};
    const matrix b = {(char *)call->b, call->ldb, 'N'};
    const matrix c = {call->c, call->ldc, 'N'};
    matrix saved = {NULL, 0, 'N'};
    bool done;

    call->reason = blocked_reason_against(call);
    if (call->reason)
        return false;
    /* The CPU's BLAS does the call where the device fails: from the C that was. */
    if (reads_c) {
        saved = matrix_alloc(as_called.type, rows_of_c(call), call->n);
        if (!saved.at)
            return no_memory(&as_called);
        copy_written(&as_called, c, saved, false);
    }
    do {
        work w = as_called;

        done = run(&w, a, b, c);
        if (!done && reads_c)
            copy_written(&w, c, saved, true);
    } while (!done && offload_has_room());
    matrix_free(saved);
    return done;
}
