/* The operation matmul: C := alpha op(A) op(B) + beta C, and the table of its variants. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/random.h"
#include "base/sizes.h"
#include "ops/matmul_host.h"
#include "ops/real.h"
#include "ops/variant.h"

enum { OPERAND_A, OPERAND_B, OPERAND_C };

/* Products above this many multiply-adds are checked by samples and sums. */
static const double verify_work_limit = 0x1p28;
enum { VERIFY_SAMPLES = 4096 };

/* ---- geometry ---------------------------------------------------------------------------- */

static size_t ld_a(const tsr_matmul_problem *p)
{
    return p->lda ? p->lda : p->trans_a ? p->m : p->k;
}

static size_t ld_b(const tsr_matmul_problem *p)
{
    return p->ldb ? p->ldb : p->trans_b ? p->k : p->n;
}

static size_t ld_c(const tsr_matmul_problem *p)
{
    return p->ldc ? p->ldc : p->n;
}

/* Index of op(A)(i, q), op(B)(q, j) and C(i, j) in their arrays. */
static size_t index_a(const tsr_matmul_problem *p, size_t i, size_t q)
{
    return p->offset_a + (p->trans_a ? q * ld_a(p) + i : i * ld_a(p) + q);
}

static size_t index_b(const tsr_matmul_problem *p, size_t q, size_t j)
{
    return p->offset_b + (p->trans_b ? j * ld_b(p) + q : q * ld_b(p) + j);
}

static size_t index_c(const tsr_matmul_problem *p, size_t i, size_t j)
{
    return p->offset_c + i * ld_c(p) + j;
}

/* alpha and beta as the arithmetic sees them; alpha counts as 0 where there is nothing to sum. */
static double alpha_of(const tsr_matmul_problem *p)
{
    return p->k ? real_round(p->type, p->alpha) : 0;
}

static double beta_of(const tsr_matmul_problem *p)
{
    return real_round(p->type, p->beta);
}

/* Bytes from the array's start to the end of a rows x columns matrix's last element. */
static bool extent(size_t rows, size_t columns, size_t ld, size_t offset, size_t size, size_t *out)
{
    size_t n;

    if (rows == 0 || columns == 0) {
        *out = 0;
        return true;
    }
    return size_mul(rows - 1, ld, &n) && size_add(n, columns, &n) && size_add(n, offset, &n) &&
           size_mul(n, size, out);
}

static tsr_status check_matrix(const char *name, size_t rows, size_t columns, size_t ld,
                               size_t offset, size_t size, tsr_error *err)
{
    size_t bytes;

    if (ld < columns)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "matmul: the leading dimension of %s is %zu and it has %zu columns", name,
                        ld, columns);
    if (!extent(rows, columns, ld, offset, size, &bytes))
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "matmul: %s of %zu x %zu (leading dimension %zu, offset %zu) exceeds %zu "
                        "bytes",
                        name, rows, columns, ld, offset, SIZE_MAX);
    return TSR_OK;
}

static tsr_status check(const problem *q, tsr_error *err)
{
    const tsr_matmul_problem *p = &q->matmul;
    const size_t size = tsr_type_size(p->type);
    tsr_status st = real_check("matmul", p->type, p->precision, err);

    if (st == TSR_OK)
        st = check_matrix("A", p->trans_a ? p->k : p->m, p->trans_a ? p->m : p->k, ld_a(p),
                          p->offset_a, size, err);
    if (st == TSR_OK)
        st = check_matrix("B", p->trans_b ? p->n : p->k, p->trans_b ? p->k : p->n, ld_b(p),
                          p->offset_b, size, err);
    if (st == TSR_OK)
        st = check_matrix("C", p->m, p->n, ld_c(p), p->offset_c, size, err);
    return st;
}

