/* The variant in C: its loops of every instruction set, and broken segment offsets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "base/half.h"
#include "base/isa.h"
#include "core/registry.h"
#include "ops/scan/scan_loops.h"
#include "ops/scan/scan_problem.h"

enum { N = 100000, SEGMENTS = 5, CANARY = 77 };

/* ---- loops --------------------------------------------------------------------------------- */

enum { MOST = 700, ROOM = MOST + 64, ELEMENT_MAX = 8 };

/* Small whole numbers, so that the sums of any order are exact in every type. */
static void fill(tsr_type type, unsigned char *x)
{
    for (size_t i = 0; i < ROOM; i++) {
        const int value = (int)(i * 7 % 5) - (i % 3 == 0 ? 2 : 1);
        const float f = (float)value;
        const double d = value;
        const uint16_t half = half_of(d), bfloat = bfloat_of(d);
        const int64_t whole = value;
        const size_t size = tsr_type_size(type);
        const void *from = type == TSR_F32    ? (const void *)&f
                           : type == TSR_F64  ? (const void *)&d
                           : type == TSR_F16  ? (const void *)&half
                           : type == TSR_BF16 ? (const void *)&bfloat
                                              : (const void *)&whole;

        memcpy(x + i * size, from, size); /* of whole numbers the low bytes: little-endian */
    }
}

/* A stretch at once, and one element after another. */
static void check_stretch(const scan_loops *loops, const scan_stretch *s, size_t bytes)
{
    static _Alignas(64) unsigned char got[ROOM * ELEMENT_MAX], want[ROOM * ELEMENT_MAX];
    scan_stretch all = *s, one = *s;
    scan_value value = loops->identity(), last;

    memset(got, CANARY, sizeof(got));
    memset(want, CANARY, sizeof(want));
    one.result = want;
    one.past_caches = false;
    one.n = 1;
    for (size_t i = 0; i < s->n; i++) {
        value = loops->run(value, &one);
        one.at += (size_t)s->step;
        one.to += (size_t)s->step;
    }
    all.result = got;
    last = loops->run(loops->identity(), &all);
    if (memcmp(got, want, sizeof(got)) != 0 || memcmp(&last, &value, bytes) != 0)
        fail_msg("n %zu to %zu step %td past caches %d: another result", s->n, s->to, s->step,
                 s->past_caches);
}

static void check_type(const scan_loops *loops, tsr_type type, size_t result_bytes)
{
    static _Alignas(64) unsigned char x[ROOM * ELEMENT_MAX];
    static const size_t sizes[] = {0, 1, 63, 127, 128, 129, 255, 256, 300, 511, MOST};

    fill(type, x);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        for (size_t shift = 0; shift < 64; shift += 7)
            for (size_t way = 0; way < 4; way++) {
                const size_t n = sizes[i];
                const scan_stretch s = {.x = x,
                                        .at = way & 1 && n ? n - 1 : 0,
                                        .to = shift + (way & 1 && n ? n - 1 : 0),
                                        .step = way & 1 ? -1 : 1,
                                        .n = n,
                                        .past_caches = way & 2};

                check_stretch(loops, &s, result_bytes);
            }
}

static void loops_of_every_instruction_set(void **state)
{
    static scan_loops_find *const find[] = {ISA_EACH(scan_loops_of)};

    (void)state;
    for (int set = 0; set <= (int)isa_best(); set++)
        for (int type = 0; type < TSR_TYPE_COUNT; type++)
            for (size_t by = TSR_SCAN_SUM; by <= TSR_SCAN_MAX; by++)
                for (int same = 0; same < 2; same++) {
                    const tsr_scan_problem p = {
                        .type = (tsr_type)type, .by = by, .same_type = same};
                    const scan_loops *loops = find[set]((tsr_type)type, by, same);

                    if (loops)
                        check_type(loops, (tsr_type)type, tsr_type_size(tsr_scan_result_type(&p)));
                }
}

/* What a thread's next block comes to has the same bits when it is found while the block before it
 * is finished: which of both happens depends on the run. */
static void totals_of_what_is_ahead(void **state)
{
    static scan_loops_find *const find[] = {ISA_EACH(scan_loops_of)};
    static const size_t sizes[] = {1, 31, 64, 200, 1000};
    enum { REALS = 4 * 1024 };
    static float x[REALS], result[REALS];
    uint32_t seed = 1;

    (void)state;
    for (size_t i = 0; i < REALS; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = ldexpf((float)seed / 3e9f, (int)(seed >> 8) % 64 - 32); /* sums are rounded */
    }
    for (int set = 0; set <= (int)isa_best(); set++)
        for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
            for (size_t more = 0; more < 40; more += 13) {
                const scan_loops *loops = find[set](TSR_F32, TSR_SCAN_SUM, false);
                const size_t n = sizes[i], ahead = 2 * n + 3;
                const scan_value want = loops->total(x, 5 + ahead, n + more);
                scan_value got = {.whole = 0};
                const scan_stretch s = {.x = x,
                                        .at = 5,
                                        .result = result,
                                        .to = more,
                                        .step = 1,
                                        .n = n,
                                        .ahead = (ptrdiff_t)ahead,
                                        .n_ahead = n + more,
                                        .total_ahead = &got,
                                        .past_caches = true};

                assert_true(loops->finds_ahead);
                loops->run(loops->identity(), &s);
                assert_memory_equal(&got, &want, sizeof(got));
            }
}

/* ---- segments ------------------------------------------------------------------------------ */

/* Enqueued calls cannot refuse such offsets: nothing outside of the arrays is touched, whose ends
 * the sanitizers and the canaries see. */
static void offsets_beyond_the_array(void **state)
{
    static float x[N], result[N + 2];
    const uint64_t offsets[SEGMENTS + 1] = {0, UINT64_MAX, 5, 2 * N, 70, N + 1000};
    const tsr_scan_problem p = {.type = TSR_F32, .n = N, .segments = SEGMENTS, .offset_result = 1};
    const problem q = problem_from(&operation_scan, &p, sizeof(p));
    void *arrays[OPERANDS_MAX] = {
        [SCAN_X] = x, [SCAN_RESULT] = result, [SCAN_SEGMENTS] = (void *)(uintptr_t)offsets};

    (void)state;
    for (size_t i = 0; i < N; i++)
        x[i] = 1;
    result[0] = result[N + 1] = CANARY;
    assert_int_equal(scan_simd.host(&q, arrays, NULL), TSR_OK);
    assert_true(result[0] == CANARY && result[N + 1] == CANARY);
    assert_true(result[1] == 1); /* the first segment is the whole array, cut at its end */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(loops_of_every_instruction_set),
                                       cmocka_unit_test(totals_of_what_is_ahead),
                                       cmocka_unit_test(offsets_beyond_the_array)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
