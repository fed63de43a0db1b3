#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/elements.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "core/fields.h"
#include "core/posing.h"
#include "core/real.h"
#include "ops/select/select_problem.h"

/* ---- conditions ---------------------------------------------------------------------------- */

static const field_choice comparisons[] = {
    {">", TSR_GREATER},     {">=", TSR_GREATER_EQUAL},  {"<", TSR_LESS},
    {"<=", TSR_LESS_EQUAL}, {"==", TSR_EQUAL},          {"!=", TSR_NOT_EQUAL},
    {"isnan", TSR_IS_NAN},  {"notnan", TSR_IS_NOT_NAN}, {NULL, 0}};

/* The comparison that a text begins with, the longest one, and what is behind it and blanks; NULL
 * where there is none. */
static const char *comparison_read(const char *spelled, size_t *where)
{
    const field_choice *best = NULL;

    spelled += strspn(spelled, " ");
    for (const field_choice *c = comparisons; c->name; c++)
        if (!strncmp(spelled, c->name, strlen(c->name)) &&
            (!best || strlen(c->name) > strlen(best->name)))
            best = c;
    if (!best)
        return NULL;
    *where = best->value;
    spelled += strlen(best->name);
    return spelled + strspn(spelled, " ");
}

/* A whole number, or one of those beyond 64 bits: the sign and the magnitude, UINT64_MAX of the
 * latter. */
typedef struct whole {
    bool negative, beyond;
    uint64_t magnitude;
} whole;

static bool is_less(whole a, whole b)
{
    if (a.negative != b.negative)
        return a.negative;
    if (a.beyond != b.beyond)
        return a.beyond == a.negative;
    return a.negative ? a.magnitude > b.magnitude : a.magnitude < b.magnitude;
}

static bool digits_read(const char *spelled, whole *out)
{
    const bool minus = *spelled == '-';

    *out = (whole){0};
    if (!whole_read(spelled + minus, &out->magnitude))
        return false;
    out->negative = minus && out->magnitude;
    return true;
}

/* "-12.5": the largest whole number up to it, of all its digits, and whether it is one itself. */
static bool decimal_read(const char *spelled, whole *out, bool *is_whole)
{
    const size_t before = strcspn(spelled, ".");
    const char *fraction = spelled + before + (spelled[before] == '.');
    char first[32];

    if (before >= sizeof(first) || strspn(fraction, "0123456789") != strlen(fraction))
        return false;
    memcpy(first, spelled, before);
    first[before] = 0;
    if (!digits_read(first, out) || out->magnitude == UINT64_MAX)
        return false;
    *is_whole = !fraction[strspn(fraction, "0")];
    if (*spelled == '-' && !*is_whole) {
        out->negative = true;
        out->magnitude++;
    }
    return true;
}

/* The largest whole number up to x, no NaN. */
static whole floor_of(double x)
{
    const double f = floor(x);
    whole w = {.negative = f < 0, .beyond = fabs(f) >= 0x1p64, .magnitude = UINT64_MAX};

    if (!w.beyond)
        w.magnitude = (uint64_t)fabs(f);
    return w;
}

/* Integers of a type as a number has them compared: an integer of the type in its place, and the
 * comparison that goes with that.  Those that always or never hold are compared with the largest.
 */
static void compare_wholes(const char *number, double real, tsr_select_problem *p)
{
    const bool is_signed = type_is_signed(p->type);
    const unsigned bits = (unsigned)(8 * tsr_type_size(p->type)) - is_signed;
    const whole most = {.magnitude = UINT64_MAX >> (64 - bits)};
    const whole least = {.negative = is_signed, .magnitude = is_signed ? most.magnitude + 1 : 0};
    bool always = p->where == TSR_NOT_EQUAL, never = p->where == TSR_EQUAL;
    const bool above = p->where == TSR_GREATER || p->where == TSR_GREATER_EQUAL;
    bool is_whole = floor(real) == real;
    whole w;

    if (!digits_read(number, &w)) {
        if (!decimal_read(number, &w, &is_whole))
            w = isnan(real) ? most : floor_of(real);
        if (isnan(real)) {
            never = !always;
        } else if (is_whole) {
            always = never = false;
        } else if (!always && !never) {
            p->where = above ? TSR_GREATER : TSR_LESS_EQUAL;
        }
    } else {
        always = never = false;
    }
    if (is_less(most, w)) {
        never = above || p->where == TSR_EQUAL;
        always = !never;
    } else if (is_less(w, least)) {
        always = above || p->where == TSR_NOT_EQUAL;
        never = !always;
    }
    if (always || never) {
        p->where = always ? TSR_LESS_EQUAL : TSR_GREATER;
        w = most;
    }
    if (is_signed)
        p->value.integer = (int64_t)(w.negative ? 0 - w.magnitude : w.magnitude);
    else
        p->value.natural = w.magnitude;
}

