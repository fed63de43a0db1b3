/* Kernels that record their warps: the PTX that is made, and figures of a buffer that is played. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "measure/trace.h"

static const char ptx[] = ".version 9.0\n"
                          ".target sm_90, texmode_independent\n"
                          ".address_size 64\n"
                          "\t// .globl first and its .entry comment\n"
                          ".func helper()\n{\n\tret;\n}\n"
                          ".entry first(\n\t.param .u64 first_param_0\n)\n"
                          ".reqntid 128, 1, 1\n"
                          "{\n"
                          "\t{ .reg .pred p; }\n"
                          "\t// a brace in a comment {\n"
                          "\tmma.sync {%r1, %r2},\n\t{%r3, %r4};\n"
                          "\t@%p1 ret;\n"
                          "\tret;\n"
                          "\n}\n"
                          ".entry second()\n{\n\texit;\n}\n"
                          ".metadata_section {\n}\n";

static size_t count_of(const char *in, const char *word)
{
    size_t count = 0;

    for (const char *at = in; (at = strstr(at, word)); at += strlen(word))
        count++;
    return count;
}

static void test_kernels_record(void **state)
{
    text out = {0}, names = {0};
    tsr_error err = {0};
    const char *made;

    (void)state;
    assert_int_equal(trace_ptx(ptx, &out, &names, &err), TSR_OK);
    made = text_get(&out);
    assert_string_equal(text_get(&names), " first second");
    assert_non_null(strstr(made, ".func helper()\n{\n\tret;\n}\n"));
    assert_non_null(strstr(made, "{\n.reg .b32 %tsr_start;\n"));
    assert_int_equal(count_of(made, "%globaltimer_lo"), 2);
    assert_non_null(strstr(made, "\t@%p1 bra $tsr_end_0;\n\tbra $tsr_end_0;\n\n$tsr_end_0:\n"));
    assert_non_null(strstr(made, "\tbra $tsr_end_1;\n$tsr_end_1:\n"));
    assert_int_equal(count_of(made, "mov.u32 %kernel, 0;"), 1);
    assert_int_equal(count_of(made, "mov.u32 %kernel, 1;"), 1);
    assert_non_null(strstr(made, ".address_size 64\n.global .align 8 .u64 tsr_trace;\n"));
    assert_int_equal(count_of(made, ".entry " TRACE_BEGIN), 1);
    text_free(&out);
    text_free(&names);
}

static void test_what_cannot_record(void **state)
{
    text many = {0}, out = {0}, names = {0};
    tsr_error err = {0};

    (void)state;
    assert_int_equal(trace_ptx("\177ELF", &out, &names, &err), TSR_EUNSUPPORTED);
    assert_string_equal(err.message, "the driver's binary is no PTX");
    text_append(&many, ".address_size 64\n");
    for (int i = 0; i <= TRACE_KERNELS; i++)
        text_format(&many, ".entry k%d()\n{\n\tret;\n}\n", i);
    assert_int_equal(trace_ptx(text_get(&many), &out, &names, &err), TSR_EUNSUPPORTED);
    assert_string_equal(err.message, "its program has more than 16 kernels");
    text_free(&many);
    text_free(&out);
    text_free(&names);
}

/* ---- figures -------------------------------------------------------------------------------- */

enum { ROOM = 2 };

typedef struct played_unit {
    trace_unit sums;
    trace_record record[ROOM];
} played_unit;

typedef struct played {
    trace_head head;
    played_unit unit[TRACE_UNITS];
} played;

static void add_warp(played *b, size_t unit, uint32_t kernel, uint64_t start, uint32_t ns)
{
    played_unit *u = &b->unit[unit];

    u->sums.kernel[kernel].warps++;
    u->sums.kernel[kernel].ns += ns;
    if (u->sums.recorded < ROOM)
        u->record[u->sums.recorded] = (trace_record){start, ns, kernel};
    u->sums.recorded++;
}

static void assert_near(double found, double wanted)
{
    if (!(found > wanted - 1e-6 && found < wanted + 1e-6))
        fail_msg("%.9g, not %.9g", found, wanted);
}

/* Two units of four warps; one of the second kernel's warps finds no room for its record. */
static void test_figures(void **state)
{
    played *b = calloc(1, sizeof(*b));
    trace t = {.units = 2, .unit_warps = 4, .kernel_count = 2};
    tsr_error err = {0};
    text svg = {0};

    (void)state;
    assert_non_null(b);
    b->head = (trace_head){ROOM, sizeof(played_unit)};
    t.kernel[0].ns = 1000;
    t.kernel[1].ns = 500;
    t.all.ns = 2000;
    add_warp(b, 3, 0, 5000, 960);
    add_warp(b, 3, 0, 5480, 960);
    add_warp(b, 7, 0, 5032, 480);
    add_warp(b, 7, 1, 6000, 320);
    add_warp(b, 7, 1, 6320, 96); /* no room */
    assert_int_equal(trace_sum(&b->head, &t, &err), TSR_OK);
    assert_near(t.kernel[0].warps, 3);
    assert_near(t.kernel[0].occupancy, 2400.0 / (1000 * 8));
    assert_near(t.kernel[0].balance, 2400.0 / (1920 * 2));
    assert_int_equal(t.kernel[0].units, 2);
    assert_near(t.kernel[1].occupancy, 416.0 / (500 * 8));
    assert_near(t.kernel[1].balance, 0.5);
    assert_int_equal(t.kernel[1].units, 1);
    assert_near(t.all.warps, 5);
    assert_near(t.all.occupancy, 2816.0 / (2000 * 8));
    assert_near(t.tick_ns, 8); /* 32, 1000 and multiples of 32 */
    /* The second unit's records reach 1320 ns; the first's are all there, and reach 1440. */
    assert_near(t.drawn_ns, 1320);
    assert_near(t.resident[0][0], 1);
    assert_near(t.resident[0][100], 2); /* at 550 ns */
    assert_near(t.resident[0][239], 1);
    assert_near(t.resident[1][0], 0);
    assert_near(t.resident[1][50], 1);
    assert_near(t.resident[1][200], 1); /* at 1100 ns */
    trace_draw(&t, "a < b", &svg);
    assert_non_null(strstr(text_get(&svg), "a &#60; b"));
    assert_non_null(strstr(text_get(&svg), "opacity=\"0.50\""));
    assert_non_null(strstr(text_get(&svg), "1.32 us"));
    assert_non_null(strstr(text_get(&svg), "darkest where 2 of its 4 warps"));
    text_free(&svg);
    trace_free(&t);
    free(b);
}

static void test_nothing_recorded(void **state)
{
    played *b = calloc(1, sizeof(*b));
    trace t = {.units = 2, .unit_warps = 4, .kernel_count = 1};
    tsr_error err = {0};

    (void)state;
    assert_non_null(b);
    b->head = (trace_head){ROOM, sizeof(played_unit)};
    assert_int_equal(trace_sum(&b->head, &t, &err), TSR_OK);
    assert_near(t.all.warps, 0);
    assert_near(t.all.occupancy, 0);
    assert_near(t.drawn_ns, 0);
    trace_free(&t);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels_record),
        cmocka_unit_test(test_what_cannot_record),
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_nothing_recorded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
