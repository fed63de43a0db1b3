/* Kernels that record what they do: what their text becomes, and that no text is too broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "measure/lesson_source.h"

static const char kernel[] =
    "#line 1 \"op/op_idea.cl\"\n"
    "typedef atomic_uint word;\n"
    "#define CELLS __global const float *x, __global float *y\n"
    "static inline float twice(__local const float *p, uint i)\n"
    "{\n"
    "    return p[i] * 2;\n"
    "}\n"
    "__kernel void op_idea(CELLS, __global word *state, uint n)\n"
    "{\n"
    "    __local float tile[4][4];\n"
    "    float sum = 0;\n"
    "    for (uint k = 0; k < n; k++)\n"
    "        sum += x[k] * twice(tile[0], k);\n"
    "    tile[1][n] += \"]\"[0];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (uint k = 0; k < n; k++) {\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    }\n"
    "    y[n]++; /* y[1] = 2; */\n"
    "    atomic_store_explicit(&state[1], 7u, memory_order_relaxed, memory_scope_device);\n"
    "    y[0] = x[(uint)y[1]];\n"
    "}\n";

static recorded_source traced(const char *source, const lesson_wanted *wanted)
{
    recorded_source out = {0};

    assert_int_equal(lesson_source(source, wanted, &out, NULL), TSR_OK);
    return out;
}

static void assert_has(const recorded_source *t, const char *part)
{
    if (!strstr(text_get(&t->text), part))
        fail_msg("no '%s' in\n%s", part, text_get(&t->text));
}

static void test_accesses(void **state)
{
    const lesson_wanted wanted = {.watched = {{"sum", "float"}}, .watched_count = 1};
    recorded_source t = traced(kernel, &wanted);

    (void)state;
    assert_has(&t, "float twice(__global uint *trace, __local const float *p, uint i)");
    assert_has(&t, "twice(trace, tile[0], k)");
    assert_has(&t, "uint n, __global uint *trace)");
    assert_has(&t, "lesson_event(trace, 0x50000007u, (ulong)x, lesson_number, 0);");
    assert_has(&t, "lesson_event(trace, 0x50000007u, (ulong)y, lesson_number, 0);");
    assert_has(&t, "sum = lesson_set_float(trace,");
    assert_has(&t, "lesson_goes_on() && ( k < n)");
    assert_has(&t, "for (uint k = 0; k < n; k++) {"); /* the loop with a barrier */
    assert_has(&t, "lesson_store_local_float(trace,");
    assert_has(&t, "y[1] = 2;"); /* a comment */
    assert_null(strstr(text_get(&t.text), "lesson_load_global_word"));
    assert_int_equal(t.local_count, 1);
    assert_string_equal(t.locals[0].name, "tile");
    assert_int_equal(t.locals[0].line, 9);
    assert_string_equal(t.file[0], "op/op_idea.cl");
    assert_true(strstr(text_get(&t.lines[0]), "y[0] = x[(uint)y[1]];\n") != NULL);
    recorded_source_free(&t);
}

/* What only some builds have stands under its condition; arguments are counted as they run. */
static void test_conditions_and_atomics(void **state)
{
    static const char source[] = "#line 1 \"op/op_idea.cl\"\n"
                                 "__kernel void op_idea(__global float4 *x,\n"
                                 "#if WEIGHTS\n"
                                 "    __global const WEIGHT *weights,\n"
                                 "#endif\n"
                                 "    volatile __local uint *table\n"
                                 "#if MORE\n"
                                 "    , uint more\n"
                                 "#endif\n"
                                 ")\n"
                                 "{\n"
                                 "    x[atomic_inc(&table[1])] = atomic_add(&table[0], 2);\n"
                                 "}\n";
    const lesson_wanted wanted = {0};
    recorded_source t = traced(source, &wanted);

    (void)state;
    assert_has(&t, "#if WEIGHTS\n#ifndef LESSON_TYPE_WEIGHT\n");
    assert_has(&t, "#if WEIGHTS\n if (get_global_id(0) + get_global_id(1) + get_global_id(2) == 0) "
                   "lesson_event(trace, 0x50000003u, (ulong)weights, lesson_number, 0); "
                   "lesson_number++;\n#endif\n");
    assert_has(&t, "(ulong)table, lesson_number | 0x80000000u, (uint)sizeof(uint) << 16); "
                   "lesson_number++;\n#if MORE\n lesson_number++;\n#endif\n }");
    assert_has(&t, "#endif\n, __global uint *trace");
    assert_has(&t, "lesson_atomic_add(trace, 0x1000000bu, 0x2000000bu, &table[1], 1)");
    assert_has(&t, "lesson_atomic_add(trace, 0x1000000bu, 0x2000000bu, &table[0], 2)");
    assert_int_equal(t.local_count, 1);
    assert_string_equal(t.locals[0].name, "table");
    assert_int_equal(t.locals[0].line, 5);
    recorded_source_free(&t);
}

static void test_barriers(void **state)
{
    lesson_wanted wanted = {.without_barrier = 2};
    recorded_source t = traced(kernel, &wanted);
    tsr_error err;

    (void)state;
    assert_int_equal(t.removed, 16);
    assert_has(&t, "lesson_nothing_yet((__local uint *)&tile");
    /* Without its barrier the loop runs to its end for each item. */
    assert_null(strstr(text_get(&t.text), "for (uint k = 0; k < n; k++)"));
    recorded_source_free(&t);
    wanted.without_barrier = 3;
    t = (recorded_source){0};
    assert_int_equal(lesson_source(kernel, &wanted, &t, &err), TSR_ENAME);
    assert_string_equal(err.message, "op/op_idea.cl has no barrier 3 to leave out: it has 2");
    recorded_source_free(&t);
    wanted = (lesson_wanted){.without_barrier = 1, .of_barriers = 3};
    t = (recorded_source){0};
    assert_int_equal(lesson_source(kernel, &wanted, &t, &err), TSR_ENAME);
    assert_string_equal(err.message,
                        "op/op_idea.cl has 2 barriers, not the 3 of which one is left out");
    recorded_source_free(&t);
}

/* A reader's kernel may be half written: each beginning, and each with one sign for another. */
static void test_any_text(void **state)
{
    static const char signs[] = "(){}[];=\"'#*,&";
    const lesson_wanted wanted = {.watched = {{"sum", "float"}, {"twice", "uint as float"}},
                                  .watched_count = 2};
    char *half = malloc(sizeof(kernel));

    (void)state;
    assert_non_null(half);
    for (size_t i = 0; i < sizeof(kernel) - 1; i++) {
        recorded_source t;

        memcpy(half, kernel, sizeof(kernel));
        half[i] = signs[i % (sizeof(signs) - 1)];
        t = traced(half, &wanted);
        recorded_source_free(&t);
        half[i] = '\0';
        t = traced(half, &wanted);
        recorded_source_free(&t);
    }
    free(half);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accesses),
        cmocka_unit_test(test_conditions_and_atomics),
        cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_any_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
