/* C := A B: one work-item an element of C.
 *
 * Idea: the definition.  C(i, j) is the dot product of row i of A and column j of B, read straight
 *     from global memory.
 * Work split: work-item (x, y) computes C(y, x); those beyond the edge do nothing.  Neighbours in x
 *     run together and are in neighbouring columns: they share every load of A, and what they load
 *     of B and store in C lies side by side, so that one memory transaction serves many of them.
 * Launch: 2-D, at least n x m work-items, any work-group size.
 * Local memory: none.
 * Traffic: 2 k loads an element: 2 operations for every 2 elements loaded.
 * Limits: A is m x k, B is k x n, C is m x n, row by row without gaps; m, n and k up to 2^31.
 */
__kernel void matmul_naive(uint m, uint n, uint k, __global const float *restrict a,
                           __global const float *restrict b, __global float *restrict c)
{
    const uint column = get_global_id(0);
    const uint row = get_global_id(1);
    float sum = 0;

    if (row >= m || column >= n)
        return;
    for (uint p = 0; p < k; p++)
        sum += a[(ulong)row * k + p] * b[(ulong)p * n + column];
    c[(ulong)row * n + column] = sum;
}
