/* Hopper's matrix instructions on A and B as they are: cl/matmul/matmul_wgmma_fused.cl. */
#include "base/sizes.h"
#include "core/registry.h"
#include "ops/matmul/matmul_parts.h"
#include "ops/matmul/matmul_plan.h"
#include "ops/matmul/matmul_variants.h"

/* Entries of cl/matmul/matmul_wgmma_fused.cl, in the variant's order. */
enum { ALIGN, MULTIPLY, SUM };

static const tunable tunables[] = {
    {"STAGES", "blocks along k in flight: latency hidden against local memory", {4, 5, 6}, 6},
    {"BAND", "rows of work-groups that run side by side: B shared against A", {1, 4, 8, 16}, 8},
    {"COPY", "bytes of B that a copy brings: whole rows of a tile or vectors", {16, 1024}, 1024},
    {"ALIGN",
     "lines that are not aligned: 1 in small copies as they are, 2 copied first, which takes a "
     "workspace and a launch",
     {0, 1, 2},
     0},
    {"SPLIT",
     "work-groups that share k: more run at once, and leave more sums to add up",
     {0, 1, 2, 4, 8, 16, 32},
     0,
     .host_only = true,
     .any = true},
};

/* What the kernel is built with; sizes in bytes. */
enum {
    TILE_M = 128,
    TILE_N = 256,
    BLOCK_K = 16,
    CONSUMERS = 256, /* work-items of a group that multiply, and that bring tiles */
    PRODUCERS = 128,
    ROW_BYTES = 128,    /* a row of a block of A, split */
    PITCH_ROWS = 1056,  /* a row of a block of B by rows of columns, */
    PITCH_COLUMNS = 64, /* or along k */
    LEAD = 3,           /* blocks of A on their way to be split */
    SPAN_MIN = 128,     /* k of a part, at least, where SPLIT does not set it */
    ALIGN_ITEMS = 256,  /* work-items of a group that copies what is not aligned, */
    ALIGN_LOADS = 4     /* and elements that each copies */
};

/* Local memory beside the blocks, at most: alignment, and barriers. */
enum { SLACK = 1024 + 128 };

static size_t row_pitch(const tsr_matmul_problem *p)
{
    return p->trans_b ? PITCH_COLUMNS : PITCH_ROWS;
}

/* Bytes of the stages, and of A's blocks on their way to be split. */
static size_t local_bytes(const tsr_matmul_problem *p, size_t stages)
{
    const size_t split = TILE_M * ROW_BYTES;
    const size_t raw = (p->trans_b ? TILE_N : BLOCK_K) * row_pitch(p);

    return stages * (split + raw) + LEAD * TILE_M * BLOCK_K * sizeof(float);
}

/* Values of ALIGN. */
enum { ALIGN_DECIDED, ALIGN_NEVER, ALIGN_ALWAYS };

/* Bytes that copies may take: of two matrices of 16384 x 16384. */
#define WORKSPACE_MAX ((size_t)2 << 30)

/* ---- copies of what is not aligned ------------------------------------------------------- */

/* A copy of a matrix in workspace: lines that follow one another, with zeros up to whole tiles. */
typedef struct copy {
    bool made;
    size_t lines, pitch; /* of the copy, in elements */
    size_t offset;       /* of its first element in the workspace */
} copy;

typedef struct copies {
    copy a, b;
    size_t bytes; /* of workspace */
} copies;

/* An H200 takes 22 fs for a multiply-add where neither A nor B is aligned, and 15 where both are.
 * An element is copied, at 4 TB/s, in the time that 256 of them save, and a launch takes what 2^29
 * do. One of two copies does not save it all: so four times as many are asked for. */
static bool pays(const tsr_matmul_problem *p, const matmul_matrix *x)
{
    const double elements = (double)x->lines * (double)x->length;

    return (double)p->m * (double)p->n * (double)p->k >= 4 * (256 * elements + 0x1p29);
}

static bool wanted(const job *j, const matmul_matrix *x)
{
    const uint32_t set = param(j->params, "ALIGN");

    return !matmul_starts_at(x, 4) && set != ALIGN_NEVER &&
           (set == ALIGN_ALWAYS || pays(matmul_of(j->problem), x));
}

/* Bytes of a copy, in floating point, where nothing wraps. */
static double size_of(const copy *c)
{
    return c->made ? (double)c->lines * (double)c->pitch * sizeof(float) : 0;
}

/* Whether the device holds copies beside the matrices. */
static bool fit_beside(const job *j, const copies *s)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const double m = (double)p->m, n = (double)p->n, k = (double)p->k;

    return (m * k + k * n + m * n) * sizeof(float) + size_of(&s->a) + size_of(&s->b) <=
           (double)j->device->global_memory;
}

/* The copies to be made, in the workspace behind so many bytes: none where they would take too
 * much. */
