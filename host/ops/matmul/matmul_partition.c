#include "ops/matmul/matmul_descriptor.h"

#include "base/sizes.h"
#include "ops/matmul/matmul_shape.h"
#include "stream/batches.h"
#include "stream/engine.h"

/* ---- where blocks of the matrices are on the host -------------------------------------------- */

static host_rows rows_at(const void *array, size_t index, matmul_lines lines, size_t ld,
                         size_t size)
{
    host_rows r = host_bytes((const unsigned char *)array + index * size, lines.length * size);

    r.count = lines.count;
    r.pitch = ld * size;
    return r;
}

/* m rows from i on, and k columns from q on, of op(A), as they are stored. */
static host_rows rows_a(const tsr_matmul_problem *p, const void *a, size_t i, size_t m, size_t q,
                        size_t k)
{
    return rows_at(a, matmul_index_a(p, i, q), matmul_lines_of(m, k, matmul_turned_a(p)),
                   matmul_ld_a(p), tsr_type_size(p->type));
}

/* k rows from q on, and n columns from j on, of op(B). */
static host_rows rows_b(const tsr_matmul_problem *p, const void *b, size_t q, size_t k, size_t j,
                        size_t n)
{
    return rows_at(b, matmul_index_b(p, q, j), matmul_lines_of(k, n, matmul_turned_b(p)),
                   matmul_ld_b(p), tsr_type_size(p->type));
}

/* m rows from i on, and n columns from j on, of C. */
static host_rows rows_c(const tsr_matmul_problem *p, const void *c, size_t i, size_t m, size_t j,
                        size_t n)
{
    return rows_at(c, matmul_index_c(p, i, j), matmul_lines_of(m, n, matmul_turned_c(p)),
                   matmul_ld_c(p), tsr_type_size(matmul_type_c(p)));
}

/* Slots of the scales of a product, which come whole. */
static void scale_slots(const tsr_matmul_problem *q, partition *out)
{
    if (matmul_scaled(q) & SCALES_A)
        out->slots[MATMUL_SCALE_A] = (operand_slots){1, q->m * sizeof(float), 0};
    if (matmul_scaled(q) & SCALES_B)
        out->slots[MATMUL_SCALE_B] = (operand_slots){1, q->n * sizeof(float), 0};
}

static size_t scale_bytes(const tsr_matmul_problem *q)
{
    const unsigned scaled = matmul_scaled(q);

    return ((scaled & SCALES_A ? q->m : 0) + (scaled & SCALES_B ? q->n : 0)) * sizeof(float);
}

static slice scale_slice(const void *array, size_t offset, size_t count, size_t e)
{
    return (slice){.slot = e,
                   .rows = host_bytes((const float *)array + offset, count * sizeof(float)),
                   .blocks = 1,
                   .in = true};
}

/* They in a piece whose first row and column are i and j of product e. */
static void scale_slices(const tsr_matmul_problem *q, void *const host[], size_t e, size_t i,
                         size_t j, piece *out)
{
    tsr_matmul_problem *one = matmul_in(&out->problem);

    if (matmul_scaled(q) & SCALES_A)
        out->slice[MATMUL_SCALE_A] = scale_slice(host[MATMUL_SCALE_A], q->offset_scale_a, q->m, e);
    if (matmul_scaled(q) & SCALES_B)
        out->slice[MATMUL_SCALE_B] = scale_slice(host[MATMUL_SCALE_B], q->offset_scale_b, q->n, e);
    one->offset_scale_a = i;
    one->offset_scale_b = j;
}

/* ---- groups of a batch ----------------------------------------------------------------------- */

static bool batch_of(const problem *p, batch *out)
{
    const tsr_matmul_problem *q = matmul_of(p);

    *out = (batch){.operand = {matmul_matrix_a(q), matmul_matrix_b(q), matmul_matrix_c(q)},
                   .count = matmul_batch(q),
                   .reads_result = matmul_reads_c(q)};
    return matmul_reads_factors(q) && q->m && q->n && q->k && !matmul_scaled(q);
}

