/* The public functions that know an operation by its descriptor alone (tessera/generic.h). */
#include "tessera/generic.h"

#include <string.h>

#include "base/fail.h"
#include "core/fields.h"
#include "core/registry.h"
#include "stream/entry.h"

_Static_assert((int)TSR_OPERANDS_MAX == (int)OPERANDS_MAX, "as many operands");
_Static_assert((int)TSR_OPERAND_READ == (int)ACCESS_READ &&
                   (int)TSR_OPERAND_WRITTEN == (int)ACCESS_WRITE,
               "an access is passed on as it is");
_Static_assert(sizeof(tsr_choice) == sizeof(field_choice) &&
                   offsetof(tsr_choice, value) == offsetof(field_choice, value),
               "choices of a field are those of its member");

static const operation *of(const tsr_operation *op)
{
    return (const operation *)(const void *)op;
}

const tsr_operation *tsr_operation_get(size_t i)
{
    return (const tsr_operation *)(const void *)operation_at(i);
}

const char *tsr_operation_name(const tsr_operation *op)
{
    return op ? of(op)->name : "";
}

const char *tsr_operation_summary(const tsr_operation *op)
{
    return op ? of(op)->command->help->summary : "";
}

int tsr_operation_takes(const tsr_operation *op, tsr_type type)
{
    return op && (unsigned)type < TSR_TYPE_COUNT && (of(op)->types & 1u << type) != 0;
}

size_t tsr_operation_problem_bytes(const tsr_operation *op)
{
    return op ? of(op)->command->problem_bytes : 0;
}

void tsr_operation_start(const tsr_operation *op, void *out)
{
    if (op && out) {
        const operation_command *c = of(op)->command;
        problem p = problem_start(of(op));

        /* A command may begin with a flag that is set, an initialiser does not. */
        for (size_t i = 0; i < c->field_count; i++)
            if (c->fields[i].kind == FIELD_FLAG)
                *(bool *)(void *)(p.bytes + c->fields[i].offset) = false;
        problem_set_type(&p, of(op)->default_type);
        memcpy(out, p.bytes, of(op)->command->problem_bytes);
    }
}

/* Whether a field is a member of the structure, and which kind of one. */
static bool member_kind_of(const field *f, tsr_member_kind *out)
{
    switch (f->kind) {
    case FIELD_COUNT:
        *out = TSR_MEMBER_COUNT;
        return f->name != NULL;
    case FIELD_CHOICE:
        *out = TSR_MEMBER_CHOICE;
        return true;
    case FIELD_FLAG:
    case FIELD_WIDE:
        *out = TSR_MEMBER_FLAG;
        return true;
    case FIELD_REAL:
        *out = TSR_MEMBER_REAL;
        return true;
    case FIELD_TYPE:
        *out = TSR_MEMBER_TYPE;
        return true;
    case FIELD_PRECISION:
        *out = TSR_MEMBER_PRECISION;
        return true;
    case FIELD_INTERVAL:
    case FIELD_INPUTS:
    case FIELD_ASKED:
        break;
    }
    return false;
}

static size_t bytes_of(tsr_member_kind kind)
{
    switch (kind) {
    case TSR_MEMBER_COUNT:
    case TSR_MEMBER_CHOICE:
        return sizeof(size_t);
    case TSR_MEMBER_FLAG:
        return sizeof(bool);
    case TSR_MEMBER_REAL:
    case TSR_MEMBER_SCALAR:
        return sizeof(double);
    case TSR_MEMBER_TYPE:
        return sizeof(tsr_type);
    case TSR_MEMBER_PRECISION:
        return sizeof(tsr_precision);
    case TSR_MEMBER_LAYOUT:
        return sizeof(tsr_layout);
    }
    return 0;
}

/* Whether an earlier field is the same member: it has an option for each of two commands. */
static bool described_before(const operation_command *c, size_t i)
{
    tsr_member_kind kind;

    for (size_t k = 0; k < i; k++)
        if (member_kind_of(&c->fields[k], &kind) && c->fields[k].offset == c->fields[i].offset)
            return true;
    return false;
}

int tsr_operation_member(const tsr_operation *op, size_t i, tsr_member *out)
{
    const operation_command *c = op ? of(op)->command : NULL;
    tsr_member m = {0};

    if (!c || !out)
        return 0;
    for (size_t k = 0; k < c->field_count; k++) {
        const field *f = &c->fields[k];

        if (!member_kind_of(f, &m.kind) || described_before(c, k) || i--)
            continue;
        m.name = f->name ? f->name : "precision";
        m.meaning = f->meaning;
        m.offset = f->offset;
        m.bytes = bytes_of(m.kind);
        if (m.kind == TSR_MEMBER_CHOICE) {
            m.choices = (const tsr_choice *)(const void *)f->choices;
            while (f->choices[m.choice_count].name)
                m.choice_count++;
        }
        *out = m;
        return 1;
    }
    if (i >= c->member_count)
        return 0;
    *out = (tsr_member){.name = c->members[i].name,
                        .kind = c->members[i].kind,
                        .offset = c->members[i].offset,
                        .bytes = bytes_of(c->members[i].kind)};
    return 1;
}

/* The problem of a call that names an operation. */
static tsr_status take(const tsr_operation *op, const void *structure, problem *out, tsr_error *err)
{
    if (!op)
        return tsr_fail(err, TSR_EINVAL, 0, "the operation is NULL");
    return entry_problem(of(op), structure, of(op)->command->problem_bytes, out, err);
}

tsr_status tsr_operation_operands(const tsr_operation *op, const void *structure,
                                  tsr_operand out[TSR_OPERANDS_MAX], size_t *count, tsr_error *err)
{
    operand described[OPERANDS_MAX];
    problem p;
    tsr_status st = take(op, structure, &p, err);

    if (!st && (!out || !count))
        st = tsr_fail(err, TSR_EINVAL, 0, "tsr_operation_operands: %s is NULL",
                      out ? "count" : "out");
    st = st ? st : p.op->check(&p, err);
    if (st)
        return st;
    *count = p.op->operands(&p, described);
    for (size_t i = 0; i < *count; i++)
        out[i] = (tsr_operand){described[i].name, described[i].type, (int)described[i].access,
                               described[i].bytes};
    return TSR_OK;
}

tsr_status tsr_operation_run(tsr_session *session, const tsr_operation *op, const void *structure,
                             void *const operands[], const tsr_run *run, tsr_report *report,
                             tsr_error *err)
{
    problem p;
    const tsr_status st = take(op, structure, &p, err);

    if (st)
        return st;
    if (!operands)
        return tsr_fail(err, TSR_EINVAL, 0, "%s: the operands are NULL", p.op->name);
    return entry_run(session, &p, operands, run, report, err);
}

tsr_status tsr_operation_enqueue(tsr_session *session, const tsr_operation *op,
                                 const void *structure, const cl_mem buffers[], const tsr_run *run,
                                 tsr_report *report, tsr_error *err)
{
    problem p;
    const tsr_status st = take(op, structure, &p, err);

    if (st)
        return st;
    if (!buffers)
        return tsr_fail(err, TSR_EINVAL, 0, "%s: the operands are NULL", p.op->name);
    return entry_enqueue(session, &p, buffers, run, report, err);
}