static copies copies_of(const job *j, size_t behind)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const matmul_matrix a = matmul_matrix_a(p), b = matmul_matrix_b(p);
    const size_t most = size_min(WORKSPACE_MAX, (size_t)j->device->max_allocation);
    const size_t k = size_round_up(p->k, 2 * BLOCK_K);
    const size_t m = size_round_up(p->m, TILE_M), n = size_round_up(p->n, TILE_N);
    copies s = {.a = {.lines = p->trans_a ? k : m, .pitch = p->trans_a ? m : k},
                .b = {.lines = p->trans_b ? n : k, .pitch = p->trans_b ? k : n}};

    if (m == 0 || n == 0 || matmul_k_read(p) == 0)
        return (copies){.bytes = behind};
    s.a.made = wanted(j, &a);
    s.b.made = wanted(j, &b);
    if (size_of(&s.a) + size_of(&s.b) > (double)most || !fit_beside(j, &s))
        return (copies){.bytes = behind};
    s.a.offset = size_round_up(behind, 16) / sizeof(float);
    s.b.offset = s.a.offset + (s.a.made ? s.a.lines * s.a.pitch : 0);
    s.bytes = (s.b.offset + (s.b.made ? s.b.lines * s.b.pitch : 0)) * sizeof(float);
    return s;
}

/* The launch that makes a copy of operand `index`. */
static void align(unsigned index, const matmul_matrix *x, const copy *to, plan *out)
{
    command *c = plan_launch_1d(
        out, ALIGN, to->lines * size_div_up(to->pitch, ALIGN_ITEMS * ALIGN_LOADS) * ALIGN_ITEMS,
        ALIGN_ITEMS);

    command_u32(c, (uint32_t)x->lines);
    command_u32(c, (uint32_t)x->length);
    command_operand(c, index);
    command_u64(c, x->offset);
    command_u32(c, (uint32_t)x->ld);
    command_workspace(c);
    command_u64(c, to->offset);
    command_u32(c, (uint32_t)to->pitch);
}

/* The argument of an operand: its copy, where one is made, and then where that starts and how far
 * its lines are apart. */
static void input(unsigned index, const copy *c, command *out, uint64_t *offset, uint32_t *ld)
{
    if (!c->made) {
        command_operand(out, index);
        return;
    }
    command_workspace(out);
    *offset = c->offset;
    *ld = (uint32_t)c->pitch;
}

/* ---- parts of k -------------------------------------------------------------------------- */

static size_t tiles_of(const tsr_matmul_problem *p)
{
    return size_div_up(p->m, TILE_M) * size_div_up(p->n, TILE_N);
}

/* What the layout of A and B multiplies the time of a block by: 1 where both are aligned and B is
 * not transposed. */
static double layout_factor(const job *j, const copies *s)
{
    static const double elements_a = 0.09; /* A copied four bytes at a time */
    static const double elements_b = 0.36; /* B copied so */
    static const double along_k = 0.16;    /* columns of B that lie along k */
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const matmul_matrix a = matmul_matrix_a(p), b = matmul_matrix_b(p);

    return 1 + (s->a.made || matmul_starts_at(&a, 4) ? 0 : elements_a) +
           (s->b.made || matmul_starts_at(&b, 4) ? 0 : elements_b) + (p->trans_b ? along_k : 0);
}

/* Nanoseconds: by a fit to times of 87 products on an H200, whose root mean square of errors is 7%.
 */
static double cost(const job *j, k_parts k)
{
    static const double start = 4200;
    static const double align_ns = 7900;   /* to copy a matrix that is not aligned */
    static const double copy_bytes = 8000; /* bytes copied in a nanosecond */
    static const double group_ends = 5700; /* for a work-group to begin and end */
    static const double edges = 2500;      /* more where tiles have edges */
    static const double added = 4500;      /* more to read a C that is added to */
    static const double of_k = 64;         /* for each k of a tile */
    static const double launch = 1100;     /* of adding up parts */
    static const double bytes_ns = 3900;   /* sums are written and read at, by the cache */
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const copies s = copies_of(j, 0);
    const size_t waves = size_div_up(tiles_of(p) * k.parts, matmul_units(j));
    const double sums = (double)k.parts * (double)p->m * (double)p->n;
    const double group = group_ends + (p->m % TILE_M || p->n % TILE_N ? edges : 0) +
                         (matmul_reads_c(p) && k.parts == 1 ? added : 0) +
                         of_k * layout_factor(j, &s) * (double)size_round_up(k.span, 2 * BLOCK_K);

    return start + ((s.a.made ? align_ns : 0) + (s.b.made ? align_ns : 0)) +
           2 * (double)s.bytes / copy_bytes + (double)waves * group +
           (k.parts > 1 ? launch + sums * 2 * sizeof(float) / bytes_ns : 0);
}