static problem group_of(const problem *whole, size_t count)
{
    problem p = *whole;

    matmul_in(&p)->batch = count;
    matmul_in(&p)->offset_a = matmul_in(&p)->offset_b = matmul_in(&p)->offset_c = 0;
    matmul_in(&p)->ldc = 0;
    matmul_in(&p)->stride_c = matmul_of(whole)->m * matmul_of(whole)->n;
    return p;
}

static const batch_form form = {batch_of, group_of};
static const partition_kind groups = {.name = "groups", .piece = batches_piece, .batches = &form};

/* ---- tiles ----------------------------------------------------------------------------------- */

/* A product that the device does not hold: tiles of C, each from a panel of op(A) and one of op(B).
 * A panel of op(B), of TILE_N columns, stays while those of op(A), of TILE_M rows, pass by it; both
 * have all of k, so that an element's sum is one product's. */
enum { TILE_M, TILE_N };

/* Slots of the panels of op(A), of the panel of op(B), and of the tiles of C: one is computed while
 * the one before comes back. */
enum { SLOTS_A = PARTITION_SLOTS_MAX, SLOTS_B = 1, SLOTS_C = 2, TILE_STEP = 128 };

/* Device memory of tiles of m x n. */
static bool tiles_bytes(const tsr_matmul_problem *q, size_t m, size_t n, size_t *out)
{
    const size_t size = tsr_type_size(q->type), size_c = tsr_type_size(matmul_type_c(q));
    size_t panels, tiles;

    return size_mul(m, SLOTS_A, &panels) && size_add(panels, n * SLOTS_B, &panels) &&
           size_mul(panels, q->k, &panels) && size_mul(panels, size, &panels) &&
           size_mul(m, n, &tiles) && size_mul(tiles, SLOTS_C * size_c, &tiles) &&
           size_add(panels, tiles, out) && size_add(*out, scale_bytes(q), out);
}

static bool tiles_fit(const tsr_matmul_problem *q, size_t m, size_t n, const stream_budget *budget)
{
    const size_t size = tsr_type_size(q->type);
    size_t bytes;

    /* The whole is no more than size_t holds, and so is each. */
    return tiles_bytes(q, m, n, &bytes) && bytes <= budget->all &&
           size_max(m, n) * q->k * size <= budget->each && scale_bytes(q) <= budget->each &&
           m * n * tsr_type_size(matmul_type_c(q)) <= budget->each;
}

/* A multiple of TILE_STEP where it is beyond it: kernels take whole tiles of their own best. */
static size_t whole_steps(size_t n, size_t all)
{
    return n < all && n > TILE_STEP ? n / TILE_STEP * TILE_STEP : n;
}

/* Piece i: the tiles of a product column by column, as those of the products follow one another. */
static void tiles_piece(const partition *p, void *const host[], size_t i, piece *out)
{
    const tsr_matmul_problem *whole = matmul_of(p->problem);
    const size_t rows = size_div_up(whole->m, p->cut[TILE_M]);
    const size_t columns = size_div_up(whole->n, p->cut[TILE_N]);
    const size_t row = i % rows, column = i / rows % columns, e = i / rows / columns;
    const size_t at_m = row * p->cut[TILE_M], at_n = column * p->cut[TILE_N];
    const size_t m = size_min(p->cut[TILE_M], whole->m - at_m);
    const size_t n = size_min(p->cut[TILE_N], whole->n - at_n);
    const tsr_matmul_problem q = matmul_product(whole, e);
    tsr_matmul_problem *one;

    *out = (piece){.problem = matmul_problem(q)};
    one = matmul_in(&out->problem);
    one->m = m;
    one->n = n;
    one->lda = one->ldb = one->ldc = 0;
    one->offset_a = one->offset_b = one->offset_c = 0;
    one->batch = 0;
    out->slice[MATMUL_A] = (slice){.slot = e * rows + row,
                                   .rows = rows_a(&q, host[MATMUL_A], at_m, m, 0, q.k),
                                   .blocks = 1,
                                   .in = true};
    out->slice[MATMUL_B] = (slice){.slot = e * columns + column,
                                   .rows = rows_b(&q, host[MATMUL_B], 0, q.k, at_n, n),
                                   .blocks = 1,
                                   .in = true};
    out->slice[MATMUL_C] = (slice){.slot = i,
                                   .rows = rows_c(&q, host[MATMUL_C], at_m, m, at_n, n),
                                   .blocks = 1,
                                   .in = matmul_reads_c(&q),
                                   .out = true};
    scale_slices(&q, host, e, at_m, at_n, out);
}

