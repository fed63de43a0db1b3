/** The variants of matvec that cut the columns of op(A) into parts, which are then added up:
 *  cl/matvec/matvec_parts.clh. */
#ifndef OPS_MATVEC_PARTS_H
#define OPS_MATVEC_PARTS_H

#include "core/variant.h"

void matvec_split_row_defines(const job *j, text *out);
void matvec_split_vector_defines(const job *j, text *out);
void matvec_column_slices_defines(const job *j, text *out);
void matvec_short_columns_defines(const job *j, text *out);
void matvec_rows_vector_defines(const job *j, text *out);
void matvec_columns_vector_defines(const job *j, text *out);

const char *matvec_split_row_unsupported(const job *j, text *reason);
const char *matvec_split_vector_unsupported(const job *j, text *reason);
const char *matvec_column_slices_unsupported(const job *j, text *reason);
const char *matvec_short_columns_unsupported(const job *j, text *reason);
const char *matvec_rows_vector_unsupported(const job *j, text *reason);
const char *matvec_columns_vector_unsupported(const job *j, text *reason);

size_t matvec_split_row_workspace(const job *j);
size_t matvec_split_vector_workspace(const job *j);
size_t matvec_column_slices_workspace(const job *j);
size_t matvec_short_columns_workspace(const job *j);
size_t matvec_rows_vector_workspace(const job *j);
size_t matvec_columns_vector_workspace(const job *j);

bool matvec_split_row_step(const job *j, size_t i, command *out);
bool matvec_split_vector_step(const job *j, size_t i, command *out);
bool matvec_column_slices_step(const job *j, size_t i, command *out);
bool matvec_short_columns_step(const job *j, size_t i, command *out);
bool matvec_rows_vector_step(const job *j, size_t i, command *out);
bool matvec_columns_vector_step(const job *j, size_t i, command *out);

#endif
