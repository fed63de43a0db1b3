/*
 * The loops of the CPU ladder, for one element type: included by matmul_host.c
 * with REAL float, double and uint32_t, whose sums are those of int32 modulo 2^32.
 * NAMED(name) is the name with the type's suffix, and SCALE(x) a double as REAL.
 *
 * Every function adds op(A) op(B) to s, which is m x n with leading dimension
 * lds.  Strides say how far apart the elements of op(A) and op(B) are along
 * their rows and columns.
 */

typedef struct NAMED(terms) {
    size_t m, n, k;
    const REAL *a, *b;
    size_t a_row, a_column; /* from op(A)(i, p) to (i + 1, p) and (i, p + 1) */
    size_t b_row, b_column;
    REAL *s;
    size_t lds;
} NAMED(terms);

static void NAMED(ijk)(const NAMED(terms) * t)
{
    for (size_t i = 0; i < t->m; i++)
        for (size_t j = 0; j < t->n; j++)
            for (size_t p = 0; p < t->k; p++)
                t->s[i * t->lds + j] +=
                    t->a[i * t->a_row + p * t->a_column] * t->b[p * t->b_row + j * t->b_column];
}

static void NAMED(jik)(const NAMED(terms) * t)
{
    for (size_t j = 0; j < t->n; j++)
        for (size_t i = 0; i < t->m; i++)
            for (size_t p = 0; p < t->k; p++)
                t->s[i * t->lds + j] +=
                    t->a[i * t->a_row + p * t->a_column] * t->b[p * t->b_row + j * t->b_column];
}

static void NAMED(ikj)(const NAMED(terms) * t)
{
    for (size_t i = 0; i < t->m; i++)
        for (size_t p = 0; p < t->k; p++)
            for (size_t j = 0; j < t->n; j++)
                t->s[i * t->lds + j] +=
                    t->a[i * t->a_row + p * t->a_column] * t->b[p * t->b_row + j * t->b_column];
}

static void NAMED(kij)(const NAMED(terms) * t)
{
    for (size_t p = 0; p < t->k; p++)
        for (size_t i = 0; i < t->m; i++)
            for (size_t j = 0; j < t->n; j++)
                t->s[i * t->lds + j] +=
                    t->a[i * t->a_row + p * t->a_column] * t->b[p * t->b_row + j * t->b_column];
}

/* The definition, whose elements of s threads share out. */
static void NAMED(collapse)(const NAMED(terms) * t)
{
#ifdef _OPENMP
#pragma omp parallel for collapse(2) schedule(static)
#endif
    for (size_t i = 0; i < t->m; i++)
        for (size_t j = 0; j < t->n; j++)
            for (size_t p = 0; p < t->k; p++)
                t->s[i * t->lds + j] +=
                    t->a[i * t->a_row + p * t->a_column] * t->b[p * t->b_row + j * t->b_column];
}

/* Cubes of `side`, and the definition in each. */
static void NAMED(cubes)(const NAMED(terms) * t, size_t side)
{
    for (size_t i0 = 0; i0 < t->m; i0 += side)
        for (size_t j0 = 0; j0 < t->n; j0 += side)
            for (size_t p0 = 0; p0 < t->k; p0 += side)
                for (size_t i = i0; i < size_min(i0 + side, t->m); i++)
                    for (size_t j = j0; j < size_min(j0 + side, t->n); j++)
                        for (size_t p = p0; p < size_min(p0 + side, t->k); p++)
                            t->s[i * t->lds + j] += t->a[i * t->a_row + p * t->a_column] *
                                                    t->b[p * t->b_row + j * t->b_column];
}

static void NAMED(cubes_8)(const NAMED(terms) * t)
{
    NAMED(cubes)(t, 8);
}

static void NAMED(cubes_16)(const NAMED(terms) * t)
{
    NAMED(cubes)(t, 16);
}

static void NAMED(cubes_32)(const NAMED(terms) * t)
{
    NAMED(cubes)(t, 32);
}

