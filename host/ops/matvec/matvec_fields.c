#include "ops/matvec/matvec_descriptor.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/sizes.h"
#include "core/tuning_class.h"
#include "ops/matvec/matvec_shape.h"

size_t matvec_products(const problem *p)
{
    return matvec_batch(matvec_of(p));
}

product_view matvec_product_view(const problem *batch, size_t e)
{
    const tsr_matvec_problem p = matvec_product(matvec_of(batch), e);
    const matvec_view v = matvec_view_of(&p);

    return (product_view){.type = p.type,
                          .result = matvec_type_y(&p),
                          .rows = v.rows,
                          .columns = 1,
                          .depth = v.columns,
                          .left = p.offset_a,
                          .left_row = v.row_step,
                          .left_step = v.column_step,
                          .right = p.offset_x,
                          .right_step = matvec_incx(&p),
                          .to = p.offset_y,
                          .to_row = matvec_incy(&p)};
}
