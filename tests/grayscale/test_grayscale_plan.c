/* The plans of grayscale's variants, and what is refused: no OpenCL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/sizes.h"
#include "core/registry.h"
#include "core/tuning_class.h"
#include "ops/grayscale/grayscale_problem.h"
#include "ops/grayscale/grayscale_simd.h"

static problem picture(tsr_grayscale_problem p)
{
    return problem_from(&operation_grayscale, &p, sizeof(p));
}

/* White stays white, and black black. */
static void weights_add_up(void **state)
{
    (void)state;
    for (size_t l = TSR_LUMA_BT601; l <= TSR_LUMA_OPENCV; l++) {
        const luma_weights *w = &grayscale_weights[l];
        /* OpenCV rounds to 32768ths. */
        const double step = l == TSR_LUMA_OPENCV ? 32768 : 65536;

        assert_int_equal(w->whole[0] + w->whole[1] + w->whole[2], 65536);
        for (size_t c = 0; c < 3; c++) {
            const double off = w->whole[c] / 65536.0 - (double)w->real[c];

            assert_true(off < 1 / step && off > -1 / step);
        }
    }
}

static void launches_cover_the_picture(void **state)
{
    const device_facts d = {
        .kind = DEVICE_GPU, .max_work_group = 256, .max_work_item = {256, 256, 1}};
    const problem p = picture((tsr_grayscale_problem){
        .type = TSR_U8, .height = 9, .width = 33, .channels = 3, .offset_in = 1});
    const variant *const variants[] = {&grayscale_naive, &grayscale_packed, &grayscale_vectors};

    (void)state;
    for (size_t v = 0; v < ARRAY_COUNT(variants); v++) {
        const params chosen = params_default(variants[v]);
        const job j = {.problem = &p, .device = &d, .params = &chosen};
        plan out;

        assert_null(plan_make(variants[v], &j, &out));
        assert_int_equal(out.count, 1);
        if (v == 0)
            assert_true(out.commands[0].global[0] == 64 && out.commands[0].global[1] == 12);
        else
            assert_int_equal(out.commands[0].global[0], 256);
        assert_true(out.commands[0].bytes == 9 * 33 * 4.0);
        plan_free(&out);
    }
}

/* An image has a line for each row, of all channels; what the device does not take is named. */
static void images_have_limits(void **state)
{
    device_facts d = {.kind = DEVICE_GPU,
                      .max_work_group = 256,
                      .max_work_item = {256, 256, 1},
                      .max_allocation = 1 << 20};
    const char *const reasons[] = {"no images of one channel",
                                   "an image of 9x99 elements is over the device's 9x98", NULL,
                                   "an image of 9x99 elements is over the 890 bytes"};
    const problem p = picture((tsr_grayscale_problem){
        .type = TSR_U8, .height = 9, .width = 33, .channels = 3, .offset_in = 7});

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(reasons); i++) {
        const params chosen = params_default(&grayscale_image);
        const job j = {.problem = &p, .device = &d, .params = &chosen};
        const char *why;
        plan out;

        d.image_width = i ? 97 + i : 0;
        d.image_height = 9;
        d.max_allocation = i < 3 ? 1 << 20 : 890;
        why = plan_make(&grayscale_image, &j, &out);
        if (reasons[i]) {
            assert_non_null(strstr(why, reasons[i]));
        } else {
            assert_null(why);
            assert_int_equal(out.count, 2);
            assert_int_equal(out.commands[0].kind, COMMAND_IMAGE);
            assert_int_equal(out.commands[0].image_offset, 7);
            assert_int_equal(plan_image_bytes(&out), 9 * 99);
        }
        plan_free(&out);
    }
}

/* Vectors where pictures begin at one, of bytes. */
static void vectors_come_first_where_they_fit(void **state)
{
    const device_facts d = {.kind = DEVICE_GPU};
    const char *names[PREFERENCES_MAX];

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        const problem p = picture((tsr_grayscale_problem){.type = i == 3 ? TSR_F32 : TSR_U8,
                                                          .height = 2,
                                                          .width = 2,
                                                          .channels = 3,
                                                          .offset_in = i == 1 ? 3 : 32,
                                                          .offset_out = i == 2 ? 4 : 0});

        assert_int_equal(operation_grayscale.prefer(&p, &d, names), i == 0 ? 3 : 2);
        assert_string_equal(names[0], i == 0 ? "vectors" : "packed");
    }
}

static void what_is_refused(void **state)
{
    const tsr_grayscale_problem good = {.type = TSR_F32, .height = 2, .width = 2, .channels = 4};
    tsr_grayscale_problem bad[] = {good, good, good, good};

    (void)state;
    bad[0].type = TSR_I32;
    bad[1].channels = 2;
    bad[2].luma = TSR_LUMA_OPENCV + 1;
    bad[3].height = SIZE_MAX;
    assert_int_equal(operation_grayscale.check(&(problem[]){picture(good)}[0], NULL), TSR_OK);
    for (size_t i = 0; i < 4; i++) {
        const problem p = picture(bad[i]);

        assert_int_equal(operation_grayscale.check(&p, NULL), i < 3 ? TSR_EINVAL : TSR_EOVERFLOW);
    }
}

/* Pictures of every length up to some vectors, in memory without a byte to spare, that begins
 * anywhere within a line, by the loops for each instruction set. */
static void loops_know_every_length(void **state)
{
    enum { PIXELS = 300 };
    static grayscale_bytes_loop *const loops[] = {ISA_EACH(grayscale_bytes)};

    (void)state;
    for (size_t channels = 3; channels <= 4; channels++)
        for (size_t luma = 0; luma <= TSR_LUMA_OPENCV; luma++)
            for (size_t n = 1; n <= PIXELS; n++) {
                const uint32_t *w = grayscale_weights[luma].whole;
                const size_t shift = n % 67;
                uint8_t *colour = malloc(n * channels), *room = malloc(n + shift);
                uint8_t *grey = room + shift;

                assert_non_null(colour);
                assert_non_null(room);
                for (size_t i = 0; i < n * channels; i++)
                    colour[i] = (uint8_t)(i % 5 == 0 ? 255 : i * 89 + i / 7 + n);
                for (size_t way = 0; way < 2 * ((size_t)isa_best() + 1); way++) {
                    memset(grey, 0, n);
                    loops[way / 2](colour, n, channels, w, grey, way % 2);
                    for (size_t i = 0; i < n; i++) {
                        const uint8_t *p = colour + i * channels;

                        assert_int_equal(grey[i],
                                         (w[0] * p[0] + w[1] * p[1] + w[2] * p[2] + 32768) >> 16);
                    }
                }
                free(colour);
                free(room);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_add_up),     cmocka_unit_test(launches_cover_the_picture),
        cmocka_unit_test(images_have_limits), cmocka_unit_test(vectors_come_first_where_they_fit),
        cmocka_unit_test(what_is_refused),    cmocka_unit_test(loops_know_every_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
