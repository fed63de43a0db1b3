/* Hopper's matrix instructions, fed by tensor copies: cl/matmul/matmul_tensor.cl. */
#include "base/sizes.h"
#include "core/registry.h"
#include "ops/matmul/matmul_plan.h"
#include "ops/matmul/matmul_variants.h"

/* Entries of cl/matmul/matmul_tensor.cl, in the variant's order. */
enum { PREPARE, MULTIPLY };

static const tunable tunables[] = {
    {"TILE_M", "rows of a work-group's tile: traffic against work-groups", {128, 256}, 128},
    {"TILE_N", "columns of a work-group's tile: fewer reads of A against B", {128, 192, 256}, 256},
    {"STAGES", "blocks of A and B under way: latency hidden against local memory", {3, 4, 6}, 4},
    {"BAND", "rows of work-groups that run side by side: B shared against A", {1, 4, 8, 16}, 8},
    {"PERSISTENT", "1: a work-group a compute unit takes tile after tile; 2: one each", {1, 2}, 1},
};

/* What the kernels are built with; sizes in bytes. */
enum {
    ROW_BYTES = 128, /* a row of a box */
    CONSUMERS = 256, /* work-items of a group that multiply, and that bring tiles */
    PRODUCERS = 128,
    ITEMS = CONSUMERS + PRODUCERS,
    PREPARE_ITEMS = 256, /* of a group that stages */
    PIECE = 64,          /* rows and columns of what it stages */
    MAP_BYTES = 128      /* of a map, A's and then B's at the start of the workspace */
};

enum {
    MAPS = 2 * MAP_BYTES,
    ALIGNMENT = 2048, /* of stages in local memory, and barriers beside them, at most */
    STAGED_ALIGN = 256
};

/* FORMAT of the factors. */
enum { FORMAT_TF32, FORMAT_BF16, FORMAT_F16 };

static unsigned format(const tsr_matmul_problem *p)
{
    const tsr_precision used = real_precision(p->type, p->precision);

    return used == TSR_PRECISION_TF32   ? FORMAT_TF32
           : used == TSR_PRECISION_BF16 ? FORMAT_BF16
                                        : FORMAT_F16;
}

/* How an operand is copied to local memory. */
typedef struct source {
    bool staged;
    size_t rows, columns; /* as it is stored */
    size_t pitch;         /* elements between rows of what is staged; 0 where nothing is */
    size_t pieces;        /* that work-groups stage */
    size_t bytes;         /* of workspace; wraps where `size` is beyond 2^64 */
    double size;          /* the same in floating point, where nothing wraps */
} source;

/* Copies take rows from multiples of 16 bytes, in the format.  TF32 has to have k along them. */
static source source_of(const tsr_matmul_problem *p, bool along, size_t rows, size_t columns,
                        size_t ld, size_t offset)
{
    const bool turned = format(p) == FORMAT_TF32 && !along;
    const size_t element = format(p) == FORMAT_TF32 ? 4 : 2, unit = STAGED_ALIGN / element;
    const size_t vector = 16 / element;
    source s = {.rows = rows, .columns = columns};

    s.staged = turned || element != tsr_type_size(p->type) || ld % vector || offset % vector;
    if (!s.staged)
        return s;
    s.pitch = size_div_up(turned ? rows : columns, unit) * unit;
    s.pieces = size_div_up(rows, PIECE) * size_div_up(columns, PIECE);
    s.bytes = (turned ? columns : rows) * s.pitch * element;
    s.size = (double)(turned ? columns : rows) * (double)s.pitch * (double)element;
    return s;
}

static source source_a(const tsr_matmul_problem *p)
{
    return source_of(p, !p->trans_a, p->trans_a ? p->k : p->m, p->trans_a ? p->m : p->k,
                     matmul_ld_a(p), p->offset_a);
}

static source source_b(const tsr_matmul_problem *p)
{
    return source_of(p, p->trans_b, p->trans_b ? p->n : p->k, p->trans_b ? p->k : p->n,
                     matmul_ld_b(p), p->offset_b);
}