static size_t operands(const problem *q, operand out[OPERANDS_MAX])
{
    const tsr_matmul_problem *p = &q->matmul;
    const size_t size = tsr_type_size(p->type);
    const bool reads = alpha_of(p) != 0 && p->m && p->n;

    out[OPERAND_A] = (operand){.name = "A", .type = p->type, .access = ACCESS_READ};
    out[OPERAND_B] = (operand){.name = "B", .type = p->type, .access = ACCESS_READ};
    out[OPERAND_C] = (operand){.name = "C",
                               .type = p->type,
                               .access = beta_of(p) == 0 ? ACCESS_WRITE : ACCESS_READ_WRITE,
                               .whole = beta_of(p) == 0 && ld_c(p) == p->n && p->offset_c == 0};
    if (reads) {
        extent(p->trans_a ? p->k : p->m, p->trans_a ? p->m : p->k, ld_a(p), p->offset_a, size,
               &out[OPERAND_A].bytes);
        extent(p->trans_b ? p->n : p->k, p->trans_b ? p->k : p->n, ld_b(p), p->offset_b, size,
               &out[OPERAND_B].bytes);
    }
    extent(p->m, p->n, ld_c(p), p->offset_c, size, &out[OPERAND_C].bytes);
    return 3;
}

static double work(const problem *q)
{
    return 2.0 * (double)q->matmul.m * (double)q->matmul.n * (double)q->matmul.k;
}

static double bytes(const problem *q)
{
    const tsr_matmul_problem *p = &q->matmul;
    const double m = (double)p->m, n = (double)p->n, k = (double)p->k;

    return (double)tsr_type_size(p->type) * (m * k + k * n + m * n * (beta_of(p) == 0 ? 1 : 2));
}

static void describe(const problem *q, text *out)
{
    const tsr_matmul_problem *p = &q->matmul;

    text_format(out, "%zux%zux%zu %s", p->m, p->n, p->k, tsr_type_name(p->type));
    if (p->precision != TSR_PRECISION_DEFAULT)
        text_format(out, " %s", tsr_precision_name(p->precision));
    text_format(out, "%s%s", p->trans_a ? " A^T" : "", p->trans_b ? " B^T" : "");
    if (alpha_of(p) != 1 || beta_of(p) != 0)
        text_format(out, " alpha %g beta %g", p->alpha, p->beta);
    if (ld_a(p) != (p->trans_a ? p->m : p->k) || ld_b(p) != (p->trans_b ? p->k : p->n) ||
        ld_c(p) != p->n)
        text_format(out, " ld %zu %zu %zu", ld_a(p), ld_b(p), ld_c(p));
    if (p->offset_a || p->offset_b || p->offset_c)
        text_format(out, " offsets %zu %zu %zu", p->offset_a, p->offset_b, p->offset_c);
}

/* The power of two nearest below: problems between two of them are tuned alike. */
static size_t magnitude(size_t n)
{
    size_t p = 1;

    while (n > 1) {
        n /= 2;
        p *= 2;
    }
    return p;
}

static void classify(const problem *q, text *out)
{
    const tsr_matmul_problem *p = &q->matmul;

    text_format(out, "%s %c%c %zux%zux%zu", tsr_type_name(p->type), p->trans_a ? 't' : 'n',
                p->trans_b ? 't' : 'n', magnitude(p->m), magnitude(p->n), magnitude(p->k));
}

/* ---- variants on a device ---------------------------------------------------------------- */

static void defines(const job *j, text *out)
{
    const tsr_matmul_problem *p = &j->problem->matmul;

    real_defines(p->type, out);
    text_format(out, " -DTRANS_A=%d -DTRANS_B=%d", p->trans_a, p->trans_b);
}

/* Reasons that every kernel of the ladder shares. */
static const char *unsuited_portable(const job *j, text *reason)
{
    const tsr_matmul_problem *p = &j->problem->matmul;
    const size_t limit = (size_t)1 << 31;
    const size_t sizes[] = {p->m, p->n, p->k, ld_a(p), ld_b(p), ld_c(p)};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (sizes[i] <= limit)
            continue;
        text_format(reason, "it indexes rows and columns in 32 bits, and %zu is over %zu", sizes[i],
                    limit);
        return text_get(reason);
    }
    return real_unsuited(p->type, p->precision, j->device, reason);
}

