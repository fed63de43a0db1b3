#include "ops/tuning_class.h"

#include <stdio.h>
#include <string.h>

#include "ops/registry.h"

/* "M 1024-2047": problems of a class have from `least` to `most` of a dimension. */
static void append_dimension(const char *name, size_t least, size_t most, text *out)
{
    text_format(out, ", %s %zu", name, least);
    if (most > least)
        text_format(out, "-%zu", most);
}

/* "float32 tf32 nn 1024x64x1024": each dimension below twice what is named. */
static bool matmul_text(const char *name, text *out)
{
    static const char *const dimensions[] = {"M", "N", "K"};
    const char *sizes = strrchr(name, ' ');
    size_t least[3];
    int end = 0;

    if (!sizes || sscanf(sizes, " %zux%zux%zu%n", &least[0], &least[1], &least[2], &end) != 3 ||
        sizes[end])
        return false;
    text_append_bytes(out, name, (size_t)(sizes - name));
    for (size_t i = 0; i < 3; i++)
        append_dimension(dimensions[i], least[i], 2 * least[i] - 1, out);
    return true;
}

/* "float32-n-6x2": rows and columns of op(A) from 4^6 and 4^2 to below 4^7 and 4^3. */
static bool matvec_text(const char *name, text *out)
{
    static const char *const dimensions[] = {"rows", "columns"};
    char type[16], trans;
    unsigned exponent[2];
    int end = 0;

    if (sscanf(name, "%15[^-]-%c-%ux%u%n", type, &trans, &exponent[0], &exponent[1], &end) != 4 ||
        name[end] || exponent[0] > 30 || exponent[1] > 30)
        return false;
    text_format(out, "%s %c", type, trans);
    for (size_t i = 0; i < 2; i++)
        append_dimension(dimensions[i], (size_t)1 << 2 * exponent[i],
                         ((size_t)4 << 2 * exponent[i]) - 1, out);
    return true;
}

/* "4-byte argsort below 2^24": from 2^20 on, and the first class from 1 on. */
static bool sort_text(const char *name, text *out)
{
    const char *below = strstr(name, " below 2^");
    unsigned exponent;
    int end = 0;

    if (!below || sscanf(below, " below 2^%u%n", &exponent, &end) != 1 || below[end] ||
        exponent < 12)
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
