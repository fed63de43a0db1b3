#include "core/tuning_class.h"

#include <string.h>

void class_dimension(const char *name, size_t least, size_t most, text *out)
{
    text_format(out, ", %s %zu", name, least);
    if (most > least)
        text_format(out, "-%zu", most);
}

bool class_is(const problem *p, const char *name)
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

void tuning_class_text(const operation *op, const char *name, text *out)
{
    if (!op->class_text || !op->class_text(name, out))
        text_append(out, *name ? name : "every class");
}
