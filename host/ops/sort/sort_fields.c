#include "ops/sort/sort_fields.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/sizes.h"
#include "core/tuning_class.h"
#include "ops/sort/sort_commands.h"

void sort_class_of_keys(const tsr_sort_problem *s, const char *word, size_t length, text *out)
{
    unsigned exponent = 12;

    while (exponent < 64 && length >> exponent)
        exponent += 4;
    text_format(out, "%zu-byte", tsr_type_size(s->type));
    if (sort_values_go_along(s))
        text_format(out, " with %zu-byte values", s->value_bytes);
    else if (sort_with_index(s))
        text_append(out, " argsort");
    text_format(out, "%s%s below 2^%u", sort_rows(s) > 1 ? " rows" : "", word, exponent);
}

/* "4-byte argsort below 2^24", "4-byte with 8-byte values below 2^24": from 2^20 on, and the first
 * class from 1 on. */
bool sort_class_of_keys_text(problem *p, const char *name, text *out)
{
    const char *below = strstr(name, " below 2^");
    unsigned exponent;
    bool found = false;

    if (!below || sscanf(below, " below 2^%u", &exponent) != 1 || exponent < 12 || exponent > 64)
        return false;
    sort_in(p)->n = exponent == 12 ? 1 : (size_t)1 << (exponent - 4);
    for (int i = 0; i < 5 * 4 * TSR_TYPE_COUNT && !found; i++) {
        sort_in(p)->type = (tsr_type)(i / (5 * 4));
        sort_in(p)->value_bytes = ((size_t)1 << i / 4 % 5) / 2; /* 0, 1, 2, 4, 8 */
        sort_in(p)->argsort = i % 2;
        sort_in(p)->rows = 1 + (size_t)i / 2 % 2;
        found = tuning_class_is(p, name);
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

bool sort_class_text(const char *name, text *out)
{
    problem p = {.op = &operation_sort};

    return sort_class_of_keys_text(&p, name, out);
}

/* Rows by their number and length. */
void sort_size_text(const problem *p, text *out)
{
    const tsr_sort_problem *s = sort_of(p);

    if (s->rows > 1)
        text_format(out, "%zux%zu", s->rows, s->n);
    else
        text_format(out, "%zu", s->n);
}

void sort_shrink(problem *p)
{
    sort_in(p)->n /= 64;
}
