#include "measure/tune_space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "core/registry.h"

/* Whether a restriction's list has a value. */
static bool lists(const char *list, uint32_t value)
{
    for (; *list; list += *list == ',') {
        size_t length = strcspn(list, ",");
        char *end;

        if (strtoul(list, &end, 10) == value && end == list + length)
            return true;
        list += length;
    }
    return false;
}

/* Every element of the list is a value that the tunable takes. */
static tsr_status check_list(const variant *v, const char *set, tsr_error *err)
{
    const int name_length = (int)strcspn(set, "=");
    const char *list = set + name_length + (set[name_length] == '=');
    params p = params_default(v);
    tsr_status st = TSR_OK;

    do {
        size_t length = strcspn(list, ",");
        char one[128];

        snprintf(one, sizeof(one), "%.*s=%.*s", name_length, set, (int)length, list);
        st = params_set(v, &p, one, err);
        list += length;
    } while (st == TSR_OK && *list++);
    return st;
}

/* Whether tunable t may take a value. */
static bool takes(const tune_space *space, size_t t, uint32_t value)
{
    for (size_t k = 0; k < space->count[t]; k++)
        if (space->value[t][k] == value)
            return true;
    return false;
}

/* Take out of tunable i what a restriction on it leaves out, and add what it names beyond the
 * values of a tunable that takes any. */
static tsr_status restrict_to(const char *list, size_t i, tune_space *space, tsr_error *err)
{
    const tunable *t = &space->variant->tunables[i];
    size_t n = 0;

    for (size_t k = 0; k < space->count[i]; k++)
        if (lists(list, space->value[i][k]))
            space->value[i][n++] = space->value[i][k];
    space->count[i] = n;
    for (; t->any && *list; list += *list == ',') {
        const uint32_t value = (uint32_t)strtoul(list, NULL, 10);

        if (!takes(space, i, value)) {
            if (space->count[i] == TUNABLE_VALUES_MAX)
                return tsr_fail(err, TSR_ENAME, 0, "%s is given more than %d values", t->name,
                                TUNABLE_VALUES_MAX);
            space->value[i][space->count[i]++] = value;
        }
        list += strcspn(list, ",");
    }
    return TSR_OK;
}

tsr_status tune_space_make(const variant *v, const char *const *set, size_t set_count,
                           tune_space *out, tsr_error *err)
{
    tune_space space = {.variant = v, .total = 1};
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < v->tunable_count; i++) {
        while (space.count[i] < tunable_values(&v->tunables[i])) {
            space.value[i][space.count[i]] = v->tunables[i].values[space.count[i]];
            space.count[i]++;
        }
        for (size_t k = 0; k < set_count && st == TSR_OK; k++) {
            const size_t length = strcspn(set[k], "=");

            if (!set[k][length] || !tunable_has_name(&v->tunables[i], set[k], length))
                continue;
            st = check_list(v, set[k], err);
            if (st == TSR_OK)
                st = restrict_to(set[k] + length + 1, i, &space, err);
        }
        if (!size_mul(space.total, space.count[i], &space.total))
            space.total = SIZE_MAX;
    }
    if (st == TSR_OK)
        *out = space;
    return st;
}

void tune_space_at(const tune_space *space, size_t i, params *out)
{
    *out = params_default(space->variant);
    for (size_t t = 0; t < out->count; t++) {
        out->value[t] = space->value[t][i % space->count[t]];
        i /= space->count[t];
    }
}

void tune_space_usual(const tune_space *space, params *out)
{
    *out = params_default(space->variant);
    for (size_t t = 0; t < out->count; t++)
        if (!takes(space, t, out->value[t]))
            out->value[t] = space->value[t][0];
}

bool tune_space_has(const tune_space *space, const variant *v, const params *p)
{
    for (size_t t = 0; space->variant == v && t < p->count; t++)
        if (!takes(space, t, p->value[t]))
            return false;
    return space->variant == v;
}
