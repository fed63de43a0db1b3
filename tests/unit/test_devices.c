/* Choosing devices by name, on two devices of PoCL and the host.  Needs an OpenCL device of the
 * type CPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/device.h"
#include "tessera/device.h"

enum { ROOM = 16 };

static tsr_devices *list;

static int find(void **state)
{
    tsr_error err = {0};

    (void)state;
    return tsr_devices_find(&list, &err) != TSR_OK;
}

static int close_list(void **state)
{
    (void)state;
    tsr_devices_close(list);
    return 0;
}

/* The name in tests; tests of several devices need at least two of PoCL's. */
static size_t opencl_count(void)
{
    const size_t n = tsr_devices_count(list) - 1;

    if (n == 0)
        skip();
    return n;
}

static const tsr_device *selects(const char *which)
{
    const tsr_device *out[ROOM] = {NULL};
    tsr_error err = {0};
    size_t n = 0;

    if (tsr_devices_select(list, which, out, ROOM, &n, &err))
        fail_msg("'%s': %s", which ? which : "(default)", err.message);
    assert_int_equal(n, 1);
    return out[0];
}

static void refuses(const char *which, tsr_status status, const char *part)
{
    const tsr_device *out[ROOM] = {NULL};
    tsr_error err = {0};
    size_t n = 77;

    assert_int_equal(tsr_devices_select(list, which, out, ROOM, &n, &err), status);
    if (!strstr(err.message, part))
        fail_msg("'%s': '%s' does not say '%s'", which, err.message, part);
    assert_null(out[0]);
    assert_int_equal(n, 77); /* untouched on failure */
}

static void the_host_is_last(void **state)
{
    const size_t n = tsr_devices_count(list);

    (void)state;
    assert_true(n >= 1);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(tsr_device_is_host(tsr_devices_get(list, i)), i + 1 == n);
    assert_null(tsr_devices_get(list, n));
    assert_string_equal(tsr_device_name(tsr_devices_get(list, n - 1)), "host");
    assert_string_equal(tsr_device_platform(tsr_devices_get(list, n - 1)), "host");
    assert_null(tsr_devices_failure(list, 1000));
}

static void facts_are_plausible(void **state)
{
    const size_t n = opencl_count();

    (void)state;
    for (size_t i = 0; i < n; i++) {
        const device_facts *d = &tsr_devices_get(list, i)->facts;

        assert_true(d->name[0] && d->vendor[0] && d->platform[0] && d->driver[0]);
        assert_true(d->cl_version >= 120 && d->clc_version >= 120);
        assert_true(d->compute_units && d->max_work_group && d->max_work_item[0]);
        assert_true(d->local_memory && d->global_memory && d->warp_size);
        assert_true(d->max_allocation && d->max_allocation <= d->global_memory);
        assert_true(d->kind != DEVICE_HOST);
        for (int f = 0; f < FEATURE_COUNT; f++)
            assert_int_equal(d->feature[f], FEATURE_UNKNOWN);
    }
}

/* What a program asks through the public header. */
static void public_facts_are_the_devices_own(void **state)
{
    static const struct {
        device_kind inside;
        tsr_kind outside;
    } kinds[] = {{DEVICE_HOST, TSR_KIND_HOST},
                 {DEVICE_CPU, TSR_KIND_CPU},
                 {DEVICE_GPU, TSR_KIND_GPU},
                 {DEVICE_ACCELERATOR, TSR_KIND_ACCELERATOR}};

    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const tsr_device device = {.facts = {.kind = kinds[i].inside,
                                             .compute_units = i + 3,
                                             .global_memory = UINT64_C(1) << 36,
                                             .unified_memory = i % 2}};

        assert_int_equal(tsr_device_kind(&device), kinds[i].outside);
        assert_int_equal(tsr_device_compute_units(&device), i + 3);
        assert_true(tsr_device_global_memory(&device) == UINT64_C(1) << 36);
        assert_int_equal(tsr_device_unified_memory(&device), i % 2);
    }
    for (size_t i = 0; i < tsr_devices_count(list); i++) {
        const tsr_device *device = tsr_devices_get(list, i);

        assert_int_equal(tsr_device_kind(device) == TSR_KIND_HOST, tsr_device_is_host(device));
        assert_true(tsr_device_compute_units(device) && tsr_device_global_memory(device));
        assert_true(!tsr_device_is_host(device) || tsr_device_unified_memory(device));
    }
}

static void no_device_has_no_facts(void **state)
{
    (void)state;
    assert_string_equal(tsr_device_name(NULL), "");
    assert_string_equal(tsr_device_platform(NULL), "");
    assert_false(tsr_device_is_host(NULL));
    assert_int_equal(tsr_device_kind(NULL), TSR_KIND_NONE);
    assert_int_equal(tsr_device_compute_units(NULL), 0);
    assert_int_equal(tsr_device_global_memory(NULL), 0);
    assert_false(tsr_device_unified_memory(NULL));
}

static void all_is_every_opencl_device(void **state)
{
    const size_t n = opencl_count();
    const tsr_device *out[ROOM] = {NULL};
    tsr_error err = {0};
    size_t count = 0;

    (void)state;
    assert_int_equal(tsr_devices_select(list, "all", out, ROOM, &count, &err), TSR_OK);
    assert_int_equal(count, n);
    for (size_t i = 0; i < n; i++)
        assert_ptr_equal(out[i], tsr_devices_get(list, i));
    /* No more than there is room for. */
    out[1] = NULL;
    assert_int_equal(tsr_devices_select(list, "all", out, 1, &count, &err), TSR_OK);
    assert_int_equal(count, 1);
    assert_null(out[1]);
}

