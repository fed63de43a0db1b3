#include "cli/operands.h"

#include <string.h>

#include "base/elements.h"
#include "base/fail.h"
#include "cli/activity.h"
#include "cli/messages.h"
#include "core/fields.h"
#include "core/real.h"
#include "core/registry.h"

const char *input_name(const char *file)
{
    return file && !strcmp(file, "-") ? "standard input" : file;
}

const char *operands_path(const file_use *use, size_t i, const options *o)
{
    return use->option ? setting_of(&o->settings, use->option) : o->operand[i];
}

tsr_status operation_asked(const options *o, const char *name, const char *also,
                           const operation **out, tsr_error *err)
{
    const operation *op;
    tsr_status st = operation_find(name, o->command, also, &op, err);

    if (!st && op->command->hand_over)
        st = op->command->hand_over(&o->settings, &op, err);
    if (!st)
        *out = op;
    return st;
}

tsr_status operands_check_rounding(const problem *p, tsr_error *err)
{
    const tsr_precision precision = problem_precision(p);
    text who = {0};

    if (p->op->command->rounds_factors || !(real_rounding(problem_type(p), precision) > 0))
        return TSR_OK;
    for (size_t i = 0; operation_at(i); i++)
        if (operation_at(i)->command->rounds_factors)
            text_format(&who, "%s%s", who.length ? ", " : "", operation_at(i)->name);
    tsr_fail(err, TSR_ENAME, 0,
             "precision %s does not go with %s operands of %s: %s alone rounds factors",
             tsr_precision_name(precision), tsr_type_name(problem_type(p)), p->op->name,
             text_get(&who));
    text_free(&who);
    return TSR_ENAME;
}

/* What the command line does about a type or precision that the operation refuses. */
static tsr_status check_type(const posing *x, tsr_error *err)
{
    const operation *op = x->problem.op;
    const tsr_type type = x->array[0].type;
    const tsr_precision precision = problem_precision(&x->problem);
    const bool integers = !type_is_real(type) && !type_is_complex(type) && !type_is_fp8(type);
    const bool small = op->types & 1u << TSR_I8 && !(op->types & 1u << TSR_I32);

    if (!(op->types & 1u << type))
        return tsr_fail(err, TSR_EINVAL, 0, "%s is %s, and %s takes %s%s%s%s%s%s%s%s", x->file[0],
                        array_type_name(&x->array[0]), op->name,
                        op->types & 1u << TSR_I32  ? "int8 to int64, uint8 to uint64, "
                        : op->types & 1u << TSR_U8 ? "uint8, "
                        : op->types & 1u << TSR_I8 ? "int8, "
                                                   : "",
                        op->types & 1u << TSR_F16 ? "float16, " : "",
                        op->types & 1u << TSR_BF16 ? "bfloat16, " : "",
                        op->types & 1u << TSR_F8E4M3 ? "float8_e4m3fn, float8_e5m2, " : "",
                        op->types & 1u << TSR_C64 ? "complex64, complex128, " : "",
                        op->types & 1u << TSR_F64 ? "float32 or float64" : "float32",
                        type_is_complex(type)       ? ""
                        : op->types & 1u << TSR_F64 ? "; --as f32 or --as f64 converts"
                                                    : "; --as f32 converts",
                        small && integers ? ", and --as i8 where its values fit" : "");
    if (precision == TSR_PRECISION_DEFAULT || type_is_complex(type) || /* the operation's to say */
        (type == TSR_I8 && precision == TSR_PRECISION_I8))
        return TSR_OK;
    if (real_check(op->name, type, precision, NULL))
        return tsr_fail(err, TSR_ENAME, 0, "precision %s does not go with %s operands; %s",
                        tsr_precision_name(precision), tsr_type_name(type),
                        precision == TSR_PRECISION_I8    ? "--as i8 converts them"
                        : precision == TSR_PRECISION_F8  ? "--as f8e4m3 or f8e5m2 converts them"
                        : precision == TSR_PRECISION_F64 ? "--as f64 converts them"
                                                         : "--as f32 converts them");
    return operands_check_rounding(&x->problem, err);
}

