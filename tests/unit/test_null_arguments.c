/* NULL in the place of what a function needs: refused by name, or the value that stands for
 * nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tessera/tessera.h"

/* The device `host`, which needs no OpenCL, and its session. */
typedef struct fixture {
    tsr_devices *list;
    const tsr_device *host;
    tsr_session *session;
} fixture;

static int open_host(void **state)
{
    static fixture f;

    *state = &f;
    assert_int_equal(tsr_devices_find(&f.list, NULL), TSR_OK);
    f.host = tsr_devices_get(f.list, tsr_devices_count(f.list) - 1);
    assert_int_equal(tsr_session_open(f.host, NULL, &f.session, NULL), TSR_OK);
    return 0;
}

static int close_host(void **state)
{
    fixture *f = *state;

    tsr_session_close(f->session);
    tsr_devices_close(f->list);
    return 0;
}

static void refused(tsr_status got, const tsr_error *err, const char *message)
{
    assert_int_equal(got, TSR_EINVAL);
    assert_int_equal(err->status, TSR_EINVAL);
    assert_string_equal(err->message, message);
}

static void what_is_needed_is_named(void **state)
{
    const fixture *f = *state;
    const tsr_device *device = NULL;
    tsr_session *session = NULL;
    void *memory = NULL;
    tsr_error err;
    size_t n = 0;

    refused(tsr_devices_find(NULL, &err), &err, "tsr_devices_find: out is NULL");
    refused(tsr_devices_find_host(NULL, &err), &err, "tsr_devices_find_host: out is NULL");
    refused(tsr_devices_select(NULL, "host", &device, 1, &n, &err), &err,
            "tsr_devices_select: list is NULL");
    refused(tsr_devices_select(f->list, "host", NULL, 1, &n, &err), &err,
            "tsr_devices_select: out is NULL");
    refused(tsr_devices_select(f->list, "host", &device, 1, NULL, &err), &err,
            "tsr_devices_select: count is NULL");
    refused(tsr_session_open(f->host, NULL, NULL, &err), &err, "tsr_session_open: out is NULL");
    refused(tsr_session_adopt(NULL, NULL, NULL, &err), &err, "tsr_session_adopt: out is NULL");
    refused(tsr_pinned_alloc(NULL, 64, &memory, &err), &err, "pinned memory: the session is NULL");
    refused(tsr_pinned_alloc(f->session, 64, NULL, &err), &err, "pinned memory: out is NULL");
    /* Nobody has to listen. */
    assert_int_equal(tsr_devices_find(NULL, NULL), TSR_EINVAL);
    assert_null(device);
    assert_null(session);
    assert_null(memory);
}

static void nothing_has_nothing(void **state)
{
    (void)state;
    assert_int_equal(tsr_devices_count(NULL), 0);
    assert_null(tsr_devices_get(NULL, 0));
    assert_null(tsr_devices_failure(NULL, 0));
    assert_string_equal(tsr_device_name(NULL), "");
    assert_string_equal(tsr_device_platform(NULL), "");
    assert_int_equal(tsr_device_is_host(NULL), 0);
    assert_null(tsr_session_context(NULL));
    assert_null(tsr_session_queue(NULL));
    assert_string_equal(tsr_session_build_log(NULL), "");
    tsr_devices_close(NULL);
    tsr_session_close(NULL);
    tsr_pinned_free(NULL, NULL);
}

static void a_session_adopts_no_null(void **state)
{
    tsr_session *s = NULL;
    tsr_error err = {0};

    (void)state;
    assert_int_not_equal(tsr_session_adopt(NULL, NULL, &s, &err), TSR_OK);
    assert_null(s);
    assert_int_equal(err.status, TSR_ECL);
    tsr_session_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_needed_is_named, open_host, close_host),
        cmocka_unit_test(nothing_has_nothing),
        cmocka_unit_test(a_session_adopts_no_null),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
