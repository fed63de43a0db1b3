/** The variants of matvec that sum a row of op(A) in one place: in a work-item, in a team of them,
 *  or in a work-group. */
#ifndef OPS_MATVEC_SUBGROUPS_H
#define OPS_MATVEC_SUBGROUPS_H

#include "core/variant.h"

const char *matvec_row_item_unsupported(const job *j, text *reason);
const char *matvec_tree_unsupported(const job *j, text *reason);
const char *matvec_tree_vector_unsupported(const job *j, text *reason);
const char *matvec_subgroup_unsupported(const job *j, text *reason);
const char *matvec_shfl_unsupported(const job *j, text *reason);
const char *matvec_group_row_unsupported(const job *j, text *reason);
const char *matvec_local_x_unsupported(const job *j, text *reason);
const char *matvec_short_rows_unsupported(const job *j, text *reason);
const char *matvec_flat_rows_unsupported(const job *j, text *reason);
const char *matvec_short_rows_vector_unsupported(const job *j, text *reason);

bool matvec_row_item_step(const job *j, size_t i, command *out);
bool matvec_tree_step(const job *j, size_t i, command *out);
bool matvec_tree_vector_step(const job *j, size_t i, command *out);
bool matvec_subgroup_step(const job *j, size_t i, command *out);
bool matvec_shfl_step(const job *j, size_t i, command *out);
bool matvec_group_row_step(const job *j, size_t i, command *out);
bool matvec_local_x_step(const job *j, size_t i, command *out);
bool matvec_short_rows_step(const job *j, size_t i, command *out);
bool matvec_flat_rows_step(const job *j, size_t i, command *out);
bool matvec_short_rows_vector_step(const job *j, size_t i, command *out);

/** variant.defines of them all but those in vectors. */
void matvec_subgroups_defines(const job *j, text *out);
void matvec_row_item_defines(const job *j, text *out);
void matvec_tree_vector_defines(const job *j, text *out);
void matvec_flat_rows_defines(const job *j, text *out);
void matvec_short_rows_vector_defines(const job *j, text *out);

#endif
