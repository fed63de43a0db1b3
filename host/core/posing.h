/** How files pose a problem: what operation_command.pose works on, and what its checks share. */
#ifndef CORE_POSING_H
#define CORE_POSING_H

#include "core/operation.h"
#include "file/array.h"

/** A problem that files pose, and its operands in the order of operation.operands. */
typedef struct posing {
    const given_options *given;       /* the operation's own options */
    const char *file[OPERANDS_MAX];   /* what messages call the input; NULL where there is none */
    const char *output[OPERANDS_MAX]; /* where the operand is written; NULL where it is not */
    problem problem;                  /* comes with what the options say, and the type */
    array array[OPERANDS_MAX];        /* inputs as they were read; pose() allocates results */
    operand operand[OPERANDS_MAX];    /* once it is posed: what the operation says of them */
    size_t count;
} posing;

enum { SHAPE_SIZE = 72 };

/** "3x4", or "a vector of 12", for messages. */
const char *shape_text(const array *a, char out[SHAPE_SIZE]);

/** Whether a path ends in .mtx; NULL does not. */
bool names_mtx(const char *path);

/** TSR_EINVAL unless the array of operand i has the rank; `hint` follows the message. */
tsr_status need_matrix(const posing *x, unsigned i, const char *hint, tsr_error *err);
tsr_status need_matrices(const posing *x, unsigned i, const char *hint, tsr_error *err);

/** The same of a vector, which a matrix of one column or row is too, and becomes. */
tsr_status need_vector(posing *x, unsigned i, const char *hint, tsr_error *err);

/** An array of zeros in the type and shape of another. */
tsr_status make_zeros(const array *shape, array *out, tsr_error *err);

/** A file's matrices: of rank 3 one behind another. */
typedef struct matrices {
    size_t count, rows, columns;
} matrices;

matrices matrices_of(const array *a);

/** From matrix to matrix; 0 of a lone one, which serves every product. */
size_t matrices_stride(const matrices *x);

/** Start the result, operand 2, of a product of operands 0 and 1: as the file that is added, whose
 *  shape is checked, or where there is none or beta is 0 as zeros. */
tsr_status start_product(posing *x, const array *shape, double beta, tsr_error *err);

/** TSR_ENAME where a factor of what is added and the file go without each other. */
tsr_status check_added_settings(const given_options *given, tsr_error *err);

#endif
