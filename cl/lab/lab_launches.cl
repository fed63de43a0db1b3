/* Experiment: what a launch costs.
 *
 * Idea      a kernel that does next to nothing, so that what is timed is the way to it: through the
 *           runtime, the driver and the device's front end
 * Work      one item adds 1 to *count, so that launches which are lost are noticed
 * Launch    1-D, one item
 */
__kernel void lab_launches(__global uint *count)
{
    atomic_inc(count);
}
