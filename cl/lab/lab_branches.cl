/* Experiment: a branch, or both sides and a choice.
 *
 * Idea      even and odd items do different work.  KIND 0 (ternary) computes both sides and picks one;
 *           KIND 1 (if) branches, and a warp that has both kinds walks both sides; KIND 2 (arithmetic)
 *           adds up both, multiplied by 1 or 0.  Where a side is short, a compiler makes the same of
 *           all three: no branch, but a choice; where it is long, two sides are twice the work
 * Work      an item takes one word, goes STEPS steps of its side, and writes the result
 * Params    KIND; STEPS
 * Launch    1-D
 */
#ifndef KIND
#error "KIND: 0 ternary, 1 if, 2 arithmetic"
#endif
#ifndef STEPS
#error "STEPS: of each side"
#endif

static inline uint even_side(uint value)
{
    for (uint s = 0; s < STEPS; s++)
        value = value * 1664525u + 1013904223u;
    return value;
}

static inline uint odd_side(uint value)
{
    for (uint s = 0; s < STEPS; s++)
        value = value * 22695477u + 1u;
    return value;
}

__kernel void lab_branches(__global const uint *in, __global uint *out)
{
    const uint item = get_global_id(0), value = in[item];

#if KIND == 1
    if (item % 2 == 0)
        out[item] = even_side(value);
    else
        out[item] = odd_side(value);
#else
    const uint even = even_side(value), odd = odd_side(value);

#if KIND == 0
    out[item] = item % 2 == 0 ? even : odd;
#else
    const uint is_even = 1 - (item & 1);

    out[item] = is_even * even + (1 - is_even) * odd;
#endif
#endif
}
