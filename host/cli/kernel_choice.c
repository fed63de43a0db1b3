#include "cli/kernel_choice.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "core/registry.h"

/* As params_set; a name in the wrong case gets the right one. */
static tsr_status set_tunable(const variant *v, params *p, const char *assignment, tsr_error *err)
{
    size_t length = strcspn(assignment, "=");

    for (size_t i = 0; i < v->tunable_count; i++) {
        const char *name = v->tunables[i].name;

        if (strlen(name) == length && !strncasecmp(name, assignment, length) &&
            strncmp(name, assignment, length) != 0)
            return tsr_fail(err, TSR_ENAME, 0, "no tunable '%.*s': did you mean '%s'?", (int)length,
                            assignment, name);
    }
    return params_set(v, p, assignment, err);
}

tsr_status kernel_choice(const operation *op, const char *name, const options *o,
                         const variant **found, params *chosen, tsr_error *err)
{
    const variant *v = NULL;
    params p = {0};
    tsr_status st = TSR_OK;

    if (!name && o->set_count && !strcmp(o->command, "kernels"))
        return tsr_fail(err, TSR_ENAME, 0, "--set %s needs OP and VARIANT, whose tunable it is",
                        o->set[0]);
    if (!name && o->set_count)
        return tsr_fail(err, TSR_ENAME, 0, "--set %s needs --kernel V, whose tunable it is",
                        o->set[0]);
    if (name)
        st = variant_find(op, name, &v, err);
    if (!st && v)
        p = params_default(v);
    for (size_t i = 0; !st && v && i < o->set_count; i++)
        st = set_tunable(v, &p, o->set[i], err);
    if (st)
        return st;
    if (found)
        *found = v;
    if (chosen)
        *chosen = p;
    return TSR_OK;
}
