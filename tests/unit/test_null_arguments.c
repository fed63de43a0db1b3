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
    refused(tsr_session_adopt(NULL, NULL, &session, &err), &err,
            "tsr_session_adopt: queue is NULL");
    refused(tsr_session_warm(NULL, NULL, NULL, NULL, &err), &err,
            "tsr_session_warm: the session is NULL");
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
    assert_int_equal(tsr_device_kind(NULL), TSR_KIND_NONE);
    assert_int_equal(tsr_device_compute_units(NULL), 0);
    assert_int_equal(tsr_device_global_memory(NULL), 0);
    assert_int_equal(tsr_device_unified_memory(NULL), 0);
    assert_string_equal(tsr_operation_name(NULL), "");
    assert_string_equal(tsr_operation_summary(NULL), "");
    assert_int_equal(tsr_operation_takes(NULL, TSR_F32), 0);
    assert_int_equal(tsr_operation_problem_bytes(NULL), 0);
    assert_int_equal(tsr_operation_member(NULL, 0, NULL), 0);
    assert_int_equal(tsr_operation_member(tsr_operation_get(0), 0, NULL), 0);
    tsr_operation_start(NULL, NULL);
    tsr_operation_start(tsr_operation_get(0), NULL);
    assert_null(tsr_session_context(NULL));
    assert_null(tsr_session_queue(NULL));
    assert_string_equal(tsr_session_build_log(NULL), "");
    tsr_devices_close(NULL);
    tsr_session_close(NULL);
    tsr_pinned_free(NULL, NULL);
}

/* The calls of every operation. */
static void operations_name_what_they_lack(void **state)
{
    const fixture *f = *state;
    static max_align_t memory[256];
    tsr_operand operands[TSR_OPERANDS_MAX];
    const tsr_operation *op;
    tsr_error err[7];
    char message[100];
    size_t n = 0;

    for (size_t i = 0; (op = tsr_operation_get(i)); i++) {
        assert_true(tsr_operation_problem_bytes(op) <= sizeof(memory));
        tsr_operation_start(op, memory);
        const char *name = tsr_operation_name(op);
        const struct {
            tsr_status got;
            const char *who, *lacks;
        } table[] = {
            {tsr_operation_operands(op, NULL, operands, &n, &err[0]), name, "the problem is NULL"},
            {tsr_operation_operands(op, memory, NULL, &n, &err[1]), "tsr_operation_operands",
             "out is NULL"},
            {tsr_operation_operands(op, memory, operands, NULL, &err[2]), "tsr_operation_operands",
             "count is NULL"},
            {tsr_operation_run(f->session, op, NULL, NULL, NULL, NULL, &err[3]), name,
             "the problem is NULL"},
            {tsr_operation_run(f->session, op, memory, NULL, NULL, NULL, &err[4]), name,
             "the operands are NULL"},
            {tsr_operation_enqueue(f->session, op, NULL, NULL, NULL, NULL, &err[5]), name,
             "the problem is NULL"},
            {tsr_operation_enqueue(f->session, op, memory, NULL, NULL, NULL, &err[6]), name,
             "the operands are NULL"},
        };

        for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++) {
            snprintf(message, sizeof(message), "%s: %s", table[k].who, table[k].lacks);
            refused(table[k].got, &err[k], message);
        }
    }
    refused(tsr_operation_operands(NULL, memory, operands, &n, err), err, "the operation is NULL");
    refused(tsr_operation_run(f->session, NULL, memory, NULL, NULL, NULL, err), err,
            "the operation is NULL");
    refused(tsr_operation_enqueue(f->session, NULL, memory, NULL, NULL, NULL, err), err,
            "the operation is NULL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_needed_is_named, open_host, close_host),
        cmocka_unit_test(nothing_has_nothing),
        cmocka_unit_test_setup_teardown(operations_name_what_they_lack, open_host, close_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