/* Work-groups of side x side with `local` bytes of local memory, or why not. */
static const char *unsuited_group(const job *j, size_t side, size_t local, text *reason)
{
    const char *why = unsuited_portable(j, reason);

    if (why)
        return why;
    if (side * side > j->device->max_work_group) {
        text_format(reason, "it needs work-groups of %zu work-items, and the limit is %zu",
                    side * side, j->device->max_work_group);
        return text_get(reason);
    }
    if (local > j->device->local_memory) {
        text_format(reason, "it needs %zu bytes of local memory, and there are %zu", local,
                    j->device->local_memory);
        return text_get(reason);
    }
    return NULL;
}

/* The one launch that every kernel of the ladder is: a grid of groups of side x side that each
 * cover tile x tile outputs. */
static bool launch(const job *j, size_t i, size_t side, size_t tile, step *out)
{
    const tsr_matmul_problem *p = &j->problem->matmul;
    const double alpha = alpha_of(p);

    if (i > 0 || p->m == 0 || p->n == 0)
        return false;
    step_launch_2d(out, 0, size_div_up(p->n, tile) * side, size_div_up(p->m, tile) * side, side,
                   side);
    step_u32(out, (uint32_t)p->m);
    step_u32(out, (uint32_t)p->n);
    step_u32(out, alpha == 0 ? 0 : (uint32_t)p->k); /* alpha == 0 reads neither A nor B */
    step_real(out, p->type, alpha);
    step_operand(out, OPERAND_A);
    step_u64(out, p->offset_a);
    step_u32(out, (uint32_t)ld_a(p));
    step_operand(out, OPERAND_B);
    step_u64(out, p->offset_b);
    step_u32(out, (uint32_t)ld_b(p));
    step_real(out, p->type, p->beta);
    step_operand(out, OPERAND_C);
    step_u64(out, p->offset_c);
    step_u32(out, (uint32_t)ld_c(p));
    return true;
}

/* 16 x 16, or less where the device takes no group of 256. */
static size_t naive_side(const device_facts *d)
{
    size_t side = 16;

    while (side * side > d->max_work_group && side > 1)
        side /= 2;
    return side;
}

static bool naive_step(const job *j, size_t i, step *out)
{
    const size_t side = naive_side(j->device);

    return launch(j, i, side, side, out);
}

static const tunable tiled_tunables[] = {
    {"TILE",
     "side of the tiles and of the work-group: more reuse against more local memory",
     {8, 16, 32},
     16},
};

static const char *tiled_unsuited(const job *j, text *reason)
{
    const size_t tile = param(j->params, "TILE");

    return unsuited_group(j, tile, 2 * tile * tile * tsr_type_size(j->problem->matmul.type),
                          reason);
}

static bool tiled_step(const job *j, size_t i, step *out)
{
    const size_t tile = param(j->params, "TILE");

    return launch(j, i, tile, tile, out);
}

static const tunable block_tunables[] = {
    {"SIDE", "work-items along each side of a work-group", {8, 16}, 16},
    {"BLOCK", "outputs of a work-item along each side: reuse against registers", {2, 4, 8}, 4},
    {"DEPTH", "extent of the tiles along k: fewer barriers against local memory", {8, 16, 32}, 16},
};

static const char *block_unsuited(const job *j, text *reason)
{
    const size_t side = param(j->params, "SIDE");
    const size_t tile = side * param(j->params, "BLOCK");
    const size_t elements = 2 * param(j->params, "DEPTH") * tile;

    return unsuited_group(j, side, elements * tsr_type_size(j->problem->matmul.type), reason);
}

static bool block_step(const job *j, size_t i, step *out)
{
    const size_t side = param(j->params, "SIDE");

    return launch(j, i, side, side * param(j->params, "BLOCK"), out);
}

