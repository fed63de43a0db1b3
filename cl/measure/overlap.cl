/* What stands for work where copies and kernels overlap: x := x * MULTIPLIER + INCREMENT, `rounds`
 * times for each word.
 *
 * Idea      `rounds` times an affine map is one affine map modulo 2^32, which no compiler sees while
 *           `rounds` is unknown to it: the host checks each word with one multiply-add.  The map is
 *           Knuth's and Lewis's quick generator (Numerical Recipes in C, 2nd ed., section 7.1): one
 *           to one, so that a word in another's place is seen.
 * Work      one item a word, alike in both arrays; items behind the last do nothing
 * Launch    1-D, any group
 * -D        MULTIPLIER, INCREMENT
 * Limits    count < 2^32
 */
#if !defined(MULTIPLIER) || !defined(INCREMENT)
#error "MULTIPLIER and INCREMENT are to be defined"
#endif

__kernel void overlap_rounds(__global const uint *restrict in, __global uint *restrict out,
                             uint count, uint rounds)
{
    const size_t i = get_global_id(0);

    if (i < count) {
        uint x = in[i];

        for (uint r = 0; r < rounds; r++)
            x = x * MULTIPLIER + INCREMENT;
        out[i] = x;
    }
}
