/* Bitonic sort, one launch per sub-stage: keys of every type, their index, values and rows.
 *
 * Idea: sort_naive.cl in full, in both directions.
 * Work split: one work-item per pair of the sub-stage.
 * Parameters: KEY, DESCENDING, WITH_INDEX (sort_key.clh), WITH_ROWS
 *     (sort_row.clh), VALUE_BYTES (sort_values.clh).
 * Launch: 1-D, any work-group size.  With WITH_INDEX first one sort_general_iota
 *     of at least n work-items.  Then, for size = 2, 4, ... up to the first
 *     size >= n, sort_general_exchange with stride = size / 2 and flip = 1, and
 *     with stride = size / 4, ..., 1 and flip = 0.
 *     Of several rows (sort_row.clh) each is n keys, and each launch is all of them.
 *     With VALUE_BYTES then the kernels of sort_values.clh.
 * Local memory: none.
 * Limits: indexes in 64 bits.  Reads and writes all keys log2(n)^2 / 2 times.
 */
#include "sort/sort_key.clh"
#include "sort/sort_row.clh"
#include "sort/sort_values.clh"

/* index[i] := i, in each row */
__kernel void sort_general_iota(__global long *index, ulong offset_index, ulong n, uint rows)
{
    const ulong i = item_in_row(rows);

    if (i < n)
        index[offset_index + row_start(rows, n) + i] = (long)i;
}

__kernel void sort_general_exchange(__global word *keys, __global long *index, ulong offset_keys,
                                    ulong offset_index, ulong n, ulong stride, uint flip, uint rows)
{
    /* The lower positions of the pairs are 0 to stride - 1 of every block of
     * 2 * stride positions: pair = block * stride + column. */
    const ulong pair = item_in_row(rows);
    const ulong column = pair & (stride - 1);
    const ulong low = 2 * (pair - column) + column;
    const ulong high = low ^ (flip ? 2 * stride - 1 : stride);

    keys += offset_keys + row_start(rows, n);
    index += offset_index + row_start(rows, n);
    if (high < n)
        memory_exchange(keys, index, low, high);
}
