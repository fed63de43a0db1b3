/* What operations say of their problems is whole: fields, options, files and sizes, whatever
 * operations there come to be.  Commands rely on it without asking. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "core/fields.h"
#include "core/registry.h"

/* Two fields may share an option only where different commands take it. */
static void options_are_told_apart(void **state)
{
    const operation *op;

    (void)state;
    for (size_t i = 0; (op = operation_at(i)); i++) {
        const operation_command *c = op->command;

        for (size_t k = 0; k < c->field_count; k++) {
            const field *f = &c->fields[k];
            text expected = {0};

            assert_true(f->name || f->option);
            assert_true(f->offset < PROBLEM_BYTES_MAX);
            if (!f->option)
                continue;
            assert_true(f->taken && f->meaning && *f->meaning);
            field_expects(f, &expected);
            assert_true(!f->value == !expected.length);
            text_free(&expected);
            for (size_t j = 0; j < k; j++)
                if (c->fields[j].option && !strcmp(c->fields[j].option, f->option))
                    assert_false(c->fields[j].taken & f->taken);
        }
    }
}

/* What an option takes is written from what it reads: each name once, the first of those that mean
 * the same. */
static void choices_are_named(void **state)
{
    static const field_choice choices[] = {
        {"none", 0}, {"float32", 4}, {"f32", 4}, {"float64", 8}, {NULL, 0}};
    const field named = {.kind = FIELD_CHOICE, .choices = choices};
    const field precision = {.kind = FIELD_PRECISION};
    const field told = {.kind = FIELD_COUNT, .expects = "a whole number"};
    text expected = {0};

    (void)state;
    field_expects(&named, &expected);
    assert_string_equal(text_get(&expected), "none, float32 or float64");
    text_free(&expected);
    field_expects(&precision, &expected);
    assert_string_equal(text_get(&expected), "f32, f32-strict, tf32, bf16, f16, f64, i8 or f8");
    text_free(&expected);
    field_expects(&told, &expected);
    assert_string_equal(text_get(&expected), "a whole number");
    text_free(&expected);
    assert_string_equal(field_closest(&named, "nonee"), "none");
    assert_null(field_closest(&named, "int16"));
    assert_null(field_closest(&told, "a"));
}

/* An option that several operations have takes a value with all of them, or with none. */
static void options_of_one_name_are_alike(void **state)
{
    const operation *op, *other;

    (void)state;
    for (size_t i = 0; (op = operation_at(i)); i++) {
        for (size_t k = 0; k < op->command->field_count; k++) {
            const field *f = &op->command->fields[k];

            for (size_t j = 0; f->option && (other = operation_at(j)); j++) {
                const field *same = field_of_option(other, f->option, f->taken);

                if (same)
                    assert_true(!same->value == !f->value &&
                                (same->kind == f->kind || same->kind == FIELD_ASKED ||
                                 f->kind == FIELD_ASKED));
            }
        }
    }
}

static void files_and_sizes_are_whole(void **state)
{
    const operation *op;

    (void)state;
    for (size_t i = 0; (op = operation_at(i)); i++) {
        const operation_command *c = op->command;
        size_t extents = 0;

        for (size_t k = 0; k < c->file_count; k++)
            assert_true(c->files[k].operand < OPERANDS_MAX);
        for (size_t k = 0; k < c->field_count; k++)
            extents += c->fields[k].extent;
        assert_true(op->result < OPERANDS_MAX && c->pose && c->help &&
                    (c->no_output || c->prints_result));
        assert_true(c->host_source && c->problem_bytes && c->problem_bytes <= PROBLEM_BYTES_MAX);
        assert_true(op->types & 1u << op->default_type);
        assert_true(extents == c->size_numbers || c->lay_out);
        assert_true(c->sizes.bench && c->sizes.roofline && c->sizes.roofline_cpu);
        assert_true(c->sizes.tune && c->sizes.tune[0] && c->sizes.tune_cpu && c->sizes.tune_cpu[0]);
        assert_true(!op->products == !op->product);
    }
}

/* What an option says is found in the problem, and a wrong value is none. */
static void values_are_read(void **state)
{
    const operation *op;

    (void)state;
    for (size_t i = 0; (op = operation_at(i)); i++) {
        for (size_t k = 0; k < op->command->field_count; k++) {
            const field *f = &op->command->fields[k];
            problem p = problem_start(op);

            if (!f->option)
                continue;
            if (f->choices) {
                assert_true(field_read(f, f->choices[0].name, &p));
                assert_false(field_read(f, "no such choice", &p));
            } else if (f->kind == FIELD_COUNT) {
                assert_true(field_read(f, "3", &p));
                assert_int_equal(*(size_t *)(void *)(p.bytes + f->offset), 3);
                assert_false(field_read(f, "0", &p));
                assert_false(field_read(f, "3x", &p));
                assert_false(field_read(f, "99999999999999999999", &p));
            } else if (f->kind == FIELD_REAL) {
                assert_true(field_read(f, "-2.5", &p));
                assert_true(field_real(f, &p) == -2.5);
                assert_false(field_read(f, " 1", &p));
            } else if (f->kind == FIELD_FLAG) {
                assert_true(field_flag(f, &p) == (f->normal > 0));
                assert_true(field_read(f, "", &p) && field_flag(f, &p) == !(f->normal > 0));
            }
        }
    }
}

static void types_and_precisions(void **state)
{
    const operation *op;

    (void)state;
    for (size_t i = 0; (op = operation_at(i)); i++) {
        problem p = problem_start(op);

        problem_set_type(&p, op->default_type);
        assert_int_equal(problem_type(&p), op->default_type);
        problem_set_precision(&p, TSR_PRECISION_F64);
        assert_int_equal(problem_precision(&p), field_of_kind(op, FIELD_PRECISION)
                                                    ? TSR_PRECISION_F64
                                                    : TSR_PRECISION_DEFAULT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(options_are_told_apart),
                                       cmocka_unit_test(choices_are_named),
                                       cmocka_unit_test(options_of_one_name_are_alike),
                                       cmocka_unit_test(files_and_sizes_are_whole),
                                       cmocka_unit_test(values_are_read),
                                       cmocka_unit_test(types_and_precisions)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
