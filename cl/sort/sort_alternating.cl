/* Sort keys in ascending order by a bitonic network in its textbook form: directions alternate.
 *
 * Idea: stage s merges sorted runs of 2^(s-1) keys into runs of 2^s, every other one of which
 *     descends: two neighbours, one up and one down, are the bitonic sequence that the next stage
 *     takes apart.  All sub-stages compare i with i XOR stride, for the strides 2^(s-1) down to 1,
 *     and the bit 2^s of i says which way.
 *
 *         stage         1            2                   3
 *         stride        1            2         1         4         2         1
 *         compare       0-1 up       0-2 1-3   0-1 2-3   0-4 1-5   0-2 1-3   0-1 2-3
 *                       2-3 down     up        up        2-6 3-7   4-6 5-7   4-5 6-7
 *                       4-5 up       4-6 5-7   4-5 6-7   up        up        up
 *                       6-7 down     down      down
 *
 *     A comparator that descends puts the greater key first, so the largest keys do not stay behind
 *     the last one: n has to be a power of 2.  sort_naive.cl flips the second run instead, and
 *     sort_padded.cl fills up with keys that are the largest.
 * Work split: a work-item for each key, as the formula has it: the one at the higher position of a
 *     pair does nothing.
 * Launch: 1-D, any work-group size, at least n work-items.  For size = 2, 4, ..., n: stride =
 *     size / 2, size / 4, ..., 1.
 * Local memory: none.
 * Traffic: as sort_naive.cl, in as many launches of twice as many work-items.
 * Limits: n a power of 2, up to 2^31; keys alone.
 */
__kernel void sort_alternating(__global uint *keys, uint n, uint size, uint stride)
{
    const uint i = get_global_id(0);
    const uint partner = i ^ stride;

    if (i < n && partner > i) {
        const bool up = (i & size) == 0;
        const uint a = keys[i];
        const uint b = keys[partner];

        if (up ? a > b : a < b) {
            keys[i] = b;
            keys[partner] = a;
        }
    }
}
