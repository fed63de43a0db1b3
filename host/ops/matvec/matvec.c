/**
 * y := alpha op(A) x + beta y: the operation, and the table of its variants.
 *
 * "Rows" and "columns" of a view are those of op(A): y has as many elements as
 * op(A) has rows.
 */
#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "core/variant.h"
#include "ops/matvec/matvec_descriptor.h"
#include "ops/matvec/matvec_shape.h"
#include "ops/matvec/matvec_variants.h"

/* ---- the table: ladder order --------------------------------------------------------------- */

static const variant *const variants[] = {
    &matvec_scattered_O0,
    &matvec_pointers_O0,
    &matvec_unroll_2_O0,
    &matvec_unroll_4_O0,
    &matvec_row_pointers,
    &matvec_contiguous,
    &matvec_contiguous_O0,
    &matvec_contiguous_O1,
    &matvec_contiguous_O2,
    &matvec_contiguous_O3,
    &matvec_unroll_2,
    &matvec_unroll_4,
    &matvec_openmp,
    &matvec_simd,
    &matvec_naive,
    &matvec_row_item,
    &matvec_tree,
    &matvec_tree_vector,
    &matvec_subgroup,
    &matvec_shfl,
    &matvec_group_row,
    &matvec_group_shfl,
    &matvec_local_x,
    &matvec_short_rows,
    &matvec_flat_rows,
    &matvec_split_row,
    &matvec_split_vector,
    &matvec_column_slices,
    &matvec_short_columns,
    &matvec_rows_vector,
    &matvec_short_rows_vector,
    &matvec_columns_vector,
};

/* ---- the operation ----------------------------------------------------------------------- */

static tsr_status check_matrix(const tsr_matvec_problem *p, tsr_error *err)
{
    const view a = matvec_a(p);
    size_t bytes;

    if (a.ld < a.length)
        return tsr_fail(err, TSR_EINVAL, 0, "matvec: lda %zu is less than the %zu %s of A", a.ld,
                        a.length, p->layout == TSR_COLUMN_MAJOR ? "rows" : "columns");
    if (!view_extent(&a, &bytes))
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "matvec: A of %zu x %zu (lda %zu, offset %zu, %zu of them with stride %zu) "
                        "exceeds %zu bytes",
                        p->rows, p->columns, a.ld, a.offset, a.count, a.stride, SIZE_MAX);
    return TSR_OK;
}

static tsr_status check_vector(const char *name, const view *v, size_t inc, tsr_error *err)
{
    size_t bytes;

    if (view_extent(v, &bytes))
        return TSR_OK;
    return tsr_fail(err, TSR_EOVERFLOW, 0,
                    "matvec: %s of %zu elements (inc%s %zu, offset %zu, %zu of them with stride "
                    "%zu) exceeds %zu bytes",
                    name, v->lines * v->length, name, inc, v->offset, v->count, v->stride,
                    SIZE_MAX);
}

/* Those of a batch share nothing. */
static tsr_status check_apart(const tsr_matvec_problem *p, const view *y, tsr_error *err)
{
    if (view_apart(y, matvec_batch(p)))
        return TSR_OK;
    return tsr_fail(err, TSR_EINVAL, 0,
                    "matvec: the %zu vectors of y overlap: stride_y is %zu, and each has %zu "
                    "elements %zu apart",
                    matvec_batch(p), y->stride, y->lines * y->length, matvec_incy(p));
}

static tsr_status check(const problem *q, tsr_error *err)
{
    const tsr_matvec_problem *p = matvec_of(q);
    const view x = matvec_x(p), y = matvec_y(p);
    tsr_status st = operation_check_type(q->op, p->type, err);

    if (st == TSR_OK)
        st = real_check("matvec", p->type, p->precision, err);
    if (st == TSR_OK && p->y_f32 && p->type == TSR_F64)
        st = tsr_fail(err, TSR_EINVAL, 0, "matvec: y must be float64, as the operands are");
    if (st == TSR_OK && p->layout != TSR_ROW_MAJOR && p->layout != TSR_COLUMN_MAJOR)
        st = tsr_fail(err, TSR_EINVAL, 0, "matvec: layout %d does not exist", (int)p->layout);
    if (st == TSR_OK)
        st = real_check_scale("matvec", "alpha", real_sums(p->type), p->alpha, err);
    if (st == TSR_OK)
        st = real_check_scale("matvec", "beta", real_sums(p->type), p->beta, err);
    if (st == TSR_OK)
        st = check_matrix(p, err);
    if (st == TSR_OK)
        st = check_vector("x", &x, matvec_incx(p), err);
    if (st == TSR_OK)
        st = check_vector("y", &y, matvec_incy(p), err);
    if (st == TSR_OK)
        st = check_apart(p, &y, err);
    return st;
}

