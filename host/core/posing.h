/** How files pose a problem: what operation_command.pose works on, and what its checks share. */
#ifndef CORE_POSING_H
#define CORE_POSING_H

#include <stddef.h>

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
    char note[96]; /* what people may not expect of the result; "": nothing */
} posing;

enum { SHAPE_SIZE = 72 };

/** "3x4", or "a vector of 12", for messages; of very many extents the first ones. */
const char *shape_text(const array *a, char out[SHAPE_SIZE]);

/** Whether a path ends in .mtx; NULL does not. */
bool names_mtx(const char *path);

/** TSR_EINVAL unless the array of operand i has a rank of 2 or more; `hint` follows the message. */
tsr_status need_matrices(const posing *x, unsigned i, const char *hint, tsr_error *err);

/** The same of a vector, which a matrix of one column or row is too, and becomes. */
tsr_status need_vector(posing *x, unsigned i, const char *hint, tsr_error *err);

/** Offsets of segments, operand i: a vector of whole numbers, made uint64, one more of them than
 *  there are segments. */
tsr_status need_offsets(posing *x, unsigned i, size_t *segments, tsr_error *err);

/** An array of zeros in the type and shape of another; an error calls it "the result". */
tsr_status make_zeros(const array *shape, array *out, tsr_error *err);

/** The same of an array that an error calls by this name. */
tsr_status make_named_zeros(const char *name, const array *shape, array *out, tsr_error *err);

/** The extents in which two operands are batches, broadcast as NumPy does it. */
typedef struct broadcast {
    unsigned rank;
    size_t shape[ARRAY_RANK_MAX];
    size_t count;
} broadcast;

/** Of operands i and k, whose first i_rank and k_rank extents count vectors or matrices.  Extents
 *  meet from the last one on; those that differ are 1 in one of the two, or TSR_EINVAL. */
tsr_status broadcast_of(const posing *x, unsigned i, unsigned i_rank, unsigned k, unsigned k_rank,
                        broadcast *out, tsr_error *err);

/** Elements from one vector or matrix of operand i to the next, 0 of a lone one, which serves all.
 *  Where some serve several and not all, the array becomes one in which each has its copy. */
tsr_status broadcast_operand(posing *x, unsigned i, unsigned rank, const broadcast *to,
                             size_t *stride, tsr_error *err);

/**
 * Fields that products have in common, of a problem's structure: its type and that of the result
 * (the member `wide`), and behind the extents and flags, the batch and the factors.  `power` is
 * how a batch enters the tuning class.
 */
#define PRODUCT_TYPE_FIELDS(structure, wide)                                                       \
    {.name = "type",                                                                               \
     .kind = FIELD_TYPE,                                                                           \
     .offset = offsetof(structure, type),                                                          \
     .in_class = CLASS_EXACT},                                                                     \
    {                                                                                              \
        .name = "out_type", .kind = FIELD_WIDE, .offset = offsetof(structure, wide),               \
        .in_class = CLASS_EXACT, .option = "out-type", .otherwise = "that of the operands",        \
        .taken = WITH_FILES | WITH_SIZES, .value = "TYPE",                                         \
        .meaning = "f32 makes the result of f16 or bf16 operands float32",                         \
        .choices = product_out_types                                                               \
    }

#define PRODUCT_FACTOR_FIELDS(structure, power)                                                    \
    {.name = "batch",                                                                              \
     .kind = FIELD_COUNT,                                                                          \
     .offset = offsetof(structure, batch),                                                         \
     .zero = ZERO_IS_ONE,                                                                          \
     .in_class = (power),                                                                          \
     .option = "batch",                                                                            \
     .otherwise = "1",                                                                             \
     .taken = WITH_SIZES,                                                                          \
     .value = "N",                                                                                 \
     .meaning = "N products of this size, one after another in memory",                            \
     .expects = "a whole number from 1 to 2^30",                                                   \
     .most = (size_t)1 << 30},                                                                     \
        {.name = "alpha",                                                                          \
         .kind = FIELD_REAL,                                                                       \
         .offset = offsetof(structure, alpha),                                                     \
         .normal = 1,                                                                              \
         .option = "alpha",                                                                        \
         .otherwise = "1",                                                                         \
         .taken = WITH_FILES | WITH_SIZES,                                                         \
         .value = "X",                                                                             \
         .meaning = "factor of the product",                                                       \
         .expects = "a number"},                                                                   \
    {                                                                                              \
        .name = "beta", .kind = FIELD_REAL, .offset = offsetof(structure, beta), .option = "beta", \
        .otherwise = "0", .taken = WITH_FILES | WITH_SIZES, .value = "Y",                          \
        .meaning = "factor of what is added to the product", .expects = "a number"                 \
    }

/** Types of a result that need a name. */
extern const field_choice product_out_types[];

/** Start the result, operand 2, of a product of operands 0 and 1: as the file that is added, whose
 *  shape is checked, or where there is none or beta is 0 as zeros. */
tsr_status start_product(posing *x, const array *shape, bool added, tsr_error *err);

/** TSR_ENAME where a factor of what is added and the file go without each other. */
tsr_status check_added_settings(const given_options *given, tsr_error *err);

#endif
