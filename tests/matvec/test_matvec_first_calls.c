/* First calls on a GPU: what is quick to compile runs until what is fastest has been compiled.  A
 * CPU stands in for the GPU.  Needs an OpenCL device of the type CPU, such as PoCL's. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "device/device.h"
#include "tessera/tessera.h"

enum { ROWS = 40, ROWS_MAX = 2000, COLUMNS = 70, FIRST_CALLS = 20, FIRST_CALLS_ON_CPU = 100 };

static const char quick[] = "row-item", best[] = "split-vector";

static tsr_devices *list;
static tsr_device gpu;
static char folder[64];

static int open_devices(void **state)
{
    const tsr_device *device;
    tsr_error err = {0};
    size_t n = 0;

    (void)state;
    assert_int_equal(tsr_devices_find(&list, &err), TSR_OK);
    if (tsr_devices_select(list, "cpu", &device, 1, &n, &err))
        fail_msg("%s", err.message);
    gpu = *device;
    gpu.facts.kind = DEVICE_GPU;
    gpu.facts.compiles_late = false;
    gpu.facts.unified_memory = false;
    return 0;
}

static int close_devices(void **state)
{
    (void)state;
    tsr_devices_close(list);
    return 0;
}

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/tessera-first-XXXXXX");
    assert_non_null(mkdtemp(folder));
    return setenv("TESSERA_CACHE_DIR", folder, 1);
}

static int drop_folder(void **state)
{
    char command[96];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s || true", folder); /* a thread may write there */
    return system(command);
}

/* Programs and probes in the cache. */
static int entries(void)
{
    DIR *dir = opendir(folder);
    struct dirent *e;
    int n = 0;

    assert_non_null(dir);
    while ((e = readdir(dir)))
        n += strstr(e->d_name, ".tsr") != NULL;
    closedir(dir);
    return n;
}

static void forget_entries(void)
{
    char command[96];

    snprintf(command, sizeof(command), "rm -rf %s/*", folder);
    assert_int_equal(system(command), 0);
}

static tsr_session *open_session(const tsr_session_options *options)
{
    tsr_session *s = NULL;
    tsr_error err = {0};

    if (tsr_session_open(&gpu, options, &s, &err))
        fail_msg("%s", err.message);
    return s;
}

/* A call of so many rows, whose result is right whatever runs; what ran. */
static const char *run_rows(tsr_session *s, size_t rows, tsr_report *report)
{
    const tsr_matvec_problem p = {.rows = rows, .columns = COLUMNS, .lda = COLUMNS, .alpha = 1};
    static float a[ROWS_MAX * COLUMNS], x[COLUMNS], y[ROWS_MAX];
    tsr_error err = {0};

    for (size_t i = 0; i < rows * COLUMNS; i++)
        a[i] = (float)(i % 7) - 3;
    for (size_t i = 0; i < COLUMNS; i++)
        x[i] = (float)(i % 5) - 2;
    memset(y, -1, sizeof(y));
    if (tsr_matvec(s, &p, a, x, y, NULL, report, &err))
        fail_msg("%s", err.message);
    for (size_t i = 0; i < rows; i++) {
        float sum = 0;

        for (size_t k = 0; k < COLUMNS; k++)
            sum += a[i * COLUMNS + k] * x[k];
        assert_true(sum == y[i]);
    }
    return report->variant;
}

static const char *run(tsr_session *s, tsr_report *report)
{
    return run_rows(s, ROWS, report);
}

static void the_best_is_compiled_beside_calls(void **state)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    const uint64_t until = clock_ns() + 100000000000;
    tsr_session *s = open_session(NULL);
    tsr_report report = {0};
    int first;

    (void)state;
    assert_string_equal(run(s, &report), quick);
    assert_int_equal(report.build, TSR_BUILD_COMPILED);
    assert_non_null(strstr(report.chosen, "quick to compile"));
    first = entries();
    for (int i = 1; i < FIRST_CALLS; i++)
        assert_string_equal(run(s, &report), quick);
    assert_int_equal(entries(), first);
    while (strcmp(run(s, &report), best) != 0 && clock_ns() < until)
        nanosleep(&pause, NULL);
    assert_string_equal(report.variant, best);
    assert_int_equal(report.build, TSR_BUILD_CACHED);
    assert_null(strstr(report.chosen, "quick to compile"));
    tsr_session_close(s);

    s = open_session(NULL);
    assert_string_equal(run(s, &report), best);
    assert_int_equal(report.build, TSR_BUILD_CACHED);
    tsr_session_close(s);
}

/* Until the process ends, which waits for what is compiled. */
static void closing_waits_for_nothing(void **state)
{
    tsr_session *s = open_session(NULL);
    tsr_report report = {0};
    uint64_t start;
    int before;

    (void)state;
    for (int i = 0; i <= FIRST_CALLS; i++)
        assert_string_equal(run(s, &report), quick);
    before = entries();
    start = clock_ns();
    tsr_session_close(s);
    /* Who waits has the best one in the cache then; a busy machine may be slow without it. */
    assert_true(entries() == before || clock_ns() - start < 300000000);
}

static void without_a_cache_a_call_compiles(void **state)
{
    const tsr_session_options options = {.no_cache = 1};
    tsr_session *s = open_session(&options);
    tsr_report report = {0};

    (void)state;
    for (int i = 0; i < FIRST_CALLS; i++)
        assert_string_equal(run(s, &report), quick);
    assert_string_equal(run(s, &report), best);
    assert_int_equal(report.build, TSR_BUILD_COMPILED);
    assert_string_equal(run(s, &report), best);
    tsr_session_close(s);
}

