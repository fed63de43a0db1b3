/* C := alpha op(A) op(B) + beta C: packed panels under a block of vectors, for CPUs.
 *
 * Idea: a register block that reads B where it lies skips from row to row of B,
 *     and rows a power of two apart fall on the same few lines of the cache.
 *     So a work-item copies a block of B into panels, COLUMNS wide, whose rows
 *     follow one another, and runs them against all of its rows of A: copied
 *     once, read rows / ROWS times.  ROWS rows of A stay in the first cache
 *     while they meet one panel after another, the panels in the second.  Goto
 *     and van de Geijn, "Anatomy of high-performance matrix multiplication",
 *     ACM TOMS 34, 2008.
 * Work split: work-item (x, y, z) computes rows x item_rows ... and columns
 *     y item_columns ..., and adds up over z item_k ....  Those that share
 *     columns of B copy them each for itself: that costs one copy for item_rows
 *     multiply-adds, and no work-item waits for another one.
 * Sums: each block of `depth` along k adds alpha times its sums to C, the first
 *     with beta.  A product goes through its place in its block's chain, the
 *     product with alpha and the additions to C; as each other block holds one
 *     product at least, these are never more than the k + 2 roundings of one
 *     chain.
 * Split (SPLIT = 1): where C is small and k is long, parts of k are shared out
 *     too, no smaller ones than SPAN, which decides the launch alone.  Part z
 *     writes its plain sums, m x n, to workspace, and a second kernel adds them
 *     up: one addition for each part, by the same count within k + 2 roundings.
 * Edges: panels are filled up with zeros.  What they add up to, NaN among it
 *     where A is infinite, belongs to columns beyond C and is not stored.
 * Rounding: as they are copied, so A is copied too where factors are rounded.
 * Parameters: ROWS, VECTORS, BITS (matmul_registers.clh); PANELS, the most that
 *     a work-item copies; DEPTH, the most rows of them; SPLIT; REAL, REAL_BITS
 *     (real.clh); FACTOR, RESULT (matmul_elements.clh); ROUNDED
 *     (matmul_rounded.clh); TRANS_A, TRANS_B (matmul_access.clh).
 * Launch: 3-D, ceil(m / rows) x ceil(n / columns) work-items, of matmul_call, by
 *     ceil(k / span) with SPLIT, where c is workspace, stride_c leads from part
 *     to part, and stride_a and stride_b are 0; by one a product of the batch
 *     without it, where span is k; any work-group size.  rows is a multiple of
 *     ROWS; columns of COLUMNS, up to PANELS of them; depth is up to DEPTH.
 * Local memory: none.  Private: PANELS * COLUMNS * DEPTH elements, and where A
 *     is copied BAND_ROWS * DEPTH.
 * Limits: m, n, k and the leading dimensions up to 2^31.
 */
#include "common/fetch.clh"
#include "matmul/matmul_access.clh"
#include "matmul/matmul_call.clh"
#include "matmul/matmul_rounded.clh"

#ifndef SPLIT
#error "SPLIT: 1 where parts of k are shared out, else 0"
#endif

/* Rows of A^T are columns where they lie, so they are copied too, as is what is rounded. */
#define COPIED_A (TRANS_A || ROUNDED != NOT)
#define COPIED_B 1
#define COPIED_C SPLIT
#include "matmul/matmul_registers.clh"

#ifndef PANELS
#error "PANELS: panels that a work-item copies"
#endif
#ifndef DEPTH
#error "DEPTH: rows of a panel"
#endif
/* Rows of A that are copied together: of A^T, whole cache lines. */
#define BAND_ROWS (TRANS_A ? 8 * ROWS : ROWS)

/* Copy op(B)(p0 ..., j0 ...), `depth` rows and up to COLUMNS columns, into a panel, one by one. */
static inline void pack_panel(__global const factor *b, uint ldb, uint p0, uint depth, uint j0,
                              uint columns, REAL *panel)
{
    if (columns < COLUMNS)
        for (uint e = 0; e < depth * COLUMNS; e++)
            panel[e] = 0;
    if (TRANS_B) {
        for (uint j = 0; j < min(columns, (uint)COLUMNS); j++)
            for (uint p = 0; p < depth; p++)
                panel[p * COLUMNS + j] = load_rounded(b + at_b(p0 + p, j0 + j, ldb));
    } else {
        for (uint p = 0; p < depth; p++)
            for (uint j = 0; j < columns; j++)
                panel[p * COLUMNS + j] = load_rounded(b + at_b(p0 + p, j0 + j, ldb));
    }
}

/* Rows of B that are asked for before they are copied: they lie far apart, and a core's own
 * prefetching stops where a page ends. */
#define ROWS_AHEAD 8

/* Copy op(B)(p0 ..., left ... right - 1), `depth` rows, into panels. */
static inline void pack_panels(__global const factor *b, uint ldb, uint p0, uint depth, uint left,
                               uint right, REAL *panels)
{
    /* Those whose rows are vectors that follow one another in B: row by row, all panels at once. */
    const uint whole = TRANS_B ? 0 : (right - left) / COLUMNS;

    for (uint p = 0; whole && p < depth; p++) {
        __global const factor *from = b + at_b(p0 + p, left, ldb);

        for (uint q = 0; q < whole; q++)
#pragma unroll
            for (uint v = 0; v < VECTORS; v++) {
                FETCH(from + (ulong)ROWS_AHEAD * ldb + q * COLUMNS + v * LANES);
                VSTORE(vload_rounded(v, from + q * COLUMNS), (q * depth + p) * VECTORS + v, panels);
            }
    }
    for (uint j = left + whole * COLUMNS; j < right; j += COLUMNS)
        pack_panel(b, ldb, p0, depth, j, right - j, panels + (j - left) * depth);
}

