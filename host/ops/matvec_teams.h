/** The variants of matvec that sum a row of op(A) in one place: in a work-item, in a team of them,
 *  or in a work-group. */
#ifndef OPS_MATVEC_TEAMS_H
#define OPS_MATVEC_TEAMS_H

#include "ops/variant.h"

const char *matvec_row_item_unsuited(const job *j, text *reason);
const char *matvec_team_tree_unsuited(const job *j, text *reason);
const char *matvec_team_vector_unsuited(const job *j, text *reason);
const char *matvec_team_subgroup_unsuited(const job *j, text *reason);
const char *matvec_team_shfl_unsuited(const job *j, text *reason);
const char *matvec_group_row_unsuited(const job *j, text *reason);
const char *matvec_local_x_unsuited(const job *j, text *reason);
const char *matvec_short_rows_unsuited(const job *j, text *reason);
const char *matvec_flat_rows_unsuited(const job *j, text *reason);
const char *matvec_short_rows_vector_unsuited(const job *j, text *reason);

bool matvec_row_item_step(const job *j, size_t i, step *out);
bool matvec_team_tree_step(const job *j, size_t i, step *out);
bool matvec_team_vector_step(const job *j, size_t i, step *out);
bool matvec_team_subgroup_step(const job *j, size_t i, step *out);
bool matvec_team_shfl_step(const job *j, size_t i, step *out);
bool matvec_group_row_step(const job *j, size_t i, step *out);
bool matvec_local_x_step(const job *j, size_t i, step *out);
bool matvec_short_rows_step(const job *j, size_t i, step *out);
bool matvec_flat_rows_step(const job *j, size_t i, step *out);
bool matvec_short_rows_vector_step(const job *j, size_t i, step *out);

/** variant.defines of them all but those in vectors. */
void matvec_teams_defines(const job *j, text *out);
void matvec_row_item_defines(const job *j, text *out);
void matvec_team_vector_defines(const job *j, text *out);
void matvec_flat_rows_defines(const job *j, text *out);
void matvec_short_rows_vector_defines(const job *j, text *out);

#endif
