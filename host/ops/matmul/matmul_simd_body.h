/* The loops of matmul_simd_loops.c for one element type: REAL, NAMED(name) with the type's suffix,
 * PUBLIC(name) with that and the instruction set's. */

typedef REAL NAMED(vector) __attribute__((vector_size(VECTOR_BYTES)));
typedef REAL NAMED(unaligned) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(REAL))));

enum { NAMED(LANES) = VECTOR_BYTES / sizeof(REAL), NAMED(TILE_N) = 2 * NAMED(LANES) };

const matmul_tiling PUBLIC(matmul_tiling) = {TILE_M, NAMED(TILE_N), BLOCK_M, BLOCK_N, BLOCK_K};

/* Copy `count` lines of k elements into panels of `width` lines: element (i, p) is at
 * from[i * line + p * step]. */
static inline void NAMED(copy_panels)(const REAL *from, size_t line, size_t step, size_t count,
                                      size_t k, size_t width, REAL *to)
{
    for (size_t i = 0; i < count; i += width, to += width * k) {
        const size_t lines = size_min(width, count - i);
        const REAL *first = from + i * line;

        if (lines < width)
            memset(to, 0, width * k * sizeof(REAL));
        if (line == 1 && lines == width)
            for (size_t p = 0; p < k; p++)
                for (size_t l = 0; l < width; l++)
                    to[p * width + l] = first[p * step + l];
        else if (line == 1)
            for (size_t p = 0; p < k; p++)
                for (size_t l = 0; l < lines; l++)
                    to[p * width + l] = first[p * step + l];
        else
            for (size_t l = 0; l < lines; l++)
                for (size_t p = 0; p < k; p++)
                    to[p * width + l] = first[l * line + p * step];
    }
}

/* How a tile's sums go into C. */
typedef struct NAMED(update) {
    REAL alpha, beta;
    size_t ldc;
} NAMED(update);

static inline REAL NAMED(updated)(const NAMED(update) * u, REAL sum, const REAL *c)
{
    return u->beta == 0 ? u->alpha * sum : u->alpha * sum + u->beta * *c;
}

/* A tile of C, rows x columns of TILE_M x TILE_N, from a panel of A and one of B. */
static void NAMED(tile)(size_t k, const REAL *a, const REAL *b, size_t rows, size_t columns,
                        const NAMED(update) * u, REAL *c)
{
    NAMED(vector) left[TILE_M] = {{0}}, right[TILE_M] = {{0}};

    for (size_t p = 0; p < k; p++, a += TILE_M, b += NAMED(TILE_N)) {
        const NAMED(vector) b0 = *(const NAMED(vector) *)b;
        const NAMED(vector) b1 = *(const NAMED(vector) *)(b + NAMED(LANES));

        UNROLLED
        for (size_t i = 0; i < TILE_M; i++) {
            left[i] += a[i] * b0;
            right[i] += a[i] * b1;
        }
    }
    if (rows == TILE_M && columns == NAMED(TILE_N)) {
        UNROLLED
        for (size_t i = 0; i < TILE_M; i++) {
            NAMED(unaligned) *to = (NAMED(unaligned) *)(c + i * u->ldc);

            to[0] = u->beta == 0 ? u->alpha * left[i] : u->alpha * left[i] + u->beta * to[0];
            to[1] = u->beta == 0 ? u->alpha * right[i] : u->alpha * right[i] + u->beta * to[1];
        }
    } else {
        NAMED(vector) sum[TILE_M][2];

        UNROLLED
        for (size_t i = 0; i < TILE_M; i++) {
            sum[i][0] = left[i];
            sum[i][1] = right[i];
        }
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < columns; j++)
                c[i * u->ldc + j] =
                    NAMED(updated)(u, ((const REAL *)sum[i])[j], &c[i * u->ldc + j]);
    }
}

/* Without a sum: C := beta C. */
static void NAMED(scale)(const matmul_share *s)
{
    const REAL beta = (REAL)s->beta;
    REAL *c = s->c;

    for (size_t i = 0; i < s->m; i++)
        for (size_t j = 0; j < s->n; j++)
            c[i * s->ldc + j] = beta == 0 ? 0 : beta * c[i * s->ldc + j];
}

void PUBLIC(matmul_share)(const matmul_share *s)
{
    REAL *const slab_b = s->memory;
    REAL *const block_a = slab_b + matmul_slab_elements(&PUBLIC(matmul_tiling), s->n, s->k);
    NAMED(update) u = {(REAL)s->alpha, (REAL)s->beta, s->ldc};

    if (s->k == 0)
        NAMED(scale)(s);
    for (size_t j0 = 0; j0 < s->n; j0 += BLOCK_N) {
        const size_t columns = size_min(BLOCK_N, s->n - j0);

        u.beta = (REAL)s->beta;
        for (size_t p0 = 0; p0 < s->k; p0 += BLOCK_K, u.beta = 1) {
            const size_t k = size_min(BLOCK_K, s->k - p0);

            NAMED(copy_panels)
            ((const REAL *)s->b + p0 * s->b_row + j0 * s->b_column, s->b_column, s->b_row, columns,
             k, NAMED(TILE_N), slab_b);
            for (size_t i0 = 0; i0 < s->m; i0 += BLOCK_M) {
                const size_t rows = size_min(BLOCK_M, s->m - i0);

                NAMED(copy_panels)
                ((const REAL *)s->a + i0 * s->a_row + p0 * s->a_column, s->a_row, s->a_column, rows,
                 k, TILE_M, block_a);
                for (size_t j = 0; j < columns; j += NAMED(TILE_N))
                    for (size_t i = 0; i < rows; i += TILE_M)
                        NAMED(tile)
                (k, block_a + i * k, slab_b + j * k, size_min(TILE_M, rows - i),
                 size_min(NAMED(TILE_N), columns - j), &u,
                 (REAL *)s->c + (i0 + i) * s->ldc + j0 + j);
            }
        }
    }
}