/* One row of s, from columns j0 to j1, of terms p0 to p1: the inner loop runs along rows of B. */
static void NAMED(row_part)(const NAMED(terms) * t, size_t i, size_t j0, size_t j1, size_t p0,
                            size_t p1)
{
    REAL *restrict row = t->s + i * t->lds;

    for (size_t p = p0; p < p1; p++) {
        const REAL scale = t->a[i * t->a_row + p * t->a_column];
        const REAL *restrict b = t->b + p * t->b_row;

        if (t->b_column == 1) {
            for (size_t j = j0; j < j1; j++)
                row[j] += scale * b[j];
        } else {
            for (size_t j = j0; j < j1; j++)
                row[j] += scale * b[j * t->b_column];
        }
    }
}

/* Rows i0 to i1 of s, block by block of B. */
static void NAMED(blocked_rows)(const NAMED(terms) * t, size_t i0, size_t i1)
{
    for (size_t p = 0; p < t->k; p += BLOCK_K) {
        const size_t p1 = size_min(p + BLOCK_K, t->k);

        for (size_t j = 0; j < t->n; j += BLOCK_N) {
            const size_t j1 = size_min(j + BLOCK_N, t->n);

            for (size_t i = i0; i < i1; i++)
                NAMED(row_part)(t, i, j, j1, p, p1);
        }
    }
}

static void NAMED(blocked)(const NAMED(terms) * t)
{
    NAMED(blocked_rows)(t, 0, t->m);
}

static void NAMED(openmp)(const NAMED(terms) * t)
{
    const long long strips = (long long)size_div_up(t->m, STRIP_M);

#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic)
#endif
    for (long long strip = 0; strip < strips; strip++) {
        const size_t i = (size_t)strip * STRIP_M;

        NAMED(blocked_rows)(t, i, size_min(i + STRIP_M, t->m));
    }
}

/* C := alpha S + beta C.  S may be C itself where beta is 0. */
static void NAMED(update)(const tsr_matmul_problem *p, const NAMED(terms) * t, REAL *c, size_t ldc)
{
    const REAL alpha = SCALE(p->alpha), beta = SCALE(p->beta);

    for (size_t i = 0; i < p->m; i++) {
        for (size_t j = 0; j < p->n; j++) {
            const REAL scaled = alpha == 0 || p->k == 0 ? 0 : alpha * t->s[i * t->lds + j];

            c[i * ldc + j] = beta == 0 ? scaled : scaled + beta * c[i * ldc + j];
        }
    }
}

/* The sums start at zero: in C, or beside it where beta needs the old C. */
static tsr_status NAMED(run)(const tsr_matmul_problem *p, void *const operands[],
                             void (*loops)(const NAMED(terms) *), tsr_error *err)
{
    const size_t lda = matmul_ld_a(p), ldb = matmul_ld_b(p), ldc = matmul_ld_c(p);
    const bool beside = SCALE(p->beta) != 0;
    REAL *c;
    NAMED(terms) t = {.m = p->m, .n = p->n, .k = SCALE(p->alpha) == 0 ? 0 : p->k};

    c = (REAL *)operands[2] + p->offset_c;
    if (t.k) {
        t.a = (const REAL *)operands[0] + p->offset_a;
        t.b = (const REAL *)operands[1] + p->offset_b;
    }
    t.a_row = p->trans_a ? 1 : lda;
    t.a_column = p->trans_a ? lda : 1;
    t.b_row = p->trans_b ? 1 : ldb;
    t.b_column = p->trans_b ? ldb : 1;
    t.s = beside ? calloc(p->m * p->n, sizeof(REAL)) : c;
    t.lds = beside ? p->n : ldc;
    if (!t.s)
        return tsr_fail(err, TSR_ENOMEM, 0, "matmul: no memory for %zu x %zu sums beside C", p->m,
                        p->n);
    for (size_t i = 0; i < p->m && !beside; i++)
        memset(c + i * ldc, 0, p->n * sizeof(REAL));
    loops(&t);
    NAMED(update)(p, &t, c, ldc);
    if (beside)
        free(t.s);
    return TSR_OK;
}
