/* Loops as a first program has them, for one element type; matvec_level.c includes this for -O0
 * alone, with REAL and NAMED(name) (the name with the type's suffix). */

/* A pointer to each row of op(A), to be freed; NULL: no memory. */
static const REAL **NAMED(pointers)(const matvec_view *v, const REAL *a)
{
    const REAL **row = calloc(v->rows, sizeof(*row));

    for (size_t r = 0; row && v->columns && r < v->rows; r++)
        row[r] = a + r * v->row_step;
    return row;
}

static REAL NAMED(row_sum)(const matvec_view *v, const REAL *row, const REAL *x)
{
    REAL sum = 0;

    for (size_t c = 0; c < v->columns; c++)
        sum += row[c * v->column_step] * x[c];
    return sum;
}

static REAL NAMED(row_sum_2)(const matvec_view *v, const REAL *row, const REAL *x)
{
    const size_t step = v->column_step;
    REAL sum = 0;
    size_t c;

    for (c = 0; c + 1 < v->columns; c += 2)
        sum += row[c * step] * x[c] + row[(c + 1) * step] * x[c + 1];
    for (; c < v->columns; c++)
        sum += row[c * step] * x[c];
    return sum;
}

static REAL NAMED(row_sum_4)(const matvec_view *v, const REAL *row, const REAL *x)
{
    const size_t step = v->column_step;
    REAL sum = 0;
    size_t c;

    for (c = 0; c + 3 < v->columns; c += 4)
        sum += row[c * step] * x[c] + row[(c + 1) * step] * x[c + 1] +
               row[(c + 2) * step] * x[c + 2] + row[(c + 3) * step] * x[c + 3];
    for (; c < v->columns; c++)
        sum += row[c * step] * x[c];
    return sum;
}

/* Row `next` after another, modulo the number of rows: 1 is their order. */
static bool NAMED(rows_in_order)(const matvec_view *v, const REAL *a, const REAL *x, REAL *y,
                                 size_t next,
                                 REAL (*sum_of)(const matvec_view *, const REAL *, const REAL *))
{
    const REAL **row = NAMED(pointers)(v, a);

    for (size_t i = 0, r = 0; row && i < v->rows; i++, r = (r + next) % v->rows) {
        const REAL scaled = (REAL)v->alpha * sum_of(v, row[r], x);

        y[r] = v->beta == 0 ? scaled : scaled + (REAL)v->beta * y[r];
    }
    free(row);
    return row != NULL;
}

static bool NAMED(pointers_in_order)(const matvec_view *v, const REAL *a, const REAL *x, REAL *y)
{
    return NAMED(rows_in_order)(v, a, x, y, 1, NAMED(row_sum));
}

static bool NAMED(scattered)(const matvec_view *v, const REAL *a, const REAL *x, REAL *y)
{
    return NAMED(rows_in_order)(v, a, x, y, far_step(v->rows), NAMED(row_sum));
}

static bool NAMED(unrolled_2)(const matvec_view *v, const REAL *a, const REAL *x, REAL *y)
{
    return NAMED(rows_in_order)(v, a, x, y, far_step(v->rows), NAMED(row_sum_2));
}

static bool NAMED(unrolled_4)(const matvec_view *v, const REAL *a, const REAL *x, REAL *y)
{
    return NAMED(rows_in_order)(v, a, x, y, far_step(v->rows), NAMED(row_sum_4));
}
