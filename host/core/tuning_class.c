#include "core/tuning_class.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/sizes.h"
#include "core/fields.h"
#include "core/real.h"

/* ---- names -------------------------------------------------------------------------------- */

/* A count as its class names it: a power of 2, or the exponent of one of 4. */
static size_t magnitude(const field *f, size_t n)
{
    unsigned exponent = 0;

    while (n >> exponent > 1)
        exponent++;
    return f->in_class == CLASS_POWER_OF_4 ? exponent / 2 : (size_t)1 << exponent;
}

/* Counts that are no extents: how often. */
static bool is_batch(const field *f)
{
    return f->kind == FIELD_COUNT && !f->extent && f->in_class != CLASS_NONE;
}

/* What a field adds to the words of a class, with a blank before it; flags are letters. */
static void append_word(const field *f, const problem *p, text *out)
{
    const tsr_type type = problem_type(p);

    switch (f->kind) {
    case FIELD_TYPE:
        text_append(out, tsr_type_name(type));
        break;
    case FIELD_WIDE:
        if (field_result(f, p) != type)
            text_format(out, " to %s", tsr_type_name(field_result(f, p)));
        break;
    case FIELD_PRECISION:
        if (!real_is_plain(type, problem_precision(p)))
            text_format(out, " %s", tsr_precision_name(problem_precision(p)));
        break;
    case FIELD_CHOICE:
        if (strcmp(field_choice_name(f, p), "none") != 0)
            text_format(out, " %s", field_choice_name(f, p));
        break;
    default:
        break;
    }
}

/* The words of a class, but for its numbers; those of batches too, unless `numbers` is false. */
static void append_words(const problem *p, char separator, bool numbers, text *out)
{
    static const field_kind order[] = {FIELD_TYPE, FIELD_WIDE, FIELD_COUNT, FIELD_PRECISION,
                                       FIELD_CHOICE};
    const operation_command *c = p->op->command;
    bool letters = false;

    for (size_t k = 0; k < ARRAY_COUNT(order); k++) {
        for (size_t i = 0; i < c->field_count; i++) {
            const field *f = &c->fields[i];

            if (f->in_class == CLASS_NONE || f->kind != order[k])
                continue;
            if (is_batch(f) && numbers && field_count(f, p) > 1)
                text_format(out, "%cx%zu", separator, magnitude(f, field_count(f, p)));
            append_word(f, p, out);
        }
    }
    for (size_t i = 0; i < c->field_count; i++)
        if (c->fields[i].in_class == CLASS_WHERE_SET && field_flag(&c->fields[i], p))
            text_format(out, "%c%s", separator, c->fields[i].name);
    for (size_t i = 0; i < c->field_count; i++) {
        const field *f = &c->fields[i];

        if (f->in_class != CLASS_EXACT || f->kind != FIELD_FLAG)
            continue;
        if (!letters)
            text_format(out, "%c", separator);
        text_append(out, field_flag(f, p) ? "t" : "n");
        letters = true;
    }
}

static char separator_of(const operation *op)
{
    return op->class_separator ? op->class_separator : ' ';
}

void tuning_class(const problem *p, text *out)
{
    const operation_command *c = p->op->command;
    char separator = separator_of(p->op);

    if (p->op->classify) {
        p->op->classify(p, out);
        return;
    }
    append_words(p, separator, true, out);
    for (size_t i = 0; i < c->field_count; i++) {
        const field *f = &c->fields[i];

        if (!f->extent || f->in_class == CLASS_NONE)
            continue;
        text_format(out, "%c%zu", separator, magnitude(f, field_count(f, p)));
        separator = 'x';
    }
}

bool tuning_class_is(const problem *p, const char *name)
{
    text own = {0};
    bool same;

    if (p->op->check(p, NULL))
        return false;
    tuning_class(p, &own);
    same = !own.failed && !strcmp(text_get(&own), name);
    text_free(&own);
    return same;
}

/* ---- what they hold ------------------------------------------------------------------------ */

/* The least count of that magnitude; 0 where there is none.  A batch is above 1. */
static size_t least_of(const field *f, size_t name)
{
    size_t n = name;

    if (f->in_class == CLASS_POWER_OF_4)
        n = name < 32 ? (size_t)1 << 2 * name : 0;
    return is_batch(f) ? size_max(n, 2) : n;
}

/* The number at *at, and go on behind it.  False where there is none. */
static bool take_number(const char **at, size_t *out)
{
    char *end;

    if (!isdigit((unsigned char)**at))
        return false;
    *out = (size_t)strtoull(*at, &end, 10);
    *at = end;
    return true;
}