/* What is added to or overwritten after a long product is asked for before it. */
static inline void fetch_block(TO_C *c, uint rows, uint ldc)
{
    for (uint r = 0; r < rows; r++)
#pragma unroll
        for (uint v = 0; v < VECTORS; v++)
            FETCH(c + (ulong)r * ldc + v * LANES);
}

#if TRANS_A
/* Copy op(A)(i0 ..., p0 ...), up to BAND_ROWS rows and `depth` columns: ROWS rows after ROWS rows,
 * each column by column. */
static inline void pack_band(__global const factor *a, uint lda, uint i0, uint rows, uint p0,
                             uint depth, REAL *band)
{
    for (uint p = 0; p < depth; p++) {
        __global const factor *from = a + at_a(i0, p0 + p, lda);

        if (rows >= BAND_ROWS) {
#pragma unroll
            for (uint r = 0; r < BAND_ROWS; r++)
                band[(r / ROWS * depth + p) * ROWS + r % ROWS] = load_rounded(from + r);
        } else {
            for (uint r = 0; r < rows; r++)
                band[(r / ROWS * depth + p) * ROWS + r % ROWS] = load_rounded(from + r);
        }
    }
}
#elif COPIED_A
/* Copy op(A)(i0 ..., p0 ...), `rows` rows and `depth` columns, row by row. */
static inline void pack_band(__global const factor *a, uint lda, uint i0, uint rows, uint p0,
                             uint depth, REAL *band)
{
    for (uint r = 0; r < rows; r++) {
        __global const factor *from = a + at_a(i0 + r, p0, lda);
        REAL *to = band + r * depth;
        uint p = 0;

        for (; p + LANES <= depth; p += LANES)
            VSTORE(vload_rounded(0, from + p), 0, to + p);
        for (; p < depth; p++)
            to[p] = load_rounded(from + p);
    }
}
#endif

__kernel void matmul_cpu_panels(__global const factor *restrict a,
                                __global const factor *restrict b, TO_C *restrict c,
                                const matmul_call call)
{
    const uint m = call.m, n = call.n, k = call.k;
    const uint lda = call.lda, ldb = call.ldb, ldc = call.ldc;
    const uint top = get_global_id(0) * call.rows, bottom = min(top + call.rows, m);
    const uint left = get_global_id(1) * call.columns, right = min(left + call.columns, n);
    const uint front = SPLIT ? get_global_id(2) * call.span : 0, back = min(front + call.span, k);
    REAL panels[PANELS * DEPTH * COLUMNS] __attribute__((aligned(64)));
#if COPIED_A
    REAL band[BAND_ROWS * DEPTH] __attribute__((aligned(64)));
#endif
    uint p0 = front;

    a += in_batch(call.offset_a, call.stride_a);
    b += in_batch(call.offset_b, call.stride_b);
    c += in_batch(call.offset_c, call.stride_c);
    do { /* once without k too: C is scaled */
        const uint rows_b = min(call.depth, back - p0);
        const REAL scale = p0 == front ? call.beta : 1;

        pack_panels(b, ldb, p0, rows_b, left, right, panels);
        for (uint i = top; i < bottom; i += ROWS) {
            const uint rows = min(bottom - i, (uint)ROWS);
            FROM_A *row[ROWS];

#if COPIED_A
            if ((i - top) % BAND_ROWS == 0)
                pack_band(a, lda, i, min(bottom - i, (uint)BAND_ROWS), p0, rows_b, band);
#endif
#pragma unroll
            for (uint r = 0; r < ROWS; r++) {
                /* The last row stands in for those beyond the edge. */
                const uint at = min(r, rows - 1);

#if TRANS_A
                row[r] = band + (i - top) % BAND_ROWS * rows_b + at;
#elif COPIED_A
                row[r] = band + at * rows_b;
#else
                row[r] = a + at_a(i + at, p0, lda);
#endif
            }
            for (uint j = left; j < right; j += COLUMNS) {
                TO_C *out = c + (ulong)i * ldc + j;
                vector sum[ROWS][VECTORS];

                fetch_block(out, rows, ldc);
                multiply(sum, row, TRANS_A ? ROWS : 1, panels + (j - left) * rows_b, COLUMNS,
                         rows_b);
                if (rows == ROWS && right - j >= COLUMNS)
                    update_whole(sum, call.alpha, scale, out, ldc);
                else
                    update_part(sum, rows, 0, right - j, call.alpha, scale, out, ldc);
            }
        }
        p0 += rows_b;
    } while (p0 < back);
}

#if SPLIT
/* C := alpha (the sum of `parts` matrices, m x n, one after another) + beta C.  Launch: 1-D, a
 * work-item a row. */
__kernel void matmul_cpu_panels_sum(__global const REAL *restrict part, __global result *restrict c,
                                    const matmul_call call)
{
    const uint n = call.n, parts = call.parts;
    const size_t row = get_global_id(0), size = get_global_size(0) * n;
    uint j = 0;

    part += row * n;
    c += call.offset_c + row * call.ldc;
    for (; j + LANES <= n; j += LANES) {
        vector sum = 0;

        for (uint z = 0; z < parts; z++)
            sum += VLOAD(0, part + z * size + j);
        sum *= call.alpha;
        if (call.beta != 0)
            sum += call.beta * VLOAD_RESULTS(LANES_NUMBER, 0, c + j);
        VSTORE_RESULTS(sum, LANES_NUMBER, 0, c + j);
    }
    for (; j < n; j++) {
        REAL sum = 0;

        for (uint z = 0; z < parts; z++)
            sum += part[z * size + j];
        update_result(c + j, call.alpha, sum, call.beta);
    }
}
#endif