static const partition_kind in_tiles = {.name = "tiles", .piece = tiles_piece};

/* Tiles as large as the budget allows, of `count` products of which q is one.  Refused where it
 * does not hold a tile of one element. */
static tsr_status choose_tiles(const stream_budget *budget, const tsr_matmul_problem *q,
                               size_t count, partition *out, tsr_error *err)
{
    const size_t size = tsr_type_size(q->type);
    size_t low = 1, high = q->m, m, n, rows, columns, each;

    if (!tiles_fit(q, 1, 1, budget)) {
        size_t least = 0;

        tiles_bytes(q, 1, 1, &least);
        return stream_refuse(err, "matmul", budget, least, "%d rows of op(A) and a column of op(B)",
                             (int)SLOTS_A);
    }
    /* Panels of op(B) as wide as those of op(A) are together; then what is left is op(B)'s, which
     * op(A) passes by once for each panel. */
    while (low < high) {
        m = low + (high - low + 1) / 2;
        if (tiles_fit(q, m, size_min(q->n, SLOTS_A * m), budget))
            low = m;
        else
            high = m - 1;
    }
    m = whole_steps(low, q->m);
    for (low = 1, high = q->n; low < high;) {
        n = low + (high - low + 1) / 2;
        if (tiles_fit(q, m, n, budget))
            low = n;
        else
            high = n - 1;
    }
    n = whole_steps(low, q->n);
    *out = (partition){.kind = &in_tiles,
                       .pieces = SIZE_MAX,
                       .cut = {[TILE_M] = m, [TILE_N] = n},
                       .slots = {{SLOTS_A, m * q->k * size, 0},
                                 {SLOTS_B, n * q->k * size, 0},
                                 {SLOTS_C, m * n * tsr_type_size(matmul_type_c(q)), 0}}};
    scale_slots(q, out);
    rows = size_div_up(q->m, m);
    columns = size_div_up(q->n, n);
    if (size_mul(rows, columns, &each))
        size_mul(each, count, &out->pieces);
    for (size_t edge = 0; edge < 4; edge++) /* the last row's, the last column's and both */
        if ((!(edge & 1) || q->m % m) && (!(edge & 2) || q->n % n))
            partition_add_shape(out,
                                (edge & 2 ? (columns - 1) * rows : 0) + (edge & 1 ? rows - 1 : 0));
    return TSR_OK;
}

/* ---- slabs and strips ------------------------------------------------------------------------ */

/**
 * A product that the device holds is multiplied as it arrives.  op(A) and op(B) arrive in slabs of
 * k, of SLAB_FIRST columns of op(A) and rows of op(B) and then half as many more each time, until
 * half of k is there; the rest is the last slab.  Each adds its product to C.  Of the last one
 * op(A) arrives in strips of STRIP rows, and each strip leaves its rows of C, which are copied out
 * while the next are computed.
 *
 * With k = 16384: 1024, 1536, 2304, 3456 and 8064.  On a device that multiplies at R and is fed at
 * L bytes a second, square matrices of n float32 take 2 n^3 / R to multiply and 8 n^2 / L to copy
 * in: n L / (4 R) times as long; 1.6 times for n = 16384, 140 TFLOP/s and 55 GB/s.  A slab takes
 * 1.6 / 1.5 times as long as the copy of the next, so that what is not hidden is the copy in of the
 * first slab and the copy out of the last strip.  The last slab computes for 31 ms there, and C
 * takes 19 ms to copy out.
 *
 * Where copies take longer, and where C is read or its type would round the sums between slabs, all
 * of k is one slab: op(B) arrives, then strips come in and go out at once.
 */
enum { SLAB_FIRST, STRIP };

enum {
    STRIP_STEP = 128, /* kernels take whole tiles of their own best */
    SLAB_STEP = 64,
    SLABBED_MIN = 4096 /* m n / (m + n) from which products take longer than the copies in */
};