/* Set counts as the numbers of a name say.  Where they stand is not looked at: the problem is to be
 * checked against the name. */
static void read_numbers(const char *name, problem *p)
{
    const operation_command *c = p->op->command;
    const char separator = separator_of(p->op);
    const char *sizes = strrchr(name, separator), *at;
    size_t n;

    for (size_t i = 0; i < c->field_count; i++) {
        const field *f = &c->fields[i];

        if (f->in_class == CLASS_NONE || f->kind != FIELD_COUNT)
            continue;
        if (f->extent && sizes && *sizes) {
            sizes++;
            if (take_number(&sizes, &n))
                field_set_count(f, p, least_of(f, n));
        }
        at = is_batch(f) ? strchr(name, separator) : NULL;
        while (at && (at[1] != 'x' || !isdigit((unsigned char)at[2])))
            at = strchr(at + 1, separator);
        at = at ? at + 2 : NULL;
        if (at && take_number(&at, &n))
            field_set_count(f, p, least_of(f, n));
    }
}

/* Values of a field that a class has as they are. */
static size_t value_count(const field *f)
{
    size_t count = 0;

    if (f->in_class == CLASS_WHERE_SET)
        return 2;
    if (f->in_class != CLASS_EXACT)
        return 1;
    if (f->kind == FIELD_TYPE)
        return TSR_TYPE_COUNT;
    if (f->kind == FIELD_PRECISION)
        return TSR_PRECISION_COUNT;
    if (f->kind == FIELD_WIDE)
        return f->also ? 3 : 2;
    if (f->kind != FIELD_CHOICE)
        return 2;
    while (f->choices[count].name)
        count++;
    return count;
}

static void set_value(const field *f, problem *p, size_t i)
{
    void *member = p->bytes + f->offset;

    if (f->in_class != CLASS_EXACT && f->in_class != CLASS_WHERE_SET)
        return;
    if (f->kind == FIELD_TYPE)
        problem_set_type(p, (tsr_type)i);
    else if (f->kind == FIELD_PRECISION)
        problem_set_precision(p, (tsr_precision)i);
    else if (f->kind == FIELD_CHOICE)
        field_set_count(f, p, f->choices[i].value);
    else if (i == RESULT_BF16 && f->kind == FIELD_WIDE)
        *(bool *)(void *)(p->bytes + f->also) = true;
    else
        *(bool *)member = i > 0;
}

/* A problem of the class: of all values of its other fields the ones that give the name. */
static bool problem_of_class(const operation *op, const char *name, problem *out)
{
    const operation_command *c = op->command;
    const given_options none = {0};
    size_t combinations = 1;

    for (size_t i = 0; i < c->field_count; i++)
        combinations *= value_count(&c->fields[i]);
    for (size_t k = 0; k < combinations; k++) {
        size_t rest = k;

        *out = problem_start(op);
        read_numbers(name, out);
        for (size_t i = 0; i < c->field_count; i++) {
            set_value(&c->fields[i], out, rest % value_count(&c->fields[i]));
            rest /= value_count(&c->fields[i]);
        }
        if ((!c->lay_out || !c->lay_out(out, &none, "", NULL, 0, NULL)) &&
            tuning_class_is(out, name))
            return true;
    }
    return false;
}

/* ", M 1024-2047": letters of a formula are capitals. */
static void append_range(const field *f, size_t least, text *out)
{
    const size_t power = least_of(f, magnitude(f, least));
    const size_t next =
        f->in_class == CLASS_POWER_OF_4 ? (size_t)4 << 2 * magnitude(f, least) : 2 * power;

    text_append(out, ", ");
    if (f->name[1])
        text_append(out, f->name);
    else
        text_format(out, "%c", toupper((unsigned char)f->name[0]));
    text_format(out, " %zu", power);
    if (next - 1 > power)
        text_format(out, "-%zu", next - 1);
}

static bool fields_class_text(const operation *op, const char *name, text *out)
{
    const operation_command *c = op->command;
    problem p;

    if (!problem_of_class(op, name, &p))
        return false;
    append_words(&p, ' ', false, out);
    for (size_t pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < c->field_count; i++) {
            const field *f = &c->fields[i];

            if (pass == 0 ? is_batch(f) && field_count(f, &p) > 1
                          : f->extent && f->in_class != CLASS_NONE)
                append_range(f, field_count(f, &p), out);
        }
    }
    return true;
}

void tuning_class_text(const operation *op, const char *name, text *out)
{
    const bool known = *name && (op->class_text ? op->class_text(name, out)
                                 : op->classify ? false
                                                : fields_class_text(op, name, out));

    if (!known)
        text_append(out, *name ? name : "every class");
}
