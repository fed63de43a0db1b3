/* Experiment: neighbours that take different ways.
 *
 * Idea      the work-items of a warp share one instruction stream.  Where they take PATHS different
 *           ways, the warp walks each of them, with those switched off that took another: PATHS
 *           times as long.  Where items that take the same way are neighbours, as after sorting,
 *           each warp has one way to go
 * Work      an item goes `steps` steps of its own path, which an array says; the paths differ in a
 *           factor.  That of the first one is an argument: where it is the only one, a compiler
 *           that knew it would do without the multiplication
 * Params    PATHS
 * Launch    1-D
 */
#ifndef PATHS
#error "PATHS: different ways"
#endif

__kernel void lab_divergence(__global const uint *path, __global uint *out, uint steps,
                             uint first)
{
    const uint mine = path[get_global_id(0)];
    uint value = get_global_id(0);

#pragma unroll 1
    for (uint p = 0; p < PATHS; p++)
        if (mine == p)
#pragma unroll 1
            for (uint s = 0; s < steps; s++)
                value = value * (4 * p + first) + 1;
    out[get_global_id(0)] = value;
}
