/* Every operation, in the order in which they are listed.  An operation is registered here and
 * nowhere else. */
#include "base/sizes.h"
#include "core/variant.h"

extern const operation operation_matmul, operation_matvec, operation_sort, operation_topk,
    operation_segsort, operation_reduce, operation_scan, operation_select, operation_axpy,
    operation_histogram, operation_transpose, operation_grayscale;

const operation *const operations[] = {
    &operation_matmul,  &operation_matvec,    &operation_sort,      &operation_topk,
    &operation_segsort, &operation_reduce,    &operation_scan,      &operation_select,
    &operation_axpy,    &operation_histogram, &operation_transpose, &operation_grayscale,
};
const size_t operation_count = ARRAY_COUNT(operations);
