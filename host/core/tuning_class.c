#include "core/tuning_class.h"

#include <stdio.h>
#include <string.h>

#include "base/sizes.h"
#include "core/registry.h"
#include "ops/matmul/matmul_shape.h"
#include "ops/matvec/matvec_shape.h"
#include "ops/sort/sort_order.h"

/* "M 1024-2047": problems of a class have from `least` to `most` of a dimension. */
static void append_dimension(const char *name, size_t least, size_t most, text *out)
{
    text_format(out, ", %s %zu", name, least);
    if (most > least)
        text_format(out, "-%zu", most);
}

/* Whether it is a problem, and of the class: the names that classify() gives are the classes. */
static bool is_of(const problem *p, const char *name)
{
    text own = {0};
    bool same;

    if (p->op->check(p, NULL))
        return false;
    p->op->classify(p, &own);
    same = !own.failed && !strcmp(text_get(&own), name);
    text_free(&own);
    return same;
}

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
                if (is_of(&p, name))
                    return true;
            }
        }
    }
    return false;
}

/* "float32 tf32 nn 1024x64x1024": each dimension below twice what is named. */
static bool matmul_text(const char *name, text *out)
{
    static const char *const dimensions[] = {"M", "N", "K"};
    const char *sizes = strrchr(name, ' ');
    size_t least[3];

    if (!sizes || sscanf(sizes, " %zux%zux%zu", &least[0], &least[1], &least[2]) != 3 ||
        !is_matmul_class(name, least))
        return false;
    text_append_bytes(out, name, (size_t)(sizes - name));
    for (size_t i = 0; i < 3; i++)
        append_dimension(dimensions[i], least[i], 2 * least[i] - 1, out);
    return true;
}

/* "float32-n-6x2": rows and columns of A from 4^6 and 4^2 to below 4^7 and 4^3; "float32-x1-n-6x2":
 * and 4 to 15 products. */
static bool matvec_text(const char *name, text *out)
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
        found = is_of(&p, name);
    }
    if (!found)
        return false;
    text_append_bytes(out, name, strcspn(name, "-"));
    text_format(out, " %c", matvec_in(&p)->trans ? 't' : 'n');
    if (matvec_in(&p)->batch)
        append_dimension("products", matvec_in(&p)->batch, ((size_t)4 << 2 * batch) - 1, out);
    append_dimension("rows", matvec_in(&p)->rows, 4 * matvec_in(&p)->rows - 1, out);
    append_dimension("columns", matvec_in(&p)->columns, 4 * matvec_in(&p)->columns - 1, out);
    return true;
}

/* "4-byte argsort below 2^24", "4-byte with 8-byte values below 2^24": from 2^20 on, and the first
 * class from 1 on. */
static bool sort_text(const char *name, text *out)
{
    problem p = {.op = &operation_sort};
    const char *below = strstr(name, " below 2^");
    unsigned exponent;
    bool found = false;

    if (!below || sscanf(below, " below 2^%u", &exponent) != 1 || exponent < 12 || exponent > 64)
        return false;
    sort_in(&p)->n = exponent == 12 ? 1 : (size_t)1 << (exponent - 4);
    for (int i = 0; i < 5 * 16 * TSR_TYPE_COUNT && !found; i++) {
        sort_in(&p)->type = (tsr_type)(i / (5 * 16));
        sort_in(&p)->value_bytes = ((size_t)1 << i / 16 % 5) / 2; /* 0, 1, 2, 4, 8 */
        sort_in(&p)->argsort = i % 2;
        sort_in(&p)->rows = 1 + (size_t)i / 2 % 2;
        sort_in(&p)->top = (size_t)i / 4 % 2;
        sort_in(&p)->segments = (size_t)i / 8 % 2;
        found = is_of(&p, name);
    }
    if (!found)
        return false;
    text_append_bytes(out, name, (size_t)(below - name));
    if (exponent == 12)
        text_append(out, ", 1 to 2^12 - 1 keys");
    else
        text_format(out, ", 2^%u to 2^%u - 1 keys", exponent - 4, exponent);
    return true;
}

void tuning_class_text(const operation *op, const char *name, text *out)
{
    bool read = false;

    if (op == &operation_matmul)
        read = matmul_text(name, out);
    else if (op == &operation_matvec)
        read = matvec_text(name, out);
    else if (op == &operation_sort)
        read = sort_text(name, out);
    if (!read)
        text_append(out, *name ? name : "every class");
}