static void prepare(const tsr_matmul_problem *p, const source *a, const source *b, plan *out)
{
    command *c = plan_launch_1d(out, PREPARE, size_max(a->pieces + b->pieces, 1) * PREPARE_ITEMS,
                                PREPARE_ITEMS);

    command_u32(c, (uint32_t)p->m);
    command_u32(c, (uint32_t)p->n);
    command_u32(c, (uint32_t)p->k);
    matmul_inputs(c, p);
    command_workspace(c);
    command_u64(c, MAPS);
    command_u64(c, MAPS + a->bytes);
    command_u32(c, (uint32_t)a->pitch);
    command_u32(c, (uint32_t)b->pitch);
    command_u32(c, (uint32_t)a->pieces);
}

static const char *plan_tensor(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t tile_m = param(j->params, "TILE_M"), tile_n = param(j->params, "TILE_N");
    const size_t local = param(j->params, "STAGES") * (tile_m + tile_n) * ROW_BYTES + ALIGNMENT;
    const tsr_precision used = real_precision(p->type, p->precision);
    const char *why = matmul_unsupported_batch(p, out);
    source a, b;
    size_t groups;
    command *c;

    if (why)
        return why;
    if (used != TSR_PRECISION_TF32 && used != TSR_PRECISION_BF16 && used != TSR_PRECISION_F16)
        return plan_unsupported(out, "it rounds factors to TF32 or 16 bits, and %s is %s",
                                tsr_type_name(p->type), tsr_precision_name(used));
    if (tile_m + tile_n > 448)
        return "the sums of a tile of 256 x 256 are more than the registers hold";
    why = matmul_unsupported_local(j, local, out);
    if (why)
        return why;
    a = source_a(p);
    b = source_b(p);
    if (MAPS + a.size + b.size > (double)j->device->max_allocation)
        return plan_unsupported(out,
                                "what it stages takes more than the %llu bytes of an allocation",
                                (unsigned long long)j->device->max_allocation);

    matmul_define_operands(p, out);
    plan_define(out, "FORMAT=%u", format(p));
    plan_define(out, "STAGED_A=%d", a.staged);
    plan_define(out, "STAGED_B=%d", b.staged);
    plan_define(out, "ROW_BYTES=%d", ROW_BYTES);
    plan_define(out, "MAP_BYTES=%d", MAP_BYTES);
    plan_define(out, "CONSUMERS=%d", CONSUMERS);
    plan_define(out, "PRODUCERS=%d", PRODUCERS);
    plan_define(out, "PREPARE_ITEMS=%d", PREPARE_ITEMS);
    plan_define(out, "PIECE=%d", PIECE);
    out->workspace = MAPS + a.bytes + b.bytes;
    if (p->m == 0 || p->n == 0)
        return NULL;
    if (matmul_k_read(p))
        prepare(p, &a, &b, out);
    groups = size_div_up(p->m, tile_m) * size_div_up(p->n, tile_n);
    if (param(j->params, "PERSISTENT") == 1)
        groups = size_min(groups, size_max(j->device->compute_units, 1));
    c = plan_launch_1d(out, MULTIPLY, groups * ITEMS, ITEMS);
    command_u32(c, (uint32_t)p->m);
    command_u32(c, (uint32_t)p->n);
    command_u32(c, (uint32_t)matmul_k_read(p));
    command_real(c, p->type, matmul_alpha(p));
    matmul_inputs(c, p);
    matmul_output(c, p);
    command_workspace(c);
    return NULL;
}

const variant matmul_wgmma_tensor = {
    .name = "wgmma-tensor",
    .idea = "the chip copies boxes of A and B by itself, with zeros beyond edges: TF32, BF16, FP16",
    .source = "matmul/matmul_tensor.cl",
    .entries = {"matmul_tensor_prepare", "matmul_tensor"},
    .needs = 1u << FEATURE_TENSOR_COPY | 1u << FEATURE_WGMMA | 1u << FEATURE_LARGE_LOCAL,
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables),
    .plan = plan_tensor};
