/* Experiment: many small launches, recorded once, or done by one.
 *
 * Idea      a launch costs the host and the device's front end more than a small kernel takes.
 *           Recorded commands are sent off at once; or one launch takes work from a list until it
 *           is done, with a barrier where there was a launch
 * Work      a step makes 5 x + s of each value, s the next number of a list: steps that are lost or
 *           change places are noticed
 * Params    STEPS, numbers of the list, which is begun anew
 * Launch    1-D, one group; lab_graphs_step: a launch a step, lab_graphs_list: all steps
 */
#ifndef STEPS
#error "STEPS: numbers of the list"
#endif

/* `done` counts the steps of each value, so that all launches have the same arguments. */
__kernel void lab_graphs_step(__global uint *value, __global uint *done, __global const uint *list)
{
    const uint i = get_global_id(0);

    value[i] = value[i] * 5 + list[done[i] % STEPS];
    done[i]++;
}

__kernel void lab_graphs_list(__global uint *value, __global uint *done, __global const uint *list,
                              uint count)
{
    const uint i = get_global_id(0);

    for (uint k = 0; k < count; k++) {
        value[i] = value[i] * 5 + list[done[i] % STEPS];
        done[i]++;
        /* In place of the end of a launch: all have done this step. */
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
}
