#include "ops/matmul/matmul_descriptor.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/sizes.h"
#include "core/tuning_class.h"
#include "ops/matmul/matmul_shape.h"

size_t matmul_products(const problem *p)
{
    return matmul_batch(matmul_of(p));
}

product_view matmul_product_view(const problem *batch, size_t e)
{
    const tsr_matmul_problem p = matmul_product(matmul_of(batch), e);
    product_view x = {.type = p.type,
                      .result = matmul_type_c(&p),
                      .rows = p.m,
                      .columns = p.n,
                      .depth = p.k,
                      .left = matmul_index_a(&p, 0, 0),
                      .right = matmul_index_b(&p, 0, 0),
                      .to = matmul_index_c(&p, 0, 0)};

    x.left_row = matmul_index_a(&p, 1, 0) - x.left;
    x.left_step = matmul_index_a(&p, 0, 1) - x.left;
    x.right_column = matmul_index_b(&p, 0, 1) - x.right;
    x.right_step = matmul_index_b(&p, 1, 0) - x.right;
    x.to_row = matmul_index_c(&p, 1, 0) - x.to;
    x.to_column = matmul_index_c(&p, 0, 1) - x.to;
    return x;
}