/* A sixteenth, a multiple where it is more than one. */
static size_t part_of(size_t n, size_t multiple)
{
    const size_t part = size_div_up(n, PIECES_WANTED);

    return part > multiple ? size_min(size_round_up(part, multiple), n) : part;
}

/* Whether C may be added up slab by slab: it is not read, and has the type of the sums.  Those of
 * int32 are the same modulo 2^32. */
static bool adds_up(const tsr_matmul_problem *q)
{
    const tsr_type c = matmul_type_c(q);

    return !matmul_reads_c(q) &&
           (type_part(c) == TSR_F32 || type_part(c) == TSR_F64 || c == TSR_I32);
}

/* Whether products take longer than copies: rounded factors are multiplied too fast for that. */
static bool computes_longer(const tsr_matmul_problem *q)
{
    return (type_part(q->type) == TSR_F32 || type_part(q->type) == TSR_F64) &&
           (q->precision == TSR_PRECISION_DEFAULT || q->precision == TSR_PRECISION_F32 ||
            q->precision == TSR_PRECISION_F32_STRICT || q->precision == TSR_PRECISION_F64) &&
           (double)q->m * (double)q->n >= SLABBED_MIN * ((double)q->m + (double)q->n);
}

/* Of an operand without gaps, as the device has it. */
static size_t dense_bytes(const tsr_matmul_problem *q, size_t which)
{
    const size_t elements[] = {q->m * q->k, q->k * q->n, q->m * q->n};

    return elements[which] * tsr_type_size(which == MATMUL_C ? matmul_type_c(q) : q->type);
}

/* Columns of op(A) in slab `which`, which begins at column *at. */
static size_t slab_length(size_t first, size_t k, size_t which, size_t *at)
{
    size_t length = first;

    *at = 0;
    for (size_t i = 0; i < which; i++) {
        *at += length;
        length += size_div_up(length, 2);
    }
    return *at >= size_div_up(k, 2) || length >= k - *at ? k - *at : length;
}

/* Slabs before the last. */
static size_t slabs_before(size_t first, size_t k)
{
    size_t count = 0, at;

    while (slab_length(first, k, count, &at) < k - at)
        count++;
    return count;
}

/* Piece i: slabs, then the strips of the last one; and so on for each product. */
static void slabs_piece(const partition *p, void *const host[], size_t i, piece *out)
{
    const tsr_matmul_problem *whole = matmul_of(p->problem);
    const size_t before = slabs_before(p->cut[SLAB_FIRST], whole->k);
    const size_t each = before + size_div_up(whole->m, p->cut[STRIP]);
    const size_t e = i / each, in_product = i % each, slab = size_min(in_product, before);
    const bool last = slab == before;
    const size_t row = last ? (in_product - before) * p->cut[STRIP] : 0;
    const size_t m = last ? size_min(p->cut[STRIP], whole->m - row) : whole->m;
    const tsr_matmul_problem q = matmul_product(whole, e);
    const size_t size = tsr_type_size(q.type);
    tsr_matmul_problem *one;
    size_t at;
    const size_t k = slab_length(p->cut[SLAB_FIRST], q.k, slab, &at);

    *out = (piece){.problem = matmul_problem(q)};
    one = matmul_in(&out->problem);
    one->m = m;
    one->k = k;
    one->lda = one->ldb = one->ldc = 0;
    one->offset_a = q.m * at + row * k;
    one->offset_b = q.n * at;
    one->offset_c = row * q.n;
    one->batch = 0;
    if (at) {
        one->beta = 1;
        one->beta_im = 0;
    }
    out->slice[MATMUL_A] = (slice){.slot = e,
                                   .part = in_product,
                                   .offset = one->offset_a * size,
                                   .rows = rows_a(&q, host[MATMUL_A], row, m, at, k),
                                   .blocks = 1,
                                   .in = true};
    out->slice[MATMUL_B] = (slice){.slot = e,
                                   .part = slab,
                                   .offset = one->offset_b * size,
                                   .rows = rows_b(&q, host[MATMUL_B], at, k, 0, q.n),
                                   .blocks = 1,
                                   .in = true};
    /* Sums stay there until the last slab. */
    out->slice[MATMUL_C] = (slice){.slot = e,
                                   .part = last ? in_product : 0,
                                   .offset = one->offset_c * tsr_type_size(matmul_type_c(&q)),
                                   .rows = rows_c(&q, host[MATMUL_C], row, m, 0, q.n),
                                   .blocks = 1,
                                   .in = matmul_reads_c(&q),
                                   .out = last};
    scale_slices(&q, host, e, row, 0, out);
}

