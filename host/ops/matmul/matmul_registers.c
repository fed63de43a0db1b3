#include "ops/matmul/matmul_registers.h"

#include "ops/matmul/matmul_shape.h"
#include "ops/matmul/matmul_steps.h"

/* Registers twice as wide come with twice as many of them (AVX-512 has 32, AVX2 16).  ROWS *
 * VECTORS sums of 512 bits, VECTORS vectors of B and one of A: 19 of the one kind; of the other,
 * two registers each, 16. */
enum { WIDE_BITS = 512, WIDE_ROWS = 8, WIDE_VECTORS = 2, NARROW_ROWS = 6, NARROW_VECTORS = 1 };

static bool is_wide(const job *j)
{
    return j->device->vector_bits >= WIDE_BITS;
}

size_t matmul_registers_rows(const job *j)
{
    const uint32_t rows = param(j->params, "ROWS");

    return rows ? rows : is_wide(j) ? WIDE_ROWS : NARROW_ROWS;
}

static size_t vectors(const job *j)
{
    const uint32_t count = param(j->params, "VECTORS");

    return count ? count : is_wide(j) ? WIDE_VECTORS : NARROW_VECTORS;
}

size_t matmul_registers_columns(const job *j)
{
    return vectors(j) * param(j->params, "BITS") / 8 / matmul_real_size(matmul_of(j->problem));
}

void matmul_registers_defines(const job *j, text *out)
{
    matmul_defines_rounding(matmul_of(j->problem), out);
    if (!param(j->params, "ROWS"))
        text_format(out, " -DROWS=%zu", matmul_registers_rows(j));
    if (!param(j->params, "VECTORS"))
        text_format(out, " -DVECTORS=%zu", vectors(j));
}
