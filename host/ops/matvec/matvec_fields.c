#include "ops/matvec/matvec_fields.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/sizes.h"
#include "core/tuning_class.h"
#include "ops/matvec/matvec_shape.h"

/* "float32-n-6x2": rows and columns of A from 4^6 and 4^2 to below 4^7 and 4^3; "float32-x1-n-6x2":
 * and 4 to 15 products. */
bool matvec_class_text(const char *name, text *out)
{
    problem p = matvec_problem((tsr_matvec_problem){.alpha = 1});
    const char *sizes = strrchr(name, '-'), *times = strstr(name, "-x");
    unsigned rows, columns, batch = 0;
    bool found = false;

    if (!sizes || sscanf(sizes, "-%ux%u", &rows, &columns) != 2 || rows > 30 || columns > 30)
        return false;
    matvec_in(&p)->rows = (size_t)1 << 2 * rows;
    matvec_in(&p)->columns = (size_t)1 << 2 * columns;
    if (times && sscanf(times, "-x%u-", &batch) == 1 && batch <= 20)
        matvec_in(&p)->batch = size_max((size_t)1 << 2 * batch, 2);
    matvec_in(&p)->stride_y = size_max(matvec_in(&p)->rows, matvec_in(&p)->columns);
    for (int i = 0; i < 4 * TSR_TYPE_COUNT && !found; i++) {
        matvec_in(&p)->type = (tsr_type)(i / 4);
        matvec_in(&p)->trans = i % 2;
        matvec_in(&p)->y_f32 = i / 2 % 2;
        found = class_is(&p, name);
    }
    if (!found)
        return false;
    text_append_bytes(out, name, strcspn(name, "-"));
    text_format(out, " %c", matvec_in(&p)->trans ? 't' : 'n');
    if (matvec_in(&p)->batch)
        class_dimension("products", matvec_in(&p)->batch, ((size_t)4 << 2 * batch) - 1, out);
    class_dimension("rows", matvec_in(&p)->rows, 4 * matvec_in(&p)->rows - 1, out);
    class_dimension("columns", matvec_in(&p)->columns, 4 * matvec_in(&p)->columns - 1, out);
    return true;
}

void matvec_size_text(const problem *p, text *out)
{
    text_format(out, "%zux%zu", matvec_of(p)->rows, matvec_of(p)->columns);
}

void matvec_shrink(problem *p)
{
    tsr_matvec_problem *q = matvec_in(p);

    q->rows = q->rows > 8 ? q->rows / 8 : q->rows;
    q->columns = q->columns > 8 ? q->columns / 8 : q->columns;
    q->lda = 0;
}

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
