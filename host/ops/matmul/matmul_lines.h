/** Where blocks of a product's matrices lie on the host, as lines to be copied. */
#ifndef OPS_MATMUL_LINES_H
#define OPS_MATMUL_LINES_H

#include "ops/matmul/matmul_shape.h"
#include "stream/copies.h"

static inline host_rows matmul_rows_at(const void *array, size_t index, matmul_lines lines,
                                       size_t ld, size_t size)
{
    host_rows r = host_bytes((const unsigned char *)array + index * size, lines.length * size);

    r.count = lines.count;
    r.pitch = ld * size;
    return r;
}

/** m rows from i on, and k columns from q on, of op(A), as they are stored. */
static inline host_rows matmul_rows_a(const tsr_matmul_problem *p, const void *a, size_t i,
                                      size_t m, size_t q, size_t k)
{
    return matmul_rows_at(a, matmul_index_a(p, i, q), matmul_lines_of(m, k, matmul_turned_a(p)),
                          matmul_ld_a(p), tsr_type_size(p->type));
}

/** k rows from q on, and n columns from j on, of op(B). */
static inline host_rows matmul_rows_b(const tsr_matmul_problem *p, const void *b, size_t q,
                                      size_t k, size_t j, size_t n)
{
    return matmul_rows_at(b, matmul_index_b(p, q, j), matmul_lines_of(k, n, matmul_turned_b(p)),
                          matmul_ld_b(p), tsr_type_size(p->type));
}

/** m rows from i on, and n columns from j on, of C. */
static inline host_rows matmul_rows_c(const tsr_matmul_problem *p, const void *c, size_t i,
                                      size_t m, size_t j, size_t n)
{
    return matmul_rows_at(c, matmul_index_c(p, i, j), matmul_lines_of(m, n, matmul_turned_c(p)),
                          matmul_ld_c(p), tsr_type_size(matmul_type_c(p)));
}

#endif
