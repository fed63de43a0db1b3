/* The host's matvec ladder for one element type.  Included once with REAL and
 * NAMED(name) (the name with the type's suffix) for each type, by matvec_host.c.
 * a, x and y are at their first element; a and x are NULL where v->columns is 0. */

static void NAMED(store)(const matvec_view *v, REAL *y, REAL sum)
{
    const REAL alpha = (REAL)v->alpha, beta = (REAL)v->beta;

    *y = beta == 0 ? alpha * sum : alpha * sum + beta * *y;
}

/* row[r] points to row r of A as it is stored: trans walks down the pointers. */
static bool NAMED(row_pointers)(const matvec_view *v, const REAL *a, const REAL *x, REAL *y)
{
    const size_t stored_rows = v->trans ? v->columns : v->columns ? v->rows : 0;
    const size_t lda = v->trans ? v->column_step : v->row_step;
    const REAL **row = calloc(size_max(stored_rows, 1), sizeof(*row));

    if (!row)
        return false;
    for (size_t r = 0; r < stored_rows; r++)
        row[r] = a + r * lda;
    for (size_t r = 0; r < v->rows; r++) {
        REAL sum = 0;

        for (size_t c = 0; c < v->columns; c++)
            sum += (v->trans ? row[c][r] : row[r][c]) * x[c];
        NAMED(store)(v, &y[r], sum);
    }
    free(row);
    return true;
}

static bool NAMED(unroll_2)(const matvec_view *v, const REAL *a, const REAL *x, REAL *y)
{
    const size_t stride = v->column_step;

    for (size_t r = 0; r < v->rows; r++) {
        REAL s0 = 0, s1 = 0;
        size_t at = r * v->row_step;
        size_t c = 0;

        for (; c + 2 <= v->columns; c += 2, at += 2 * stride) {
            s0 += a[at] * x[c];
            s1 += a[at + stride] * x[c + 1];
        }
        for (; c < v->columns; c++, at += stride)
            s0 += a[at] * x[c];
        NAMED(store)(v, &y[r], s0 + s1);
    }
    return true;
}

static REAL NAMED(dot_4)(const REAL *a, size_t stride, const REAL *x, size_t columns)
{
    REAL s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    size_t at = 0;
    size_t c = 0;

    for (; c + 4 <= columns; c += 4, at += 4 * stride) {
        s0 += a[at] * x[c];
        s1 += a[at + stride] * x[c + 1];
        s2 += a[at + 2 * stride] * x[c + 2];
        s3 += a[at + 3 * stride] * x[c + 3];
    }
    for (; c < columns; c++, at += stride)
        s0 += a[at] * x[c];
    return (s0 + s1) + (s2 + s3);
}

static bool NAMED(unroll_4)(const matvec_view *v, const REAL *a, const REAL *x, REAL *y)
{
    for (size_t r = 0; r < v->rows; r++) {
        const REAL *first = v->columns ? a + r * v->row_step : NULL;

        NAMED(store)(v, &y[r], NAMED(dot_4)(first, v->column_step, x, v->columns));
    }
    return true;
}

/* Sums of up to OPENMP_BLOCK neighbouring rows of op(A) at once, for a transposed
 * A: the inner loop runs along memory. */
static void NAMED(block_of_rows)(const matvec_view *v, const REAL *a, const REAL *x, REAL *y,
                                 size_t count)
{
    REAL sum[OPENMP_BLOCK] = {0};

    for (size_t c = 0; c < v->columns; c++)
        for (size_t r = 0; r < count; r++)
            sum[r] += a[c * v->column_step + r] * x[c];
    for (size_t r = 0; r < count; r++)
        NAMED(store)(v, &y[r], sum[r]);
}

static bool NAMED(openmp)(const matvec_view *v, const REAL *a, const REAL *x, REAL *y)
{
    const size_t blocks = size_div_up(v->rows, OPENMP_BLOCK);

    if (!v->trans) {
#ifdef _OPENMP
#pragma omp parallel for schedule(static)
#endif
        for (size_t r = 0; r < v->rows; r++) {
            const REAL *first = v->columns ? a + r * v->row_step : NULL;

            NAMED(store)(v, &y[r], NAMED(dot_4)(first, v->column_step, x, v->columns));
        }
        return true;
    }
#ifdef _OPENMP
#pragma omp parallel for schedule(static)
#endif
    for (size_t b = 0; b < blocks; b++) {
        const size_t r = b * OPENMP_BLOCK;
        const REAL *first = v->columns ? a + r : NULL;

        NAMED(block_of_rows)(v, first, x, y + r, size_min(OPENMP_BLOCK, v->rows - r));
    }
    return true;
}
