/* What the tests of sort's plans share: variants, their parameters and their plans. */
#ifndef UNIT_SORT_PLANS_H
#define UNIT_SORT_PLANS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/registry.h"
#include "ops/sort/sort_order.h"

static inline const variant *find_of(const operation *op, const char *name)
{
    const variant *v = NULL;

    assert_int_equal(variant_find(op, name, &v, NULL), TSR_OK);
    return v;
}

static inline const variant *find(const char *name)
{
    return find_of(&operation_sort, name);
}

/* The variant's parameters with a list of settings, NULL at its end. */
static inline params settings(const variant *v, const char *const *assignments)
{
    params p = params_default(v);

    for (; *assignments; assignments++)
        assert_int_equal(params_set(v, &p, *assignments, NULL), TSR_OK);
    return p;
}

/* The plan, which plan_free frees, of a variant that runs the job. */
static inline plan plan_for(const variant *v, const job *j)
{
    plan out;

    assert_null(plan_make(v, j, &out));
    return out;
}

/* The reason of a variant, or "supported". */
static inline void check_reason_on(const char *name, const device_facts *d, const problem *q,
                                   const char *const *assignments, const char *expected)
{
    const variant *v = find_of(q->op, name);
    const params p = settings(v, assignments);
    const job j = {q, d, &p, false};
    plan out;
    const char *why = plan_make(v, &j, &out);

    assert_string_equal(why ? why : "supported", expected);
    plan_free(&out);
}

/* The value of a tunable, or else of a -D, in decimal, of a variant that runs the job. */
static inline size_t defined(const variant *v, const job *j, const char *name)
{
    plan out = plan_for(v, j);
    text wanted = {0};
    const char *at;
    size_t value = SIZE_MAX;

    for (size_t i = 0; i < out.params.count; i++)
        if (strcmp(out.params.tunables[i].name, name) == 0)
            value = out.params.value[i];
    text_format(&wanted, " -D%s=", name);
    at = strstr(text_get(&out.defines), text_get(&wanted));
    assert_true(at || value != SIZE_MAX);
    if (at)
        value = strtoul(at + strlen(text_get(&wanted)), NULL, 10);
    text_free(&wanted);
    plan_free(&out);
    return value;
}

/* Whether a word stands in the options of the program. */
static inline bool has_option(const variant *v, const job *j, const char *word)
{
    plan out = plan_for(v, j);
    text options = {0}, padded = {0}, wanted = {0};
    bool found;

    plan_options(v, j->device, &out, &options);
    text_format(&padded, " %s ", text_get(&options));
    text_format(&wanted, " %s ", word);
    found = strstr(text_get(&padded), text_get(&wanted)) != NULL;
    text_free(&wanted);
    text_free(&padded);
    text_free(&options);
    plan_free(&out);
    return found;
}

/* All of several words, parted by blanks. */
static inline void check_options(const variant *v, const job *j, const char *words)
{
    char copy[400], *rest = copy;

    assert_true(strlen(words) < sizeof(copy));
    strcpy(copy, words);
    for (char *word = strtok_r(rest, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        if (!has_option(v, j, word))
            fail_msg("%s: no %s", v->name, word);
}

#endif