/* As where the disk is full: sessions that compile beside the calls keep nothing. */
static void what_does_not_stay_is_compiled_within_a_call(void **state)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    const uint64_t until = clock_ns() + 20000000000;
    tsr_session *s = open_session(NULL);
    tsr_report report = {0};
    size_t rows = ROWS;

    (void)state;
    setenv("TESSERA_CACHE_DIR", "off", 1);
    for (int i = 0; i < FIRST_CALLS; i++)
        assert_string_equal(run(s, &report), quick);
    while (rows < ROWS_MAX && strcmp(run_rows(s, rows++, &report), best) != 0 && clock_ns() < until)
        nanosleep(&pause, NULL);
    assert_string_equal(report.variant, best);
    assert_int_equal(report.build, TSR_BUILD_COMPILED);
    tsr_session_close(s);
}

static void what_does_not_build_is_not_run(void **state)
{
    char kernels[96], command[400];
    const tsr_session_options options = {.no_cache = 1, .kernel_dir = kernels};
    tsr_report report = {0};
    tsr_session *s;

    (void)state;
    snprintf(kernels, sizeof(kernels), "%s/cl", folder);
    snprintf(command, sizeof(command), "cp -r \"$TESSERA_SOURCE/cl\" %s && echo '#error' >> %s/%s",
             kernels, kernels, "matvec/matvec_row_item.cl");
    assert_int_equal(system(command), 0);
    s = open_session(&options);
    assert_string_equal(run(s, &report), best);
    assert_int_equal(report.build, TSR_BUILD_COMPILED);
    tsr_session_close(s);
}

static void settings_need_a_variant(void **state)
{
    const char *const set[] = {"GROUP=64"};
    const tsr_matvec_problem p = {.rows = 1, .columns = 1, .lda = 1, .alpha = 1};
    const tsr_run settings = {.set = set, .set_count = 1};
    const tsr_session_options options = {.no_cache = 1};
    tsr_session *s = open_session(&options);
    float a = 1, x = 1, y = 0;

    (void)state;
    assert_int_equal(tsr_matvec(s, &p, &a, &x, &y, &settings, NULL, NULL), TSR_ENAME);
    tsr_session_close(s);
}

static void nobody_has_to_take_it(void **state)
{
    const tsr_session_options options = {.same_kernels = 1, .no_cache = 1};
    const tsr_session_options plain = {.no_cache = 1};
    tsr_session *s = open_session(&options);
    tsr_report report = {0};

    (void)state;
    assert_string_equal(run(s, &report), best);
    tsr_session_close(s);

    setenv("TESSERA_SAME_KERNELS", "1", 1);
    s = open_session(&plain);
    unsetenv("TESSERA_SAME_KERNELS");
    assert_string_equal(run(s, &report), best);
    tsr_session_close(s);
}

/* Elements of float16, so many that C is not what runs fastest; all are 0. */
static const char *run_halves(tsr_session *s, tsr_report *report)
{
    enum { HALVES_ROWS = 4097, HALVES_COLUMNS = 4096 };
    const tsr_matvec_problem p = {.rows = HALVES_ROWS,
                                  .columns = HALVES_COLUMNS,
                                  .lda = HALVES_COLUMNS,
                                  .alpha = 1,
                                  .type = TSR_F16};
    static uint16_t a[(size_t)HALVES_ROWS * HALVES_COLUMNS], x[HALVES_COLUMNS], y[HALVES_ROWS];
    tsr_error err = {0};

    memset(y, -1, sizeof(y));
    if (tsr_matvec(s, &p, a, x, y, NULL, report, &err))
        fail_msg("%s", err.message);
    for (size_t i = 0; i < HALVES_ROWS; i++)
        assert_int_equal(y[i], 0);
    return report->variant;
}

/* On a CPU code in C runs at first.  After that the call compiles where the driver does so at the
 * first launch, and a thread where it does not. */
static void a_cpu_runs_c_first(void **state)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    const uint64_t until = clock_ns() + 100000000000;

    (void)state;
    for (int late = 1; late >= 0; late--) {
        tsr_device cpu = gpu;
        tsr_report report = {0};
        tsr_session *s = NULL;
        tsr_error err = {0};

        cpu.facts.kind = DEVICE_CPU;
        cpu.facts.unified_memory = true;
        cpu.facts.compiles_late = late;
        if (tsr_session_open(&cpu, NULL, &s, &err))
            fail_msg("%s", err.message);
        for (int i = 0; i < FIRST_CALLS_ON_CPU; i++)
            assert_string_equal(run_halves(s, &report), "simd");
        assert_non_null(strstr(report.chosen, "compiled already"));
        if (late)
            assert_string_not_equal(run_halves(s, &report), "simd");
        else
            assert_string_equal(run_halves(s, &report), "simd");
        while (strcmp(run_halves(s, &report), "simd") == 0 && clock_ns() < until)
            nanosleep(&pause, NULL);
        assert_string_not_equal(report.variant, "simd");
        tsr_session_close(s);
        forget_entries();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_best_is_compiled_beside_calls, make_folder,
                                        drop_folder),
        cmocka_unit_test_setup_teardown(closing_waits_for_nothing, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(without_a_cache_a_call_compiles, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(what_does_not_stay_is_compiled_within_a_call, make_folder,
                                        drop_folder),
        cmocka_unit_test_setup_teardown(what_does_not_build_is_not_run, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(settings_need_a_variant, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(nobody_has_to_take_it, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(a_cpu_runs_c_first, make_folder, drop_folder),
    };

    return cmocka_run_group_tests(tests, open_devices, close_devices);
}
