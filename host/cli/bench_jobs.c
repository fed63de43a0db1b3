#include "cli/bench_jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "cli/bench_problem.h"
#include "cli/operands.h"
#include "core/registry.h"

enum { SETTINGS_MAX = 10000 };

/* Every setting so far, with each value of one more list "NAME=V1,V2". */
static tsr_status multiply(bench_jobs *j, const char *list, char **at, tsr_error *err)
{
    const char *equals = strchr(list, '='), *value = equals + 1;
    const int name = (int)(equals - list);
    size_t values = 1, n = 0;
    bench_setting *more;

    for (const char *c = value; *c; c++)
        values += *c == ',';
    if (j->setting_count * values > SETTINGS_MAX)
        return tsr_fail(err, TSR_ENAME, 0, "--set asks for more than %d settings", SETTINGS_MAX);
    more = calloc(j->setting_count * values, sizeof(*more));
    if (!more)
        return tsr_fail(err, TSR_ENOMEM, 0, "out of memory");
    for (size_t v = 0; v < values; v++) {
        const int length = (int)strcspn(value, ",");
        const char *assignment = *at;

        *at += sprintf(*at, "%.*s=%.*s", name, list, length, value) + 1;
        value += length + 1;
        for (size_t i = 0; i < j->setting_count; i++) {
            more[n] = j->settings[i];
            more[n].set[more[n].count++] = assignment;
            n++;
        }
    }
    free(j->settings);
    j->settings = more;
    j->setting_count = n;
    return TSR_OK;
}

static tsr_status read_settings(const options *o, bench_jobs *j, tsr_error *err)
{
    size_t bytes = 1;
    tsr_status st = TSR_OK;
    char *at;

    if (o->set_count > TUNABLES_MAX)
        return tsr_fail(err, TSR_ENAME, 0,
                        "--set is given %zu times, and no kernel has more than "
                        "%d tunables",
                        o->set_count, TUNABLES_MAX);
    /* Each value of a list gets the name before it again. */
    for (size_t i = 0; i < o->set_count; i++)
        bytes += (strlen(o->set[i]) + 2) * (strlen(o->set[i]) + 2);
    j->texts = at = calloc(bytes, 1);
    j->settings = calloc(1, sizeof(*j->settings));
    if (!j->texts || !j->settings)
        return tsr_fail(err, TSR_ENOMEM, 0, "out of memory");
    j->setting_count = 1;
    for (size_t i = 0; i < o->set_count && !st; i++)
        st = multiply(j, o->set[i], &at, err);
    return st;
}

/* Every name and value exists, before any device is opened. */
static tsr_status check_settings(const options *o, const bench_jobs *j, tsr_error *err)
{
    const char *name = o->value[OPTION_KERNEL];
    const variant *v = NULL;
    tsr_status st = TSR_OK;

    if (o->set_count && (!name || j->all))
        return tsr_fail(err, TSR_ENAME, 0, "--set %s needs a variant, whose tunable it is",
                        o->set[0]);
    if (name && !j->all)
        st = variant_find(j->op, name, &v, err);
    for (size_t i = 0; v && i < j->setting_count; i++) {
        params p = params_default(v);

        for (size_t k = 0; k < j->settings[i].count && !st; k++)
            st = params_set(v, &p, j->settings[i].set[k], err);
    }
    return st;
}

tsr_status bench_jobs_read(const options *o, bench_jobs *out, tsr_error *err)
{
    const char *name = o->value[OPTION_KERNEL];
    const size_t count = o->size_count ? o->size_count : 1;
    tsr_status st;

    *out = (bench_jobs){.all = name && !strcmp(name, "all")};
    /* No job of a file is overlap. */
    st = operation_asked(o, o->operand[0], o->given[OPTION_JOBS] ? NULL : "overlap", &out->op, err);
    if (st)
        return st;
    out->problems = calloc(count, sizeof(*out->problems));
    if (!out->problems)
        return tsr_fail(err, TSR_ENOMEM, 0, "out of memory");
    for (; out->problem_count < count && !st; out->problem_count++)
        st = bench_problem(out->op, o->size_count ? o->size[out->problem_count] : NULL, o,
                           &out->problems[out->problem_count], err);
    st = st ? st : read_settings(o, out, err);
    return st ? st : check_settings(o, out, err);
}

void bench_jobs_free(bench_jobs *j)
{
    free(j->problems);
    free(j->settings);
    free(j->texts);
    *j = (bench_jobs){0};
}

bool bench_jobs_variant(const bench_jobs *j, const options *o, bool on_host, size_t i,
                        const char **out)
{
    if (!j->all) {
        *out = o->value[OPTION_KERNEL];
        return i == 0;
    }
    for (size_t k = 0; k < j->op->variant_count; k++) {
        if (!j->op->variants[k]->source != on_host || i-- > 0)
            continue;
        *out = j->op->variants[k]->name;
        return true;
    }
    return false;
}

size_t bench_jobs_count(const bench_jobs *j, const options *o, bool on_host)
{
    const char *name;
    size_t n = 0;

    while (bench_jobs_variant(j, o, on_host, n, &name))
        n++;
    return n * j->problem_count * j->setting_count;
}
