#include "core/registry.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"

enum { NAMES_MAX = 64 };

problem problem_from(const operation *op, const void *structure, size_t bytes)
{
    problem p = {.op = op};

    assert(bytes <= sizeof(p.bytes));
    memcpy(p.bytes, structure, bytes);
    return p;
}

const operation *operation_at(size_t i)
{
    return i < operation_count ? operations[i] : NULL;
}

const operation *operation_named(const char *name)
{
    for (size_t i = 0; i < operation_count; i++)
        if (!strcmp(operations[i]->name, name))
            return operations[i];
    return NULL;
}

static bool has_word(const char *sentence, const char *word)
{
    return sentence && strstr(sentence, word);
}

const operation *operation_of_file(const char *name, const char *described,
                                   const char *problem_class)
{
    for (size_t i = 0; i < operation_count; i++) {
        const operation_origin *from = &operations[i]->origin;

        if (from->op && !strcmp(from->op, name) &&
            (has_word(described, from->problem) || has_word(problem_class, from->problem_class)))
            return operations[i];
    }
    return operation_named(name);
}

/* TSR_ENAME for `name` among `count` names: "no WHAT 'x' (HEAD a, b, c)". */
static tsr_status unknown_name(const char *what, const char *name, const char *head,
                               const char *const *names, size_t count, tsr_error *err)
{
    const char *closest = text_closest(name, names, count);
    text list = {0};

    for (size_t i = 0; i < count; i++)
        text_format(&list, "%s%s", i ? ", " : " ", names[i]);
    if (closest)
        tsr_fail(err, TSR_ENAME, 0, "no %s '%s': did you mean '%s'? (%s%s)", what, name, closest,
                 head, text_get(&list));
    else
        tsr_fail(err, TSR_ENAME, 0, "no %s '%s' (%s%s)", what, name, head, text_get(&list));
    text_free(&list);
    return TSR_ENAME;
}

tsr_status operation_find(const char *name, const char *taker, const char *also,
                          const operation **out, tsr_error *err)
{
    const char *names[NAMES_MAX];
    char head[64];

    assert(operation_count < NAMES_MAX);
    for (size_t i = 0; i < operation_count; i++) {
        names[i] = operations[i]->name;
        if (strcmp(names[i], name) == 0) {
            *out = operations[i];
            return TSR_OK;
        }
    }
    names[operation_count] = also;
    snprintf(head, sizeof(head), "%s takes", taker);
    return unknown_name("operation", name, head, names, operation_count + (also != NULL), err);
}

/* Whether `name` is one of a list of names with blanks between them. */
static bool lists_name(const char *list, const char *name, size_t length)
{
    for (; list && *list; list += strspn(list, " ")) {
        const size_t n = strcspn(list, " ");

        if (n == length && !memcmp(list, name, n))
            return true;
        list += n;
    }
    return false;
}

tsr_status variant_find(const operation *op, const char *name, const variant **out, tsr_error *err)
{
    const char *names[NAMES_MAX];

    for (size_t i = 0; i < op->variant_count; i++) {
        const variant *v = op->variants[i];

        if (strcmp(v->name, name) == 0 || (v->alias && lists_name(v->alias, name, strlen(name)))) {
            *out = v;
            return TSR_OK;
        }
    }
    for (size_t i = 0; i < op->variant_count; i++)
        names[i] = op->variants[i]->name;
    return unknown_name("kernel", name, "there are", names, op->variant_count, err);
}

problem problem_normal(const problem *p, unsigned order[OPERANDS_MAX])
{
    problem normal = *p;

    for (unsigned i = 0; i < OPERANDS_MAX; i++)
        order[i] = i;
    if (p->op->normalize)
        p->op->normalize(&normal, order);
    return normal;
}

bool variant_is_for(const variant *v, const device_facts *d)
{
    if (v->source)
        return d->kind != DEVICE_HOST;
    return d->kind == DEVICE_HOST || (v->serves_cpus && d->kind == DEVICE_CPU && d->unified_memory);
}

const char *variant_unstated(const variant *v)
{
    /* Sub-groups add up in registers: what they load is stated as that of others. */
    static const unsigned not_counted = 1u << FEATURE_PTX | 1u << FEATURE_ASYNC_COPY |
                                        1u << FEATURE_WGMMA | 1u << FEATURE_TENSOR_COPY;

    if (v->unstated)
        return v->unstated;
    return v->needs & not_counted ? "uses NVIDIA instructions, which no simulator counts" : NULL;
}