/* The best number of parts, where SPLIT does not set it: one, or as many work-groups as fill half
 * of the units, all, or all twice or four times, each with SPAN_MIN of k at least. */
static k_parts parts_of(const job *j)
{
    const size_t set = param(j->params, "SPLIT"), tiles = tiles_of(matmul_of(j->problem));
    const size_t most = matmul_k_read(matmul_of(j->problem)) / SPAN_MIN;
    k_parts best = matmul_parts_cut(j, set, 2 * BLOCK_K);

    for (unsigned halves = 1; !set && tiles && halves <= 8; halves *= 2) {
        const size_t parts = size_min(halves * matmul_units(j) / 2 / tiles, most);
        const k_parts other = matmul_parts_cut(j, parts, 2 * BLOCK_K);

        if (cost(j, other) < cost(j, best))
            best = other;
    }
    return best;
}

/* ---- the variant ------------------------------------------------------------------------- */

static const char *plan_fused(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const matmul_matrix a = matmul_matrix_a(p), b = matmul_matrix_b(p);
    const size_t local = local_bytes(p, param(j->params, "STAGES")) + SLACK;
    const size_t tiles = tiles_of(p);
    const char *why = matmul_unsupported_3xtf32(p, out);
    matmul_call call;
    k_parts k;
    copies s;
    command *c;

    if (!why)
        why = plan_unsupported_local(out, local, j->device->large_local);
    if (why)
        return why;
    k = parts_of(j);
    s = copies_of(j, matmul_parts_workspace(p, k));
    plan_set(out, "SPLIT", (uint32_t)k.parts);
    plan_set(out, "ALIGN", s.a.made || s.b.made ? ALIGN_ALWAYS : ALIGN_NEVER);
    matmul_define_operands(p, out);
    matmul_define_parts(p, out);
    plan_define(out, "ALIGNED_A=%d", s.a.made || matmul_starts_at(&a, 4));
    plan_define(out, "ALIGNED_B=%d", s.b.made || matmul_starts_at(&b, 4));
    plan_define(out, "PADDED_A=%d", s.a.made);
    plan_define(out, "PADDED_B=%d", s.b.made);
    plan_define(out, "TILE_M=%d", TILE_M);
    plan_define(out, "TILE_N=%d", TILE_N);
    plan_define(out, "BLOCK_K=%d", BLOCK_K);
    plan_define(out, "CONSUMERS=%d", CONSUMERS);
    plan_define(out, "PRODUCERS=%d", PRODUCERS);
    plan_define(out, "ROW_BYTES=%d", ROW_BYTES);
    plan_define(out, "ROW_PITCH=%zu", row_pitch(p));
    plan_define(out, "LEAD=%d", LEAD);
    plan_define(out, "ALIGN_ITEMS=%d", ALIGN_ITEMS);
    plan_define(out, "ALIGN_LOADS=%d", ALIGN_LOADS);
    out->workspace = s.bytes;
    out->tiles = matmul_k_read(p) ? tiles * k.parts : 0;
    if (p->m == 0 || p->n == 0)
        return NULL;
    if (s.a.made)
        align(MATMUL_A, &a, &s.a, out);
    if (s.b.made)
        align(MATMUL_B, &b, &s.b, out);
    c = plan_launch_1d(out, MULTIPLY, tiles * k.parts * (CONSUMERS + PRODUCERS),
                       CONSUMERS + PRODUCERS);
    call = k.parts > 1 ? matmul_call_of_parts(p, 1) : matmul_call_of(p);
    call.span = (uint32_t)k.span;
    input(MATMUL_A, &s.a, c, &call.offset_a, &call.lda);
    input(MATMUL_B, &s.b, c, &call.offset_b, &call.ldb);
    if (k.parts > 1)
        command_workspace(c);
    else
        command_operand(c, MATMUL_C);
    command_strict_counter(c);
    matmul_pass(c, p, &call);
    if (k.parts > 1)
        matmul_parts_sum(j, p, k, SUM, out);
    return NULL;
}

double matmul_wgmma_3xtf32_fused_time(const problem *q, const device_facts *d)
{
    const params defaults = params_default(&matmul_wgmma_3xtf32_fused);
    const device_facts known = matmul_known(d);
    const job j = {q, &known, &defaults, false};

    return cost(&j, parts_of(&j));
}

const variant matmul_wgmma_3xtf32_fused = {
    .name = "wgmma-3xtf32-fused",
    .idea = "the same without packing: producers split A, consumers B, on their way in",
    .answers = 1u << CAUSE_UNITS,
    .source = "matmul/matmul_wgmma_fused.cl",
    .entries = {"matmul_align", "matmul_wgmma_fused", "matmul_sum_parts"},
    .needs = 1u << FEATURE_WGMMA | 1u << FEATURE_LARGE_LOCAL,
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables),
    .plan = plan_fused};
