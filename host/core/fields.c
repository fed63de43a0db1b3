#include "core/fields.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/elements.h"
#include "base/sizes.h"

const field *field_of_kind(const operation *op, field_kind kind)
{
    for (size_t i = 0; i < op->command->field_count; i++)
        if (op->command->fields[i].kind == kind)
            return &op->command->fields[i];
    return NULL;
}

const field *field_of_option(const operation *op, const char *option, unsigned taken)
{
    for (size_t i = 0; i < op->command->field_count; i++) {
        const field *f = &op->command->fields[i];

        if (f->option && (f->taken & taken) && !strcmp(f->option, option))
            return f;
    }
    return NULL;
}

/* strtod alone would take " 1" and "1x". */
bool real_read(const char *value, double *out)
{
    char *end = NULL;
    double x;

    if (!*value || isspace((unsigned char)*value))
        return false;
    errno = 0;
    x = strtod(value, &end);
    if (*end || (errno == ERANGE && isinf(x)))
        return false;
    *out = x;
    return true;
}

bool interval_read(const char *value, double *low, double *high)
{
    const char *colon = strchr(value, ':');
    text first = {0};
    bool found = false;

    if (colon)
        text_append_bytes(&first, value, (size_t)(colon - value));
    if (colon && !first.failed)
        found = real_read(text_get(&first), low) && real_read(colon + 1, high) && isfinite(*low) &&
                isfinite(*high) && *low <= *high;
    text_free(&first);
    return found;
}

bool whole_read(const char *value, uint64_t *out)
{
    char *end = NULL;
    unsigned long long n;

    if (!isdigit((unsigned char)*value))
        return false;
    errno = 0;
    n = strtoull(value, &end, 10);
    if (*end || errno == ERANGE)
        return false;
    *out = n;
    return true;
}

bool precision_read(const char *name, tsr_precision *out)
{
    for (int p = TSR_PRECISION_DEFAULT + 1; p < TSR_PRECISION_COUNT; p++) {
        if (!strcmp(name, tsr_precision_name((tsr_precision)p))) {
            *out = (tsr_precision)p;
            return true;
        }
    }
    return false;
}

enum { CHOICES_MAX = 32 };

/* Names of a field's choices, those that mean the same once, by their first name. */
static size_t choice_names(const field *f, const char *names[CHOICES_MAX])
{
    size_t count = 0;

    for (size_t i = 0; f->choices && f->choices[i].name && count < CHOICES_MAX; i++) {
        bool again = false;

        for (size_t k = 0; k < i && !again; k++)
            again = f->choices[k].value == f->choices[i].value;
        if (!again)
            names[count++] = f->choices[i].name;
    }
    for (int p = TSR_PRECISION_DEFAULT + 1;
         f->kind == FIELD_PRECISION && !f->choices && p < TSR_PRECISION_COUNT; p++)
        names[count++] = tsr_precision_name((tsr_precision)p);
    return count;
}

