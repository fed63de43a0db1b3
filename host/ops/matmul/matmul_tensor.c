#include "ops/matmul/matmul_tensor.h"

#include "base/sizes.h"
#include "ops/matmul/matmul_shape.h"
#include "ops/matmul/matmul_steps.h"

/* As cl/matmul/matmul_tensor.cl has them; sizes in bytes. */
enum {
    ROW_BYTES = 128,
    ITEMS = 384,
    PREPARE_ITEMS = 256,
    PIECE = 64,       /* rows and columns of what a work-group stages */
    MAPS = 256,       /* two of 128 */
    ALIGNMENT = 2048, /* of stages in local memory, and barriers beside them */
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

void matmul_tensor_defines(const job *j, text *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    matmul_defines_operands(p, out);
    text_format(out, " -DFORMAT=%u -DSTAGED_A=%d -DSTAGED_B=%d", format(p), source_a(p).staged,
                source_b(p).staged);
}

const char *matmul_tensor_unsupported(const job *j, text *reason)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t tile_m = param(j->params, "TILE_M"), tile_n = param(j->params, "TILE_N");
    const size_t local = param(j->params, "STAGES") * (tile_m + tile_n) * ROW_BYTES + ALIGNMENT;
    const tsr_precision used = real_precision(p->type, p->precision);
    const char *why = matmul_unsupported_sizes(p, reason);

    if (why)
        return why;
    if (used != TSR_PRECISION_TF32 && used != TSR_PRECISION_BF16 && used != TSR_PRECISION_F16) {
        text_format(reason, "it rounds factors to TF32 or 16 bits, and %s is %s",
                    tsr_type_name(p->type), tsr_precision_name(used));
        return text_get(reason);
    }
    if (tile_m + tile_n > 448)
        return "the sums of a tile of 256 x 256 are more than the registers hold";
    why = matmul_unsupported_local(j, local, reason);
    if (why)
        return why;
    if (MAPS + source_a(p).size + source_b(p).size > (double)j->device->max_allocation) {
        text_format(reason, "what it stages takes more than the %llu bytes of an allocation",
                    (unsigned long long)j->device->max_allocation);
        return text_get(reason);
    }
    return NULL;
}

size_t matmul_tensor_workspace(const job *j)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    return MAPS + source_a(p).bytes + source_b(p).bytes;
}

static void prepare(const tsr_matmul_problem *p, command *out)
{
    const source a = source_a(p), b = source_b(p);

    command_launch_1d(out, TENSOR_PREPARE, size_max(a.pieces + b.pieces, 1) * PREPARE_ITEMS,
                      PREPARE_ITEMS);
    command_u32(out, (uint32_t)p->m);
    command_u32(out, (uint32_t)p->n);
    command_u32(out, (uint32_t)p->k);
    matmul_step_inputs(out, p);
    command_workspace(out);
    command_u64(out, MAPS);
    command_u64(out, MAPS + a.bytes);
    command_u32(out, (uint32_t)a.pitch);
    command_u32(out, (uint32_t)b.pitch);
    command_u32(out, (uint32_t)a.pieces);
}

static void multiply(const job *j, command *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t tiles = size_div_up(p->m, param(j->params, "TILE_M")) *
                         size_div_up(p->n, param(j->params, "TILE_N"));
    const size_t units = size_max(j->device->compute_units, 1);
    const size_t groups = param(j->params, "PERSISTENT") == 1 ? size_min(tiles, units) : tiles;

    command_launch_1d(out, TENSOR_MULTIPLY, groups * ITEMS, ITEMS);
    matmul_step_product(out, p);
    command_workspace(out);
}

bool matmul_tensor_step(const job *j, size_t i, command *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t k = matmul_k_read(p);

    if (p->m == 0 || p->n == 0 || i > (k ? 1 : 0))
        return false;
    if (k && i == 0)
        prepare(p, out);
    else
        multiply(j, out);
    return true;
}