params params_default(const variant *v)
{
    params p = {.tunables = v->tunables, .count = v->tunable_count};

    for (size_t i = 0; i < p.count; i++)
        p.value[i] = v->tunables[i].normal;
    return p;
}

static tsr_status unknown_value(const tunable *t, const char *value, tsr_error *err)
{
    text list = {0};

    for (size_t i = 0; i < tunable_values(t); i++)
        text_format(&list, "%s%u", i ? ", " : "", t->values[i]);
    if (t->any)
        text_format(&list, " and others up to %d", TUNABLE_ANY_MAX);
    tsr_fail(err, TSR_ENAME, 0, "%s cannot be '%s' (it takes %s)", t->name, value, text_get(&list));
    text_free(&list);
    return TSR_ENAME;
}

bool tunable_has_name(const tunable *t, const char *name, size_t length)
{
    return (strlen(t->name) == length && !memcmp(t->name, name, length)) ||
           lists_name(t->alias, name, length);
}

static bool tunable_takes(const tunable *t, unsigned long value)
{
    for (size_t i = 0; i < tunable_values(t); i++)
        if (t->values[i] == value)
            return true;
    return t->any && value >= 1 && value <= TUNABLE_ANY_MAX;
}

tsr_status params_set(const variant *v, params *p, const char *assignment, tsr_error *err)
{
    const char *equals = strchr(assignment, '=');
    size_t length = equals ? (size_t)(equals - assignment) : strlen(assignment);
    const char *names[TUNABLES_MAX];
    char name[64];

    if (!equals || length == 0 || length >= sizeof(name))
        return tsr_fail(err, TSR_ENAME, 0, "'%s' is not NAME=VALUE", assignment);
    memcpy(name, assignment, length);
    name[length] = '\0';
    for (size_t i = 0; i < p->count; i++) {
        const tunable *t = &v->tunables[i];
        char *end;
        unsigned long value;

        names[i] = t->name;
        if (!tunable_has_name(t, name, length))
            continue;
        value = strtoul(equals + 1, &end, 10);
        if (end == equals + 1 || *end || !tunable_takes(t, value))
            return unknown_value(t, equals + 1, err);
        p->value[i] = (uint32_t)value;
        return TSR_OK;
    }
    if (p->count == 0)
        return tsr_fail(err, TSR_ENAME, 0, "kernel %s has no tunables, so no '%s'", v->name, name);
    return unknown_name("tunable", name, "there are", names, p->count, err);
}

void params_describe(const params *p, text *out)
{
    for (size_t i = 0; i < p->count; i++)
        text_format(out, "%s%s=%u", i ? " " : "", p->tunables[i].name, p->value[i]);
}

void params_describe_in(const params *p, char *out, size_t size)
{
    text t = {0};

    params_describe(p, &t);
    snprintf(out, size, "%s", text_get(&t));
    text_free(&t);
}

void params_append_fixed(const char *parameters, text *out)
{
    while (*(parameters += strspn(parameters, " "))) {
        const size_t name = strcspn(parameters, "="), whole = strcspn(parameters, " ");

        if (strncmp(parameters + name, "=0", whole - name) != 0)
            text_format(out, " %.*s", (int)whole, parameters);
        parameters += whole;
    }
}

void params_rename(const variant *v, const char *parameters, text *out)
{
    while (*(parameters += strspn(parameters, " "))) {
        const size_t length = strcspn(parameters, "= "), whole = strcspn(parameters, " ");
        size_t i = 0;

        while (i < v->tunable_count && !tunable_has_name(&v->tunables[i], parameters, length))
            i++;
        text_append(out, out->length ? " " : "");
        if (i < v->tunable_count)
            text_append(out, v->tunables[i].name);
        else
            text_format(out, "%.*s", (int)length, parameters);
        text_format(out, "%.*s", (int)(whole - length), parameters + length);
        parameters += whole;
    }
}

const char *variant_unsupported(const variant *v, const job *j, text *reason)
{
    plan made;
    const char *why = plan_make(v, j, &made);

    return plan_take_reason(&made, why, reason);
}

void variant_options(const variant *v, const job *j, text *out)
{
    plan made;

    plan_make(v, j, &made);
    plan_options(v, j->device, &made, out);
    plan_free(&made);
}

void variant_standard(const device_facts *d, text *out)
{
    text_format(out, "CL%u.%u", d->clc_version / 100, d->clc_version / 10 % 10);
}
