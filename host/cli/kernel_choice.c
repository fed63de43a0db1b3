#include "cli/kernel_choice.h"

#include <stddef.h>

#include "base/fail.h"
#include "ops/registry.h"

tsr_status kernel_choice(const operation *op, const char *name, const options *o,
                         const variant **found, params *chosen, tsr_error *err)
{
    const variant *v = NULL;
    params p = {0};
    tsr_status st = TSR_OK;

    if (!name && o->set_count)
        return tsr_fail(err, TSR_ENAME, 0, "--set %s needs a variant, whose tunable it is",
                        o->set[0]);
    if (name)
        st = variant_find(op, name, &v, err);
    if (!st && v)
        p = params_default(v);
    for (size_t i = 0; !st && i < o->set_count; i++)
        st = params_set(v, &p, o->set[i], err);
    if (st)
        return st;
    if (found)
        *found = v;
    if (chosen)
        *chosen = p;
    return TSR_OK;
}
