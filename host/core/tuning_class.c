#include "core/tuning_class.h"

#include <stdio.h>
#include <string.h>

#include "base/sizes.h"
#include "core/registry.h"

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
    problem p = {.op = &operation_matmul,
                 .matmul = {.m = least[0], .n = least[1], .k = least[2], .alpha = 1}};

    for (int type = 0; type < TSR_TYPE_COUNT; type++) {
        for (int precision = 0; precision < TSR_PRECISION_COUNT; precision++) {
            for (int trans = 0; trans < 4; trans++) {
                p.matmul.type = (tsr_type)type;
                p.matmul.precision = (tsr_precision)precision;
                p.matmul.trans_a = trans / 2;
                p.matmul.trans_b = trans % 2;
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
    problem p = {.op = &operation_matvec, .matvec = {.alpha = 1}};
    const char *sizes = strrchr(name, '-'), *times = strstr(name, "-x");
    unsigned rows, columns, batch = 0;
    bool found = false;

    if (!sizes || sscanf(sizes, "-%ux%u", &rows, &columns) != 2 || rows > 30 || columns > 30)
        return false;
    p.matvec.rows = (size_t)1 << 2 * rows;
    p.matvec.columns = (size_t)1 << 2 * columns;
    if (times && sscanf(times, "-x%u-", &batch) == 1 && batch <= 20)
        p.matvec.batch = size_max((size_t)1 << 2 * batch, 2);
    p.matvec.stride_y = size_max(p.matvec.rows, p.matvec.columns);
    for (int i = 0; i < 4 * TSR_TYPE_COUNT && !found; i++) {
        p.matvec.type = (tsr_type)(i / 4);
        p.matvec.trans = i % 2;
        p.matvec.y_f32 = i / 2 % 2;
        found = is_of(&p, name);
    }
    if (!found)
        return false;
    text_append_bytes(out, name, strcspn(name, "-"));
    text_format(out, " %c", p.matvec.trans ? 't' : 'n');
    if (p.matvec.batch)
        append_dimension("products", p.matvec.batch, ((size_t)4 << 2 * batch) - 1, out);
    append_dimension("rows", p.matvec.rows, 4 * p.matvec.rows - 1, out);
    append_dimension("columns", p.matvec.columns, 4 * p.matvec.columns - 1, out);
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
    p.sort.n = exponent == 12 ? 1 : (size_t)1 << (exponent - 4);
    for (int i = 0; i < 5 * 16 * TSR_TYPE_COUNT && !found; i++) {
        p.sort.type = (tsr_type)(i / (5 * 16));
        p.sort.value_bytes = ((size_t)1 << i / 16 % 5) / 2; /* 0, 1, 2, 4, 8 */
        p.sort.argsort = i % 2;
        p.sort.rows = 1 + (size_t)i / 2 % 2;
        p.sort.top = (size_t)i / 4 % 2;
        p.sort.segments = (size_t)i / 8 % 2;
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
