/** What the tests of matmul's plans share. */
#ifndef MATMUL_PLANS_H
#define MATMUL_PLANS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/registry.h"
#include "ops/matmul/matmul_shape.h"

static inline problem product(size_t m, size_t n, size_t k)
{
    return matmul_problem((tsr_matmul_problem){.m = m, .n = n, .k = k, .alpha = 1});
}

static inline const variant *find(const char *name)
{
    const variant *v = NULL;

    assert_int_equal(variant_find(&operation_matmul, name, &v, NULL), TSR_OK);
    return v;
}

/** The defaults but for `set`: "TILE_M=64 SPLIT=2", or NULL. */
static inline params params_with(const variant *v, const char *set)
{
    params p = params_default(v);
    char words[256], *rest = NULL;

    snprintf(words, sizeof(words), "%s", set ? set : "");
    for (char *w = strtok_r(words, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
        assert_int_equal(params_set(v, &p, w, NULL), TSR_OK);
    return p;
}

/** The plan of a variant that supports the problem; the caller frees it. */
static inline plan plan_of(const char *name, const char *set, const problem *p,
                           const device_facts *d)
{
    const variant *v = find(name);
    const params chosen = params_with(v, set);
    plan out;
    const char *why = plan_make(v, &(job){p, d, &chosen, false}, &out);

    if (why)
        fail_msg("%s: %s", name, why);
    return out;
}

/** That each word of `wanted`, "ALIGNED_A=1 SPLITS=0", is a -D of the build, or a flag. */
static inline void expect_options(const plan *x, const char *name, const device_facts *d,
                                  const char *wanted)
{
    char words[256], word[80], *rest = NULL;
    text options = {0};

    plan_options(find(name), d, x, &options);
    text_append(&options, " ");
    snprintf(words, sizeof(words), "%s", wanted);
    for (char *w = strtok_r(words, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
        snprintf(word, sizeof(word), *w == '-' ? " %s " : " -D%s ", w);
        if (!strstr(text_get(&options), word))
            fail_msg("%s: no%s in%s", name, word, text_get(&options));
    }
    text_free(&options);
}

/** Why a variant does not support the problem contains both parts; NULL: it does support it. */
static inline void expect_reason(const char *name, const char *set, const problem *p,
                                 const device_facts *d, const char *part1, const char *part2)
{
    const variant *v = find(name);
    const params chosen = params_with(v, set);
    plan out;
    const char *why = plan_make(v, &(job){p, d, &chosen, false}, &out);

    if (part1 ? !why || !strstr(why, part1) || (part2 && !strstr(why, part2)) : why != NULL)
        fail_msg("%s: '%s' does not say '%s' and '%s'", name, why ? why : "supported",
                 part1 ? part1 : "supported", part2 ? part2 : "");
    plan_free(&out);
}

static inline bool supports(const char *name, const problem *p, const device_facts *d)
{
    const variant *v = find(name);
    const params chosen = params_default(v);
    plan out;
    const bool supported = !plan_make(v, &(job){p, d, &chosen, false}, &out);

    plan_free(&out);
    return supported;
}

#endif
