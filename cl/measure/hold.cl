/* Nothing useful, for as many steps as asked for: the commands behind it in its queue wait.
 *
 * Work      one item goes `steps` steps of a random sequence, which have to be gone one by one
 * Launch    1-D, one item
 */
__kernel void hold(__global uint *last, uint steps)
{
    uint v = steps;

    for (uint i = 0; i < steps; i++)
        v = v * 1664525u + 1013904223u + i;
    *last = v;
}
