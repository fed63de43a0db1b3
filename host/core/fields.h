/** Reading and writing problems by the fields of their operations. */
#ifndef CORE_FIELDS_H
#define CORE_FIELDS_H

#include "core/operation.h"

/** The first field of a kind; NULL where the operation has none. */
const field *field_of_kind(const operation *op, field_kind kind);

/** The field whose option is taken by one of the commands, WITH_FILES..., NULL for none. */
const field *field_of_option(const operation *op, const char *option, unsigned taken);

/** Set a field as the text of its option says, NULL for a flag.  False where it is no value of it;
 *  p NULL: it is only judged. */
bool field_read(const field *f, const char *value, problem *p);

/** Append what the option of a field takes: "a whole number from 1 on", or "sum, min or max". */
void field_expects(const field *f, text *out);

/** The choice of a field whose name is close to `value`; NULL where none is. */
const char *field_closest(const field *f, const char *value);

/** A problem of nothing, with the values that fields have where nothing sets them. */
problem problem_start(const operation *op);

/** Set every field whose option is given, of those taken by one of the commands, WITH_FILES...  The
 * options have been judged before. */
void fields_set(problem *p, const given_options *given, unsigned taken);

/** A count, with what its 0 stands for. */
size_t field_count(const field *f, const problem *p);

/** Whether a count is not 0. */
bool field_is_set(const field *f, const problem *p);

void field_set_count(const field *f, problem *p, size_t n);

bool field_flag(const field *f, const problem *p);
/** What FIELD_WIDE makes the type of the result. */
tsr_type field_result(const field *f, const problem *p);

double field_real(const field *f, const problem *p);

/** The name of a choice's value. */
const char *field_choice_name(const field *f, const problem *p);

/** The size as --size spells it: "1000x64x1000". */
void problem_size(const problem *p, text *out);

/** Make of it a problem of about a 64th of the work, for a first look at how long a variant takes.
 */
void problem_shrink(problem *p);

/** Type of the first operand, and precision: TSR_PRECISION_DEFAULT where the operation has none. */
tsr_type problem_type(const problem *p);
/** What its rate is counted in: products of whole numbers are no FLOPs. */
work_unit problem_unit(const problem *p);
tsr_precision problem_precision(const problem *p);

/** Set them; nothing where the operation has no such field. */
void problem_set_type(problem *p, tsr_type type);
void problem_set_precision(problem *p, tsr_precision precision);

/** A precision by its name.  False for none. */
bool precision_read(const char *name, tsr_precision *out);

/** A number that fills the whole text. */
bool real_read(const char *value, double *out);

/** LOW:HIGH: two finite numbers, the first not above the second, that fill the whole text. */
bool interval_read(const char *value, double *low, double *high);

/** A whole number that fills the whole text. */
bool whole_read(const char *value, uint64_t *out);

#endif