/* What is column-major is the transpose of what is row-major in the same place. */
static void normalize(problem *q, unsigned order[OPERANDS_MAX])
{
    const tsr_matvec_problem given = *matvec_of(q);
    tsr_matvec_problem *p = matvec_in(q);

    (void)order;
    if (given.layout == TSR_ROW_MAJOR)
        return;
    p->layout = TSR_ROW_MAJOR;
    p->rows = given.columns;
    p->columns = given.rows;
    p->trans = !given.trans;
}

static size_t operands(const problem *q, operand out[OPERANDS_MAX])
{
    const tsr_matvec_problem *p = matvec_of(q);
    const view a = matvec_a(p), x = matvec_x(p), y = matvec_y(p);
    const matvec_view v = matvec_view_of(p);
    const bool overwrites = v.beta == 0;

    out[MATVEC_A] = view_operand("A", &a, ACCESS_READ);
    out[MATVEC_X] = view_operand("x", &x, ACCESS_READ);
    out[MATVEC_Y] = view_operand("y", &y, overwrites ? ACCESS_WRITE : ACCESS_READ_WRITE);
    out[MATVEC_Y].whole = overwrites;
    if (v.rows == 0 || v.columns == 0)
        out[MATVEC_A].bytes = out[MATVEC_X].bytes = 0; /* neither is read */
    return 3;
}

static size_t *offset(problem *q, size_t i)
{
    tsr_matvec_problem *p = matvec_in(q);

    return i == MATVEC_A ? &p->offset_a : i == MATVEC_X ? &p->offset_x : &p->offset_y;
}

static double work(const problem *q)
{
    const tsr_matvec_problem *p = matvec_of(q);

    return 2.0 * (double)p->rows * (double)p->columns * (double)matvec_batch(p);
}

static double traffic(const problem *q)
{
    const tsr_matvec_problem *p = matvec_of(q);
    const view a = matvec_a(p), x = matvec_x(p), y = matvec_y(p);
    const matvec_view v = matvec_view_of(p);
    const bool reads = v.rows != 0 && v.columns != 0;

    return (double)tsr_type_size(p->type) * (reads ? view_elements(&a) + view_elements(&x) : 0) +
           (double)tsr_type_size(y.type) * view_elements(&y) * (v.beta == 0 ? 1 : 2);
}

/* Whether products follow one another without a gap, or have one operand in common, or there is one
 * product. */
static bool is_dense(const view *x, size_t batch)
{
    return batch == 1 || x->stride == 0 || x->stride == x->lines * x->ld;
}

static void describe(const problem *q, text *out)
{
    const tsr_matvec_problem *p = matvec_of(q);
    const view a = matvec_a(p), x = matvec_x(p), y = matvec_y(p);
    const size_t batch = matvec_batch(p);

    text_format(out, "%zux%zu %s", p->rows, p->columns, tsr_type_name(p->type));
    if (y.type != p->type)
        text_format(out, " to %s", tsr_type_name(y.type));
    if (batch > 1)
        text_format(out, " x %zu", batch);
    if (batch > 1 && (a.stride == 0 || x.stride == 0))
        text_append(out, a.stride == 0 ? " one A" : " one x");
    if (p->layout == TSR_COLUMN_MAJOR)
        text_append(out, " column-major");
    if (p->trans)
        text_append(out, " transposed");
    if (a.ld > a.length)
        text_format(out, " lda %zu", a.ld);
    if (p->alpha != 1)
        text_format(out, " alpha %g", p->alpha);
    if (p->beta != 0)
        text_format(out, " beta %g", p->beta);
    if (p->offset_a || p->offset_x || p->offset_y)
        text_format(out, " offsets %zu %zu %zu", p->offset_a, p->offset_x, p->offset_y);
    if (matvec_incx(p) != 1 || matvec_incy(p) != 1)
        text_format(out, " inc %zu %zu", matvec_incx(p), matvec_incy(p));
    if (!is_dense(&a, batch) || !is_dense(&x, batch) || !is_dense(&y, batch))
        text_format(out, " strides %zu %zu %zu", a.stride, x.stride, y.stride);
}

