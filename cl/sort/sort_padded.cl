/* Sort keys in ascending order by the textbook's bitonic network, padded to a power of 2.
 *
 * Idea: sort_alternating.cl sorts powers of 2 alone.  So the keys are copied into an array as long
 *     as the next one, whose end is filled with the largest key there is, a sentinel; that is
 *     sorted, and the first n keys are copied back: the sentinels are the last.
 * Work split: a work-item for each position.
 * Launch: 1-D, any work-group size, at least as many work-items as positions.  sort_padded_fill;
 *     the launches of sort_alternating.cl by sort_padded_exchange; sort_padded_keep.
 * Local memory: none.
 * Traffic: that of sort_alternating.cl for up to twice as many keys, and two copies.
 * Limits: n up to 2^31; keys alone.
 */
__kernel void sort_padded_fill(__global const uint *keys, uint n, __global uint *padded,
                               uint positions)
{
    const uint i = get_global_id(0);

    if (i < positions)
        padded[i] = i < n ? keys[i] : UINT_MAX;
}

__kernel void sort_padded_exchange(__global uint *padded, uint positions, uint size, uint stride)
{
    const uint i = get_global_id(0);
    const uint partner = i ^ stride;

    if (i < positions && partner > i) {
        const bool up = (i & size) == 0;
        const uint a = padded[i];
        const uint b = padded[partner];

        if (up ? a > b : a < b) {
            padded[i] = b;
            padded[partner] = a;
        }
    }
}

__kernel void sort_padded_keep(__global const uint *padded, __global uint *keys, uint n)
{
    const uint i = get_global_id(0);

    if (i < n)
        keys[i] = padded[i];
}
