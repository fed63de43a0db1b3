#include "core/size_text.h"

#include <assert.h>
#include <ctype.h>

#include "base/sizes.h"
#include "core/fields.h"

static size_outcome read_digits(const char **at, size_t *out)
{
    size_t n = 0;

    if (!isdigit((unsigned char)**at))
        return SIZE_MALFORMED;
    for (; isdigit((unsigned char)**at); ++*at)
        if (!size_mul(n, 10, &n) || !size_add(n, (size_t)(**at - '0'), &n))
            return SIZE_TOO_LARGE;
    *out = n;
    return SIZE_READ;
}

static size_outcome read_power(size_t base, size_t exponent, size_t *out)
{
    size_t n = 1;

    if (base < 2 && exponent)
        n = base;
    for (size_t i = 0; base >= 2 && i < exponent; i++)
        if (!size_mul(n, base, &n))
            return SIZE_TOO_LARGE;
    *out = n;
    return SIZE_READ;
}

/* "1024", "10M" or "2^24"; *at moves behind it. */
static size_outcome read_number(const char **at, size_t *out)
{
    size_t exponent, factor = 1;
    size_outcome got = read_digits(at, out);

    if (got != SIZE_READ)
        return got;
    if (**at == '^') {
        ++*at;
        got = read_digits(at, &exponent);
        return got == SIZE_READ ? read_power(*out, exponent, out) : got;
    }
    if (**at == 'k' || **at == 'K')
        factor = 1000;
    else if (**at == 'M')
        factor = 1000000;
    else if (**at == 'G')
        factor = 1000000000;
    if (factor > 1)
        ++*at;
    return size_mul(*out, factor, out) ? SIZE_READ : SIZE_TOO_LARGE;
}

size_outcome size_read(const char *size, size_t out[SIZE_NUMBERS_MAX], size_t *count)
{
    for (*count = 0; *count < SIZE_NUMBERS_MAX;) {
        const size_outcome got = read_number(&size, &out[(*count)++]);

        if (got != SIZE_READ || !*size)
            return got;
        if (*size != 'x' && *size != 'X')
            return SIZE_MALFORMED;
        size++;
    }
    return SIZE_MALFORMED;
}

void problem_set_extents(problem *p, const size_t *n, size_t count)
{
    const operation_command *c = p->op->command;
    size_t next = 0;

    for (size_t i = 0; i < c->field_count; i++)
        if (c->fields[i].extent)
            field_set_count(&c->fields[i], p, n[count == 1 ? 0 : next++]);
}

tsr_status problem_of_size(const operation *op, const char *size, tsr_type type, problem *out,
                           tsr_error *err)
{
    static const given_options nothing;
    const operation_command *c = op->command;
    size_t n[SIZE_NUMBERS_MAX] = {0}, count = 0;
    const bool read = size_read(size, n, &count) == SIZE_READ;
    tsr_status st = TSR_OK;

    assert(read && "the sizes of an operation's descriptor are sizes");
    (void)read;
    *out = problem_start(op);
    problem_set_type(out, type);
    problem_set_extents(out, n, count);
    if (c->lay_out)
        st = c->lay_out(out, &nothing, size, n, count, err);
    return st ? st : op->check(out, err);
}
