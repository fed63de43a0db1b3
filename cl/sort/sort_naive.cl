/* Sort keys in ascending order by a bitonic network: one launch per sub-stage.
 *
 * Idea: a sorting network compares fixed pairs of positions, whatever the keys are, so all pairs of
 *     a sub-stage run at once.  Stage s merges sorted runs of 2^(s-1) keys into runs of 2^s, in s
 *     sub-stages.  The first, the flip, compares two neighbouring runs from their far ends inwards,
 *     i with i XOR (2^s - 1).  The others compare i with i XOR stride, for the strides 2^(s-2) down
 *     to 1.
 *
 *         stage         1      2      2      3              3        3
 *         stride        1      2      1      4              2        1
 *                       flip   flip          flip
 *         compare       0-1    0-3    0-1    0-7  1-6       0-2 1-3  0-1
 *                       2-3    1-2    2-3    2-5  3-4       4-6 5-7  2-3
 *                       4-5    4-7    4-5                            4-5
 *                       6-7    5-6    6-7                            6-7
 *
 *     Every comparator puts the lesser key at the lower position.  So keys missing beyond n, were
 *     they the largest, would never move: pairs that reach there are skipped, and any n works.
 *     (The textbook form alternates directions instead of flipping; it sorts powers of 2 only.)
 * Work split: a work-item compares one pair.
 * Launch: 1-D, any work-group size, at least n / 2 work-items rounded up to a multiple of `stride`.
 *     For size = 2, 4, ... up to the first size >= n: stride = size / 2 with flip = 1, then
 *     stride = size / 4, ..., 1 with flip = 0.
 * Local memory: none.
 * Traffic: all keys are read in each of the log2(n) (log2(n) + 1) / 2 launches, and written where
 *     they change places.
 * Limits: n up to 2^31.  Keys alone: sort_general.cl sorts every type, with an index and values.
 */
__kernel void sort_naive(__global uint *keys, uint n, uint stride, uint flip)
{
    /* The lower positions of the pairs are the first `stride` of every block of 2 * stride
     * positions: pair = block * stride + column. */
    const uint pair = get_global_id(0);
    const uint column = pair & (stride - 1);
    const uint low = 2 * (pair - column) + column;
    const uint high = low ^ (flip ? 2 * stride - 1 : stride);

    if (high < n) {
        const uint a = keys[low];
        const uint b = keys[high];

        if (a > b) {
            keys[low] = b;
            keys[high] = a;
        }
    }
}
