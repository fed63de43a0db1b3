/* The contiguous product for one element type.  Included once with REAL and
 * NAMED(name) (the name with the type's suffix) for each type, by matvec_level.c. */

static bool NAMED(contiguous)(const matvec_view *v, const REAL *a, const REAL *x, REAL *y)
{
    const REAL alpha = (REAL)v->alpha, beta = (REAL)v->beta;

    for (size_t r = 0; r < v->rows; r++) {
        REAL sum = 0;

        for (size_t c = 0; c < v->columns; c++)
            sum += a[r * v->row_step + c * v->column_step] * x[c];
        y[r] = beta == 0 ? alpha * sum : alpha * sum + beta * y[r];
    }
    return true;
}