static size_t prefer_on_host(const char *out[])
{
    static const char *const order[] = {
        "simd",          "openmp",     "unroll-4",     "unroll-2",      "contiguous-O3",
        "contiguous-O2", "contiguous", "row-pointers", "contiguous-O1", "contiguous-O0"};
    const size_t count = ARRAY_COUNT(order);

    memcpy(out, order, sizeof(order));
    return count;
}

/* Append `name` unless it is there. */
static void prefer_next(const char *out[], size_t *count, const char *name)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(out[i], name) == 0)
            return;
    assert(*count < PREFERENCES_MAX);
    out[(*count)++] = name;
}

static size_t prefer_all(const char *out[], size_t count, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        prefer_next(out, &count, names[i]);
    return count;
}

/* The lessons of matvec_ladder.c are chosen by name alone: what they do others do as fast. */
static size_t prefer_on_cpu(const matvec_view *v, const char *out[])
{
    static const char *const order[] = {"rows-vector",   "columns-vector", "short-rows-vector",
                                        "row-item",      "split-row",      "short-rows",
                                        "tree-vector",   "split-vector",   "flat-rows",
                                        "column-slices", "short-columns"};
    size_t count = 0;

    /* Up to here the ends of rows and the sums over vectors cost as much as is saved by longer
     * streams. */
    if (!v->trans && v->columns <= 256 && v->rows >= 1024)
        prefer_next(out, &count, "short-rows-vector");
    return prefer_all(out, count, order, ARRAY_COUNT(order));
}

/* Columns up to which a work-item has a whole row in flight at once, and bytes of a row from which
 * flat-rows reads in less time. */
enum { ROW_ITEM_COLUMNS = 16, ROW_ITEM_BYTES = 64 };

/* Rows of 16 bits from which it may have more columns, as many as ROW_ITEM_BYTES has: bfloat16
 * 64360x23 takes 4.6 us of an H200 in place of 5.8. */
enum { ROW_ITEM_ROWS_16 = 1 << 15 };

/* Columns up to which it has one however many rows there are, of a transposed A of 16 bits whose
 * lines do not start at multiples of so many elements: column-slices loads lines together that
 * start alike, of which there are few.  bfloat16 4x2783395 transposed takes 16.9 us of an H200 in
 * place of 32.7, 6x700003 8.8 in place of 11.5. */
enum { ROW_ITEM_COLUMNS_SHIFTED = 8, SHIFTED_ELEMENTS = 4 };

/* Rows for each compute unit up to which a warp for each is faster than flat-rows, in 16 bits; and
 * in float32 a team of split-vector, from so many columns on: 1357x81 takes 3.3 us of an H200 in
 * place of 3.9. */
enum { FEW_ROWS = 32, TEAM_COLUMNS = 64 };

/* Bytes of a narrow A up to which column-slices has read it before short-columns has begun. */
enum { SHORT_BYTES = 256 << 10 };

/* Which transposed A without gaps and of more than MATVEC_NARROW_COLUMNS columns short-columns
 * reads. */
enum {
    SHORT_COLUMNS = 512,     /* up to here column-slices leaves many lanes idle; */
    SHORT_COLUMNS_F64 = 320, /* of float64, for which its tiles are narrower */
    SHORT_ROWS = 50000,      /* from here on that takes longer than adding up the groups' sums */
    TILE_BYTES = 512 /* a row of up to so many is whole vectors, a longer one no whole tiles:
                        others column-slices reads as fast */
};

/* Whether short-columns reads a transposed A sooner than column-slices. */
static bool suits_short_columns(const tsr_matvec_problem *p)
{
    const matvec_view v = matvec_view_of(p);
    const size_t bytes = tsr_type_size(p->type), row = v.rows * bytes;

    if (!matvec_is_flat(p))
        return false;
    if (v.rows <= MATVEC_NARROW_COLUMNS)
        return v.columns > SHORT_BYTES / bytes / size_max(v.rows, 1);
    return v.rows <= (bytes == 8 ? SHORT_COLUMNS_F64 : SHORT_COLUMNS) && v.columns >= SHORT_ROWS &&
           (row <= TILE_BYTES ? row % 16 == 0 : row % TILE_BYTES != 0);
}

