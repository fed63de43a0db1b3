#include "cli/bench_problem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "cli/operands.h"
#include "core/fields.h"
#include "core/registry.h"
#include "core/size_text.h"

/* A lone number, or as many as the operation takes. */
static tsr_status read_size(const operation *op, const char *size, size_t out[SIZE_NUMBERS_MAX],
                            size_t *count, tsr_error *err)
{
    const size_outcome got = size_read(size, out, count);

    if (got == SIZE_TOO_LARGE)
        return tsr_fail(err, TSR_ENAME, 0, "--size '%s' is too large: a number is at most %zu",
                        size, SIZE_MAX);
    if (got == SIZE_READ && (*count == 1 || *count == op->command->size_numbers))
        return TSR_OK;
    return tsr_fail(err, TSR_ENAME, 0, "--size '%s' is no size of %s, which takes %s", size,
                    op->name, op->command->size_form);
}

/* Nothing is measured on a problem of nothing; `verify` has empty ones too. */
static tsr_status check_full(const operation *op, const char *size, size_t count,
                             const size_t n[SIZE_NUMBERS_MAX], tsr_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (n[i] == 0)
            return tsr_fail(err, TSR_ENAME, 0,
                            "--size '%s' is an empty %s: there is nothing to measure", size,
                            op->name);
    return TSR_OK;
}

/* The option of an operation that a name is close to, by all commands that take sizes; NULL where
 * there is none. */
static const char *closest_option(const operation *op, const char *name)
{
    const operation_command *c = op->command;
    const char **names = calloc(c->field_count + 1, sizeof *names);
    const char *closest = NULL;
    size_t count = 0;

    for (size_t i = 0; names && i < c->field_count; i++)
        if (c->fields[i].option && (c->fields[i].taken & (WITH_SIZES | WITH_INPUTS)))
            names[count++] = c->fields[i].option;
    if (names)
        closest = text_closest(name, names, count);
    free(names);
    return closest;
}

/* The first option given that the operation has no use for. */
static tsr_status check_options(const operation *op, const options *o, tsr_error *err)
{
    static const option_id of_overlap[] = {OPTION_QUEUES, OPTION_CHUNKS, OPTION_PINNED,
                                           OPTION_ROUNDS};
    const operation *other;
    const char *closest;
    text owners = {0};

    for (size_t i = 0; i < o->settings.count; i++) {
        const char *option = o->settings.list[i].option;

        if (field_of_option(op, option, WITH_SIZES | WITH_INPUTS))
            continue;
        for (size_t k = 0; (other = operation_at(k)); k++)
            if (field_of_option(other, option, WITH_SIZES | WITH_INPUTS))
                text_format(&owners, "%s%s", owners.length ? " and " : "", other->name);
        closest = closest_option(op, option);
        tsr_fail(err, TSR_ENAME, 0, "%s has no --%s, which belongs to %s%s%s%s", op->name, option,
                 text_get(&owners), closest ? ": did you mean --" : "", closest ? closest : "",
                 closest ? "?" : "");
        text_free(&owners);
        return TSR_ENAME;
    }
    for (size_t i = 0; i < ARRAY_COUNT(of_overlap); i++)
        if (o->given[of_overlap[i]])
            return tsr_fail(err, TSR_ENAME, 0, "%s has no --%s, which belongs to overlap", op->name,
                            option_name(of_overlap[i]));
    return TSR_OK;
}

/* The problem is made of the command line alone, so what is wrong with it is too. */
static tsr_status blame_command_line(tsr_error *err)
{
    if (err)
        err->status = TSR_ENAME;
    return TSR_ENAME;
}

tsr_status bench_problem(const operation *op, const char *size, const options *o, problem *out,
                         tsr_error *err)
{
    const operation_command *c = op->command;
    size_t n[SIZE_NUMBERS_MAX] = {0}, count = 0;
    tsr_status st = check_options(op, o, err);

    assert(c->size_numbers <= SIZE_NUMBERS_MAX);
    if (st)
        return st;
    if (!size)
        size = c->sizes.bench;
    *out = problem_start(op);
    fields_set(out, &o->settings, WITH_SIZES | WITH_INPUTS);
    problem_set_type(out, o->given[OPTION_TYPE]                         ? o->type
                          : problem_precision(out) == TSR_PRECISION_F64 ? TSR_F64
                                                                        : op->default_type);
    st = read_size(op, size, n, &count, err);
    st = st ? st : operands_check_rounding(out, err);
    if (!st)
        problem_set_extents(out, n, count);
    if (!st && c->lay_out)
        st = c->lay_out(out, &o->settings, size, n, count, err);
    st = st ? st : check_full(op, size, count, n, err);
    st = st ? st : op->check(out, err);
    return st ? blame_command_line(err) : TSR_OK;
}

tsr_status bench_count(const char *size, const char *what, const char *takes, size_t *out,
                       tsr_error *err)
{
    size_t n[SIZE_NUMBERS_MAX] = {0}, count = 0;
    const size_outcome got = size_read(size, n, &count);

    if (got == SIZE_TOO_LARGE)
        return tsr_fail(err, TSR_ENAME, 0, "--size '%s' is too large: a number is at most %zu",
                        size, SIZE_MAX);
    if (got != SIZE_READ || count != 1 || n[0] == 0)
        return tsr_fail(err, TSR_ENAME, 0, "--size '%s' is no size of %s, which takes %s", size,
                        what, takes);
    *out = n[0];
    return TSR_OK;
}

tsr_status bench_words(const char *size, size_t *out, tsr_error *err)
{
    return bench_count(size, "overlap", "a whole number of 4-byte words above 0", out, err);
}
