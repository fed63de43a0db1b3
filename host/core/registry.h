/** Looking things up in the variant table. */
#ifndef CORE_REGISTRY_H
#define CORE_REGISTRY_H

#include "core/variant.h"

/** Operation i, or NULL beyond the last. */
const operation *operation_at(size_t i);

/** Operation by name, or NULL. */
const operation *operation_named(const char *name);

/** Operation by name; TSR_ENAME with a suggestion, and with what the command `taker` takes: every
 *  operation, and what `also` names unless it is NULL. */
tsr_status operation_find(const char *name, const char *taker, const char *also,
                          const operation **out, tsr_error *err);

/** The operation by name that files mean by `name`: of a problem that is described so, or of a
 * tuning class; either may be NULL.  NULL: none. */
const operation *operation_of_file(const char *name, const char *described,
                                   const char *problem_class);

/** Variant of an operation by name; TSR_ENAME with the names there are. */
tsr_status variant_find(const operation *op, const char *name, const variant **out, tsr_error *err);

/** A checked problem in the form that variants take, and where its operands were before. */
problem problem_normal(const problem *p, unsigned order[OPERANDS_MAX]);

/** Whether a variant is for a device of this kind: C for the host, and some of it for CPUs that
 * share its memory; kernels for all others. */
bool variant_is_for(const variant *v, const device_facts *d);

/** Why its plans may leave out what work-items ask for: variant.unstated, or that it needs what
 *  nothing counts; NULL where they state it. */
const char *variant_unstated(const variant *v);

/** The defaults of a variant. */
params params_default(const variant *v);

/** Whether so many characters are the name of a tunable, or one that it had before. */
bool tunable_has_name(const tunable *t, const char *name, size_t length);

/** Apply one "NAME=VALUE"; TSR_ENAME where the variant has no such tunable or value. */
tsr_status params_set(const variant *v, params *p, const char *assignment, tsr_error *err);

/** Parameters, as params_describe writes them, with the names that tunables have now. */
void params_rename(const variant *v, const char *parameters, text *out);

/** "TILE=16 ITEMS=4". */
void params_describe(const params *p, text *out);

/** The same, as far as it fits into `size` bytes with its end. */
void params_describe_in(const params *p, char *out, size_t size);

/** Those of parameters, as params_describe writes them, that are not 0, which stands for what each
 *  call chooses; a blank before each. */
void params_append_fixed(const char *parameters, text *out);

/**
 * NULL, or why a variant cannot run a job: wrong side (host or device), a
 * probed feature that is absent, or the variant's own reason.  Every feature in
 * v->needs must have been probed.  A composed reason is kept in *reason.
 */
const char *variant_unsupported(const variant *v, const job *j, text *reason);

/** Every -D of a build, and its flags: the options string of the program. */
void variant_options(const variant *v, const job *j, text *out);

/** Append the value of -cl-std= for the device's highest OpenCL C: "CL3.0". */
void variant_standard(const device_facts *d, text *out);

#endif
