/** What the variants with a block of C in registers share: cl/matmul/matmul_registers.clh. */
#ifndef OPS_MATMUL_REGISTERS_H
#define OPS_MATMUL_REGISTERS_H

#include "core/variant.h"

/** Rows of the block: ROWS, or what the device's registers hold where that is 0. */
size_t matmul_registers_rows(const job *j);

/** Columns of the block: those of VECTORS vectors of BITS, alike. */
size_t matmul_registers_columns(const job *j);

/** -Ds of the operands, and of ROWS and VECTORS where they are 0. */
void matmul_registers_defines(const job *j, text *out);

#endif