/* Read one file into an array, converted to a type where --as is given. */
static tsr_status read_file(const options *o, const char *file, tsr_type as, array *out,
                            tsr_error *err)
{
    tsr_status st = array_read(file, out, err);
    size_t overflowed = 0;

    if (st)
        return st;
    /* A byte an element is what --as says of the types of a byte. */
    if (out->type == TSR_F8E4M3 && o->given[OPTION_AS] && o->as == TSR_F8E5M2)
        out->type = TSR_F8E5M2;
    if (out->type == TSR_F8E4M3 && !(o->given[OPTION_AS] && o->as == TSR_F8E4M3))
        return tsr_fail(
            err, TSR_EINVAL, 0,
            "%s holds a byte an element and not what it means; --as f8e4m3 or --as f8e5m2 takes it "
            "for that",
            input_name(file));
    if (out->type == TSR_BF16 && o->as != TSR_BF16)
        return tsr_fail(
            err, TSR_EINVAL, 0,
            "%s holds two bytes an element and not what they mean; --as bf16 takes them "
            "for bfloat16",
            input_name(file));
    if (o->given[OPTION_AS] && !type_is_real(as) && !type_is_fp8(as))
        return array_to_integers(input_name(file), out, as, err);
    if (o->given[OPTION_AS])
        st = array_convert(out, as, &overflowed, err);
    /* --quiet is for summaries: a result that is right, of other values, looks like any other. */
    if (overflowed)
        warn("%s: %zu of %zu values %s %s as %s, whose largest is %.6g", input_name(file),
             overflowed, array_count(out), overflowed == 1 ? "is" : "are",
             type_is_fp8(as) ? "saturated" : "infinite", tsr_type_name(as), real_most(as));
    return st;
}

/* Read an input into its operand; all are of one type, but what is added to a wider result. */
static tsr_status read_input(const options *o, const char *path, const file_use *use, posing *x,
                             tsr_error *err)
{
    const field *f = field_of_kind(x->problem.op, FIELD_WIDE);
    const bool result = use->operand == x->problem.op->result;
    problem typed = x->problem;
    array *a = &x->array[use->operand];
    tsr_type wanted;
    bool wide;
    tsr_status st;

    /* The type of the problem itself is set once the operands are read. */
    problem_set_type(&typed, x->array[0].type);
    wanted = f ? field_result(f, &typed) : x->array[0].type;
    wide = result && wanted != x->array[0].type;
    activity_begin("reading %s", input_name(path));
    if (use->as_it_is && !(use->operand == 0 && o->given[OPTION_AS]))
        return use->moved ? array_read_any(path, a, err) : array_read(path, a, err);
    /* Of int8 operands it is int32, whose values --as int8 would not keep. */
    if (result && f && x->array[0].type == TSR_I8) {
        st = array_read(path, a, err);
        if (!st && o->given[OPTION_AS])
            st = array_to_integers(input_name(path), a, TSR_I32, err);
        if (!st && a->type != TSR_I32)
            st = tsr_fail(err, TSR_EINVAL, 0,
                          "%s is %s, and what is added to int8 products is int32", input_name(path),
                          array_type_name(a));
        return st;
    }
    st = read_file(o, path, wide ? wanted : o->as, a, err);
    if (st)
        return st;
    if (wide && a->type != wanted)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "%s is %s, and with --out-type %s what is added is %s; --as converts",
                        input_name(path), array_type_name(a), option_type_name(wanted),
                        tsr_type_name(wanted));
    if (!wide && a->type != x->array[0].type)
        return tsr_fail(err, TSR_EINVAL, 0, "%s is %s and %s is %s%s", x->file[0],
                        array_type_name(&x->array[0]), input_name(path), array_type_name(a),
                        type_is_complex(a->type) || type_is_complex(x->array[0].type)
                            ? ", and complex matrices go with those of their own type"
                            : "; --as f32 or --as f64 converts");
    return TSR_OK;
}

tsr_status operands_load(const operation *op, const options *o, posing *out, tsr_error *err)
{
    const operation_command *c = op->command;
    tsr_status st = TSR_OK;
    bool checked = false;

    *out = (posing){.given = &o->settings, .problem = problem_start(op)};
    out->output[op->result] = o->value[OPTION_OUTPUT];
    fields_set(&out->problem, &o->settings, WITH_FILES);
    for (size_t i = 0; i < c->file_count; i++) {
        const char *path = operands_path(&c->files[i], i, o);

        if (path && c->files[i].output)
            out->output[c->files[i].operand] = path;
        else if (path)
            out->file[c->files[i].operand] = input_name(path);
    }
    /* What is wrong with the first ones' type is said before what follows them is read. */
    for (size_t i = 0; i <= c->file_count && !st; i++) {
        const file_use *use = &c->files[i];

        if (!checked && (i == c->file_count || use->as_it_is)) {
            problem_set_type(&out->problem, out->array[0].type);
            st = check_type(out, err);
            checked = true;
        }
        if (i < c->file_count && !st && !use->output && operands_path(use, i, o))
            st = read_input(o, operands_path(use, i, o), use, out, err);
    }
    st = st ? st : c->pose(out, err);
    st = st ? st : op->check(&out->problem, err);
    if (!st)
        out->count = op->operands(&out->problem, out->operand);
    return st;
}

void operands_free(posing *x)
{
    for (size_t i = 0; i < OPERANDS_MAX; i++)
        array_free(&x->array[i]);
}
