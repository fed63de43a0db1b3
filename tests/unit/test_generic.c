/* Operations by their descriptions alone (tessera/generic.h), whatever operations there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "core/operation.h"
#include "tessera/generic.h"

/* Bytes that no member covers are padding: fewer than what aligns the next one, or the structure.
 */
static void members_are_the_whole_structure(void **state)
{
    const tsr_operation *op;

    (void)state;
    for (size_t i = 0; (op = tsr_operation_get(i)); i++) {
        const size_t bytes = tsr_operation_problem_bytes(op);
        const char *names[64];
        size_t owner[PROBLEM_BYTES_MAX] = {0}, count = 0, bare = 0;
        tsr_member m;

        for (; tsr_operation_member(op, count, &m); count++) {
            assert_in_range(m.bytes, 1, 8);
            assert_in_range(m.offset + m.bytes, 1, bytes);
            assert_int_equal(m.offset % m.bytes, 0);
            for (size_t b = m.offset; b < m.offset + m.bytes; b++) {
                if (owner[b])
                    fail_msg("%s: %s and member %zu share byte %zu", tsr_operation_name(op), m.name,
                             owner[b] - 1, b);
                owner[b] = count + 1;
            }
            for (size_t k = 0; k < count; k++)
                assert_string_not_equal(names[k], m.name);
            names[count] = m.name;
            assert_true((m.choice_count > 0) == (m.kind == TSR_MEMBER_CHOICE));
        }
        for (size_t b = 0; b < bytes; b++) {
            bare = owner[b] ? 0 : bare + 1;
            if (bare == 8 || (bare && b + 1 < bytes && owner[b + 1] && (b + 1) % 4))
                fail_msg("%s: byte %zu of its problem is of no member", tsr_operation_name(op), b);
        }
    }
}

static void calls_are_checked(void **state)
{
    const tsr_operation *op = tsr_operation_get(0);
    unsigned char p[PROBLEM_BYTES_MAX + 1];
    tsr_operand operands[TSR_OPERANDS_MAX];
    size_t count = 0;
    tsr_error err;

    (void)state;
    assert_string_equal(tsr_operation_name(NULL), "");
    assert_string_equal(tsr_operation_summary(NULL), "");
    assert_int_equal(tsr_operation_problem_bytes(NULL), 0);
    assert_false(tsr_operation_takes(NULL, TSR_F32));
    assert_false(tsr_operation_takes(op, TSR_TYPE_COUNT));
    assert_false(tsr_operation_takes(op, (tsr_type)(32 + TSR_F32)));
    assert_int_equal(tsr_operation_operands(NULL, p, operands, &count, &err), TSR_EINVAL);
    assert_int_equal(tsr_operation_operands(op, NULL, operands, &count, &err), TSR_EINVAL);
    assert_int_equal(tsr_operation_operands(op, p, NULL, &count, &err), TSR_EINVAL);
    assert_int_equal(tsr_operation_run(NULL, op, p, NULL, NULL, NULL, &err), TSR_EINVAL);
    assert_int_equal(tsr_operation_enqueue(NULL, op, p, NULL, NULL, NULL, &err), TSR_EINVAL);
}

/* A problem of no element is one that every operation describes, or refuses with a message; no
 * initialiser sets a flag. */
static void problems_start(void **state)
{
    const tsr_operation *op;

    (void)state;
    for (size_t i = 0; (op = tsr_operation_get(i)); i++) {
        unsigned char p[PROBLEM_BYTES_MAX + 1];
        tsr_operand operands[TSR_OPERANDS_MAX];
        tsr_member member;
        size_t count = 0;
        tsr_error err = {0};

        memset(p, 0xa5, sizeof(p));
        tsr_operation_start(op, p);
        assert_int_equal(p[tsr_operation_problem_bytes(op)], 0xa5);
        for (size_t k = 0; tsr_operation_member(op, k, &member); k++)
            assert_true(member.kind != TSR_MEMBER_FLAG || p[member.offset] == 0);
        if (tsr_operation_operands(op, p, operands, &count, &err))
            assert_true(strlen(err.message) > 0);
        else
            assert_in_range(count, 1, TSR_OPERANDS_MAX);
        for (size_t k = 0; k < count; k++)
            assert_true(operands[k].name && operands[k].access);
        assert_true(strlen(tsr_operation_summary(op)) > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_the_whole_structure),
        cmocka_unit_test(calls_are_checked),
        cmocka_unit_test(problems_start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