bool select_read(const char *spelled, tsr_select_problem *p)
{
    tsr_select_problem unused = {.type = TSR_F64};
    size_t where = 0;
    const char *number = comparison_read(spelled, &where);
    double real = 0;

    if (!p)
        p = &unused;
    if (!number)
        return false;
    if (where == TSR_IS_NAN || where == TSR_IS_NOT_NAN ? *number != 0 : !real_read(number, &real))
        return false;
    p->where = where;
    p->value = (tsr_select_value){.natural = 0};
    if (type_is_real(p->type))
        p->value.real = real;
    else if (!type_is_complex(p->type) && where != TSR_IS_NAN && where != TSR_IS_NOT_NAN)
        compare_wholes(number, real, p);
    return true;
}

static bool is_condition(const char *spelled)
{
    return select_read(spelled, NULL);
}

void select_condition(const problem *q, text *out)
{
    const tsr_select_problem *p = select_of(q);

    text_append(out, field_choice_name(field_of_kind(q->op, FIELD_CHOICE), q));
    if (p->where >= TSR_IS_NAN)
        return;
    if (type_is_real(p->type))
        text_format(out, " %.9g", p->value.real);
    else if (type_is_signed(p->type))
        text_format(out, " %" PRId64, p->value.integer);
    else
        text_format(out, " %" PRIu64, p->value.natural);
}

/* ---- the command --------------------------------------------------------------------------- */

static const field fields[] = {
    {.name = "type",
     .kind = FIELD_TYPE,
     .offset = offsetof(tsr_select_problem, type),
     .in_class = CLASS_EXACT},
    {.name = "n",
     .kind = FIELD_COUNT,
     .offset = offsetof(tsr_select_problem, n),
     .extent = true,
     .in_class = CLASS_POWER_OF_2},
    {.name = "where",
     .kind = FIELD_CHOICE,
     .offset = offsetof(tsr_select_problem, where),
     .choices = comparisons},
    {.kind = FIELD_ASKED,
     .option = "where",
     .otherwise = "'> 0' where sizes are given",
     .taken = WITH_FILES | WITH_SIZES,
     .value = "CONDITION",
     .meaning = "the condition that elements have to meet: >, >=, <, <=, == or != and a number, "
                "isnan or notnan",
     .expects = "a comparison and a number that float64 holds, in quotes, as '> 0.5', or isnan or "
                "notnan",
     .reads = is_condition},
    {.name = "with_indices",
     .kind = FIELD_FLAG,
     .offset = offsetof(tsr_select_problem, with_indices),
     .in_class = CLASS_EXACT,
     .option = "indices",
     .taken = WITH_SIZES,
     .meaning = "also find where the elements stood"},
    {.name = "any_order",
     .kind = FIELD_FLAG,
     .offset = offsetof(tsr_select_problem, any_order),
     .in_class = CLASS_EXACT,
     .option = "any-order",
     .taken = WITH_FILES | WITH_SIZES,
     .meaning = "the order of the elements may change, as kernels with an atomic counter need it"},
};

static const problem_member members[] = {
    PROBLEM_MEMBER(tsr_select_problem, value, SCALAR),
    PROBLEM_MEMBER(tsr_select_problem, offset_x, COUNT),
    PROBLEM_MEMBER(tsr_select_problem, offset_result, COUNT),
    PROBLEM_MEMBER(tsr_select_problem, offset_indices, COUNT),
    PROBLEM_MEMBER(tsr_select_problem, offset_count, COUNT),
};

static const file_use files[] = {
    {.operand = SELECT_X},
    {.option = "indices",
     .meaning = "write here, as int64, where each element of the result stood",
     .operand = SELECT_INDICES,
     .output = true},
};