/* The slab of op(B) is the larger part of what a piece waits for. */
static const unsigned b_first[ORDER_MAX] = {MATMUL_B, MATMUL_A, MATMUL_C};

static const partition_kind in_slabs = {.name = "slabs", .piece = slabs_piece, .order = b_first};

/* The device copies lines with gaps between them by nearly a microsecond a line (H200), threads of
 * the host many times as fast, through pinned memory.  Where a matrix has less than this there is
 * nothing to gain. */
enum { GAPS_MIN = 128 << 10 };

static bool has_gaps(matmul_lines lines, size_t ld, size_t size)
{
    return lines.count > 1 && ld > lines.length && lines.count * lines.length * size >= GAPS_MIN;
}

static bool any_gaps(const tsr_matmul_problem *q)
{
    const size_t size = tsr_type_size(q->type);

    return has_gaps(matmul_lines_a(q), matmul_ld_a(q), size) ||
           has_gaps(matmul_lines_b(q), matmul_ld_b(q), size) ||
           has_gaps(matmul_lines_c(q), matmul_ld_c(q), tsr_type_size(matmul_type_c(q)));
}

/* Of `count` products of which q is one, and which the device holds one by one; several are
 * streamed however short they are: each as one strip where its elements are less than a piece and
 * the budget is the device's.  So is a single one with gaps between its lines. */
static void choose_slabs(const stream_budget *budget, const problem *p, size_t count,
                         partition *out)
{
    const tsr_matmul_problem *q = matmul_of(p);
    size_t dense = 0, before;
    bool large, whole;

    for (size_t i = 0; i < MATMUL_MATRICES; i++)
        dense += dense_bytes(q, i);
    large = stream_bytes(p) >= STREAMED_MIN;
    whole = !budget->limited && (count > 1 ? dense < PIECE_MIN : !large);
    if (whole && count == 1 && !any_gaps(q))
        return;
    *out = (partition){.kind = &in_slabs, .pieces = SIZE_MAX};
    if (whole) {
        out->cut[SLAB_FIRST] = q->k;
        out->cut[STRIP] = q->m;
    } else {
        out->cut[SLAB_FIRST] = adds_up(q) && (computes_longer(q) || !large)
                                   ? part_of(q->k, large ? SLAB_STEP : 1)
                                   : q->k;
        out->cut[STRIP] = part_of(q->m, large ? STRIP_STEP : 1);
    }
    for (size_t i = 0; i < MATMUL_MATRICES; i++)
        out->slots[i] = (operand_slots){1, dense_bytes(q, i), 0};
    scale_slots(q, out);
    before = slabs_before(out->cut[SLAB_FIRST], q->k);
    size_mul(before + size_div_up(q->m, out->cut[STRIP]), count, &out->pieces);
    for (size_t i = 0; i <= before; i++)
        partition_add_shape(out, i);
    if (q->m % out->cut[STRIP])
        partition_add_shape(out, before + q->m / out->cut[STRIP]);
}

/* ---- choosing -------------------------------------------------------------------------------- */

tsr_status matmul_partition(const problem *p, const selection *sel, const stream_budget *budget,
                            partition *out, tsr_error *err)
{
    const tsr_matmul_problem *q = matmul_of(p);
    const size_t count = matmul_batch(q);
    const problem one = matmul_problem(matmul_product(q, 0));
    tsr_status st = TSR_OK;

    (void)sel;
    batches_choose(budget, p, &groups, out);
    if (out->kind || (count > 1 && stream_holds(budget, p)) || !matmul_reads_factors(q) || !q->m ||
        !q->n || !q->k)
        return TSR_OK;
    if (stream_holds(budget, &one))
        choose_slabs(budget, &one, count, out);
    else
        st = choose_tiles(budget, matmul_of(&one), count, out, err);
    return st;
}