void field_expects(const field *f, text *out)
{
    const char *names[CHOICES_MAX];
    const size_t count = f->expects ? 0 : choice_names(f, names);

    if (f->expects)
        text_append(out, f->expects);
    for (size_t i = 0; i < count; i++)
        text_format(out, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", names[i]);
}

const char *field_closest(const field *f, const char *value)
{
    const char *names[CHOICES_MAX];

    return text_closest(value, names, f->expects ? 0 : choice_names(f, names));
}

static bool choice_read(const field *f, const char *value, size_t *out)
{
    for (const field_choice *c = f->choices; c->name; c++) {
        if (!strcmp(c->name, value)) {
            *out = c->value;
            return true;
        }
    }
    return false;
}

bool field_read(const field *f, const char *value, problem *p)
{
    problem unused = {0};
    double low, high;
    void *member = (p ? p : &unused)->bytes + f->offset;
    size_t chosen = 0;
    uint64_t n;

    if (f->choices && !choice_read(f, value, &chosen))
        return false;
    switch (f->kind) {
    case FIELD_COUNT:
        if (!f->choices) {
            if (!whole_read(value, &n) || n == 0 || n > (f->most ? f->most : SIZE_MAX))
                return false;
            chosen = (size_t)n;
        }
        *(size_t *)member = chosen;
        return true;
    case FIELD_CHOICE:
        *(size_t *)member = chosen;
        return true;
    case FIELD_WIDE:
        if (chosen == RESULT_BF16)
            member = (p ? p : &unused)->bytes + f->also;
        *(bool *)member = true;
        return true;
    case FIELD_FLAG:
        *(bool *)member = !(f->normal > 0);
        return true;
    case FIELD_REAL:
        return (!f->reads || f->reads(value)) && real_read(value, member);
    case FIELD_PRECISION:
        if (f->choices)
            *(tsr_precision *)member = (tsr_precision)chosen;
        return f->choices || precision_read(value, member);
    case FIELD_INTERVAL:
        return interval_read(value, &low, &high);
    case FIELD_INPUTS:
        (p ? p : &unused)->inputs = (distribution)chosen;
        return true;
    case FIELD_TYPE:
        assert(!"an operation's type is no option of its own");
        return false;
    case FIELD_ASKED:
        if (f->reads)
            return f->reads(value);
        return !f->value || f->choices || (whole_read(value, &n) && n > 0);
    }
    return true;
}

problem problem_start(const operation *op)
{
    problem p = {.op = op};

    for (size_t i = 0; i < op->command->field_count; i++) {
        const field *f = &op->command->fields[i];

        if (f->kind == FIELD_REAL)
            *(double *)(void *)(p.bytes + f->offset) = f->normal;
        else if (f->kind == FIELD_FLAG)
            *(bool *)(void *)(p.bytes + f->offset) = f->normal > 0;
    }
    return p;
}

void fields_set(problem *p, const given_options *given, unsigned taken)
{
    for (size_t i = 0; i < given->count; i++) {
        const field *f = field_of_option(p->op, given->list[i].option, taken);

        if (f)
            field_read(f, given->list[i].value, p);
    }
}

static size_t count_of(const field *f, const problem *p)
{
    return *(const size_t *)(const void *)(p->bytes + f->offset);
}

size_t field_count(const field *f, const problem *p)
{
    const size_t n = count_of(f, p);

    if (f->zero == ZERO_IS_ONE)
        return n ? n : 1;
    if (f->zero == ZERO_IS_ALL) {
        for (size_t i = 0; i < p->op->command->field_count; i++) {
            const field *all = &p->op->command->fields[i];

            if (all->name && !strcmp(all->name, f->bound))
                return n ? size_min(n, count_of(all, p)) : count_of(all, p);
        }
    }
    return n;
}

bool field_is_set(const field *f, const problem *p)
{
    return count_of(f, p) > 0;
}

void field_set_count(const field *f, problem *p, size_t n)
{
    *(size_t *)(void *)(p->bytes + f->offset) = n;
}

bool field_flag(const field *f, const problem *p)
{
    return *(const bool *)(p->bytes + f->offset);
}

tsr_type field_result(const field *f, const problem *p)
{
    if (field_flag(f, p))
        return TSR_F32;
    return f->also && *(const bool *)(p->bytes + f->also) ? TSR_BF16 : problem_type(p);
}

double field_real(const field *f, const problem *p)
{
    return *(const double *)(const void *)(p->bytes + f->offset);
}

const char *field_choice_name(const field *f, const problem *p)
{
    for (const field_choice *c = f->choices; c->name; c++)
        if (c->value == count_of(f, p))
            return c->name;
    return "?";
}

void problem_size(const problem *p, text *out)
{
    const operation_command *c = p->op->command;
    const char *separator = "";

    if (p->op->size_text) {
        p->op->size_text(p, out);
        return;
    }
    for (size_t i = 0; i < c->field_count; i++) {
        if (!c->fields[i].extent)
            continue;
        text_format(out, "%s%zu", separator, field_count(&c->fields[i], p));
        separator = "x";
    }
}

/* Each of the extents takes its part of the factor of 64, unless it is small. */
void problem_shrink(problem *p)
{
    static const size_t parts[] = {1, 64, 8, 4};
    const operation_command *c = p->op->command;
    size_t extents = 0;

    if (p->op->shrink) {
        p->op->shrink(p);
        return;
    }
    for (size_t i = 0; i < c->field_count; i++)
        extents += c->fields[i].extent;
    for (size_t i = 0; i < c->field_count; i++) {
        const field *f = &c->fields[i];
        const size_t part = parts[size_min(extents, ARRAY_COUNT(parts) - 1)];

        if (f->extent && count_of(f, p) > part)
            field_set_count(f, p, count_of(f, p) / part);
    }
}

tsr_type problem_type(const problem *p)
{
    const field *f = field_of_kind(p->op, FIELD_TYPE);

    return f ? *(const tsr_type *)(const void *)(p->bytes + f->offset) : p->op->default_type;
}

work_unit problem_unit(const problem *p)
{
    const tsr_type type = problem_type(p);

    if (p->op->unit == WORK_FLOPS && !type_is_real(type) && !type_is_fp8(type) &&
        !type_is_complex(type))
        return WORK_OPS;
    return p->op->unit;
}

tsr_precision problem_precision(const problem *p)
{
    const field *f = field_of_kind(p->op, FIELD_PRECISION);

    return f ? *(const tsr_precision *)(const void *)(p->bytes + f->offset) : TSR_PRECISION_DEFAULT;
}

void problem_set_type(problem *p, tsr_type type)
{
    const field *f = field_of_kind(p->op, FIELD_TYPE);

    if (f)
        *(tsr_type *)(void *)(p->bytes + f->offset) = type;
}

void problem_set_precision(problem *p, tsr_precision precision)
{
    const field *f = field_of_kind(p->op, FIELD_PRECISION);

    if (f)
        *(tsr_precision *)(void *)(p->bytes + f->offset) = precision;
}