static const operation_help help = {
    .usage = "X --where CONDITION [-o Y] [--indices I] [--any-order]",
    .summary = "select the elements of an array for which a comparison holds",
    .details =
        "X is an array of any shape in a .npy or .mtx file; - is standard input.  Y, a "
        "vector, has\n"
        "the elements that are selected, in the order of X, row after row, and I where they "
        "stood.\n"
        "Floats compare with the number as their type rounds it, integers with the number as\n"
        "it is.  A NaN meets != alone; isnan selects NaNs, and notnan all else.\n",
    .examples = "tessera select x.npy --where '> 0.5' -o large.npy --indices where.npy\n"
                "tessera select x.npy --where notnan -o numbers.npy --verify\n",
};

static tsr_status check_settings(const given_options *given, tsr_error *err)
{
    if (!setting_of(given, "where"))
        return tsr_fail(err, TSR_ENAME, 0,
                        "no --where: it says which elements are selected, as --where '> 0.5'");
    return TSR_OK;
}

static tsr_status lay_out(problem *p, const given_options *given, const char *size, const size_t *n,
                          size_t count, tsr_error *err)
{
    const char *where = setting_of(given, "where");

    (void)size, (void)n, (void)count, (void)err;
    select_read(where ? where : "> 0", select_in(p));
    return TSR_OK;
}

static tsr_status pose(posing *x, tsr_error *err)
{
    tsr_select_problem *p = select_in(&x->problem);
    const array *a = &x->array[SELECT_X];
    array result = {.type = a->type, .boolean = a->boolean, .rank = 1};
    array indices = {.type = TSR_I64, .rank = 1};
    const array count = {.type = TSR_U64, .rank = 1, .shape = {1}};
    tsr_status st;

    p->n = array_count(a);
    p->with_indices = x->output[SELECT_INDICES] != NULL;
    select_read(setting_of(x->given, "where"), p);
    result.shape[0] = indices.shape[0] = p->n;
    st = make_zeros(&result, &x->array[SELECT_RESULT], err);
    st = st ? st : make_zeros(&count, &x->array[SELECT_COUNT], err);
    if (!st && p->with_indices)
        st = make_zeros(&indices, &x->array[SELECT_INDICES], err);
    return st;
}

static void cut(posing *x)
{
    const size_t count = (size_t) * (const uint64_t *)x->array[SELECT_COUNT].data;

    x->array[SELECT_RESULT].shape[0] = count;
    if (x->array[SELECT_INDICES].rank)
        x->array[SELECT_INDICES].shape[0] = count;
}

/* The condition as it is spelled: that of the problem is the one which integers compare by. */
static void describe_asked(const posing *x, text *out)
{
    size_t where = 0;
    const char *number = comparison_read(setting_of(x->given, "where"), &where);

    text_append(out, "those ");
    for (const field_choice *c = comparisons; c->name; c++)
        if (c->value == where)
            text_append(out, c->name);
    text_format(out, "%s%s", *number ? " " : "", number);
    select_describe_rest(&x->problem, out);
}

static const char *host_source(const variant *v)
{
    return v == &select_simd ? "host/ops/select/select_loops.c" : "host/ops/select/select.c";
}

static const char *const tune_sizes[] = {"2^16", "2^20", "2^24", "2^28", NULL};
static const char *const tune_sizes_cpu[] = {"2^16", "2^20", "2^24", NULL};

static const peer_library peers[] = {
    PEER_CUB, PEER_TBB("parallel std::copy_if (TBB)"), {"std", "std::copy_if", "g++"}, {0}};

const operation_command select_command = {
    .sizes = {.bench = "2^24",
              .roofline = "2^28",
              .roofline_cpu = "2^24",
              .tune = tune_sizes,
              .tune_cpu = tune_sizes_cpu},
    .problem_bytes = sizeof(tsr_select_problem),
    .peers = peers,
    .fields = fields,
    .field_count = ARRAY_COUNT(fields),
    .members = members,
    .member_count = ARRAY_COUNT(members),
    .files = files,
    .file_count = ARRAY_COUNT(files),
    .help = &help,
    .host_source = host_source,
    .no_output = "'-o FILE' takes the elements, '--indices FILE' where they stood",
    .size_form = "a number of elements",
    .size_numbers = 1,
    .lay_out = lay_out,
    .check_settings = check_settings,
    .pose = pose,
    .cut = cut,
    .describe_asked = describe_asked,
    .counted = "selected",
};
