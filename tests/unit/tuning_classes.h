#ifndef TESTS_UNIT_TUNING_CLASSES_H
#define TESTS_UNIT_TUNING_CLASSES_H

#include "core/tuning_class.h"

/* What `kernels` and the tuner say of the class of a problem. */
static inline void expect_class(const problem *p, const char *holds)
{
    text name = {0}, got = {0};

    tuning_class(p, &name);
    tuning_class_text(p->op, text_get(&name), &got);
    assert_string_equal(text_get(&got), holds);
    text_free(&name);
    text_free(&got);
}

#endif
