#include "ops/matmul/matmul_fields.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/sizes.h"
#include "core/tuning_class.h"
#include "ops/matmul/matmul_shape.h"

/* Whether a product of m x n x k is of the class, in any type, precision and transposition. */
static bool is_matmul_class(const char *name, const size_t least[3])
{
    problem p = matmul_problem(
        (tsr_matmul_problem){.m = least[0], .n = least[1], .k = least[2], .alpha = 1});

    for (int type = 0; type < TSR_TYPE_COUNT; type++) {
        for (int precision = 0; precision < TSR_PRECISION_COUNT; precision++) {
            for (int trans = 0; trans < 4; trans++) {
                matmul_in(&p)->type = (tsr_type)type;
                matmul_in(&p)->precision = (tsr_precision)precision;
                matmul_in(&p)->trans_a = trans / 2;
                matmul_in(&p)->trans_b = trans % 2;
                if (class_is(&p, name))
                    return true;
            }
        }
    }
    return false;
}

/* "float32 tf32 nn 1024x64x1024": each dimension below twice what is named. */
bool matmul_class_text(const char *name, text *out)
{
    static const char *const dimensions[] = {"M", "N", "K"};
    const char *sizes = strrchr(name, ' ');
    size_t least[3];

    if (!sizes || sscanf(sizes, " %zux%zux%zu", &least[0], &least[1], &least[2]) != 3 ||
        !is_matmul_class(name, least))
        return false;
    text_append_bytes(out, name, (size_t)(sizes - name));
    for (size_t i = 0; i < 3; i++)
        class_dimension(dimensions[i], least[i], 2 * least[i] - 1, out);
    return true;
}

void matmul_size_text(const problem *p, text *out)
{
    text_format(out, "%zux%zux%zu", matmul_of(p)->m, matmul_of(p)->n, matmul_of(p)->k);
}

void matmul_shrink(problem *p)
{
    tsr_matmul_problem *q = matmul_in(p);

    q->m = q->m > 4 ? q->m / 4 : q->m;
    q->n = q->n > 4 ? q->n / 4 : q->n;
    q->k = q->k > 4 ? q->k / 4 : q->k;
    q->lda = q->ldb = q->ldc = 0;
}

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