static const tunable vector_tunables[] = {
    {"SIDE", "work-items along each side of a work-group", {8, 16}, 16},
    {"BLOCK", "outputs of a work-item along each side: reuse against registers", {4, 8}, 4},
    {"DEPTH", "extent of the tiles along k: fewer barriers against local memory", {8, 16, 32}, 16},
    {"PAD", "vectors of 4 that pad each row of a tile against bank conflicts", {1, 2}, 1},
};

static const char *vector_unsuited(const job *j, text *reason)
{
    const size_t side = param(j->params, "SIDE");
    const size_t row = side * param(j->params, "BLOCK") + 4 * param(j->params, "PAD");
    const size_t elements = 2 * param(j->params, "DEPTH") * row;

    return unsuited_group(j, side, elements * tsr_type_size(j->problem->matmul.type), reason);
}

/* ---- variants on the host ---------------------------------------------------------------- */

static const char *host_unsuited(const job *j, text *reason)
{
    return real_unsuited(j->problem->matmul.type, j->problem->matmul.precision, j->device, reason);
}

static const char *openmp_unsuited(const job *j, text *reason)
{
    return matmul_host_has_openmp() ? host_unsuited(j, reason) : "built without OpenMP";
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const variant variants[] = {
    {.name = "ijk",
     .idea = "the definition as three loops: the inner one walks down a column of B",
     .unsuited = host_unsuited,
     .host = matmul_host_ijk},
    {.name = "jik",
     .idea = "the same with columns outside: B's column is reused, each row of A is not",
     .unsuited = host_unsuited,
     .host = matmul_host_jik},
    {.name = "ikj",
     .idea = "the inner loop runs along rows of B and C: every cache line is used whole",
     .unsuited = host_unsuited,
     .host = matmul_host_ikj},
    {.name = "kij",
     .idea = "row-wise too, but all of C passes through the cache for every p",
     .unsuited = host_unsuited,
     .host = matmul_host_kij},
    {.name = "blocked",
     .idea = "i-k-j on blocks of B that stay in the cache while all of A passes",
     .unsuited = host_unsuited,
     .host = matmul_host_blocked},
    {.name = "openmp",
     .idea = "the blocks on every core: strips of rows are shared out to threads",
     .unsuited = openmp_unsuited,
     .host = matmul_host_openmp},
    {.name = "naive",
     .idea = "one work-item an output, straight from global memory: no reuse",
     .source = "matmul_naive.cl",
     .entries = {"matmul_naive"},
     .defines = defines,
     .unsuited = unsuited_portable,
     .step = naive_step},
    {.name = "tiled",
     .idea = "square tiles of A and B in local memory: each load serves TILE work-items",
     .source = "matmul_tiled.cl",
     .entries = {"matmul_tiled"},
     .tunables = tiled_tunables,
     .tunable_count = COUNT(tiled_tunables),
     .defines = defines,
     .unsuited = tiled_unsuited,
     .step = tiled_step},
    {.name = "block",
     .idea = "BLOCK x BLOCK outputs a work-item: each local load serves BLOCK multiply-adds",
     .source = "matmul_block.cl",
     .entries = {"matmul_block"},
     .tunables = block_tunables,
     .tunable_count = COUNT(block_tunables),
     .defines = defines,
     .unsuited = block_unsuited,
     .step = block_step},
    {.name = "vector",
     .idea = "four elements a load, and padded tiles so that no two items meet in a bank",
     .source = "matmul_vector.cl",
     .entries = {"matmul_vector"},
     .tunables = vector_tunables,
     .tunable_count = COUNT(vector_tunables),
     .defines = defines,
     .unsuited = vector_unsuited,
     .step = block_step},
};

static size_t prefer(const problem *q, const device_facts *d, const char *out[PREFERENCES_MAX])
{
    static const char *const on_host[] = {"openmp", "blocked", "ikj", "kij", "ijk", "jik"};
    static const char *const on_device[] = {"vector", "block", "tiled", "naive"};
    /* Tiles do not pay where one side is shorter than a quarter of one. */
    static const char *const on_device_thin[] = {"naive", "tiled", "block", "vector"};
    const bool thin = size_min(q->matmul.m, q->matmul.n) < 8;
    const char *const *order = d->kind == DEVICE_HOST ? on_host : thin ? on_device_thin : on_device;
    const size_t n = d->kind == DEVICE_HOST ? COUNT(on_host) : COUNT(on_device);

    memcpy(out, order, n * sizeof(*out));
    return n;
}

/* ---- inputs ------------------------------------------------------------------------------ */

static void fill_array(const operand *o, family f, uint64_t seed, void *array)
{
    uint64_t state = seed;

    for (size_t i = 0; i < o->bytes / tsr_type_size(o->type); i++)
        real_set(o->type, array, i, real_random(o->type, f, &state));
}

static void fill(const problem *q, uint64_t seed, family f, void *const arrays[])
{
    operand o[OPERANDS_MAX];
    size_t n = operands(q, o);

    for (size_t i = 0; i < n; i++)
        fill_array(&o[i], f, seed + i, arrays[i]);
    /* What beta == 0 must not read. */
    if (beta_of(&q->matmul) == 0)
        for (size_t i = 0; i < o[OPERAND_C].bytes / tsr_type_size(o[OPERAND_C].type); i += 3)
            real_set(o[OPERAND_C].type, arrays[OPERAND_C], i, NAN);
}

/* m, n, k: empty, one, primes, one off each tile size, thin, deep. */
static const size_t sweep_shapes[][3] = {
    {0, 5, 3},     {5, 0, 3},     {4, 6, 0},      {1, 1, 1},     {2, 3, 1},    {1, 7, 5},
    {7, 1, 5},     {8, 8, 8},     {7, 9, 11},     {15, 17, 16},  {16, 16, 16}, {17, 15, 33},
    {31, 33, 32},  {3, 5, 300},   {63, 65, 64},   {64, 64, 64},  {65, 63, 31}, {1, 257, 129},
    {257, 1, 131}, {128, 128, 1}, {127, 129, 65}, {97, 101, 103}};
enum { TINY_SHAPES = 12, COMBINATIONS = 16 };

static const double sweep_scales[][2] = {{1, 0}, {1, 1},  {-1, 0}, {1.5, -0.5}, {0, 1},
                                         {0, 0}, {1, -1}, {0, 2},  {-2.5, 0},   {0.5, 1}};

static bool sweep(size_t i, bool tiny, problem *out)
{
    const size_t shapes = tiny ? TINY_SHAPES : COUNT(sweep_shapes);
    const size_t combinations = tiny ? 4 : COMBINATIONS;
    const size_t shape = i / combinations, c = i % combinations;
    const double *scale = sweep_scales[(shape + 3 * c) % COUNT(sweep_scales)];
    tsr_matmul_problem p = {.alpha = scale[0], .beta = scale[1]};

    if (i == shapes * combinations && !tiny) {
        /* More rows than a grid of 65535 groups of 16 covers. */
        *out = (problem){.op = &operation_matmul,
                         .matmul = {.m = 1048700, .n = 1, .k = 2, .alpha = 1}};
        return true;
    }
    if (shape >= shapes)
        return false;
    p.m = sweep_shapes[shape][0];
    p.n = sweep_shapes[shape][1];
    p.k = sweep_shapes[shape][2];
    p.type = tiny ? (c & 1 ? TSR_F64 : TSR_F32) : (c & 8 ? TSR_F64 : TSR_F32);
    p.trans_a = c & 1;
    p.trans_b = (c & 2) != 0;
    if (c & 4 || tiny) {
        p.lda = (p.trans_a ? p.m : p.k) + 3;
        p.ldb = (p.trans_b ? p.k : p.n) + 1 + shape % 5;
        p.ldc = p.n + 2;
        p.offset_a = 5;
        p.offset_b = shape % 3;
        p.offset_c = 7;
    }
    *out = (problem){.op = &operation_matmul, .matmul = p};
    return true;
}

/* ---- judging ----------------------------------------------------------------------------- */

/* One result to be judged. */
typedef struct judged {
    const tsr_matmul_problem *p;
    const device_facts *device;
    const void *a, *b, *before, *after;
    verdict *out;
} judged;

static void judge_element(const judged *j, size_t i, size_t column)
{
    const tsr_matmul_problem *p = j->p;
    const double alpha = alpha_of(p), beta = beta_of(p);
    real_sum s = real_sum_start(p->type, j->device);
    double c = 0, got, error;

    for (size_t q = 0; q < p->k && alpha != 0; q++)
        real_sum_add(&s, real_get(p->type, j->a, index_a(p, i, q)),
                     real_get(p->type, j->b, index_b(p, q, column)));
    if (beta != 0)
        c = real_get(p->type, j->before, index_c(p, i, column));
    got = real_get(p->type, j->after, index_c(p, i, column));
    error = real_judge(&s, alpha, beta, c, got);
    if (error > j->out->worst)
        j->out->worst = error;
    if (error <= 1 || !j->out->ok)
        return;
    j->out->ok = false;
    snprintf(j->out->detail, sizeof(j->out->detail),
             "C(%zu, %zu) is %.9g and should be %.9g: %.3g times the bound", i, column, got,
             (double)(alpha * s.sum + beta * (long double)c), error);
}

/* The elements of C's array that are no elements of C keep their bytes. */
static void judge_gaps(const judged *j)
{
    const tsr_matmul_problem *p = j->p;
    const size_t size = tsr_type_size(p->type), ld = ld_c(p);
    const char *before = j->before, *after = j->after;
    bool kept = p->m == 0 || p->n == 0 || memcmp(before, after, p->offset_c * size) == 0;

    for (size_t i = 0; i + 1 < p->m && p->n && kept; i++) {
        const size_t at = (index_c(p, i, 0) + p->n) * size;

        kept = memcmp(before + at, after + at, (ld - p->n) * size) == 0;
    }
    if (!kept && j->out->ok) {
        j->out->ok = false;
        snprintf(j->out->detail, sizeof(j->out->detail), "memory outside C was written");
    }
}

/* Tile edges and corners first, then elements at random. */
static void judge_samples(const judged *j)
{
    const tsr_matmul_problem *p = j->p;
    const size_t edges[] = {0, 1, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128};
    uint64_t state = 1;

    for (size_t r = 0; r < COUNT(edges); r++)
        for (size_t s = 0; s < COUNT(edges); s++)
            if (edges[r] < p->m && edges[s] < p->n) {
                judge_element(j, edges[r], edges[s]);
                judge_element(j, p->m - 1 - edges[r], p->n - 1 - edges[s]);
            }
    for (size_t n = 2 * COUNT(edges) * COUNT(edges); n < VERIFY_SAMPLES; n++) {
        uint64_t r = random_u64(&state), s = random_u64(&state);

        judge_element(j, (size_t)(r % p->m), (size_t)(s % p->n));
    }
}

/* t = op(B) r and |op(B)| 1 for signs r: the first half of Freivalds' check. */
static void multiply_signs(const judged *j, const double *signs, long double *t, long double *mag)
{
    const tsr_matmul_problem *p = j->p;

    for (size_t q = 0; q < p->k; q++) {
        t[q] = mag[q] = 0;
        for (size_t c = 0; c < p->n; c++) {
            const long double b = real_get(p->type, j->b, index_b(p, q, c));

            t[q] += b * signs[c];
            mag[q] += fabsl(b);
        }
    }
}

/* Row i of C r against alpha op(A) (op(B) r) + beta C0 r; the bound is the sum of the elements'. */
static void judge_row_sum(const judged *j, size_t i, const double *signs, const long double *t,
                          const long double *mag)
{
    const tsr_matmul_problem *p = j->p;
    const long double u = p->type == TSR_F64 ? 0x1p-53L : 0x1p-24L;
    const long double alpha = alpha_of(p), beta = beta_of(p);
    long double exact = 0, magnitude_sum = 0, got = 0;
    long double n = (long double)p->k + 2, gamma = n * u / (1 - n * u);

    for (size_t q = 0; q < p->k; q++) {
        const long double a = real_get(p->type, j->a, index_a(p, i, q));

        exact += alpha * a * t[q];
        magnitude_sum += fabsl(alpha * a) * mag[q];
    }
    for (size_t c = 0; c < p->n; c++) {
        const long double old =
            beta == 0 ? 0 : (long double)real_get(p->type, j->before, index_c(p, i, c));

        exact += beta * old * signs[c];
        magnitude_sum += fabsl(beta * old);
        got += real_get(p->type, j->after, index_c(p, i, c)) * signs[c];
    }
    if (!isfinite((double)exact) || !isfinite((double)magnitude_sum))
        return; /* samples judge rows with special values */
    if (fabsl(got - exact) <= gamma * magnitude_sum + n * (long double)p->n * 0x1p-126L)
        return;
    if (j->out->ok)
        snprintf(j->out->detail, sizeof(j->out->detail),
                 "row %zu of C times random signs is %.9g and should be %.9g", i, (double)got,
                 (double)exact);
    j->out->ok = false;
}

/* Check C r for random signs r, in O(n^2): R. Freivalds, "Probabilistic machines can use less
 * running time", IFIP 1977.  An error in one element shows with probability 1; errors that
 * cancel in a row, with at least 1/2 in each. */
static tsr_status judge_row_sums(const judged *j, tsr_error *err)
{
    const tsr_matmul_problem *p = j->p;
    double *signs = malloc(p->n * sizeof(*signs));
    long double *t = malloc(p->k * sizeof(*t)), *mag = malloc(p->k * sizeof(*mag));
    tsr_status st = TSR_OK;
    uint64_t state = 2;

    if (!signs || !t || !mag) {
        st = tsr_fail(err, TSR_ENOMEM, 0, "no memory to check a product of %zu x %zu x %zu", p->m,
                      p->n, p->k);
        goto cleanup;
    }
    for (size_t c = 0; c < p->n; c++)
        signs[c] = random_u64(&state) & 1 ? 1 : -1;
    multiply_signs(j, signs, t, mag);
    for (size_t i = 0; i < p->m; i++)
        judge_row_sum(j, i, signs, t, mag);

cleanup:
    free(signs);
    free(t);
    free(mag);
    return st;
}

static tsr_status verify(const problem *q, const device_facts *d, const void *const before[],
                         const void *const after[], verdict *out, tsr_error *err)
{
    const tsr_matmul_problem *p = &q->matmul;
    judged j = {.p = p,
                .device = d,
                .a = before[OPERAND_A],
                .b = before[OPERAND_B],
                .before = before[OPERAND_C],
                .after = after[OPERAND_C],
                .out = out};

    *out = (verdict){.ok = true};
    judge_gaps(&j);
    if ((double)p->m * (double)p->n * (double)p->k > verify_work_limit && alpha_of(p) != 0) {
        out->sampled = true;
        judge_samples(&j);
        return judge_row_sums(&j, err);
    }
    for (size_t i = 0; i < p->m; i++)
        for (size_t c = 0; c < p->n; c++)
            judge_element(&j, i, c);
    return TSR_OK;
}

const operation operation_matmul = {.name = "matmul",
                                    .idea = "C := alpha op(A) op(B) + beta C",
                                    .rate = "GFLOP/s",
                                    .variants = variants,
                                    .variant_count = COUNT(variants),
                                    .check = check,
                                    .operands = operands,
                                    .work = work,
                                    .bytes = bytes,
                                    .describe = describe,
                                    .classify = classify,
                                    .prefer = prefer,
                                    .fill = fill,
                                    .sweep = sweep,
                                    .verify = verify};