/* The variants for narrow A, and for transposed ones; `rows` are those of all products. */
static const char *prefer_by_shape(const tsr_matvec_problem *p, size_t rows, size_t units)
{
    const matvec_view v = matvec_view_of(p);
    const size_t items_to_fill = units * 1024, bytes = tsr_type_size(p->type);

    if (!v.trans && rows >= 1024 && rows < 2 * items_to_fill &&
        (v.columns <= ROW_ITEM_COLUMNS
             ? v.columns * bytes < ROW_ITEM_BYTES || !matvec_is_flat(p)
             : bytes == 2 && rows >= ROW_ITEM_ROWS_16 && v.columns * bytes < ROW_ITEM_BYTES))
        return "row-item";
    if (v.trans && rows < items_to_fill && v.columns <= ROW_ITEM_COLUMNS)
        return "row-item";
    if (v.trans && bytes == 2 && v.columns > 1 && v.columns <= ROW_ITEM_COLUMNS_SHIFTED &&
        matvec_lda(p) % SHIFTED_ELEMENTS)
        return "row-item";
    if (v.trans && v.rows == 1 && matvec_is_flat(p) && v.columns > SHORT_BYTES / bytes)
        return "split-vector";
    if (v.trans)
        return suits_short_columns(p) ? "short-columns" : "column-slices";
    if (bytes == 4 && v.columns > TEAM_COLUMNS && rows <= FEW_ROWS * units)
        return "split-vector";
    if (matvec_is_flat(p) && v.columns <= 128 && rows >= 1024)
        return bytes == 2 && v.columns > 32 && rows <= FEW_ROWS * units ? "shfl" : "flat-rows";
    return v.columns <= 32 && rows >= 1024 ? "short-rows" : "split-vector";
}

static size_t prefer_on_gpu(const tsr_matvec_problem *p, size_t rows, size_t units,
                            const char *out[])
{
    static const char *const order[] = {
        "shfl",        "subgroup",     "split-row",     "short-rows",    "row-item",
        "tree-vector", "split-vector", "column-slices", "short-columns", "flat-rows"};
    size_t count = 0;

    prefer_next(out, &count, prefer_by_shape(p, rows, units));
    if (p->trans) /* where groups are too small to read it as an array */
        prefer_next(out, &count, "column-slices");
    return prefer_all(out, count, order, ARRAY_COUNT(order));
}

static size_t prefer(const problem *p, const device_facts *d, const char *out[PREFERENCES_MAX])
{
    const matvec_view v = matvec_view_of(matvec_of(p));
    size_t rows;

    if (!size_mul(v.rows, matvec_batch(matvec_of(p)), &rows))
        rows = SIZE_MAX;
    if (d->kind == DEVICE_HOST)
        return prefer_on_host(out);
    return d->kind == DEVICE_CPU
               ? prefer_on_cpu(&v, out)
               : prefer_on_gpu(matvec_of(p), rows, size_max(d->compute_units, 1), out);
}

/* C runs while a product takes up to some 10 milliseconds: memory limits it and a kernel alike, and
 * compiling would take longer.  Of more than 2^24 elements of 16 bits kernels take three quarters
 * of the time. */
static const char *prefer_c(const problem *p, const device_facts *d)
{
    const size_t bytes = tsr_type_size(matvec_of(p)->type);

    (void)d;
    return work(p) / 2 <= 0x1p28 / (bytes == 2 ? 16 : (double)bytes) ? "simd" : NULL;
}

/* Rows that a work-item goes through alone in less than a millisecond. */
static const char *prefer_first(const problem *p, const device_facts *d)
{
    const matvec_view v = matvec_view_of(matvec_of(p));

    if (d->kind == DEVICE_CPU)
        return "simd";
    return work(p) / 2 <= 0x1p24 && v.columns <= 4096 ? "row-item" : NULL;
}

const operation operation_matvec = {
    .name = "matvec",
    .class_separator = '-',
    .idea = "y := alpha op(A) x + beta y",
    .unit = WORK_BYTES,
    .types = 1u << TSR_F32 | 1u << TSR_F64 | 1u << TSR_F16 | 1u << TSR_BF16,
    .default_type = TSR_F32,
    .result = MATVEC_Y,
    .command = &matvec_command,
    .variants = variants,
    .variant_count = ARRAY_COUNT(variants),
    .check = check,
    .normalize = normalize,
    .operands = operands,
    .offset = offset,
    .partition = matvec_partition,
    .work = work,
    .bytes = traffic,
    .describe = describe,
    .products = matvec_products,
    .product = matvec_product_view,
    .prefer = prefer,
    .prefer_c = prefer_c,
    .prefer_first = prefer_first,
    .fill = matvec_fill,
    .sweep = matvec_sweep,
    .verify = matvec_verify,
};