static void numbers_name_one(void **state)
{
    const size_t n = opencl_count();
    char id[40];

    (void)state;
    for (size_t i = 0; i < n; i++) {
        const tsr_device *d = tsr_devices_get(list, i);

        snprintf(id, sizeof(id), "%u:%u", d->platform_index, d->device_index);
        assert_ptr_equal(selects(id), d);
    }
    refuses("9:9", TSR_ENAME, "there are 0:0 ");
    refuses("0:0x", TSR_ENAME, "'0:0x'");
}

static void kinds_name_the_first(void **state)
{
    const device_kind kinds[] = {DEVICE_CPU, DEVICE_GPU, DEVICE_ACCELERATOR};
    const char *const names[] = {"cpu", "gpu", "accelerator"};
    const size_t n = opencl_count();

    (void)state;
    assert_true(tsr_device_is_host(selects("host")));
    for (int k = 0; k < 3; k++) {
        size_t i = 0;

        while (i < n && tsr_devices_get(list, i)->facts.kind != kinds[k])
            i++;
        if (i < n)
            assert_ptr_equal(selects(names[k]), tsr_devices_get(list, i));
        else
            refuses(names[k], TSR_ENODEVICE, " was found; there are 0:0 ");
    }
}

/* Two devices of PoCL have one name, so that any part of it is ambiguous. */
static void parts_of_names_match_in_any_case(void **state)
{
    const size_t n = opencl_count();
    const char *name = tsr_device_name(tsr_devices_get(list, 0));
    char part[16];
    size_t matching = 0;

    (void)state;
    snprintf(part, sizeof(part), "%.8s", name);
    for (char *c = part; *c; c++)
        *c = (char)(isupper((unsigned char)*c) ? tolower(*c) : toupper(*c));
    for (size_t i = 0; i < n; i++)
        matching += strncmp(tsr_device_name(tsr_devices_get(list, i)), name, 8) == 0;
    if (matching == 1)
        assert_ptr_equal(selects(part), tsr_devices_get(list, 0));
    else
        refuses(part, TSR_ENAME, "fits several; there are 0:0 ");
    refuses("no such device", TSR_ENAME, "device 'no such device' is not there");
    refuses("no such device", TSR_ENAME, name);
    refuses("CPU!", TSR_ENAME, ", host");
}

static void the_environment_names_the_default(void **state)
{
    const tsr_device *preferred;

    (void)state;
    opencl_count();
    unsetenv("TESSERA_DEVICE");
    preferred = selects(NULL);
    assert_false(tsr_device_is_host(preferred));
    setenv("TESSERA_DEVICE", "", 1);
    assert_ptr_equal(selects(NULL), preferred);
    setenv("TESSERA_DEVICE", "host", 1);
    assert_true(tsr_device_is_host(selects(NULL)));
    assert_ptr_equal(selects("0:0"), tsr_devices_get(list, 0)); /* what is named comes first */
    setenv("TESSERA_DEVICE", "no such device", 1);
    refuses(NULL, TSR_ENAME, "'no such device'");
    unsetenv("TESSERA_DEVICE");
}

static void room_is_needed(void **state)
{
    const tsr_device *out[1];
    tsr_error err = {0};
    size_t n;

    (void)state;
    assert_int_equal(tsr_devices_select(list, "host", out, 0, &n, &err), TSR_EINVAL);
}

/* In a process of its own: the loader looks for drivers once. */
static void without_drivers_there_is_the_host(void **state)
{
    int status = 0;
    pid_t child = fork();

    (void)state;
    assert_true(child >= 0);
    if (child == 0) {
        const tsr_device *out[1] = {NULL};
        tsr_error err = {0};
        size_t n = 0;

        setenv("OCL_ICD_VENDORS", "/nonexistent", 1);
        if (tsr_devices_find(&list, &err) || tsr_devices_count(list) != 1)
            _exit(1);
        if (tsr_devices_select(list, NULL, out, 1, &n, &err) != TSR_ENODEVICE)
            _exit(2);
        if (tsr_devices_select(list, "all", out, 1, &n, &err) != TSR_ENODEVICE)
            _exit(3);
        if (tsr_devices_select(list, "host", out, 1, &n, &err) || !tsr_device_is_host(out[0]))
            _exit(4);
        tsr_devices_close(list);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : 99, 0);
}

int main(void)
{
    const struct CMUnitTest alone[] = {cmocka_unit_test(without_drivers_there_is_the_host)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_is_last),
        cmocka_unit_test(facts_are_plausible),
        cmocka_unit_test(public_facts_are_the_devices_own),
        cmocka_unit_test(no_device_has_no_facts),
        cmocka_unit_test(all_is_every_opencl_device),
        cmocka_unit_test(numbers_name_one),
        cmocka_unit_test(kinds_name_the_first),
        cmocka_unit_test(parts_of_names_match_in_any_case),
        cmocka_unit_test(the_environment_names_the_default),
        cmocka_unit_test(room_is_needed),
    };
    int failed;

    /* PoCL gives a device for each word. */
    setenv("POCL_DEVICES", "pthread pthread", 1);
    unsetenv("TESSERA_DEVICE");
    failed = cmocka_run_group_tests(alone, NULL, NULL);
    return failed + cmocka_run_group_tests(tests, find, close_list);
}
